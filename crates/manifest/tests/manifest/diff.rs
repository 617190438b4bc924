//! Two manifests, told apart.

use std::ops::ControlFlow;

use ftk_hash::Algorithm;
use ftk_inventory::{Budget, Full};
use ftk_manifest::{Error, Field, Manifest, Mode, Rules, Summary, Verdict, diff};
use proptest::prelude::*;

use crate::model::{Entries, Said, entries, expected, header, manifest};

fn said(old: &Manifest, new: &Manifest, rules: &Rules) -> Result<(Vec<Said>, Summary), Error> {
    let mut said = Vec::new();
    let summary = diff(old, new, rules, &Budget::new(1 << 30), &mut |finding| {
        said.push(Said::of(finding));
        ControlFlow::Continue(())
    })?;
    Ok((said, summary))
}

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

proptest! {
    #[test]
    fn every_difference_is_said_once(
        old in entries(8),
        new in entries(8),
        mode in prop::sample::select(vec![Mode::Strict, Mode::Content, Mode::Metadata]),
        ignore in prop::sample::subsequence(Field::ALL.to_vec(), 0..3),
    ) {
        let rules = Rules { mode, ignore, sample: None };
        let manifests = [&old, &new].map(|entries| manifest(&header(XXH3, false), entries));
        let (said, summary) = said(&manifests[0], &manifests[1], &rules).unwrap();
        let mut expected = expected(&old, &new, &rules, |_| true);
        for said in &mut expected {
            if said.verdict == Verdict::Corrupted {
                said.verdict = Verdict::Modified;
            }
        }
        prop_assert_eq!(summary.total(), expected.len() as u64);
        let same = expected.iter().filter(|said| said.verdict == Verdict::Ok).count();
        prop_assert_eq!(summary.count(Verdict::Ok), same as u64);
        expected.retain(|said| said.verdict != Verdict::Ok);
        prop_assert_eq!(said, expected);
    }

    #[test]
    fn contents_are_compared_by_what_both_have(old in entries(16), new in entries(8)) {
        // The digests of one are those of the other and more, at another place.
        let mut more = old.clone();
        more.values_mut().for_each(|entry| {
            let eight = &entry.digests.clone()[entry.digests.len() / 2..];
            entry.digests = [&vec![9; 2 * eight.len()][..], eight].concat();
        });
        let mut fewer = old;
        fewer.values_mut().for_each(|entry| entry.digests.truncate(entry.digests.len() / 2));
        let more = manifest(&header(&[Algorithm::Md5, Algorithm::Xxh3], false), &more);
        let new = manifest(&header(XXH3, false), &new);
        let fewer = manifest(&header(XXH3, false), &fewer);
        let rules = Rules::default();
        prop_assert_eq!(said(&more, &new, &rules).unwrap().0, said(&fewer, &new, &rules).unwrap().0);
        prop_assert_eq!(said(&new, &more, &rules).unwrap().0, said(&new, &fewer, &rules).unwrap().0);
        prop_assert_eq!(said(&more, &fewer, &rules).unwrap().0, []);
    }
}

#[test]
fn nothing_in_common_is_an_error() {
    let none = Entries::new();
    let manifests = [XXH3, &[Algorithm::Md5]].map(|algorithms| manifest(&header(algorithms, false), &none));
    let error = said(&manifests[0], &manifests[1], &Rules::default()).unwrap_err();
    assert_eq!(error.to_string(), "no algorithm in common: xxh3 and md5");
}

/// Old and new with as many files, none of them in both.
fn far_apart(files: u32) -> [Manifest; 2] {
    let entry = entry_of_file();
    ["a", "b"].map(|dir| {
        let path = |n| (crate::model::Path::new(&format!("{dir}/{n:06}")), entry.clone());
        manifest(&header(XXH3, false), &(0..files).map(path).collect())
    })
}

fn entry_of_file() -> crate::model::Owned {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    loop {
        let entry = entries(8).new_tree(&mut runner).unwrap().current();
        let file = entry.into_values().find(|entry| !entry.digests.is_empty());
        if let Some(file) = file {
            return file;
        }
    }
}

#[test]
fn what_does_not_fit_into_memory_is_an_error() {
    let [old, new] = far_apart(3_000);
    let rules = Rules::default();
    let run = |bytes| diff(&old, &new, &rules, &Budget::new(bytes), &mut |_| ControlFlow::Continue(()));
    assert_eq!(run(1 << 20).unwrap().count(Verdict::Moved), 3_000);
    assert!(matches!(run(64 << 10), Err(Error::Full(Full::Memory))));
    // Without contents nothing has to be kept.
    let rules = Rules { mode: Mode::Metadata, ..Rules::default() };
    let summary = diff(&old, &new, &rules, &Budget::new(0), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(summary.count(Verdict::Missing) + summary.count(Verdict::New), 6_000);
}

#[test]
fn it_ends_when_it_is_told_to() {
    let [old, new] = far_apart(10);
    let mut n = 0;
    let summary = diff(&old, &new, &Rules::default(), &Budget::new(1 << 20), &mut |_| {
        n += 1;
        ControlFlow::Break(())
    });
    assert_eq!((summary.unwrap().total(), n), (1, 1));
}
