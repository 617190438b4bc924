//! Tar archives, which `create --tar` and `verify --tar` read without extracting them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, ensure};
use ftk_file::{Stream, now_ns};
use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Account, Header, Manifest, TarTree, Writer};
use ftk_process::{Progress, hash_stream};
use ftk_record::{Decompressed, quote};
use ftk_select::{Check, Checks, Placed};
use nix::unistd::{Group, User};

use crate::algorithm::wanted;
use crate::asked;
use crate::console::{Console, Outcome};
use crate::human;
use crate::input;
use crate::list::{List, named};
use crate::manifest::create::{NOT_RECORDED, write};
use crate::manifest::output::OutputArgs;
use crate::manifest::part::root_name;
use crate::manifest::reading;
use crate::manifest::scope::ScopeArgs;
use crate::run::Run;
use crate::stdout::Stdout;

/// Bytes read at a time.
const BUFFER: usize = 256 << 10;

/// What an archive has.
pub(super) struct Archive {
    header: Header,
    tree: TarTree,
    /// `Error` if a member could not be recorded.
    pub(super) outcome: Outcome,
}

impl Archive {
    /// Reads the archive `path` to its end; `-`: standard input. Reports members that cannot be recorded.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, cut off or empty, or does not fit into the allowed memory.
    pub(super) fn read(path: &OsStr, algorithms: &[Algorithm], run: &Run<'_>) -> anyhow::Result<Self> {
        asked::doing(&"reading an archive");
        let (name, console) = (quote(path.as_bytes()), run.console);
        let start_ns = now_ns();
        let file = input::open(path).with_context(|| format!("cannot open {name}"))?;
        let input = Decompressed::new(Stream::new(file)).with_context(|| format!("cannot read {name}"))?;
        let mut refused = 0;
        let budget = Budget::new(run.globals.memory());
        let tree = TarTree::read(
            BufReader::with_capacity(BUFFER, input),
            algorithms,
            &budget,
            &mut |content| hash_stream(content, algorithms, run.platform),
            &account,
            &mut |member, why| {
                console.path_error("record", member, why);
                refused += 1;
            },
        );
        let tree = tree.with_context(|| name.to_string())?;
        if !tree.end.is_marked {
            console.warning(format_args!("{name} has no end mark: it may be cut off between two members"));
        }
        if tree.end.has_more {
            console.warning(format_args!("{name}: what follows its end mark is ignored, as by tar"));
        }
        if tree.repeated > 0 {
            let (members, have) =
                (human::count(tree.repeated, "member"), if tree.repeated == 1 { "has" } else { "have" });
            console.summary(format_args!("{members} {have} the path of an earlier one: the last one counts"));
        }
        let header = Header {
            failed: tree.failed.clone(),
            is_tar: true,
            xattrs: tree.has_xattrs,
            // Who made the archive may not have seen them.
            trusted_xattrs: tree.has_trusted_xattrs || !tree.has_xattrs,
            ..Header::of_list(path.as_bytes().to_vec(), algorithms.to_vec(), start_ns)
        };
        Ok(Self { header, tree, outcome: run.say_unread(refused, NOT_RECORDED) })
    }

    /// Keeps only the members that recorded options select by name and place, and no rule ignores. `root`: the path of
    /// the recorded root.
    ///
    /// # Errors
    /// If this version does not know an option.
    pub(super) fn select(
        &mut self,
        options: &[Vec<u8>],
        root: &[u8],
        checks: &Checks,
        console: &Console,
    ) -> anyhow::Result<()> {
        if !options.is_empty() {
            let selection = ScopeArgs::of_words(options)?.compile(OsStr::new(""), &[], console)?;
            let mut placed = Placed::new(selection, root_name(root));
            self.tree.retain(|path, file_type| {
                placed.selects(path, file_type) && checks.of(path, file_type) != Check::Ignore
            });
        }
        Ok(())
    }

    /// Whether members have extended attributes.
    pub(super) fn has_xattrs(&self) -> bool {
        self.tree.has_xattrs
    }

    /// Returns the files and bytes that were read.
    pub(super) fn done(&self) -> Progress {
        Progress { files: self.tree.files, bytes: self.tree.bytes, ..Progress::default() }
    }

    /// Turns it into a manifest in an unnamed temporary file.
    ///
    /// # Errors
    /// If the file cannot be written or read.
    pub(super) fn into_manifest(self) -> anyhow::Result<Manifest> {
        let write = || {
            let mut file = BufWriter::new(tempfile::tempfile()?);
            let mut writer = Writer::new(&self.header, |line: &[u8]| file.write_all(line));
            self.tree.import.write(&mut writer)?;
            writer.finish()?;
            let mut file: File = file.into_inner()?;
            file.rewind()?;
            Ok::<_, anyhow::Error>(Manifest::open(file)?)
        };
        write().context("cannot write a temporary file (set TMPDIR to a directory with more space)")
    }
}

/// Returns the number of a user or group of this system with a name.
fn account(kind: Account, name: &[u8]) -> Option<u32> {
    let name = str::from_utf8(name).ok()?;
    match kind {
        Account::User => Some(User::from_name(name).ok()??.uid.as_raw()),
        Account::Group => Some(Group::from_name(name).ok()??.gid.as_raw()),
    }
}

/// Records the members of an archive.
pub(super) fn create(
    path: &OsStr,
    algorithms: &[Algorithm],
    output: &OutputArgs,
    run: &Run<'_>,
) -> anyhow::Result<Outcome> {
    output.check()?;
    let stdout = Stdout::default();
    let output = named(output.output.as_deref());
    let list = List::create(output, &stdout)?;
    let algorithms = wanted(algorithms);
    let archive = Archive::read(path, &algorithms, run)?;
    let entries = write(&archive.header, list, output, |writer| archive.tree.import.write(writer))?;
    reading::say_done(run, entries, archive.done(), 0, None, &algorithms);
    Ok(archive.outcome)
}

/// Refuses the record of an archive, for commands that act on files or take its entries for those of a file system.
///
/// # Errors
/// If it is one.
pub(crate) fn refuse_archive(manifest: &Manifest, path: &OsStr) -> anyhow::Result<()> {
    ensure!(
        !manifest.header().is_tar,
        "{} records the members of a tar archive, not files of a file system: `ftk manifest verify` and `diff` compare \
         it, and `unique` finds what it has",
        quote(path.as_bytes())
    );
    Ok(())
}
