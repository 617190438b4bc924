//! The files that the arguments of a run name. No output may be an input or another output of the same run.
//!
//! [`role`] is the one table of these arguments; expressions name files, too. All files are compared before anything is
//! opened for writing. A run without outputs, whose standard output and standard error are no files, compares nothing.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::ArgMatches;
use ftk_file::{FileType, Stat, Symlinks};
use ftk_manifest::named_like_parts;
use ftk_record::{Magic, Output, OutputId, quote};
use rustix::fs::CWD;

use crate::calibrate::cache_file;
use crate::console::Console;
use crate::expression;
use crate::input::start_of;
use crate::man;
use crate::manifest::bag_files;
use crate::stdout::Stdout;

/// What a run does with a file that an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Reads it; `-` is standard input.
    Input,
    /// Like `Input`; of a directory, reads the parts of a manifest.
    Manifest,
    /// Reads it, or the files of the tree there.
    Tree,
    /// Examines its metadata, or those of the tree there.
    Examined,
    /// Uses it as a name only.
    Name,
    /// Writes it; `-` is standard output.
    Output,
    /// Creates it.
    NewFile,
    /// Creates files in it.
    NewDirectory,
}

impl Role {
    fn is_output(self) -> bool {
        matches!(self, Self::Output | Self::NewFile | Self::NewDirectory)
    }

    fn is_input(self) -> bool {
        matches!(self, Self::Input | Self::Manifest | Self::Tree | Self::Examined)
    }

    /// Whether `-` stands for a standard stream.
    fn has_stream(self) -> bool {
        matches!(self, Self::Input | Self::Manifest | Self::Output)
    }
}

/// Returns what a command does with the files that an argument names; `None` if the argument names no file. `command`
/// has the names of the command and its subcommands.
fn role(command: &str, argument: &str) -> Option<Role> {
    Some(match (command, argument) {
        ("manifest protect", "output") => Role::NewFile,
        (_, "output" | "stats" | "metrics") => Role::Output,
        ("undo" | "dup undo", "journal") => Role::Tree,
        (_, "journal" | "log") => Role::NewFile,
        (_, "quarantine" | "action") | ("man", "install") => Role::NewDirectory,
        (_, "files_from" | "files0_from" | "exclude_from" | "plan" | "changed" | "rules") => Role::Input,
        (_, "newer" | "samefile" | "explain") | ("manifest update", "since") => Role::Examined,
        (_, "references" | "keep_one_per") => Role::Tree,
        ("dup apply", "roots") => Role::Name,
        ("hash", "paths") | ("cmp", "a" | "b") | ("du", "from" | "since") | ("dup apply", "report") => {
            Role::Input
        }
        ("hash", "update") => Role::Input,
        ("hash" | "manifest import", "root")
        | ("manifest update", "accept")
        | ("manifest verify", "below") => Role::Name,
        ("dup" | "dup prune", "paths") => Role::Tree,
        ("find" | "du" | "cache forget", "paths") => Role::Examined,
        ("dup", "manifests") | ("report", "inputs") | ("find", "from") => Role::Manifest,
        ("manifest diff", "old" | "new") | ("manifest unique", "a" | "b") => Role::Manifest,
        ("manifest merge", "parts") | ("manifest plan", "source") | ("manifest update", "old") => {
            Role::Manifest
        }
        ("manifest import", "list") | ("manifest create" | "manifest verify", "tar") => Role::Input,
        (command, "manifest") if command.starts_with("manifest ") => Role::Manifest,
        (command, "root") if command.starts_with("manifest ") => Role::Tree,
        ("manifest repair", "from") | ("manifest update" | "manifest verify", "parity") => Role::Tree,
        _ => return None,
    })
}

/// Whether an argument of `command` names a file.
pub(crate) fn is_path(command: &str, argument: &str) -> bool {
    role(command, argument).is_some()
}

/// The files that the arguments of a run name, as far as they must be looked at.
#[derive(Debug, Default)]
pub(crate) struct Files {
    command: String,
    named: Vec<Named>,
    /// Whether the files must be compared.
    is_compared: bool,
}

/// A file that an argument names.
#[derive(Debug)]
struct Named {
    role: Role,
    argument: String,
    path: OsString,
    /// Whether all files of a directory are read: it is a bag.
    is_bag: bool,
}

impl Files {
    /// Collects the files that the parsed arguments of `command` name. Keeps nothing if there is nothing to compare or
    /// refuse.
    pub(crate) fn of(command: &str, matches: &ArgMatches) -> Self {
        let (mut command, mut matches) = (command.to_owned(), matches);
        while let Some((name, inner)) = matches.subcommand() {
            let space = if command.is_empty() { "" } else { " " };
            command = format!("{command}{space}{name}");
            matches = inner;
        }
        let is_given = |argument| paths(matches, argument).next().is_some();
        // A single argument of `verify` is FILE.
        let is_file =
            |argument: &str| command == "manifest verify" && argument == "root" && !is_given("manifest");
        let role = |argument| if is_file(argument) { Some(Role::Manifest) } else { role(&command, argument) };
        let roles = || matches.ids().filter_map(|id| Some((id.as_str(), role(id.as_str())?)));
        let is_compared = roles().any(|(argument, role)| role.is_output() && is_given(argument))
            || streams().next().is_some();
        let mut no_streams = roles().filter(|(_, role)| !role.has_stream());
        let has_misuse = no_streams.any(|(argument, _)| paths(matches, argument).any(|path| path == "-"));
        if !is_compared && !has_misuse {
            return Self::default();
        }
        let is_bag = matches.try_get_one::<bool>("bag").ok().flatten() == Some(&true);
        let mut named = Vec::new();
        for (argument, role) in roles() {
            let name = |path: &OsStr| Named { role, argument: argument.into(), path: path.into(), is_bag };
            named.extend(paths(matches, argument).map(name));
        }
        for text in ["wanted", "unwanted"].into_iter().flat_map(|argument| paths(matches, argument)) {
            let argument = String::new();
            let name = |path| Named { role: Role::Examined, argument: argument.clone(), path, is_bag: false };
            named.extend(expression::named_files(text).into_iter().map(name));
        }
        let has_input = ["paths", "files_from", "files0_from"].into_iter().any(is_given);
        if command == "hash" && !has_input {
            named.push(Named {
                role: Role::Input,
                argument: "paths".into(),
                path: "-".into(),
                is_bag: false,
            });
        }
        Self { command, named, is_compared }
    }

    /// Whether a file has control characters in its first bytes that no output has, unless in a name: it may be a
    /// picture, an archive or a program, perhaps from a glob after `-o` without its value. Commands that write
    /// manifests have their own rule for compressed files; NUL ends names.
    fn is_foreign(&self, path: &OsStr) -> bool {
        const LOOKED_AT: u64 = 4096;
        let is_file = Path::new(path).metadata().is_ok_and(|it| it.is_file());
        let start = is_file.then(|| start_of(path, LOOKED_AT).ok()).flatten().unwrap_or_default();
        let is_manifest = self.command.starts_with("manifest ")
            && matches!(Magic::of(&start), Some(Magic::Compressed { .. }));
        !is_manifest && start.iter().any(|byte| matches!(byte, 0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f))
    }

    /// Checks that no output is an input or another output, or would replace what ftk has not written. Opens nothing
    /// for writing.
    ///
    /// # Errors
    /// If one is or would, or if `-` is given where neither standard input nor standard output is meant.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let is_misused = |named: &&Named| named.path == "-" && !named.role.has_stream();
        if let Some(named) = self.named.iter().find(is_misused) {
            bail!("{}: `-` is not a file here; ./- names a file called `-`", named.label());
        }
        if !self.is_compared {
            return Ok(());
        }
        let outputs = self.outputs();
        for (nth, (label, id)) in outputs.iter().enumerate() {
            let is_same = |(earlier, of_earlier): &&(String, OutputId)| {
                id.is_same_file(of_earlier) && earlier != label && !are_shared(id, of_earlier)
            };
            if let Some((earlier, _)) = outputs[..nth].iter().find(is_same) {
                bail!("{earlier} and {label} name the same file");
            }
        }
        for named in self.named.iter().filter(|named| named.role.is_input()) {
            named.ensure_kept(&self.command, &outputs)?;
        }
        if outputs.iter().all(|(_, id)| is_stream(id)) {
            return Ok(());
        }
        // Every run may read the figures of the machine, and the store belongs to all runs.
        for path in ["digests", "digests-journal", "constants"].into_iter().filter_map(cache_file) {
            let named =
                Named { role: Role::Examined, argument: String::new(), path: path.into(), is_bag: false };
            let Ok(id) = Output::id(Path::new(&named.path)) else { continue };
            if let Some((label, _)) = outputs.iter().find(|(_, output)| output.is_same_file(&id)) {
                return Err(both(&named.path, label));
            }
        }
        // An input that `manifest update` may replace has its own messages.
        let is_read = |path: &OsStr| self.named.iter().any(|it| it.role.is_input() && it.path == path);
        for named in self.named.iter().filter(|named| named.role == Role::Output && named.path != "-") {
            ensure!(
                is_read(&named.path) || !self.is_foreign(&named.path),
                "{}: {} is not a text file, and would be replaced: name another file, or remove it first",
                named.label(),
                quote(named.path.as_bytes())
            );
        }
        Ok(())
    }

    /// Returns what is written, and which argument says so. What several outputs may share is omitted; so is what
    /// cannot be written, since opening it reports why.
    fn outputs(&self) -> Vec<(String, OutputId)> {
        let mut outputs = Vec::new();
        for named in self.named.iter().filter(|named| named.role.is_output() && named.path != "-") {
            let path = Path::new(&named.path);
            let inside = match &*self.command {
                "man" => man::pages(path),
                "manifest export" if path.is_dir() => bag_files(path),
                _ => Vec::new(),
            };
            let paths = [path].into_iter().chain(inside.iter().map(PathBuf::as_path));
            let ids = paths.filter_map(|path| Output::id(path).ok()).filter(|id| *id != OutputId::Shared);
            outputs.extend(ids.map(|id| (named.label(), id)));
        }
        outputs.extend(streams().map(|(label, id)| (label.to_owned(), id)));
        outputs
    }
}

/// Returns the paths that were given to an argument.
fn paths<'m>(matches: &'m ArgMatches, argument: &'m str) -> impl Iterator<Item = &'m OsStr> {
    let values = matches.try_get_raw(argument).ok().flatten().into_iter().flatten();
    values.filter_map(move |value| match argument {
        // The other actions have no path.
        "action" => value.as_bytes().strip_prefix(b"move=").map(OsStr::from_bytes),
        _ => Some(value),
    })
}

const STDOUT: &str = "standard output";
const STDERR: &str = "standard error";

/// The numbers of standard output and standard error.
const STREAMS: [&str; 2] = ["1", "2"];

/// Returns the standard streams that are redirected to files.
fn streams() -> impl Iterator<Item = (&'static str, OutputId)> {
    let files = [(STDOUT, Stdout::identity()), (STDERR, Console::identity())];
    let files = files.into_iter().zip(STREAMS);
    files.filter_map(|((label, file), number)| Some((label, OutputId::Descriptor(number.into(), file?))))
}

fn is_stream(id: &OutputId) -> bool {
    matches!(id, OutputId::Descriptor(number, _) if STREAMS.iter().any(|it| number == it))
}

/// Whether two outputs that are one file lose nothing: both are one descriptor, or the standard streams, which
/// usually go to one file. Other descriptors of a file may overwrite what is written through each other.
fn are_shared(one: &OutputId, other: &OutputId) -> bool {
    let is_one_descriptor = matches!(one, OutputId::Descriptor(..)) && one == other;
    is_one_descriptor || (is_stream(one) && is_stream(other))
}

impl Named {
    /// Returns the argument as it is typed, if it is an option.
    fn label(&self) -> String {
        match &*self.argument {
            "output" => "-o".into(),
            "paths" | "dir" | "inputs" | "old" | "new" | "parts" => quote(self.path.as_bytes()).to_string(),
            argument => format!("--{}", argument.replace('_', "-")),
        }
    }

    /// Refuses the outputs that would replace or change this input.
    fn ensure_kept(&self, command: &str, outputs: &[(String, OutputId)]) -> anyhow::Result<()> {
        let ids = self.ids();
        let output = outputs.iter().find(|(label, id)| {
            // Paths and messages about a file may be written to it, and `update` may replace the manifest that it
            // reads.
            let is_kept = self.role == Role::Examined && is_stream(id);
            let is_replaced = matches!(id, OutputId::Existing(..));
            let is_updated =
                command == "manifest update" && self.argument == "old" && label == "-o" && is_replaced;
            ids.iter().any(|input| input.is_same_file(id)) && !is_kept && !is_updated
        });
        output.map_or(Ok(()), |(label, _)| Err(both(&self.path, label)))
    }

    /// Returns the files that are read.
    fn ids(&self) -> Vec<OutputId> {
        let id = |stat: Stat| OutputId::Existing(stat.dev, stat.ino);
        if self.path == "-" {
            return regular(rustix::stdio::stdin()).map(id).into_iter().collect();
        }
        let path = Path::new(&self.path);
        let Ok(stat) = Stat::at(CWD, path, Symlinks::Follow) else { return Vec::new() };
        let inside = match (stat.file_type, self.role) {
            (FileType::Directory, Role::Manifest) => named_like_parts(path).unwrap_or_default(),
            (FileType::Directory, _) if self.is_bag => {
                let entries = fs::read_dir(path).into_iter().flatten().flatten();
                entries.map(|entry| entry.path()).collect()
            }
            _ => Vec::new(),
        };
        let inside = inside.iter().filter_map(|path| Stat::at(CWD, path, Symlinks::Follow).ok());
        [stat].into_iter().chain(inside).map(id).collect()
    }
}

fn both(path: &OsStr, label: &str) -> anyhow::Error {
    let path = quote(path.as_bytes());
    match label {
        "-o" | STDOUT => anyhow::anyhow!("{path} is both input and output"),
        _ => anyhow::anyhow!("{path} is both input and output ({label})"),
    }
}

/// Returns the metadata of a standard stream that is a regular file.
fn regular(stream: BorrowedFd<'_>) -> Option<Stat> {
    Stat::of(stream).ok().filter(Stat::is_regular)
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;
    use crate::args;

    /// The names of values that are no files.
    const OTHER_VALUES: &[&str] = &[
        "COMMAND",
        "ALGO",
        "ARGUMENT",
        "CMD",
        "COMMAND|TOPIC",
        "EXPR",
        "EXT",
        "EXT,...",
        "FIELD",
        "FORM",
        "FORMAT",
        "GLOB",
        "HOW",
        "K/N",
        "NAME",
        "KEY",
        "LIMIT",
        "MODE",
        "[-/]MODE",
        "LINE",
        "N",
        "N[:N]",
        "P%",
        "P%|N",
        "RATE",
        "RE",
        "READER",
        "RULE",
        "SHELL",
        "SIZE",
        "SKIP1",
        "SKIP2",
        "TEXT",
        "TIME",
        "WHAT",
        "WHEN",
        "WORD",
        "[!]USER:GROUP",
        "[+-]N",
        "[-/]OCTAL",
        "f,d,l,p,s,b,c",
    ];

    fn each_argument(command: &Command, path: &str, see: &mut dyn FnMut(&str, &clap::Arg)) {
        command.get_arguments().filter(|it| it.get_action().takes_values()).for_each(|it| see(path, it));
        for command in command.get_subcommands() {
            let space = if path.is_empty() { "" } else { " " };
            each_argument(command, &format!("{path}{space}{}", command.get_name()), see);
        }
    }

    #[test]
    fn every_argument_names_a_file_or_another_value() {
        let mut roles = 0;
        each_argument(&args::definition(), "", &mut |command, argument| {
            let id = argument.get_id().as_str();
            let names = argument.get_value_names().unwrap_or_default();
            let values: Vec<_> = names.iter().map(|name| name.as_str()).collect();
            // Options of other commands, which are only defined to be refused with a reason.
            if argument.is_hide_set() && values.is_empty() {
                return;
            }
            let is_other = values.iter().all(|name| OTHER_VALUES.contains(name));
            assert!(
                role(command, id).is_some() != is_other,
                "`{command}` {id} {values:?}: add it to `role`, or its value to OTHER_VALUES"
            );
            roles += usize::from(!is_other);
        });
        assert!(roles > 100, "{roles}");
    }
}
