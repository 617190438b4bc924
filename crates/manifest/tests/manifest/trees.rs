//! Manifests of real trees.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path as FsPath, PathBuf};

use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{Budget, Collect, FileNo, Inventory, Keep};
use ftk_manifest::{Contents, Examination, Examining, Header, Manifest, WalkedTree, Writer, create};
use ftk_process::{Resources, Rows, Work, process};
use ftk_read::Span;
use ftk_sched::{Constants, Limits, Model, Stop, Threads};
use ftk_walk::Walker;
use rustix::fs::{CWD, FileType, Mode, Timespec, Timestamps, mknodat, utimensat};

use crate::model::{Entries, header, read};

/// A directory with every type of entry that can be made without privileges. All times are long past.
pub(crate) struct Dir {
    path: PathBuf,
    _temp: Option<tempfile::TempDir>,
}

impl Dir {
    pub(crate) fn new() -> Self {
        let dir = Self::empty();
        for name in ["a", "a/b", "empty", "a b"] {
            fs::create_dir(dir.at(name)).unwrap();
        }
        for (name, content) in [
            ("file", "content"),
            ("twin", "content"),
            ("none", ""),
            ("a/x", "x"),
            ("a/b/c", "c"),
            ("a-b", "dash"),
            ("a b/\u{e9}\n", "odd"),
        ] {
            dir.write(name, content);
        }
        fs::set_permissions(dir.at("file"), fs::Permissions::from_mode(0o4750)).unwrap();
        symlink("file", dir.at("link")).unwrap();
        symlink("/nowhere\n", dir.at("a/dangling")).unwrap();
        for name in ["a/pipe", "pipe"] {
            mknodat(CWD, dir.at(name), FileType::Fifo, Mode::RUSR, 0).unwrap();
        }
        drop(UnixListener::bind(dir.at("socket")).unwrap());
        for name in ["file", "link", "a/pipe", "pipe", "socket", "a", "."] {
            dir.touch(name, 1_000_000_007);
        }
        dir
    }

    /// Creates an empty directory.
    pub(crate) fn empty() -> Self {
        let temp = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self { path: temp.path().into(), _temp: Some(temp) }
    }

    /// Returns a directory that exists.
    pub(crate) fn existing(path: PathBuf) -> Self {
        Self { path, _temp: None }
    }

    pub(crate) fn path(&self) -> &FsPath {
        &self.path
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        if name == "." { self.path().into() } else { self.path().join(name) }
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        fs::write(self.at(name), content).unwrap();
    }

    /// Sets the mtime of an entry; links are not followed.
    pub(crate) fn touch(&self, name: &str, seconds: i64) {
        self.touch_ns(name, i128::from(seconds) * 1_000_000_000 + 123_456_789);
    }

    /// Sets the mtime of an entry in nanoseconds.
    pub(crate) fn touch_ns(&self, name: &str, ns: i128) {
        let (seconds, nanos) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
        let time = Timespec { tv_sec: seconds as i64, tv_nsec: nanos as i64 };
        let times = Timestamps { last_access: time, last_modification: time };
        utimensat(CWD, self.at(name), &times, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }

    pub(crate) fn walk(&self, files: bool) -> Walked {
        self.walk_below(".", files)
    }

    /// Walks a directory of it.
    pub(crate) fn walk_below(&self, name: &str, files: bool) -> Walked {
        let root = self.at(name).into_os_string().into_vec();
        let parts = Walker::new([self.at(name)]).run(|worker| Collect::new(worker, Keep::Stats { files }));
        let mut inventory = Inventory::merge(parts).unwrap();
        let failed = inventory.take_errors().into_iter().map(|error| error.path).collect();
        Walked { inventory, root, failed }
    }

    /// Walks what is examined.
    pub(crate) fn walk_examined(&self, examination: &Examination) -> Walked {
        let walker = Walker::new([self.at(".")]);
        let visit =
            |worker| Examining::new(Some(examination), Collect::new(worker, Keep::Stats { files: true }));
        let parts = walker.run(visit).into_iter().map(Examining::into_inner).collect::<Vec<_>>();
        let mut inventory = Inventory::merge(parts).unwrap();
        let failed = inventory.take_errors().into_iter().map(|error| error.path).collect();
        Walked { inventory, root: self.at(".").into_os_string().into_vec(), failed }
    }

    /// Returns a manifest of its present state.
    pub(crate) fn manifest(&self, header: &Header) -> Manifest {
        let walked = self.walk(header.algorithms.is_empty());
        if header.algorithms.is_empty() {
            return walked.write(header, &Contents::none());
        }
        let rows = walked.read(None, &header.algorithms);
        walked.write(header, &Contents::read(None, &rows))
    }

    /// Returns the entries of such a manifest.
    pub(crate) fn recorded(&self, algorithms: &[Algorithm]) -> Entries {
        read(&self.manifest(&header(algorithms, false))).unwrap()
    }

    /// Returns the entries of such a manifest without tree digests, so that a test can change them.
    pub(crate) fn entries(&self, algorithms: &[Algorithm]) -> Entries {
        let mut entries = self.recorded(algorithms);
        entries.values_mut().for_each(|entry| entry.tree.clear());
        entries
    }
}

/// The result of a walk.
pub(crate) struct Walked {
    pub(crate) inventory: Inventory,
    pub(crate) root: Vec<u8>,
    pub(crate) failed: Vec<Vec<u8>>,
}

impl Walked {
    pub(crate) fn tree(&self) -> WalkedTree<'_> {
        WalkedTree { inventory: &self.inventory, root: &self.root, failed: &self.failed }
    }

    pub(crate) fn read(&self, only: Option<&[FileNo]>, algorithms: &[Algorithm]) -> Rows {
        let platform = Platform::detect();
        let work = Work {
            inventory: &self.inventory,
            algorithms,
            platform,
            only,
            span: Span::Whole,
            fixed_sizes: false,
            prefix: None,
        };
        let rows = Rows::with_stats(work.files(), algorithms);
        let mut rows = rows.with_attributes(&Budget::new(u64::MAX)).unwrap();
        let model = Model::new(Constants::default());
        let limits = Limits { threads: Threads::Fixed(2), backend: None, ring: true, cpus: 2 };
        let env = Resources {
            model: &model,
            limits,
            memory: 64 << 20,
            stop: &Stop::new(),
            watch: None,
            cache: None,
        };
        process(&work, &mut rows, &env);
        rows
    }

    pub(crate) fn write(&self, header: &Header, contents: &Contents<'_>) -> Manifest {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(header, |line: &[u8]| bytes.write_all(line));
        let mut fail = |path: &[u8], error| panic!("{path:?}: {error}");
        create(&self.tree(), contents, header.xattrs, &mut writer, &Budget::new(u64::MAX), &mut fail)
            .unwrap();
        writer.finish().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        Manifest::open_any(file).unwrap()
    }
}

#[test]
fn recorded_metadata_is_that_of_the_system() {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    use std::time::UNIX_EPOCH;

    let dir = Dir::new();
    let entries = dir.entries(&[Algorithm::Sha256, Algorithm::Xxh3]);
    let mut found = vec![".".to_owned()];
    let mut waiting = vec![dir.path().to_path_buf()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(dir.path()).unwrap().to_str().unwrap().to_owned());
            if path.is_dir() && !path.is_symlink() {
                waiting.push(path);
            }
        }
    }
    found.sort_by_key(|path| (path != ".", path.clone()));
    let paths: Vec<_> = entries.keys().map(|path| String::from_utf8(path.0.clone()).unwrap()).collect();
    assert_eq!(paths, found);
    for (path, entry) in &entries {
        let path = dir.at(str::from_utf8(&path.0).unwrap());
        let (said, is) = (&entry.stat, path.symlink_metadata().unwrap());
        let nanos = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        assert_eq!(
            (said.size, said.mode, said.uid, said.gid, said.dev, said.ino, said.nlink, said.rdev),
            (is.size(), is.mode() & 0o7777, is.uid(), is.gid(), is.dev(), is.ino(), is.nlink(), 0),
            "{path:?}"
        );
        assert_eq!(said.mtime_ns, nanos(is.mtime(), is.mtime_nsec()), "{path:?}");
        assert_eq!(said.blocks, is.blocks(), "{path:?}");
        let born = is.created().ok().map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_nanos() as i128);
        assert_eq!(said.birth_ns, born, "{path:?}");
        assert_eq!(said.ctime_ns, nanos(is.ctime(), is.ctime_nsec()), "{path:?}");
        let file_type = match is.file_type() {
            it if it.is_dir() => ftk_walk::FileType::Directory,
            it if it.is_symlink() => ftk_walk::FileType::Symlink,
            it if it.is_fifo() => ftk_walk::FileType::Fifo,
            it if it.is_socket() => ftk_walk::FileType::Socket,
            _ => ftk_walk::FileType::Regular,
        };
        assert_eq!(said.file_type, file_type, "{path:?}");
        let target = fs::read_link(&path).ok().map(|target| target.as_os_str().as_bytes().to_vec());
        assert_eq!(entry.target, target, "{path:?}");
        let mut digests = Vec::new();
        if is.is_file() {
            let content = fs::read(&path).unwrap();
            for algorithm in [Algorithm::Sha256, Algorithm::Xxh3] {
                digests.extend_from_slice(algorithm.hash_one(&content).as_bytes());
            }
        }
        assert_eq!(entry.digests, digests, "{path:?}");
    }
}

#[test]
fn no_file_is_read_without_contents() {
    let dir = Dir::new();
    let mut with = dir.entries(&[Algorithm::Xxh3]);
    with.values_mut().for_each(|entry| entry.digests.clear());
    assert_eq!(dir.entries(&[]), with);
}

#[test]
fn unreadable_files_have_no_entry() {
    let dir = Dir::new();
    let header = header(&[Algorithm::Xxh3], false);
    let walked = dir.walk(false);
    // Replaces a walked file with a directory.
    fs::remove_file(dir.at("a-b")).unwrap();
    fs::create_dir(dir.at("a-b")).unwrap();
    let rows = walked.read(None, &header.algorithms);
    let left_out = read(&walked.write(&header, &Contents::read(None, &rows))).unwrap();
    let all = dir.entries(&[Algorithm::Xxh3]);
    assert_eq!(left_out.len(), all.len() - 1);
    assert!(!left_out.contains_key(&crate::model::Path::new("a-b")));
}
