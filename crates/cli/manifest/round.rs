//! The summary of a scrub.

use ftk_manifest::{ForUpdate, Scrubbed};
use ftk_record::write_record;
use indicatif::HumanCount;

use crate::console::{Console, Outcome};
use crate::human::{self, shown};
use crate::rules::Rules;
use crate::stats::Stats;

/// The largest number of damaged files that the summary names because they are not listed.
const NAMED: usize = 100;

/// Prints the summary except its last line: counts, the age of the oldest verification, and what is left for an
/// update. `edited`: damaged files that were changed since. `corrupted`: the outcome of a run that found damage.
/// Returns the outcome.
pub(super) fn say(
    scrubbed: &Scrubbed,
    left: &ForUpdate,
    damaged: u64,
    edited: &[Vec<u8>],
    corrupted: Outcome,
    now_ns: i128,
    console: &Console,
) -> Outcome {
    for path in edited.iter().take(NAMED) {
        console.summary(format_args!("damaged earlier, changed since: {}", shown(path)));
    }
    let found = damaged + edited.len() as u64 + scrubbed.undecided;
    let outcome = match (scrubbed.unreadable, found) {
        (0, 0) if scrubbed.is_nothing => Outcome::Negative,
        (0, 0) => Outcome::Success,
        (0, _) => corrupted,
        _ => Outcome::Error,
    };
    let counts = [
        (damaged, "damaged file", ": see `ftk manifest repair`, or update --accept PATH"),
        (
            scrubbed.undecided,
            "file with other content",
            ", perhaps damaged: the record shows neither an edit nor damage (see update --accept PATH)",
        ),
        (edited.len() as u64, "damaged file", " changed since: see `ftk manifest update`"),
        (scrubbed.unreadable, "unreadable file", ""),
    ];
    for (n, what, hint) in counts.into_iter().filter(|(n, ..)| *n > 0) {
        console.summary(format_args!("{}{hint}   (status {})", human::count(n, what), outcome.status()));
    }
    if scrubbed.is_nothing {
        let files = human::count(scrubbed.recorded, "recorded file");
        let why = match left.changed {
            0 => "all of them are missing",
            _ => "none has its size and mtime: `ftk manifest verify` reads all of them",
        };
        console.summary(format_args!(
            "nothing was verified: {files}, and {why}   (status {})",
            outcome.status()
        ));
    }
    let age = match scrubbed.oldest_ns {
        Some(oldest_ns) => {
            let days = human::age(u128::try_from(now_ns - oldest_ns).unwrap_or_default());
            Some(format!("every file was read within {days}"))
        }
        None if scrubbed.files > 0 => {
            Some("some files have no plausible time of verification, or were never read".into())
        }
        None => None,
    };
    if let Some(age) = age {
        let except = [
            (damaged, "damaged"),
            (scrubbed.unreadable, "unreadable"),
            (left.changed + scrubbed.undecided, "changed"),
        ];
        let except = except.into_iter().filter(|(n, _)| *n > 0);
        let except: Vec<_> = except.map(|(n, what)| format!("{} {what}", HumanCount(n))).collect();
        let except =
            if except.is_empty() { String::new() } else { format!(", except {}", except.join(", ")) };
        let never = match (scrubbed.never, scrubbed.oldest_ns) {
            (0, _) => String::new(),
            (1, Some(_)) => "; 1 of them only when it was recorded".into(),
            (n, Some(_)) => format!("; {} of them only when they were recorded", HumanCount(n)),
            (1, None) => "; 1 was not read since it was recorded".into(),
            (n, None) => format!("; {} were not read since they were recorded", HumanCount(n)),
        };
        console.summary(format_args!("{age}{except}{never}"));
    }
    if let Some(round_ns) = scrubbed.round_ns {
        console.summary(format_args!("a full round takes {} at this pace", human::age(round_ns)));
    }
    let kinds = [
        (left.new, "new"),
        (left.changed, "changed"),
        (left.missing, "missing"),
        (left.respelled, "respelled"),
    ];
    let kinds: Vec<_> = kinds.into_iter().filter(|(n, _)| *n > 0).collect();
    if !kinds.is_empty() {
        let kinds: Vec<_> = kinds.iter().map(|(n, what)| format!("{} {what}", HumanCount(*n))).collect();
        console.summary(format_args!("{}: left for `ftk manifest update`", kinds.join(", ")));
    }
    outcome
}

/// Records the results for `--stats` and `--metrics`. `damaged`: the number of damaged files.
pub(super) fn record(scrubbed: &Scrubbed, left: &ForUpdate, damaged: u64, stats: &Stats) {
    for (kind, n) in [
        ("ok", scrubbed.verified),
        ("corrupted", damaged),
        ("unreadable", scrubbed.unreadable),
        ("never_read", scrubbed.never),
        ("new", left.new),
        ("changed", left.changed + scrubbed.undecided),
        ("missing", left.missing),
        ("respelled", left.respelled),
    ] {
        stats.result(kind, n);
    }
    scrubbed.oldest_ns.into_iter().for_each(|ns| stats.oldest_verified(ns));
}

/// Appends the object with the results of the run and the state of the tree. `lost`: damaged files that are missing.
pub(super) fn push_json(out: &mut Vec<u8>, scrubbed: &Scrubbed, left: &ForUpdate, lost: u64, rules: &Rules) {
    let &Scrubbed {
        verified,
        bytes,
        damaged,
        undecided,
        unreadable,
        recorded,
        files,
        never,
        oldest_ns,
        round_ns,
        ..
    } = scrubbed;
    let ForUpdate { new, changed, missing, respelled } = *left;
    let damaged = damaged + lost;
    write_record(out, |record| {
        record
            .member("verified_files", verified)
            .member("verified_bytes", bytes)
            .member("damaged_files", damaged)
            .member("undecided_files", undecided)
            .member("unreadable_files", unreadable)
            .member("recorded_files", recorded)
            .member("files", files)
            .member("never_read_files", never)
            .member("oldest_verified_ns", oldest_ns)
            .member("round_ns", round_ns)
            .member("new", new)
            .member("changed", changed)
            .member("missing", missing)
            .member("respelled", respelled);
        rules.write(record);
    });
}
