//! Rules by path: what a verification compares of each entry.

use std::error::Error as _;
use std::fmt;
use std::sync::{Arc, Mutex};

use ftk_walk::FileType;

use crate::PatternError;
use crate::paths::Excluded;
use crate::roots::{PerRoot, Roots};

/// What is compared of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Check {
    /// Everything.
    #[default]
    All,
    /// The type, and what the entry contains.
    Content,
    /// Everything except the content.
    Metadata,
    /// A file may grow at its end.
    Growing,
    /// Only the type.
    Exists,
    /// Nothing: the entry and everything below it is skipped.
    Ignore,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 6] =
        [Self::All, Self::Content, Self::Metadata, Self::Growing, Self::Exists, Self::Ignore];

    /// Returns the word for it in a rule.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Content => "content",
            Self::Metadata => "metadata",
            Self::Growing => "growing",
            Self::Exists => "exists",
            Self::Ignore => "ignore",
        }
    }
}

/// Rules that say what is compared of which entries. Clones share them.
///
/// A rule is for the entries that its glob matches, as a glob of [`exclude`](crate::SelectionBuilder::exclude) does, and for
/// everything below them. The last rule for an entry decides; without one, everything is compared. What is in a directory
/// that is ignored is ignored, whatever later rules say. No rule is for the starting point.
///
/// ```
/// use ftk_select::{Check, Checks};
/// use ftk_walk::FileType;
///
/// let checks = Checks::parse(b"growing log\nall log/audit  # never edited\nignore *.tmp\n")?;
/// assert_eq!(checks.of(b"log/a.log", FileType::Regular), Check::Growing);
/// assert_eq!(checks.of(b"log/audit/1", FileType::Regular), Check::All);
/// assert_eq!(checks.of(b"log/x.tmp", FileType::Regular), Check::Ignore);
/// # Ok::<(), ftk_select::CheckError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Checks {
    rules: Arc<Rules>,
    /// The path of the starting point below the directory that the globs are relative to, with a slash at its end. Empty if
    /// it is that directory.
    base: Vec<u8>,
}

#[derive(Debug, Default)]
struct Rules {
    checks: Vec<Check>,
    /// The rules as they are written: a check, a blank and a glob.
    lines: Vec<Vec<u8>>,
    /// Absent if there are no rules.
    globs: Option<PerRoot<Excluded>>,
    /// The directory of the last entry, and the last rule for it. Most entries have the directory of the entry before.
    above: Mutex<(Vec<u8>, Option<usize>)>,
}

/// Why rules are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    /// The number of the line, from 1. 0 if it is about all rules together.
    pub line: usize,
    what: String,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

impl std::error::Error for CheckError {}

/// Longer lines are no globs that someone wrote.
const LONGEST: usize = 4096;

/// More rules are a list of files. Each entry is compared with all of them.
const MOST: usize = 1000;

impl Checks {
    /// Parses a file of rules: in each line a check, blanks, and a glob to the end of the line. Blanks around them do not
    /// count. `#` at the start of a line or after a blank begins a comment. Lines without a rule are skipped.
    ///
    /// # Errors
    /// If a line is no rule, or has more than 4,096 bytes, or if there are more than 1,000 rules.
    pub fn parse(file: &[u8]) -> Result<Self, CheckError> {
        let mut rules = Rules::default();
        for (number, line) in (1..).zip(file.split(|byte| *byte == b'\n')) {
            let fail = |what: String| Err(CheckError { line: number, what });
            if line.len() > LONGEST {
                return fail(format!("it is longer than {LONGEST} bytes"));
            }
            if line.contains(&0) {
                return fail("it contains a NUL".into());
            }
            let Ok(text) = str::from_utf8(line) else { return fail("it is not UTF-8".into()) };
            let text = without_comment(text).trim_matches(BLANKS);
            if text.is_empty() {
                continue;
            }
            if rules.checks.len() == MOST {
                return fail(format!("there are more than {MOST} rules"));
            }
            if let Err(what) = rules.add(text) {
                return fail(what);
            }
        }
        rules.compiled()
    }

    /// Makes them of [lines](Self::lines), one for each rule. Nothing in them is a comment.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse).
    pub fn of_lines<'l>(lines: impl IntoIterator<Item = &'l [u8]>) -> Result<Self, CheckError> {
        let mut rules = Rules::default();
        for (number, line) in (1..).zip(lines) {
            let text = str::from_utf8(line).ok().filter(|text| text.len() <= LONGEST && number <= MOST);
            let added = text.ok_or_else(|| "it is no rule".to_owned()).and_then(|text| rules.add(text));
            added.map_err(|what| CheckError { line: number, what })?;
        }
        rules.compiled()
    }

    /// Returns the same rules for a starting point that has this path below the directory that the globs are relative to.
    #[must_use]
    pub fn starting_at(self, base: Option<&[u8]>) -> Self {
        Self { base: base.map_or_else(Vec::new, |base| [base, b"/"].concat()), ..self }
    }

    /// Returns rules under which files that may grow are compared like all others. This is for a reading that cannot stop
    /// where a file ended when it was recorded.
    #[must_use]
    pub fn without_growth(self) -> Self {
        let Rules { checks, lines, globs, .. } = &*self.rules;
        let compared = |check: &Check| if *check == Check::Growing { Check::All } else { *check };
        let rules = Rules {
            checks: checks.iter().map(compared).collect(),
            lines: lines.clone(),
            globs: globs.clone(),
            above: Mutex::default(),
        };
        Self { rules: Arc::new(rules), base: self.base }
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.checks.is_empty()
    }

    /// Returns each rule as a line: the check, a blank and the glob.
    pub fn lines(&self) -> &[Vec<u8>] {
        &self.rules.lines
    }

    /// Returns what is compared of an entry. `path` is that below the starting point, whose own is empty.
    pub fn of(&self, path: &[u8], file_type: FileType) -> Check {
        match (&*self.base, path) {
            _ if self.is_empty() => Check::All,
            ([], []) => Check::All,
            ([], path) => self.of_whole(path, file_type),
            ([base @ .., _], []) => self.of_whole(base, file_type),
            (base, path) => self.of_whole(&[base, path].concat(), file_type),
        }
    }

    fn of_whole(&self, path: &[u8], file_type: FileType) -> Check {
        let mut last = None;
        if let Some(end) = path.iter().rposition(|byte| *byte == b'/') {
            let dir = &path[..end];
            // Another thread may use what is known of the last directory.
            let mut above = self.rules.above.try_lock();
            last = match &above {
                Ok(above) if above.0 == dir => above.1,
                _ => self.last_above(dir),
            };
            if let Ok(above) = &mut above
                && above.0 != dir
            {
                **above = (dir.to_vec(), last);
            }
        }
        if !self.is_ignored(last) {
            self.each_match(path, file_type, &mut |rule| last = last.max(Some(rule)));
        }
        last.map_or(Check::All, |rule| self.rules.checks[rule])
    }

    /// Returns the last rule for a directory, or the one that ignores a directory above it.
    fn last_above(&self, dir: &[u8]) -> Option<usize> {
        let slashes = dir.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let ends = slashes.map(|(at, _)| at).chain([dir.len()]);
        ends.fold(None, |mut last, end| {
            if !self.is_ignored(last) {
                self.each_match(&dir[..end], FileType::Directory, &mut |rule| last = last.max(Some(rule)));
            }
            last
        })
    }

    fn is_ignored(&self, last: Option<usize>) -> bool {
        last.is_some_and(|rule| self.rules.checks[rule] == Check::Ignore)
    }

    /// Whether a rule ignores entries.
    pub(crate) fn ignore(&self) -> bool {
        self.rules.checks.contains(&Check::Ignore)
    }

    /// Calls `visit` with the number of each rule whose glob matches this path below the directory that the globs are
    /// relative to.
    pub(crate) fn each_match(&self, path: &[u8], file_type: FileType, visit: &mut dyn FnMut(usize)) {
        if let Some(globs) = &self.rules.globs {
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
            globs.common().each_match(name, path, file_type, visit);
        }
    }
}

/// Rules are the same if their lines are.
impl PartialEq for Checks {
    fn eq(&self, other: &Self) -> bool {
        self.lines() == other.lines() && self.base == other.base
    }
}

impl Eq for Checks {}

/// A carriage return ends the lines of some editors.
const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// Returns a line up to the `#` that begins a comment.
fn without_comment(line: &str) -> &str {
    let is_start = |at: &usize| line[..*at].chars().next_back().is_none_or(|before| BLANKS.contains(&before));
    line.match_indices('#').map(|(at, _)| at).find(is_start).map_or(line, |at| &line[..at])
}

fn described(error: &PatternError) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

impl Rules {
    /// Adds a rule without blanks around it.
    fn add(&mut self, text: &str) -> Result<(), String> {
        let (word, glob) = text.split_once(BLANKS).unwrap_or((text, ""));
        let glob = glob.trim_matches(BLANKS);
        let Some(check) = Check::ALL.into_iter().find(|check| check.name() == word) else {
            let known = Check::ALL.map(Check::name).join(", ");
            return Err(format!("unknown check {word:?}: expected one of {known}"));
        };
        if glob.is_empty() || glob.contains('\0') {
            return Err(format!("no glob after {word:?}"));
        }
        let compiled = Excluded::new(&[glob.into()], &Roots::none()).map_err(|error| described(&error))?;
        if compiled.common().is_empty() || glob == "." {
            return Err(format!(
                "{glob:?} is the root, of which everything is compared: `*` is all below it"
            ));
        }
        self.checks.push(check);
        self.lines.push(format!("{word} {glob}").into());
        Ok(())
    }

    fn compiled(mut self) -> Result<Checks, CheckError> {
        if !self.lines.is_empty() {
            let glob = |line: &Vec<u8>| line.splitn(2, |byte| *byte == b' ').nth(1).unwrap_or(line).to_vec();
            let globs: Vec<_> = self.lines.iter().map(glob).collect();
            let compiled = Excluded::new(&globs, &Roots::none());
            self.globs = Some(compiled.map_err(|error| CheckError { line: 0, what: described(&error) })?);
        }
        Ok(Checks { rules: Arc::new(self), base: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::PathGlob;

    #[test]
    fn a_file_has_a_rule_in_each_line() {
        let checks = Checks::parse(
            b"# logs\r\n\r\n  growing\t  var/log/*.log  # all of them\r\nignore a b#c\nexists [#]x\n\nall   x #",
        )
        .unwrap();
        let lines: Vec<_> = checks.lines().iter().map(|line| str::from_utf8(line).unwrap()).collect();
        assert_eq!(lines, ["growing var/log/*.log", "ignore a b#c", "exists [#]x", "all x"]);
        let again = Checks::of_lines(checks.lines().iter().map(Vec::as_slice)).unwrap();
        assert_eq!(again, checks);
        assert!(Checks::parse(b"").unwrap().is_empty() && Checks::parse(b"\n#x\n").unwrap().is_empty());
        assert_ne!(checks, Checks::default());
    }

    #[test]
    fn a_malformed_rule_names_its_line() {
        let long = format!("all a\nall {}\n", "x".repeat(LONGEST));
        let many = "all a\n".repeat(MOST + 1);
        for (file, message) in [
            (&b"all a\ngrow b\n"[..], "line 2: unknown check \"grow\": expected one of all, content, "),
            (b"all", "line 1: no glob after \"all\""),
            (b"\n\nignore  # everything\n", "line 3: no glob after \"ignore\""),
            (b"all a\nall [\n", "line 2: cannot understand the glob `[`: "),
            (b"all .\n", "line 1: \".\" is the root"),
            (b"all /\n", "line 1: \"/\" is the root"),
            (b"all a\0b\n", "line 1: it contains a NUL"),
            (b"all a\nall \xff\n", "line 2: it is not UTF-8"),
            (long.as_bytes(), "line 2: it is longer than 4096 bytes"),
            (many.as_bytes(), "line 1001: there are more than 1000 rules"),
        ] {
            let error = Checks::parse(file).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        for line in [&b"all \xff"[..], b"all", b"grow x", b"", b"all a\0", long.as_bytes()] {
            assert!(Checks::of_lines([line]).is_err(), "{line:?}");
        }
        assert!(Checks::of_lines(many.lines().map(str::as_bytes)).is_err());
    }

    #[test]
    fn rules_are_relative_to_the_recorded_root() {
        let checks = Checks::parse(b"growing var/log\ncontent log/x\nignore tmp\nall var/tmp/a").unwrap();
        let below = checks.clone().starting_at(Some(b"var"));
        for (path, is) in [
            ("log", Check::Growing),
            ("log/x", Check::Growing),
            ("tmp", Check::Ignore),
            ("tmp/a", Check::Ignore),
            ("x", Check::All),
            ("", Check::All),
        ] {
            assert_eq!(below.of(path.as_bytes(), FileType::Regular), is, "{path}");
            if !path.is_empty() {
                assert_eq!(checks.of(format!("var/{path}").as_bytes(), FileType::Regular), is, "{path}");
            }
        }
        assert_eq!(checks.of(b"log/x", FileType::Regular), Check::Content);
    }

    /// The naive model: rules in turn, for the entry and each directory above it.
    fn model(rules: &[(Check, &str)], path: &str, is_dir: bool) -> Check {
        let names: Vec<_> = path.split('/').collect();
        for end in 1..=names.len() {
            let mut check = Check::All;
            for (rule, glob) in rules {
                let is_for = |end: usize| {
                    let compiled = PathGlob::new(*glob, &Roots::none()).unwrap();
                    let is_dir = end < names.len() || is_dir;
                    let text =
                        if compiled.is_name() { names[end - 1].into() } else { names[..end].join("/") };
                    compiled.is_match(0, text.as_bytes(), is_dir)
                };
                if (1..=end).any(is_for) {
                    check = *rule;
                }
            }
            if check == Check::Ignore || end == names.len() {
                return check;
            }
        }
        unreachable!("a path has a name")
    }

    const GLOBS: [&str; 12] =
        ["*", "a", "b/", "a/b", "/a", "*.o", "a/*", "a*/b/", "[ab]/{c.o,b}", "**/b", "./b//c.o", "a/b/c.o"];
    const PATHS: [&str; 10] =
        ["a", "b", "a/b", "b/a", "a/b/c.o", "b/c.o", "c.o", "a/a/a", "b/b/b", "a/c.o/b"];

    proptest! {
        #[test]
        fn the_last_rule_that_matches_wins(
            rules in vec((select(&Check::ALL[..]), select(&GLOBS[..])), 0..7),
            paths in vec((select(&PATHS[..]), any::<bool>()), 1..6),
        ) {
            let text: String = rules.iter().map(|(check, glob)| format!("{}  {glob}\n", check.name())).collect();
            let checks = Checks::parse(text.as_bytes()).unwrap();
            for (path, is_dir) in paths {
                let file_type = if is_dir { FileType::Directory } else { FileType::Regular };
                prop_assert_eq!(checks.of(path.as_bytes(), file_type), model(&rules, path, is_dir));
            }
        }

        #[test]
        fn anything_is_rules_or_refused(file in vec(select(&b"all growing *[]{}\\/#\n\t\r\0\xff.x"[..]), 0..60)) {
            if let Ok(checks) = Checks::parse(&file) {
                let again = Checks::of_lines(checks.lines().iter().map(Vec::as_slice)).unwrap();
                prop_assert_eq!(&again, &checks);
                prop_assert_eq!(again.of(b"x/a", FileType::Regular), checks.of(b"x/a", FileType::Regular));
            }
        }
    }
}
