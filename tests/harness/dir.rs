//! A separate directory for each test.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, FallocateFlags, FileType, Mode, OFlags, fallocate, mkdirat, mknodat, openat, unlinkat,
};

use super::Ftk;

/// A fresh directory in which commands run, readable by every user. Paths are relative to it.
pub struct Dir {
    temp: tempfile::TempDir,
    tree: PathBuf,
    /// Directories that must be removed first.
    locked: Mutex<Vec<PathBuf>>,
}

impl Dir {
    /// A directory in memory, where there is room for it: on a disk, creating and removing thousands of files and syncing
    /// them takes the file system longer than the tests.
    pub fn new() -> Self {
        const MEMORY: &str = "/dev/shm";
        /// More than all tests need that run at one time.
        const ROOM: u64 = 2 << 30;
        let has_room = rustix::fs::statvfs(MEMORY).is_ok_and(|it| it.f_bavail * it.f_frsize >= ROOM);
        if !has_room {
            return Self::on_disk();
        }
        tempfile::tempdir_in(MEMORY).map_or_else(|_| Self::on_disk(), Self::in_temp)
    }

    /// A directory where temporary files usually are, for tests that need a file system on a disk: its reliable inode numbers,
    /// a page cache that can be dropped, or room for gigabytes.
    pub fn on_disk() -> Self {
        Self::in_temp(tempfile::tempdir().unwrap())
    }

    fn in_temp(temp: tempfile::TempDir) -> Self {
        set_mode(temp.path(), 0o755);
        let tree = temp.path().join("tree");
        fs::create_dir(&tree).unwrap();
        Self { temp, tree, locked: Mutex::default() }
    }

    /// The directory that commands run in.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.tree.join(path)
    }

    /// A path next to that directory, for files that must not be in it.
    pub fn aside(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// `ftk` with these arguments.
    pub fn ftk<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ftk {
        Ftk::new(self, args)
    }

    /// A file, with the directories above it. An old file gets another mtime, even in the same tick of the clock.
    pub fn file(&self, path: impl AsRef<Path>, content: &[u8]) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let modified = || fs::metadata(&path).and_then(|it| it.modified()).ok();
        let old = modified();
        let mut file = File::create(&path).unwrap();
        file.write_all(content).unwrap();
        if let Some(old) = old.filter(|old| modified() == Some(*old)) {
            file.set_modified(old + Duration::from_millis(1)).unwrap();
        }
        self
    }

    /// A file whose name may contain any bytes.
    pub fn raw_file(&self, path: &[u8], content: &[u8]) -> &Self {
        self.file(OsStr::from_bytes(path), content)
    }

    /// A file of `len` bytes that is one hole. Only `cmp --no-shortcuts` reads it, and file systems that are not
    /// trusted.
    pub fn hole(&self, path: &str, len: u64) -> &Self {
        self.file(path, b"");
        File::options().write(true).open(self.path(path)).unwrap().set_len(len).unwrap();
        self
    }

    /// A file of `len` zeros that have blocks on the disk, so that they are read.
    pub fn zeros(&self, path: &str, len: u64) -> &Self {
        self.file(path, b"");
        let file = File::options().write(true).open(self.path(path)).unwrap();
        fallocate(file, FallocateFlags::empty(), 0, len).unwrap();
        self
    }

    pub fn dir(&self, path: impl AsRef<Path>) -> &Self {
        fs::create_dir_all(self.path(path)).unwrap();
        self
    }

    pub fn symlink(&self, to: &str, path: &str) -> &Self {
        symlink(to, self.path(path)).unwrap();
        self
    }

    pub fn hard_link(&self, to: &str, path: &str) -> &Self {
        fs::hard_link(self.path(to), self.path(path)).unwrap();
        self
    }

    pub fn fifo(&self, path: &str) -> &Self {
        mknodat(CWD, self.path(path), FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
        self
    }

    pub fn socket(&self, path: &str) -> &Self {
        UnixListener::bind(self.path(path)).unwrap();
        self
    }

    /// Removes all permissions. Only [unprivileged](Ftk::unprivileged) commands are affected.
    pub fn lock(&self, path: &str) -> &Self {
        let path = self.path(path);
        set_mode(&path, 0);
        self.locked.lock().unwrap().push(path);
        self
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        for path in self.locked.lock().unwrap().iter() {
            _ = fs::set_permissions(path, Permissions::from_mode(0o700));
        }
    }
}

/// The inode number of an entry, which may be a link.
pub fn ino(path: &Path) -> u64 {
    fs::symlink_metadata(path).unwrap().ino()
}

pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A chain of directories of one name, removed from the deepest one upwards.
pub struct Chain {
    dir: Dir,
    name: &'static str,
    deepest: OwnedFd,
    depth: usize,
}

impl Chain {
    /// Some levels, and the deepest one, contain a file `f` whose content is the level.
    pub fn new(name: &'static str, depth: usize, every: usize) -> Self {
        let dir = Dir::new();
        let mut deepest: OwnedFd = File::open(dir.path("")).unwrap().into();
        for level in 1..=depth {
            mkdirat(&deepest, name, Mode::from_raw_mode(0o755)).unwrap();
            deepest = openat(&deepest, name, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
            if level % every != 0 && level != depth {
                continue;
            }
            let file = openat(&deepest, "f", OFlags::CREATE | OFlags::WRONLY, Mode::from_raw_mode(0o644));
            File::from(file.unwrap()).write_all(level.to_string().as_bytes()).unwrap();
        }
        Self { dir, name, deepest, depth }
    }

    /// The directory that the chain begins in.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Path of the file at `level`, the first being 1.
    pub fn file(&self, level: usize) -> Vec<u8> {
        format!("./{}f", format!("{}/", self.name).repeat(level)).into_bytes()
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        for _ in 0..self.depth {
            _ = unlinkat(&self.deepest, "f", AtFlags::empty());
            let up = openat(&self.deepest, "..", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
            let Ok(up) = up else { return };
            _ = unlinkat(&up, self.name, AtFlags::REMOVEDIR);
            self.deepest = up;
        }
    }
}
