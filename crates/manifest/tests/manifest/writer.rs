//! What a writer refuses is what a reader refuses.

use std::io;

use ftk_hash::Algorithm;
use ftk_manifest::{Error, Field, Header, Manifest, Shard, Writer, Xattr};
use ftk_walk::FileType;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::model::{Entries, Owned, Path, file, header, line, open, read, seal, unchecked};
use crate::tree_digests::{ALGORITHMS, all_entries, with_trees};

/// Entries in any order, with any paths.
type List = Vec<(Path, Owned)>;

/// Writes a manifest. An error of the writer does not keep the caller from going on.
fn written(header: &Header, entries: &List) -> (Vec<u8>, Vec<io::Error>) {
    let (mut bytes, mut errors) = (Vec::new(), Vec::new());
    let mut writer = Writer::new(header, |lines: &[u8]| {
        bytes.extend_from_slice(lines);
        Ok(())
    });
    for (path, entry) in entries {
        errors.extend(writer.entry(&entry.entry(path)).err());
    }
    errors.extend(writer.finish().err());
    (bytes, errors)
}

/// Reads all entries.
fn listed(manifest: &Manifest) -> Result<List, Error> {
    let mut entries = manifest.entries()?;
    let mut found = Vec::new();
    while let Some(entry) = entries.next()? {
        found.push((Path(entry.path.to_vec()), Owned::of(&entry)));
    }
    Ok(found)
}

/// A change that makes a manifest invalid, or not.
#[derive(Clone, Debug)]
enum Change {
    Path(&'static [u8]),
    Type(FileType),
    Digests(Bytes),
    Tree(Bytes),
    Target(Option<&'static [u8]>),
    Mode(u32),
    Absent(Field),
    Verified,
    Damaged,
    Xattrs(Option<&'static [&'static [u8]]>),
    Remove,
    Repeat,
    Swap,
}

/// A change of digests.
#[derive(Clone, Debug)]
enum Bytes {
    Shorten(usize),
    Lengthen(usize),
    Flip,
}

impl Bytes {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Shorten(by) => bytes.truncate(bytes.len().saturating_sub(*by)),
            Self::Lengthen(by) => bytes.resize(bytes.len() + by, 7),
            Self::Flip => bytes.iter_mut().take(1).for_each(|byte| *byte ^= 1),
        }
    }
}

impl Change {
    fn apply(&self, entries: &mut List, at: Index) {
        if entries.is_empty() {
            return;
        }
        let at = at.index(entries.len());
        let (path, entry) = &mut entries[at];
        match self {
            Self::Path(new) => path.0 = new.to_vec(),
            Self::Type(file_type) => entry.stat.file_type = *file_type,
            Self::Digests(change) => change.apply(&mut entry.digests),
            Self::Tree(change) => change.apply(&mut entry.tree),
            Self::Target(target) => entry.target = target.map(<[u8]>::to_vec),
            Self::Mode(mode) => entry.stat.mode = *mode,
            Self::Absent(field) => _ = entry.absent.insert(*field),
            Self::Verified => entry.verified_ns = Some(1),
            Self::Damaged => entry.damaged_ns = Some(-1),
            Self::Xattrs(names) => {
                let xattr = |name: &&[u8]| Xattr { name: name.to_vec(), value: b"v".to_vec() };
                entry.xattrs = names.map(|names| names.iter().map(xattr).collect());
            }
            Self::Remove => _ = entries.remove(at),
            Self::Repeat => entries.insert(at, entries[at].clone()),
            Self::Swap => {
                let last = entries.len() - 1;
                entries.swap(at, last);
            }
        }
    }
}

/// All but the first seven stay below the root.
const PATHS: [&[u8]; 12] =
    [b"../a", b"/etc/passwd", b"", b"a//b", b"a\0b", b"a/..", b"a/", b".", b"..a", b"a/b", b"zz", b"\xff"];

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        select(&[1_usize, 8, 32, 40, 99][..]).prop_map(Bytes::Shorten),
        select(&[1_usize, 8, 32, 40][..]).prop_map(Bytes::Lengthen),
        Just(Bytes::Flip),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let types = [FileType::Regular, FileType::Directory, FileType::Symlink, FileType::Fifo, FileType::Char];
    let xattrs: [&[&[u8]]; 5] =
        [&[], &[b"user.a", b"user.b"], &[b"user.b", b"user.a"], &[b"user.a", b"user.a"], &[b"user\0"]];
    prop_oneof![
        select(&PATHS[..]).prop_map(Change::Path),
        select(types.to_vec()).prop_map(Change::Type),
        bytes().prop_map(Change::Digests),
        bytes().prop_map(Change::Tree),
        select(vec![None, Some(&b"t"[..]), Some(b"t\0"), Some(b"")]).prop_map(Change::Target),
        select(&[0_u32, 0o7777, 0o10000, 0o100_644][..]).prop_map(Change::Mode),
        select(&[Field::Type, Field::Size, Field::Mode, Field::Nlink, Field::Rdev][..])
            .prop_map(Change::Absent),
        Just(Change::Verified),
        Just(Change::Damaged),
        prop_oneof![Just(None), select(xattrs.to_vec()).prop_map(Some)].prop_map(Change::Xattrs),
        Just(Change::Remove),
        Just(Change::Repeat),
        Just(Change::Swap),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn a_writer_accepts_what_a_reader_accepts(
        entries in all_entries(),
        has_content in prop::bool::weighted(0.8),
        xattrs in any::<bool>(),
        shard in prop::option::weighted(0.2, 1..=2_u32),
        changes in prop::collection::vec((change(), any::<Index>()), 0..3),
    ) {
        let algorithms = if has_content { &ALGORITHMS[..] } else { &[] };
        let shard = shard.map(|number| Shard::hashed(number, 2));
        let header = Header { shard: shard.clone(), ..header(algorithms, xattrs) };
        let mut entries: List = with_trees(entries, &ALGORITHMS).into_iter().collect();
        for (_, entry) in &mut entries {
            entry.xattrs = xattrs.then(Vec::new);
            if !has_content {
                (entry.verified_ns, entry.damaged_ns) = (None, None);
                entry.digests.clear();
            }
            if !has_content || shard.is_some() {
                entry.tree.clear();
            }
        }
        if let Some(shard) = &shard {
            entries.retain(|(path, _)| shard.contains(&path.0));
        }
        changes.iter().for_each(|(change, at)| change.apply(&mut entries, *at));

        let lines = entries.iter().map(|(path, entry)| line(path, entry, algorithms));
        let unchecked = Manifest::open_any(file(&unchecked(&header, lines))).and_then(|it| listed(&it));
        let (bytes, errors) = written(&header, &entries);
        prop_assert_eq!(errors.is_empty(), unchecked.is_ok(), "{:?}: {:?}", errors, unchecked);
        let manifest = Manifest::open_any(file(&bytes));
        match errors.first() {
            None => prop_assert_eq!(listed(&manifest.unwrap()).unwrap(), unchecked.unwrap()),
            Some(error) => {
                prop_assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
                prop_assert!(manifest.is_err(), "there is no footer");
            }
        }
    }
}

/// A manifest that is refused, and why.
fn refused(header: &Header, entries: &[(&str, Owned)]) -> String {
    let entries = entries.iter().map(|(path, entry)| (Path::new(path), entry.clone())).collect();
    let (bytes, errors) = written(header, &entries);
    assert!(open(&bytes).is_err(), "there is no footer");
    errors.first().expect("something is refused").to_string()
}

fn regular(digests: &[u8]) -> Owned {
    Owned::new(ftk_file::Stat { mode: 0o644, ..ftk_file::Stat::EMPTY }, digests.to_vec())
}

#[test]
fn refusals_name_the_line_and_the_reason() {
    let header = header(&[Algorithm::Md5], false);
    let good = || regular(&[7; 16]);
    for (entries, why) in [
        (vec![("b", good()), ("a", good())], "line 3: 'a' is out of order"),
        (vec![("a", good()), ("a", good())], "line 3: 'a' appears twice"),
        (vec![("../a", good())], "line 2: '../a' is not a path below the root"),
        (vec![("/etc/passwd", good())], "line 2: '/etc/passwd' is not a path below the root"),
        (vec![("", good())], "line 2: '' is not a path below the root"),
        (vec![("a//b", good())], "line 2: 'a//b' is not a path below the root"),
        (vec![("a\0b", good())], "line 2: the path contains a NUL"),
        (vec![("a", regular(&[7; 17]))], DIGESTS),
        (vec![("a", regular(&[7; 15]))], DIGESTS),
        (vec![("a", regular(&[]))], DIGESTS),
    ] {
        assert_eq!(refused(&header, &entries), why);
    }
}

const DIGESTS: &str = "line 2: digests by all algorithms of the header are required for regular files and not allowed for other types";

#[test]
fn headers_that_no_reader_accepts_are_refused() {
    let good = header(&[Algorithm::Md5], false);
    let changed = |change: fn(&mut Header)| {
        let mut header = good.clone();
        change(&mut header);
        refused(&header, &[])
    };
    assert_eq!(
        changed(|header| header.algorithms = vec![Algorithm::Crc32]),
        "not a manifest of ftk: it has only CRCs, which do not identify contents"
    );
    assert_eq!(
        changed(|header| header.algorithms = vec![Algorithm::Md5, Algorithm::Md5]),
        "not a manifest of ftk: md5 appears twice"
    );
    assert_eq!(
        changed(|header| header.options = vec![b"--follow".to_vec()]),
        "made with an unknown option: '--follow'"
    );
    assert_eq!(
        changed(|header| header.root = b"/\0".to_vec()),
        "not a manifest of ftk: the path contains a NUL"
    );
}

/// The footer of a manifest says that it is complete. So no footer follows a refused entry.
#[test]
fn no_footer_follows_an_entry_that_was_refused() {
    let header = header(&[Algorithm::Md5], false);
    let entries = ["a", "../b", "c"].map(|path| (Path::new(path), regular(&[7; 16])));
    let (bytes, errors) = written(&header, &entries.to_vec());
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            "line 3: '../b' is not a path below the root",
            "a manifest without an entry that was refused is incomplete",
        ]
    );
    assert!(open(&bytes).is_err());
}

/// Lines that a test builds by hand are those of the writer, so that the property above compares what it says.
#[test]
fn lines_built_by_hand_are_read_as_those_of_the_writer() {
    let header = header(&ALGORITHMS, false);
    let entries = with_trees(
        Entries::from([(Path::new("."), directory()), (Path::new("a"), regular(&[7; 40]))]),
        &ALGORITHMS,
    );
    let lines = entries.iter().map(|(path, entry)| line(path, entry, &ALGORITHMS));
    let manifest = open(&unchecked(&header, lines)).unwrap();
    assert_eq!(manifest.header(), &header);
    assert_eq!(read(&manifest).unwrap(), entries);
    assert!(open(&seal(&["{}"])).is_err());
}

fn directory() -> Owned {
    let stat = ftk_file::Stat { file_type: FileType::Directory, mode: 0o755, ..ftk_file::Stat::EMPTY };
    Owned::new(stat, Vec::new())
}
