//! `ftk manifest update ROOT OLD -o NEW`: records a tree again, without reading unchanged files.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{BufWriter, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_file::now_ns;
use ftk_inventory::Keep;
use ftk_manifest::{
    Criteria, Field, Finding, Header, Provenance, Sample, Update, UpdateOptions, Updated, Verdict,
    WalkedTree, Writer,
};
use ftk_record::quote;
use ftk_select::Check;

use crate::console::{Console, Outcome, cause};
use crate::globals::Globals;
use crate::human;
use crate::list::{List, named};
use crate::lock::Lock;
use crate::manifest::archive::refuse_archive;
use crate::manifest::changed::ChangedArgs;
use crate::manifest::checks::RulesArg;
use crate::manifest::corrupted::CorruptedArgs;
use crate::manifest::create::{NOT_RECORDED, Sink, say_no_xattrs, write};
use crate::manifest::diff::word;
use crate::manifest::fields::change;
use crate::manifest::guard::{GuardArgs, refuse_swapped, refuse_to_overwrite};
use crate::manifest::input::Input;
use crate::manifest::reading;
use crate::manifest::record::{Findings, Manner, corruption, counts, respelling, text};
use crate::manifest::reprotect::{NewManifest, Reprotection};
use crate::manifest::root::Root;
use crate::manifest::scope::ScopeArgs;
use crate::manifest::shard::ShardArgs;
use crate::manifest::shift::{TREE, describe};
use crate::manifest::since::{SinceArgs, say_all};
use crate::number::share;
use crate::run::Run;
use crate::stdout::Stdout;

/// Record a tree again, reading only what changed
///
/// Algorithms, extended attributes, rules and the selection options are those of OLD. A file keeps its digests if file
/// system, inode, size, mtime and ctime are the same as in OLD, and both times are before the start of the run that
/// made OLD. Every other file is read. Entries that cannot be read keep their old record, and the exit status is 2.
///
/// A file is corrupted if its content changed but size and mtime did not. update reports it, keeps the old record and
/// exits with 1, in every run until the file is repaired or accepted. All other changes are recorded: the summary
/// counts them, and --verbose lists them, or --dry-run before anything is written. Corruption that changes no time is
/// found only by reading: verify reads all files, and --check reads a part of the unchanged ones.
///
/// update stops before it writes anything if ROOT is not the recorded directory, or if more than half of the recorded
/// entries are missing (see --max-missing), as on an empty mount point. A Btrfs snapshot of the recorded directory is
/// the recorded directory: files that both share keep their digests.
///
/// If OLD is the manifest of one shard, or with --shard, only the entries of this shard are recorded and counted.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct UpdateArgs {
    /// The directory to record; a symbolic link is followed
    #[arg(value_name = "ROOT")]
    root: OsString,

    /// The older manifest, that of one shard, or a directory with the parts of all shards; `-`: standard input
    #[arg(value_name = "OLD")]
    old: OsString,

    #[command(flatten)]
    shard: ShardArgs,

    /// Write to NEW, which appears only when it is complete; may be OLD
    ///
    /// If its name ends in .zst, NEW is compressed with Zstandard.
    /// `-`: standard output.
    #[arg(short, long, value_name = "NEW", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Also bring this parity file up to date
    ///
    /// PARITY protects what NEW records, and is not in ROOT: see `ftk manifest protect`. Only new contents are read,
    /// and now and then a part of the others. A content that is gone counts as lost for its neighbours. When such
    /// contents use up more than a quarter of the recovery blocks of a part of PARITY, this part is computed again.
    /// Damage is never protected, and what PARITY could restore is not given up. NEW is written first. If this run is
    /// killed, PARITY is as before or as after it, and the next run completes it.
    #[arg(long, value_name = "PARITY", help_heading = "Output")]
    parity: Option<OsString>,

    /// Only print what would be recorded; write nothing
    ///
    /// Prints a line for each entry that is new, removed, modified or has other metadata. A moved file has two lines.
    /// Files that may have changed are read. The status is that of the update.
    #[arg(long, help_heading = "Output")]
    dry_run: bool,

    /// Replace an existing manifest other than OLD
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,

    /// Only add new entries; report all other changes
    ///
    /// For archives where nothing may change. Entries that are missing or that differ from their records are reported,
    /// with status 1. Their records are kept, so every run reports them until the tree is as recorded. Without this
    /// option, update records removed and edited files as they are now.
    #[arg(long, conflicts_with = "accept", help_heading = "Output")]
    append_only: bool,

    /// Also read a part of the unchanged files, such as 5%
    ///
    /// Each run reads other files.
    #[arg(long, value_name = "P%", value_parser = share, help_heading = "Reading")]
    check: Option<Sample>,

    /// Record this corrupted file as it is now; repeatable
    ///
    /// PATH is relative to ROOT, as verify prints it.
    #[arg(long, value_name = "PATH", help_heading = "Reading")]
    accept: Vec<OsString>,

    #[command(flatten)]
    changed: ChangedArgs,

    #[command(flatten)]
    since: SinceArgs,

    #[command(flatten)]
    rules: RulesArg,

    /// ROOT is a snapshot of the tree that OLD records (ZFS, LVM, filers)
    ///
    /// Files keep their digests if inode, size, mtime and ctime are the same; their file system is not compared. NEW
    /// says that this option was used. Btrfs snapshots are recognised without it.
    #[arg(long, help_heading = "Reading")]
    snapshot_of: bool,

    #[command(flatten)]
    corrupted: CorruptedArgs,

    #[command(flatten)]
    guard: GuardArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 1: corruption or (--append-only) changes; 2: any error

Examples:
  ftk manifest update /archive archive.jsonl --dry-run
                        what has changed?
  ftk manifest update /archive archive.jsonl -o archive.jsonl
                        record it
  ftk manifest update /archive monday.jsonl -o tuesday.jsonl --check 3%
                        read every file about once a month
  ftk manifest update --append-only /vault vault.jsonl -o vault.jsonl
                        add new files; report missing and changed ones
  ftk manifest update /archive a.jsonl -o a.jsonl --accept film/reel-03.mov
                        record a corrupted file as it is
  ftk manifest update /archive a.jsonl -o a.jsonl --parity /mnt/a.parity
                        also protect what is new";

pub(super) fn run(args: &UpdateArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    refuse_swapped(&args.root, &args.old)?;
    ensure!(
        args.output.is_some() || args.dry_run || !Stdout::is_terminal(),
        "name the new manifest: -o NEW (it may be OLD; -o - prints it), or see what changed: --dry-run"
    );
    let output = named(args.output.as_deref()).filter(|_| !args.dry_run);
    ensure!(
        !args.changed.takes_stdin() || args.old != "-",
        "OLD and the list of --changed cannot both come from standard input"
    );
    let checks = args.rules.compile()?;
    let examination = args.changed.read()?;
    ensure!(
        checks.is_none() || !args.append_only && examination.is_none() && args.since.since.is_none(),
        "--rules may end the records of some entries: --append-only, --changed and --since cannot be used with it"
    );
    let mut examination = examination.filter(|examination| !examination.is_all());
    let run = Run::new(globals, console)?;
    let mut lock = match output.filter(|output| is_same_file(output, Path::new(&args.old))) {
        Some(output) => Some(Lock::acquire(output, console)?),
        None => None,
    };
    let Input { manifest: mut old, own } = Input::open_any(&args.old, globals, console)?;
    refuse_archive(&old, &args.old)?;
    let name = || quote(args.old.as_bytes());
    ensure!(
        args.parity.is_none() || output.is_some() || args.dry_run,
        "--parity needs a file for the new manifest: -o NEW"
    );
    let parity = args.parity.as_ref().map(|path| Reprotection::open(path, &old, output, &run, console));
    let parity = parity.transpose()?;
    let root = Root::open(&args.root)?;
    let provenance = root.provenance();
    old.settle(&provenance);
    if let Some(path) = args.parity.as_deref().filter(|path| is_in(path, &args.root)) {
        bail!("{} is in ROOT, and would protect itself: move it to another place", quote(path.as_bytes()));
    }
    if let Some(asked) = args.shard.resolve(&root, &old.header().options, args.guard.other_root)? {
        ensure!(
            lock.is_none() || old.header().shard.is_some(),
            "{} records more than one shard, and the new manifest must not replace it",
            name()
        );
        old.restrict(asked.shard).with_context(name)?;
    }
    let root_identity = Some(root.identity().clone());
    let kinship = root.kinship(old.header(), args.snapshot_of);
    let snapshot_of = args.snapshot_of || old.header().provenance.snapshot_of;
    let provenance = Provenance { snapshot_of, ..provenance };
    let mut header =
        Header { root: args.root.as_bytes().to_vec(), root_identity, provenance, ..old.header().clone() };
    if let Some(checks) = &checks {
        header.set_checks(checks);
    }
    let checks = header.checks().with_context(name)?;
    if !args.force && !ShardArgs::is_earlier(output, &header) {
        refuse_to_overwrite(output, own.first().copied().filter(|_| lock.is_some()), true)?;
    }
    let scope = ScopeArgs::of_words(&header.options).with_context(name)?;
    let algorithms = &old.header().algorithms;
    args.corrupted.check(&Criteria::default(), &[algorithms])?;
    let now_ns = now_ns();
    let stdout = Stdout::default();
    let list = List::create(output, &stdout)?;
    if let Some(lock) = &mut lock {
        lock.check().and_then(|()| lock.extend_to(&list)).with_context(name)?;
    }
    // If OLD lies in the tree and is not replaced, it is recorded like any other file.
    let keep = Keep::Stats { files: true };
    let accept = args.accept.iter().map(|path| below(path.as_bytes())).collect::<BTreeSet<_>>();
    let is_partial = examination.is_some() || args.since.since.is_some();
    ensure!(!is_partial || header.shard.is_none(), "--changed and --since need a manifest of the whole tree");
    let mut left_out: Option<HashSet<Vec<u8>>> =
        examination.as_ref().map(|listed| listed.paths().map(<[u8]>::to_vec).collect());
    examination = examination.or_else(|| args.since.examination(old.header(), &root, console));
    if let Some(examination) = &mut examination {
        accept.iter().for_each(|path| _ = examination.add(path));
        examination.add_uncertain(&old, args.check.as_ref()).with_context(name)?;
    }
    if examination.take_if(|it| it.is_much()).is_some() {
        say_all("more than a twentieth changed", console);
    }
    let own = list.own();
    let scan = loop {
        let Some(examination) = examination.as_mut().filter(|it| !it.is_all()) else {
            break reading::walk(&run, &root, &scope, keep, &own, header.shard.as_ref())?;
        };
        let scan = reading::walk_examined(&run, &root, &scope, &own, examination)?;
        let tree =
            WalkedTree { inventory: &scan.inventory, root: args.root.as_bytes(), failed: &scan.failed };
        if !examination.add_related(&old, &tree).with_context(name)? {
            scan.say(console);
            break scan;
        }
    };
    let examination = examination.filter(|it| !it.is_all());
    let tree = WalkedTree { inventory: &scan.inventory, root: args.root.as_bytes(), failed: &scan.failed };
    if let Some(left_out) = &mut left_out {
        tree.remove_known(left_out)?;
        left_out.retain(|path| root.has(path));
    }
    let options = UpdateOptions {
        check: args.check.as_ref(),
        accept: &accept,
        append_only: args.append_only,
        checks: &checks,
        kinship,
        examination: examination.as_ref(),
    };
    let mut update = Update::new(&old, &tree, &options, &run.budget).with_context(name)?;
    args.guard.check(old.header(), &update.survey, &root, Some((kinship, console)))?;
    if let Some(path) = update.unknown.first() {
        let (path, old) = (quote(path), name());
        bail!("cannot accept {path}: it is not a regular file both in ROOT and, with digests, in {old}");
    }
    if let Some(path) = &update.ignored_damage {
        bail!(
            "the rules ignore {}, which is recorded as damaged, and would forget it: repair it, or record it as it is \
             now with --accept, before",
            quote(path)
        );
    }
    let start_ns = reading::start_ns(&scan.inventory, &list, now_ns);
    let files = Some(&*update.files);
    let read = reading::read(&run, &scan.inventory, files, algorithms, old.header().xattrs, "not read")?;
    let (begun, mut done, mut failed) = (Instant::now(), read.done, read.failed.len() as u64);
    let mut unread = 0;
    let grown = update.read_growing(&run.budget, &mut |path, error| {
        unread += 1;
        console.path_error("read", path, cause(error));
    })?;
    if grown.files > 0 {
        console.stats.files("hash", begun, grown.files, unread, grown.bytes);
        done.files += grown.files;
        done.bytes += grown.bytes;
        failed += unread;
    }

    let trusted_xattrs = header.trusted_xattrs && update.sees_trusted();
    let mut header = Header { trusted_xattrs, ..header };
    update.set_times(&read.rows, start_ns, &mut header);
    if let Some(shard) = &mut header.shard {
        scan.listed.record(shard);
    }
    if header.xattrs && old.header().trusted_xattrs && !trusted_xattrs {
        console.warning("attributes that only root sees (trusted.*) are no longer recorded");
    }
    let mut each = |finding: &Finding<'_>| match (finding.error, finding.old, finding.new) {
        (None, Some(_), None) if finding.verdict == Verdict::Missing => {
            console.warning(format_args!("{} is missing", quote(finding.path)));
        }
        (None, Some(old), Some(new)) if args.append_only && finding.changed != [Field::Digests] => {
            let changed = finding.changed.iter().map(|field| change(*field, [&old, &new], [algorithms; 2]));
            let changes: Vec<_> = respelling(finding).into_iter().chain(changed).collect();
            let (path, changes) = (quote(finding.path), changes.join(", "));
            console.warning(format_args!("{path} is not as recorded: {changes}"));
        }
        (None, Some(old), Some(_)) if finding.verdict == Verdict::Modified => {
            let is_marked = old.damaged_ns.is_some();
            let may_grow = !is_marked && checks.of(finding.path, finding.file_type) == Check::Growing;
            let what = match finding.changed {
                [Field::Size] if may_grow => "it is shorter than recorded, and a rule lets it only grow",
                [Field::Digests] if may_grow => {
                    "what was recorded of it has changed, and a rule lets it only grow"
                }
                [Field::Digests] if old.is_unsettled => {
                    "it was written while a snapshot was made, which lacked a part: recorded as it is now"
                }
                [Field::Digests] if is_marked => {
                    "damaged earlier, and only its time changed since: perhaps still damaged"
                }
                [Field::Digests] => "content differs, and the record has no time or no size: perhaps damaged",
                _ => "damaged earlier, and its size or type changed since: recorded as it is now",
            };
            console.warning(format_args!("{}: {what}", quote(finding.path)));
        }
        (None, Some(old), Some(new)) => {
            let digests = change(Field::Digests, [&old, &new], [algorithms; 2]);
            let (path, verdict) = (quote(finding.path), Verdict::Corrupted);
            console.warning(format_args!("{path} is {verdict}: {}, {digests}", corruption(&old, &new)));
        }
        (None, Some(_), None) => {
            let path = quote(finding.path);
            console.warning(format_args!("{path} was corrupted and is missing now, perhaps renamed"));
        }
        (Some(error), ..) => say_no_xattrs(tree.root, finding.path, error, console),
        _ => {}
    };
    let planned = (args.dry_run && parity.is_some()).then(tempfile::tempfile).transpose();
    let mut planned = planned.context("cannot create a temporary file")?.map(BufWriter::new);
    let updated = match args.dry_run {
        true => {
            let manner = Manner {
                member: "change",
                word,
                json: globals.json,
                all: false,
                has_sizes: true,
                is_silent: false,
            };
            let mut findings = Findings::new(manner, [algorithms; 2], list);
            let mut sink = |line: &[u8]| planned.as_mut().map_or(Ok(()), |file| file.write_all(line));
            let mut writer = Writer::new(&header, &mut sink as Sink<'_>);
            let mut recorded = |finding: &Finding<'_>| findings.give(finding, None);
            let updated =
                update.write(&read.rows, now_ns, &mut writer, &run.budget, &mut each, &mut recorded)?;
            writer.finish()?;
            findings.finish()?;
            updated
        }
        false => write(&header, list, output, |writer| {
            let mut recorded = |finding: &Finding<'_>| {
                console.verbose(|| text(finding, word(finding.verdict), algorithms));
            };
            let updated = update.write(&read.rows, now_ns, writer, &run.budget, &mut each, &mut recorded)?;
            lock.as_ref().map_or(Ok(()), Lock::check)?;
            Ok(updated)
        })?,
    };

    let missing = update.survey.missing;
    for (kind, n) in [
        ("missing", missing),
        ("corrupted", updated.corrupted + updated.undecided),
        ("rewritten", updated.rewritten),
        ("kept", updated.kept),
    ] {
        console.stats.result(kind, n);
    }
    if args.append_only {
        console.stats.result("retained", updated.retained);
    }
    if let Some(shift) = &updated.shift {
        let shift = describe(shift, TREE);
        let what = if args.append_only { "their records are kept" } else { "they are recorded now" };
        console.warning(format_args!("all times have shifted ({shift}); {what}"));
    }
    for verdict in [Verdict::Modified, Verdict::Metadata, Verdict::Moved, Verdict::New, Verdict::Missing] {
        console.stats.result(word(verdict), updated.recorded.count(verdict));
    }
    let changes = counts(&updated.recorded, word);
    let recorded = if args.dry_run { "would record" } else { "recorded" };
    console.summary(match &*changes {
        "" => "no changes to record".into(),
        changes => format!("{recorded} {changes}"),
    });
    if args.output.is_none() && !args.dry_run {
        console.summary("the new manifest is on standard output, and OLD is as it was: -o OLD replaces it");
    }
    if args.snapshot_of {
        console.summary("unchanged files kept their digests because ROOT is a snapshot (--snapshot-of)");
    }
    if update.respelled() > 0 && !args.append_only {
        let names = human::count(update.respelled(), "name");
        console.summary(format_args!("{names} in another Unicode normal form, recorded as they are now"));
    }
    if examination.is_some() {
        let (all, kept) = (human::entries(updated.entries - updated.not_examined), updated.not_examined);
        console.summary(format_args!("{all} examined, {} kept as recorded", human::count(kept, "record")));
        console.stats.result("not_examined", kept);
    }
    if let Some(left_out) = left_out.map(|paths| paths.len() as u64) {
        console.stats.result("left_out", left_out);
        if left_out > 0 {
            let paths = human::count(left_out, "listed path");
            console.summary(format_args!("{paths} ignored: the options of OLD exclude what is there"));
        }
    }
    reading::say_done(&run, updated.entries, done, failed, None, algorithms);
    let outcome = scan.outcome.max(say_kept(updated, args.corrupted.outcome(), console));
    let outcome = outcome.max(run.say_unread_with(updated.failed, scan.unlisted, NOT_RECORDED));
    let Some(parity) = parity else { return Ok(outcome) };
    let new = match (planned, output) {
        (Some(file), _) => NewManifest::Planned(file),
        (None, output) => NewManifest::Written(output.expect("it was checked")),
    };
    let is_planned = matches!(new, NewManifest::Planned(_));
    let reprotected = parity.update(&args.root, new, &run, globals, console);
    let reprotected = if is_planned { reprotected } else { reprotected.context(PARITY_LEFT) }?;
    Ok(outcome.max(reprotected))
}

/// The beginning of the message if the parity file could not be updated.
const PARITY_LEFT: &str = "the manifest is written, but the parity file is as before";

/// Whether a file is in a directory, by their paths without links.
fn is_in(file: &OsStr, dir: &OsStr) -> bool {
    let [file, dir] = [file, dir].map(fs::canonicalize);
    file.ok().zip(dir.ok()).is_some_and(|(file, dir)| file.starts_with(dir))
}

/// Whether both paths lead to one regular file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let identity = |path| fs::metadata(path).ok().filter(Metadata::is_file).map(|it| (it.dev(), it.ino()));
    identity(a).is_some_and(|a| identity(b) == Some(a))
}

/// Returns a path below the root in the form of a manifest.
fn below(path: &[u8]) -> Vec<u8> {
    path.strip_prefix(b"./").unwrap_or(path).to_vec()
}

/// Prints how many entries kept their old record, and returns the outcome. `damage`: that of a run
/// with damaged files.
fn say_kept(updated: Updated, damage: Outcome, console: &Console) -> Outcome {
    let Updated { kept, corrupted, undecided, rewritten, retained, .. } = updated;
    if corrupted > 0 {
        let files = human::count(corrupted, "corrupted file");
        console.summary(format_args!(
            "{files} kept as recorded; --accept PATH records one as it is now   (status {})",
            damage.status()
        ));
    }
    if undecided > 0 {
        let files = human::count(undecided, "perhaps damaged file");
        console.summary(format_args!(
            "{files} kept as recorded; --accept PATH records one as it is now   (status {})",
            damage.status()
        ));
    }
    if rewritten > 0 {
        let files = human::count(rewritten, "growing file");
        console.summary(format_args!(
            "{files} kept as recorded; --accept PATH records one as it is now   (status 1)"
        ));
    }
    if retained > 0 {
        let entries = human::entries(retained);
        console.summary(format_args!("{entries} missing or changed: the old records are kept   (status 1)"));
    }
    if kept > 0 {
        let records = human::count(kept, "old record");
        console.summary(format_args!("{records} kept for entries that could not be read (status 2)"));
    }
    match () {
        () if kept > 0 => Outcome::Error,
        () if corrupted + undecided > 0 => damage,
        () if retained + rewritten > 0 => Outcome::Negative,
        () => Outcome::Success,
    }
}
