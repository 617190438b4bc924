//! Verifying trees.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{
    Criteria, Failed, Field, Finding, Header, Manifest, Mode, Sample, Summary, Verdict, VerifyPlan, Xattr,
};
use ftk_walk::FileType;
use proptest::prelude::*;

use crate::model::{Entries, Owned, Path, Said, all_versions, entry, expected, header, manifest, read};
use crate::trees::{Dir, Walked};
use crate::update::update;

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// The results of a verification, and how many files it read.
pub(crate) struct Run {
    pub(crate) said: Vec<Said>,
    pub(crate) summary: Summary,
    read: usize,
}

pub(crate) fn verify(walked: &Walked, manifest: &Manifest, criteria: &Criteria, exit_on_first: bool) -> Run {
    let tree = walked.tree();
    let budget = Budget::new(1 << 30);
    let plan = VerifyPlan::new(manifest, &tree, criteria, &budget).unwrap();
    let mut run = Run { said: Vec::new(), summary: Summary::default(), read: 0 };
    let mut is_over = false;
    for batch in plan.batches(exit_on_first) {
        let rows = walked.read(Some(&batch.files), &manifest.header().algorithms);
        run.read += batch.files.len();
        run.summary += plan
            .verify(&batch, &rows, &mut |finding| {
                run.said.push(Said::of(finding));
                is_over = exit_on_first && finding.verdict != Verdict::Ok;
                if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        if is_over {
            break;
        }
    }
    run
}

/// Verifies the tree against these entries.
fn against(dir: &Dir, recorded: &Entries, criteria: &Criteria) -> Run {
    verify(&dir.walk(criteria.needs_stats()), &manifest(&header(XXH3, false), recorded), criteria, false)
}

/// Returns everything that is not as recorded.
fn differences(dir: &Dir, recorded: &Entries, criteria: &Criteria) -> Vec<(String, Verdict, Vec<Field>)> {
    let said = against(dir, recorded, criteria).said.into_iter();
    said.filter(|it| it.verdict != Verdict::Ok).map(|it| (it.path, it.verdict, it.changed)).collect()
}

#[test]
fn a_tree_is_as_recorded() {
    let dir = Dir::new();
    let recorded = dir.entries(XXH3);
    for mode in [Mode::Strict, Mode::Content, Mode::Metadata] {
        let criteria = Criteria { mode, ..Criteria::default() };
        for files in [false, true] {
            let versions = all_versions(&header(XXH3, false), &recorded);
            assert_eq!(versions.len(), 2);
            for manifest in &versions {
                let run = verify(&dir.walk(files), manifest, &criteria, false);
                assert!(run.said.iter().all(|said| said.verdict == Verdict::Ok));
                assert_eq!(run.summary.count(Verdict::Ok), recorded.len() as u64);
                let files = 7;
                let (read, unread) = if mode == Mode::Metadata { (0, files) } else { (files, 0) };
                assert_eq!((run.read as u64, run.summary.unread), (read, unread));
            }
        }
    }
}

/// Changes one recorded field; returns false if the entry does not have it.
fn change(entry: &mut Owned, field: Field) -> bool {
    let stat = &mut entry.stat;
    let is_file = stat.file_type == FileType::Regular;
    match field {
        Field::Size if is_file => stat.size += 1,
        Field::Mtime if stat.file_type != FileType::Directory => stat.mtime_ns += 1,
        Field::Mode => stat.mode ^= 0o001,
        Field::Uid => stat.uid += 1,
        Field::Gid => stat.gid += 1,
        Field::Target => match &mut entry.target {
            Some(target) => target[0] ^= 1,
            None => return false,
        },
        Field::Digests if is_file => entry.digests[7] ^= 1,
        Field::Type if stat.file_type == FileType::Fifo => stat.file_type = FileType::Socket,
        Field::Type if stat.file_type == FileType::Directory => stat.file_type = FileType::Fifo,
        _ => return false,
    }
    true
}

#[test]
fn each_single_change_is_reported_for_every_type() {
    let dir = Dir::new();
    let recorded = dir.entries(XXH3);
    let mut seen = BTreeSet::new();
    for path in ["file", "a", ".", "link", "a/pipe", "socket"].map(Path::new) {
        for field in Field::ALL {
            let mut recorded = recorded.clone();
            let entry = recorded.get_mut(&path).unwrap();
            if !change(entry, field) {
                continue;
            }
            seen.insert(field);
            let verdict = match field {
                Field::Type | Field::Size => Verdict::Modified,
                Field::Digests | Field::Target => Verdict::Corrupted,
                _ => Verdict::Metadata,
            };
            let changed = vec![field];
            let name = String::from_utf8(path.0.clone()).unwrap();
            let found = differences(&dir, &recorded, &Criteria::default());
            assert_eq!(found, [(name.clone(), verdict, changed)], "{field}");
            let ignore = Criteria { ignore: vec![field], ..Criteria::default() };
            assert_eq!(differences(&dir, &recorded, &ignore), [], "{name} {field}");
            for mode in [Mode::Content, Mode::Metadata] {
                let criteria = Criteria { mode, ..Criteria::default() };
                let is_seen = criteria.compares(field);
                let found = differences(&dir, &recorded, &criteria);
                assert_eq!(found.is_empty(), !is_seen, "{name} {field} {mode:?}");
            }
        }
        // Fields that are only for updates are not compared.
        let mut recorded = recorded.clone();
        let stat = &mut recorded.get_mut(&path).unwrap().stat;
        (stat.ino, stat.dev, stat.nlink, stat.ctime_ns) = (1, 2, 3, 4);
        (stat.blocks, stat.birth_ns) = (5, Some(6));
        if stat.file_type == FileType::Directory {
            (stat.mtime_ns, stat.size) = (5, 6);
        }
        assert_eq!(differences(&dir, &recorded, &Criteria::default()), []);
    }
    let never = [Field::Rdev, Field::Xattrs, Field::LinkGroup];
    let compared = Field::ALL.into_iter().filter(|field| field.is_compared() && !never.contains(field));
    assert_eq!(seen, compared.collect());
}

/// Each bit of the mode and each size of a change of the time are differences.
#[test]
fn every_bit_of_the_mode_and_every_nanosecond_counts() {
    let dir = Dir::new();
    let recorded = dir.entries(XXH3);
    let found = |path: Path, change: &dyn Fn(&mut Owned)| {
        let mut recorded = recorded.clone();
        change(recorded.get_mut(&path).unwrap());
        let name = String::from_utf8(path.0).unwrap();
        let found = differences(&dir, &recorded, &Criteria::default());
        assert!(found.iter().all(|(path, ..)| *path == name), "{found:?}");
        found.into_iter().map(|(_, verdict, changed)| (verdict, changed)).collect::<Vec<_>>()
    };
    for path in ["file", "a", ".", "link", "a/pipe", "socket"] {
        for bit in 0..12 {
            let found = found(Path::new(path), &|entry| entry.stat.mode ^= 1 << bit);
            assert_eq!(found, [(Verdict::Metadata, vec![Field::Mode])], "{path} bit {bit}");
        }
    }
    for path in ["file", "link", "a/pipe", "socket"] {
        for by in [1, -1, 999, -1_000_000_000, 86_400_000_000_000] {
            let found = found(Path::new(path), &|entry| entry.stat.mtime_ns += by);
            assert_eq!(found, [(Verdict::Metadata, vec![Field::Mtime])], "{path} {by}");
        }
    }
}

#[test]
fn edits_and_corruption_are_distinguished() {
    let dir = Dir::new();
    let recorded = dir.entries(XXH3);
    dir.write("file", "CONTENT");
    let changed = vec![Field::Mtime, Field::Digests];
    let is = |verdict, changed| vec![("file".to_owned(), verdict, changed)];
    assert_eq!(differences(&dir, &recorded, &Criteria::default()), is(Verdict::Modified, changed));
    dir.touch("file", 1_000_000_007);
    let rot = is(Verdict::Corrupted, vec![Field::Digests]);
    assert_eq!(differences(&dir, &recorded, &Criteria::default()), rot);
    // Size and mtime distinguish an edit from corruption even if they are not compared.
    let criteria = Criteria { mode: Mode::Content, ..Criteria::default() };
    assert_eq!(differences(&dir, &recorded, &criteria), rot);
    dir.touch("file", 1_000_000_008);
    assert_eq!(differences(&dir, &recorded, &criteria), is(Verdict::Modified, vec![Field::Digests]));
    dir.write("file", "content and more");
    dir.touch("file", 1_000_000_007);
    let changed = vec![Field::Size, Field::Digests];
    assert_eq!(differences(&dir, &recorded, &Criteria::default()), is(Verdict::Modified, changed));
}

#[test]
fn a_moved_file_is_one_finding() {
    let dir = Dir::new();
    let recorded = dir.entries(XXH3);
    fs::rename(dir.at("a/x"), dir.at("x")).unwrap();
    fs::rename(dir.at("twin"), dir.at("z")).unwrap();
    fs::rename(dir.at("file"), dir.at("y")).unwrap();
    dir.write("n", "m"); // as long as a/x, with other content
    fs::remove_file(dir.at("a-b")).unwrap();
    let run = against(&dir, &recorded, &Criteria::default());
    let said: Vec<_> = run.said.into_iter().filter(|said| said.verdict != Verdict::Ok).collect();
    let is = |path: &str, verdict, new_path: &str| Said {
        path: path.into(),
        verdict,
        changed: Vec::new(),
        new_path: (!new_path.is_empty()).then(|| new_path.into()),
    };
    assert_eq!(
        said,
        [
            is("a-b", Verdict::Missing, ""),
            is("a/x", Verdict::Moved, "x"),
            is("file", Verdict::Moved, "y"),
            is("n", Verdict::New, ""),
            is("twin", Verdict::Moved, "z"),
        ]
    );
    // Three files that are still there, and four new ones that have the size of a missing one.
    assert_eq!(run.read, 7);
    let criteria = Criteria { mode: Mode::Metadata, ..Criteria::default() };
    let run = against(&dir, &recorded, &criteria);
    assert_eq!((run.summary.count(Verdict::Missing), run.summary.count(Verdict::New)), (4, 4));
    assert_eq!(run.read, 0);
}

#[test]
fn new_files_are_read_only_if_they_may_have_moved() {
    let dir = Dir::new();
    let recorded = dir.entries(XXH3);
    dir.write("new", "content");
    dir.write("newer", "some content of another length");
    assert_eq!(against(&dir, &recorded, &Criteria::default()).read, 7);
    fs::remove_file(dir.at("twin")).unwrap();
    let run = against(&dir, &recorded, &Criteria::default());
    assert_eq!(run.read, 7, "six old ones and a new one");
}

/// Small files coincide. They have moved only if they are the same inode, and were born at the same time: a file system
/// gives the number of a deleted file to the next one.
#[test]
fn h99_small_files_move_only_as_the_same_inode() {
    let is = |said: &[Said]| -> Vec<_> {
        let differing = said.iter().filter(|said| said.verdict != Verdict::Ok && said.path != ".");
        differing.map(|said| (said.verdict, said.path.clone(), said.new_path.clone())).collect()
    };
    for (len, is_small) in [(0, true), (1, true), (63, true), (64, false)] {
        let dir = Dir::new();
        dir.write("old", &"x".repeat(len));
        dir.write("renamed", &"y".repeat(len));
        let recorded = dir.entries(XXH3);
        fs::rename(dir.at("renamed"), dir.at("z2")).unwrap();
        fs::remove_file(dir.at("old")).unwrap();
        dir.write("z1", &"x".repeat(len));
        let moved = |old: &str, new: &str| (Verdict::Moved, old.to_owned(), Some(new.to_owned()));
        let mut expected = match is_small {
            true => vec![(Verdict::Missing, "old".into(), None), (Verdict::New, "z1".into(), None)],
            false => vec![moved("old", "z1")],
        };
        // Not every file system records times of birth.
        let has_birth = recorded[&Path::new("renamed")].stat.birth_ns.is_some();
        match has_birth || !is_small {
            true => expected.push(moved("renamed", "z2")),
            false => expected
                .extend([(Verdict::Missing, "renamed".into(), None), (Verdict::New, "z2".into(), None)]),
        }
        expected.sort_by(|a, b| a.1.cmp(&b.1));
        let mut said = is(&against(&dir, &recorded, &Criteria::default()).said);
        said.sort_by(|a, b| a.1.cmp(&b.1));
        assert_eq!(said, expected, "{len} bytes");
        let manifests = [&recorded, &dir.entries(XXH3)].map(|it| manifest(&header(XXH3, false), it));
        let mut said = is(&crate::diff::said(&manifests[0], &manifests[1], &Criteria::default()).unwrap().0);
        said.retain(|said| said.0 != Verdict::Metadata);
        said.sort_by(|a, b| a.1.cmp(&b.1));
        assert_eq!(said, expected, "{len} bytes, two manifests");
    }
}

#[test]
fn paths_in_a_hostile_manifest_are_never_opened() {
    let outside = Dir::new();
    let dir = Dir::new();
    symlink(outside.path(), dir.at("out")).unwrap();
    let recorded = dir.entries(XXH3);
    let mut hostile = recorded.clone();
    let file = recorded[&Path::new("file")].clone();
    // Through a link, below a file, and a pipe, socket or directory recorded as a regular file.
    for path in ["out/file", "link/x", "file/x", "a/pipe", "socket", "empty"] {
        hostile.insert(Path::new(path), file.clone());
    }
    let run = against(&dir, &hostile, &Criteria::default());
    let verdict = |path: &str| run.said.iter().find(|said| said.path == path).unwrap().verdict;
    assert_eq!(["out/file", "link/x", "file/x"].map(verdict), [Verdict::Missing; 3]);
    assert_eq!(["a/pipe", "socket", "empty"].map(verdict), [Verdict::Modified; 3]);
    assert_eq!(run.read, 7);
}

#[test]
fn unreadable_entries_are_not_reported_as_ok() {
    let dir = Dir::new();
    let recorded = dir.entries(XXH3);
    let mut walked = dir.walk(false);
    // Between the walk and the read, one file is removed, and another is replaced by a symbolic link.
    fs::remove_file(dir.at("file")).unwrap();
    fs::remove_file(dir.at("a/x")).unwrap();
    symlink("b/c", dir.at("a/x")).unwrap();
    // The walk could not list a directory.
    walked.failed = vec![[&walked.root[..], b"/gone"].concat()];
    let mut recorded = recorded;
    for path in ["gone", "gone/deep/er", "gone2"] {
        recorded.insert(Path::new(path), recorded[&Path::new("file")].clone());
    }
    let run = verify(&walked, &manifest(&header(XXH3, false), &recorded), &Criteria::default(), false);
    let said: Vec<_> = run.said.iter().filter(|it| it.verdict != Verdict::Ok).collect();
    let said: Vec<_> = said.iter().map(|it| (&*it.path, it.verdict)).collect();
    let unreadable = |path| (path, Verdict::Unreadable);
    assert_eq!(
        said,
        [
            unreadable("a/x"),
            unreadable("file"),
            unreadable("gone"),
            unreadable("gone/deep/er"),
            ("gone2", Verdict::Missing),
        ]
    );
}

/// A manifest that could not record `a` and `twin`, the latter with an older record.
#[test]
fn what_the_manifest_could_not_record_is_unknown() {
    let dir = Dir::new();
    let mut recorded = dir.entries(XXH3);
    recorded.retain(|path, _| !path.0.starts_with(b"a/") && path.0 != b"none");
    // The content is now only at an unknown path, and one that was kept is gone.
    let gone = recorded[&Path::new("file")].clone();
    recorded.insert(Path::new("a/gone"), gone.clone());
    recorded.insert(Path::new("missing"), gone);
    dir.write("a/x", "content that is as long as that of a file which may have moved, so that it counts");
    let failed = Failed::new(["a", "lost", "twin"].map(|path| path.as_bytes().to_vec()).into());
    let hole = manifest(&Header { failed, ..header(XXH3, false) }, &recorded);
    for exit_on_first in [false, true] {
        let run = verify(&dir.walk(false), &hole, &Criteria::default(), exit_on_first);
        let said: Vec<_> = run.said.iter().filter(|said| said.verdict != Verdict::Ok).collect();
        let said: Vec<_> = said.iter().map(|said| (&*said.path, said.verdict)).collect();
        let unknown = |path| (path, Verdict::Unknown);
        let expected = [
            unknown("a"),
            unknown("a/b"),
            unknown("a/b/c"),
            unknown("a/dangling"),
            unknown("a/gone"),
            unknown("a/pipe"),
            unknown("a/x"),
            unknown("lost"),
            ("missing", Verdict::Missing),
            ("none", Verdict::New),
            unknown("twin"),
        ];
        assert_eq!(said, &expected[..if exit_on_first { 1 } else { expected.len() }]);
    }
}

#[test]
fn a_sample_reads_some_files_and_compares_all_metadata() {
    let dir = Dir::new();
    (0..200).for_each(|n| dir.write(&format!("empty/{n}"), "some"));
    let mut recorded = dir.entries(XXH3);
    for n in 0..200 {
        recorded.get_mut(&Path::new(&format!("empty/{n}"))).unwrap().digests[0] ^= 1;
    }
    recorded.get_mut(&Path::new("file")).unwrap().stat.mode = 0;
    let criteria = |percent| Criteria { sample: Some(Sample::new(percent)), ..Criteria::default() };
    let corrupted = |percent| {
        let run = against(&dir, &recorded, &criteria(percent));
        assert_eq!(run.summary.count(Verdict::Metadata), 1);
        // The file with another mode does not count as unread.
        assert!((206..=207).contains(&(run.read as u64 + run.summary.unread)));
        run.summary.count(Verdict::Corrupted)
    };
    assert_eq!(corrupted(0.0), 0);
    assert_eq!(corrupted(100.0), 200);
    let some = corrupted(50.0);
    assert!((30..170).contains(&some), "{some}");
}

#[test]
fn exit_on_first_ends_at_the_first_difference() {
    let dir = Dir::new();
    (0..3_000).for_each(|n| dir.write(&format!("empty/{n}"), "some"));
    let walked = dir.walk(false);
    let recorded = dir.entries(XXH3);
    let manifest_of = |entries: &Entries| manifest(&header(XXH3, false), entries);
    let run = verify(&walked, &manifest_of(&recorded), &Criteria::default(), true);
    assert_eq!((run.said.len(), run.read), (recorded.len(), 3_007), "several batches, and each entry once");
    let paths: BTreeSet<_> = run.said.iter().map(|said| &said.path).collect();
    assert_eq!(paths.len(), recorded.len());
    let mut metadata = recorded.clone();
    metadata.get_mut(&Path::new("socket")).unwrap().stat.mode ^= 1;
    let run = verify(&walked, &manifest_of(&metadata), &Criteria::default(), true);
    assert_eq!(run.said.last().unwrap().path, "socket");
    assert!(run.read < 300, "{}", run.read);
    let mut content = recorded.clone();
    content.get_mut(&Path::new("empty/2999")).unwrap().digests[0] ^= 1;
    let run = verify(&walked, &manifest_of(&content), &Criteria::default(), true);
    assert_eq!(run.said.iter().filter(|said| said.verdict != Verdict::Ok).count(), 1);
    // Possibly moved files are read after the first batch and before the larger ones.
    let mut moved = recorded.clone();
    let gone = moved.remove(&Path::new("empty/2999")).unwrap();
    moved.insert(Path::new("empty/zzz"), gone);
    let run = verify(&walked, &manifest_of(&moved), &Criteria::default(), true);
    let last = run.said.last().unwrap();
    assert_eq!((&*last.path, last.new_path.as_deref()), ("empty/zzz", Some("empty/2999")));
    assert!((200..300).contains(&run.read), "{}", run.read);
    // If a difference is found without them, possibly moved files are not read.
    moved.get_mut(&Path::new("socket")).unwrap().stat.mode ^= 1;
    (0..1_000).for_each(|n| _ = moved.remove(&Path::new(&format!("empty/{n}"))));
    let run = verify(&walked, &manifest_of(&moved), &Criteria::default(), true);
    assert_eq!((&*run.said.last().unwrap().path, run.read), ("socket", 256));
}

/// All batches together give every verdict once, in either order.
#[test]
fn batches_together_give_every_verdict_once() {
    let dir = Dir::new();
    (0..600).for_each(|n| dir.write(&format!("empty/{n}"), "some"));
    let walked = dir.walk(false);
    let mut recorded = dir.entries(XXH3);
    for n in 0..20 {
        let entry = recorded.remove(&Path::new(&format!("empty/{n}"))).unwrap();
        recorded.insert(Path::new(&format!("gone/{n}")), entry);
    }
    let mut lost = recorded[&Path::new("gone/3")].clone();
    lost.digests[0] ^= 1;
    recorded.insert(Path::new("lost"), lost);
    recorded.remove(&Path::new("twin"));
    let manifest = manifest(&header(XXH3, false), &recorded);
    let tree = walked.tree();
    let (criteria, budget) = (Criteria::default(), Budget::new(1 << 30));
    let plan = VerifyPlan::new(&manifest, &tree, &criteria, &budget).unwrap();
    let said = |exit_on_first| {
        let (mut said, mut summary) = (Vec::new(), Summary::default());
        for batch in plan.batches(exit_on_first) {
            let rows = walked.read(Some(&batch.files), XXH3);
            let mut each = |finding: &Finding<'_>| {
                said.push(Said::of(finding));
                ControlFlow::Continue(())
            };
            summary += plan.verify(&batch, &rows, &mut each).unwrap();
        }
        said.sort_by(|a, b| a.path.cmp(&b.path));
        (said, summary)
    };
    assert_eq!(plan.batches(true).len(), 3);
    let (whole, parts) = (said(false), said(true));
    assert_eq!(whole, parts);
    assert_eq!((whole.1.count(Verdict::Moved), whole.1.count(Verdict::Missing)), (20, 1));
}

#[test]
fn extended_attributes_are_compared_if_recorded() {
    let dir = Dir::new();
    let set = |name: &str, value: &[u8]| {
        rustix::fs::setxattr(dir.at(name), "user.ftk", value, rustix::fs::XattrFlags::empty())
    };
    // Some file systems have no extended attributes; those that tests run on do.
    set("file", b"\0\xff").unwrap();
    set("a", b"").unwrap();
    let header = header(XXH3, true);
    let recorded = dir.manifest(&header);
    let entries = read(&recorded).unwrap();
    let own = |path: &str| {
        let xattrs = entries[&Path::new(path)].xattrs.clone().unwrap();
        xattrs.into_iter().filter(|xattr| xattr.name.starts_with(b"user.")).collect::<Vec<_>>()
    };
    assert_eq!(own("file"), [Xattr { name: b"user.ftk".to_vec(), value: b"\0\xff".to_vec() }]);
    assert_eq!(own("a"), [Xattr { name: b"user.ftk".to_vec(), value: Vec::new() }]);
    for path in ["link", "pipe", "socket", "a/x"] {
        assert_eq!(own(path), []);
    }
    let criteria = Criteria::default();
    let said = || {
        let run = verify(&dir.walk(false), &recorded, &criteria, false);
        let said = run.said.into_iter().filter(|said| said.verdict != Verdict::Ok);
        said.map(|it| (it.path, it.verdict, it.changed)).collect::<Vec<_>>()
    };
    assert_eq!(said(), []);
    set("a", b"other").unwrap();
    set("a/b/c", b"more").unwrap();
    rustix::fs::removexattr(dir.at("file"), "user.ftk").unwrap();
    let is = |path: &str| (path.to_owned(), Verdict::Metadata, vec![Field::Xattrs]);
    assert_eq!(said(), [is("a"), is("a/b/c"), is("file")]);
    let ignore = Criteria { ignore: vec![Field::Xattrs], ..Criteria::default() };
    let run = verify(&dir.walk(false), &recorded, &ignore, false);
    assert!(run.said.iter().all(|said| said.verdict == Verdict::Ok));
}

/// Workers leave the process's descriptor table, so a descriptor number from a worker is not valid in other
/// threads.
#[test]
#[expect(unsafe_code, reason = "leave_shared_descriptors is unsafe")]
fn extended_attributes_are_read_by_a_thread_with_its_own_descriptors() {
    let dir = Dir::new();
    rustix::fs::setxattr(dir.at("a/x"), "user.ftk", b"value", rustix::fs::XattrFlags::empty()).unwrap();
    let dir = &dir;
    let recorded = std::thread::scope(|scope| {
        let create = move || {
            // SAFETY: the thread closes all that it opens, and returns bytes.
            unsafe { ftk_read::leave_shared_descriptors() };
            read(&dir.manifest(&header(&[], true))).unwrap()
        };
        scope.spawn(create).join().unwrap()
    });
    let xattrs = recorded[&Path::new("a/x")].xattrs.clone().unwrap();
    assert_eq!(xattrs, [Xattr { name: b"user.ftk".to_vec(), value: b"value".to_vec() }]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn verdicts_match_the_model(
        mutations in prop::collection::vec((any::<prop::sample::Index>(), 0..6_u8, 0..Field::ALL.len()), 0..8),
        others in prop::collection::btree_map(
            prop::sample::select(vec!["a/0", "link/x", "z", "a b/0"]).prop_map(Path::new), entry(8), 0..4),
        mode in prop::sample::select(vec![Mode::Strict, Mode::Content, Mode::Metadata]),
        ignore in prop::sample::subsequence(Field::ALL.to_vec(), 0..3),
        files in any::<bool>(),
    ) {
        thread_local!(static DIR: Dir = Dir::new());
        DIR.with(|dir| {
            let now = dir.entries(XXH3);
            let mut recorded = now.clone();
            for (index, what, field) in &mutations {
                let path = index.get(&PATHS_OF_DIR).to_owned();
                let path = Path::new(path);
                match what {
                    // Not recorded: new in the tree.
                    0 => { recorded.remove(&path); }
                    // Recorded at another path.
                    1 => if let Some(entry) = recorded.remove(&path) {
                        recorded.insert(Path([&path.0[..], b".moved"].concat()), entry);
                    },
                    2 => if let Some(entry) = recorded.get_mut(&path) {
                        entry.forget(Field::ALL[*field]);
                    },
                    _ => if let Some(entry) = recorded.get_mut(&path) {
                        change(entry, Field::ALL[*field]);
                    },
                }
            }
            recorded.extend(others.clone());
            let criteria = Criteria { mode, ignore: ignore.clone(), ..Criteria::default() };
            let manifest = manifest(&header(XXH3, false), &recorded);
            let run = verify(&dir.walk(files), &manifest, &criteria, false);
            prop_assert_eq!(run.said, expected(&recorded, &now, &criteria, |_| true));
            Ok(())
        })?;
    }
}

/// The entries that [`Dir::new`] makes.
const PATHS_OF_DIR: [&str; 17] = [
    ".",
    "a",
    "a b",
    "a b/\u{e9}\n",
    "a-b",
    "a/b",
    "a/b/c",
    "a/dangling",
    "a/pipe",
    "a/x",
    "empty",
    "file",
    "link",
    "none",
    "pipe",
    "socket",
    "twin",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// It makes no difference in which normal form the manifest has the names of the tree.
    #[test]
    fn names_in_another_normal_form_are_verified_like_the_same_names(
        mutations in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8), 0..6),
        files in any::<bool>(),
    ) {
        thread_local!(static DIR: Dir = {
            let dir = Dir::new();
            for path in ["e\u{301}", "e\u{301}/o\u{308}", "e\u{301}-"] {
                fs::create_dir(dir.at(path)).unwrap();
                dir.write(&format!("{path}/file"), &format!("{path}{}", "large".repeat(20)));
                dir.write(&format!("{path}/e\u{301}"), path);
            }
            dir
        });
        DIR.with(|dir| {
            let mut recorded = dir.entries(XXH3);
            let last = |path: &Path| path.0.rsplit(|byte| *byte == b'/').next().unwrap().to_vec();
            let is_decomposed = |path: &&Path| String::from_utf8_lossy(&path.0).contains(['\u{301}', '\u{308}']);
            let paths: Vec<_> = recorded.keys().filter(is_decomposed).cloned().collect();
            for (index, what) in &mutations {
                let path = index.get(&paths).clone();
                let Some(entry) = recorded.get(&path).cloned() else { continue };
                match what {
                    // What is below a directory without a record is respelled itself.
                    0 if entry.stat.file_type == FileType::Directory => {}
                    0 => _ = recorded.remove(&path),
                    1 => _ = recorded.insert(Path([&path.0[..], b"\xff"].concat()), entry),
                    _ => _ = recorded.get_mut(&path).map(|entry| change(entry, [Field::Mode, Field::Digests][*what as usize - 2])),
                }
            }
            let composed = |path: &Path| {
                let name = |name: &[u8]| match std::str::from_utf8(name) {
                    Ok(name) => name.replace("e\u{301}", "\u{e9}").replace("o\u{308}", "\u{f6}").into_bytes(),
                    Err(_) => name.to_vec(),
                };
                Path(path.0.split(|byte| *byte == b'/').map(name).collect::<Vec<_>>().join(&b'/'))
            };
            let verified = |recorded: &Entries, normalize_names| {
                let criteria = Criteria { normalize_names, ..Criteria::default() };
                let run = verify(&dir.walk(files), &manifest(&header(XXH3, false), recorded), &criteria, false);
                let said = run.said.into_iter().map(|said| {
                    let path = composed(&Path::new(&said.path)).0;
                    (path, said.verdict, said.changed)
                });
                let mut said: Vec<_> = said.collect();
                said.sort();
                (said, run.summary.respelled, run.read)
            };
            let other: Entries = recorded.iter().map(|(path, entry)| (composed(path), entry.clone())).collect();
            let expected = verified(&recorded, true);
            prop_assert_eq!(&verified(&other, true), &expected);
            // An update has the paths of the tree, whatever the manifest has.
            let updated = |recorded: &Entries| {
                let run = update(dir, &manifest(&header(XXH3, false), recorded), None, &[]);
                (run.read, run.corrupted, read(&run.new).unwrap())
            };
            prop_assert_eq!(updated(&other), updated(&recorded));
            let (mut said, respelled, _) = verified(&other, false);
            for it in &mut said {
                let before = expected.0.iter().find(|before| before.0 == it.0).map(|it| it.1);
                if it.1 == Verdict::Respelled {
                    it.1 = before.unwrap();
                }
            }
            prop_assert_eq!(said, expected.0);
            let names = recorded.keys().filter(|path| paths.contains(path) && !last(path).is_ascii()).count();
            prop_assert_eq!(respelled, names as u64);
            Ok(())
        })?;
    }
}
