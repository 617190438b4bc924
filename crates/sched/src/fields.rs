//! The constants as a table of names and plausible ranges.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use crate::{Constants, Kernel};

/// The error for a constant outside its plausible range, or for a digest speed with an invalid name.
#[derive(Clone, Debug, PartialEq)]
pub struct Implausible {
    /// The name of the constant.
    pub name: String,
    /// Its value.
    pub value: f64,
}

impl Constants {
    /// Checks that every constant is plausible.
    ///
    /// The ranges allow machines ten times slower and faster than any known today. They exclude measurements
    /// that were interrupted: a single such value would distort every later choice.
    ///
    /// # Errors
    /// Returns the first constant that is not plausible.
    pub fn check(&self) -> Result<(), Implausible> {
        for (name, value, range) in self.fields() {
            check(name.to_owned(), value, range.contains(&value))?;
        }
        for (kernel, &speed) in &self.digest_bytes_per_s {
            let speed = speed as f64;
            check(format!("{DIGEST}{kernel}"), speed, is_name(kernel) && (1e6..=1e13).contains(&speed))?;
        }
        for (algorithm, Kernel { simd, few }) in &self.kernels {
            let few = few.unwrap_or_default().into();
            check(format!("{KERNEL}{algorithm}"), few, is_name(algorithm) && is_name(simd))?;
        }
        Ok(())
    }

    /// Sets a constant that runs [measure](crate::Model::figures). Other names change nothing.
    pub(crate) fn set(&mut self, name: &str, value: f64) {
        match name {
            "file_ns" => self.file_ns = value as u64,
            "contention" => self.contention = value,
            "cold_contention" => self.cold_contention = value,
            "ring_cold" => self.ring_cold = value,
            "probe" => self.probe = value,
            _ => {
                if let Some(kernel) = name.strip_prefix(DIGEST) {
                    self.digest_bytes_per_s.insert(kernel.to_owned(), value as u64);
                }
            }
        }
    }

    /// Returns the names, values and plausible ranges of all constants except the speeds and kernels of digests, in
    /// the order in which they are printed.
    fn fields(&self) -> [(&'static str, f64, RangeInclusive<f64>); 12] {
        [
            ("team_ns", self.team_ns as f64, 0.0..=500e3),
            ("thread_ns", self.thread_ns as f64, 1e3..=500e3),
            ("worker_ns", self.worker_ns as f64, 0.0..=2e6),
            ("file_ns", self.file_ns as f64, 200.0..=1e6),
            ("contention", self.contention, 0.0..=1.0),
            ("cold_contention", self.cold_contention, 0.0..=1.0),
            ("ring_ns", self.ring_ns as f64, 1e3..=5e6),
            ("ring_warm", self.ring_warm, 0.1..=10.0),
            ("ring_cold", self.ring_cold, 1.0..=1e3),
            ("probe", self.probe, 0.2..=5.0),
            ("memory_one_bytes_per_s", self.memory_one_bytes_per_s as f64, 1e8..=1e13),
            ("memory_each_bytes_per_s", self.memory_each_bytes_per_s as f64, 1e8..=1e13),
        ]
    }
}

/// The prefix of the names of digest speeds. The `algorithm/kernel` follows.
pub(crate) const DIGEST: &str = "digest_bytes_per_s.";

/// The prefix of the names of kernels. The algorithm follows.
const KERNEL: &str = "kernels.";

/// Whether the text form can show this name: it has one line per figure.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-._".contains(&b))
}

fn check(name: String, value: f64, is_plausible: bool) -> Result<(), Implausible> {
    if is_plausible { Ok(()) } else { Err(Implausible { name, value }) }
}

/// Prints one `name = value` per line.
impl fmt::Display for Constants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value, _) in self.fields() {
            writeln!(f, "{name} = {value}")?;
        }
        self.digest_bytes_per_s
            .iter()
            .try_for_each(|(kernel, speed)| writeln!(f, "{DIGEST}{kernel} = {speed}"))?;
        self.kernels.iter().try_for_each(|(algorithm, Kernel { simd, few })| {
            writeln!(f, "{KERNEL}{algorithm}.simd = {simd}")?;
            few.map_or(Ok(()), |few| writeln!(f, "{KERNEL}{algorithm}.few = {few}"))
        })
    }
}

impl fmt::Display for Implausible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "implausible constant: {:?} = {}", self.name, self.value)
    }
}

impl Error for Implausible {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table_has_every_constant() {
        let constants = Constants::default();
        let json = serde_json::to_value(&constants).unwrap();
        for (name, value, _) in constants.fields() {
            assert_eq!(json[name].as_f64(), Some(value), "{name}");
        }
        assert_eq!(json.as_object().unwrap().len(), constants.fields().len() + 2);
    }

    #[test]
    fn the_built_in_constants_are_plausible() {
        assert_eq!(Constants::default().check(), Ok(()));
    }

    #[test]
    fn a_digest_name_with_a_line_break_is_implausible() {
        let mut constants = Constants::default();
        constants.digest_bytes_per_s.insert("sha256\nteam_ns".into(), 1_000_000_000);
        assert!(constants.check().is_err());
    }

    #[test]
    fn kernels_are_shown_and_checked() {
        let mut constants = Constants::default();
        constants.kernels.insert("md5".into(), Kernel { simd: "avx2".into(), few: Some(1) });
        assert_eq!(constants.check(), Ok(()));
        let text = constants.to_string();
        assert!(text.ends_with("\nkernels.md5.simd = avx2\nkernels.md5.few = 1\n"), "{text}");
        constants.kernels.insert("sha1".into(), Kernel { simd: "avx2\nteam_ns".into(), few: Some(1) });
        assert_eq!(constants.check(), Err(Implausible { name: "kernels.sha1".into(), value: 1.0 }));
    }

    #[test]
    fn implausible_values_are_refused() {
        let built_in = Constants::default;
        for (name, value, constants) in [
            ("thread_ns", 4_949_000.0, Constants { thread_ns: 4_949_000, ..built_in() }),
            ("ring_cold", 0.0, Constants { ring_cold: 0.0, ..built_in() }),
            ("contention", -0.1, Constants { contention: -0.1, ..built_in() }),
            ("ring_warm", f64::INFINITY, Constants { ring_warm: f64::INFINITY, ..built_in() }),
        ] {
            assert_eq!(constants.check(), Err(Implausible { name: name.into(), value }));
        }
        assert!(Constants { contention: f64::NAN, ..Constants::default() }.check().is_err());
    }

    #[test]
    fn constants_are_shown_one_per_line() {
        let text = Constants::default().to_string();
        assert!(text.starts_with("team_ns = 15000\nthread_ns = 24000\n"), "{text}");
        assert!(text.contains("\nring_cold = 4\n"), "{text}");
        assert!(text.ends_with("\ndigest_bytes_per_s.xxh64/portable = 12000000000\n"), "{text}");
    }

    proptest! {
        #[test]
        fn serialized_constants_are_read_back_exactly(
            contention in 0.0..=1.0,
            ring_warm in 0.1..=10.0,
            file_ns in 200_u64..1_000_000,
        ) {
            let constants = Constants { contention, ring_warm, file_ns, ..Constants::default() };
            let json = serde_json::to_string(&constants).unwrap();
            prop_assert_eq!(serde_json::from_str::<Constants>(&json).unwrap(), constants);
        }
    }
}
