//! The constants as a table: names, and the bounds between which each is believed.

use std::error::Error;
use std::fmt;

use crate::Constants;

/// Names of digest speeds start with this; what follows is the `algorithm/kernel`.
pub(crate) const DIGEST: &str = "digest_bytes_per_s.";

/// One number of the constants, and between what bounds it is believed.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) get: fn(&Constants) -> f64,
    pub(crate) set: fn(&mut Constants, f64),
}

/// The numbers in the order they are printed.
///
/// The bounds leave room for machines ten times slower and faster than any known today, and none for a
/// measurement that was interrupted: one such would bend every later plan.
pub(crate) const FIELDS: [Field; 11] = [
    Field {
        name: "team_ns",
        least: 0.0,
        most: 500e3,
        get: |c| c.team_ns as f64,
        set: |c, value| c.team_ns = value as u64,
    },
    Field {
        name: "thread_ns",
        least: 1e3,
        most: 500e3,
        get: |c| c.thread_ns as f64,
        set: |c, value| c.thread_ns = value as u64,
    },
    Field {
        name: "worker_ns",
        least: 0.0,
        most: 2e6,
        get: |c| c.worker_ns as f64,
        set: |c, value| c.worker_ns = value as u64,
    },
    Field {
        name: "file_ns",
        least: 200.0,
        most: 1e6,
        get: |c| c.file_ns as f64,
        set: |c, value| c.file_ns = value as u64,
    },
    Field {
        name: "contention",
        least: 0.0,
        most: 1.0,
        get: |c| c.contention,
        set: |c, value| c.contention = value,
    },
    Field {
        name: "cold_contention",
        least: 0.0,
        most: 1.0,
        get: |c| c.cold_contention,
        set: |c, value| c.cold_contention = value,
    },
    Field {
        name: "ring_ns",
        least: 1e3,
        most: 5e6,
        get: |c| c.ring_ns as f64,
        set: |c, value| c.ring_ns = value as u64,
    },
    Field {
        name: "ring_warm",
        least: 0.1,
        most: 10.0,
        get: |c| c.ring_warm,
        set: |c, value| c.ring_warm = value,
    },
    Field {
        name: "ring_cold",
        least: 1.0,
        most: 1e3,
        get: |c| c.ring_cold,
        set: |c, value| c.ring_cold = value,
    },
    Field {
        name: "memory_one_bytes_per_s",
        least: 1e8,
        most: 1e13,
        get: |c| c.memory_one_bytes_per_s as f64,
        set: |c, value| c.memory_one_bytes_per_s = value as u64,
    },
    Field {
        name: "memory_each_bytes_per_s",
        least: 1e8,
        most: 1e13,
        get: |c| c.memory_each_bytes_per_s as f64,
        set: |c, value| c.memory_each_bytes_per_s = value as u64,
    },
];

/// A number outside the bounds between which it is believed, or a digest that cannot be named.
#[derive(Clone, Debug, PartialEq)]
pub struct Implausible {
    /// The name of the constant.
    pub name: String,
    /// Its value.
    pub value: f64,
}

impl Constants {
    /// Whether every number is one that a machine could have; see [`Constants::parse`].
    ///
    /// # Errors
    /// With the first that is not.
    pub fn check(&self) -> Result<(), Implausible> {
        for field in &FIELDS {
            field.check((field.get)(self))?;
        }
        self.digest_bytes_per_s.iter().try_for_each(|(kernel, speed)| check_digest(kernel, *speed as f64))
    }
}

impl Field {
    pub(crate) fn check(&self, value: f64) -> Result<(), Implausible> {
        check(self.name, value, (self.least..=self.most).contains(&value))
    }
}

/// Whether the name fits on a line of its own and the speed is a digest's.
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
        write!(f, "{:?} cannot be {}", self.name, self.value)
    }
}

impl Error for Implausible {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_figures_are_plausible() {
        assert_eq!(Constants::default().check(), Ok(()));
    }

    #[test]
    fn a_digest_that_cannot_be_printed_is_implausible() {
        let mut constants = Constants::default();
        constants.digest_bytes_per_s.insert("sha256\nteam_ns".into(), 1_000_000_000);
        assert!(constants.check().is_err());
    }
}
