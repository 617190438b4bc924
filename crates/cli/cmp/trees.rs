//! Two trees.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use ftk_compare::is_trusted;
use ftk_compare::trees::{Done, PairTable, Report, TreeCriteria, TreeResources, Trees, WalkedTree, What};
use ftk_inventory::Budget;
use ftk_process::Progress;
use ftk_record::quote;
use ftk_sched::Stop;
use ftk_select::Skipped;
use ftk_walk::Follow;
use indicatif::{DecimalBytes, HumanCount};

use crate::args::Globals;
use crate::cmp::CmpArgs;
use crate::cmp::difference::{KINDS, Manner, kind};
use crate::cmp::pair::memory;
use crate::console::Console;
use crate::engine::{Engine, say_sample, why};
use crate::failed::say_failure;
use crate::human;
use crate::list::cannot_write;
use crate::outcome::Outcome;
use crate::scan::{Scan, TOO_LARGE, none_of, scan, walker};
use crate::stats::{Phase, nanos};
use crate::stdout::{Lines, Stdout};

pub(super) fn run(args: &CmpArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let engine = Engine::new(globals, console)?;
    let own: Vec<_> = Stdout::identity().into_iter().collect();
    // A wrong pattern is refused before anything is read.
    let selection = args.selection.compile(&own, console)?;
    if !args.no_shortcuts && is_one_directory(&args.a, &args.b) {
        console.summary("equal: both are the same directory");
        return Ok(Outcome::Success);
    }
    let start = Instant::now();
    let names = [&args.a, &args.b].map(|path| path.as_bytes());
    let budget = Budget::new(globals.memory());
    let criteria = TreeCriteria {
        metadata: args.trees.metadata,
        quick: args.trees.quick,
        no_shortcuts: args.no_shortcuts,
    };
    let list = |path: &[u8]| {
        let root = CString::new(path).expect("what was looked at is a path");
        let walker = walker(vec![root], args.selection.follow(Follow::Roots), globals);
        scan(walker, &selection, criteria.keep(), &budget, console)
    };
    let (mut a, mut b) = (list(names[0])?, list(names[1])?);
    refuse_nothing(a.skipped, b.skipped)?;
    let outcome = a.outcome.max(b.outcome).max(refuse_uneven(&mut a, &mut b, names, console));
    let trees = Trees {
        a: WalkedTree { inventory: &a.inventory, root: names[0], failed: &a.failed },
        b: WalkedTree { inventory: &b.inventory, root: names[1], failed: &b.failed },
        criteria,
    };
    let mut plan = trees.plan(&budget).context(TOO_LARGE)?;
    let (stop, done) = (Stop::new(), Done::default());
    let ftk_process::Resources { model, limits, .. } = engine.env(&stop, None);
    let env = TreeResources { model, limits, memory: memory(globals), stop: &stop, done: &done };
    compare(&trees, &mut plan, &env, console);
    // `-rq` lists what differs, as diff does.
    let lists = !globals.quiet || (args.recursive && !args.silent);
    let tally = tell(&trees, &plan, lists, globals, console)?;
    tally.say(&plan, &done, start.elapsed(), names, console);
    Ok(outcome.max(tally.outcome()))
}

/// Paths at which only one tree has a directory that was entered elsewhere: what lies below was not compared. Where both
/// trees have the same one again, it was.
fn refuse_uneven(a: &mut Scan, b: &mut Scan, names: [&[u8]; 2], console: &Console) -> Outcome {
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
            console.path_error("compare", &path, format_args!("{} is the same directory", quote(&first)));
            scan.failed.push(path);
            outcome = Outcome::Error;
        }
    }
    outcome
}

/// Refuses a comparison of which the filters left nothing: no difference would be found in anything.
fn refuse_nothing(mut both: Skipped, b: Skipped) -> anyhow::Result<()> {
    both += b;
    match none_of(both) {
        Some(none) if both.matched == 0 => bail!("nothing was compared: {none}"),
        _ => Ok(()),
    }
}

/// Prints the differences, and says which files could not be compared.
fn tell(
    trees: &Trees<'_>,
    plan: &PairTable,
    lists: bool,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Tally> {
    let roots = [trees.a.root, trees.b.root];
    let stdout = Stdout::default();
    let mut lines = Lines::new(&stdout);
    let manner = Manner::new(globals.json, roots);
    let mut tally = Tally::default();
    trees.differences(plan, |difference| match (&difference.what, kind(&difference.what)) {
        (_, Some(kind)) => {
            tally.counts[kind] += 1;
            if lists {
                lines.line(|out| manner.push(out, kind, &difference));
            }
        }
        (What::Failed(side, failure), _) => {
            tally.failed += 1;
            let path = whole(roots[*side as usize], difference.path);
            say_failure(&path, failure, "not compared", console);
        }
        _ => tally.pending += 1,
    });
    lines.flush();
    stdout.finish().with_context(|| cannot_write(None))?;
    ensure!(tally.pending == 0, "internal error: {} pairs of files were not compared", tally.pending);
    Ok(tally)
}

/// Whether both arguments are one directory, on a file system where equal inode numbers say so.
fn is_one_directory(a: &OsStr, b: &OsStr) -> bool {
    let open = |path: &OsStr| {
        let directory = File::open(path).ok()?;
        let metadata = directory.metadata().ok()?;
        Some((metadata.dev(), metadata.ino(), is_trusted(&directory)))
    };
    matches!((open(a), open(b)), (Some(a), Some(b)) if a == b && a.2)
}

/// Fewer pairs are compared without a thread that counts them.
const MANY: u64 = 4096;

/// Compares the files that have to be read, and says on which grounds it was done how.
fn compare(trees: &Trees<'_>, plan: &mut PairTable, env: &TreeResources<'_>, console: &Console) {
    let start = Instant::now();
    let so_far = || Progress { files: env.done.pairs(), bytes: env.done.bytes(), ..Progress::default() };
    let report = console
        .progress
        .counted("compare", plan.pairs(), plan.pairs() < MANY, &so_far, || trees.compare(plan, env));
    console.stats.phase(Phase {
        phase: "compare",
        elapsed_ns: nanos(start.elapsed()),
        files: Some(2 * plan.pairs()),
        failed: Some(plan.failed()),
        bytes: Some(env.done.bytes()),
        ..Phase::default()
    });
    let Report { sample, choice, took_nanos, large } = report;
    if sample.files == 0 {
        return;
    }
    say_sample(&sample, console);
    console.verbose(|| match choice {
        Some(choice) => format!(
            "plan    {}: {}; predicted {}, took {}",
            human::count(choice.workers as u64, "worker"),
            why(choice.reason),
            human::time(Duration::from_nanos(choice.forecast_nanos)),
            human::time(Duration::from_nanos(took_nanos)),
        ),
        None => "plan    the sample was all there was".into(),
    });
    if large > 0 {
        console.verbose(|| {
            format!("large   {} came last, each compared by all workers", human::count(large, "pair"))
        });
    }
}

/// The path below a starting point, as the walk has it.
fn whole(root: &[u8], path: &[u8]) -> Vec<u8> {
    let slash = if path.is_empty() || root.ends_with(b"/") { &b""[..] } else { b"/" };
    [root, slash, path].concat()
}

/// How many differences there are of each kind, and what was not compared.
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

    /// The lines that close a run.
    fn say(&self, plan: &PairTable, done: &Done, took: Duration, names: [&[u8]; 2], console: &Console) {
        let [only_a, only_b] = names.map(|name| format!("only in {}", quote(name)));
        let words = [&only_a, &only_b, "type", "size", "content", "target", "device", "metadata"];
        let counts = self.counts.iter().zip(words).filter(|(n, _)| **n > 0);
        let counts: Vec<_> = counts.map(|(n, word)| format!("{} {word}", HumanCount(*n))).collect();
        let differences = if counts.is_empty() { "no differences".into() } else { counts.join(", ") };
        let bytes = done.bytes();
        let rate = bytes as f64 / took.as_secs_f64().max(1e-9);
        console.summary(format_args!(
            "{differences}; {} of files compared, {} in {} ({}/s)",
            human::count(plan.read(), "pair"),
            DecimalBytes(bytes),
            human::time(took),
            DecimalBytes(rate as u64),
        ));
        if self.failed > 0 {
            let failed = human::count(self.failed, "pair");
            console.summary(format_args!("{failed} of files not compared (listed above; status 2)"));
        }
    }
}
