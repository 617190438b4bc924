//! The text form of the constants: one `name = value` per line.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::fields::{DIGEST, FIELDS, check_digest};
use crate::{Constants, Implausible};

/// The error of parsing constants.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// The number of the invalid line, counted from 1. If a constant is missing, one past the last line.
    pub line: usize,
    /// The problem in that line.
    pub problem: Problem,
}

/// The problem in a line of constants.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The line does not have the form `name = number`.
    NotAPair,
    /// No constant has this name.
    Unknown(String),
    /// The constant is given more than once.
    Twice(String),
    /// The constant is missing.
    Missing(&'static str),
    /// No known machine has such a value.
    Implausible(Implausible),
}

impl Constants {
    /// Parses the output of `Display`: one `name = value` per line, in any order. Skips empty lines and lines
    /// that start with `#`. Every constant must be given exactly once; digest speeds are optional.
    ///
    /// # Errors
    /// Returns the first invalid line. An implausible number makes the whole text invalid.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut constants = Self { digest_bytes_per_s: [].into(), ..Self::default() };
        let mut given = [false; FIELDS.len()];
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                constants
                    .parse_line(line, &mut given)
                    .map_err(|problem| ParseError { line: i + 1, problem })?;
            }
        }
        match given.iter().zip(&FIELDS).find(|(given, _)| !**given) {
            Some((_, field)) => {
                Err(ParseError { line: text.lines().count() + 1, problem: Problem::Missing(field.name) })
            }
            None => Ok(constants),
        }
    }

    fn parse_line(&mut self, line: &str, given: &mut [bool; FIELDS.len()]) -> Result<(), Problem> {
        let (name, value) = line.split_once('=').ok_or(Problem::NotAPair)?;
        let name = name.trim_end();
        let value: f64 = value.trim_start().parse().map_err(|_| Problem::NotAPair)?;
        let is_new = if let Some(kernel) = name.strip_prefix(DIGEST) {
            check_digest(kernel, value).map_err(Problem::Implausible)?;
            self.digest_bytes_per_s.insert(kernel.to_owned(), value as u64).is_none()
        } else {
            let nth = FIELDS.iter().position(|field| field.name == name);
            let nth = nth.ok_or_else(|| Problem::Unknown(name.to_owned()))?;
            FIELDS[nth].check(value).map_err(Problem::Implausible)?;
            (FIELDS[nth].set)(self, value);
            !std::mem::replace(&mut given[nth], true)
        };
        if is_new { Ok(()) } else { Err(Problem::Twice(name.to_owned())) }
    }
}

impl FromStr for Constants {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

impl fmt::Display for Constants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for field in &FIELDS {
            writeln!(f, "{} = {}", field.name, (field.get)(self))?;
        }
        self.digest_bytes_per_s
            .iter()
            .try_for_each(|(kernel, speed)| writeln!(f, "{DIGEST}{kernel} = {speed}"))
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.problem {
            Problem::NotAPair => write!(f, "expected `name = number`"),
            Problem::Unknown(name) => write!(f, "unknown constant {name:?}"),
            Problem::Twice(name) => write!(f, "{name} is given more than once"),
            Problem::Missing(name) => write!(f, "{name} is missing"),
            Problem::Implausible(what) => what.fmt(f),
        }
    }
}

impl Error for ParseError {}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::*;

    fn plausible() -> impl Strategy<Value = Constants> {
        let numbers = vec(0.0..=1.0, FIELDS.len());
        let digests = btree_map("[a-z0-9]{1,9}/[a-z0-9.-]{1,9}", 1_000_000..10_000_000_000_000_u64, 0..9);
        (numbers, digests).prop_map(|(numbers, digest_bytes_per_s)| {
            let mut constants = Constants { digest_bytes_per_s, ..Constants::default() };
            for (field, part) in FIELDS.iter().zip(numbers) {
                (field.set)(&mut constants, field.min + part * (field.max - field.min));
            }
            constants
        })
    }

    proptest! {
        #[test]
        fn printed_constants_can_be_parsed(constants in plausible()) {
            prop_assert_eq!(constants.check(), Ok(()));
            prop_assert_eq!(Constants::parse(&constants.to_string()), Ok(constants));
        }

        #[test]
        fn garbage_is_refused(text in "\\PC*") {
            prop_assert!(Constants::parse(&text).is_err());
        }

        #[test]
        fn a_damaged_text_is_refused_or_still_plausible(at in 0_usize..400, put in "\\PC{0,3}") {
            let mut text = Constants::default().to_string();
            text.replace_range(at..=at, &put);
            if let Ok(constants) = Constants::parse(&text) {
                prop_assert_eq!(constants.check(), Ok(()));
            }
        }
    }

    /// Parses the default text with one text replaced. Returns the number of the invalid line and its
    /// problem.
    fn problem(old: &str, new: &str) -> (usize, Problem) {
        let text = Constants::default().to_string();
        assert!(text.contains(old));
        let error = Constants::parse(&text.replace(old, new)).unwrap_err();
        (error.line, error.problem)
    }

    #[test]
    fn comments_order_and_space_do_not_matter() {
        let text = Constants::default().to_string();
        let reversed: Vec<_> = text.lines().rev().map(|line| format!("  {line}\r")).collect();
        assert_eq!(
            Constants::parse(&format!("# a comment\n\n{}", reversed.join("\n"))),
            Ok(Constants::default())
        );
    }

    #[test]
    fn errors_name_their_line() {
        assert_eq!(problem("team_ns = 15000", "team_ns: 15000"), (1, Problem::NotAPair));
        assert_eq!(problem("thread_ns = 24000", "thread_ns = fast"), (2, Problem::NotAPair));
        assert_eq!(problem("thread_ns", "threads_ns"), (2, Problem::Unknown("threads_ns".into())));
        assert_eq!(problem("worker_ns = 350000", "team_ns = 15000"), (3, Problem::Twice("team_ns".into())));
        let (lines, missing) = problem("ring_ns = 25000\n", "");
        assert_eq!(
            (lines, missing),
            (Constants::default().to_string().lines().count(), Problem::Missing("ring_ns"))
        );
    }

    #[test]
    fn implausible_values_are_refused() {
        for (field, outlier) in
            [("thread_ns = 24000", 4_949_000.0), ("ring_cold = 4", 0.0), ("contention = 0.08", -0.1)]
        {
            let name = field.split(' ').next().unwrap();
            let (_, problem) = problem(&format!("\n{field}\n"), &format!("\n{name} = {outlier}\n"));
            assert_eq!(problem, Problem::Implausible(Implausible { name: name.into(), value: outlier }));
        }
        for value in ["NaN", "inf", "-1", "1e300"] {
            let (line, problem) = problem("file_ns = 6000", &format!("file_ns = {value}"));
            assert!(line == 4 && matches!(problem, Problem::Implausible(_)), "{value}");
        }
    }
}
