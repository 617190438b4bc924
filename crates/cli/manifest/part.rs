//! `-E`, `--path`, `--where` and `--exclude-where` of commands that work with a record: they look at a part of the
//! entries.

use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::ensure;
use clap::Args;
use ftk_manifest::{Header, Selector, Selects};
use ftk_record::quote;
use ftk_select::{PathGlob, Placed, Roots, Skipped, escape_glob, normalise_glob};
use ftk_walk::FileType;

use crate::console::Console;
use crate::human;
use crate::manifest::scope::ScopeArgs;
use crate::rules::Rules;

/// The options to look at a part of the entries.
#[derive(Debug, Args)]
pub(super) struct PartArgs {
    /// Skip what matches this glob, and all below; repeatable
    ///
    /// A glob with a slash matches paths below the root, one without matches names. Skipped entries are neither missing
    /// nor new, whether they are recorded or not. The summary has their number.
    #[arg(short = 'E', long, value_name = "GLOB", help_heading = "Selection by place")]
    exclude: Vec<OsString>,

    /// Look only at entries whose path matches GLOB; repeatable
    ///
    /// The glob matches the whole path below the root, and `*` matches slashes too: `letters/*` is everything below
    /// `letters`.
    #[arg(long, value_name = "GLOB", help_heading = "Selection by name and type")]
    path: Vec<OsString>,

    /// Look only at entries for which EXPR is true
    ///
    /// Repeatable. The terms are name, iname, path, regex, extension, type, depth and hidden. See `ftk help where`.
    #[arg(long = "where", value_name = "EXPR", help_heading = "Selection by expression")]
    wanted: Vec<OsString>,

    /// Skip what EXPR matches, and all below it
    ///
    /// Repeatable. The terms are those of --where.
    #[arg(long = "exclude-where", value_name = "EXPR", help_heading = "Selection by expression")]
    unwanted: Vec<OsString>,
}

/// The options that skip entries. A walk with them does not enter what they skip.
const EXCLUDE: &[u8] = b"--exclude=";
const EXCLUDE_WHERE: &[u8] = b"--exclude-where=";

/// A part of the entries.
pub(super) struct Part {
    placed: Arc<Mutex<Placed>>,
    /// All options, relative to the root.
    words: Vec<Vec<u8>>,
    /// Those for a walk that also finds what is not selected, and is not skipped.
    skipping: Vec<Vec<u8>>,
    /// The same rules after a walk with all options.
    walked: Rules,
}

/// Selects entries for a manifest.
struct Shared(Arc<Mutex<Placed>>);

impl Selects for Shared {
    fn selects(&self, path: &[u8], file_type: FileType) -> bool {
        lock(&self.0).selects(path, file_type)
    }

    fn skips(&self, path: &[u8], file_type: FileType) -> bool {
        lock(&self.0).skips(path, file_type)
    }
}

/// Nothing is left half done by a panic.
fn lock(placed: &Mutex<Placed>) -> MutexGuard<'_, Placed> {
    placed.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PartArgs {
    /// Whether no option was given.
    pub(super) fn is_empty(&self) -> bool {
        let Self { exclude, path, wanted, unwanted } = self;
        [exclude, path, wanted, unwanted].into_iter().all(Vec::is_empty)
    }

    /// Compiles the options for the tree `root`, which paths in them may begin with; for a record alone, they are below
    /// its root. `name` is the path of the root. `base`: the path of the root below the recorded one, if it is another.
    /// Returns `None` if no option is given.
    ///
    /// # Errors
    /// If a value is wrong, or tests what a record does not have.
    pub(super) fn compile(
        &self,
        root: Option<&OsStr>,
        name: &[u8],
        base: Option<&[u8]>,
        console: &Console,
    ) -> anyhow::Result<Option<Part>> {
        let options = [
            ("--exclude", &self.exclude),
            ("--path", &self.path),
            ("--where", &self.wanted),
            ("--exclude-where", &self.unwanted),
        ];
        let mut words = Vec::new();
        for (option, value) in
            options.iter().flat_map(|(option, values)| values.iter().map(move |it| (*option, it)))
        {
            let mut word = OsString::from(format!("{option}="));
            word.push(value);
            words.extend(ScopeArgs::relative(word, root)?);
        }
        if words.is_empty() {
            return Ok(None);
        }
        let selection = ScopeArgs::of_words(&words)?.compile(OsStr::new(""), &[], console)?;
        ensure!(
            !selection.reads_ignore_files(),
            "`ignored` needs the ignore files of the tree, which a record does not have"
        );
        let mut skipping = words.clone();
        match base {
            None => skipping.retain(|word| word.starts_with(EXCLUDE) || word.starts_with(EXCLUDE_WHERE)),
            // Expressions with paths would mean something else from the recorded root on. What they skip is walked, and
            // then not selected.
            Some(base) => {
                let below = |word: &Vec<u8>| Some(word_below(word.strip_prefix(EXCLUDE)?, base));
                skipping = skipping.iter().filter_map(below).collect::<Result<_, _>>()?;
            }
        }
        let placed = Arc::new(Mutex::new(Placed::new(selection, root_name(name))));
        Ok(Some(Part { placed, words, skipping, walked: Rules::default() }))
    }
}

/// Returns the name of a root, given its path.
pub(super) fn root_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').find(|name| !name.is_empty()).unwrap_or(b"/")
}

/// Returns the option with a glob relative to the directory that contains `base`.
fn word_below(glob: &[u8], base: &[u8]) -> anyhow::Result<Vec<u8>> {
    if PathGlob::new(glob, &Roots::none())?.is_name() {
        return Ok([EXCLUDE, glob].concat());
    }
    let (normal, end) = (normalise_glob(glob), if glob.ends_with(b"/") { &b"/"[..] } else { b"" });
    let below = normal.strip_prefix(b"/").unwrap_or(&normal);
    Ok([EXCLUDE, b"/", &escape_glob(base), b"/", below, end].concat())
}

impl Part {
    /// Returns the options of a record, with those to skip entries during a walk.
    pub(super) fn add_to(this: Option<&Self>, recorded: &[Vec<u8>]) -> Vec<Vec<u8>> {
        recorded.iter().chain(this.iter().flat_map(|part| &part.skipping)).cloned().collect()
    }

    /// Returns the options for a walk that finds only what is selected.
    pub(super) fn words(&self) -> &[Vec<u8>] {
        &self.words
    }

    /// Notes the rules of a walk with [`words`](Self::words).
    pub(super) fn note_walk(&mut self, walked: &Rules) {
        self.walked = walked.clone();
    }

    /// Returns what selects the entries.
    pub(super) fn selector(&self) -> Selector {
        Selector::new(Shared(self.placed.clone()))
    }

    /// Returns the rules that were given, and whether they matched an entry of the record, or of a walk that was noted.
    pub(super) fn rules(&self) -> Rules {
        let placed = lock(&self.placed);
        let (_, used) = placed.rules();
        // Every rule is judged, whatever was selected.
        let matched = Skipped { matched: 1, ..Skipped::default() };
        let mut rules = Rules::of_selection(placed.selection(), used, matched);
        rules.merge(&self.walked);
        rules
    }

    /// Puts the rules that were given in the place of those that the walk had for them, and notes which of them matched
    /// an entry of the walk or of the record. Returns them.
    pub(super) fn add_rules_to(&self, walked: &mut Rules) -> Rules {
        let mut given = self.rules();
        walked.replace(&mut given, &self.skipping);
        given
    }
}

/// Says what a command did not look at: entries outside the part, what the walk of a tree has skipped, and which
/// options the records have. `records`: how they are called, and their headers.
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
        console.summary(format_args!("{entries} {} not selected", were(unselected)));
    }
    let skipped = walked.map_or(0, |skipped| skipped.by_options());
    if skipped > 0 {
        let entries = human::entries(skipped);
        console.summary(format_args!("{entries} of the tree {} skipped by selection options", were(skipped)));
    }
    for (name, header) in records.iter().filter(|(_, header)| !header.options.is_empty()) {
        let (rules, options): (Vec<_>, Vec<_>) =
            header.options.iter().partition(|word| word.starts_with(b"--rule="));
        let mut words: Vec<_> = options.into_iter().map(|word| option_word(word)).collect();
        if !rules.is_empty() {
            words.push(human::count(rules.len() as u64, "rule"));
        }
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
    use clap::Parser;

    use super::*;
    use crate::globals::Globals;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        globals: Globals,

        #[command(flatten)]
        part: PartArgs,
    }

    const PATHS: [&str; 9] = ["", "a/", "a/b/", "a/b/c.o", "a/x", "b/", "b/c.o", "b/x", "c.o"];

    fn part(line: &[&str], root: Option<&str>, base: Option<&[u8]>) -> Part {
        let Alone { globals, part } = Alone::try_parse_from([&["alone"], line].concat()).unwrap();
        let console = Console::new(&globals, Vec::new());
        part.compile(root.map(OsStr::new), b"/x/t", base, &console).unwrap().unwrap()
    }

    fn selected(part: &Part) -> Vec<&'static str> {
        let selector = Shared(part.placed.clone());
        let is_selected = |path: &&str| {
            let is_dir = path.is_empty() || path.ends_with('/');
            let file_type = if is_dir { FileType::Directory } else { FileType::Regular };
            selector.selects(path.trim_end_matches('/').as_bytes(), file_type)
        };
        PATHS.into_iter().filter(is_selected).collect()
    }

    #[test]
    fn options_select_by_name_and_place() {
        for (line, expected) in [
            (&["-E", "b"][..], &["", "a/", "a/x", "c.o"][..]),
            (&["--path", "b/*", "-E", "*.o"], &["b/x"]),
            (&["--where", "type = d"], &["", "a/", "a/b/", "b/"]),
            (&["--where", "name = t"], &[""]),
            (&["--exclude-where", "path = a/b or name = x"], &["", "a/", "b/", "b/c.o", "c.o"]),
        ] {
            assert_eq!(selected(&part(line, None, None)), expected, "{line:?}");
        }
    }

    #[test]
    fn paths_may_begin_with_the_root() {
        for glob in ["t/a/b", "./t/a/b", "a/b", "t//a/b/"] {
            let part = part(&["-E", glob], Some("t"), None);
            assert_eq!(selected(&part), ["", "a/", "a/x", "b/", "b/c.o", "b/x", "c.o"], "{glob}");
            assert!(part.rules().unused_protection().is_empty());
        }
        let unused = part(&["-E", "nothing"], None, None);
        selected(&unused);
        assert_eq!(unused.rules().unused_protection(), [b"--exclude=nothing"]);
    }

    #[test]
    fn a_walk_of_a_part_skips_below_it() {
        let part = part(
            &["-E", "a/b", "-E", "*.o", "-E", "./x/", "--exclude-where", "path = y"],
            None,
            Some(b"e/[s]"),
        );
        let words = ["--exclude=/e/\\[s\\]/a/b", "--exclude=*.o", "--exclude=/e/\\[s\\]/x/"];
        assert_eq!(part.skipping, words.map(|word| word.as_bytes().to_vec()));
    }
}
