//! Two manifests, told apart.

use std::ops::ControlFlow;

use ftk_hash::Algorithm;
use ftk_inventory::{Budget, Full};
use ftk_manifest::{Criteria, Error, Field, Manifest, Mode, Summary, Verdict, diff};
use proptest::prelude::*;

use crate::model::{
    Entries, Owned, PATHS, Path, Said, entries, entry, expected, header, manifest, open, seal, written,
};

fn said(old: &Manifest, new: &Manifest, rules: &Criteria) -> Result<(Vec<Said>, Summary), Error> {
    let mut said = Vec::new();
    let summary = diff(old, new, rules, &Budget::new(1 << 30), &mut |finding| {
        said.push(Said::of(finding));
        ControlFlow::Continue(())
    })?;
    Ok((said, summary))
}

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// What is said is what the model expects.
fn check(old: &Entries, new: &Entries, rules: &Criteria) -> Result<(), TestCaseError> {
    let manifests = [old, new].map(|entries| manifest(&header(XXH3, false), entries));
    let (said, summary) = said(&manifests[0], &manifests[1], rules).unwrap();
    let mut expected = expected(old, new, rules, |_| true);
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
    Ok(())
}

proptest! {
    #[test]
    fn every_difference_is_said_once(
        old in entries(8),
        new in entries(8),
        mode in prop::sample::select(vec![Mode::Strict, Mode::Content, Mode::Metadata]),
        ignore in prop::sample::subsequence(Field::ALL.to_vec(), 0..3),
    ) {
        check(&old, &new, &Criteria { mode, ignore, sample: None })?;
    }

    /// Most of what two manifests say is the same in both, and is not looked at entry by entry.
    #[test]
    fn what_is_the_same_around_them_hides_no_difference(
        old in entries(8),
        changes in prop::collection::btree_map(0..PATHS.len(), prop::option::of(entry(8)), 0..4),
        ignore in prop::sample::subsequence(Field::ALL.to_vec(), 0..10),
    ) {
        let mut new = old.clone();
        for (nth, change) in changes {
            match change {
                Some(entry) => new.insert(Path::new(PATHS[nth]), entry),
                None => new.remove(&Path::new(PATHS[nth])),
            };
        }
        check(&old, &new, &Criteria { mode: Mode::Strict, ignore, sample: None })?;
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
        let rules = Criteria::default();
        prop_assert_eq!(said(&more, &new, &rules).unwrap().0, said(&fewer, &new, &rules).unwrap().0);
        prop_assert_eq!(said(&new, &more, &rules).unwrap().0, said(&new, &fewer, &rules).unwrap().0);
        prop_assert_eq!(said(&more, &fewer, &rules).unwrap().0, []);
    }
}

#[test]
fn nothing_in_common_is_an_error() {
    let none = Entries::new();
    let manifests = [XXH3, &[Algorithm::Md5]].map(|algorithms| manifest(&header(algorithms, false), &none));
    let error = said(&manifests[0], &manifests[1], &Criteria::default()).unwrap_err();
    assert_eq!(error.to_string(), "no algorithm in common: xxh3 and md5");
}

/// Old and new with as many files, none of them in both.
fn far_apart(files: u32) -> [Manifest; 2] {
    let entry = entry_of_file();
    ["a", "b"].map(|dir| {
        let path = |n| (Path::new(&format!("{dir}/{n:06}")), entry.clone());
        manifest(&header(XXH3, false), &(0..files).map(path).collect())
    })
}

fn entry_of_file() -> Owned {
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
    let rules = Criteria::default();
    let run = |bytes| diff(&old, &new, &rules, &Budget::new(bytes), &mut |_| ControlFlow::Continue(()));
    assert_eq!(run(1 << 20).unwrap().count(Verdict::Moved), 3_000);
    assert!(matches!(run(64 << 10), Err(Error::Full(Full::Memory))));
    // Without contents nothing has to be kept.
    let rules = Criteria { mode: Mode::Metadata, ..Criteria::default() };
    let summary = diff(&old, &new, &rules, &Budget::new(0), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(summary.count(Verdict::Missing) + summary.count(Verdict::New), 6_000);
}

#[test]
fn it_ends_when_it_is_told_to() {
    let [old, new] = far_apart(10);
    let mut n = 0;
    let summary = diff(&old, &new, &Criteria::default(), &Budget::new(1 << 20), &mut |_| {
        n += 1;
        ControlFlow::Break(())
    });
    assert_eq!((summary.unwrap().total(), n), (1, 1));
}

/// A line that both have vouches for nothing behind it.
#[test]
fn what_follows_the_same_lines_is_in_order() {
    let lines = |names: &[&str]| {
        let entries = names.iter().map(|name| (Path::new(name), entry_of_file())).collect();
        String::from_utf8(written(&header(XXH3, false), &entries)).unwrap()
    };
    let good = lines(&["a", "b", "c"]);
    let named = |name: &str| {
        let wrong: Vec<_> = good.lines().map(|line| line.replace("\"path\":\"c\"", name)).collect();
        open(&seal(&wrong[..wrong.len() - 1])).unwrap()
    };
    let good = open(good.as_bytes()).unwrap();
    for (name, why) in [("b", "'b' is there twice"), ("a", "'a' is out of order")] {
        let wrong = named(&format!("\"path\":\"{name}\""));
        for (old, new) in [(&good, &wrong), (&wrong, &good), (&wrong, &wrong)] {
            let error = said(old, new, &Criteria::default()).unwrap_err();
            assert_eq!(error.to_string(), format!("line 4: {why}"));
            let error =
                said(old, new, &Criteria { mode: Mode::Metadata, ..Criteria::default() }).unwrap_err();
            assert_eq!(error.to_string(), format!("line 4: {why}"));
        }
    }
}

/// What is not read counts as not read, also where it is the same.
#[test]
fn content_that_is_not_compared_is_counted() {
    let [one, _] = far_apart(10);
    let (said, summary) =
        said(&one, &one, &Criteria { mode: Mode::Metadata, ..Criteria::default() }).unwrap();
    assert_eq!((said.len(), summary.total(), summary.unread), (0, 10, 10));
}
