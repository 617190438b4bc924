//! `ftk manifest verify [ROOT] FILE`: checks every entry of a tree against a manifest.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_inventory::Keep;
use ftk_manifest::{
    Criteria, Field, Finding, Header, Mode, Sample, Summary, Verdict, VerifyPlan, WalkedTree, diff,
};
use ftk_parity::{Batch, Condition};
use ftk_process::Progress;
use ftk_record::{quote, shell_word, write_record};
use ftk_walk::FileType;

use crate::console::{Console, Outcome, cause};
use crate::globals::Globals;
use crate::human;
use crate::list::List;
use crate::manifest::archive::Archive;
use crate::manifest::corrupted::{CorruptedArgs, StatusArg};
use crate::manifest::create::{join, say_no_xattrs};
use crate::manifest::guard::refuse_swapped;
use crate::manifest::input::{Input, in_either};
use crate::manifest::parity;
use crate::manifest::part::{Part, PartArgs, say_unselected};
use crate::manifest::place::{narrow, narrow_archive, refuse_part};
use crate::manifest::reading;
use crate::manifest::record::{Findings, Manner, Uncompared, say_counts};
use crate::manifest::root::Root;
use crate::manifest::rules::RulesArgs;
use crate::manifest::scope::ScopeArgs;
use crate::manifest::shard::ShardArgs;
use crate::manifest::shift::TREE;
use crate::number::share;
use crate::run::Run;
use crate::stdout::Stdout;

/// Check a tree against its manifest
///
/// Prints a line for each entry that differs from the manifest, sorted by path:
///
///   corrupted   content changed, but size and mtime did not: damage, no edit
///   modified    content changed, and so did size, mtime or type
///   metadata    only permissions, owner, mtime or other metadata changed
///   respelled   only the Unicode normal form of the name changed
///   moved       missing at this path; its content was found at a new path
///   missing     in the manifest, but not in the tree
///   new         in the tree, but not in the manifest
///   unreadable  could not be read, or changed while being read
///   unknown     the manifest could not record this path or a directory
///               above it, so nothing shows what happened to it
///   shifted     the times of most files changed alike: a copy has rounded
///               them, or daylight saving time has shifted them on FAT;
///               this line stands for all of them
///   unlinked    none of the recorded hard links are left, as after a copy
///               without them; this line stands for all of them
///
/// verify uses the selection options and rules that are stored in the manifest,
/// and says so in the summary. -E and --path select less. If ROOT is below the
/// recorded root, its part of the record is verified, and the first line of the
/// summary says so. The manifest itself is skipped. Files named in the manifest
/// are opened only if the walk of ROOT finds them. With the manifest of one
/// shard, or with --shard, only the entries of this shard are checked.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
#[command(override_usage = "ftk manifest verify [OPTIONS] [ROOT] <FILE>")]
pub(super) struct VerifyArgs {
    // clap's `allow_missing_positional` would take ROOT for FILE if an option follows it. Its message about a
    // missing FILE would name ROOT, too.
    /// The directory to check; a symbolic link is followed
    ///
    /// Without ROOT, the directory is the one whose absolute path FILE records, and another directory at this path is
    /// refused. The first line of the summary names it.
    #[arg(value_name = "ROOT")]
    root: Option<OsString>,

    /// The manifest, that of one shard, or a directory with the parts of all shards; `-`: standard input
    #[arg(value_name = "FILE")]
    manifest: Option<OsString>,

    /// Check a parity file instead, without the tree
    ///
    /// Reads all of it. Status 1 if anything in it is damaged; 2 if so much is that it is of no use.
    #[arg(long, value_name = "PARITY", conflicts_with_all = NO_PARITY)]
    parity: Option<OsString>,

    /// Check a tar archive instead of ROOT, or `-`
    ///
    /// The archive is read once and not extracted, as by `create --tar`. What it does not store is not compared:
    /// fractions of a second in most formats, and attributes if no member has any. Recorded options that select by name
    /// and place hold for its members.
    #[arg(long, value_name = "ARCHIVE", conflicts_with_all = ["shard", "plan", "sample", "all", "parity"])]
    tar: Option<OsString>,

    #[command(flatten)]
    shard: ShardArgs,

    /// ROOT is a copy of the recorded directory PATH
    ///
    /// PATH is below the recorded root. Only its part of the record is verified, and recorded options keep their
    /// meaning. A ROOT that is below the recorded root is recognised without this option. With --tar, PATH may also be
    /// a directory of the archive that the record lacks: then its members are compared.
    #[arg(long, value_name = "PATH")]
    below: Option<OsString>,

    #[command(flatten)]
    part: PartArgs,

    #[command(flatten)]
    rules: RulesArgs,

    /// Read only a part of the files, such as 5%
    ///
    /// Each run reads other files. The metadata of all entries is compared.
    #[arg(long, value_name = "P%", value_parser = share, help_heading = "Comparison")]
    sample: Option<Sample>,

    /// Stop after the first entry that differs
    #[arg(long, conflicts_with = "status_corrupted", help_heading = "Output")]
    exit_on_first: bool,

    /// Also print entries that are as recorded
    #[arg(long, conflicts_with = "status", help_heading = "Output")]
    all: bool,

    #[command(flatten)]
    pub(super) status: StatusArg,

    #[command(flatten)]
    corrupted: CorruptedArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: all as recorded; 1: differences found; 2: any error

Examples:
  ftk manifest verify archive.jsonl
                        the tree whose path archive.jsonl records
  ftk manifest verify /archive archive.jsonl
  ftk manifest verify --ignore mtime,owner /mnt/copy archive.jsonl
                        a copy that belongs to another user
  ftk manifest verify /etc/ssl etc.jsonl
                        a part of the recorded tree /etc
  ftk manifest verify -E tmp -E '*.bak' /archive archive.jsonl
                        neither these nor what is below them
  dd if=/dev/nst0 bs=1M | ftk manifest verify --tar - archive.jsonl
                        a tape, without extracting it
  ftk manifest verify --sample 5% /archive archive.jsonl
                        a part of the files, other ones every night
  ftk manifest verify --mode metadata --exit-on-first --status / root.jsonl
                        quick; only set the exit status
  xzcat /mnt/root.jsonl.xz | ftk manifest verify / -
                        a manifest from standard input";

impl VerifyArgs {
    /// Returns what is compared with the manifest `file`.
    ///
    /// # Errors
    /// If it lacks what is to be compared.
    fn criteria(
        &self,
        part: Option<&Part>,
        header: &Header,
        below: Option<&[u8]>,
        file: &OsStr,
    ) -> anyhow::Result<Criteria> {
        let criteria = Criteria {
            mode: self.rules.mode.into(),
            ignore: self.rules.ignored(),
            sample: self.sample.clone(),
            normalize_names: self.rules.normalize_names,
            part: part.map(Part::selector),
            checks: header.checks().with_context(|| quote(file.as_bytes()))?.starting_at(below),
        };
        ensure!(
            criteria.mode != Mode::Content || !header.algorithms.is_empty(),
            "{} records no digests, so content cannot be compared: use --mode metadata",
            quote(file.as_bytes())
        );
        self.corrupted.check(&criteria, &[&header.algorithms])?;
        Ok(criteria)
    }

    /// Returns how findings are printed.
    fn manner(&self, json: bool) -> Manner {
        Manner {
            member: "verdict",
            word: Verdict::name,
            json,
            all: self.all,
            has_sizes: false,
            is_silent: self.status.status,
        }
    }

    /// Returns ROOT, if it is given, and FILE.
    fn paths(&self) -> (Option<&OsStr>, &OsStr) {
        match (self.root.as_deref(), self.manifest.as_deref()) {
            (root, Some(file)) => (root, file),
            (file, None) => (None, file.unwrap_or_default()),
        }
    }
}

/// The arguments that are about a tree.
const NO_PARITY: [&str; 13] = [
    "root",
    "manifest",
    "shard",
    "plan",
    "exclude",
    "path",
    "mode",
    "normalize_names",
    "ignore",
    "sample",
    "exit_on_first",
    "all",
    "status",
];

/// Checks a parity file.
fn verify_parity(path: &OsStr, globals: &Globals) -> anyhow::Result<Outcome> {
    let name = || quote(path.as_bytes());
    let parity = parity::open(path, globals.memory())?;
    let Condition { heads, pages, blocks, worst } = parity.verify().with_context(name)?;
    let contents = parity.contents().len() as u64;
    let recovery: u64 = parity.batches().iter().map(Batch::recovery_blocks).sum();
    let mut line = Vec::new();
    if globals.json {
        write_record(&mut line, |record| {
            record.path("path", path.as_bytes()).member("contents", contents);
            record.member("recovery_blocks", recovery).member("damaged_heads", heads);
            record.member("damaged_pages", pages).member("damaged_blocks", blocks);
            record.member("damaged_blocks_of_a_group", worst);
        });
    } else {
        let has =
            format!("{}, {}", human::count(contents, "content"), human::count(recovery, "recovery block"));
        let state = match heads + pages + blocks {
            0 => "undamaged".to_owned(),
            _ => format!(
                "damaged: {}, {}, {} ({worst} in one group): write a new one",
                human::count(heads, "head"),
                human::count(pages, "page"),
                human::count(blocks, "recovery block"),
            ),
        };
        line.extend(format!("{}: {has}; {state}\n", human::shown(path.as_bytes())).bytes());
    }
    let stdout = Stdout::default();
    stdout.write(&line);
    stdout.finish()?;
    Ok(if heads + pages + blocks == 0 { Outcome::Success } else { Outcome::Negative })
}

pub(super) fn run(args: &VerifyArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    if let Some(parity) = &args.parity {
        return verify_parity(parity, globals);
    }
    ensure!(args.root.is_some(), "missing: <FILE>; see `ftk manifest verify -h`");
    ensure!(
        args.below.is_none() || args.manifest.is_some() || args.tar.is_some(),
        "--below says what ROOT is: give ROOT and FILE"
    );
    let (given, file) = args.paths();
    if let Some(tar) = &args.tar {
        ensure!(given.is_none(), "--tar checks an archive: the only other argument is the manifest");
        return verify_archive(args, tar, file, globals, console);
    }
    if let Some(given) = given {
        refuse_swapped(given, file)?;
    }
    let run = Run::new(globals, console)?;
    let input = Input::open_any(file, globals, console);
    let Input { mut manifest, own } = match given {
        None if Path::new(file).is_dir() => input.context("a single argument is FILE, not ROOT")?,
        _ => input?,
    };
    console.stats.sealed(file, &manifest);
    let name = || quote(file.as_bytes());
    let root = match given {
        Some(given) => Root::open(given)?,
        None => {
            let root = Root::recorded(manifest.header()).with_context(name)?;
            console.summary(format_args!("verifying {}, the recorded root", quote(root.given().as_bytes())));
            root
        }
    };
    manifest.settle(&root.provenance());
    if let Some(asked) = args.shard.resolve(&root, &manifest.header().options, true)? {
        manifest.restrict(asked.shard).with_context(name)?;
    }
    let whole = manifest.header().root_identity.as_ref().map(|recorded| recorded.path.clone());
    let whole = whole.unwrap_or_else(|| manifest.header().root.clone());
    let below = match given {
        Some(_) => narrow(&mut manifest, &root, args.below.as_deref()).with_context(name)?,
        None => None,
    };
    let below = below.as_deref();
    if let Some(below) = below {
        console.summary(format_args!("verifying {}, a part of the recorded {}", quote(below), quote(&whole)));
    }
    let header = manifest.header();
    let part = args.part.compile(Some(root.given()), &root.identity().path, below, console)?;
    let scope = ScopeArgs::of_words(&Part::add_to(part.as_ref(), &header.options)).with_context(name)?;
    let scope = scope.based(below).with_context(name)?;
    let criteria = args.criteria(part.as_ref(), header, below, file)?;
    let stdout = Stdout::default();
    let list = List::create(None, &stdout)?;
    let own: Vec<_> = own.into_iter().chain(list.own()).collect();
    let keep = Keep::Stats { files: criteria.needs_stats() || header.algorithms.is_empty() };
    let mut scan = reading::walk_part(&run, &root, &scope, keep, &own, header.shard.as_ref())?;
    let inventory = &scan.inventory;
    let tree = WalkedTree { inventory, root: root.given().as_bytes(), failed: &scan.failed };
    if given.is_some() && below.is_none() && part.is_none() {
        refuse_part(&manifest, &root, &tree, &run.budget).with_context(name)?;
    }
    let plan = VerifyPlan::new(&manifest, &tree, &criteria, &run.budget).with_context(name)?;
    let own = part.as_ref().map(|part| part.add_rules_to(&mut scan.rules)).unwrap_or_default();
    match below {
        // The recorded ones may be for other parts.
        Some(_) => own.say_in(" in this part", console),
        None => scan.rules.say_in(reading::within(header.shard.as_ref()), console),
    }

    let manner = args.manner(globals.json);
    let mut findings = Findings::new(manner, [&header.algorithms; 2], list);
    let (mut summary, mut done, mut failed) = (Summary::default(), Progress::default(), 0);
    let (mut is_over, mut looked_below) = (false, false);
    let mut common = CommonTop::default();
    let compares_xattrs = criteria.compares(Field::Xattrs);
    let reads_xattrs = header.xattrs && compares_xattrs;
    for batch in plan.batches(args.exit_on_first) {
        let files = Some(&*batch.files);
        let read = reading::read(&run, inventory, files, &header.algorithms, reads_xattrs, "not verified")?;
        done.files += read.done.files;
        done.bytes += read.done.bytes;
        failed += read.failed.len() as u64;
        let mut unread = 0;
        let mut each = |finding: &Finding<'_>| {
            looked_below |= finding.path != b".";
            let mut why = finding.file.and_then(|file| read.failure(file)).map(reading::why);
            if let Some(error) = finding.error {
                let path = finding.new_path.unwrap_or(finding.path);
                match finding.changed {
                    [Field::Xattrs] => say_no_xattrs(tree.root, path, error, console),
                    [Field::Digests] => {
                        unread += 1;
                        console.path_error("read", &join(tree.root, path), cause(error));
                    }
                    _ => console.path_error("stat", &join(tree.root, path), cause(error)),
                }
                why = Some(cause(error));
            }
            findings.give(finding, why.as_deref());
            common.note(finding);
            is_over = args.exit_on_first && finding.verdict != Verdict::Ok;
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let begun = Instant::now();
        let found = plan.verify(&batch, &read.rows, &mut each).with_context(name)?;
        if found.growing > 0 {
            console.stats.files("hash", begun, found.growing, unread, found.growing_bytes);
            failed += unread;
            done.files += found.growing;
            done.bytes += found.growing_bytes;
        }
        summary += found;
        if is_over {
            break;
        }
    }
    ensure!(
        looked_below || part.is_none(),
        "the options select no entry below {}: nothing was verified",
        quote(root.given().as_bytes())
    );
    // A shard may have no entries.
    if !looked_below && !header.options.is_empty() && header.shard.is_none() && !is_empty(root.given()) {
        bail!(
            "{}: its recorded options exclude every entry of {}: nothing was verified",
            name(),
            quote(root.given().as_bytes())
        );
    }
    let shifted = findings.shift(summary.shift.as_ref(), TREE);
    if summary.split_links > 0 {
        findings.split_links(summary.split_links);
    }
    let unrecorded = (compares_xattrs && !header.xattrs).then_some("");
    let uncompared = Uncompared { unrecorded, hidden: summary.hidden_xattrs };
    findings.uncompared(&uncompared);
    findings.finish()?;
    let good = if is_over { "as recorded, up to the first difference" } else { "as recorded" };
    // A new file that could not be read keeps the verdict `new`, but it is an error too.
    let read = if failed > 0 { Outcome::Error } else { Outcome::Success };
    let outcome = scan.outcome.max(read).max(shifted);
    let outcome = say_counts(&summary, good, Verdict::name, outcome, &args.corrupted, console);
    uncompared.say(console);
    // Only `import` and `create --tar` make a manifest without the identity of its root.
    let is_imported = header.root_identity.is_none() && below.is_none();
    if let Some(top) = common.if_others().filter(|_| is_imported && part.is_none()) {
        let glob = shell_word(&[top, b"/*"].concat());
        let top = quote(top);
        console.summary(format_args!("all recorded paths are below {top}: --path {glob} looks only there"));
    }
    let records = [("the manifest", header)];
    say_unselected(part.as_ref(), summary.unselected, Some(scan.skipped), &records, console);
    reading::say_done(&run, summary.total(), done, failed, None, &header.algorithms);
    Ok(outcome)
}

/// Compares the members of the archive `tar` with the manifest `file`.
fn verify_archive(
    args: &VerifyArgs,
    tar: &OsStr,
    file: &OsStr,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    ensure!(tar != "-" || file != "-", "standard input cannot be both the archive and the manifest");
    let run = Run::new(globals, console)?;
    let mut manifest = Input::open(file, globals, console)?.manifest;
    console.stats.sealed(file, &manifest);
    let part = args.part.compile(None, &manifest.header().root, None, console)?;
    ensure!(
        args.below.is_none() || part.is_none(),
        "--below cannot be used with -E, --path and --where here"
    );
    let mut criteria = args.criteria(part.as_ref(), manifest.header(), None, file)?;
    // The archive was read whole: what a file was when it was recorded is not known of one that has grown.
    criteria.checks = criteria.checks.without_growth();
    let stdout = Stdout::default();
    let list = List::create(None, &stdout)?;
    let algorithms = match criteria.compares(Field::Digests) {
        true => manifest.header().algorithms.clone(),
        false => Vec::new(),
    };
    let mut archive = Archive::read(tar, &algorithms, &run)?;
    let recorded = manifest.header();
    archive
        .select(&recorded.options, &recorded.root, &criteria.checks, console)
        .with_context(|| quote(file.as_bytes()))?;
    let (done, read, has_xattrs) = (archive.done(), archive.outcome, archive.has_xattrs());
    let mut members = archive.into_manifest()?;
    if let Some(below) = &args.below {
        narrow_archive([&mut manifest, &mut members], below)?;
    }
    let header = manifest.header();
    let manner = args.manner(globals.json);
    let mut findings = Findings::new(manner, [&header.algorithms, &members.header().algorithms], list);
    let (mut is_over, mut has_looked, mut common) = (false, false, CommonTop::default());
    let summary = diff(&manifest, &members, &criteria, &run.budget, &mut |finding: &Finding<'_>| {
        has_looked = true;
        common.note(finding);
        findings.give(finding, None);
        is_over = args.exit_on_first && finding.verdict != Verdict::Ok;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let summary = summary.map_err(|error| in_either(error, [file, tar]))?;
    ensure!(
        has_looked || summary.total() > 0,
        "-E and --path select no entry of {}: nothing was verified",
        quote(tar.as_bytes())
    );
    let shifted = findings.shift(summary.shift.as_ref(), ["recorded times", "times of the archive"]);
    if summary.split_links > 0 {
        findings.split_links(summary.split_links);
    }
    let unrecorded = (criteria.compares(Field::Xattrs) && !has_xattrs).then_some(" in the archive");
    let uncompared = Uncompared { unrecorded, hidden: summary.hidden_xattrs };
    findings.uncompared(&uncompared);
    findings.finish()?;
    let good = if is_over { "as recorded, up to the first difference" } else { "as recorded" };
    let outcome = say_counts(&summary, good, Verdict::name, read.max(shifted), &args.corrupted, console);
    uncompared.say(console);
    // Besides the root, they have no path in common.
    let kinds = [Verdict::Ok, Verdict::Metadata, Verdict::Modified, Verdict::Corrupted];
    if kinds.into_iter().map(|it| summary.count(it)).sum::<u64>() <= 1
        && let Some((whose, top)) = common.of_one_side()
    {
        let (shown, word) = (quote(top), shell_word(top));
        console.summary(format_args!("all paths of {whose} are below {shown}: add --below {word}"));
    }
    say_unselected(part.as_ref(), summary.unselected, None, &[("the manifest", header)], console);
    if let Some(part) = &part {
        part.rules().say(console);
    }
    reading::say_done(&run, summary.total(), done, 0, None, &algorithms);
    Ok(outcome)
}

/// The first name of all recorded paths, if it is the same, and whether there are new entries elsewhere.
#[derive(Debug, Default)]
struct CommonTop {
    recorded: Option<Vec<u8>>,
    /// Whether recorded paths begin with several names, or are outside directories.
    is_spread: bool,
    /// A first name of new paths, and whether there are others.
    new: Option<(Vec<u8>, bool)>,
}

impl CommonTop {
    fn note(&mut self, finding: &Finding<'_>) {
        let end = finding.path.iter().position(|byte| *byte == b'/');
        let top = &finding.path[..end.unwrap_or(finding.path.len())];
        match (&mut self.recorded, &mut self.new) {
            _ if finding.path == b"." => {}
            (_, None) if finding.old.is_none() => self.new = Some((top.to_vec(), false)),
            (_, Some((new, others))) if finding.old.is_none() => *others |= new != top,
            _ if end.is_none() && finding.file_type != FileType::Directory => self.is_spread = true,
            (None, _) => self.recorded = Some(top.to_vec()),
            (Some(recorded), _) => self.is_spread |= recorded != top,
        }
    }

    /// Returns the side, the common first name of its paths, if the other side has none with it.
    fn of_one_side(&self) -> Option<(&str, &[u8])> {
        let (new, others) = self.new.as_ref()?;
        match &self.recorded {
            Some(recorded) if !self.is_spread && (*others || new != recorded) => {
                Some(("the manifest", recorded))
            }
            _ if !others => Some(("the archive", new)),
            _ => None,
        }
    }

    /// Returns the common first name if there are new entries outside this directory.
    fn if_others(&self) -> Option<&[u8]> {
        let recorded = self.recorded.as_deref().filter(|_| !self.is_spread)?;
        let (new, others) = self.new.as_ref()?;
        (*others || new != recorded).then_some(recorded)
    }
}

/// Whether a directory has no entries.
fn is_empty(root: &OsStr) -> bool {
    fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_none())
}
