//! The trash of the desktop, by the Trash specification 1.0 of freedesktop.org.
//!
//! A file on the file system of the home trash moves there, and any other one to the trash at the top of its own file system:
//! `.Trash/UID`, if an administrator has made `.Trash` with the sticky bit, and else `.Trash-UID`. A trash has the
//! directories `files` and `info`. The record of a file in `info` is made first, as a new file, which reserves its name.
//!
//! Undo moves the file back like any other moved file, and removes the record. A run that was killed may leave a record
//! without a file. Desktops do not show it, and undo removes it.

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ftk_file::{Stat, Symlinks, temp_name};
use jiff::Zoned;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::action::ActionKind;
use crate::destination::{Destination, STICKY, open_path};
use crate::intent::To;
use crate::own_directory::make_directory;
use crate::probe::nearest_device;
use crate::reach::{DIRECTORY, Place, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::sys::path_of;
use crate::trust::WRITABLE_BY_OTHERS;

/// The permissions of the directories of a trash.
const MODE: u32 = 0o700;

/// The end of the name of a record.
const RECORD: &[u8] = b".trashinfo";

/// A name in the trash is not longer than this, so that there is room for a suffix and the end of the name of the record.
const MAX_NAME: usize = 200;

/// The trash of each file system that has victims.
#[derive(Debug)]
pub(crate) struct Bins {
    /// The path of the home trash.
    home: PathBuf,
    open: Vec<Bin>,
    /// The latest directory of a victim, and its trash.
    latest: Option<((u64, u64), usize)>,
    /// Names of steps that are not performed yet.
    reserved: HashSet<(usize, Vec<u8>)>,
}

/// An open trash.
#[derive(Debug)]
struct Bin {
    /// The number of the file system.
    dev: u64,
    files: Destination,
    info: OwnedFd,
    /// The path of the directory around it, to which the paths in records are relative. `None` for the home trash.
    top: Option<Vec<u8>>,
    /// Whether something changed since the last sync.
    is_changed: bool,
}

impl Bins {
    pub(crate) fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), open: Vec::new(), latest: None, reserved: HashSet::new() }
    }

    /// Returns the path in the trash that the victim at `place` gets. Opens the trash, and makes one that is missing.
    pub(crate) fn to(&mut self, place: &Place, reach: &mut Reach) -> Result<To, ActError> {
        let dir = Stat::of(&place.dir).map_err(|errno| ActError::failed("examine the directory", errno))?;
        let nth = match self.latest {
            Some((latest, nth)) if latest == dir.identity() => nth,
            _ => self.bin_of(place, reach)?,
        };
        self.latest = Some((dir.identity(), nth));
        let bin = &self.open[nth];
        let name = place.name.to_bytes();
        let mut len = name.len().min(MAX_NAME);
        // A character of UTF-8 has at most four bytes, and is not cut.
        while name.len() > len && len > MAX_NAME - 3 && name[len] & 0xc0 == 0x80 {
            len -= 1;
        }
        let mut name = name[..len].to_vec();
        if !bin.is_free(&name)? || self.reserved.contains(&(nth, name.clone())) {
            name.push(b'.');
            // The random digits.
            name.extend(temp_name().to_bytes().iter().rev().take(8));
        }
        self.reserved.insert((nth, name.clone()));
        Ok(bin.files.to(&name))
    }

    /// Returns the number of the trash for the victim at `place`.
    fn bin_of(&mut self, place: &Place, reach: &mut Reach) -> Result<usize, ActError> {
        let (top, above) = top_of(&place.dir)?;
        let dev = Stat::of(&top).map_err(|errno| ActError::failed("examine the directory", errno))?.dev;
        let is_trash = |it: &(u64, u64)| above.contains(it);
        if directories_at(&top)
            .into_iter()
            .chain(identity_of(CWD, &self.home, Symlinks::Follow))
            .any(|it| is_trash(&it))
        {
            return Err(Refusal::InTrash.into());
        }
        if let Some(nth) = self.open.iter().position(|bin| bin.dev == dev) {
            return Ok(nth);
        }
        let home = nearest_device(reach.base(), &self.home);
        let home = home.map_err(|errno| ActError::failed("find the file system of the home trash", errno))?;
        let bin = if home == dev {
            Bin::open(open_path(reach.base(), &self.home, MODE)?.0, None)?
        } else {
            Bin::at_top(top)?
        };
        let identity = bin.files.identity();
        let identity = identity.map_err(|error| ActError::failed("identify the trash", error))?;
        reach.expect_start(bin.files.path(), identity);
        self.open.push(bin);
        Ok(self.open.len() - 1)
    }

    /// Writes the record of a victim. Returns its new place.
    pub(crate) fn record(&mut self, victim: &Place, to: &To) -> Result<Place, ActError> {
        let is_root = |bin: &&mut Bin| bin.files.path() == &to.path[..to.root_len];
        let bin = self.open.iter_mut().find(is_root).expect("the trash of a step is open");
        let new = bin.files.place(to)?;
        bin.is_changed = true;
        bin.write_record(&new.name, victim)?;
        Ok(new)
    }

    /// Waits until the moved files and their records are on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), Errno> {
        self.reserved.clear();
        for bin in self.open.iter_mut().filter(|bin| bin.is_changed) {
            bin.files.sync()?;
            bin.is_changed = false;
        }
        Ok(())
    }
}

impl Bin {
    /// Opens the trash at the top of a file system.
    fn at_top(top: OwnedFd) -> Result<Self, ActError> {
        let path =
            path_of(&top).map_err(|errno| ActError::failed("find the path of the file system", errno))?;
        let top = Rc::new(top);
        let (uid, own) = (geteuid().as_raw(), own_name());
        let shared = openat(&top, c".Trash", DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).ok();
        let shared = shared.filter(|dir| Stat::of(dir).is_ok_and(|stat| stat.mode & STICKY != 0));
        let of_user = CString::new(uid.to_string()).expect("digits have no NUL");
        let inside = shared.and_then(|dir| own_directory(&Place { dir: Rc::new(dir), name: of_user }).ok());
        let trash = inside.map_or_else(|| own_directory(&Place { dir: top, name: own }), Ok)?;
        Self::open(trash, Some(path))
    }

    /// Opens the directories of a trash.
    fn open(trash: OwnedFd, top: Option<Vec<u8>>) -> Result<Self, ActError> {
        ensure_own(&trash, c"Trash")?;
        let failed = |errno| ActError::failed("examine the trash", errno);
        let dev = Stat::of(&trash).map_err(failed)?.dev;
        let trash = Rc::new(trash);
        let files = own_directory(&Place { dir: trash.clone(), name: c"files".to_owned() })?;
        let info = own_directory(&Place { dir: trash, name: c"info".to_owned() })?;
        let path = path_of(&files).map_err(failed)?;
        Ok(Self { dev, files: Destination::of(files, path), info, top, is_changed: false })
    }

    /// Returns whether neither a file nor a record has a name.
    fn is_free(&self, name: &[u8]) -> Result<bool, ActError> {
        let (files, info) = (self.files.place(&self.files.to(name))?, record_name(name)?);
        let record = Place { dir: Rc::new(duplicate(&self.info)?), name: info };
        for place in [files, record] {
            match place.stat() {
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(ActError::failed("look for a free name in the trash", errno)),
                Ok(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Writes the record for the name `name` of a victim.
    fn write_record(&self, name: &CStr, victim: &Place) -> Result<(), ActError> {
        const OP: &str = "write the record of the trash";
        let mut path = path_of(&victim.dir).map_err(|errno| ActError::failed("find the path", errno))?;
        path.extend_from_slice(b"/");
        path.extend_from_slice(victim.name.to_bytes());
        let shown = match &self.top {
            None => &path[..],
            Some(top) => {
                let below = path.strip_prefix(&**top).unwrap_or(&path);
                below.strip_prefix(b"/").unwrap_or(below)
            }
        };
        let date = Zoned::now().strftime("%Y-%m-%dT%H:%M:%S").to_string();
        let text = format!("[Trash Info]\nPath={}\nDeletionDate={date}\n", percent_encoded(shown));
        let name = record_name(name.to_bytes())?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file =
            openat(&self.info, &name, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| match errno {
                Errno::EXIST => Refusal::NameExists.into(),
                errno => ActError::failed(OP, errno),
            })?;
        File::from(file).write_all(text.as_bytes()).map_err(|error| {
            _ = unlinkat(&self.info, &name, AtFlags::empty());
            ActError::failed(OP, error)
        })
    }
}

/// After a move to the trash, removes the record of a file that is not there any more, or never was. `moved` is its place
/// there.
pub(crate) fn forget(kind: ActionKind, moved: &Place) {
    if kind != ActionKind::Trash || moved.stat() != Err(Errno::NOENT) {
        return;
    }
    if let (Ok(info), Ok(name)) = (
        openat(&moved.dir, c"../info", DIRECTORY | OFlags::NOFOLLOW, Mode::empty()),
        record_name(moved.name.to_bytes()),
    ) {
        // Without its file, a record has no effect.
        _ = unlinkat(info, name, AtFlags::empty());
    }
}

/// Returns the identities of the directories of the trash that exist: that of the path `home`, and those of the file systems
/// of `starts`. A search for victims skips them.
pub fn trash_directories<P: AsRef<Path>>(
    home: &Path,
    starts: impl IntoIterator<Item = P>,
) -> Vec<(u64, u64)> {
    let top = |start: P| {
        let start = start.as_ref();
        let open = |path: &Path| openat(CWD, path, DIRECTORY, Mode::empty()).ok();
        let dir = open(start).or_else(|| open(start.parent()?))?;
        top_of(&dir).ok().map(|(top, _)| top)
    };
    let tops = starts.into_iter().filter_map(top);
    tops.flat_map(|top| directories_at(&top)).chain(identity_of(CWD, home, Symlinks::Follow)).collect()
}

/// Returns the identities of the directories of the trash at the top of a file system.
fn directories_at(top: &OwnedFd) -> Vec<(u64, u64)> {
    let shared = format!(".Trash/{}", geteuid().as_raw());
    let own = own_name();
    [shared.as_bytes(), own.to_bytes()]
        .into_iter()
        // A link there is not opened as the trash either.
        .filter_map(|path| identity_of(top, Path::new(OsStr::from_bytes(path)), Symlinks::NoFollow))
        .collect()
}

fn identity_of(dir: impl AsFd, path: &Path, symlinks: Symlinks) -> Option<(u64, u64)> {
    Stat::at(dir.as_fd(), path, symlinks).ok().map(|stat| stat.identity())
}

fn own_name() -> CString {
    CString::new(format!(".Trash-{}", geteuid().as_raw())).expect("digits have no NUL")
}

/// Returns the topmost directory of the file system of a directory, and the identities of all directories on the way, with both.
fn top_of(dir: impl AsFd) -> Result<(OwnedFd, Vec<(u64, u64)>), ActError> {
    let failed = |errno| ActError::failed("find the top of the file system", errno);
    let mut at =
        dir.as_fd().try_clone_to_owned().map_err(|error| ActError::failed("open the directory", error))?;
    let mut stat = Stat::of(&at).map_err(failed)?;
    let mut passed = vec![stat.identity()];
    loop {
        let above = openat(&at, c"..", DIRECTORY, Mode::empty()).map_err(failed)?;
        let above_stat = Stat::of(&above).map_err(failed)?;
        if above_stat.dev != stat.dev || above_stat.identity() == stat.identity() {
            return Ok((at, passed));
        }
        (at, stat) = (above, above_stat);
        passed.push(stat.identity());
    }
}

/// Opens a directory that belongs to the caller, or makes it.
fn own_directory(place: &Place) -> Result<OwnedFd, ActError> {
    let open = || openat(&place.dir, &place.name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
    let dir = match open() {
        // Another program may make it at the same time.
        Err(Errno::NOENT) => match make_directory(place, MODE)? {
            Some(made) => Ok(made),
            None => open(),
        },
        dir => dir,
    };
    let dir = dir.map_err(|errno| ActError::failed("open a directory of the trash", errno))?;
    ensure_own(&dir, &place.name)?;
    Ok(dir)
}

/// Refuses a directory of another user, or one to which others may write.
fn ensure_own(dir: &OwnedFd, name: &CStr) -> Result<(), ActError> {
    let stat = Stat::of(dir).map_err(|errno| ActError::failed("examine the trash", errno))?;
    let is_own = stat.uid == geteuid().as_raw() && stat.mode & WRITABLE_BY_OTHERS == 0;
    if is_own { Ok(()) } else { Err(Refusal::ForeignTrash(name.to_bytes().to_vec()).into()) }
}

fn record_name(name: &[u8]) -> Result<CString, ActError> {
    CString::new([name, RECORD].concat()).map_err(|_| Refusal::Path(Side::New).into())
}

fn duplicate(fd: &OwnedFd) -> Result<OwnedFd, ActError> {
    fd.try_clone().map_err(|error| ActError::failed("duplicate a descriptor", error))
}

/// Encodes a path as in a URL, byte by byte.
fn percent_encoded(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(byte.into())
            }
            byte => write!(text, "%{byte:02X}").expect("writing to a String cannot fail"),
        }
    }
    text
}
