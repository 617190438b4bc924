//! Trees whose times a copy has rounded, shifted or lost, with hard links, rot and edits.

use std::collections::BTreeMap;
use std::fs;

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Criteria, Field, Manifest, RepairOptions, RepairPlan, Verdict};
use proptest::prelude::*;

use crate::diff::said;
use crate::model::{Path, Said, manifest, read};
use crate::scrub::scrub;
use crate::trees::Dir;
use crate::update::{later, update};
use crate::verify::verify;

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];
const SECOND: i128 = 1_000_000_000;

/// How a copy rounds times.
#[derive(Clone, Copy, Debug)]
enum Way {
    Truncated(i128),
    Nearest(i128),
    /// Through a `double` in a unit of this many nanoseconds.
    Double(i128),
}

impl Way {
    fn round(self, ns: i128) -> i128 {
        match self {
            Self::Truncated(step) => ns - ns.rem_euclid(step),
            Self::Nearest(step) => Self::Truncated(step).round(ns + step / 2),
            Self::Double(unit) => {
                let whole = ns / unit;
                let double = whole as f64 + (ns % unit) as f64 / unit as f64;
                whole * unit + ((double - whole as f64) * unit as f64) as i128
            }
        }
    }

    /// Times that differ by less are not distinguished.
    fn granularity(self) -> i128 {
        match self {
            Self::Truncated(step) | Self::Nearest(step) => step,
            Self::Double(_) => 500,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    Flip,
    /// Edited this much after, or before, the old time.
    Edit(i128),
}

fn ways() -> impl Strategy<Value = Way> {
    let known = prop::sample::select(vec![1, 100, 1000, 1_000_000, 10_000_000, SECOND, 2 * SECOND]);
    let any = (0..24_u32, 1_000..2 * SECOND).prop_map(|(bits, ns)| (ns >> bits).max(100));
    let step = prop_oneof![2 => known, 1 => any];
    (step, 0..5_u8).prop_map(|(step, way)| match way {
        0 => Way::Double(SECOND),
        1 => Way::Double(1_000_000),
        2 => Way::Nearest(step),
        _ => Way::Truncated(step),
    })
}

/// What a copy does with the hard links of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    Keep,
    /// Each name becomes a separate file.
    Split,
    /// Separate files with the same content and time become one.
    Join,
}

/// A file, or several files that are joined.
#[derive(Clone, Debug)]
struct Group {
    ns: i128,
    links: Links,
    /// What has changed in each name: the same in all names of one file.
    names: Vec<Change>,
}

impl Group {
    /// Returns the names, and what has changed in each. The first names of all files come first.
    fn names(&self, nth: usize) -> impl Iterator<Item = (String, Change)> {
        self.names.iter().enumerate().map(move |(k, change)| (format!("{k}/{nth:04}"), *change))
    }

    /// Writes the files of the recorded tree, or of the copy. Times are those after the links were made.
    fn write(&self, dir: &Dir, nth: usize, is_copy: bool, time: impl Fn(usize, Change) -> i128) {
        let is_linked = self.links == Links::Keep || (self.links == Links::Join) == is_copy;
        let mut first: Option<String> = None;
        for (k, (name, change)) in self.names(nth).enumerate() {
            if is_copy && self.links != Links::Keep {
                let _ = fs::remove_file(dir.at(&name));
            }
            match first.as_ref().filter(|_| is_linked) {
                Some(first) if !dir.at(&name).exists() => {
                    fs::hard_link(dir.at(first), dir.at(&name)).unwrap()
                }
                Some(_) => {}
                None => {
                    let is_changed = is_copy && change != Change::None;
                    let content = if is_changed { "CONTENT of " } else { "content of " };
                    dir.write(&name, &format!("{content}{nth}"));
                    dir.touch_ns(&name, time(k, change));
                    first = Some(name);
                }
            }
        }
    }
}

/// The most names of a file.
const NAMES: usize = 8;

/// Times of files, their links, and what has changed. At most one of `part` pairs of a recorded and a present file was edited,
/// and so many are damaged.
fn files(part: usize) -> impl Strategy<Value = Vec<Group>> {
    let links = prop_oneof![
        4 => Just((Links::Keep, 1)),
        3 => (prop::sample::select(vec![Links::Keep, Links::Split, Links::Join]), 2..=NAMES),
    ];
    let kinds = prop::collection::vec((0..100_u32, -2 * SECOND..2 * SECOND), NAMES);
    let file = (1_100_000_000 * SECOND..1_700_000_000 * SECOND, links, kinds);
    let n = prop_oneof![4 => 12..60_usize, 1 => 60..400_usize];
    n.prop_flat_map(move |n| prop::collection::vec(file.clone(), n)).prop_map(move |files| {
        let weight = |links, names| if links == Links::Keep { 1 } else { names };
        let all: usize = files.iter().map(|(_, (links, names), _)| weight(*links, *names)).sum();
        let (mut edits, mut flips) = (all / part, all / part);
        let mut take = |weight, (kind, by)| {
            let (change, left) = match kind {
                0..15 => (Change::Edit(by), &mut edits),
                15..20 => (Change::Flip, &mut flips),
                _ => return Change::None,
            };
            let is_left = *left >= weight;
            *left -= if is_left { weight } else { 0 };
            if is_left { change } else { Change::None }
        };
        let group = |(ns, (links, names), kinds): (_, (_, usize), Vec<_>)| {
            let names = match links {
                Links::Split => kinds[..names].iter().map(|kind| take(1, *kind)).collect(),
                _ => vec![take(weight(links, names), kinds[0]); names],
            };
            Group { ns, links, names }
        };
        files.into_iter().map(group).collect()
    })
}

/// Returns an empty directory for groups.
fn empty() -> Dir {
    let dir = Dir::empty();
    (0..NAMES).for_each(|k| fs::create_dir(dir.at(&k.to_string())).unwrap());
    dir
}

/// Returns all names with changes, and the verdict for each.
fn changed(files: &[Group]) -> BTreeMap<String, Verdict> {
    let names = files.iter().enumerate().flat_map(|(nth, group)| group.names(nth));
    let verdict = |(name, change)| match change {
        Change::None => None,
        Change::Flip => Some((name, Verdict::Corrupted)),
        Change::Edit(_) => Some((name, Verdict::Modified)),
    };
    names.filter_map(verdict).collect()
}

/// Returns what was found in files.
fn of_files(said: Vec<Said>) -> BTreeMap<String, Verdict> {
    let is_dir = |path: &str| path == "." || path.len() == 1;
    let said = said.into_iter().filter(|said| said.verdict != Verdict::Ok && !is_dir(&said.path));
    said.map(|said| (said.path, said.verdict)).collect()
}

/// Returns the manifest as it is after a merge, which does not know the groups of links.
fn merged(whole: &Manifest) -> Manifest {
    let mut entries = read(whole).unwrap();
    for entry in entries.values_mut() {
        entry.link_group = None;
        entry.tree.clear();
    }
    manifest(whole.header(), &entries)
}

/// Checks that an update finds the damaged files, and keeps their digests alone.
fn check_update(
    tree: &Dir,
    old: &Manifest,
    changed: &BTreeMap<String, Verdict>,
) -> Result<(), TestCaseError> {
    let run = update(tree, old, None, &[]);
    prop_assert_eq!(&run.corrupted, &rot(changed));
    let (recorded, updated) = (read(old).unwrap(), read(&run.new).unwrap());
    for (name, verdict) in changed {
        let path = Path::new(name);
        let is_kept = recorded[&path].digests == updated[&path].digests;
        prop_assert_eq!(is_kept, *verdict == Verdict::Corrupted, "{}", name);
    }
    Ok(())
}

/// Returns the damaged files.
fn rot(changed: &BTreeMap<String, Verdict>) -> Vec<Vec<u8>> {
    let rot = changed.iter().filter(|(_, verdict)| **verdict == Verdict::Corrupted);
    rot.map(|(name, _)| name.clone().into_bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// With and without another root: the copy is in place, or another directory.
    #[test]
    fn no_rot_is_recorded_and_no_edit_is_called_rot(
        way in ways(),
        quarters in prop_oneof![Just(0), -40..40_i128],
        is_reverse in any::<bool>(),
        is_other_root in any::<bool>(),
        is_merged in any::<bool>(),
        files in files(10),
    ) {
        let copy = |ns| way.round(ns) + quarters * 900 * SECOND;
        let (dir, other) = (empty(), empty());
        for (nth, group) in files.iter().enumerate() {
            group.write(&dir, nth, false, |_, _| if is_reverse { copy(group.ns) } else { group.ns });
        }
        let record = |dir: &Dir| {
            let whole = dir.manifest(&later(XXH3));
            if is_merged { merged(&whole) } else { whole }
        };
        let old = record(&dir);
        let tree = if is_other_root { &other } else { &dir };
        for (nth, group) in files.iter().enumerate() {
            let as_copied = if is_reverse { group.ns } else { copy(group.ns) };
            group.write(tree, nth, true, |_, change| {
                // An edit within the granularity cannot be told from rot.
                let by = if let Change::Edit(by) = change { by + by.signum() * 2 * way.granularity() } else { 0 };
                as_copied + by
            });
        }

        let changed = changed(&files);
        let rot = rot(&changed);
        let criteria = Criteria { ignore: vec![Field::LinkGroup], ..Criteria::default() };
        for walks_stats in [false, true] {
            prop_assert_eq!(&of_files(verify(&tree.walk(walks_stats), &old, &criteria, false).said), &changed);
        }
        check_update(tree, &old, &changed)?;
        prop_assert_eq!(&of_files(said(&old, &record(tree), &criteria).unwrap().0), &changed);

        let scrubbed = scrub(tree, &old, old.header().start_ns, None);
        let mut damaged: Vec<_> = scrubbed.found.into_iter().map(|(_, path)| path).collect();
        damaged.sort();
        prop_assert_eq!(&damaged, &rot);
        prop_assert!(!scrubbed.scrubbed.is_nothing);

        let (walked, budget) = (tree.walk(true), Budget::new(1 << 30));
        let walked_tree = walked.tree();
        let options = RepairOptions { other_root: true, ..RepairOptions::default() };
        let plan = RepairPlan::new(&old, &walked_tree, options, &budget).unwrap();
        let damage = plan.damage(&walked.read(Some(&plan.files), XXH3), &|_| false).unwrap();
        let wanted: Vec<_> = damage.wanted.into_iter().flat_map(|wanted| wanted.names).collect();
        let mut wanted: Vec<_> = wanted.into_iter().map(|name| name.path).collect();
        wanted.sort();
        prop_assert_eq!(wanted, rot);
    }

    /// A copy without times is recognised by its content. The first and the last files are intact: damage to them is outside of
    /// the times of the copy.
    #[test]
    fn a_copy_without_times_hides_no_rot(
        is_merged in any::<bool>(),
        files in files(20),
    ) {
        let (dir, copy) = (empty(), empty());
        for (nth, group) in files.iter().enumerate() {
            group.write(&dir, nth, false, |_, _| group.ns);
        }
        // Two files that are copied first and last.
        let ends = [("first", 1), ("last", 100 * SECOND)];
        ends.iter().for_each(|(name, _)| dir.write(name, name));
        let old = dir.manifest(&later(XXH3));
        let old = if is_merged { merged(&old) } else { old };
        let start_ns = old.header().start_ns;
        for (nth, group) in files.iter().enumerate() {
            group.write(&copy, nth, true, |k, change| start_ns + match change {
                Change::None => 1 + (group.ns + 13 * SECOND * k as i128) % (100 * SECOND),
                Change::Flip => 50 * SECOND,
                Change::Edit(by) => 200 * SECOND + by,
            });
        }
        for (name, ns) in ends {
            copy.write(name, name);
            copy.touch_ns(name, start_ns + ns);
        }

        let changed = changed(&files);
        let criteria = Criteria { ignore: vec![Field::LinkGroup], ..Criteria::default() };
        for walks_stats in [false, true] {
            prop_assert_eq!(&of_files(verify(&copy.walk(walks_stats), &old, &criteria, false).said), &changed);
        }
        check_update(&copy, &old, &changed)?;
    }
}
