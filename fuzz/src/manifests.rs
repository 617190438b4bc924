//! Manifests must be read as another reader reads them and preserved when written again, or be refused.

use std::fs::File;
use std::io::Write as _;

use ftk_file::{FsId, Stat};
use ftk_hash::Algorithm;
use ftk_manifest::{
    Examined, Failed, Field, FieldSet, Header, Manifest, Mount, Provenance, RecordedSubvolume, Writer, Xattr,
};
use ftk_walk::FileType;

use crate::json::{Json, Members, base64, hex, mode};
use crate::sealed::{seal, texts};

#[path = "../../crates/manifest/tests/manifest/owned.rs"]
mod owned;
use owned::{Owned, Path};

/// Uses the lines of the input as those of a manifest.
pub fn manifests(data: &[u8]) {
    let _ = open(data);
    let texts = texts(data);
    let manifest = open(&seal(&texts));
    let is_text = texts.iter().all(|line| str::from_utf8(line).is_ok());
    let expected = texts.first().and_then(|line| header(line));
    if is_text {
        assert_eq!(manifest.as_ref().ok().map(Manifest::header), expected.as_ref(), "{manifest:?}");
    }
    let Ok(manifest) = manifest else { return };
    let mut found = Vec::new();
    let mut entries = manifest.entries().expect("it was read to its end");
    let read = loop {
        match entries.next() {
            Ok(Some(entry)) => found.push((Path(entry.path.to_vec()), Owned::of(&entry))),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if is_text {
        let expected = by_hand(&texts[1..], manifest.header());
        assert_eq!((&found, read.is_ok()), (&expected.0, expected.1), "{read:?}");
    }
    match read {
        Ok(()) => again(manifest.header(), &found),
        Err(error) => assert!(error.to_string().starts_with("line "), "{error}"),
    }
}

/// Writes the entries to a new manifest, and checks that it reads the same.
fn again(header: &Header, found: &[(Path, Owned)]) {
    let mut file = Vec::new();
    let mut writer = Writer::new(header, |line: &[u8]| file.write_all(line));
    for (path, entry) in found {
        writer.entry(&entry.entry(path)).expect("a Vec takes everything");
    }
    writer.finish().expect("a Vec takes everything");
    let again = open(&file).expect("what is written is a manifest");
    assert_eq!(again.header(), &Header { version: header.written_version(), ..header.clone() });
    let mut entries = again.entries().expect("it was read to its end");
    for (path, entry) in found {
        assert_eq!(entries.next().expect("what is written is read"), Some(entry.entry(path)));
    }
    assert!(entries.next().expect("what is written is read").is_none());
}

fn open(bytes: &[u8]) -> Result<Manifest, ftk_manifest::Error> {
    let mut file: File = tempfile::tempfile().expect("a file for the manifest");
    file.write_all(bytes).expect("room for the manifest");
    Manifest::open(file)
}

fn header(line: &[u8]) -> Option<Header> {
    let line = Json::read(line)?.members()?;
    let version = line.integer::<u64>("version").filter(|version| (1..=Header::VERSION).contains(version))?;
    let is_manifest = line.text("ftk")? == "manifest";
    let mut algorithms = Vec::new();
    for name in line.get("algorithms")?.items()? {
        let name = name.text()?;
        let algorithm = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name)?;
        (!algorithms.contains(&algorithm)).then(|| algorithms.push(algorithm))?;
    }
    let options = line
        .get("options")?
        .items()?
        .into_iter()
        .map(|option| option.members()?.bytes("option").filter(|option| is_known(option)));
    let is_whole = line.optional("shard")?.is_none();
    let xattrs = line.get("xattrs")?.boolean()?;
    let archive = line.optional_as("archive", Json::text)?;
    let is_known_archive = archive.as_ref().is_none_or(|archive| archive == "tar");
    (is_manifest && is_known_archive && is_whole).then_some(Header {
        version,
        root: line.bytes("root")?,
        algorithms,
        xattrs,
        trusted_xattrs: line.optional_as("trusted_xattrs", Json::boolean)?.unwrap_or(true) || !xattrs,
        options: options.collect::<Option<_>>()?,
        start_ns: line.integer("start_ns")?,
        root_identity: None,
        mounts: paths(&line, "mounts", version)?.into_iter().map(Mount::Named).collect(),
        failed: Failed::new(paths(&line, "failed", version)?),
        shard: None,
        is_tar: archive.is_some(),
        provenance: provenance(&line)?,
    })
}

fn provenance(line: &Members<'_>) -> Option<Provenance> {
    let subvolume = line.optional_as("subvolume", |it| {
        let it = it.members()?;
        let (made, changed) = (it.integer("otransid")?, it.integer("ctransid")?);
        Some(RecordedSubvolume { uuid: file_system(&it.text("uuid")?)?, made, changed })
    })?;
    let examined =
        line.optional_as("examined", |it| Some(Examined { full_ns: it.members()?.integer("full_ns")? }))?;
    Some(Provenance {
        lineage: line.optional_as("lineage", |it| file_system(&it.text()?))?,
        subvolume,
        settled_ns: line.optional_as("settled_ns", Json::integer)?,
        snapshot_of: line.optional_as("snapshot_of", Json::boolean)?.unwrap_or(false),
        examined,
    })
}

/// Returns a sorted list of paths, which version 1 did not have.
fn paths(line: &Members<'_>, name: &str, version: u64) -> Option<Vec<Vec<u8>>> {
    let Some(list) = line.optional(name)? else { return Some(Vec::new()) };
    let items: Vec<_> = list.items()?.into_iter().map(|item| item.members()).collect::<Option<_>>()?;
    if version == 1 {
        return Some(Vec::new());
    }
    let paths = items.iter().map(|item| item.bytes("path").filter(|path| is_path(path)));
    let paths: Vec<_> = paths.collect::<Option<_>>()?;
    let key = |path: &Vec<u8>| if path == b"." { Vec::new() } else { path.clone() };
    paths.is_sorted_by(|a, b| key(a) < key(b)).then_some(paths)
}

/// Returns whether an option is known in the format, alone or with a value.
fn is_known(option: &[u8]) -> bool {
    let values = "extension name iname path regex type where exclude-where exclude exclude-line exclude-if-present \
                  min-depth max-depth";
    let flags = "ignore-files exclude-caches no-hidden one-file-system";
    let (names, end) = match option.iter().position(|byte| *byte == b'=') {
        None => (flags, option.len()),
        Some(at) => (values, at),
    };
    names.split(' ').any(|name| [b"--", name.as_bytes()].concat() == option[..end])
}

/// Returns the entries before the first invalid line, and whether all lines are valid.
fn by_hand(lines: &[Vec<u8>], header: &Header) -> (Vec<(Path, Owned)>, bool) {
    let mut entries: Vec<(Path, Owned)> = Vec::new();
    for line in lines {
        let entry = Json::read(line).and_then(|line| entry(&line.members()?, header));
        let is_next = |entry: &(Path, Owned)| entries.last().is_none_or(|last| last.0 < entry.0);
        match entry.filter(is_next) {
            Some((path, _)) if has_wrong_tree(&entries, Some(&path), header) => return (entries, false),
            Some(entry) => entries.push(entry),
            None => return (entries, false),
        }
    }
    let is_valid = !has_wrong_tree(&entries, None, header);
    (entries, is_valid)
}

/// Returns whether a directory that gets no more entries has another tree digest than its entries. `next` is the path of
/// the next entry; `None` at the end.
fn has_wrong_tree(entries: &[(Path, Owned)], next: Option<&Path>, header: &Header) -> bool {
    let has_ended = |dir: &[u8]| next.is_none_or(|next| dir != b"." && *next.0 > *[dir, &b"0"[..]].concat());
    let mut dirs = entries.iter().filter(|(dir, entry)| !entry.tree.is_empty() && has_ended(&dir.0));
    dirs.any(|(dir, entry)| tree(&dir.0, entries, &header.algorithms).as_ref() != Some(&entry.tree))
}

/// Returns the tree digests of a directory, as `docs/tree-digest.md` specifies them.
fn tree(dir: &[u8], entries: &[(Path, Owned)], algorithms: &[Algorithm]) -> Option<Vec<u8>> {
    let below = |path: &[u8]| match dir {
        b"." => Some(path.to_vec()).filter(|path| path != b"."),
        dir => Some(path.strip_prefix(dir)?.strip_prefix(b"/")?.to_vec()),
    };
    let up = |name: &[u8]| Some(name[..name.iter().rposition(|byte| *byte == b'/')?].to_vec());
    let netstring = |bytes: &[u8]| [bytes.len().to_string().as_bytes(), b":", bytes, b","].concat();
    let mut messages = vec![b"ftk tree 1\n".to_vec(); algorithms.len()];
    for (path, entry, name) in entries.iter().filter_map(|(path, it)| Some((path, it, below(&path.0)?))) {
        if let Some(up) = up(&name) {
            let is_up = |dir: &Owned| dir.stat.file_type == FileType::Directory;
            entries
                .iter()
                .find(|(dir, _)| below(&dir.0).as_ref() == Some(&up))
                .filter(|(_, dir)| is_up(dir))?;
            continue;
        }
        let knows = |field| !entry.absent.contains(field);
        let (letter, number) = match entry.stat.file_type {
            FileType::Regular if !knows(Field::Mode) => return None,
            FileType::Regular => {
                (if entry.stat.mode & 0o100 > 0 { b'x' } else { b'f' }, Some(entry.stat.size))
            }
            FileType::Block | FileType::Char if !knows(Field::Rdev) => return None,
            FileType::Block => (b'b', Some(entry.stat.rdev)),
            FileType::Char => (b'c', Some(entry.stat.rdev)),
            FileType::Directory => (b'd', None),
            FileType::Symlink => (b'l', None),
            FileType::Fifo => (b'p', None),
            FileType::Socket => (b's', None),
            _ => return None,
        };
        let mut digests = match entry.stat.file_type {
            FileType::Directory => tree(&path.0, entries, algorithms)?,
            _ => entry.digests.clone(),
        };
        for (message, algorithm) in messages.iter_mut().zip(algorithms) {
            message.push(letter);
            message.extend(netstring(&name));
            message.extend(number.map_or_else(Vec::new, |number| netstring(number.to_string().as_bytes())));
            message.extend(entry.target.as_ref().map_or_else(Vec::new, |target| netstring(target)));
            if !digests.is_empty() {
                message.extend(netstring(&digests.drain(..algorithm.digest_len()).collect::<Vec<_>>()));
            }
        }
    }
    let digests = algorithms.iter().zip(&messages);
    let digests = digests.map(|(algorithm, message)| algorithm.hash_one(message));
    Some(digests.flat_map(|digest| digest.as_bytes().to_vec()).collect())
}

fn entry(line: &Members<'_>, header: &Header) -> Option<(Path, Owned)> {
    let path = line.bytes("path")?;
    let is_below = is_path(&path);
    let file_type = match line.text("type")?.as_str() {
        "file" => FileType::Regular,
        "directory" => FileType::Directory,
        "symlink" => FileType::Symlink,
        "fifo" => FileType::Fifo,
        "socket" => FileType::Socket,
        "block_device" => FileType::Block,
        "char_device" => FileType::Char,
        _ => return None,
    };
    let target = line.optional_bytes("target")?;
    let is_file = file_type == FileType::Regular;
    let algorithms = if is_file { &*header.algorithms } else { &[] };
    let mut values = Values { line, is_2: header.version > 1, absent: FieldSet::default() };
    let is_device = matches!(file_type, FileType::Block | FileType::Char);
    let rdev = if is_device { values.integer(Field::Rdev, "rdev")? } else { 0 };
    let size = values.integer(Field::Size, "size_bytes")?;
    let blocks = |bytes: Json<'_>| {
        Some(bytes.integer::<u64>()?).filter(|it| it.is_multiple_of(512)).map(|it| it / 512)
    };
    let allocated = values.since_2("allocated_bytes", blocks)?;
    if allocated.is_none() {
        values.absent.insert(Field::Allocated);
    }
    let mode = values.of(Field::Mode, "mode")?.map_or(Some(0), |digits| mode(&digits.text()?))?;
    let stat = Stat {
        file_type,
        size,
        blocks: allocated.unwrap_or_default(),
        birth_ns: values.since_2("birth_ns", Json::integer)?,
        mtime_ns: values.integer(Field::Mtime, "mtime_ns")?,
        ctime_ns: values.integer(Field::Ctime, "ctime_ns")?,
        mode,
        uid: values.integer(Field::Uid, "uid")?,
        gid: values.integer(Field::Gid, "gid")?,
        dev: values.integer(Field::Dev, "dev")?,
        ino: values.integer(Field::Ino, "ino")?,
        nlink: values.integer(Field::Nlink, "nlink")?,
        rdev,
    };
    let may_have_tree = file_type == FileType::Directory && !header.algorithms.is_empty();
    let tree = |tree| may_have_tree.then(|| digests(Some(tree), &header.algorithms))?;
    let verified_ns = values.since_2("verified_ns", Json::integer)?;
    let damaged_ns = line.optional_as("damaged_ns", Json::integer)?;
    let link_group = match header.version {
        1 => None,
        _ => line.optional_bytes("link_group")?,
    };
    let is_linked = |group: &Vec<u8>| file_type != FileType::Directory && is_path(group);
    let is_whole = link_group.as_ref().is_none_or(is_linked)
        && (is_device || line.optional("rdev")?.is_none())
        && target.is_some() == (file_type == FileType::Symlink)
        && is_below
        && !((verified_ns.is_some() || damaged_ns.is_some()) && algorithms.is_empty());
    let entry = Owned {
        stat,
        tree: values.since_2("tree", tree)?.unwrap_or_default(),
        fs: values.since_2("fs", |fs| file_system(&fs.text()?))?,
        absent: values.absent,
        target,
        link_group,
        digests: digests(line.optional("digests")?, algorithms)?,
        xattrs: xattrs(line.optional("xattrs")?, header)?,
        verified_ns,
        damaged_ns,
    };
    is_whole.then_some((Path(path), entry))
}

/// Returns whether a path is that of the root or of something below it.
fn is_path(path: &[u8]) -> bool {
    let mut names = path.split(|byte| *byte == b'/');
    path == b"." || names.all(|name| !matches!(name, b"" | b"." | b".."))
}

/// Parses the identity of a file system.
fn file_system(text: &str) -> Option<FsId> {
    let is_lower = text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let id = hex(text).filter(|_| is_lower)?;
    Some(FsId::from_bytes(id.try_into().ok()?))
}

/// Members that may be absent in some versions.
struct Values<'l, 'j> {
    line: &'l Members<'j>,
    /// Whether the version allows it.
    is_2: bool,
    absent: FieldSet,
}

impl<'j> Values<'_, 'j> {
    fn of(&mut self, field: Field, name: &str) -> Option<Option<Json<'j>>> {
        let value = self.line.optional(name)?;
        if value.is_none() {
            self.is_2.then(|| self.absent.insert(field))?;
        }
        Some(value)
    }

    fn integer<T: TryFrom<i128> + Default>(&mut self, field: Field, name: &str) -> Option<T> {
        self.of(field, name)?.map_or(Some(T::default()), Json::integer)
    }

    /// Reads a member that version 1 does not have.
    fn since_2<T>(&self, name: &str, read: impl Fn(Json<'j>) -> Option<T>) -> Option<Option<T>> {
        if self.is_2 { self.line.optional_as(name, read) } else { Some(None) }
    }
}

fn digests(found: Option<Json<'_>>, algorithms: &[Algorithm]) -> Option<Vec<u8>> {
    let Some(found) = found else { return algorithms.is_empty().then(Vec::new) };
    let found = found.members()?;
    (found.0.len() == algorithms.len() && !algorithms.is_empty()).then_some(())?;
    let mut digests = Vec::new();
    for algorithm in algorithms {
        let digest = hex(&found.text(algorithm.name())?)?;
        digests.extend(Some(digest).filter(|digest| digest.len() == algorithm.digest_len())?);
    }
    Some(digests)
}

fn xattrs(found: Option<Json<'_>>, header: &Header) -> Option<Option<Vec<Xattr>>> {
    (found.is_some() == header.xattrs).then_some(())?;
    let Some(found) = found else { return Some(None) };
    let mut xattrs: Vec<Xattr> = Vec::new();
    for xattr in found.items()? {
        let xattr = xattr.members()?;
        let (name, value) = (xattr.bytes("name")?, base64(&xattr.text("value_b64")?)?);
        xattrs.last().is_none_or(|last| last.name < name).then_some(())?;
        xattrs.push(Xattr { name, value });
    }
    Some(Some(xattrs))
}
