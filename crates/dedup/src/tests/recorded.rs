//! The search among recorded files against a naive model.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ftk_file::FsId;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

use crate::{RecordedFile, RecordedMember, RecordedName, RecordedSearch};

/// A recorded file with an owned digest. There are few different values, so that many are equal.
#[derive(Clone, Debug)]
struct Recorded {
    member: RecordedMember,
    dev: Option<u64>,
    size: u64,
    digest: [u8; 16],
}

type Identity = (Option<u8>, Option<u64>, Option<u64>);
type Times = (Option<i128>, Option<i128>);
type Values = (Identity, Times, (Option<u8>, u64, usize, u8));

fn recorded() -> impl Strategy<Value = Vec<Recorded>> {
    let identity = (weighted(0.7, 0..2_u8), weighted(0.9, 0..9_u64), weighted(0.9, 0..2_u64));
    let times = (weighted(0.9, 0..2_i128), weighted(0.9, 0..2_i128));
    // Most files with the same inode number have the same content, as in a real record.
    let content = (weighted(0.1, 0..4_u8), 1..3_u64, 0..3_usize, 0..20_u8);
    let file = (identity, times, content);
    vec(file, 0..120).prop_map(|files| {
        let file = |(nth, values): (usize, Values)| {
            let ((fs, ino, dev), (mtime_ns, ctime_ns), (other, size, manifest, name)) = values;
            let kind = other.unwrap_or((u64::from(fs.unwrap_or(0)) + ino.unwrap_or(0)) as u8 % 4);
            let size: u64 = if other.is_some() { size } else { 1 + u64::from(kind) / 2 };
            let path = format!("{}/{nth}", "d".repeat(name.into())).into_bytes();
            let fs = fs.map(|fs| FsId::from_bytes([fs; 16]));
            let (nlink, allocated) = (ino, None);
            let member = RecordedMember { manifest, path, fs, ino, nlink, allocated, mtime_ns, ctime_ns };
            Recorded { member, dev, size, digest: [kind; 16] }
        };
        (0..).zip(files).map(file).collect()
    })
}

/// What names a file: equal values are one file. The second value tells whether records may contradict each other.
fn identity(nth: usize, file: &Recorded) -> (String, bool) {
    let RecordedMember { fs, ino, mtime_ns, ctime_ns, .. } = &file.member;
    match (fs, ino, file.dev, mtime_ns, ctime_ns) {
        (Some(fs), Some(ino), ..) => (format!("{fs:?} {ino}"), true),
        (None, Some(ino), Some(dev), Some(mtime), Some(ctime)) => {
            (format!("{dev} {ino} {mtime} {ctime}"), false)
        }
        _ => (format!("entry {nth}"), false),
    }
}

/// Size, digest, and members with the numbers of their files.
type Listed = (u64, [u8; 16], Vec<(RecordedMember, u64)>);

/// Returns the groups and the names of contradicting files.
fn expected(files: &[Recorded]) -> (Vec<Listed>, BTreeSet<Vec<u8>>) {
    let mut contents = BTreeMap::<_, BTreeSet<_>>::new();
    for (nth, file) in files.iter().enumerate() {
        contents.entry(identity(nth, file)).or_default().insert((file.size, file.digest));
    }
    let contradicts = |id: &(String, bool)| id.1 && contents[id].len() > 1;
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    let mut contradicting = BTreeSet::new();
    for (nth, file) in files.iter().enumerate() {
        let id = identity(nth, file);
        if contradicts(&id) {
            contradicting.insert(file.member.path.clone());
        } else {
            groups.entry((file.size, file.digest)).or_default().push((file.member.clone(), id));
        }
    }
    let mut listed = Vec::new();
    for ((size, digest), mut members) in groups {
        members.sort_by(|(a, _), (b, _)| (&a.path, a.manifest).cmp(&(&b.path, b.manifest)));
        let mut ids = Vec::new();
        let number = |(member, id)| {
            let nth = ids.iter().position(|it| *it == id).unwrap_or_else(|| {
                ids.push(id);
                ids.len() - 1
            });
            (member, nth as u64)
        };
        let members: Vec<_> = members.into_iter().map(number).collect();
        if ids.len() > 1 {
            listed.push((size * (ids.len() as u64 - 1), (size, digest, members)));
        }
    }
    listed.sort_by_key(|(waste, (size, digest, _))| (Reverse(*waste), *digest, *size));
    (listed.into_iter().map(|(_, group)| group).collect(), contradicting)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn recorded_files_are_grouped_as_in_the_model(files in recorded(), memory in prop_oneof![Just(0), Just(1 << 30)]) {
        let mut search = RecordedSearch::new(16, memory);
        for (entry, Recorded { member, dev, size, digest }) in (0..).zip(&files) {
            search.add(&RecordedFile { member, entry, dev: *dev, size: *size, digest }).unwrap();
        }
        let found = search.finish().unwrap();
        let (groups, contradicting) = expected(&files);
        let (mut names, mut listed) = (found.names().unwrap(), Vec::<Listed>::new());
        while let Some(name) = names.next().unwrap() {
            let RecordedName { is_first, size, digest, cluster, has_hard_links, member } = name;
            if is_first {
                listed.push((size, digest.as_bytes().try_into().unwrap(), Vec::new()));
            }
            let (.., members) = listed.last_mut().expect("the first member begins a group");
            members.push((member, cluster));
            prop_assert!(has_hard_links || cluster + 1 == members.len() as u64);
        }
        prop_assert_eq!(listed, groups);
        let (mut names, mut paths) = (found.contradictions().unwrap(), Vec::new());
        let mut numbers = Vec::new();
        while let Some(name) = names.next().unwrap() {
            paths.push(name.path);
            numbers.push(name.file);
        }
        prop_assert!(numbers.is_sorted(), "the names of a file follow each other");
        prop_assert_eq!(paths.len(), contradicting.len());
        prop_assert_eq!(paths.into_iter().collect::<BTreeSet<_>>(), contradicting);
    }
}
