//! Scrubs at made-up times.

use std::collections::BTreeSet;
use std::io::Write as _;

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Header, Manifest, Scrub, Scrubbed, Verdict, Writer};

use crate::copied::{spaced, with_later_members};
use crate::model::{Path, header, manifest, open, read, written};
use crate::tree_digests::with_trees;
use crate::trees::Dir;

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];
const DAY: i128 = 86_400_000_000_000;
/// The day on which the manifest is made.
const START: i128 = 20_000 * DAY;

/// The result of a run.
pub(crate) struct Run {
    new: Manifest,
    bytes: Vec<u8>,
    pub(crate) scrubbed: Scrubbed,
    pub(crate) found: Vec<(Verdict, Vec<u8>)>,
}

/// Scrubs at this time until the limit of bytes is reached, in batches of one file.
pub(crate) fn scrub(dir: &Dir, old: &Manifest, now_ns: i128, bytes: Option<u64>) -> Run {
    let walked = dir.walk(true);
    let (tree, budget) = (walked.tree(), Budget::new(1 << 20));
    let mut scrub = Scrub::new(old, &tree, None, now_ns, &budget).unwrap();
    bytes.into_iter().for_each(|bytes| scrub.limit(bytes));
    let (mut found, mut planned) = (Vec::new(), scrub.planned());
    while let Some(batch) = scrub.next_batch(0) {
        assert_eq!(batch.files.len(), 1);
        planned -= 1;
        let rows = walked.read(Some(&batch.files), &old.header().algorithms);
        let each = &mut |finding: &ftk_manifest::Finding<'_>| {
            found.push((finding.verdict, finding.path.to_vec()));
        };
        scrub.judge(&batch, &rows, now_ns, each).unwrap();
    }
    assert_eq!(planned, 0);
    let mut new = Vec::new();
    let mut writer = Writer::new(old.header(), |line: &[u8]| new.write_all(line));
    scrub.write(&mut writer).unwrap();
    writer.finish().unwrap();
    Run { new: open(&new).unwrap(), bytes: new, scrubbed: scrub.scrubbed(now_ns), found }
}

fn recorded(dir: &Dir) -> Manifest {
    dir.manifest(&Header { start_ns: START, ..header(XXH3, false) })
}

/// Lines are copied, or made from the entries if they are spelled otherwise.
#[test]
fn a_scrub_copies_the_lines_that_it_would_write() {
    let dir = Dir::new();
    dir.write("a/\"quoted\"", "q");
    dir.write("a/\u{e9}", "e");
    let old = recorded(&dir);
    let mut entries = read(&old).unwrap();
    entries.get_mut(&Path::new("a/x")).unwrap().damaged_ns = Some(3);
    let damaged = entries.get_mut(&Path::new("twin")).unwrap();
    (damaged.digests[0], damaged.verified_ns) = (damaged.digests[0] ^ 1, Some(-5));
    entries.values_mut().for_each(|entry| entry.tree.clear());
    let damaged = written(old.header(), &with_trees(entries, XXH3));
    let intact = written(old.header(), &read(&old).unwrap());
    for (bytes, limit) in [(damaged, None), (intact, Some(1))] {
        let expected = scrub(&dir, &open(&spaced(&bytes, |_| true)).unwrap(), START + DAY, limit).bytes;
        let some_spaced = spaced(&bytes, |nth| nth % 2 == 0);
        let some_later = with_later_members(&bytes, |nth| nth % 3 == 0);
        for other in [bytes, some_spaced, some_later] {
            let found = scrub(&dir, &open(&other).unwrap(), START + DAY, limit).bytes;
            assert_eq!(String::from_utf8(found), String::from_utf8(expected.clone()));
        }
    }
}

/// A quarter of the bytes is read every week, so a round takes about four weeks.
#[test]
fn the_time_for_a_round_is_estimated_from_the_records() {
    let dir = Dir::new();
    (0..40).for_each(|nth| dir.write(&format!("f{nth}"), &"x".repeat(100)));
    let mut manifest = recorded(&dir);
    let total: u64 =
        read(&manifest).unwrap().values().filter(|it| it.stat.is_regular()).map(|it| it.stat.size).sum();
    for week in 1..=9 {
        let now_ns = START + week * 7 * DAY;
        let run = scrub(&dir, &manifest, now_ns, Some(total.div_ceil(4)));
        let round_days = run.scrubbed.round_ns.unwrap() / DAY as u128;
        assert!((24..=28).contains(&round_days), "week {week}: {round_days} days");
        let oldest_days = (now_ns - run.scrubbed.oldest_ns.unwrap()) / DAY;
        assert_eq!(oldest_days, 7 * week.min(3), "week {week}");
        manifest = run.new;
    }
    let run = scrub(&dir, &manifest, START + 70 * DAY, None);
    assert_eq!((run.scrubbed.round_ns, run.scrubbed.oldest_ns), (None, Some(START + 70 * DAY)));
    assert_eq!((run.scrubbed.verified, run.scrubbed.bytes), (47, total));
}

#[test]
fn only_times_and_marks_change() {
    let dir = Dir::new();
    let good = recorded(&dir);
    let mut expected = read(&good).unwrap();
    // Simulates a disk that returns other bytes than before.
    expected.get_mut(&Path::new("file")).unwrap().digests[3] ^= 1;
    expected.get_mut(&Path::new("twin")).unwrap().damaged_ns = Some(5);
    let mut expected = with_trees(expected, XXH3);
    let old = manifest(good.header(), &expected);
    let run = scrub(&dir, &old, START + DAY, None);
    assert_eq!(run.found, [(Verdict::Corrupted, b"file".to_vec())]);
    assert_eq!((run.scrubbed.verified, run.scrubbed.damaged, run.scrubbed.files), (6, 1, 6));
    for (path, entry) in &mut expected {
        let is_damaged = path.0 == b"file";
        entry.verified_ns = (entry.stat.is_regular() && !is_damaged).then_some(START + DAY);
        entry.damaged_ns = is_damaged.then_some(START + DAY);
    }
    assert_eq!(read(&run.new).unwrap(), expected);

    // The mark keeps its time, and the file is read although the limit is reached.
    let run = scrub(&dir, &run.new, START + 2 * DAY, Some(0));
    assert_eq!(run.found, [(Verdict::Corrupted, b"file".to_vec())]);
    assert_eq!(read(&run.new).unwrap()[&Path::new("file")].damaged_ns, Some(START + DAY));
}

#[test]
fn every_file_is_read_before_one_is_read_again() {
    let dir = Dir::new();
    let mut manifest = recorded(&dir);
    for round in 0..3 {
        let (mut seen, first_day) = (BTreeSet::new(), START + (1 + round * 10) * DAY);
        for day in 0..10 {
            let now_ns = first_day + day * DAY;
            manifest = scrub(&dir, &manifest, now_ns, Some(1)).new;
            let entries = read(&manifest).unwrap();
            let now: Vec<_> = entries.iter().filter(|(_, it)| it.verified_ns == Some(now_ns)).collect();
            let again = now.iter().filter(|(path, _)| !seen.insert(path.0.clone())).count();
            assert!(again == 0 || seen.len() == 7, "day {day}");
        }
        assert_eq!(seen.len(), 7);
    }
}
