//! `ftk manifest scrub ROOT FILE`: reads a part of a tree, the longest unverified files first.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_file::now_ns;
use ftk_inventory::Keep;
use ftk_manifest::{Part, Scrub, Verdict, WalkedTree};
use ftk_record::quote;
use ftk_select::parse_bytes;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::list::List;
use crate::lock::Lock;
use crate::manifest::archive::refuse_archive;
use crate::manifest::corrupted::CorruptedArgs;
use crate::manifest::guard::{GuardArgs, refuse_swapped};
use crate::manifest::input::Input;
use crate::manifest::pace::{Pace, SAVE_EVERY};
use crate::manifest::part::{Part as Selected, PartArgs, say_unselected};
use crate::manifest::reading;
use crate::manifest::record::{Findings, Manner};
use crate::manifest::rewrite::Rewrite;
use crate::manifest::root::Root;
use crate::manifest::round::{push_json, record, say};
use crate::manifest::scope::ScopeArgs;
use crate::manifest::shard::ShardArgs;
use crate::manifest::shift::{self, TREE, describe};
use crate::number::period;
use crate::progress::Course;
use crate::run::Run;
use crate::stdout::Stdout;

/// Read a part of a tree, the longest unverified files first
///
/// Reads files, compares them with their recorded digests, and stores in FILE when each was verified. Damaged files are
/// read first, then those that were not verified for the longest time. So runs that each read a part read everything in
/// turn. Without a limit, one run reads everything; with several limits, the first one that is reached ends it. Every
/// run reads at least one file that is not known to be damaged.
///
/// Prints a line for each file that is corrupted or unreadable. A corrupted file is reported by every run until it is
/// repaired, or accepted with the option --accept of `ftk manifest update`. Files that were added, edited or removed
/// are counted and left for that command.
///
/// FILE is replaced as a whole, at least once a minute, so a killed run loses no more than that and the file that it
/// was reading. scrub stops before it changes anything if ROOT is not the recorded directory, or if more than half of
/// the recorded entries are missing (see --max-missing). With the manifest of one shard, only its entries are read and
/// counted. With -E, --path and the like, only selected entries are read and counted; all records are kept.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScrubArgs {
    /// The directory to read; a symbolic link is followed
    #[arg(value_name = "ROOT")]
    root: OsString,

    /// The manifest, or that of one shard, in which the times of verification are stored
    #[arg(value_name = "FILE")]
    manifest: OsString,

    #[command(flatten)]
    shard: ShardArgs,

    /// Read for this long, such as 2h or 1h30m
    ///
    /// A file that was begun is read to its end.
    #[arg(long, value_name = "TIME", value_parser = period, help_heading = "Limits")]
    time: Option<Duration>,

    /// Read this much, such as 500G, rounded up to files
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Limits")]
    bytes: Option<u64>,

    /// Read a fraction of all bytes, such as 1/30
    ///
    /// The last file is read to its end.
    ///
    /// 30 runs with 1/30 read every file. K/N is a fraction and not the number of a part: each run reads the files that
    /// were not verified for the longest time.
    #[arg(long, value_name = "K/N", help_heading = "Limits")]
    part: Option<Part>,

    #[command(flatten)]
    selected: PartArgs,

    #[command(flatten)]
    corrupted: CorruptedArgs,

    #[command(flatten)]
    guard: GuardArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: no damage; 1: corrupted files found or known, or nothing verified; 2: any error

Examples:
  ftk manifest scrub --part 1/30 /archive archive.jsonl
                        every night: each file about once a month
  ftk manifest scrub --time 2h --polite /archive archive.jsonl
                        two hours, while others use the machine
  ftk manifest scrub /archive archive.jsonl
                        read everything once";

pub(super) fn run(args: &ScrubArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    refuse_swapped(&args.root, &args.manifest)?;
    ensure!(args.manifest != "-", "scrub rewrites the manifest, so it cannot be read from standard input");
    let mut run = Run::new(globals, console)?;
    let path = Path::new(&args.manifest);
    let name = || quote(args.manifest.as_bytes());
    let lock = Lock::acquire(path, console)?;
    let Input { mut manifest, .. } = Input::open_any(&args.manifest, globals, console)?;
    console.stats.sealed(&args.manifest, &manifest);
    refuse_archive(&manifest, &args.manifest)?;
    lock.check().with_context(name)?;
    let root = Root::open(&args.root)?;
    manifest.settle(&root.provenance());
    if let Some(asked) = args.shard.resolve(&root, &manifest.header().options, args.guard.other_root)? {
        let is_part = manifest.header().shard.is_some();
        ensure!(is_part, "{} records more than one shard: scrub the manifest of the shard", name());
        manifest.restrict(asked.shard).with_context(name)?;
    }
    let header = manifest.header();
    if header.algorithms.is_empty() {
        bail!("{} records no digests, so no content can be verified", name());
    }
    let selected = args.selected.compile(Some(root.given()), &root.identity().path, None, console)?;
    let scope =
        ScopeArgs::of_words(&Selected::add_to(selected.as_ref(), &header.options)).with_context(name)?;
    let stdout = Stdout::default();
    let mut rewrite = Rewrite::begin(path, lock, &stdout)?;
    let list = List::create(None, &stdout)?;
    let own = [rewrite.own(), list.own()].concat();
    let keep = Keep::Stats { files: true };
    let mut scan = reading::walk_part(&run, &root, &scope, keep, &own, header.shard.as_ref())?;
    let tree = WalkedTree { inventory: &scan.inventory, root: args.root.as_bytes(), failed: &scan.failed };
    let selector = selected.as_ref().map(Selected::selector);
    let scrub = Scrub::new(&manifest, &tree, selector.as_ref(), now_ns(), &run.budget);
    let mut scrub = scrub.with_context(name)?;
    if let Some(selected) = &selected {
        selected.add_rules_to(&mut scan.rules);
    }
    scan.rules.say_in(reading::within(header.shard.as_ref()), console);
    args.guard.check(header, &scrub.survey, &root, None)?;
    ensure!(
        selected.is_none() || scrub.selects_files(),
        "the options select no recorded file: nothing was verified"
    );
    let fraction = args.part.map(|part| part.of(scrub.bytes()));
    args.bytes.into_iter().chain(fraction).for_each(|bytes| scrub.limit(bytes));
    if let Some(shift) = &scrub.shift {
        console
            .warning(format_args!("all times have shifted ({}): update records them", describe(shift, TREE)));
    }

    let manner = Manner {
        member: "verdict",
        word: Verdict::name,
        json: globals.json,
        all: false,
        has_sizes: false,
        is_silent: false,
    };
    let mut findings = Findings::new(manner, [&header.algorithms; 2], list);
    let mut damaged = 0;
    scrub.say_lost(&mut |finding| {
        damaged += u64::from(finding.verdict == Verdict::Missing);
        findings.give(finding, None);
    });
    run.course = Some(console.progress.course("hash", scrub.planned(), args.time));
    let (mut pace, mut bytes, mut saved) = (Pace::new(globals.limit_rate), 0, Instant::now());
    // Facts about another directory do not belong into the record.
    let is_read_only = args.guard.other_root;
    // What was found is printed even if it cannot be stored.
    let (mut is_saved, mut stored) = (true, Ok(()));
    let time_left = || args.time.map(|time| time.saturating_sub(run.start.elapsed()));
    while let Some(batch) = scrub.next_batch(pace.weight(time_left())) {
        let (begun_ns, begun) = (now_ns(), Instant::now());
        let read = reading::read(
            &run,
            tree.inventory,
            Some(&batch.files),
            &header.algorithms,
            false,
            "not verified",
        )?;
        scrub.judge(&batch, &read.rows, begun_ns, &mut |finding| {
            let why = finding.file.and_then(|file| read.failure(file)).map(reading::why);
            damaged += u64::from(finding.verdict == Verdict::Corrupted);
            findings.give(finding, why.as_deref());
        })?;
        findings.flush();
        drop(read.rows);
        run.release_rows(batch.files.len() as u64, &header.algorithms);
        pace.note(batch.weight(), begun.elapsed());
        bytes += read.done.bytes;
        is_saved = is_read_only || saved.elapsed() >= SAVE_EVERY;
        if is_saved && !is_read_only {
            stored = rewrite.replace(header, |writer| scrub.write(writer));
            saved = Instant::now();
        }
        let is_over = time_left().is_some_and(|left| left.is_zero()) && scrub.has_advanced();
        if is_over || stored.is_err() {
            break;
        }
    }
    run.course.iter().for_each(Course::finish);
    if !is_saved {
        stored = rewrite.replace(header, |writer| scrub.write(writer));
    }

    let (now_ns, lost) = (now_ns(), scrub.lost.len() as u64);
    let scrubbed = scrub.scrubbed(now_ns);
    if globals.json {
        scrub
            .shift
            .iter()
            .for_each(|shift| findings.object(|out| shift::push_json(out, manner.member, shift)));
        findings.object(|out| push_json(out, &scrubbed, &scrub.left, lost, &scan.rules));
    }
    findings.finish()?;
    record(&scrubbed, &scrub.left, damaged, &console.stats);
    let outcome =
        say(&scrubbed, &scrub.left, damaged, &scrub.edited, args.corrupted.outcome(), now_ns, console);
    if scrub.unchecked > 0 {
        let files = human::count(scrub.unchecked, "file");
        console.summary(format_args!("the content of {files} is not compared, as the recorded rules say"));
    }
    let records = [("the manifest", header)];
    say_unselected(selected.as_ref(), scrub.unselected, Some(scan.skipped), &records, console);
    let what = format!("{} verified", human::count(scrubbed.verified, "file"));
    run.say_done(&what, bytes, &header.algorithms);
    if is_read_only {
        console.summary(format_args!(
            "{} is not written (--other-root): to adopt this ROOT, run `ftk manifest update --other-root`",
            name()
        ));
    }
    stored?;
    Ok(scan.outcome.max(outcome))
}
