//! `ftk help`: help of the commands, help topics, and the arrangement of all help pages.
//!
//! `-h` shows a line for each option, those that many commands share last, with the topic that explains them
//! ([`TOPICS`]); `--help` and the manual explain everything. The lines come from the definitions.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use anyhow::{Context as _, bail};
use clap::builder::{StyledStr, Styles};
use clap::{Arg, Args, Command, Id};
use ftk_file::StandardStream;

use crate::args;
use crate::console::Outcome;
use crate::documents::Document;
use crate::globals::Globals;
use crate::selection::SelectionArgs;
use crate::stdout::{CANNOT_WRITE, Stdout};
use crate::{console, foreign};

/// Print the help of a command, or a help topic
///
/// `ftk help selection` explains the options that choose entries, which most commands share. `ftk help global` explains
/// the options of all commands. `ftk help coming-from` lists options of find, fd, du, ncdu, dust, fdupes, jdupes,
/// fclones, rmlint, hashdeep, sha256sum, diff, cmp and AIDE, and their counterparts in ftk. `ftk help json` explains
/// the members of --json. Other documents are config, recipes, tree-digest and where. `ftk help recipes` lists the
/// recipes, and `ftk help recipes sign` prints those with this word in their heading; so do the other documents with
/// their sections.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HelpArgs {
    /// A command, or a topic: selection, global, coming-from, json, config, recipes, tree-digest or where
    ///
    /// After a document, words of the heading of a section, or `all`.
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk help dup prune         the same as ftk dup prune --help
  ftk help selection         options that choose entries
  ftk help coming-from fd    options of fd, and their counterparts in ftk
  ftk help json              the members of --json of every command
  ftk help recipes night     the recipe of the nightly check";

/// Options that several commands share, and that one page explains.
struct Topic {
    /// The word after `ftk help`.
    name: &'static str,
    /// The heading above the names of the options in `-h`.
    heading: &'static str,
    about: &'static str,
    /// Adds the options to a command.
    options: fn(Command) -> Command,
}

const TOPICS: [Topic; 2] = [
    Topic {
        name: "selection",
        heading: "Selection options",
        about: "Options that choose entries by name, type, metadata and place\n\n\
            An entry is selected if it matches every option that is given. If an option is repeated, one match is \
            enough; but repeated --size and --links must all match. Without these options, every entry is selected, hidden and ignored ones too.",
        options: SelectionArgs::augment_args,
    },
    Topic {
        name: "global",
        heading: "Global options",
        about: "Options of all commands\n\nThey may stand before or after the name of the command.",
        options: Globals::augment_args,
    },
];

/// The options of topics that come first in `-h`.
const MOST_USED: [&str; 12] = [
    "name",
    "extension",
    "types",
    "size",
    "changed_within",
    "exclude",
    "ignore_files",
    "max_depth",
    "quiet",
    "json",
    "verbose",
    "threads",
];

/// Options that only the long help and the topics show, since the pages of most commands are full. That of `find` has
/// room.
const RARE: [&str; 5] = ["log", "nouser", "nogroup", "exclude_caches", "exclude_if_present"];

/// Two options that have one line in `-h`, and what it says.
const PAIRS: [(&str, &str, &str); 10] = [
    ("name", "iname", "Match names against this glob"),
    ("newer", "samefile", "Match by comparison with FILE"),
    ("changed_within", "changed_before", "Match by the last change"),
    ("nouser", "nogroup", "Match owners or groups without a name"),
    ("max_depth", "min_depth", "Skip entries below or above depth N"),
    ("ignore_files", "no_hidden", "Skip ignored or hidden entries"),
    ("exclude", "exclude_from", "Skip matches, and all below them"),
    ("wanted", "unwanted", "Match or skip by an expression"),
    ("files_from", "files0_from", "Read more starting points from FILE"),
    ("stats", "metrics", "Write figures of the run to FILE"),
];

/// The topic without options.
const COMING_FROM: &str = "coming-from";

/// Returns the names of all topics, each with what it explains.
pub(crate) fn topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    let first_line = |topic: &Topic| (topic.name, topic.about.lines().next().unwrap_or_default());
    TOPICS
        .iter()
        .map(first_line)
        .chain([(COMING_FROM, "Options of other tools, and their equivalents in ftk")])
        .chain(Document::ALL.map(|document| (document.name, document.about)))
}

impl Topic {
    /// Returns the options that the page explains.
    fn command(&self) -> Command {
        let command = (self.options)(Command::new(self.name).max_term_width(80).disable_help_flag(true));
        // The options bring a description of their own.
        command.about(self.about).long_about(self.about).help_template("{about}\n\n{all-args}")
    }

    fn page(&self) -> StyledStr {
        self.command().render_long_help()
    }

    /// Returns a heading, and below it a line for each option of `command` that the topic explains, the most used
    /// first. `None` if it has none.
    fn block(&self, command: &Command) -> Option<String> {
        let topic = self.command();
        let mut shown: Vec<_> =
            topic.get_arguments().filter(|arg| is_shown(command, arg) && !is_rare(command, arg)).collect();
        let rank = |arg: &Arg| MOST_USED.iter().position(|id| arg.get_id() == id);
        shown.sort_by_key(|arg| rank(arg).unwrap_or(MOST_USED.len()));
        let find = |id: &str| shown.iter().find(|arg| arg.get_id() == id);
        let pairs: Vec<_> =
            PAIRS.iter().filter(|pair| find(pair.0).is_some() && find(pair.1).is_some()).collect();
        let rows =
            shown.iter().filter(|arg| pairs.iter().all(|pair| arg.get_id() != pair.1)).map(|arg| match pairs
                .iter()
                .find(|pair| arg.get_id() == pair.0)
            {
                Some((_, second, about)) => {
                    (spec(arg, find(second).and_then(|it| it.get_long())), (*about).to_owned())
                }
                None => {
                    let own = command.get_arguments().find(|own| own.get_id() == arg.get_id());
                    let help = own.unwrap_or(arg).get_help();
                    (spec(arg, None), help.map(StyledStr::to_string).unwrap_or_default())
                }
            });
        let rows: Vec<_> = rows.collect();
        // A pair is too long for the column.
        let width = rows.iter().map(|(spec, _)| spec.len()).filter(|&length| length <= 28).max()?;
        let header = *Styles::styled().get_header();
        let literal = *Styles::styled().get_literal();
        let heading = format!("{header}{}{header:#} (explained by `ftk help {}`):", self.heading, self.name);
        Some(rows.iter().fold(heading, |block, (spec, about)| {
            block + &format!("\n  {literal}{spec:width$}{literal:#}  {about}")
        }))
    }

    /// Returns the ids of the options that the topic explains.
    fn explained(&self) -> Vec<Id> {
        self.command().get_arguments().map(|arg| arg.get_id().clone()).collect()
    }
}

fn is_rare(command: &Command, arg: &Arg) -> bool {
    command.get_name() != "find" && RARE.iter().any(|id| arg.get_id() == id)
}

/// Whether the help of a command shows its argument of this id. Commands inherit the global ones.
fn is_shown(command: &Command, arg: &Arg) -> bool {
    let own = command.get_arguments().find(|own| own.get_id() == arg.get_id());
    let is_same = |own: &Arg| own.get_help_heading() == arg.get_help_heading();
    own.map_or(arg.is_global_set(), |own| !own.is_hide_set() && is_same(own))
}

/// Returns how an option is spelled: its letter, its name, that of a second option, and the name of the value.
fn spec(arg: &Arg, second: Option<&str>) -> String {
    let short = arg.get_short().map_or_else(|| "    ".to_owned(), |letter| format!("-{letter}, "));
    let second = second.map(|name| format!(", --{name}")).unwrap_or_default();
    let value = arg.get_value_names().filter(|_| arg.get_action().takes_values()).and_then(<[_]>::first);
    let value = value.map(|name| format!(" <{name}>")).unwrap_or_default();
    format!("{short}--{}{second}{value}", arg.get_long().unwrap_or_default())
}

/// Global options of commands that process files. Other commands have no use for them.
const OF_WORK: &[&str] = &["threads", "io", "memory", "polite", "limit_rate", "progress"];

/// Global options of commands that report what they did.
const OF_REPORTS: &[&str] = &["json", "verbose", "stats", "metrics", "log"];

/// Global options without effect on a command, which its help does not show.
const WITHOUT_EFFECT: [(&str, &[&[&str]]); 11] = [
    ("du", &[&["io", "limit_rate"]]),
    ("find", &[&["io", "limit_rate", "quiet"]]),
    ("cmp", &[&["io"]]),
    ("calibrate", &[OF_WORK]),
    ("completions", &[OF_WORK, OF_REPORTS, &["quiet", "no_config"]]),
    ("query", &[OF_WORK, OF_REPORTS, &["quiet", "color", "no_config"]]),
    ("man", &[OF_WORK, OF_REPORTS, &["no_config"]]),
    ("help", &[OF_WORK, OF_REPORTS, &["quiet", "no_config"]]),
    ("apply", &[&["threads", "io", "memory"]]),
    ("undo", &[&["threads", "io", "memory", "progress"]]),
    ("diff", &[&["io", "limit_rate", "progress"]]),
];

/// Returns the definition of `ftk` with its help pages arranged.
pub(crate) fn arranged(ftk: Command) -> Command {
    let explained: BTreeSet<Id> = TOPICS.iter().flat_map(Topic::explained).collect();
    ftk.mut_subcommands(|command| arranged_below(command, &explained))
}

/// `explained`: the options that topics explain.
fn arranged_below(command: Command, explained: &BTreeSet<Id>) -> Command {
    let globals = Globals::augment_args(Command::new(""));
    let name = command.get_name().to_owned();
    let (_, without_effect) = WITHOUT_EFFECT.iter().find(|(of, _)| *of == name).copied().unwrap_or_default();
    // A command does not inherit an option that it has already. The hidden copy added here replaces the
    // inherited one.
    let is_without_effect = |id: &str| without_effect.iter().any(|ids| ids.contains(&id));
    let hide = |command: Command, global: &Arg| {
        let id = global.get_id().as_str();
        let arg = global.clone();
        command.arg(if is_without_effect(id) { arg.hide(true) } else { arg.hide_short_help(true) })
    };
    // An option under another heading has a meaning of its own.
    let is_explained = |arg: &Arg| {
        explained.contains(arg.get_id()) && arg.get_help_heading().is_none_or(|it| it != "Output")
    };
    let command = command.mut_args(|arg| if is_explained(&arg) { arg.hide_short_help(true) } else { arg });
    let command = globals.get_arguments().fold(command, hide);
    let end = command.get_after_help().map(StyledStr::to_string).unwrap_or_default();
    let long_end = command.get_after_long_help().map_or_else(|| end.clone(), StyledStr::to_string);
    let blocks = TOPICS.iter().filter_map(|topic| topic.block(&command));
    let short_end = blocks.chain([end]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    command
        .after_help(short_end)
        .after_long_help(long_end)
        .mut_subcommands(|command| arranged_below(command, explained))
}

pub(crate) fn run(args: &HelpArgs) -> anyhow::Result<Outcome> {
    let words: Vec<_> = args.words.iter().map(String::as_str).collect();
    match words[..] {
        [COMING_FROM] => Stdout::print(foreign::page(None).unwrap_or_default().as_bytes())?,
        [COMING_FROM, tool] => match foreign::page(Some(tool)) {
            Some(page) => Stdout::print(page.as_bytes())?,
            None => bail!("no page about '{}': ftk help coming-from lists all tools", tool.escape_debug()),
        },
        _ => match (
            TOPICS.iter().find(|topic| words == [topic.name]),
            Document::ALL.iter().find(|document| words.first() == Some(&document.name)),
        ) {
            (Some(topic), _) => print(&topic.page())?,
            (None, Some(document)) => Stdout::print(document.page(&words[1..])?.as_bytes())?,
            (None, None) => help_of(&words)?,
        },
    }
    Ok(Outcome::Success)
}

/// Prints a page, in colours where they are wanted.
fn print(page: &StyledStr) -> anyhow::Result<()> {
    use std::io::Write as _;
    let shown = StandardStream::Output.check();
    written(shown.and_then(|()| write!(anstream::stdout().lock(), "{}", page.ansi())))
}

/// Prints the same page as `ftk WORDS --help`.
pub(crate) fn help_of(words: &[&str]) -> anyhow::Result<()> {
    let definition = args::definition();
    let mut at = &definition;
    for word in words {
        at = match at.find_subcommand(word) {
            Some(below) => below,
            None => bail!(
                "there is no command or topic '{}': `ftk` lists the commands, `ftk help help` the topics",
                words.join(" ").escape_debug()
            ),
        };
    }
    let line = ["ftk"].iter().chain(words).chain(&["--help"]);
    match args::definition().try_get_matches_from(line) {
        Err(help) => written(console::show(help)),
        Ok(_) => bail!("internal error: --help was not recognised"),
    }
}

/// Adds a message to an error of writing. A closed pipe is not an error.
fn written(result: std::io::Result<()>) -> anyhow::Result<()> {
    result
        .or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
        .context(CANNOT_WRITE)
}

/// The sections of the text at the end of a help page.
#[derive(Debug, Default)]
pub(crate) struct End {
    pub(crate) status: Option<String>,
    pub(crate) examples: Option<String>,
}

impl End {
    /// Splits the text at the end of the help of a command into its sections.
    pub(crate) fn of(command: &Command) -> Self {
        let end = command.get_after_long_help().or(command.get_after_help());
        let end = end.map(StyledStr::to_string).unwrap_or_default();
        let part = |start: &str| end.split("\n\n").find_map(|part| part.strip_prefix(start));
        Self { status: part("Exit status: ").map(Into::into), examples: part("Examples:\n").map(Into::into) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` for every subcommand at any depth, with its name.
    fn each(command: &Command, check: &mut impl FnMut(&str, &Command)) {
        for below in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            check(below.get_name(), below);
            each(below, check);
        }
    }

    #[test]
    fn options_missing_from_the_short_help_are_named_there() {
        each(&args::definition(), &mut |name, command| {
            let short = command.clone().render_help().to_string();
            let hidden = command
                .get_arguments()
                .filter(|arg| arg.is_hide_short_help_set() && !arg.is_hide_set() && !is_rare(command, arg));
            // A message names --allow-unused-rules when it matters. The short help of `hash`, `dup` and `prune` has no
            // room for the others.
            let unnamed = [
                "recursive",
                "no-cache",
                "allow-unused-rules",
                "into-snapshots",
                "remove-empty-dirs",
                "with-sidecars",
                "ignore-names",
                "quarantine",
                "null",
                "prune",
                "rehash",
                "dry-run",
                "max-missing",
                "base64",
                "part-size",
                "format",
            ];
            for option in hidden.filter_map(Arg::get_long).filter(|it| !unnamed.contains(it)) {
                let is_named =
                    short.split_whitespace().any(|word| word.trim_end_matches(',') == format!("--{option}"));
                assert!(is_named, "{name}: --{option}");
                let topic = TOPICS.iter().find(|topic| short.contains(&format!("`ftk help {}`", topic.name)));
                assert!(topic.is_some(), "{name}");
                let is_explained = |topic: &Topic| topic.page().to_string().contains(&format!("--{option}"));
                assert!(TOPICS.iter().any(is_explained), "{name}: --{option}");
            }
        });
    }

    /// Each selection option that a short help hides, and why.
    #[test]
    fn short_help_hides_selection_options_only_for_a_reason() {
        const FULL: &str = "the page is full; that of `find` and `ftk help selection` have it";
        const HIDDEN: [(&str, &str); 5] = [
            ("nouser", FULL),
            ("nogroup", FULL),
            ("exclude-caches", FULL),
            ("exclude-if-present", FULL),
            ("recursive", "it is accepted out of habit and has no effect"),
        ];
        let mut found = BTreeSet::new();
        each(&args::definition(), &mut |name, command| {
            let short = command.clone().render_help().to_string();
            let words: BTreeSet<_> =
                short.split_whitespace().map(|word| word.trim_end_matches(',')).collect();
            let is_selection =
                |arg: &&Arg| arg.get_help_heading().is_some_and(|it| it.starts_with("Selection"));
            let options = command.get_arguments().filter(is_selection).filter(|arg| !arg.is_hide_set());
            let hidden = options.filter_map(Arg::get_long).filter(|it| !words.contains(&*format!("--{it}")));
            let hidden: Vec<_> = hidden.collect();
            assert!(name != "find" || hidden.is_empty(), "{hidden:?}");
            found.extend(hidden.into_iter().map(ToOwned::to_owned));
        });
        assert_eq!(found, HIDDEN.map(|(option, _)| option.to_owned()).into());
    }

    #[test]
    fn every_selection_option_has_its_topic() {
        let page = TOPICS[0].page().to_string();
        let mut options = 0;
        each(&args::definition(), &mut |name, command| {
            let is_selection =
                |arg: &&Arg| arg.get_help_heading().is_some_and(|it| it.starts_with("Selection"));
            for arg in command.get_arguments().filter(is_selection).filter(|arg| !arg.is_hide_set()) {
                let long = arg.get_long().unwrap();
                assert!(page.contains(&format!("--{long}")) || long == "recursive", "{name}: --{long}");
                assert!(arg.is_hide_short_help_set(), "{name}: --{long}");
                options += 1;
            }
        });
        assert!(options > 80, "{options}");
    }

    #[test]
    fn options_without_effect_exist() {
        let definition = args::definition();
        let global =
            |id: &str| definition.get_arguments().any(|arg| arg.get_id() == id && arg.is_global_set());
        for (command, options) in WITHOUT_EFFECT {
            let mut is_command = false;
            each(&definition, &mut |name, _| is_command |= name == command);
            assert!(is_command && options.iter().copied().flatten().all(|id| global(id)), "{command}");
        }
    }

    #[test]
    fn every_help_page_ends_with_status_and_examples() {
        each(&args::definition(), &mut |name, command| {
            let End { status, examples } = End::of(command);
            let status = status.unwrap_or_default();
            assert!(status.starts_with("0: ") && status.contains("; 2: any error"), "{name}: {status}");
            assert!(!examples.unwrap_or_default().is_empty(), "{name}");
            for help in [command.clone().render_help(), command.clone().render_long_help()] {
                let help = help.to_string();
                assert!(!help.rsplit("\nExamples:\n").next().unwrap().contains("\n\n"), "{name}");
            }
        });
    }
}
