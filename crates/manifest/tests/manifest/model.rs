//! Manifests of owned entries, and the expected result of a comparison of two sets of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;

use data_encoding::{BASE64, HEXLOWER};
use ftk_file::{FsId, Stat};
use ftk_hash::Algorithm;
use ftk_manifest::{
    Criteria, Entry, Failed, Field, Finding, Header, Manifest, Mode, Parts, PathRange, Provenance, Shard,
    Split, Verdict, Writer, Xattr,
};
use ftk_record::Seal;
use ftk_walk::FileType;
use proptest::prelude::*;

pub(crate) use crate::owned::{Owned, Path};

/// Entries by path.
pub(crate) type Entries = BTreeMap<Path, Owned>;

impl Path {
    pub(crate) fn new(path: &str) -> Self {
        Self(path.into())
    }
}

/// Members that version 2 allows to be absent.
pub(crate) const OPTIONAL: [Field; 12] = [
    Field::Size,
    Field::Allocated,
    Field::Mtime,
    Field::Ctime,
    Field::Birth,
    Field::Mode,
    Field::Uid,
    Field::Gid,
    Field::Dev,
    Field::Ino,
    Field::Nlink,
    Field::Rdev,
];

impl Owned {
    pub(crate) fn new(stat: Stat, digests: Vec<u8>) -> Self {
        Self { digests, ..Self::of(&Entry::new(b"", stat)) }
    }

    /// Removes the value of a member; returns false if the entry must have it, or cannot have it.
    pub(crate) fn forget(&mut self, field: Field) -> bool {
        let stat = &mut self.stat;
        match field {
            Field::Size if !stat.is_regular() => stat.size = 0,
            Field::Allocated => stat.blocks = 0,
            Field::Mtime => stat.mtime_ns = 0,
            Field::Ctime => stat.ctime_ns = 0,
            // Its absence is `None`.
            Field::Birth => return stat.birth_ns.take().is_some(),
            Field::Mode => stat.mode = 0,
            Field::Uid => stat.uid = 0,
            Field::Gid => stat.gid = 0,
            Field::Dev => stat.dev = 0,
            Field::Ino => stat.ino = 0,
            Field::Nlink => stat.nlink = 0,
            Field::Rdev if stat.is_device() => stat.rdev = 0,
            Field::Target if self.target.is_some() => self.target = None,
            _ => return false,
        }
        self.absent.insert(field);
        true
    }
}

pub(crate) fn header(algorithms: &[Algorithm], xattrs: bool) -> Header {
    Header {
        version: 2,
        root: b"/r".to_vec(),
        algorithms: algorithms.into(),
        xattrs,
        trusted_xattrs: true,
        options: Vec::new(),
        start_ns: 7,
        root_identity: None,
        mounts: Vec::new(),
        failed: Failed::default(),
        shard: None,
        is_tar: false,
        provenance: Provenance::default(),
    }
}

/// Returns the bytes of a manifest.
pub(crate) fn written(header: &Header, entries: &Entries) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sink = |line: &[u8]| bytes.write_all(line);
    let mut writer = Writer::new(header, &mut sink);
    for (path, entry) in entries {
        writer.entry(&entry.entry(path)).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

/// Returns the bytes of a manifest with these lines after the header, which the writer might refuse.
pub(crate) fn unchecked(header: &Header, entries: impl IntoIterator<Item = String>) -> Vec<u8> {
    let empty = String::from_utf8(written(header, &Entries::new())).unwrap();
    let first = empty.lines().next().unwrap().to_owned();
    seal(&[first].into_iter().chain(entries).collect::<Vec<_>>())
}

/// Returns the line of an entry, whether or not readers accept it.
pub(crate) fn line(path: &Path, entry: &Owned, algorithms: &[Algorithm]) -> String {
    use serde_json::{Map, Value, json};

    fn named(name: &str, path: &[u8]) -> (String, Value) {
        match str::from_utf8(path) {
            Ok(text) => (name.into(), text.into()),
            Err(_) => (format!("{name}_b64"), BASE64.encode(path).into()),
        }
    }
    let digests = |mut rest: &[u8]| -> Value {
        let mut digests = Map::new();
        for (nth, algorithm) in algorithms.iter().enumerate() {
            let is_last = nth + 1 == algorithms.len();
            let len = if is_last { rest.len() } else { rest.len().min(algorithm.digest_len()) };
            if let Some(digest) = rest.split_off(..len).filter(|digest| !digest.is_empty()) {
                digests.insert(algorithm.name().into(), HEXLOWER.encode(digest).into());
            }
        }
        if !rest.is_empty() {
            digests.insert("unknown".into(), HEXLOWER.encode(rest).into());
        }
        digests.into()
    };
    let stat = &entry.stat;
    let types = [
        (FileType::Regular, "file"),
        (FileType::Directory, "directory"),
        (FileType::Symlink, "symlink"),
        (FileType::Fifo, "fifo"),
        (FileType::Socket, "socket"),
        (FileType::Block, "block_device"),
        (FileType::Char, "char_device"),
    ];
    let name = types.iter().find(|(file_type, _)| *file_type == stat.file_type).unwrap().1;
    let mut line = Map::from_iter([named("path", &path.0)]);
    line.extend(entry.target.as_ref().map(|target| named("target", target)));
    line.extend(entry.link_group.as_ref().map(|group| named("link_group", group)));
    let is_device = [FileType::Block, FileType::Char].contains(&stat.file_type);
    let time = |time: i128| i64::try_from(time).unwrap().into();
    let known: [(Field, Value); 12] = [
        (Field::Type, name.into()),
        (Field::Size, stat.size.into()),
        (Field::Allocated, (stat.blocks * 512).into()),
        (Field::Mtime, time(stat.mtime_ns)),
        (Field::Ctime, time(stat.ctime_ns)),
        (Field::Mode, format!("{:04o}", stat.mode).into()),
        (Field::Uid, stat.uid.into()),
        (Field::Gid, stat.gid.into()),
        (Field::Dev, stat.dev.into()),
        (Field::Ino, stat.ino.into()),
        (Field::Nlink, stat.nlink.into()),
        (Field::Rdev, stat.rdev.into()),
    ];
    let known = known.into_iter().filter(|(field, _)| !entry.absent.contains(*field));
    let known = known.filter(|(field, _)| *field != Field::Rdev || is_device);
    line.extend(known.map(|(field, value)| (field.name().to_owned(), value)));
    let xattrs = entry.xattrs.as_ref().map(|xattrs| {
        let xattr = |xattr: &Xattr| {
            let value = ("value_b64".to_owned(), BASE64.encode(&xattr.value).into());
            Map::from_iter([named("name", &xattr.name), value])
        };
        xattrs.iter().map(xattr).collect::<Vec<_>>()
    });
    let optional: [(&str, Option<Value>); 7] = [
        ("birth_ns", stat.birth_ns.map(time)),
        ("fs", entry.fs.map(|fs| HEXLOWER.encode(fs.as_bytes()).into())),
        ("digests", (!entry.digests.is_empty()).then(|| digests(&entry.digests))),
        ("tree", (!entry.tree.is_empty()).then(|| digests(&entry.tree))),
        ("xattrs", xattrs.map(|xattrs| json!(xattrs))),
        ("verified_ns", entry.verified_ns.map(time)),
        ("damaged_ns", entry.damaged_ns.map(time)),
    ];
    line.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Value::Object(line).to_string()
}

/// Returns these lines with a valid footer.
pub(crate) fn seal<L: AsRef<str>>(lines: &[L]) -> Vec<u8> {
    let (mut file, mut seal) = (Vec::new(), Seal::new());
    for line in lines {
        let line = format!("{}\n", line.as_ref());
        seal.line(line.as_bytes());
        file.extend_from_slice(line.as_bytes());
    }
    seal.footer(&mut file);
    file
}

/// Returns the manifest that version 1 would have written.
pub(crate) fn version_1(header: &Header, entries: &Entries) -> Manifest {
    let mut entries = entries.clone();
    entries.values_mut().for_each(|entry| {
        entry.forget(Field::Allocated);
        entry.forget(Field::Birth);
        (entry.fs, entry.verified_ns) = (None, None);
        entry.tree.clear();
    });
    let text =
        String::from_utf8(written(header, &entries)).unwrap().replacen("\"version\":2", "\"version\":1", 1);
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("{\"footer\"")).collect();
    open(&seal(&lines)).unwrap()
}

/// Returns the manifests of all versions that can represent the entries.
pub(crate) fn all_versions(header: &Header, entries: &Entries) -> Vec<Manifest> {
    let is_in_1 = |entry: &Owned| {
        let mut others = OPTIONAL.iter().filter(|field| **field != Field::Allocated);
        !others.any(|field| entry.absent.contains(*field)) && entry.link_group.is_none()
    };
    let first = entries.values().all(is_in_1).then(|| version_1(header, entries));
    first.into_iter().chain([manifest(header, entries)]).collect()
}

/// Returns manifests of these entries that consist of parts: one with ranges, and one by hash.
pub(crate) fn in_parts(header: &Header, entries: &Entries) -> [Manifest; 2] {
    [by_ranges(&[b"a", b"a/b"]), by_hash(3)].map(|shards| of_parts(header, entries, &shards))
}

/// Returns the shards of a plan with these cuts.
pub(crate) fn by_ranges(cuts: &[&[u8]]) -> Vec<Shard> {
    let of = cuts.len() as u32 + 1;
    let shard = |number: u32| {
        let from = (number as usize).checked_sub(2).map(|at| cuts[at]);
        let range = PathRange::new(from, cuts.get(number as usize - 1).copied());
        let split = Split::Plan { digest: "a".repeat(64), range };
        Shard { split, listed_since_ns: Some(0), ..Shard::hashed(number, of) }
    };
    (1..=of).map(shard).collect()
}

/// Returns the shards without a plan.
pub(crate) fn by_hash(of: u32) -> Vec<Shard> {
    (1..=of).map(|number| Shard { listed_since_ns: Some(0), ..Shard::hashed(number, of) }).collect()
}

/// Returns the bytes of the part of a shard.
pub(crate) fn part(header: &Header, entries: &Entries, shard: &Shard) -> Vec<u8> {
    let header = Header { shard: Some(shard.clone()), ..header.clone() };
    let of_shard = entries.iter().filter(|(path, _)| shard.contains(&path.0));
    written(&header, &of_shard.map(|(path, entry)| (path.clone(), entry.clone())).collect())
}

/// Opens the parts of these shards, the last one first.
pub(crate) fn of_parts(header: &Header, entries: &Entries, shards: &[Shard]) -> Manifest {
    let parts = shards.iter().rev().map(|shard| (named(shard), file(&part(header, entries, shard))));
    joined(parts)
}

/// Opens files with these names as the parts of one manifest.
pub(crate) fn joined(parts: impl IntoIterator<Item = (Vec<u8>, File)>) -> Manifest {
    let (names, files): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let parts = files.into_iter().map(|file| Manifest::open_any(file).unwrap()).collect();
    Parts::new(parts, 0).unwrap().into_manifest(&names)
}

pub(crate) fn named(shard: &Shard) -> Vec<u8> {
    format!("part-{}", shard.number).into_bytes()
}

/// Returns a file with these bytes.
pub(crate) fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Opens a manifest of these bytes.
pub(crate) fn open(bytes: &[u8]) -> Result<Manifest, ftk_manifest::Error> {
    Manifest::open(file(bytes))
}

pub(crate) fn manifest(header: &Header, entries: &Entries) -> Manifest {
    open(&written(header, entries)).unwrap()
}

/// Returns all entries of a manifest.
pub(crate) fn read(manifest: &Manifest) -> Result<Entries, ftk_manifest::Error> {
    let mut entries = manifest.entries()?;
    let mut found = Entries::new();
    while let Some(entry) = entries.next()? {
        found.insert(Path(entry.path.to_vec()), Owned::of(&entry));
    }
    Ok(found)
}

/// The result for one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) path: String,
    pub(crate) verdict: Verdict,
    pub(crate) changed: Vec<Field>,
    pub(crate) new_path: Option<String>,
}

pub(crate) fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

impl Said {
    pub(crate) fn of(finding: &Finding<'_>) -> Self {
        assert_eq!(finding.old.map_or(finding.path, |old| old.path), finding.path);
        let new_path = finding.new_path.map(text);
        let (path, changed) = (text(finding.path), finding.changed.to_vec());
        Self { path, verdict: finding.verdict, changed, new_path }
    }
}

/// Returns the expected results, in path order. `reads` selects the files whose contents are compared.
pub(crate) fn expected(
    old: &Entries,
    new: &Entries,
    criteria: &Criteria,
    reads: impl Fn(&Path) -> bool,
) -> Vec<Said> {
    let is_file = |entry: &Owned| entry.stat.file_type == FileType::Regular;
    // A small content is not enough: it must be the same inode.
    let is_moved = |old: &Owned, new: &Owned| {
        let inode = |it: &Owned| {
            let is_known = |field| !it.absent.contains(field);
            let fs = (it.fs, it.stat.dev * u64::from(it.fs.is_none()));
            let birth_ns = it.stat.birth_ns.filter(|_| is_known(Field::Ino))?;
            (it.fs.is_some() || is_known(Field::Dev)).then_some((fs, it.stat.ino, birth_ns))
        };
        (&old.digests, old.stat.size) == (&new.digests, new.stat.size)
            && (old.stat.size >= 64 || inode(old).is_some() && inode(old) == inode(new))
    };
    let mut added: Vec<_> =
        new.iter().filter(|(path, entry)| is_file(entry) && !old.contains_key(path)).collect();
    let is_compared = |field| {
        !criteria.ignore.contains(&field)
            && match criteria.mode {
                Mode::Strict => true,
                Mode::Metadata => field != Field::Digests,
                Mode::Content => [Field::Type, Field::Size, Field::Target, Field::Digests].contains(&field),
            }
    };
    let compares_content = is_compared(Field::Digests);
    let mut moved_to = BTreeMap::new();
    for (path, entry) in old {
        if is_file(entry)
            && !new.contains_key(path)
            && compares_content
            && !entry.digests.is_empty()
            && let Some(at) = added.iter().position(|(_, new)| is_moved(entry, new))
        {
            moved_to.insert(path, added.remove(at).0);
        }
    }
    let linked = linked(old, new);
    let mut said = Vec::new();
    for (path, entry) in old {
        let mut changed = Vec::new();
        let verdict = match new.get(path) {
            None if moved_to.contains_key(path) => Verdict::Moved,
            None => Verdict::Missing,
            Some(now) => {
                let (a, b) = (&entry.stat, &now.stat);
                let are = |file_type| a.file_type == file_type && b.file_type == file_type;
                let one_is_dir = a.file_type == FileType::Directory || b.file_type == FileType::Directory;
                let digests_differ = are(FileType::Regular) && reads(path) && entry.digests != now.digests;
                for (field, differs) in [
                    (Field::Type, a.file_type != b.file_type),
                    (Field::Size, are(FileType::Regular) && a.size != b.size),
                    (Field::Mtime, !one_is_dir && a.mtime_ns != b.mtime_ns),
                    (Field::Mode, a.mode != b.mode),
                    (Field::Uid, a.uid != b.uid),
                    (Field::Gid, a.gid != b.gid),
                    (Field::LinkGroup, linked.contains(&path)),
                    (Field::Rdev, a.rdev != b.rdev),
                    (Field::Target, entry.target != now.target),
                    (Field::Digests, digests_differ),
                    (Field::Xattrs, entry.xattrs != now.xattrs),
                ] {
                    if differs && is_compared(field) {
                        changed.push(field);
                    }
                }
                let is_unknown = |field| entry.absent.contains(field) || now.absent.contains(field);
                changed.retain(|field| !is_unknown(*field));
                let content = [Field::Type, Field::Size, Field::Target, Field::Digests];
                if changed.is_empty() {
                    Verdict::Ok
                } else if !changed.iter().any(|field| content.contains(field)) {
                    Verdict::Metadata
                } else if (a.size, a.mtime_ns, a.file_type) != (b.size, b.mtime_ns, b.file_type)
                    || is_unknown(Field::Size)
                    || is_unknown(Field::Mtime)
                    // Equal times are no evidence then.
                    || criteria.ignore.contains(&Field::Mtime)
                {
                    Verdict::Modified
                } else {
                    Verdict::Corrupted
                }
            }
        };
        let new_path = moved_to.get(path).map(|path| text(&path.0));
        said.push((path, Said { path: text(&path.0), verdict, changed, new_path }));
    }
    for path in new.keys().filter(|path| !old.contains_key(path)) {
        if !moved_to.values().any(|to| *to == path) {
            let (verdict, changed) = (Verdict::New, Vec::new());
            said.push((path, Said { path: text(&path.0), verdict, changed, new_path: None }));
        }
    }
    said.sort_by_key(|(path, _)| path.0 != b".");
    said.sort_by(|a, b| a.0.cmp(b.0));
    said.into_iter().map(|(_, said)| said).collect()
}

/// Returns the common paths whose file has another first path in the two sets of entries.
fn linked<'e>(old: &'e Entries, new: &Entries) -> Vec<&'e Path> {
    let group = |entry: &Owned| -> Option<Option<Vec<u8>>> {
        let is_alone = entry.stat.nlink == 1 && !entry.absent.contains(Field::Nlink);
        match &entry.link_group {
            _ if entry.stat.file_type == FileType::Directory => None,
            None => is_alone.then_some(None),
            group => Some(group.clone()),
        }
    };
    let known = |(path, entry): (&'e Path, &Owned)| {
        let now = new.get(path).filter(|now| now.stat.file_type == entry.stat.file_type)?;
        Some((path, [group(entry)?, group(now)?]))
    };
    let both: Vec<(&Path, [Option<Vec<u8>>; 2])> = old.iter().filter_map(known).collect();
    let is_linked =
        |a: usize, b: usize, side: usize| both[a].1[side].is_some() && both[a].1[side] == both[b].1[side];
    let first = |nth: usize, side| (0..nth).find(|before| is_linked(*before, nth, side));
    let pairs = || (0..both.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let is_copy = pairs().any(|(a, b)| is_linked(a, b, 0)) && !pairs().any(|(a, b)| is_linked(a, b, 1));
    let differs = |nth: &usize| !is_copy && first(*nth, 0) != first(*nth, 1);
    (0..both.len()).filter(differs).map(|nth| both[nth].0).collect()
}

/// Entries with few distinct values, so that equal ones are common.
pub(crate) fn entry(digests_len: usize) -> impl Strategy<Value = Owned> {
    let types = prop::sample::select(vec![
        FileType::Regular,
        FileType::Regular,
        FileType::Regular,
        FileType::Directory,
        FileType::Symlink,
        FileType::Fifo,
        FileType::Socket,
        FileType::Block,
        FileType::Char,
    ]);
    let forgotten = prop::option::weighted(0.2, prop::sample::subsequence(OPTIONAL.to_vec(), 0..4));
    let group = prop::option::weighted(0.3, prop::sample::select(vec![&b"a"[..], b"\xff"]));
    (types, 0..3_u64, 0..2_i128, 0..2_u32, 0..2_u32, 0..3_u8, 0..2_u8, forgotten, group).prop_map(
        move |(file_type, size, mtime_ns, mode, owner, digest, other, forgotten, group)| {
            let is_device = matches!(file_type, FileType::Block | FileType::Char);
            // Without a time of birth, which version 1 lacks, small files do not move in any version.
            let is_small = size == 2;
            let stat = Stat {
                file_type,
                size: if is_small { 63 } else { 64 + size },
                blocks: other.into(),
                birth_ns: (mode == 0 && !is_small).then_some(mtime_ns - 1),
                mtime_ns,
                ctime_ns: i128::from(other) - 1,
                mode: 0o640 + mode,
                uid: owner,
                gid: 1 - owner,
                dev: other.into(),
                ino: 1 << 63,
                nlink: 1,
                rdev: if is_device { owner.into() } else { 0 },
            };
            let is_file = file_type == FileType::Regular;
            let target = (file_type == FileType::Symlink).then(|| vec![b't', 0xfe + other]);
            let digests = if is_file { vec![digest; digests_len] } else { Vec::new() };
            let fs = (other == 1).then(|| FsId::from_bytes([7; 16]));
            let verified_ns = (is_file && digests_len > 0 && owner == 1).then_some(mtime_ns + 5);
            let group = group.filter(|_| file_type != FileType::Directory);
            let link_group = group.map(<[u8]>::to_vec);
            let mut entry = Owned { target, link_group, fs, verified_ns, ..Owned::new(stat, digests) };
            for field in forgotten.unwrap_or_default() {
                entry.forget(field);
            }
            entry
        },
    )
}

/// Paths whose order is easy to get wrong.
pub(crate) const PATHS: [&str; 12] =
    [".", "!", "-", "a", "a b", "a-b", "a.b", "a/b", "a/b/c", "a0", "b/a", "\u{e9}\n"];

pub(crate) fn entries(digests_len: usize) -> impl Strategy<Value = Entries> {
    let paths = prop::sample::select(PATHS.to_vec()).prop_map(Path::new);
    prop::collection::btree_map(paths, entry(digests_len), 0..PATHS.len())
}
