//! `ftk manifest repair ROOT FILE --from COPY`: restores damaged, missing and modified files from copies, and recorded
//! metadata.

mod act;
mod copies;
mod parity;
mod printer;
mod record;

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_apply::ensure_safe_directory;
use ftk_file::{Failure, Stat, now_ns};
use ftk_inventory::Keep;
use ftk_manifest::{Damage, Found, LinkTo, RepairOptions, RepairPlan, WalkedTree, Why, rewrite};
use ftk_record::quote;
use rustix::io::Errno;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::journal::remove_abandoned;
use crate::lock::Lock;
use crate::manifest::archive::refuse_archive;
use crate::manifest::corrupted::CorruptedArgs;
use crate::manifest::guard::{GuardArgs, refuse_swapped};
use crate::manifest::input::Input;
use crate::manifest::parity::is_one;
use crate::manifest::part::{Part, PartArgs, say_unselected};
use crate::manifest::reading;
use crate::manifest::repair::act::Repairs;
use crate::manifest::repair::parity::{Parities, Present};
use crate::manifest::repair::printer::{Printer, Word};
use crate::manifest::repair::record::Record;
use crate::manifest::rewrite::Rewrite;
use crate::manifest::root::Root;
use crate::manifest::scope::ScopeArgs;
use crate::manifest::shift::{TREE, describe};
use crate::rules::AllowUnusedArg;
use crate::run::Run;
use crate::stdout::Stdout;

/// Restore damaged files from a copy (needs --yes)
///
/// Without --yes, ftk only prints a plan. repair restores files that FILE marks as damaged. If it marks none, repair
/// reads all files first: a file is damaged if its size and mtime are as recorded and its content is not, or if the
/// disk fails to return it. A file with a new size or mtime is replaced only with --modified, and one that changes
/// while repair runs never is. What could be restored with other options is counted, and the status is then 1.
///
/// The recorded content is searched in each COPY, first at the same path, then in all files of the same size. Only a
/// file that was read and has the recorded digests is used, and the restored bytes are read back and checked. A
/// repaired file keeps its owner, permissions, attributes and times, and all its hard links in ROOT are repaired. No
/// file gets set-user-ID bits, set-group-ID bits or capabilities that it lacks.
///
/// Every step is written to a journal before it is done, and `ftk undo` can undo it: the damaged content is kept in a
/// directory next to the journal. FILE stays as it is, unless it marks files as damaged that were repaired: then these
/// marks are removed, and the plan says so. With --other-root, or if FILE is read-only, it is never written. With
/// --quiet, --yes prints only problems and the command that undoes the run.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RepairArgs {
    /// The directory to repair; a symbolic link is followed
    #[arg(value_name = "ROOT")]
    root: OsString,

    /// The manifest
    #[arg(value_name = "FILE")]
    manifest: OsString,

    /// A directory with copies, or a parity file; repeatable
    ///
    /// Parity files are used for what no copy has. They compute it from the recovery blocks and from the files of ROOT
    /// and of all copies, as far as enough of these are left. If FILE is damaged or gone, the newest manifest in the
    /// parity files is used, and with --yes written to FILE. The damaged one is kept as FILE.damaged.
    #[arg(long, value_name = "COPY", required_unless_present = "metadata")]
    from: Vec<OsString>,

    /// Also restore recorded files that are missing
    ///
    /// They get the recorded permissions and mtime, and the recorded owner if that is you or you are root. Missing
    /// directories are created for them. If another recorded hard link of the file is there, they become links of it
    /// where possible. A file that was renamed is not restored. Links and special files are not restored.
    #[arg(long)]
    missing: bool,

    /// Also restore edited, overwritten or truncated files
    ///
    /// The plan lists them last, the newest first, with the size and time that each has now and had. `ftk undo` brings
    /// the newer content back. The files get the recorded mtime, and keep their owner and permissions. If these are the
    /// recorded ones, they become links of another recorded hard link where possible.
    #[arg(long)]
    modified: bool,

    /// Also put back metadata and hard links
    ///
    /// Puts back owner, permissions, times and attributes of files with the recorded content, links, directories and
    /// special files. Recorded hard links that are separate files with the recorded content become links again. This
    /// needs no COPY, but files are read. Attributes are put back if FILE records them. An entry never gets set-ID bits
    /// or capabilities that it lacks, and a file whose owner or permissions are put back loses set-ID bits. Use only a
    /// FILE that you trust. Where other users can change names, entries are changed only with --other-root. Only root
    /// can give a file to another user.
    #[arg(long)]
    metadata: bool,

    /// Carry out the plan instead of only printing it
    #[arg(long)]
    yes: bool,

    /// Do not keep the damaged content for undo
    ///
    /// A file that the disk fails to return cannot be kept, and is repaired only with this option.
    #[arg(long)]
    discard: bool,

    /// New file for the journal, which undo needs
    ///
    /// Default: in $XDG_STATE_HOME/ftk, or else in ~/.local/state/ftk. The damaged content is kept next to it.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    #[command(flatten)]
    part: PartArgs,

    #[command(flatten)]
    unused: AllowUnusedArg,

    #[command(flatten)]
    corrupted: CorruptedArgs,

    #[command(flatten)]
    guard: GuardArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: all can be or was restored, or moved; 1: something else is left; 2: any error

Examples:
  ftk manifest repair /archive archive.jsonl --from /mnt/backup
                        print the plan
  ftk manifest repair /archive archive.jsonl --from /mnt/backup --yes
                        carry it out
  ftk manifest repair /archive archive.jsonl --from /mnt/a --from /mnt/b
                        search several copies, in this order
  ftk manifest repair /archive archive.jsonl --from /mnt/a --missing
                        also restore files that were deleted
  ftk manifest repair /archive archive.jsonl --from /mnt/a --modified
                        also restore files that were truncated
  ftk manifest repair /archive archive.jsonl --metadata
                        put back owner, permissions and times
  ftk undo ~/.local/state/ftk/repair-20260102T030405Z-Ab3dE6.jsonl
                        undo a repair";

pub(super) fn run(args: &RepairArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    refuse_swapped(&args.root, &args.manifest)?;
    // The manifest gets no facts of another tree.
    let may_write = !args.guard.other_root;
    ensure!(
        !args.yes || !may_write || args.manifest != "-",
        "repair removes marks from the manifest, so with --yes it cannot be standard input (--other-root writes none)"
    );
    ensure!(
        !args.from.is_empty() || !args.missing && !args.modified,
        "--missing and --modified need a copy: name it with --from"
    );
    let name = || quote(args.manifest.as_bytes());
    let run = Run::new(globals, console)?;
    let path = Path::new(&args.manifest);
    let (mut parities, mut copies) = (Vec::new(), Vec::new());
    for from in &args.from {
        if is_one(from)? { &mut parities } else { &mut copies }.push(from.clone());
    }
    let mut parities = Parities::open(parities.iter().map(|path| &**path), &run.budget)?;
    let (locks, memory) = (args.yes && may_write, run.budget.left());
    let record = Record::open(&args.manifest, locks, parities.opened(), memory, globals, console)?;
    let Record { input: Input { manifest, own }, mut lock, mut kept } = record;
    parities.check(&manifest)?;
    console.stats.sealed(&args.manifest, &manifest);
    refuse_archive(&manifest, &args.manifest)?;
    let algorithms = &manifest.header().algorithms;
    ensure!(!algorithms.is_empty(), "{} records no digests, so nothing can be repaired by it", name());
    let stdout = Stdout::default();
    let own: Vec<_> = own.into_iter().chain(Stdout::identity()).collect();

    let root = Root::open(&args.root)?;
    let part = args.part.compile(Some(root.given()), &root.identity().path, None, console)?;
    let options = Part::add_to(part.as_ref(), &manifest.header().options);
    let scope = ScopeArgs::of_words(&options).with_context(name)?;
    let mut scan = reading::walk_part(&run, &root, &scope, Keep::Stats { files: true }, &own, None)?;
    let tree = WalkedTree { inventory: &scan.inventory, root: args.root.as_bytes(), failed: &scan.failed };
    let start_ns = now_ns();
    let options = RepairOptions {
        missing: args.missing,
        modified: args.modified,
        metadata: args.metadata,
        other_root: args.guard.other_root,
        private_root: ensure_safe_directory(Path::new(&args.root)).is_ok(),
        part: part.as_ref().map(Part::selector),
    };
    let plan = RepairPlan::new(&manifest, &tree, options, &run.budget);
    let plan = plan.with_context(name)?;
    if let Some(part) = &part {
        let own = part.add_rules_to(&mut scan.rules);
        if args.yes {
            own.ensure_used(args.unused)?;
            own.warn_partly_used(console);
        }
    }
    scan.rules.say(console);
    args.guard.check(manifest.header(), &plan.survey, &root, None)?;
    ensure!(
        plan.has_sizes || args.from.is_empty(),
        "{} lacks sizes of files, which repair needs to search copies",
        name()
    );
    if !plan.has_marks {
        console.verbose(|| "no file is marked as damaged: all files are read".into());
    }
    let read = reading::read(&run, &scan.inventory, Some(&plan.files), algorithms, false, "not checked")?;
    let is_lost = |file| match read.failure(file) {
        Some(Failure::Io { source, .. }) => is_device_error(source),
        _ => false,
    };
    let mut damage = plan.damage(&read.rows, &is_lost).with_context(name)?;
    if scan.skipped.by_options() > 0 {
        damage.leave_hidden(|path| root.has(path));
    }
    if let Some(shift) = &damage.shift {
        let shift = describe(shift, TREE);
        if damage.is_undecided() && !args.metadata {
            bail!(
                "all times have shifted ({shift}): run `ftk manifest update` first, which marks damaged files"
            );
        }
        console.warning(match damage.is_undecided() {
            true => format!(
                "all times have shifted ({shift}): only metadata is restored, then repeat the command"
            ),
            false => format!("all times have shifted ({shift}): update records them"),
        });
    }
    let (mut found, copied) = copies::search(&run, &copies, algorithms, &damage.wanted)?;
    let present = Present { run: &run, root: &args.root, copies: &copies, manifest: &manifest, scan: &scan };
    parities.plan(&present, &damage.wanted, &mut found)?;
    let unread = read.failed.len() as u64 > damage.lost;
    let unread = if unread { Outcome::Error } else { Outcome::Success };

    let mut printer = Printer::new(&stdout, globals.json, args.yes, console);
    printer.shift(damage.shift.as_ref());
    let planned = found.clone();
    let sources = sources_of(&damage, &planned, &parities);
    say_left(args, &damage, &sources, &parities, &mut printer);
    printer.respelled(plan.respelled());
    let header = manifest.header();
    let repairs = Repairs { args, root: &root, damage: &damage, sources: &sources, header };
    repairs.check_space()?;
    let mut healed = healed(&damage);
    let marks = Marks::new(args, healed.len() + marked(&damage, &sources));
    match kept.take().filter(|_| may_write) {
        Some(kept) if args.yes => {
            kept.restore(args.discard, console)?;
            lock = Some(Lock::acquire(path, console)?);
        }
        kept => kept.iter().for_each(|kept| kept.say(console)),
    }
    // If the manifest cannot be rewritten, the run ends before it changes the tree.
    let rewritten = lock.filter(|_| marks.are_removed());
    let rewritten = rewritten.map(|lock| Rewrite::begin(path, lock, &stdout)).transpose()?;
    let mut outcome = scan.outcome.max(copied).max(unread);
    if leaves_damage(&damage, &sources, args.yes) {
        outcome = outcome.max(args.corrupted.outcome_or(Outcome::Success));
    }
    if args.yes {
        let mut repaired = BTreeMap::new();
        if !parities.opened().is_empty() {
            remove_abandoned(&repairs.state_directory()?, console);
        }
        // The computed contents are there until all files are restored.
        let computed = parities.are_used().then(|| {
            let state = repairs.state_directory()?;
            parities.compute(&present, &damage.wanted, &mut found, &state, console)
        });
        let _computed = computed.transpose()?;
        let has_wrong =
            planned.iter().zip(&found).any(|(planned, found)| planned.is_some() && found.is_none());
        outcome = outcome.max(Outcome::error_if(has_wrong));
        let sources = sources_of(&damage, &found, &parities);
        let repairs = Repairs { sources: &sources, ..repairs };
        let acted = repairs.act(&mut printer, &mut repaired, console)?;
        repaired.append(&mut healed);
        let marks = Marks { count: repaired.len(), ..marks };
        printer.marks_removed = marks.removed();
        outcome = outcome.max(acted.outcome).max(printer.finish(&scan.rules, console));
        acted.hints.iter().for_each(Console::note);
        if let Some(mut rewritten) = rewritten.filter(|_| marks.are_removed()) {
            let repaired = plan.recorded_paths(repaired).with_context(name)?;
            let write = rewritten.replace(manifest.header(), |writer| {
                rewrite(&manifest, &repaired, &plan.file_systems, start_ns, writer).map(drop)
            });
            write.context("the files are repaired, but the manifest still marks them: repeat the command")?;
        }
        marks.say(true, console);
        if let Some(signals) = acted.signals {
            signals.raise_again();
        }
    } else {
        repairs.print(&mut printer, console);
        printer.marks_removed = marks.removed();
        outcome = outcome.max(printer.finish(&scan.rules, console));
        marks.say(false, console);
    }
    let records = [("the manifest", manifest.header())];
    say_unselected(part.as_ref(), plan.unselected(), Some(scan.skipped), &records, console);
    stdout.finish()?;
    Ok(outcome)
}

/// Where the content of a file comes from.
#[derive(Clone, Copy, Debug)]
enum Source<'s> {
    /// A file of a copy.
    Copy(&'s Found),
    /// A file that was computed with this parity file, or will be.
    Computed(&'s Found, &'s OsStr),
    /// Another name in the tree.
    Link(&'s LinkTo),
}

impl<'s> Source<'s> {
    /// Returns the file that has the content; `None` for another name in the tree.
    fn file(self) -> Option<&'s Found> {
        match self {
            Self::Copy(found) | Self::Computed(found, _) => Some(found),
            Self::Link(_) => None,
        }
    }
}

/// Returns the source of each wanted content, if there is one.
fn sources_of<'s>(
    damage: &'s Damage,
    found: &'s [Option<Found>],
    parities: &'s Parities<'_>,
) -> Vec<Option<Source<'s>>> {
    let pairs = || damage.wanted.iter().zip(found);
    let restored = pairs().filter(|(_, found)| found.is_some()).flat_map(|(wanted, _)| &wanted.names);
    let restored: HashSet<_> = restored.map(|name| &name.path).collect();
    let is_there = |to: &&LinkTo| to.version.is_some() || restored.contains(&to.path);
    let file = |(at, found): (usize, &'s Found)| match parities.path_of(at) {
        Some(parity) => Source::Computed(found, parity),
        None => Source::Copy(found),
    };
    pairs()
        .enumerate()
        .map(|(at, (wanted, found))| match &wanted.link_to {
            Some(to) => Some(to).filter(is_there).map(Source::Link),
            None => found.as_ref().map(|found| file((at, found))),
        })
        .collect()
}

/// Returns whether a device, or a file system that keeps checksums, could not return the content of a file.
fn is_device_error(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::IO)
}

/// Prints the entries that are not repaired.
fn say_left(
    args: &RepairArgs,
    damage: &Damage,
    sources: &[Option<Source<'_>>],
    parities: &Parities<'_>,
    printer: &mut Printer<'_>,
) {
    for left in &damage.left {
        match &left.why {
            Why::Healed => printer.say(Word::Healed, &left.path, "has its recorded content again"),
            Why::Changed => printer.say(
                Word::Changed,
                &left.path,
                "changed since it was recorded: see `ftk manifest update`",
            ),
            Why::Edited => {
                let why = "marked as damaged, and changed since: --modified restores it, `ftk manifest update` records it";
                printer.say(Word::Changed, &left.path, why);
            }
            Why::Undecided => {
                printer.say(Word::Changed, &left.path, "content differs, and the record has no time")
            }
            Why::Missing => printer.say(Word::Missing, &left.path, "damaged and missing: add --missing"),
            Why::Moved(path) => {
                let path = human::shown(path);
                printer.say(Word::Moved, &left.path, format_args!("its content is now at {path}"));
            }
            Why::Hidden => {
                let why = "a tag or an option of the record hides it or its directory: neither compared nor restored";
                printer.say(Word::Changed, &left.path, why);
            }
            Why::Unreadable => printer.say(Word::Unreadable, &left.path, "cannot be read"),
            Why::OtherDirectory(path) => {
                let path = human::shown(path);
                let why = format_args!("{path} is not the recorded directory (--other-root accepts it)");
                printer.say(Word::Refuse, &left.path, why);
            }
            Why::OtherEntry => {
                let why = "is perhaps not the recorded entry: another user can change its path, or could when it was recorded (--other-root accepts it)";
                printer.say(Word::Refuse, &left.path, why);
            }
            Why::LacksRights => {
                let why = "lacks recorded set-ID bits or capabilities: set them yourself";
                printer.say(Word::LacksRights, &left.path, why);
            }
            Why::LacksTrusted => {
                let why = "lacks recorded attributes named trusted.*, which only root can set";
                printer.say(Word::LacksRights, &left.path, why);
            }
            Why::HidesTrusted => {
                let why = "has recorded attributes named trusted.*, which would be lost: repair it as root";
                printer.say(Word::Refuse, &left.path, why);
            }
            Why::Apart { first, is_exposed } => {
                let why = match is_exposed {
                    true => "another user can change a path, or could (--other-root joins them)",
                    false => "they cannot be joined",
                };
                let first = human::shown(first);
                let why =
                    format_args!("is recorded as a hard link of {first}, and is a separate file: {why}");
                printer.say(Word::Conflict, &left.path, why);
            }
            Why::Joined(path) => {
                let path = human::shown(path);
                let why = format_args!("is a hard link of {path}, and recorded as a separate file");
                printer.say(Word::Conflict, &left.path, why);
            }
            Why::OtherLink(path) => {
                let path = human::shown(path);
                let why = format_args!("is a hard link of {path}, with other recorded metadata");
                printer.say(Word::Conflict, &left.path, why);
            }
            Why::LinkOf(path) => {
                let path = human::shown(path);
                let why = format_args!("is a hard link of {path}, with another recorded content");
                printer.say(Word::Conflict, &left.path, why);
            }
        }
    }
    let missing = damage.wanted.iter().zip(sources).enumerate().filter(|(_, (_, source))| source.is_none());
    for (at, (wanted, _)) in missing {
        let why = match parities.lacking(at) {
            Some(lacking) => format!("too much is lost: {} too few", human::count(lacking, "recovery block")),
            None if args.from.is_empty() => "damaged: name a copy with --from".into(),
            None => "no COPY has its recorded content".into(),
        };
        for name in &wanted.names {
            printer.say(Word::NoCopy, &name.path, &why);
        }
    }
    printer.others(damage.others);
    printer.grown = damage.grown;
    printer.unasked(damage.unasked);
}

/// Returns whether files stay damaged, or perhaps damaged, unless a step fails. `acts`: the plan is carried out.
fn leaves_damage(damage: &Damage, sources: &[Option<Source<'_>>], acts: bool) -> bool {
    let is_damage = |why: &Why| match why {
        Why::Changed | Why::Edited | Why::Undecided | Why::Missing | Why::LinkOf(_) => true,
        why => *why == Why::HidesTrusted,
    };
    damage.left.iter().any(|left| is_damage(&left.why))
        || damage.wanted.iter().zip(sources).any(|(wanted, source)| {
            let is_damaged = wanted.names.iter().any(|name| name.damaged.is_some());
            is_damaged && (!acts || source.is_none() || wanted.other_links > 0)
        })
}

/// The marks of damage in the manifest that the run makes out of date.
#[derive(Clone, Copy, Debug)]
struct Marks<'a> {
    manifest: &'a OsStr,
    count: usize,
    other_root: bool,
    is_read_only: bool,
}

impl<'a> Marks<'a> {
    fn new(args: &'a RepairArgs, count: usize) -> Self {
        // Root could write to a file without permissions, and its owner could replace it.
        let is_read_only = Path::new(&args.manifest).metadata().is_ok_and(|it| it.permissions().readonly());
        Self { manifest: &args.manifest, count, other_root: args.guard.other_root, is_read_only }
    }

    /// Returns whether the manifest is written, to remove them.
    fn are_removed(&self) -> bool {
        self.count > 0 && !self.other_root && !self.is_read_only
    }

    fn removed(&self) -> u64 {
        if self.are_removed() { self.count as u64 } else { 0 }
    }

    /// Says what happens to the manifest. `acts`: the plan was carried out.
    fn say(&self, acts: bool, console: &Console) {
        let name = quote(self.manifest.as_bytes());
        let marks = human::count(self.count as u64, "mark");
        let kept = if self.count > 0 { format!(", and keeps {marks} of damage") } else { String::new() };
        match () {
            () if self.other_root => {
                console.summary(format_args!("{name} is not written (--other-root){kept}"))
            }
            () if self.are_removed() => {
                let remove = if acts { "removed" } else { "would also remove" };
                console.summary(format_args!("{remove} {marks} of damage from {name}"));
            }
            () if self.count > 0 => console.warning(format_args!("{name} is read-only{kept}")),
            () => {}
        }
    }
}

/// Returns the number of marked names that can be restored.
fn marked(damage: &Damage, sources: &[Option<Source<'_>>]) -> usize {
    let restored = damage.wanted.iter().zip(sources).filter(|(_, source)| source.is_some());
    restored.flat_map(|(wanted, _)| &wanted.names).filter(|name| name.is_marked).count()
}

/// Returns the files that have their recorded content again: their marks are removed.
fn healed(damage: &Damage) -> BTreeMap<Vec<u8>, Option<Stat>> {
    let healed = damage.left.iter().filter(|left| left.why == Why::Healed);
    healed.map(|left| (left.path.clone(), None)).collect()
}
