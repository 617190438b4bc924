//! `-E` and `--path` of commands that compare with a record: they look at a part of the entries.

use std::cell::{Cell, RefCell};
use std::ffi::{OsStr, OsString};
use std::rc::Rc;

use clap::Args;
use ftk_manifest::{Header, Selector};
use ftk_record::quote;
use ftk_select::{PathGlob, Roots, Skipped};
use ftk_walk::FileType;

use crate::console::Console;
use crate::human;
use crate::manifest::scope::ScopeArgs;
use crate::rules::{Rule, Rules};

/// The option to skip entries.
#[derive(Debug, Args)]
pub(super) struct ExcludeArgs {
    /// Skip what matches this glob, and all below; repeatable
    ///
    /// A glob with a slash matches paths below the root, one without matches names. Skipped entries are neither missing
    /// nor new, whether they are recorded or not. The summary has their number.
    #[arg(short = 'E', long, value_name = "GLOB", help_heading = "Selection by place")]
    exclude: Vec<OsString>,
}

/// The options to look at a part of the entries.
#[derive(Debug, Args)]
pub(super) struct PartArgs {
    #[command(flatten)]
    exclude: ExcludeArgs,

    /// Look only at entries whose path matches GLOB; repeatable
    ///
    /// The glob matches the whole path below the root, and `*` matches slashes too: `letters/*` is everything below
    /// `letters`.
    #[arg(long, value_name = "GLOB", help_heading = "Selection by name and type")]
    path: Vec<OsString>,
}

const EXCLUDE: &str = "--exclude";
const PATH: &str = "--path";

/// A rule that was given.
struct Given {
    option: &'static str,
    /// Relative to the root.
    value: Vec<u8>,
    glob: PathGlob,
    is_used: Cell<bool>,
}

impl Given {
    /// Returns whether it matches an entry. Notes that it is used.
    fn is_match(&self, path: &[u8], is_directory: bool) -> bool {
        let text = match self.option == EXCLUDE && self.glob.is_name() {
            true => path.rsplit(|byte| *byte == b'/').next().unwrap_or_default(),
            false => path,
        };
        let is_match = self.glob.is_match(0, text, is_directory);
        self.is_used.set(self.is_used.get() || is_match);
        is_match
    }
}

/// A part of the entries.
pub(super) struct Part {
    given: Rc<[Given]>,
}

impl ExcludeArgs {
    /// Compiles the options for the tree `root`; `None` for records alone. Returns `None` if none is given.
    ///
    /// # Errors
    /// If a glob is invalid.
    pub(super) fn compile(&self, root: Option<&OsStr>) -> anyhow::Result<Option<Part>> {
        Part::new(self.exclude.iter().map(|glob| (EXCLUDE, glob)), root)
    }
}

impl PartArgs {
    /// See [`ExcludeArgs::compile`].
    pub(super) fn compile(&self, root: Option<&OsStr>) -> anyhow::Result<Option<Part>> {
        let excludes = self.exclude.exclude.iter().map(|glob| (EXCLUDE, glob));
        Part::new(excludes.chain(self.path.iter().map(|glob| (PATH, glob))), root)
    }
}

impl Part {
    fn new<'g>(
        globs: impl Iterator<Item = (&'static str, &'g OsString)>,
        root: Option<&OsStr>,
    ) -> anyhow::Result<Option<Self>> {
        let mut given = Vec::new();
        for (option, glob) in globs {
            let mut word = OsString::from(format!("{option}="));
            word.push(glob);
            for word in ScopeArgs::relative(word, root)? {
                let value = word[option.len() + 1..].to_vec();
                let glob = PathGlob::new(&*value, &Roots::none())?;
                given.push(Given { option, value, glob, is_used: Cell::new(false) });
            }
        }
        Ok((!given.is_empty()).then(|| Self { given: given.into() }))
    }

    /// Returns the options of a record, with those to skip entries during a walk.
    pub(super) fn add_to(this: Option<&Self>, recorded: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let given = this.iter().flat_map(|part| part.given.iter()).filter(|given| given.option == EXCLUDE);
        let words = given.map(|given| [EXCLUDE.as_bytes(), b"=", &given.value].concat());
        recorded.iter().cloned().chain(words).collect()
    }

    /// Returns what selects the entries.
    pub(super) fn selector(&self) -> Selector {
        let (given, last) = (self.given.clone(), RefCell::new(Vec::new()));
        Selector::new(move |path, file_type| selects(&given, path, file_type, &mut last.borrow_mut()))
    }

    /// Returns the rules that were given, and whether they matched an entry of the walk or of the record.
    pub(super) fn rules(&self, walked: Option<&Rules>) -> Rules {
        let rule = |given: &Given| {
            let is_unused =
                |walked: &Rules| given.option == PATH || walked.has_unused(given.option, &given.value);
            let is_used = given.is_used.get() || !walked.is_none_or(is_unused);
            Rule::new(given.option, Some(given.value.clone()), given.option == EXCLUDE, Some(is_used))
        };
        Rules::of(self.given.iter().map(rule).collect())
    }
}

/// Returns whether an entry is selected. `last`: the directory that was skipped last.
fn selects(given: &[Given], path: &[u8], file_type: FileType, last: &mut Vec<u8>) -> bool {
    if !last.is_empty() && path.starts_with(last) && path.get(last.len()) == Some(&b'/') {
        return false;
    }
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| (at, true));
    let own = (!path.is_empty()).then_some((path.len(), file_type == FileType::Directory));
    for (end, is_directory) in ends.chain(own) {
        let excludes = given.iter().filter(|given| given.option == EXCLUDE);
        if excludes.filter(|given| given.is_match(&path[..end], is_directory)).count() > 0 {
            if is_directory {
                last.clear();
                last.extend_from_slice(&path[..end]);
            }
            return false;
        }
    }
    let mut paths = given.iter().filter(|given| given.option == PATH).peekable();
    let is_directory = file_type == FileType::Directory;
    paths.peek().is_none() || paths.filter(|given| given.is_match(path, is_directory)).count() > 0
}

/// Says what was not compared: entries outside the part, what the walk of a tree has skipped, and which options the
/// records have. `records`: how they are called, and their headers.
pub(super) fn say_unselected(
    part: Option<&Part>,
    unselected: u64,
    walked: Option<Skipped>,
    records: &[(&str, &Header)],
    console: &Console,
) {
    let were = |n| if n == 1 { "was" } else { "were" };
    if part.is_some() {
        console.stats.result("unselected", unselected);
        let entries = human::entries(unselected);
        console.summary(format_args!("{entries} {} not selected, and not compared", were(unselected)));
    }
    let skipped = walked.map_or(0, |skipped| skipped.by_options());
    if skipped > 0 {
        let entries = human::entries(skipped);
        console.summary(format_args!("{entries} of the tree {} skipped by selection options", were(skipped)));
    }
    for (name, header) in records.iter().filter(|(_, header)| !header.options.is_empty()) {
        let words: Vec<_> = header.options.iter().map(|word| option_word(word)).collect();
        console.summary(format_args!("{name} was recorded with {}", words.join(" ")));
    }
}

/// Returns a recorded option, in quotes if it needs them: `--exclude=usr/share`.
fn option_word(word: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._/+,@%:=*?-".contains(byte);
    match str::from_utf8(word) {
        Ok(text) if word.iter().all(is_plain) => text.to_owned(),
        _ => quote(word).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(words: &[(&'static str, &str)], root: Option<&str>) -> Part {
        let globs: Vec<_> = words.iter().map(|(option, glob)| (*option, OsString::from(glob))).collect();
        let globs = globs.iter().map(|(option, glob)| (*option, glob));
        Part::new(globs, root.map(OsStr::new)).unwrap().unwrap()
    }

    fn selected(part: &Part, paths: &[&str]) -> Vec<String> {
        let mut last = Vec::new();
        let is_selected = |path: &&&str| {
            let file_type = if path.ends_with('/') { FileType::Directory } else { FileType::Regular };
            selects(&part.given, path.trim_end_matches('/').as_bytes(), file_type, &mut last)
        };
        paths.iter().filter(is_selected).map(|path| path.to_string()).collect()
    }

    const PATHS: [&str; 9] = ["", "a/", "a/b/", "a/b/c.o", "a/x", "b/", "b/c.o", "b/x", "c.o"];

    #[test]
    fn excluded_directories_hide_what_is_below_them() {
        for (globs, expected) in [
            (&[(EXCLUDE, "b")][..], &["", "a/", "a/x", "c.o"][..]),
            (&[(EXCLUDE, "b/")], &["", "a/", "a/x", "c.o"]),
            (&[(EXCLUDE, "x/")], &PATHS),
            (&[(EXCLUDE, "a/b")], &["", "a/", "a/x", "b/", "b/c.o", "b/x", "c.o"]),
            (&[(EXCLUDE, "*.o")], &["", "a/", "a/b/", "a/x", "b/", "b/x"]),
            (&[(EXCLUDE, "a"), (EXCLUDE, "*.o")], &["", "b/", "b/x"]),
            (&[(PATH, "b/*")], &["b/c.o", "b/x"]),
            (&[(PATH, "b"), (PATH, "a/*")], &["a/b/", "a/b/c.o", "a/x", "b/"]),
            (&[(PATH, "*.o"), (EXCLUDE, "a")], &["b/c.o", "c.o"]),
        ] {
            assert_eq!(selected(&part(globs, None), &PATHS), expected, "{globs:?}");
        }
    }

    #[test]
    fn paths_may_begin_with_the_root() {
        for glob in ["t/a/b", "./t/a/b", "a/b", "t//a/b/"] {
            let part = part(&[(EXCLUDE, glob)], Some("t"));
            assert_eq!(selected(&part, &["a/b/", "a/b/c.o", "a/x"]), ["a/x"], "{glob}");
            assert!(part.rules(None).unused_protection().is_empty());
        }
        let unused = part(&[(EXCLUDE, "nothing")], None);
        selected(&unused, &PATHS);
        assert_eq!(unused.rules(None).unused_protection(), [b"--exclude=nothing"]);
    }
}
