//! The constants as a table of names and plausible ranges.

use std::error::Error;
use std::fmt;

use crate::Constants;

/// The prefix of the names of digest speeds. The `algorithm/kernel` follows.
pub(crate) const DIGEST: &str = "digest_bytes_per_s.";

/// One constant and its plausible range.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) get: fn(&Constants) -> f64,
    pub(crate) set: fn(&mut Constants, f64),
}

/// All constants in the order in which they are printed.
///
/// The ranges allow machines ten times slower and faster than any known today. They exclude measurements that
/// were interrupted: a single such value would distort every later choice.
pub(crate) const FIELDS: [Field; 11] = [
    Field {
        name: "team_ns",
        min: 0.0,
        max: 500e3,
        get: |c| c.team_ns as f64,
        set: |c, value| c.team_ns = value as u64,
    },
    Field {
        name: "thread_ns",
        min: 1e3,
        max: 500e3,
        get: |c| c.thread_ns as f64,
        set: |c, value| c.thread_ns = value as u64,
    },
    Field {
        name: "worker_ns",
        min: 0.0,
        max: 2e6,
        get: |c| c.worker_ns as f64,
        set: |c, value| c.worker_ns = value as u64,
    },
    Field {
        name: "file_ns",
        min: 200.0,
        max: 1e6,
        get: |c| c.file_ns as f64,
        set: |c, value| c.file_ns = value as u64,
    },
    Field {
        name: "contention",
        min: 0.0,
        max: 1.0,
        get: |c| c.contention,
        set: |c, value| c.contention = value,
    },
    Field {
        name: "cold_contention",
        min: 0.0,
        max: 1.0,
        get: |c| c.cold_contention,
        set: |c, value| c.cold_contention = value,
    },
    Field {
        name: "ring_ns",
        min: 1e3,
        max: 5e6,
        get: |c| c.ring_ns as f64,
        set: |c, value| c.ring_ns = value as u64,
    },
    Field {
        name: "ring_warm",
        min: 0.1,
        max: 10.0,
        get: |c| c.ring_warm,
        set: |c, value| c.ring_warm = value,
    },
    Field {
        name: "ring_cold",
        min: 1.0,
        max: 1e3,
        get: |c| c.ring_cold,
        set: |c, value| c.ring_cold = value,
    },
    Field {
        name: "memory_one_bytes_per_s",
        min: 1e8,
        max: 1e13,
        get: |c| c.memory_one_bytes_per_s as f64,
        set: |c, value| c.memory_one_bytes_per_s = value as u64,
    },
    Field {
        name: "memory_each_bytes_per_s",
        min: 1e8,
        max: 1e13,
        get: |c| c.memory_each_bytes_per_s as f64,
        set: |c, value| c.memory_each_bytes_per_s = value as u64,
    },
];

/// The error for a constant outside its plausible range, or for a digest speed with an invalid name.
#[derive(Clone, Debug, PartialEq)]
pub struct Implausible {
    /// The name of the constant.
    pub name: String,
    /// Its value.
    pub value: f64,
}

impl Constants {
    /// Checks that every constant is plausible; see [`Constants::parse`].
    ///
    /// # Errors
    /// Returns the first constant that is not plausible.
    pub fn check(&self) -> Result<(), Implausible> {
        for field in &FIELDS {
            field.check((field.get)(self))?;
        }
        self.digest_bytes_per_s.iter().try_for_each(|(kernel, speed)| check_digest(kernel, *speed as f64))
    }
}

impl Field {
    pub(crate) fn check(&self, value: f64) -> Result<(), Implausible> {
        check(self.name, value, (self.min..=self.max).contains(&value))
    }
}

/// Checks that the name of a digest speed can be printed in one line and that the speed is plausible.
pub(crate) fn check_digest(kernel: &str, speed: f64) -> Result<(), Implausible> {
    let is_name =
        !kernel.is_empty() && kernel.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-._".contains(&b));
    check(&format!("{DIGEST}{kernel}"), speed, is_name && (1e6..=1e13).contains(&speed))
}

fn check(name: &str, value: f64, is_plausible: bool) -> Result<(), Implausible> {
    if is_plausible { Ok(()) } else { Err(Implausible { name: name.to_owned(), value }) }
}

impl fmt::Display for Implausible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "implausible constant: {:?} = {}", self.name, self.value)
    }
}

impl Error for Implausible {}

#[cfg(test)]
mod tests {
    use super::*;

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
}
