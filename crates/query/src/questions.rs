//! The named questions: SQL files that other engines can run too.

/// A question.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) name: &'static str,
    /// One SELECT, which begins with a comment.
    pub(crate) sql: &'static str,
    /// The value that the question can or must have.
    pub(crate) parameter: Option<Parameter>,
    /// Whether it matches entries by path alone, so that a set must hold one tree.
    pub(crate) needs_one_source: bool,
    /// Whether it compares tree digests, of which sets made from shards lack some.
    pub(crate) needs_trees: bool,
    /// Whether `unknown` in the first column means that nothing is known about a row.
    pub(crate) may_be_unknown: bool,
    /// Whether it compares contents, so that all sets must have digests by one algorithm.
    pub(crate) needs_one_algorithm: bool,
    /// Whether it compares snapshots, so that all sets must have one.
    pub(crate) needs_snapshots: bool,
    /// Whether the answer can be a report for `ftk dup apply`.
    pub(crate) has_report: bool,
}

/// A column of the table `parameters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    Since,
    Name,
    At,
    Depth,
    ByAndDepth,
    /// A file, which becomes the table `expected`.
    Expected,
}

/// Whether a question compares sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    None,
    /// Two.
    Two,
    /// The first with all others.
    Many,
}

macro_rules! question {
    ($name:literal) => {
        Question {
            name: $name,
            sql: include_str!(concat!("../sql/", $name, ".sql")),
            parameter: None,
            needs_one_source: false,
            needs_trees: false,
            may_be_unknown: false,
            needs_one_algorithm: false,
            needs_snapshots: false,
            has_report: false,
        }
    };
}

/// All questions, in the order of `ftk query list`.
pub(crate) const ALL: &[Question] = &[
    Question { has_report: true, ..question!("duplicates") },
    Question { needs_trees: true, ..question!("duplicate-directories") },
    Question { may_be_unknown: true, needs_one_algorithm: true, ..question!("missing-in") },
    Question { needs_one_source: true, may_be_unknown: true, ..question!("changed") },
    question!("rotten"),
    Question { parameter: Some(Parameter::Since), ..question!("unverified-since") },
    Question { parameter: Some(Parameter::Since), ..question!("cold") },
    Question { parameter: Some(Parameter::At), ..question!("by-age") },
    Question { parameter: Some(Parameter::Depth), ..question!("by-directory") },
    question!("largest"),
    question!("oldest"),
    question!("by-owner"),
    question!("by-extension"),
    Question { needs_one_source: true, may_be_unknown: true, ..question!("growth") },
    Question {
        parameter: Some(Parameter::ByAndDepth),
        needs_snapshots: true,
        may_be_unknown: true,
        ..question!("trend")
    },
    Question { parameter: Some(Parameter::Expected), ..question!("orphans") },
    question!("zero-size"),
    Question { parameter: Some(Parameter::Name), ..question!("versions-of") },
    question!("old-versions"),
];

impl Question {
    /// Returns the first line of the comment.
    pub(crate) fn about(&self) -> &'static str {
        self.sql.lines().next().and_then(|line| line.strip_prefix("-- ")).unwrap_or_default()
    }

    /// Returns which sets the question compares.
    pub(crate) fn sides(&self) -> Sides {
        match self.sql.contains("a_entries") || self.sql.contains("a_contents") {
            true if self.needs_one_source => Sides::Two,
            true => Sides::Many,
            false => Sides::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_has_a_summary_and_is_one_statement() {
        for question in ALL {
            assert!(!question.about().is_empty() && question.about().len() <= 80, "{}", question.name);
            let code: Vec<_> =
                question.sql.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
            assert!(!code.join("\n").contains(';'), "{}", question.name);
        }
    }

    #[test]
    fn every_sql_file_is_a_question() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/sql");
        let mut files: Vec<_> =
            std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name()).collect();
        let mut names: Vec<std::ffi::OsString> =
            ALL.iter().map(|question| format!("{}.sql", question.name).into()).collect();
        files.sort();
        names.sort();
        assert_eq!(files, names);
    }
}
