//! Turns a directory into a BagIt bag in place: its entries move into the directory `data`.
//!
//! Everything is prepared in the directory [`ASIDE`], which only its owner may enter:
//!
//! | what a killed run leaves | what the next run does |
//! |---|---|
//! | an empty `ASIDE` | begins again; if the directory is a bag, removes it |
//! | `ASIDE/data` | moves the other entries there, too |
//! | `ASIDE/bagit.txt`, but no `ASIDE/data` | moves the remaining files out of `ASIDE` |
//!
//! `data` leaves `ASIDE` when it is complete, and `bagit.txt` last. Every entry moves with one rename, which does not change
//! its content. An entry that was moved is at the same path below `ASIDE/data`.

use std::ffi::{CStr, CString};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::rc::Rc;

use ftk_file::{Stat, permissions};
use ftk_record::quote;
use rustix::fs::{AtFlags, CWD, Dir, Gid, Mode, OFlags, Uid, fchmod, fchown, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::own_directory::make_directory;
use crate::reach::{Place, READABLE};
use crate::refusal::ActError;
use crate::swap::rename_to_free;
use crate::sys::{CAN_ACT, sync_file_system};

/// The directory in which a bag is prepared.
pub const ASIDE: &str = ".ftk-bag";

const DATA: &CStr = c"data";
const BAGIT: &CStr = c"bagit.txt";

/// A directory that becomes a bag.
#[derive(Debug)]
pub struct Bagging {
    dir: Rc<OwnedFd>,
    aside: Option<Rc<OwnedFd>>,
    is_filled: bool,
}

/// Why a directory cannot become a bag.
#[derive(Debug)]
pub struct BagError {
    why: String,
    source: Option<io::Error>,
}

impl fmt::Display for BagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for BagError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|it| it as _)
    }
}

fn refused(why: impl Into<String>) -> BagError {
    BagError { why: why.into(), source: None }
}

fn failed(op: &str, name: &[u8]) -> impl FnOnce(Errno) -> BagError {
    let why = format!("cannot {op} {}", quote(name));
    move |errno| BagError { why, source: Some(errno.into()) }
}

impl Bagging {
    /// Opens the directory, and what a killed run has left in it. Changes nothing.
    ///
    /// # Errors
    /// If it cannot be opened, is a bag already, or another user prepares it.
    pub fn open(path: &Path) -> Result<Self, BagError> {
        if !CAN_ACT {
            return Err(refused("names cannot be changed safely on this operating system"));
        }
        let name = path.as_os_str().as_bytes();
        let dir = openat(CWD, path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let dir = Rc::new(dir.map_err(failed("open", name))?);
        let aside = match openat(&dir, ASIDE, READABLE, Mode::empty()) {
            Err(Errno::NOENT) => None,
            aside => Some(Rc::new(aside.map_err(failed("open", ASIDE.as_bytes()))?)),
        };
        if let Some(aside) = &aside {
            let stat = Stat::of(aside).map_err(failed("examine", ASIDE.as_bytes()))?;
            let is_own = stat.uid == geteuid().as_raw() && stat.mode & 0o077 == 0;
            if !is_own {
                return Err(refused(format!(
                    "{} is not a directory that ftk made for the caller",
                    quote(ASIDE.as_bytes())
                )));
            }
        }
        let bagging = Self { is_filled: false, dir, aside };
        let prepared = bagging.aside.is_some().then(|| bagging.names_aside()).transpose()?;
        let has = |name| bagging.has(name);
        let is_filled = match &prepared {
            Some(names) if names.is_empty() => has(BAGIT),
            Some(names) if names.iter().any(|name| **name == *DATA) => false,
            Some(names) if names.iter().any(|name| **name == *BAGIT) && has(DATA) => true,
            Some(_) => return Err(refused(format!("{ASIDE} is not what a run has left"))),
            None => false,
        };
        if has(BAGIT) && !is_filled {
            return Err(refused("it is a bag already: it has the file bagit.txt"));
        }
        Ok(Self { is_filled, ..bagging })
    }

    /// Whether a killed run has prepared everything, so that only [`finish`](Self::finish) is left.
    pub fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// Returns the state of the directory.
    ///
    /// # Errors
    /// If it cannot be examined.
    pub fn stat(&self) -> Result<Stat, BagError> {
        Stat::of(&self.dir).map_err(failed("examine", b"."))
    }

    /// Makes the directory in which the bag is prepared, or clears it of tag files that an earlier run has left.
    ///
    /// # Errors
    /// If it cannot be made or cleared.
    pub fn begin(&mut self) -> Result<(), BagError> {
        if self.aside.is_none() {
            let place = Place { dir: self.dir.clone(), name: CString::new(ASIDE).expect("it has no NUL") };
            let made = make_directory(&place, 0o700);
            let made =
                made.map_err(|error| BagError { source: source_of(&error), why: error.to_string() })?;
            if made.is_none() {
                return Err(refused(format!("{} has appeared meanwhile", quote(ASIDE.as_bytes()))));
            }
            let aside = openat(&self.dir, ASIDE, READABLE, Mode::empty());
            self.aside = Some(Rc::new(aside.map_err(failed("open", ASIDE.as_bytes()))?));
        }
        let aside = self.aside();
        for name in self.names_aside()?.iter().filter(|name| name.as_c_str() != DATA) {
            unlinkat(aside, name, AtFlags::empty()).map_err(failed("remove", name.to_bytes()))?;
        }
        match mkdirat(aside, DATA, permissions(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed("make", DATA.to_bytes())(errno)),
        }
        let (data, stat) = (self.data()?, self.stat()?);
        if stat.uid != geteuid().as_raw() {
            // Root makes a bag of another user's directory, which stays theirs.
            let (uid, gid) = (Uid::from_raw(stat.uid), Gid::from_raw(stat.gid));
            fchown(&data, Some(uid), Some(gid)).map_err(failed("set the owner of", DATA.to_bytes()))?;
        }
        let mode = stat.mode & 0o3777;
        fchmod(data, permissions(mode)).map_err(failed("set the permissions of", DATA.to_bytes()))
    }

    /// Writes a tag file with `write`.
    ///
    /// # Errors
    /// If it cannot be written and synced.
    pub fn write(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), BagError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(self.aside(), name, flags, permissions(0o666));
        let file = File::from(file.map_err(failed("create", name.as_bytes()))?);
        let mut out = BufWriter::new(file);
        let written = write(&mut out).and_then(|()| out.into_inner()?.sync_all());
        written.map_err(|error| BagError {
            why: format!("cannot write {}", quote(name.as_bytes())),
            source: Some(error),
        })
    }

    /// Moves all entries of the directory into `data`. If one cannot be moved, those that were moved get back.
    ///
    /// # Errors
    /// If an entry cannot be moved, or the names cannot be synced.
    pub fn fill(&mut self) -> Result<(), BagError> {
        self.sync()?;
        let mut moved = Vec::new();
        for name in names(&self.dir)?.into_iter().filter(|name| name.to_bytes() != ASIDE.as_bytes()) {
            let (from, to) = (self.place(name.clone()), Place { dir: self.data()?, name });
            if let Err(errno) = rename_to_free(&from, &to) {
                let stays = moved.iter().rev().filter(|(from, to)| rename_to_free(to, from).is_err()).count();
                let error = failed("move", from.name.to_bytes())(errno);
                let BagError { why, source } = error;
                let why = match stays {
                    0 => {
                        self.clear();
                        why
                    }
                    n => format!("{n} entries stay in {ASIDE}/data, and {why}"),
                };
                return Err(BagError { why, source });
            }
            moved.push((from, to));
        }
        self.sync()
    }

    /// Moves `data` and the tag files out of the directory in which they were prepared, and removes it.
    ///
    /// # Errors
    /// If a name is not free, or the names cannot be synced.
    pub fn finish(self) -> Result<(), BagError> {
        let mut names = self.names_aside()?;
        names.sort_by_key(|name| (**name != *DATA, **name == *BAGIT));
        for name in names {
            let from = Place { dir: self.aside().clone(), name: name.clone() };
            rename_to_free(&from, &self.place(name.clone())).map_err(failed("move", name.to_bytes()))?;
            if *name == *DATA {
                self.sync()?;
            }
        }
        unlinkat(&self.dir, ASIDE, AtFlags::REMOVEDIR).map_err(failed("remove", ASIDE.as_bytes()))?;
        self.sync()
    }

    /// Removes what was prepared, unless it has a part of the payload.
    fn clear(&self) {
        // Without `data`, a file that is left would look like a part of a complete bag.
        for name in self.names_aside().unwrap_or_default().iter().filter(|name| name.as_c_str() != DATA) {
            if unlinkat(self.aside(), name, AtFlags::empty()).is_err() {
                return;
            }
        }
        _ = unlinkat(self.aside(), DATA, AtFlags::REMOVEDIR);
        _ = unlinkat(&self.dir, ASIDE, AtFlags::REMOVEDIR);
    }

    fn aside(&self) -> &Rc<OwnedFd> {
        self.aside.as_ref().expect("it was begun")
    }

    fn place(&self, name: CString) -> Place {
        Place { dir: self.dir.clone(), name }
    }

    fn data(&self) -> Result<Rc<OwnedFd>, BagError> {
        let data = openat(self.aside(), DATA, READABLE, Mode::empty());
        data.map(Rc::new).map_err(failed("open", DATA.to_bytes()))
    }

    fn has(&self, name: &CStr) -> bool {
        self.place(name.to_owned()).stat().is_ok()
    }

    fn names_aside(&self) -> Result<Vec<CString>, BagError> {
        self.aside.as_ref().map_or(Ok(Vec::new()), names)
    }

    fn sync(&self) -> Result<(), BagError> {
        sync_file_system(&self.dir).map_err(failed("sync the file system of", b"."))
    }
}

/// Returns the names in a directory, sorted.
fn names(dir: &Rc<OwnedFd>) -> Result<Vec<CString>, BagError> {
    let list = || {
        let mut names = Vec::new();
        for entry in Dir::read_from(dir)? {
            let name = entry?.file_name().to_owned();
            if !matches!(name.to_bytes(), b"." | b"..") {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    };
    list().map_err(failed("list", b"."))
}

/// Returns the system's cause of an error.
fn source_of(error: &ActError) -> Option<io::Error> {
    let source = std::error::Error::source(error)?.downcast_ref::<io::Error>()?;
    Some(
        source
            .raw_os_error()
            .map_or_else(|| io::Error::other(source.to_string()), io::Error::from_raw_os_error),
    )
}

/// Returns the path below a bag that an entry at this path below its directory gets, or has by now. `None` if it is not a
/// part of the payload.
pub fn bag_path(below: &[u8]) -> Option<&[u8]> {
    let inside =
        below.strip_prefix(ASIDE.as_bytes()).filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
    match inside {
        None => Some(below),
        Some(inside) => inside.strip_prefix(b"/data/"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Returns the names of all files below a directory.
    fn files(dir: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut dirs = vec![dir.to_owned()];
        while let Some(at) = dirs.pop() {
            for entry in fs::read_dir(at).unwrap() {
                let path = entry.unwrap().path();
                match path.symlink_metadata().unwrap().is_dir() {
                    true => dirs.push(path),
                    false => found.push(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned()),
                }
            }
        }
        found.sort();
        found
    }

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("data/sub")).unwrap();
        for name in ["a", ".hidden", "data/sub/x"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        dir
    }

    const BAG: [&str; 5] = ["bagit.txt", "data/.hidden", "data/a", "data/data/sub/x", "manifest-md5.txt"];

    fn prepare(bagging: &mut Bagging) {
        bagging.begin().unwrap();
        for name in ["bagit.txt", "manifest-md5.txt"] {
            bagging.write(name, |out| out.write_all(b"text")).unwrap();
        }
    }

    #[test]
    fn all_entries_move_and_a_bag_is_refused() {
        let dir = tree();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o750)).unwrap();
        let mut bagging = Bagging::open(dir.path()).unwrap();
        prepare(&mut bagging);
        bagging.fill().unwrap();
        bagging.finish().unwrap();
        assert_eq!(files(dir.path()), BAG);
        assert_eq!(fs::metadata(dir.path().join("data")).unwrap().permissions().mode() & 0o7777, 0o750);
        assert!(!dir.path().join(ASIDE).exists());
        assert!(Bagging::open(dir.path()).unwrap_err().to_string().contains("is a bag already"));
    }

    /// The names move one by one, so these are all states that a killed run can leave.
    #[test]
    fn a_run_continues_where_a_killed_one_was() {
        let at = |dir: &Path, name: &str| dir.join(ASIDE).join(name);
        for moved in 0..=3 {
            let dir = tree();
            prepare(&mut Bagging::open(dir.path()).unwrap());
            for name in [".hidden", "a", "data"].iter().take(moved) {
                fs::rename(dir.path().join(name), at(dir.path(), "data").join(name)).unwrap();
            }
            let mut bagging = Bagging::open(dir.path()).unwrap();
            assert!(!bagging.is_filled());
            prepare(&mut bagging);
            bagging.fill().unwrap();
            bagging.finish().unwrap();
            assert_eq!(files(dir.path()), BAG, "{moved}");
        }
        for moved in 1..=4 {
            let dir = tree();
            let mut bagging = Bagging::open(dir.path()).unwrap();
            prepare(&mut bagging);
            bagging.fill().unwrap();
            for name in ["data", "manifest-md5.txt", "bagit.txt"].iter().take(moved) {
                fs::rename(at(dir.path(), name), dir.path().join(name)).unwrap();
            }
            if moved == 4 {
                fs::remove_dir(dir.path().join(ASIDE)).unwrap();
                assert!(Bagging::open(dir.path()).is_err(), "it is a bag");
                continue;
            }
            let bagging = Bagging::open(dir.path()).unwrap();
            assert!(bagging.is_filled());
            bagging.finish().unwrap();
            assert_eq!(files(dir.path()), BAG, "{moved}");
        }
        let dir = tree();
        fs::create_dir(dir.path().join(ASIDE)).unwrap();
        fs::set_permissions(dir.path().join(ASIDE), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(!Bagging::open(dir.path()).unwrap().is_filled());
        fs::write(at(dir.path(), "mine"), "").unwrap();
        assert!(Bagging::open(dir.path()).is_err(), "it is something else");
        fs::remove_file(at(dir.path(), "mine")).unwrap();
        fs::set_permissions(dir.path().join(ASIDE), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Bagging::open(dir.path()).is_err(), "others may enter it");
    }

    #[test]
    fn what_cannot_be_moved_leaves_everything_as_it_was() {
        let dir = tree();
        let mut bagging = Bagging::open(dir.path()).unwrap();
        prepare(&mut bagging);
        fs::write(dir.path().join(ASIDE).join("data/a"), "another").unwrap();
        let before = files(dir.path());
        let error = bagging.fill().unwrap_err();
        assert!(error.to_string().starts_with("cannot move 'a'"), "{error}");
        fs::remove_file(dir.path().join(ASIDE).join("data/a")).unwrap();
        assert!(before.iter().filter(|name| !name.starts_with(ASIDE)).all(|it| dir.path().join(it).exists()));
        // Without it, nothing is left.
        let mut bagging = Bagging::open(dir.path()).unwrap();
        prepare(&mut bagging);
        bagging.clear();
        assert_eq!(files(dir.path()), [".hidden", "a", "data/sub/x"]);
        assert!(!dir.path().join(ASIDE).exists());
    }

    #[test]
    fn the_paths_of_a_bag_are_those_that_entries_have_at_the_end() {
        for (below, path) in [
            ("a/b", Some("a/b")),
            ("data/x", Some("data/x")),
            (".ftk-bag", None),
            (".ftk-bag/bagit.txt", None),
            (".ftk-bag/data", None),
            (".ftk-bag/data/x/y", Some("x/y")),
            (".ftk-bags/data/x", Some(".ftk-bags/data/x")),
        ] {
            assert_eq!(bag_path(below.as_bytes()), path.map(str::as_bytes), "{below}");
        }
    }
}
