//! Comparing two manifests.

use std::ops::ControlFlow;

use ftk_hash::Algorithm;
use ftk_inventory::{Budget, Full};
use ftk_manifest::{Criteria, Error, Failed, Field, Header, Manifest, Mode, Summary, Verdict, diff};
use proptest::prelude::*;

use crate::model::{
    Entries, Owned, PATHS, Path, Said, all_versions, entries, entry, expected, header, in_parts, manifest,
    open, seal, written,
};

pub(crate) fn said(
    old: &Manifest,
    new: &Manifest,
    criteria: &Criteria,
) -> Result<(Vec<Said>, Summary), Error> {
    let mut said = Vec::new();
    let summary = diff(old, new, criteria, &Budget::new(1 << 30), &mut |finding| {
        said.push(Said::of(finding));
        ControlFlow::Continue(())
    })?;
    Ok((said, summary))
}

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// Checks that the findings are those of the model.
fn check(old: &Entries, new: &Entries, criteria: &Criteria) -> Result<(), TestCaseError> {
    let versions = [old, new].map(|entries| all_versions(&header(XXH3, false), entries));
    for (old_manifest, new_manifest) in
        versions[0].iter().flat_map(|a| versions[1].iter().map(move |b| (a, b)))
    {
        check_pair((old_manifest, old), (new_manifest, new), criteria)?;
    }
    let parts = [old, new].map(|entries| in_parts(&header(XXH3, false), entries));
    check_pair((&parts[0][0], old), (&parts[1][1], new), criteria)?;
    check_pair((&parts[0][1], old), (&versions[1][0], new), criteria)
}

fn check_pair(
    (old_manifest, old): (&Manifest, &Entries),
    (new_manifest, new): (&Manifest, &Entries),
    criteria: &Criteria,
) -> Result<(), TestCaseError> {
    let (said, summary) = said(old_manifest, new_manifest, criteria).unwrap();
    let mut expected = expected(old, new, criteria, |_| true);
    prop_assert_eq!(summary.total(), expected.len() as u64);
    let same = expected.iter().filter(|said| said.verdict == Verdict::Ok).count();
    prop_assert_eq!(summary.count(Verdict::Ok), same as u64);
    expected.retain(|said| said.verdict != Verdict::Ok);
    prop_assert_eq!(said, expected);
    Ok(())
}

proptest! {
    #[test]
    fn every_difference_is_reported_once(
        old in entries(8),
        new in entries(8),
        mode in prop::sample::select(vec![Mode::Strict, Mode::Content, Mode::Metadata]),
        ignore in prop::sample::subsequence(Field::ALL.to_vec(), 0..3),
    ) {
        check(&old, &new, &Criteria { mode, ignore, ..Criteria::default() })?;
    }

    /// Most lines of two manifests are identical and are skipped without parsing.
    #[test]
    fn identical_lines_around_a_difference_do_not_hide_it(
        old in entries(8),
        changes in prop::collection::btree_map(0..PATHS.len(), prop::option::of(entry(8)), 0..4),
        ignore in prop::sample::subsequence(Field::ALL.to_vec(), 0..Field::ALL.len()),
    ) {
        let mut new = old.clone();
        for (nth, change) in changes {
            match change {
                Some(entry) => new.insert(Path::new(PATHS[nth]), entry),
                None => new.remove(&Path::new(PATHS[nth])),
            };
        }
        check(&old, &new, &Criteria { mode: Mode::Strict, ignore, ..Criteria::default() })?;
    }

    #[test]
    fn contents_are_compared_by_the_common_algorithms(old in entries(16), new in entries(8)) {
        // The new manifest has the digests of the old one and more, in another position.
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
        let criteria = Criteria::default();
        prop_assert_eq!(said(&more, &new, &criteria).unwrap().0, said(&fewer, &new, &criteria).unwrap().0);
        prop_assert_eq!(said(&new, &more, &criteria).unwrap().0, said(&new, &fewer, &criteria).unwrap().0);
        prop_assert_eq!(said(&more, &fewer, &criteria).unwrap().0, []);
    }
}

#[test]
fn no_common_algorithm_is_an_error() {
    let none = Entries::new();
    let manifests = [XXH3, &[Algorithm::Md5]].map(|algorithms| manifest(&header(algorithms, false), &none));
    let error = said(&manifests[0], &manifests[1], &Criteria::default()).unwrap_err();
    assert_eq!(error.to_string(), "no algorithm in common: xxh3 and md5");
}

/// Two manifests with `files` files each and no common path.
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
        let file = entry.into_values().find(|entry| !entry.digests.is_empty() && entry.stat.size >= 64);
        if let Some(file) = file {
            return file;
        }
    }
}

#[test]
fn exceeding_the_budget_is_an_error() {
    let [old, new] = far_apart(3_000);
    let criteria = Criteria::default();
    let run = |bytes| diff(&old, &new, &criteria, &Budget::new(bytes), &mut |_| ControlFlow::Continue(()));
    assert_eq!(run(1 << 20).unwrap().count(Verdict::Moved), 3_000);
    assert!(matches!(run(64 << 10), Err(Error::Full(Full::Memory))));
    // Without contents nothing has to be kept.
    let criteria = Criteria { mode: Mode::Metadata, ..Criteria::default() };
    let summary = diff(&old, &new, &criteria, &Budget::new(0), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(summary.count(Verdict::Missing) + summary.count(Verdict::New), 6_000);
}

#[test]
fn break_ends_the_comparison() {
    let [old, new] = far_apart(10);
    let mut n = 0;
    let summary = diff(&old, &new, &Criteria::default(), &Budget::new(1 << 20), &mut |_| {
        n += 1;
        ControlFlow::Break(())
    });
    assert_eq!((summary.unwrap().total(), n), (1, 1));
}

/// Identical lines do not exempt the next line from the check of the order.
#[test]
fn order_is_checked_after_identical_lines() {
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
    for (name, why) in [("b", "'b' appears twice"), ("a", "'a' is out of order")] {
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

/// Files whose content is not compared are counted, also where their lines are identical.
#[test]
fn content_that_is_not_compared_is_counted() {
    let [one, _] = far_apart(10);
    let (said, summary) =
        said(&one, &one, &Criteria { mode: Mode::Metadata, ..Criteria::default() }).unwrap();
    assert_eq!((said.len(), summary.total(), summary.unread), (0, 10, 10));
}

/// Gives the names of a tree other letters. `a` and `b` have a composed and a decomposed form.
fn spelled(entries: &Entries, letters: [&str; 2]) -> Entries {
    let name = |path: &Path| -> Vec<u8> {
        let path = path.0.iter().flat_map(|byte| match byte {
            b'a' => letters[0].as_bytes().to_vec(),
            b'b' => letters[1].as_bytes().to_vec(),
            _ => vec![*byte],
        });
        path.collect()
    };
    entries.iter().map(|(path, entry)| (Path(name(path)), entry.clone())).collect()
}

const COMPOSED: [&str; 2] = ["\u{e9}", "\u{f6}"];
const DECOMPOSED: [&str; 2] = ["e\u{301}", "o\u{308}"];

proptest! {
    /// The spelling of names changes nothing, whatever the order of the paths in it.
    #[test]
    fn names_in_another_normal_form_are_compared_like_the_same_names(
        old in entries(8),
        new in entries(8),
        mode in prop::sample::select(vec![Mode::Strict, Mode::Content, Mode::Metadata]),
    ) {
        let criteria = Criteria { mode, normalize_names: true, ..Criteria::default() };
        let parts = |entries: &Entries| manifest(&header(XXH3, false), entries);
        let old = spelled(&old, COMPOSED);
        let old_manifest = parts(&old);
        let of_old = |new: &Manifest, criteria: &Criteria| {
            let (mut said, summary) = said(&old_manifest, new, criteria).unwrap();
            // Several new files with the content of a missing one are in another order.
            said.retain(|said| said.verdict != Verdict::New);
            said.iter_mut().for_each(|said| said.new_path = None);
            (said, Verdict::ALL.map(|verdict| summary.count(verdict)), summary.unread)
        };
        let (same, other) = (parts(&spelled(&new, COMPOSED)), parts(&spelled(&new, DECOMPOSED)));
        let expected = of_old(&same, &criteria);
        prop_assert_eq!(&of_old(&other, &criteria), &expected);
        // Without the option, the same differences are found, and each name that has another form is one, too.
        let (said, counts, _) = of_old(&other, &Criteria { normalize_names: false, ..criteria });
        prop_assert_eq!(counts.iter().sum::<u64>(), expected.1.iter().sum::<u64>());
        let found: Vec<_> = said.iter().filter(|said| said.verdict != Verdict::Respelled).collect();
        for it in expected.0.iter().filter(|said| said.verdict != Verdict::Metadata) {
            prop_assert!(found.contains(&it), "{:?}", it);
        }
        let is_pair = |path: &&Path| new.contains_key(&Path(decode(&path.0)));
        let names = old.keys().filter(is_pair).filter(|path| !last(path).is_ascii()).count();
        let reported = said.iter().filter(|said| said.verdict == Verdict::Respelled).count();
        prop_assert!(reported <= old.keys().filter(is_pair).count() && (names == 0 || !said.is_empty()));
    }
}

fn last(path: &Path) -> &[u8] {
    path.0.rsplit(|byte| *byte == b'/').next().unwrap()
}

fn decode(path: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(path).replace(COMPOSED[0], "a").replace(COMPOSED[1], "b").into_bytes()
}

proptest! {
    /// Nothing below a path that one of two manifests could not read is added, removed or moved.
    #[test]
    fn what_could_not_be_read_is_unknown(
        old in entries(8),
        new in entries(8),
        failed in [prop::sample::subsequence(PATHS.to_vec(), 0..3), prop::sample::subsequence(PATHS.to_vec(), 0..3)],
        mode in prop::sample::select(vec![Mode::Strict, Mode::Content, Mode::Metadata]),
    ) {
        let criteria = Criteria { mode, ..Criteria::default() };
        let list = |paths: &[&str]| Failed::new(paths.iter().map(|path| path.as_bytes().to_vec()).collect());
        let lists = [list(&failed[0]), list(&failed[1])];
        let of = |failed: &Failed, entries: &Entries| {
            manifest(&Header { failed: failed.clone(), ..header(XXH3, false) }, entries)
        };
        let manifests = [of(&lists[0], &old), of(&lists[1], &new)];
        let (said, summary) = said(&manifests[0], &manifests[1], &criteria).unwrap();

        let all = Failed::union(&lists);
        let is_known = |path: &Path, other: &Entries| other.contains_key(path) || !all.covers(&path.0);
        let [mut known_old, mut known_new] = [old.clone(), new.clone()];
        known_old.retain(|path, _| is_known(path, &new));
        known_new.retain(|path, _| is_known(path, &old));
        let mut expected = expected(&known_old, &known_new, &criteria, |_| true);
        expected.retain(|said| said.verdict != Verdict::Ok);
        let lone = old.keys().chain(new.keys()).filter(|path| {
            !known_old.contains_key(path) && !known_new.contains_key(path)
        });
        let mut unknown: Vec<Vec<u8>> = lone.map(|path| path.0.clone()).chain(all.paths().to_vec()).collect();
        unknown.sort();
        unknown.dedup();
        prop_assert_eq!(summary.count(Verdict::Unknown), unknown.len() as u64);
        let (said, known): (Vec<_>, Vec<_>) = said.into_iter().partition(|said| said.verdict == Verdict::Unknown);
        let mut said: Vec<_> = said.into_iter().map(|said| said.path.into_bytes()).collect();
        said.sort();
        prop_assert_eq!(said, unknown);
        prop_assert_eq!(known, expected);
    }
}

/// The names of what could not be read may have another normal form.
#[test]
fn the_spelling_of_what_could_not_be_read_does_not_matter() {
    let tree = |letters, names: &[&str]| {
        let entries = names.iter().map(|name| (Path::new(name), entry_of_file())).collect();
        spelled(&entries, letters)
    };
    let failed = |letters: [&str; 2]| Failed::new(vec![letters[0].as_bytes().to_vec()]);
    for [one, other] in [[COMPOSED, DECOMPOSED], [DECOMPOSED, COMPOSED]] {
        let hole = Header { failed: failed(one), ..header(XXH3, false) };
        let hole = manifest(&hole, &tree(one, &["z"]));
        let whole = manifest(&header(XXH3, false), &tree(other, &["a/x", "a/y", "z"]));
        for (old, new) in [(&hole, &whole), (&whole, &hole)] {
            let (said, _) = said(old, new, &Criteria::default()).unwrap();
            assert_eq!(said.len(), 3);
            assert!(said.iter().all(|said| said.verdict == Verdict::Unknown), "{said:?}");
        }
    }
}
