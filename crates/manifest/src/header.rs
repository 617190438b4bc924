//! The header: the first line of a manifest, which describes the run that made it.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufReader;

use ftk_file::{FileSystem, FileType, Inode};
use ftk_hash::Algorithm;
use ftk_record::{Object, SealedReader, read_path, write_record};
use ftk_select::Checks;
use serde::Deserialize;

use crate::blocks::{At, Source, is_compressed};
use crate::entry::{ROOT, path_below};
use crate::provenance::{ExaminedLine, SubvolumeLine};
use crate::root_identity::{RootIdentity, RootLine};
use crate::shard::Shard;
use crate::shard::member::{PathLine, ShardLine, paths};
use crate::text::{Text, brief, plain};
use crate::{Entry, Error, Failed, Mount, Provenance, first_line};

/// The root, the algorithms and the options of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version of the format. A [`Writer`](crate::Writer) ignores this and writes the [first](Header::written_version)
    /// that has everything.
    pub version: u64,
    /// The root as it was named when the manifest was made.
    pub root: Vec<u8>,
    /// The algorithms by which every regular file has a digest. Empty: only metadata was recorded.
    pub algorithms: Vec<Algorithm>,
    /// Whether extended attributes were recorded.
    pub xattrs: bool,
    /// Whether attributes that only root sees are among them: the process that recorded the tree [saw
    /// them](ftk_file::sees_trusted).
    pub trusted_xattrs: bool,
    /// The options that selected the entries. Verification applies them again.
    pub options: Vec<Vec<u8>>,
    /// When the run that made the manifest began, in nanoseconds since the Unix epoch.
    pub start_ns: i128,
    /// What identifies the root. `None` if another program or an older version recorded the tree.
    pub root_identity: Option<RootIdentity>,
    /// Directories below the root that were on another device than the directory that contains them, in the order of
    /// entries.
    pub mounts: Vec<Mount>,
    /// What could not be read. What is at or below these paths is unknown: entries may be missing, or out of date.
    pub failed: Failed,
    /// Which part of the tree is recorded; `None` if all of it is.
    pub shard: Option<Shard>,
    /// Whether the entries are the members of a tar archive, and nothing that was in a file system.
    pub is_tar: bool,
    /// Where the records come from.
    pub provenance: Provenance,
}

/// The options that a manifest can record, in their long form, and whether each has a value after a `=`.
///
/// These options select entries by name, type and place, or say what is compared of them. `docs/manifest-format.md` lists them.
pub const OPTIONS: [(&str, bool); 18] = [
    ("extension", true),
    ("name", true),
    ("iname", true),
    ("path", true),
    ("regex", true),
    ("type", true),
    ("where", true),
    ("exclude-where", true),
    ("exclude", true),
    ("exclude-line", true),
    ("exclude-caches", false),
    ("exclude-if-present", true),
    ("rule", true),
    ("ignore-files", false),
    ("no-hidden", false),
    ("min-depth", true),
    ("max-depth", true),
    ("one-file-system", false),
];

/// The option that records a rule.
const RULE: &[u8] = b"--rule=";

/// The value of the member `ftk` that marks a manifest.
const KIND: &str = "manifest";

/// The value of the member `archive`.
const TAR: &str = "tar";

#[derive(Deserialize)]
struct HeaderLine<'l> {
    #[serde(borrow)]
    root: Option<Text<'l>>,
    #[serde(borrow)]
    root_b64: Option<Text<'l>>,
    #[serde(borrow)]
    algorithms: Vec<Text<'l>>,
    xattrs: bool,
    trusted_xattrs: Option<bool>,
    #[serde(borrow)]
    options: Vec<Object<OptionLine<'l>>>,
    start_ns: i128,
    #[serde(borrow)]
    root_identity: Option<Object<RootLine<'l>>>,
    #[serde(borrow)]
    mounts: Option<Vec<Object<RootLine<'l>>>>,
    #[serde(borrow)]
    failed: Option<Vec<Object<PathLine<'l>>>>,
    #[serde(borrow)]
    shard: Option<Object<ShardLine<'l>>>,
    #[serde(borrow)]
    archive: Option<Text<'l>>,
    lineage: Option<Text<'l>>,
    #[serde(borrow)]
    subvolume: Option<Object<SubvolumeLine<'l>>>,
    settled_ns: Option<i128>,
    snapshot_of: Option<bool>,
    examined: Option<Object<ExaminedLine>>,
}

#[derive(Deserialize)]
pub(crate) struct OptionLine<'l> {
    #[serde(borrow)]
    option: Option<Text<'l>>,
    #[serde(borrow)]
    option_b64: Option<Text<'l>>,
}

impl Header {
    /// The last version. It and all before it are read.
    pub const VERSION: u64 = 3;

    /// Returns the header of entries that were in no file system, such as those of a list. It has no options and no
    /// failures, and attributes are not recorded. `start_ns` are nanoseconds since 1970.
    pub fn of_list(root: Vec<u8>, algorithms: Vec<Algorithm>, start_ns: i128) -> Self {
        Self {
            version: Self::VERSION,
            root,
            algorithms,
            xattrs: false,
            trusted_xattrs: true,
            options: Vec::new(),
            start_ns,
            root_identity: None,
            mounts: Vec::new(),
            failed: Failed::default(),
            shard: None,
            is_tar: false,
            provenance: Provenance::default(),
        }
    }

    /// Returns the version that is written: the first that has everything. A reader of version 2 would take what is below
    /// `failed` for deleted.
    pub fn written_version(&self) -> u64 {
        if self.failed.is_empty() { 2 } else { 3 }
    }

    /// Returns the inode of an entry, or `None` if not enough is known.
    ///
    /// Hosts number devices differently. In a manifest that was merged from parts, a file system without an identity has the
    /// device number that the header records for its top directory.
    pub fn inode(&self, entry: &Entry<'_>) -> Option<Inode> {
        let inode = entry.inode()?;
        let is_merged = entry.links().is_none() && entry.stat.file_type != FileType::Directory;
        if !is_merged || !matches!(inode.file_system, FileSystem::Dev(_)) {
            return Some(inode);
        }
        let dev = self.mount_of(entry.path).map(|top| FileSystem::Dev(top.identity.dev));
        Some(Inode { file_system: dev.unwrap_or(inode.file_system), ..inode })
    }

    /// Returns the top directory of the file system that a path is on, if it is known.
    fn mount_of(&self, path: &[u8]) -> Option<&RootIdentity> {
        let mounted = |end: usize| self.mounts.binary_search_by_key(&&path[..end], |mount| mount.path()).ok();
        match memchr::memrchr_iter(b'/', path).find_map(mounted).map(|at| &self.mounts[at]) {
            None => self.root_identity.as_ref(),
            Some(Mount::Identified(identity)) => Some(identity),
            Some(Mount::Named(_)) => None,
        }
    }

    /// Makes the directory at this path below the root the root, except for the options.
    pub(crate) fn narrow(&mut self, dir: &[u8]) {
        self.root = [&self.root, &b"/"[usize::from(self.root.ends_with(b"/"))..], dir].concat();
        self.root_identity = None;
        self.mounts = self.mounts.iter().filter_map(|mount| mount.below(dir)).collect();
        let failed = match self.failed.covers(dir) {
            true => vec![ROOT.to_vec()],
            false => {
                let below = self.failed.paths().iter().filter_map(|path| path_below(dir, path));
                below.map(<[u8]>::to_vec).collect()
            }
        };
        self.failed = Failed::new(failed);
    }

    /// Returns the rules that say what is compared of each entry.
    ///
    /// # Errors
    /// [`Error::Rule`] if one is malformed, perhaps since it is from a later version.
    pub fn checks(&self) -> Result<Checks, Error> {
        let lines = self.options.iter().filter_map(|option| option.strip_prefix(RULE));
        Checks::of_lines(lines).map_err(Error::Rule)
    }

    /// Replaces the rules that say what is compared of each entry.
    pub fn set_checks(&mut self, checks: &Checks) {
        self.options.retain(|option| !option.starts_with(RULE));
        self.options.extend(checks.lines().iter().map(|line| [RULE, line].concat()));
    }

    /// Returns the total length of a file's digests in bytes.
    pub fn digests_len(&self) -> usize {
        self.algorithms.iter().map(|algorithm| algorithm.digest_len()).sum()
    }

    /// Reads only the header of a manifest, which may be that of a shard. Whether the manifest is complete is not checked.
    ///
    /// # Errors
    /// If this fails, or the file does not begin with a header.
    pub fn of(file: &File) -> Result<Self, Error> {
        let source = Source::new(At::Open(file), is_compressed(file)?)?;
        let mut lines = SealedReader::new(BufReader::new(source));
        let line = lines.next_line()?;
        line.map_or_else(|| Err(Error::NotManifest("it has only a footer".into())), Self::read)
    }

    /// Appends the line, including its newline.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let algorithms: Vec<_> = self.algorithms.iter().map(|it| it.name()).collect();
        write_record(out, |record| {
            record.member("ftk", KIND).member("version", self.written_version()).path("root", &self.root);
            if let Some(identity) = &self.root_identity {
                record.member("root_identity", identity);
            }
            record.member("algorithms", algorithms).member("xattrs", self.xattrs);
            if self.xattrs && !self.trusted_xattrs {
                record.member("trusted_xattrs", false);
            }
            record.paths("options", "option", &self.options).member("start_ns", self.start_ns);
            if !self.mounts.is_empty() {
                record.member("mounts", &self.mounts);
            }
            if !self.failed.is_empty() {
                record.paths("failed", "path", self.failed.paths());
            }
            if let Some(shard) = &self.shard {
                record.member("shard", shard);
            }
            if self.is_tar {
                record.member("archive", TAR);
            }
            self.provenance.write(record);
        });
    }

    /// Parses the line, without its newline. Unknown members are ignored.
    ///
    /// # Errors
    /// [`Error::NotManifest`], [`Error::Version`] and [`Error::UnknownOption`].
    pub(crate) fn read(line: &[u8]) -> Result<Self, Error> {
        let not_manifest = |what: String| Error::NotManifest(brief(what));
        let version = first_line::version(line, KIND).map_err(not_manifest)?;
        if version > Self::VERSION {
            return Err(Error::Version(version));
        }
        let line: Result<Object<HeaderLine<'_>>, _> = serde_json::from_slice(line);
        let Object(line) = line.map_err(|error| not_manifest(plain(&error)))?;
        let name = |text: Option<&str>, b64: Option<&str>| {
            read_path(text, b64).map(Cow::into_owned).map_err(|error| not_manifest(error.to_string()))
        };
        let mut algorithms = Vec::with_capacity(line.algorithms.len());
        for text in &line.algorithms {
            let known = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == &**text);
            let algorithm = known.ok_or_else(|| not_manifest(format!("unknown algorithm {:?}", &**text)))?;
            if algorithms.contains(&algorithm) {
                return Err(not_manifest(format!("{algorithm} appears twice")));
            }
            algorithms.push(algorithm);
        }
        if !algorithms.is_empty() && !algorithms.iter().any(|algorithm| algorithm.identifies_content()) {
            return Err(not_manifest("it has only CRCs, which do not identify contents".into()));
        }
        let options = read_options(&line.options)?;
        // Version 1 had no such member.
        let identity = line.root_identity.as_ref().filter(|_| version > 1);
        let identity = identity.map(RootLine::read).transpose();
        let root_identity = identity.map_err(|why| not_manifest(format!("root_identity: {why}")))?;
        let in_shard = |why: String| not_manifest(format!("shard: {why}"));
        let shard = line
            .shard
            .as_ref()
            .map(|Object(shard)| shard.read(line.start_ns))
            .transpose()
            .map_err(in_shard)?;
        let of_shard =
            line.shard.as_ref().map(|Object(shard)| shard.failed()).transpose().map_err(in_shard)?;
        // Version 1 had none of them.
        let later = version > 1;
        let mounts = if later { Mount::read(&line.mounts) } else { Ok(Vec::new()) };
        let mounts = mounts.map_err(|why| not_manifest(format!("mounts: {why}")))?;
        let failed = if later { paths(&line.failed) } else { Ok(Vec::new()) };
        let failed = failed.map_err(|why| not_manifest(format!("failed: {why}")))?;
        let failed = [failed, of_shard.unwrap_or_default()].concat();
        let provenance = Provenance::read(
            line.lineage.as_ref(),
            line.subvolume.as_ref(),
            line.settled_ns,
            line.snapshot_of,
            line.examined.as_ref(),
        );
        let provenance = provenance.map_err(not_manifest)?;
        if shard.is_some() && version == 1 {
            return Err(not_manifest("version 1 has no shards".into()));
        }
        if let Some(other) = line.archive.as_deref().filter(|archive| *archive != TAR) {
            return Err(not_manifest(format!(
                "it is the record of an archive of an unknown kind, {other:?}"
            )));
        }
        Ok(Self {
            version,
            root: name(line.root.as_deref(), line.root_b64.as_deref())?,
            algorithms,
            xattrs: line.xattrs,
            trusted_xattrs: line.trusted_xattrs.unwrap_or(true) || !line.xattrs,
            options,
            start_ns: line.start_ns,
            root_identity,
            mounts,
            failed: Failed::new(failed),
            shard,
            is_tar: line.archive.is_some(),
            provenance,
        })
    }
}

/// Returns the options of a header.
///
/// # Errors
/// [`Error::NotManifest`] and [`Error::UnknownOption`].
pub(crate) fn read_options(lines: &[Object<OptionLine<'_>>]) -> Result<Vec<Vec<u8>>, Error> {
    let options = lines.iter().map(|Object(it)| {
        let option = read_path(it.option.as_deref(), it.option_b64.as_deref());
        option.map(Cow::into_owned).map_err(|error| Error::NotManifest(error.to_string()))
    });
    let options: Vec<_> = options.collect::<Result<_, _>>()?;
    match options.iter().find(|option| !is_known(option)) {
        Some(unknown) => Err(Error::UnknownOption(unknown.clone())),
        None => Ok(options),
    }
}

/// Returns whether an option is one of [`OPTIONS`], and has a value exactly if that option needs one.
fn is_known(option: &[u8]) -> bool {
    let Some(option) = option.strip_prefix(b"--") else { return false };
    let name = option.split(|&byte| byte == b'=').next().unwrap_or(option);
    let has_value = name.len() < option.len();
    OPTIONS.iter().any(|(known, needs_value)| (known.as_bytes(), *needs_value) == (name, has_value))
}

#[cfg(test)]
mod tests {
    use ftk_file::{FsId, Identity, Stat};

    use super::*;
    use crate::{Examined, RecordedSubvolume};

    fn header() -> Header {
        Header {
            version: 2,
            root: b"/\xff".to_vec(),
            algorithms: vec![Algorithm::Sha256, Algorithm::Xxh3],
            xattrs: true,
            trusted_xattrs: true,
            options: vec![b"--exclude=*.o".to_vec(), b"--name=\xff".to_vec()],
            start_ns: 1_763_713_800_000_000_001,
            root_identity: None,
            mounts: Vec::new(),
            failed: Failed::default(),
            shard: None,
            is_tar: false,
            provenance: Provenance::default(),
        }
    }

    fn written(header: &Header) -> String {
        let mut out = Vec::new();
        header.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_written_header_is_read_back() {
        let header = header();
        let line = written(&header);
        assert_eq!(
            line,
            "{\"ftk\":\"manifest\",\"version\":2,\"root_b64\":\"L/8=\",\"algorithms\":[\"sha256\",\"xxh3\"],\
             \"xattrs\":true,\"options\":[{\"option\":\"--exclude=*.o\"},{\"option_b64\":\"LS1uYW1lPf8=\"}],\
             \"start_ns\":1763713800000000001}\n"
        );
        assert_eq!(Header::read(line.trim_end().as_bytes()).unwrap(), header);
    }

    #[test]
    fn the_identity_of_the_root_is_read_back() {
        let identity = Identity {
            fs: Some(FsId::from_bytes([0xa5; 16])),
            dev: 2049,
            ino: u64::MAX,
            birth_ns: Some(-1),
            file_type: FileType::Directory,
            uid: 1000,
        };
        let known = RootIdentity { path: b"/\xff".to_vec(), fs_type: 0xef53, identity };
        let lasting = "{\"path_b64\":\"L/8=\",\"fs_type\":61267,\"fs\":\"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5\",\
             \"dev\":2049,\"ino\":18446744073709551615,\"birth_ns\":-1,\"type\":\"directory\",\"uid\":1000}";
        let plain = "{\"path\":\"/r\",\"fs_type\":61267,\"dev\":2049,\"ino\":18446744073709551615,\
             \"type\":\"directory\",\"uid\":1000}";
        let without = Identity { fs: None, birth_ns: None, ..identity };
        let without = RootIdentity { path: b"/r".to_vec(), identity: without, ..known };
        for (root, text) in [(known, lasting), (without, plain)] {
            let header = Header { root_identity: Some(root), ..header() };
            let line = written(&header);
            assert!(
                line.contains(&format!(",\"root_b64\":\"L/8=\",\"root_identity\":{text},\"algorithms\":")),
                "{line}"
            );
            assert_eq!(Header::read(line.trim_end().as_bytes()).unwrap(), header);
            for (from, to, why) in [
                ("\"directory\"", "\"door\"", "root_identity: unknown type \"door\""),
                ("\"fs\":\"a5", "\"fs\":\"A5", "is not a file system"),
                ("\"uid\":1000", "\"uid\":-1", "an integer from 0 to 4294967295"),
                (",\"dev\":2049", "", "the member `dev` is missing"),
                ("\"path", "\"way", "root_identity: "),
            ] {
                if let Some((before, after)) = line.trim_end().split_once(from) {
                    let error =
                        Header::read(format!("{before}{to}{after}").as_bytes()).unwrap_err().to_string();
                    assert!(error.contains(why), "{to}: {error}");
                }
            }
        }
    }

    #[test]
    fn the_provenance_is_read_back() {
        let [lineage, uuid] = [1, 2].map(|byte| FsId::from_bytes([byte; 16]));
        let all = Provenance {
            lineage: Some(lineage),
            subvolume: Some(RecordedSubvolume { uuid, made: 7, changed: u64::MAX }),
            settled_ns: Some(-3),
            snapshot_of: true,
            examined: Some(Examined { full_ns: -1 }),
        };
        let line = written(&Header { provenance: all, ..header() });
        let members = ",\"lineage\":\"01010101010101010101010101010101\",\"subvolume\":{\"uuid\":\
             \"02020202020202020202020202020202\",\"otransid\":7,\"ctransid\":18446744073709551615},\
             \"settled_ns\":-3,\"snapshot_of\":true,\"examined\":{\"by\":\"list\",\"full_ns\":-1}}";
        assert!(line.trim_end().ends_with(members), "{line}");
        assert_eq!(Header::read(line.trim_end().as_bytes()).unwrap().provenance, all);
        for (from, to) in
            [("\"01", "\"0A"), ("\"02", "\""), (":7", ":-7"), ("true}", "1}"), (":-1", ":\"x\"")]
        {
            let bad = line.trim_end().replacen(from, to, 1);
            assert!(bad == line.trim_end() || Header::read(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn devices_of_several_hosts_are_one() {
        let top = |path: &str, dev| {
            let identity =
                Identity { fs: None, dev, ino: 1, birth_ns: None, file_type: FileType::Directory, uid: 0 };
            RootIdentity { path: path.into(), fs_type: 0x6969, identity }
        };
        let mounts = vec![Mount::Identified(top("m", 20)), Mount::Named(b"old".to_vec())];
        let header = Header { root_identity: Some(top("/r", 10)), mounts, ..header() };
        let file = Stat { dev: 99, ino: 5, nlink: 2, ..Stat::EMPTY };
        let dev = |path: &str, change: fn(&mut Entry<'_>)| {
            let mut entry = Entry::new(path.as_bytes(), file);
            change(&mut entry);
            header.inode(&entry).unwrap().file_system
        };
        for (path, expected) in [("a", 10), ("m/a", 20), ("m/d/a", 20), ("ma", 10), ("old/a", 99)] {
            assert_eq!(dev(path, |_| ()), FileSystem::Dev(expected), "{path}");
        }
        // A group of links is that of one host, and an identity is the same on all.
        assert_eq!(dev("a", |entry| entry.link_group = Some(b"a")), FileSystem::Dev(99));
        let fs = FsId::from_bytes([1; 16]);
        assert_eq!(dev("a", |entry| entry.fs = Some(FsId::from_bytes([1; 16]))), FileSystem::Id(fs));
    }

    #[test]
    fn all_versions_are_read() {
        let first = written(&header()).replace("\"version\":2", "\"version\":1");
        let first = Header::read(first.trim_end().as_bytes()).unwrap();
        assert_eq!(first, Header { version: 1, ..header() });
        assert_eq!(written(&first), written(&header()), "no earlier version is written");
    }

    #[test]
    fn what_could_not_be_read_needs_version_3() {
        let failed = Failed::new(vec![b"film".to_vec(), b"a\xff".to_vec()]);
        let header = Header { version: 3, mounts: vec![Mount::Named(b"disk".to_vec())], failed, ..header() };
        let line = written(&header);
        assert!(line.contains("\"version\":3,"), "{line}");
        let members =
            ",\"mounts\":[{\"path\":\"disk\"}],\"failed\":[{\"path_b64\":\"Yf8=\"},{\"path\":\"film\"}]}\n";
        assert!(line.ends_with(members), "{line}");
        assert_eq!(Header::read(line.trim_end().as_bytes()).unwrap(), header);
        // In version 2, parts had them in another place.
        let shard = "\"shard\":{\"number\":1,\"of\":2,\"failed\":[{\"path\":\"film\"}]}}";
        let old = written(&self::header()).replace("}\n", &format!(",{shard}"));
        let old = Header::read(old.as_bytes()).unwrap();
        assert_eq!((old.version, old.written_version()), (2, 3));
        assert_eq!(old.failed.paths(), [b"film"]);
        for (from, to, why) in [
            ("\"film\"", "\"/film\"", "failed: '/film' is not a path below the root"),
            ("\"film\"", "\"\"", "failed: "),
            ("\"Yf8=\"", "\"eg==\"", "failed: the paths of a list are not sorted"),
            ("\"disk\"", "\"../disk\"", "mounts: "),
        ] {
            let error = Header::read(line.trim_end().replace(from, to).as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn whether_attributes_of_root_were_seen_is_read_back() {
        let seen = header();
        let hidden = Header { trusted_xattrs: false, ..header() };
        let without = Header { xattrs: false, ..header() };
        let hidden_without = Header { trusted_xattrs: false, ..without.clone() };
        for (header, member, again) in [
            (&seen, "", &seen),
            (&hidden, ",\"trusted_xattrs\":false", &hidden),
            (&without, "", &without),
            (&hidden_without, "", &without),
        ] {
            let line = written(header);
            assert!(line.contains(&format!(",\"xattrs\":{}{member},\"options\"", header.xattrs)), "{line}");
            assert_eq!(Header::read(line.trim_end().as_bytes()).unwrap(), *again);
        }
    }

    #[test]
    fn the_record_of_an_archive_is_read_back() {
        let header = Header { is_tar: true, ..header() };
        let line = written(&header);
        assert!(line.ends_with(",\"archive\":\"tar\"}\n"), "{line}");
        assert_eq!(Header::read(line.trim_end().as_bytes()).unwrap(), header);
        let other = Header::read(line.trim_end().replace("\"tar\"", "\"zip\"").as_bytes()).unwrap_err();
        assert!(other.to_string().contains("unknown kind, \"zip\""), "{other}");
    }

    #[test]
    fn unknown_members_are_ignored() {
        let line = written(&header()).replace("\"version\":2,", "\"version\":2,\"host\":{\"a\":[1]},");
        assert_eq!(Header::read(line.trim_end().as_bytes()).unwrap(), header());
    }

    #[test]
    fn invalid_headers_are_refused() {
        let line = written(&header());
        let read = |text: &str| Header::read(text.trim_end().as_bytes()).map_err(|error| error.to_string());
        for (from, to, why) in [
            ("\"manifest\"", "\"dup-report\"", "\"dup-report\""),
            ("\"ftk\"", "\"rtk\"", "no member `ftk`"),
            ("\"version\":2", "\"version\":4", "version 4 needs a newer ftk; this one reads versions 1 to 3"),
            ("\"version\":2", "\"version\":0", "there is no version 0"),
            ("\"version\":2", "\"version\":\"1\"", "string \"1\" where an integer of 0 or more is expected"),
            ("\"version\":2,", "", "version is missing"),
            ("\"sha256\"", "\"sha257\"", "unknown algorithm \"sha257\""),
            ("\"sha256\"", "\"xxh3\"", "xxh3 appears twice"),
            ("L/8=", "L/8", "base64"),
            ("\"xattrs\":true,", "", "the member `xattrs` is missing"),
            ("\"start_ns\":1763713800000000001", "\"start_ns\":1.5", "its JSON is broken at byte"),
            ("}\n", "", "it ends in the middle of a JSON object"),
            ("{\"option_b64\":\"LS1uYW1lPf8=\"}", "[null,\"LS1uYW1lPf8=\"]", "an object"),
        ] {
            let error = read(&line.replace(from, to)).unwrap_err();
            assert!(error.contains(why), "{why}: {error}");
            assert!(!error.contains("column"), "{error}");
        }
        for (option, shown) in [
            ("--exec=rm", "'--exec=rm'"),
            ("--follow", "'--follow'"),
            ("--no-hidden=yes", "'--no-hidden=yes'"),
            ("--max-depth", "'--max-depth'"),
            ("--max-dep=1", "'--max-dep=1'"),
            ("-E=x", "'-E=x'"),
            ("-x", "'-x'"),
            ("exclude=x", "'exclude=x'"),
            ("--", "'--'"),
            ("", "''"),
        ] {
            let error = read(&line.replace("--exclude=*.o", option)).unwrap_err();
            assert_eq!(error, format!("made with an unknown option: {shown}"));
        }
        // Everything except `ftk` and `version` may change in a later version.
        assert!(read("{\"version\":9,\"ftk\":\"manifest\"}").unwrap_err().contains("newer ftk"));
        assert!(read("d41d8cd98f00b204e9800998ecf8427e  a").is_err());
        assert!(read("[\"manifest\",1]").unwrap_err().contains("an object"));
    }
}
