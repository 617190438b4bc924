//! `ftk completions`: scripts that complete commands, options and values in a shell, and the answers that they ask for.
//!
//! The scripts for bash, zsh and fish pass the words up to the cursor to `ftk completions SHELL -- WORD...`. It prints
//! options and values. Paths are left to the shell, which knows how to quote them: the first line only says whether
//! they may follow. No environment variable turns an ordinary run into a completion, and no run looks for one.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;

use clap::builder::StyledStr;
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;
use ftk_dedup::prune::KeepRule;
use ftk_record::sanitize;

use crate::console::Outcome;
use crate::dup::ACTIONS;
use crate::line::{Place, option_named, option_with_letter};
use crate::stdout::Stdout;
use crate::{args, files, foreign, help, journal};

/// Print a script that completes ftk's arguments in a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,

    /// The words after `ftk`, the last of which ends at the cursor: print what may stand there
    #[arg(last = true, value_name = "WORD", hide = true)]
    words: Vec<OsString>,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk completions bash > ~/.local/share/bash-completion/completions/ftk
  eval \"$(ftk completions bash)\"    in ~/.bashrc, without bash-completion
  ftk completions zsh > \"${fpath[1]}/_ftk\"
  ftk completions fish > ~/.config/fish/completions/ftk.fish";

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let definition = args::definition();
    let output = match (&*args.words, args.shell) {
        ([before @ .., typed], shell) => {
            let answer = Answer::new(&definition, before, &typed.to_string_lossy());
            answer.text(shell != Shell::Bash).into()
        }
        ([], Shell::Bash) => include_bytes!("../../docs/completions/ftk").to_vec(),
        ([], Shell::Zsh) => include_bytes!("../../docs/completions/_ftk").to_vec(),
        ([], Shell::Fish) => include_bytes!("../../docs/completions/ftk.fish").to_vec(),
        ([], shell) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut args::definition(), "ftk", &mut script);
            script
        }
    };
    Stdout::print(&output)?;
    Ok(Outcome::Success)
}

/// The paths that the shell completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paths {
    None,
    Files,
    Directories,
}

impl Paths {
    /// The word for the scripts.
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Files => "files",
            Self::Directories => "directories",
        }
    }
}

/// A value, and what it means.
type Value = (String, String);

/// What may stand at the cursor.
#[derive(Debug)]
struct Answer {
    paths: Paths,
    /// The part of the word before the value, such as `--output=`. A path begins after it.
    prefix: String,
    /// Whole words, with the prefix.
    words: Vec<Value>,
}

impl Answer {
    /// Completes `typed`, the word that ends at the cursor, after the words `before` it.
    fn new(definition: &Command, before: &[OsString], typed: &str) -> Self {
        let line = [OsString::from("ftk")].into_iter().chain(before.iter().cloned()).collect();
        let place = Place::after(definition, line);
        let is_option = typed.starts_with('-');
        let open = place.option.filter(|arg| !is_option || arg.is_allow_hyphen_values_set());
        if let Some(arg) = open {
            return Self::value(definition, &place, arg, "", typed);
        }
        if !is_option || !place.may_be_option {
            return Self::operand(definition, &place, typed);
        }
        if let Some((option, value)) = typed.split_once('=').filter(|_| typed.starts_with("--")) {
            let arg = option_named(place.command, &option[2..]).filter(|arg| arg.get_action().takes_values());
            return arg.map_or_else(Self::nothing, |arg| {
                Self::value(definition, &place, arg, &format!("{option}="), value)
            });
        }
        if typed.len() > 1 && !typed.starts_with("--") {
            return Self::letters(definition, &place, typed);
        }
        Self::options(place.command, typed)
    }

    fn nothing() -> Self {
        Self { paths: Paths::None, prefix: String::new(), words: Vec::new() }
    }

    /// Completes the name of an option.
    fn options(command: &Command, typed: &str) -> Self {
        let shown = command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set());
        let spelled = |arg: &Arg| {
            // The value of these options never follows as a word of its own.
            let end = if arg.is_require_equals_set() { "=" } else { "" };
            let long = arg.get_long().map(|name| format!("--{name}{end}"));
            let short = arg.get_short().map(|letter| format!("-{letter}"));
            long.into_iter().chain(short).map(|word| (word, line_of(arg.get_help()))).collect::<Vec<_>>()
        };
        let words = shown.flat_map(spelled).filter(|(word, _)| word.starts_with(typed)).collect();
        Self { words, ..Self::nothing() }
    }

    /// Completes a cluster of short options, to the last of which a value may be attached.
    fn letters(definition: &Command, place: &Place<'_>, typed: &str) -> Self {
        for (at, letter) in typed.char_indices().skip(1) {
            let Some(arg) = option_with_letter(place.command, letter) else { return Self::nothing() };
            let (prefix, value) = typed.split_at(at + letter.len_utf8());
            if arg.get_action().takes_values() && !value.is_empty() {
                return Self::value(definition, place, arg, prefix, value);
            }
        }
        Self { words: vec![(typed.into(), String::new())], ..Self::nothing() }
    }

    /// Completes a subcommand or an operand.
    fn operand(definition: &Command, place: &Place<'_>, typed: &str) -> Self {
        let given = place.operands.len();
        let positionals = || place.command.get_positionals().filter(|arg| !arg.is_last_set());
        let is_many = |arg: &&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
        let positional = positionals().nth(given).or_else(|| positionals().last().filter(is_many));
        let mut answer =
            positional.map_or_else(Self::nothing, |arg| Self::value(definition, place, arg, "", typed));
        if place.may_be_command {
            let commands = subcommands(place.command);
            answer.words.splice(0..0, commands.filter(|(name, _)| name.starts_with(typed)));
        }
        answer
    }

    /// Completes a value of an option or operand, after the part of the word before it.
    fn value(definition: &Command, place: &Place<'_>, arg: &Arg, prefix: &str, typed: &str) -> Self {
        let paths_after_equals = match value_name(arg) {
            "ACTION" | "FILE=DIR" => Some(Paths::Directories),
            "RULE" => Some(Paths::Files),
            _ => None,
        };
        if let (Some(paths), Some((before, _))) = (paths_after_equals, typed.split_once('=')) {
            return Self { paths, prefix: format!("{prefix}{before}="), words: Vec::new() };
        }
        let is_list = arg.get_value_delimiter() == Some(',') || value_name(arg) == TYPES;
        let listed = typed.rfind(',').filter(|_| is_list).map_or(0, |comma| comma + 1);
        let (before, typed) = typed.split_at(listed);
        let prefix = format!("{prefix}{before}");
        let (paths, values) = values(definition, place, arg, typed);
        let words = values.into_iter().filter(|(value, _)| value.starts_with(typed));
        let words = words.map(|(value, about)| (format!("{prefix}{value}"), about)).collect();
        Self { paths, prefix, words }
    }

    /// Returns the text for the scripts: which paths may follow, and after which part of the word; then a line for each
    /// word, with its meaning after a tab.
    fn text(&self, has_meaning: bool) -> String {
        let mut text = format!("{} {}\n", self.paths.name(), self.prefix);
        for (word, about) in &self.words {
            // Writing to a String cannot fail.
            let _ = match has_meaning && !about.is_empty() {
                true => writeln!(text, "{word}\t{about}"),
                false => writeln!(text, "{word}"),
            };
        }
        text
    }
}

/// The name of the value of `--type`.
const TYPES: &str = "f,d,l,p,s,b,c";

/// Values that the definition does not list, by the names of the values.
const LISTED: [(&str, &[(&str, &str)]); 2] = [
    (
        TYPES,
        &[
            ("f", "file"),
            ("d", "directory"),
            ("l", "symbolic link"),
            ("p", "FIFO"),
            ("s", "socket"),
            ("b", "block device"),
            ("c", "character device"),
        ],
    ),
    (
        "FIELD",
        &[
            ("mtime", ""),
            ("mode", "permissions"),
            ("owner", "uid and gid"),
            ("uid", ""),
            ("gid", ""),
            ("size", ""),
            ("target", "of a symbolic link"),
            ("device", "number of a device"),
            ("xattrs", "extended attributes"),
            ("type", ""),
            ("digest", ""),
        ],
    ),
];

/// Returns the paths and the values that an argument accepts.
fn values(definition: &Command, place: &Place<'_>, arg: &Arg, typed: &str) -> (Paths, Vec<Value>) {
    let name = value_name(arg);
    let plain = |names: &[&str]| names.iter().map(|name| ((*name).into(), String::new())).collect();
    let values: Vec<Value> = match name {
        "ACTION" => plain(&ACTIONS),
        "RULE" => plain(&[&KeepRule::NAMES[..], &["path="]].concat()),
        "COMMAND" | "COMMAND|TOPIC" => commands(definition, &place.operands, name != "COMMAND"),
        // After the first letter, the shell completes the path of any journal.
        "JOURNAL" if typed.is_empty() => journals(),
        "N" if arg.get_id() == "threads" => plain(&["auto", "mono", "compute", "io"]),
        _ => match LISTED.iter().find(|(of, _)| *of == name) {
            Some((_, values)) => values.iter().map(|(it, about)| ((*it).into(), (*about).into())).collect(),
            None => {
                let values = arg.get_possible_values();
                values.iter().map(|it| (it.get_name().into(), line_of(it.get_help()))).collect()
            }
        },
    };
    let is_path = files::is_path(&place.name, arg.get_id().as_str());
    let paths = match name {
        _ if !values.is_empty() => Paths::None,
        "DIR" => Paths::Directories,
        // Without ROOT, the manifest comes first.
        "ROOT" if arg.is_required_set() || arg.get_value_hint() == ValueHint::DirPath => Paths::Directories,
        "GLOB" | "CMD" | "ARGUMENT" => Paths::Files,
        _ if is_path => Paths::Files,
        _ => Paths::None,
    };
    (paths, values)
}

/// Returns the commands below these words, and the topics of help.
fn commands(definition: &Command, words: &[OsString], has_topics: bool) -> Vec<Value> {
    let known: Vec<_> = words.iter().filter_map(|word| word.to_str()).collect();
    if has_topics && known == ["coming-from"] {
        return foreign::TOOLS.iter().map(|tool| ((*tool).into(), String::new())).collect();
    }
    let below = known.iter().try_fold(definition, |command, word| command.find_subcommand(word));
    let commands = below.into_iter().flat_map(subcommands);
    let topics = help::topics().filter(|_| has_topics && known.is_empty());
    commands.chain(topics.map(|(name, about)| (name.into(), about.into()))).collect()
}

fn subcommands(command: &Command) -> impl Iterator<Item = Value> {
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    shown.map(|it| (it.get_name().into(), line_of(it.get_about())))
}

/// Returns the journals in the state directory, the newest first. One whose path has control characters is omitted.
fn journals() -> Vec<Value> {
    let entries = journal::directory().and_then(|directory| fs::read_dir(directory).ok());
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let journals = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let named = journals.filter_map(|path| path.into_os_string().into_string().ok());
    let mut paths: Vec<_> = named.filter(|path| sanitize(path.as_bytes()) == **path).collect();
    paths.sort_by(|a, b| b.cmp(a));
    paths.into_iter().map(|path| (path, String::new())).collect()
}

/// Returns the name of the value in help.
fn value_name(arg: &Arg) -> &str {
    arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str())
}

/// Returns the first line of a help text.
fn line_of(text: Option<&StyledStr>) -> String {
    let text = text.map(StyledStr::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use clap::error::ErrorKind;

    use super::*;

    static DEFINITION: LazyLock<Command> = LazyLock::new(args::definition);

    /// Completes the last word of `ftk LINE`.
    fn answer(line: &str) -> Answer {
        let mut before: Vec<_> = line.split(' ').map(OsString::from).collect();
        let typed = before.pop().unwrap_or_default().into_string().unwrap();
        Answer::new(&DEFINITION, &before, &typed)
    }

    fn words(line: &str) -> String {
        answer(line).words.into_iter().map(|(word, _)| word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn values_are_completed_where_they_may_stand() {
        for (line, expected) in [
            ("find --sort=s", "--sort=size"),
            ("find --hyperlink=a", "--hyperlink=auto --hyperlink=always"),
            ("hash --tree=", "--tree=ftk --tree=git"),
            ("dup prune --action=h", "--action=hardlink"),
            ("dup prune --action ", "hardlink reflink symlink delete trash move="),
            ("dup apply --keep s", "shortest shallowest"),
            ("find -t ", "f d l p s b c"),
            ("find -t f,d", "f,d"),
            ("find -qtf,", "-qtf,f -qtf,d -qtf,l -qtf,p -qtf,s -qtf,b -qtf,c"),
            ("hash -a sha256,blake", "sha256,blake2b sha256,blake3"),
            ("hash --algorithm=sha256,xxh6", "--algorithm=sha256,xxh64"),
            ("dup --format ", "screen fdupes json csv"),
            ("manifest diff --ignore=uid,g", "--ignore=uid,gid"),
            ("-j ", "auto mono compute io"),
            ("find --color ", "auto always never"),
            ("completions z", "zsh"),
            ("help s", "selection"),
            ("help ma", "manifest man"),
            ("help dup ", "prune apply undo"),
            ("help coming-from f", "find fd fdupes fclones"),
            ("man dup p", "prune"),
            ("man sel", ""),
            ("dup p", "prune"),
            ("dup x p", ""),
            ("h", "hash help"),
            ("-q h", "hash help"),
            ("find --exclude-w", "--exclude-where"),
            ("find --so", "--sort="),
            ("find -j", "-j"),
            ("find --nonsense=", ""),
            ("find --count=", ""),
            ("find -- --so", ""),
            ("find --name -- --so", "--sort="),
            ("find -n --so", ""),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
        assert!(words("find -").split(' ').any(|word| word == "-t"));
    }

    #[test]
    fn paths_are_left_to_the_shell() {
        use Paths::{Directories, Files, None};
        for (line, paths, prefix) in [
            ("find ", Files, ""),
            ("find x y", Files, ""),
            ("find -", None, ""),
            ("find -- -", Files, ""),
            ("find --newer ", Files, ""),
            ("find --newer=", Files, "--newer="),
            ("hash -qo", None, ""),
            ("hash -qox", Files, "-qo"),
            ("find --max-depth ", None, ""),
            ("dup ", Files, ""),
            ("dup p", Files, ""),
            ("dup prune --reference ", Directories, ""),
            ("dup prune --action=move=", Directories, "--action=move="),
            ("dup prune --action move=a=b", Directories, "move="),
            ("dup prune --keep path=", Files, "path="),
            ("dup apply x --root=/a=", Directories, "--root=/a="),
            ("man --install=", Directories, "--install="),
            ("manifest ", None, ""),
            ("manifest create ", Directories, ""),
            ("manifest update x ", Files, ""),
            ("manifest verify ", Files, ""),
            ("cmp a ", Files, ""),
            ("cmp a b ", None, ""),
            ("undo x", Files, ""),
            ("undo a ", None, ""),
            ("help ", None, ""),
        ] {
            let answer = answer(line);
            assert_eq!((answer.paths, &*answer.prefix), (paths, prefix), "{line}");
        }
    }

    #[test]
    fn every_offered_value_is_accepted() {
        fn each(command: &Command, above: &[String], tried: &mut usize) {
            let path = [above, &[command.get_name().to_owned()]].concat();
            for option in command.get_arguments().filter_map(Arg::get_long) {
                let mut before = path[1..].to_vec();
                before.push(format!("--{option}="));
                for word in words(&before.join(" ")).split_whitespace() {
                    // Something follows `=`.
                    let word = if word.ends_with('=') { format!("{word}x") } else { word.into() };
                    let line = [&path[..], &[word]].concat();
                    let error = DEFINITION.clone().try_get_matches_from(&line).err().map(|it| it.kind());
                    let is_wrong =
                        matches!(error, Some(ErrorKind::InvalidValue | ErrorKind::ValueValidation));
                    assert!(!is_wrong, "{line:?}");
                    *tried += 1;
                }
            }
            command.get_subcommands().for_each(|below| each(below, &path, tried));
        }
        let mut tried = 0;
        let names = ["find", "hash", "dup", "manifest"];
        let commands = DEFINITION.get_subcommands().filter(|it| names.contains(&it.get_name()));
        commands.for_each(|command| each(command, &["ftk".into()], &mut tried));
        assert!(tried > 100, "{tried}");
    }

    #[test]
    fn the_text_for_the_scripts() {
        let answer = answer("hash --tree=g");
        assert_eq!(answer.text(false), "none --tree=\n--tree=git\n");
        let text = Answer { paths: Paths::Files, ..answer }.text(true);
        assert!(text.starts_with("files --tree=\n--tree=git"), "{text}");
        let text = Answer { words: vec![("a".into(), "b c".into())], ..Answer::nothing() }.text(true);
        assert_eq!(text, "none \na\tb c\n");
    }
}
