//! Compares two trees.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use ftk_compare::Side;
use ftk_compare::trees::{EqualTimes, PairTable, TreeCriteria, Trees, WalkedTree, What};
use ftk_file::{TimeAgreement, is_trusted};
use ftk_record::{quote, write_record};
use ftk_sched::{self as sched, Counters, RunPlan};
use ftk_select::{Roots, Skipped};
use ftk_walk::Follow;
use indicatif::HumanCount;

use crate::agreement;
use crate::cmp::difference::{KINDS, Manner, NAME, kind, lists_path};
use crate::cmp::pair::memory;
use crate::cmp::scope::Scope;
use crate::cmp::{CmpArgs, TreeFormat};
use crate::console::{Console, Outcome, say_failure};
use crate::globals::Globals;
use crate::human::{self, describe_respelled};
use crate::progress::WorkCounters;
use crate::run::Run;
use crate::scan::{Scan, TOO_LARGE, none_of};
use crate::stdout::{Lines, Stdout};

pub(super) fn run(args: &CmpArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let run = Run::new(globals, console)?;
    let own: Vec<_> = Stdout::identity().into_iter().collect();
    // Compiled first, so that a bad pattern is refused before anything is read.
    let roots = [&args.a, &args.b]
        .map(|path| CString::new(path.as_bytes()).expect("a path without NUL, since it was opened"));
    let selection = args.selection.compile(&Roots::new(&roots).shared(), &own, console)?;
    // A walk shows whether filters match anything.
    let is_filtered = args.selection.filter().is_some();
    if !args.no_shortcuts && !is_filtered && is_one_directory(&args.a, &args.b) {
        console.summary("equal: both are the same directory");
        if globals.json && !args.status {
            Stdout::print(b"{\"equal\":true,\"differences\":0,\"same_directory\":true}\n")?;
        }
        return Ok(Outcome::Success);
    }
    let names = [&args.a, &args.b].map(|path| path.as_bytes());
    let criteria = TreeCriteria {
        metadata: args.trees.compares_metadata(),
        ignored: args.trees.ignored(),
        quick: args.trees.quick,
        no_shortcuts: args.no_shortcuts,
        normalize_names: args.trees.normalize_names,
        all_of_a: args.trees.format.is_some(),
        sums: globals.json,
        times: args.trees.modify_window.flatten().map_or(EqualTimes::Same, EqualTimes::Within),
    };
    ensure!(!(globals.json && args.trees.format.is_some()), "--json cannot be used with --format");
    ensure!(
        args.trees.modify_window.is_none() || criteria.metadata || criteria.quick,
        "--modify-window needs --quick or --metadata, which compare times"
    );
    ensure!(
        !(criteria.ignored.mtime && (criteria.quick || args.trees.modify_window.is_some())),
        "--ignore mtime cannot be used with --quick or --modify-window, which compare times"
    );
    let list = |root: &CString| {
        run.walk(vec![root.clone()], args.selection.follow(Follow::Roots), &selection, criteria.keep(), "")
    };
    let (mut a, mut b) = (list(&roots[0])?, list(&roots[1])?);
    a.rules.merge(&b.rules);
    a.rules.say(console);
    let mut skipped = a.skipped;
    skipped += b.skipped;
    refuse_empty(skipped)?;
    let outcome = a.outcome.max(b.outcome).max(report_repeated(&mut a, &mut b, names, console));
    let mut trees = Trees {
        a: WalkedTree { inventory: &a.inventory, root: names[0], failed: &a.failed },
        b: WalkedTree { inventory: &b.inventory, root: names[1], failed: &b.failed },
        criteria,
    };
    let agreement = match args.trees.modify_window {
        Some(None) => trees.agreement(&run.budget).context(TOO_LARGE)?,
        _ => None,
    };
    if let Some((agreement, _)) = agreement {
        trees.criteria.times = EqualTimes::Agreeing(agreement);
    }
    let mut pairs = trees.plan(&run.budget).context(TOO_LARGE)?;
    let counters = Counters::default();
    compare(&trees, &mut pairs, &counters, &run);
    let manner = match args.trees.format {
        Some(TreeFormat::Paths) => Manner::Paths { end: if args.trees.null { 0 } else { b'\n' } },
        None => Manner::new(globals.json, names),
    };
    let scope = Scope::new(&criteria, pairs.by_type(), skipped, args.selection.max_depth());
    let stdout = Stdout::default();
    let mut output = Lines::new(&stdout);
    let lists = !args.status;
    let is_json = lists && globals.json;
    let tally = print_differences(&trees, &pairs, agreement, lists.then_some(manner), &mut output, console)?;
    let outcome = outcome.max(tally.outcome());
    if is_json {
        output.line(|out| tally.push(&pairs, &scope, outcome, out));
    }
    output.finish()?;
    tally.print(&pairs, counters.sum().bytes, names, outcome, &run);
    console.summary(scope.text());
    Ok(outcome)
}

/// Reports directories that only one tree reaches by two paths. A walk enters a directory once, so its
/// entries were compared under the first path only. If both trees repeat a directory at the same two paths,
/// this one comparison is enough, and nothing is reported.
fn report_repeated(a: &mut Scan, b: &mut Scan, names: [&[u8]; 2], console: &Console) -> Outcome {
    let relative = |scan: &Scan, root: &[u8]| -> BTreeSet<[Vec<u8>; 2]> {
        let below = |path: &Vec<u8>| {
            let below = &path[root.len()..];
            below.strip_prefix(b"/").unwrap_or(below).to_vec()
        };
        scan.repeated.iter().map(|paths| [below(&paths[0]), below(&paths[1])]).collect()
    };
    let (in_a, in_b) = (relative(a, names[0]), relative(b, names[1]));
    let mut outcome = Outcome::Success;
    for (scan, root, here, there) in [(a, names[0], &in_a, &in_b), (b, names[1], &in_b, &in_a)] {
        for [path, first] in here.difference(there) {
            let (path, first) = (whole(root, path), whole(root, first));
            console.path_error(
                "compare",
                &path,
                format_args!("it is the same directory as {}", quote(&first)),
            );
            scan.failed.push(path);
            outcome = Outcome::Error;
        }
    }
    outcome
}

/// Refuses a comparison if the filters match nothing: it would find no differences and look like a success.
fn refuse_empty(skipped: Skipped) -> anyhow::Result<()> {
    match none_of(skipped) {
        Some(none) if skipped.matched == 0 => bail!("nothing was compared: {none}"),
        _ => Ok(()),
    }
}

/// Prints the differences, and reports the files that could not be compared.
fn print_differences(
    trees: &Trees<'_>,
    pairs: &PairTable,
    agreement: Option<(TimeAgreement, u64)>,
    manner: Option<Manner>,
    output: &mut Lines<'_>,
    console: &Console,
) -> anyhow::Result<Tally> {
    let roots = [trees.a.root, trees.b.root];
    let (mut tally, mut last) = (Tally::default(), Vec::new());
    trees.differences(pairs, |difference| match (&difference.what, kind(&difference.what)) {
        (_, Some(kind)) => {
            tally.counts[kind] += 1;
            let Some(manner) = &manner else { return };
            if matches!(manner, Manner::Paths { .. }) {
                // A path with several differences is printed once, and the starting point never.
                if !lists_path(kind) || difference.path == last {
                    return;
                }
                last.clear();
                last.extend_from_slice(difference.path);
            }
            output.line(|out| manner.push(out, kind, &difference));
        }
        (What::Failed(side, failure), _) => {
            tally.failed += 1;
            let path = match side {
                Side::A => difference.path,
                Side::B => difference.path_b.unwrap_or(difference.path),
            };
            let path = whole(roots[*side as usize], path);
            say_failure(&path, failure, "not compared", console);
        }
        _ => tally.pending += 1,
    });
    if let Some((agreement, files)) = agreement {
        if matches!(manner, Some(Manner::Json)) {
            let members = agreement::members(&agreement, ["a", "b"]);
            let line = format!("{{\"times_agree\":true,\"files\":{files},{members}}}\n");
            output.line(|out| out.extend_from_slice(line.as_bytes()));
        }
        console.summary(agreement::describe(&agreement, files, ["times of A", "times of B"]));
    }
    ensure!(tally.pending == 0, "internal error: {} pairs of files were not compared", tally.pending);
    Ok(tally)
}

/// Whether both arguments are the same directory. Only trusted on file systems whose inode numbers are
/// reliable.
fn is_one_directory(a: &OsStr, b: &OsStr) -> bool {
    let open = |path: &OsStr| {
        let directory = File::open(path).ok()?;
        let metadata = directory.metadata().ok()?;
        Some((metadata.dev(), metadata.ino(), is_trusted(&directory)))
    };
    matches!((open(a), open(b)), (Some(a), Some(b)) if a == b && a.2)
}

/// Comparisons of fewer pairs run without a progress thread.
const MANY: u64 = 4096;

/// Compares the files that have to be read, and prints the plan for `-v`.
fn compare(trees: &Trees<'_>, pairs: &mut PairTable, counters: &Counters, run: &Run<'_>) {
    let Run { model, stop, console, limits, .. } = run;
    let team = sched::Run { model, limits: *limits, stop, counters };
    let start = Instant::now();
    let (n, work) = (pairs.pairs(), || trees.compare(pairs, memory(run.globals), &team));
    let plan = console.progress.counted("compare", n, n < MANY, WorkCounters::Team(counters), work);
    console.stats.files("compare", start, 2 * pairs.pairs(), pairs.failed(), counters.sum().bytes);
    let RunPlan { sample, choice, took_nanos, large, .. } = plan;
    if sample.files == 0 {
        return;
    }
    run.say_plan(&sample, choice, took_nanos, None);
    if large > 0 {
        console.verbose(|| {
            format!("large   {} compared last, each by all workers", human::count(large as u64, "pair"))
        });
    }
}

/// Joins a starting point and a path below it, as the walk does.
fn whole(root: &[u8], path: &[u8]) -> Vec<u8> {
    let slash = if path.is_empty() || root.ends_with(b"/") { &b""[..] } else { b"/" };
    [root, slash, path].concat()
}

/// Counts of differences by kind, and of pairs that were not compared.
#[derive(Debug, Default)]
struct Tally {
    counts: [u64; KINDS.len()],
    failed: u64,
    pending: u64,
}

impl Tally {
    fn outcome(&self) -> Outcome {
        if self.failed > 0 {
            Outcome::Error
        } else if self.counts.iter().any(|n| *n > 0) {
            Outcome::Negative
        } else {
            Outcome::Success
        }
    }

    /// Appends the last object of the JSON output. Without a difference, and with something that was not compared, it
    /// is not known whether the trees are equal.
    fn push(&self, pairs: &PairTable, scope: &Scope, outcome: Outcome, out: &mut Vec<u8>) {
        let differences: u64 = self.counts.iter().sum();
        write_record(out, |record| {
            if differences > 0 || outcome == Outcome::Success {
                record.member("equal", differences == 0);
            }
            record
                .member("differences", differences)
                .member("pairs", pairs.read())
                .member("failed", self.failed);
            scope.write(record);
        });
    }

    /// Prints the summary.
    fn print(&self, pairs: &PairTable, bytes: u64, names: [&[u8]; 2], outcome: Outcome, run: &Run<'_>) {
        let [only_a, only_b] = names.map(|name| format!("only in {}", quote(name)));
        let words = [
            &only_a, &only_b, "name", "type", "size", "content", "target", "device", "metadata", "links",
            "unlinked",
        ];
        let counts = self.counts.iter().zip(words).filter(|(n, _)| **n > 0);
        let counts: Vec<_> = counts.map(|(n, word)| format!("{} {word}", HumanCount(*n))).collect();
        let differences = match (counts.is_empty(), outcome) {
            (false, _) => counts.join(", "),
            (true, Outcome::Error) => "no differences in what could be read".into(),
            (true, _) => "no differences".into(),
        };
        let (read, done) = (human::count(pairs.read(), "pair"), human::rate(bytes, run.start.elapsed()));
        run.console.summary(format_args!("{differences}; {read} of files compared, {done}"));
        if self.counts[NAME] > 0 {
            run.console.summary(format_args!("{}", describe_respelled(self.counts[NAME])));
        }
        if self.failed > 0 {
            let failed = human::count(self.failed, "pair");
            run.console.summary(format_args!("{failed} of files not compared (listed above; status 2)"));
        }
    }
}
