//! Defaults of the user: options in a file, which the command line overrides.
//!
//! The file is in TOML. A table of it is a command, such as `[find]` or `[manifest.create]`, and has a list `options`.
//! A list outside of all tables is for every command.
//!
//! A run that acts must not depend on a file that its user has forgotten. So [`ALLOWED`] lists the options that may
//! have defaults, and every other one is refused.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::{Command, CommandFactory as _, error};
use ftk_apply::{JournalError, ensure_safe_directory};
use ftk_file::{Stat, open_checked};
use ftk_record::quote;
use rustix::fs::{CWD, OFlags};
use rustix::process::geteuid;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::args::{Args, Refused};
use crate::console::{Console, chain};
use crate::line::{CommandLine, Role, Word, option_named, option_with_letter};
use crate::stdout::Stdout;

/// Options that say how a run works and what it looks like.
const RUN: &[&str] = &["threads", "io", "memory", "polite", "limit-rate", "progress", "color", "verbose"];

/// Filters by name, type and place. They are never wider than what is selected without them.
pub(crate) const FILTERS: &[&str] = &[
    "extension",
    "name",
    "iname",
    "path",
    "regex",
    "type",
    "where",
    "exclude-where",
    "exclude",
    "exclude-from",
    "exclude-caches",
    "exclude-if-present",
    "ignore-files",
    "no-hidden",
    "min-depth",
    "max-depth",
    "one-file-system",
];

/// Filters by metadata.
pub(crate) const INODES: &[&str] =
    &["size", "changed-within", "changed-before", "owner", "nouser", "nogroup", "perm", "links", "empty"];

/// Rules that choose the kept copies, each of which keeps more.
const KEPT: &[&str] = &["keep", "reference", "keep-one-per", "min-copies", "isolate"];

/// The options that may have defaults, by command; `""` stands for all commands. None of them acts, writes a file, runs
/// a program, makes a check weaker or lifts a protection. Commands that are not here have those of all commands.
const ALLOWED: [(&str, &[&[&str]]); 9] = [
    ("", &[RUN]),
    (
        "find",
        &[
            FILTERS,
            INODES,
            &["sort", "reverse", "long", "human-readable", "hyperlink", "format"],
            &["strict-races"],
        ],
    ),
    (
        "du",
        &[
            FILTERS,
            INODES,
            &["top", "all", "summarize", "human-readable", "apparent-size", "strict-races"],
            &["quiet"],
        ],
    ),
    // The lines do not name the algorithm.
    ("hash", &[FILTERS, INODES, &["cache", "no-cache", "quiet"]]),
    (
        "dup",
        &[
            FILTERS,
            INODES,
            &["format", "algorithm", "verify", "dirs", "unit", "min-size", "max-size"],
            &["cache", "no-cache", "quiet"],
        ],
    ),
    // Empty files are skipped unless --min-size is 0.
    ("dup prune", &[FILTERS, INODES, KEPT, &["algorithm", "verify", "max-size", "cache", "no-cache"]]),
    ("dup apply", &[KEPT]),
    ("manifest create", &[FILTERS, &["algorithm", "cache", "no-cache", "quiet"]]),
    // A filter would make the check weaker.
    ("cmp", &[&["metadata"]]),
];

/// Defaults that change the form of the output. They are used only if it goes to a terminal: no program gets another
/// form because of a file that its author does not know.
const FORMS: [(&str, &[&str]); 4] = [
    ("", &["color"]),
    ("find", &["long", "human-readable", "hyperlink", "format"]),
    ("du", &["top", "all", "summarize", "human-readable", "apparent-size"]),
    ("dup", &["format", "dirs", "unit"]),
];

/// Options that skip or protect: those of the command line are added to the defaults, and do not replace them.
const ADDED: [&str; 6] =
    ["exclude", "exclude-where", "exclude-from", "exclude-if-present", "reference", "keep-one-per"];

/// Defaults of a command that are not used together with these options of the command line: they mean something else
/// there, or the entries are already selected, by a list, by a record or for a browser.
const MISFITS: [Misfit; 7] = [
    ("find", &[&["long", "human-readable", "hyperlink", "format"]], &["null"]),
    ("dup", &[&["format", "dirs", "unit"]], &["output", "null"]),
    ("hash", &[&["cache"]], &["check", "bag", "diff", "lines", "tree", "update"]),
    ("hash", &[FILTERS, INODES], &["check", "bag", "diff"]),
    ("find", &[&["sort", "reverse"]], &["group-by"]),
    ("du", &[FILTERS, INODES], &["since", "from", "interactive"]),
    ("manifest create", &[FILTERS], &["shard", "plan"]),
];

/// A command, its defaults, and options.
type Misfit = (&'static str, &'static [&'static [&'static str]], &'static [&'static str]);

/// Commands that have no defaults.
const WITHOUT_DEFAULTS: [&str; 4] = ["completions", "help", "man", "query"];

/// More bytes than this are not a file of defaults.
const MOST: u64 = 1 << 20;

/// The defaults of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    path: PathBuf,
    used: Vec<String>,
    /// Those that the command line overrides.
    unused: Vec<String>,
    /// The filters among those that are used, unless the result only goes to a terminal.
    filters: Vec<String>,
}

impl Defaults {
    /// Returns the options that are used.
    pub(crate) fn used(&self) -> &[String] {
        &self.used
    }

    /// With `-v`, prints the defaults. Otherwise, prints the filters if the result goes to a program or a file, even
    /// with `-q`: who reads it may not know of them, and would take it for everything.
    pub(crate) fn say(&self, console: &Console) {
        if self.used.is_empty() && self.unused.is_empty() {
            return;
        }
        if !self.filters.is_empty() && !console.is_verbose() {
            Console::note(format_args!(
                "filters from {}: {} (--no-config ignores them)",
                shown(&self.path),
                self.filters.join(" ")
            ));
        }
        console.verbose(|| {
            let unused = match self.unused.join(" ") {
                unused if unused.is_empty() => unused,
                unused => format!("; not used: {unused}"),
            };
            format!("config  {}: {}{unused}", shown(&self.path), self.used.join(" "))
        });
    }

    /// Says that an error may be due to a default.
    pub(crate) fn say_after_error(&self, console: &Console) {
        if !self.used.is_empty() {
            let (path, used) = (shown(&self.path), self.used.join(" "));
            console.summary(format_args!("options from {path}: {used} (--no-config ignores them)"));
        }
    }
}

/// Parses the command line `words` with the defaults of its command, if there are any. `parse` parses words.
///
/// # Errors
/// If the file cannot be used, and those of `parse`.
pub(crate) fn with_defaults(
    words: &[OsString],
    parse: impl Fn(&[OsString]) -> Result<Args, Refused>,
) -> Result<Args, Refused> {
    let plain = parse(words);
    let may_have_defaults = match &plain {
        Ok(args) => !args.globals.no_config && !WITHOUT_DEFAULTS.contains(&args.command.name()),
        // A default may be the option that another one requires.
        Err(Refused::Parser(error)) => {
            error.kind() == error::ErrorKind::MissingRequiredArgument
                && !words.iter().any(|word| word == "--no-config")
        }
        Err(Refused::Message(_)) => false,
    };
    if !may_have_defaults {
        return plain;
    }
    match Config::load().map_err(|error| Refused::Message(chain(&error))) {
        Ok(None) => plain,
        Ok(Some(config)) => config.apply(words, plain, parse),
        Err(refused) => Err(refused),
    }
}

/// The file of defaults.
struct Config {
    path: PathBuf,
    /// The options, and the command of each; empty for all commands.
    options: Vec<(String, Preset)>,
    /// All commands.
    definition: Command,
}

/// An option in the file.
#[derive(Clone)]
struct Preset {
    /// The name in its long form.
    long: &'static str,
    word: String,
}

impl Preset {
    /// Whether it changes the form of the output of this command. `--color=never` does so only on a terminal.
    fn is_form(&self, command: &str) -> bool {
        let of = |it: &&(&str, &[&str])| it.0.is_empty() || it.0 == command;
        self.word != "--color=never" && FORMS.iter().filter(of).any(|(_, longs)| longs.contains(&self.long))
    }
}

impl Config {
    /// Reads the file and checks all of it. Returns `None` if no file exists.
    fn load() -> anyhow::Result<Option<Self>> {
        let Some(path) = path() else { return Ok(None) };
        let text =
            read(&path).with_context(|| format!("cannot use {} (--no-config ignores it)", shown(&path)));
        let Some(text) = text? else { return Ok(None) };
        let at = |(offset, why): (usize, String)| {
            let line = text[..offset].matches('\n').count() + 1;
            anyhow!("{}, line {line}: {why}", shown(&path))
        };
        let mut definition = Args::command();
        definition.build();
        let options = check(&text, &mut definition).map_err(at)?;
        Ok(Some(Self { path, options, definition }))
    }

    /// Puts the defaults before the options of the command line. Those that cannot be used together with these are not
    /// used.
    fn apply(
        self,
        words: &[OsString],
        plain: Result<Args, Refused>,
        parse: impl Fn(&[OsString]) -> Result<Args, Refused>,
    ) -> Result<Args, Refused> {
        let line = CommandLine::within(&self.definition, words.to_vec());
        let of = |command: &str| -> Vec<Preset> {
            self.options.iter().filter(|(of, _)| of == command).map(|(_, it)| it.clone()).collect()
        };
        let (mut candidates, own) = (of(""), of(&line.command));
        candidates.retain(|it| own.iter().all(|own| own.long != it.long));
        candidates.extend(own);
        if candidates.is_empty() {
            return plain;
        }
        let given = given(&self.definition, &line);
        let is_given = |long: &str| given.contains(&long);
        let misfits = || MISFITS.iter().filter(|(of, ..)| *of == line.command);
        let is_shown = Stdout::is_terminal();
        let (mut used, mut unused): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|it| {
            let long = it.long;
            if !is_shown && it.is_form(&line.command) {
                return false;
            }
            let is_misfit = misfits().any(|(_, options, with)| {
                options.iter().any(|list| list.contains(&long)) && with.iter().any(|with| is_given(with))
            });
            (!is_given(long) || ADDED.contains(&long)) && !is_misfit
        });
        let after_command = |word: &Word| word.role == Role::Other && word.text != "--";
        let at = line.words.iter().rposition(after_command).map_or(1, |at| at + 1);
        let with = |defaults: &[Preset]| {
            let defaults = defaults.iter().map(|it| OsString::from(&it.word));
            let (before, after) = words.split_at(at);
            parse(&before.iter().cloned().chain(defaults).chain(after.iter().cloned()).collect::<Vec<_>>())
        };
        let mut parsed = with(&used);
        if is_conflict(&parsed) && !is_conflict(&plain) {
            for it in std::mem::take(&mut used) {
                used.push(it);
                if is_conflict(&with(&used)) {
                    unused.extend(used.pop());
                }
            }
            parsed = with(&used);
        }
        let goes_elsewhere = !is_shown || is_given("output");
        let is_filter = |it: &&Preset| goes_elsewhere && is_filter(it.long);
        let filters = used.iter().filter(is_filter).map(|it| it.word.clone()).collect();
        let texts = |defaults: Vec<Preset>| defaults.into_iter().map(|it| it.word).collect();
        let defaults = Defaults { path: self.path, used: texts(used), unused: texts(unused), filters };
        parsed.map(|args| Args { defaults, ..args })
    }
}

/// Whether an option hides entries.
fn is_filter(long: &str) -> bool {
    [FILTERS, INODES, &["min-size", "max-size"]].iter().any(|list| list.contains(&long))
}

/// Whether options cannot be used together.
fn is_conflict(parsed: &Result<Args, Refused>) -> bool {
    match parsed {
        Ok(args) => args.refuse_conflicts().is_err(),
        Err(Refused::Parser(error)) => error.kind() == error::ErrorKind::ArgumentConflict,
        Err(Refused::Message(_)) => false,
    }
}

/// Returns the long names of the options of the command line.
fn given<'d>(definition: &'d Command, line: &CommandLine) -> Vec<&'d str> {
    let at = find(definition, &line.command).unwrap_or(definition);
    let mut given = Vec::new();
    for word in line.words.iter().filter(|word| word.is_option()) {
        let word = word.text.to_string_lossy();
        if let Some(long) = word.strip_prefix("--") {
            given.extend(option_named(at, long.split('=').next().unwrap_or_default()));
            continue;
        }
        for arg in word.chars().skip(1).map_while(|letter| option_with_letter(at, letter)) {
            given.push(arg);
            if arg.get_action().takes_values() {
                break;
            }
        }
    }
    given.into_iter().filter_map(|arg| arg.get_long()).collect()
}

/// Returns the command with this name, such as `dup prune`.
fn find<'d>(definition: &'d Command, command: &str) -> Option<&'d Command> {
    command.split_terminator(' ').try_fold(definition, |at, name| at.find_subcommand(name))
}

fn path() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(config.join("ftk/config.toml"))
}

/// Returns the text of the file. `None` if it does not exist, or is below a directory that the caller may not search:
/// then it is not theirs, as after `runuser`, which keeps HOME.
fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let opened = open_checked(CWD, path, OFlags::RDONLY | OFlags::NOCTTY, |found| match found.is_regular() {
        true => Ok(()),
        false => Err(io::Error::other("it is not a regular file")),
    });
    let file: File = match opened {
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => return Ok(None),
            ErrorKind::PermissionDenied if fs::metadata(path).is_err() => return Ok(None),
            _ => return Err(error.into()),
        },
        Ok(file) => file,
    };
    let stat = Stat::of(&file)?;
    let user = geteuid().as_raw();
    ensure!(
        [0, user].contains(&stat.uid),
        "it belongs to user {}, and only those of user {user} and of root count: set HOME or XDG_CONFIG_HOME",
        stat.uid
    );
    ensure!(stat.mode & 0o022 == 0, "other users may write to it: chmod go-w");
    match ensure_safe_directory(path.parent().unwrap_or(Path::new("/"))) {
        Err(JournalError::Exposed { directory, mode, owner }) => bail!(
            "other users could have put it there: {} has owner {owner} and mode {mode:04o}",
            quote(&directory)
        ),
        Err(JournalError::Read(error)) => return Err(error.into()),
        checked => checked?,
    }
    let mut text = String::new();
    file.take(MOST + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= MOST, "it is too large");
    Ok(Some(text))
}

/// Why the file cannot be used, and at which byte.
type Wrong = (usize, String);

/// Parses the file. Checks each option alone, and those of each command together.
fn check(text: &str, definition: &mut Command) -> Result<Vec<(String, Preset)>, Wrong> {
    let table = DeTable::parse(text).map_err(|error| {
        (error.span().map_or(0, |span| span.start), error.message().trim_end().replace('\n', "; "))
    })?;
    let mut lists = Vec::new();
    collect(table.get_ref(), definition, "", &mut lists)?;
    let mut options = Vec::new();
    for (command, at, words) in lists {
        for (at, word) in &words {
            let long = allowed(definition, &command, word).map_err(|why| (*at, why))?;
            parse_values(definition, &command, [word.as_str()]).map_err(|why| (*at, why))?;
            options.push((command.clone(), Preset { long, word: word.clone() }));
        }
        parse_values(definition, &command, words.iter().map(|(_, word)| word.as_str()))
            .map_err(|why| (at, why))?;
    }
    Ok(options)
}

/// A list of options: its command, where it is, and its words.
type List = (String, usize, Vec<(usize, String)>);

/// Collects the lists of options of a table and of those in it.
fn collect(table: &DeTable<'_>, at: &Command, command: &str, lists: &mut Vec<List>) -> Result<(), Wrong> {
    for (key, value) in table {
        let (name, start) = (key.get_ref().as_ref(), key.span().start);
        let wrong = |why: String| Err((start, why));
        let path = [command, name].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
        match value.get_ref() {
            DeValue::Array(words) if name == "options" => {
                let word = |it: &Spanned<DeValue<'_>>| match it.get_ref().as_str() {
                    Some(word) => Ok((it.span().start, word.to_owned())),
                    None => Err((it.span().start, "each option is a string in quotes".to_owned())),
                };
                lists.push((command.to_owned(), start, words.iter().map(word).collect::<Result<_, _>>()?));
            }
            DeValue::Table(below) => match at.find_subcommand(name).filter(|it| !it.is_hide_set()) {
                None => return wrong(format!("there is no command '{}'", path.escape_debug())),
                Some(_) if WITHOUT_DEFAULTS.contains(&&*path) => {
                    return wrong(format!("ftk {path} has no defaults"));
                }
                Some(found) => collect(below, found, &path, lists)?,
            },
            _ if name == "options" => return wrong("options is a list: options = [\"--sort=size\"]".into()),
            _ => return wrong(format!("'{}' is neither `options` nor a command", name.escape_debug())),
        }
        if name == "options" && !command.is_empty() && at.is_subcommand_required_set() {
            return wrong(format!("ftk {command} needs a command, which has its own section"));
        }
    }
    Ok(())
}

/// Returns the option of a word if it may have a default.
fn allowed(definition: &Command, command: &str, word: &str) -> Result<&'static str, String> {
    let shown = quote(word.as_bytes());
    let name = word.strip_prefix("--").filter(|name| !name.is_empty() && !name.contains('\0'));
    let at = find(definition, command).ok_or_else(|| format!("there is no command '{command}'"))?;
    let name = name.ok_or_else(|| {
        let letter = word.strip_prefix('-').and_then(|rest| rest.chars().next());
        let meant = letter.and_then(|letter| option_with_letter(at, letter)).and_then(|arg| {
            let value = if arg.get_action().takes_values() { "=VALUE" } else { "" };
            Some(format!("; write --{}{value}", arg.get_long()?))
        });
        format!("{shown} does not have the form --OPTION or --OPTION=VALUE{}", meant.unwrap_or_default())
    })?;
    let long = name.split('=').next().unwrap_or_default();
    let ftk = if command.is_empty() { "ftk".to_owned() } else { format!("ftk {command}") };
    let arg = option_named(at, long).filter(|arg| !arg.is_hide_set());
    let arg = arg.ok_or_else(|| format!("{ftk} has no option {shown}"))?;
    let lists =
        ALLOWED.iter().filter(|(of, _)| of.is_empty() || *of == command).flat_map(|(_, lists)| *lists);
    let found = lists.flat_map(|list| *list).copied().find(|allowed| arg.get_long() == Some(allowed));
    found.ok_or_else(|| {
        format!(
            "{shown} counts only on the command line: a default does not act, name files, search more, check less, lift \
             a protection, or change what programs read"
        )
    })
}

/// Checks the values of options. A command may lack what only the command line has.
fn parse_values<'w>(
    parser: &mut Command,
    command: &'w str,
    words: impl IntoIterator<Item = &'w str>,
) -> Result<(), String> {
    use error::ErrorKind::{
        DisplayHelpOnMissingArgumentOrSubcommand, MissingRequiredArgument, MissingSubcommand,
    };
    let line = ["ftk"].into_iter().chain(command.split_terminator(' ')).chain(words);
    match parser.try_get_matches_from_mut(line) {
        Err(error)
            if !matches!(
                error.kind(),
                MissingRequiredArgument | MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand
            ) =>
        {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(first.strip_prefix("error: ").unwrap_or(first).to_owned())
        }
        _ => Ok(()),
    }
}

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::is_path;

    /// Each option that may be a default exists under this name, and never takes the next word of the command line as
    /// its value. Only those that protect name files.
    #[test]
    fn every_option_that_may_be_a_default_exists() {
        let mut definition = Args::command();
        definition.build();
        let mut longs = Vec::new();
        for (command, lists) in ALLOWED {
            let at = find(&definition, command).unwrap();
            for &long in lists.iter().copied().flatten() {
                let arg = option_named(at, long).unwrap_or_else(|| panic!("{command} --{long}"));
                assert!(arg.get_long() == Some(long) && !arg.is_hide_set(), "{command} --{long}");
                let has_own_word = arg.get_num_args().is_none_or(|it| it.min_values() == it.max_values());
                assert!(has_own_word || arg.is_require_equals_set(), "{command} --{long}");
                let id = arg.get_id().as_str();
                assert!(!is_path(command, id) || ADDED.contains(&long), "{command} --{long} names a file");
                longs.push((command, long));
            }
        }
        assert!(ADDED.iter().all(|added| longs.iter().any(|(_, long)| long == added)));
        for (command, forms) in FORMS {
            assert!(forms.iter().all(|long| longs.contains(&(command, long))), "{command}");
        }
        for (command, options, with) in MISFITS {
            assert!(
                options.iter().copied().flatten().all(|long| longs.contains(&(command, long))),
                "{command}"
            );
            let at = find(&definition, command).unwrap();
            let exists =
                |long: &&str| option_named(at, long).is_some_and(|arg| arg.get_long() == Some(*long));
            assert!(with.iter().all(exists), "{command}");
        }
    }

    #[test]
    fn lists_have_a_command_each() {
        let mut definition = Args::command();
        definition.build();
        let mut read = |text: &str| {
            let options = check(text, &mut definition)?.into_iter();
            Ok(options.map(|(of, option)| format!("{of}: {}", option.word)).collect::<Vec<_>>())
        };
        let text =
            "options = ['--io=sync']\n[dup.prune]\noptions = ['--keep=oldest']\n[dup]\noptions = ['--dirs']";
        assert_eq!(
            read(text),
            Ok(vec!["dup: --dirs".into(), "dup prune: --keep=oldest".into(), ": --io=sync".into()])
        );
        assert_eq!(read("find.options = ['--name=--yes']"), Ok(vec!["find: --name=--yes".into()]));
        assert_eq!(read(""), Ok(Vec::new()));
        let wrong: Result<_, Wrong> = read("[find]\noptions = ['--sort',\n '--yes']");
        assert_eq!(wrong.unwrap_err().0, 29);
    }
}
