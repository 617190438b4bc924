//! Append-only updates of trees with hard links report what a verification reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use ftk_hash::Algorithm;
use ftk_manifest::{Contents, Criteria, Field, Manifest, Verdict};
use proptest::prelude::*;

use crate::model::{Entries, Path, Said, header, read, text};
use crate::trees::Dir;
use crate::update::append;
use crate::verify::verify;

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// The names that change: four in the recorded tree, and one besides it.
const NAMES: [&str; 5] = ["tree/a", "tree/b", "tree/c", "tree/d", "x"];

#[derive(Clone, Copy, Debug)]
enum Step {
    Create,
    Link,
    Move,
    Remove,
    Edit,
    Flip,
    Touch,
    Mode,
    /// Makes the name a separate file.
    Split,
    /// Makes the name a separate file with other content and the same time.
    FlipSplit,
}

const STEPS: [Step; 12] = [
    Step::Create,
    Step::Link,
    Step::Link,
    Step::Link,
    Step::Move,
    Step::Remove,
    Step::Edit,
    Step::Flip,
    Step::Touch,
    Step::Mode,
    Step::Split,
    Step::FlipSplit,
];

fn steps() -> impl Strategy<Value = Vec<(Step, [&'static str; 2])>> {
    let name = || prop::sample::select(&NAMES);
    prop::collection::vec((prop::sample::select(&STEPS), [name(), name()]), 2..9)
}

/// A directory with the recorded tree. It has files that do not change, so that the changes are no shift of all times, and hard
/// links that do not change, so that links are compared one by one.
fn tree() -> Dir {
    let dir = Dir::empty();
    fs::create_dir(dir.at("tree")).unwrap();
    for nth in 0..16 {
        let name = format!("tree/still {nth}");
        dir.write(&name, &name);
        dir.touch(&name, 1_000_000_000 + 1_000_003 * nth);
    }
    fs::hard_link(dir.at("tree/still 0"), dir.at("tree/still linked")).unwrap();
    dir
}

/// Changes the tree, if that is possible. New files are the same, so that often only their links differ. `nth` makes edits
/// unique.
fn change(dir: &Dir, nth: usize, step: Step, [name, other]: [&str; 2]) {
    let (at, to) = (dir.at(name), dir.at(other));
    let Ok(before) = at.symlink_metadata() else {
        if let Step::Create = step {
            dir.write(name, &"the same content".repeat(5));
            dir.touch(name, 1_500_000_000);
        }
        return;
    };
    let mtime_ns = i128::from(before.mtime()) * 1_000_000_000 + i128::from(before.mtime_nsec());
    let flipped = || fs::read(&at).unwrap().iter().map(|byte| byte ^ 1).collect::<Vec<_>>();
    let separate = |content: Vec<u8>| {
        dir.write("copy", "");
        fs::write(dir.at("copy"), content).unwrap();
        fs::set_permissions(dir.at("copy"), before.permissions()).unwrap();
        fs::rename(dir.at("copy"), &at).unwrap();
        dir.touch_ns(name, mtime_ns);
    };
    match step {
        Step::Create => {}
        Step::Link if name == other => {}
        Step::Link => {
            _ = fs::remove_file(&to);
            fs::hard_link(&at, &to).unwrap();
        }
        Step::Move => fs::rename(&at, &to).unwrap(),
        Step::Remove => fs::remove_file(&at).unwrap(),
        Step::Edit => {
            dir.write(name, &format!("{nth:3}").repeat(31 + nth));
            dir.touch(name, 1_600_000_000 + nth as i64);
        }
        Step::Flip => {
            fs::write(&at, flipped()).unwrap();
            dir.touch_ns(name, mtime_ns);
        }
        Step::Touch => dir.touch(name, 1_700_000_000 + nth as i64),
        Step::Mode => {
            let mode = before.permissions().mode() ^ 0o040;
            fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
        }
        Step::Split => separate(fs::read(&at).unwrap()),
        Step::FlipSplit => separate(flipped()),
    }
}

/// The paths that are not as recorded, with the fields that differ, if their content does not.
type Differences = BTreeMap<String, Option<Vec<Field>>>;

fn differences(said: &[Said]) -> Differences {
    let differs = said.iter().filter(|it| !matches!(it.verdict, Verdict::Ok | Verdict::New));
    let shown = |it: &Said| {
        let is_metadata = it.verdict == Verdict::Metadata;
        (it.path.clone(), is_metadata.then(|| it.changed.clone()))
    };
    differs.map(shown).collect()
}

/// Returns the records without what a run may add to one that it keeps.
fn records(manifest: &Manifest) -> Entries {
    let mut entries = read(manifest).unwrap();
    for entry in entries.values_mut() {
        (entry.verified_ns, entry.damaged_ns) = (None, None);
        entry.tree.clear();
    }
    entries
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_append_only_update_reports_what_a_verification_reports(
        // Names with equal numbers are hard links; those with the last one do not exist.
        groups in prop::collection::vec(0..4_usize, NAMES.len()),
        changes in prop::collection::vec(steps(), 1..3),
    ) {
        let dir = tree();
        for (nth, name) in NAMES.iter().enumerate().filter(|(nth, _)| groups[*nth] < 3) {
            match NAMES[..nth].iter().zip(&groups).find(|(_, group)| **group == groups[nth]) {
                Some((first, _)) => change(&dir, nth, Step::Link, [first, name]),
                None => change(&dir, nth, Step::Create, [name; 2]),
            }
        }
        let walk = || dir.walk_below("tree", true);
        let first = dir.walk_below("tree", false);
        let rows = first.read(None, XXH3);
        let mut manifest = first.write(&header(XXH3, false), &Contents::read(None, &rows));
        for (round, steps) in changes.iter().enumerate() {
            for (nth, (step, names)) in steps.iter().enumerate() {
                change(&dir, 100 * (round + 1) + nth, *step, *names);
            }
            // The differences, and the new names of damaged files, which are recorded with the mark and reported from then on.
            let mut expected: Option<(Differences, Vec<String>)> = None;
            for _ in 0..3 {
                let before = records(&manifest);
                let verified = verify(&walk(), &manifest, &Criteria::default(), false);
                prop_assert_eq!((verified.summary.shift, verified.summary.split_links), (None, 0));
                let said = differences(&verified.said);
                if let Some((before, damaged)) = &mut expected {
                    before.extend(damaged.drain(..).map(|path| (path, None)));
                    prop_assert_eq!(&*before, &said, "in every run");
                }
                let run = append(&walk(), &manifest);
                prop_assert_eq!(&differences(&run.said), &said);
                prop_assert_eq!(run.said.len(), said.len());
                let after = records(&run.new);
                for path in said.keys() {
                    let path = Path::new(path);
                    prop_assert_eq!(&after[&path], &before[&path]);
                }
                for (path, entry) in &before {
                    prop_assert!(entry.link_group.is_none() || after[path].link_group == entry.link_group);
                }
                let new = verified.said.iter().filter(|it| it.verdict == Verdict::New).count();
                let moved = verified.said.iter().filter(|it| it.verdict == Verdict::Moved).count();
                prop_assert_eq!(after.len(), before.len() + new + moved);
                expected.get_or_insert_with(|| {
                    let inode = |path: &str| fs::symlink_metadata(dir.at("tree").join(path)).map(|it| it.ino()).ok();
                    let kept = run.said.iter().filter(|it| it.changed == [Field::Digests]);
                    let kept: BTreeSet<_> = kept.filter_map(|it| inode(&it.path)).collect();
                    let added = after.keys().filter(|path| !before.contains_key(path)).map(|path| text(&path.0));
                    let damaged = added.filter(|path| inode(path).is_some_and(|inode| kept.contains(&inode)));
                    (said, damaged.collect())
                });
                manifest = run.new;
            }
        }
    }
}

/// A verification without hard links has one line for all files. An append-only update reports the names.
#[test]
fn links_that_were_all_separated_are_reported_in_every_run() {
    let dir = Dir::new();
    fs::hard_link(dir.at("file"), dir.at("file 2")).unwrap();
    let mut manifest = dir.manifest(&header(XXH3, false));
    let before = records(&manifest);
    change(&dir, 0, Step::Split, ["file"; 2]);
    for _ in 0..3 {
        let walked = dir.walk(true);
        assert_eq!(verify(&walked, &manifest, &Criteria::default(), false).summary.split_links, 1);
        let run = append(&walked, &manifest);
        let said = BTreeMap::from([("file 2".to_owned(), Some(vec![Field::LinkGroup]))]);
        assert_eq!(differences(&run.said), said);
        let groups = |entries: &Entries| -> Vec<_> {
            entries.values().filter_map(|entry| entry.link_group.clone()).collect()
        };
        assert_eq!(groups(&records(&run.new)), groups(&before));
        manifest = run.new;
    }
}

#[test]
fn an_entry_of_another_type_that_cannot_be_read_keeps_its_record() {
    let dir = Dir::new();
    let manifest = dir.manifest(&header(XXH3, false));
    fs::remove_file(dir.at("link")).unwrap();
    dir.write("link", "a file");
    let walked = dir.walk(true);
    fs::remove_file(dir.at("link")).unwrap();
    fs::create_dir(dir.at("link")).unwrap();
    let path = Path::new("link");
    assert_eq!(records(&append(&walked, &manifest).new)[&path], records(&manifest)[&path]);
}
