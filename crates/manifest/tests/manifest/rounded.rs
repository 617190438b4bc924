//! Trees whose times a copy has rounded or shifted, with rot and edits.

use std::collections::BTreeMap;

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Criteria, RepairOptions, RepairPlan, Verdict};
use proptest::prelude::*;

use crate::diff::said;
use crate::model::{Path, Said, read};
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

/// Times of files, and what has changed. At most a tenth of them was edited.
fn files() -> impl Strategy<Value = Vec<(i128, Change)>> {
    let file = (1_100_000_000 * SECOND..1_700_000_000 * SECOND, 0..100_u32, -2 * SECOND..2 * SECOND);
    let n = prop_oneof![4 => 12..60_usize, 1 => 60..1000_usize];
    n.prop_flat_map(move |n| prop::collection::vec(file.clone(), n)).prop_map(|files| {
        let mut edits = files.len() / 10;
        let change = |(ns, kind, by)| match kind {
            0..15 if edits > 0 => {
                edits -= 1;
                (ns, Change::Edit(by))
            }
            15..20 => (ns, Change::Flip),
            _ => (ns, Change::None),
        };
        files.into_iter().map(change).collect()
    })
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
        files in files(),
    ) {
        let copy = |ns| way.round(ns) + quarters * 900 * SECOND;
        let (dir, other) = (Dir::empty(), Dir::empty());
        let names: Vec<_> = (0..files.len()).map(|nth| format!("{nth:04}")).collect();
        for (name, (ns, _)) in names.iter().zip(&files) {
            dir.write(name, &format!("content of {name}"));
            dir.touch_ns(name, if is_reverse { copy(*ns) } else { *ns });
        }
        let old = dir.manifest(&later(XXH3));
        let tree = if is_other_root { &other } else { &dir };
        for (name, (ns, change)) in names.iter().zip(&files) {
            let content = if *change == Change::None { "content of " } else { "CONTENT of " };
            tree.write(name, &format!("{content}{name}"));
            let as_copied = if is_reverse { *ns } else { copy(*ns) };
            // An edit within the granularity cannot be told from rot.
            let by = if let Change::Edit(by) = change { by + by.signum() * 2 * way.granularity() } else { 0 };
            tree.touch_ns(name, as_copied + by);
        }

        let changed: BTreeMap<_, _> = names
            .iter()
            .zip(&files)
            .filter(|(_, (_, change))| *change != Change::None)
            .map(|(name, (_, change))| {
                let verdict = if *change == Change::Flip { Verdict::Corrupted } else { Verdict::Modified };
                (name.clone(), verdict)
            })
            .collect();
        let rot: Vec<_> = changed.iter().filter(|(_, verdict)| **verdict == Verdict::Corrupted).collect();
        let rot: Vec<_> = rot.into_iter().map(|(name, _)| name.clone().into_bytes()).collect();
        let of_files = |said: Vec<Said>| -> BTreeMap<_, _> {
            let said = said.into_iter().filter(|said| said.verdict != Verdict::Ok && said.path != ".");
            said.map(|said| (said.path, said.verdict)).collect()
        };
        let criteria = Criteria::default();
        prop_assert_eq!(&of_files(verify(&tree.walk(true), &old, &criteria, false).said), &changed);

        let run = update(tree, &old, None, &[]);
        prop_assert_eq!(&run.corrupted, &rot);
        let (recorded, updated) = (read(&old).unwrap(), read(&run.new).unwrap());
        for (name, verdict) in &changed {
            let path = Path::new(name);
            let is_kept = recorded[&path].digests == updated[&path].digests;
            prop_assert_eq!(is_kept, *verdict == Verdict::Corrupted, "{}", name);
        }

        let now = tree.manifest(&later(XXH3));
        prop_assert_eq!(&of_files(said(&old, &now, &criteria).unwrap().0), &changed);

        let scrubbed = scrub(tree, &old, old.header().start_ns, None);
        let damaged: Vec<_> = scrubbed.found.into_iter().map(|(_, path)| path).collect();
        prop_assert_eq!(&damaged, &rot);
        prop_assert!(!scrubbed.scrubbed.is_nothing);

        let (walked, budget) = (tree.walk(true), Budget::new(1 << 30));
        let walked_tree = walked.tree();
        let options = RepairOptions { other_root: true, ..RepairOptions::default() };
        let plan = RepairPlan::new(&old, &walked_tree, options, &budget).unwrap();
        let damage = plan.damage(&walked.read(Some(&plan.files), XXH3), &|_| false).unwrap();
        let wanted: Vec<_> = damage.wanted.into_iter().flat_map(|wanted| wanted.names).collect();
        let wanted: Vec<_> = wanted.into_iter().map(|name| name.path).collect();
        prop_assert_eq!(wanted, rot);
    }
}
