//! The store of a run.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLockReadGuard};

use ftk_file::{FsId, Stat};

use crate::block::{Rows, number};
use crate::recorder::{NewRows, Recorder, Turn};
use crate::row::{Row, today};
use crate::store::{LOOK_UP_WAIT, Store, WAIT};
use crate::{Batch, Content, Stored, Unusable};

/// The number of days during which the use of a row is not stored again.
const TOUCH_AFTER: u32 = 30;

/// The number of rows whose use one thread stores in one run. The others follow in later runs.
const MAX_TOUCHED: usize = 1 << 16;

/// The store of a run, and the thread that adds to it.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    recorder: Recorder,
    turn: Turn,
    is_empty: bool,
    today: u32,
}

/// What a store contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The number of files.
    pub rows: u64,
    /// The number of file systems that they are on.
    pub file_systems: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The size that it is trimmed to, in bytes.
    pub max_bytes: u64,
}

impl Cache {
    /// Opens the store at `path`, or creates it.
    ///
    /// # Errors
    /// Why it cannot be used. The run should say so and continue without it.
    pub fn open(path: &Path) -> Result<Self, Unusable> {
        // Opened here first, so that the reason is known before the run begins.
        let is_empty = Store::open(path, LOOK_UP_WAIT)?.is_empty();
        let (path, turn) = (path.to_path_buf(), Turn::default());
        let recorder = Recorder::start(path.clone(), turn.clone())?;
        Ok(Self { path, recorder, turn, is_empty, today: today() })
    }

    /// Whether nothing was stored when this was opened, so that there is nothing to look up.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Returns the device and inode numbers of the store and, if it exists, of its journal, so that walks can
    /// skip them. Nothing else in this process may open the store.
    pub fn identities(&self) -> Vec<(u64, u64)> {
        let found = files(&self.path).into_iter().filter_map(|path| fs::metadata(path).ok());
        found.map(|metadata| (metadata.dev(), metadata.ino())).collect()
    }

    /// Prepares the calling thread to look up digests. Nothing is stored until it drops the result. If this run is
    /// storing digests, this waits until it is done.
    ///
    /// # Errors
    /// Why the store cannot be used.
    pub fn known(&self) -> Result<Known<'_>, Unusable> {
        // The lock protects no data.
        let turn = self.turn.read().unwrap_or_else(PoisonError::into_inner);
        let mut store = Store::open(&self.path, LOOK_UP_WAIT)?;
        store.freeze()?;
        Ok(Known { store, block: None, rows: Vec::new(), today: self.today, _turn: turn })
    }

    /// Returns where to send what was read. It is stored within a few seconds. A thread that looks digests up must not
    /// send any: nothing is stored meanwhile, and the channel may be full.
    pub fn new_rows(&self) -> NewRows {
        self.recorder.rows().clone()
    }

    /// Begins to store what was sent so far. Look-ups wait until it is stored, so this is meant for the end of a run:
    /// [`finish`](Self::finish) then has little to do.
    pub fn flush(&self) {
        self.recorder.flush();
    }

    /// Waits until everything that was sent is stored, and removes what is too old or too much. All senders
    /// must be gone.
    pub fn finish(self) -> Stored {
        self.recorder.finish()
    }

    /// Returns what the store contains; `None` if there is none.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn contents(path: &Path) -> Result<Option<Contents>, Unusable> {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Store::open(path, WAIT)?.contents().map(Some),
        }
    }

    /// Sets the size to which the store is trimmed from now on, in bytes, and trims it.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn set_max_size(path: &Path, bytes: u64) -> Result<(), Unusable> {
        let mut store = Store::open(path, WAIT)?;
        store.set_max_size(bytes, today())?;
        store.trim(today())
    }

    /// Removes what is known about these files: the identity of the file system, and the inode number.
    /// Returns how many were known.
    ///
    /// # Errors
    /// Why the store cannot be used.
    pub fn forget(path: &Path, files: impl Iterator<Item = (FsId, u64)>) -> Result<u64, Unusable> {
        Store::open(path, WAIT)?.forget(files)
    }

    /// Empties the store, or removes it if it cannot be used. Returns whether there was one.
    ///
    /// Waits for processes that are using it at the moment. A run that goes on afterwards stores what it reads from then
    /// on.
    ///
    /// # Errors
    /// Any error of the removal; [`io::ErrorKind::ResourceBusy`] if other processes use the store for half a minute.
    pub fn clear(path: &Path) -> io::Result<bool> {
        match fs::symlink_metadata(path) {
            Err(_) => return remove(path),
            Ok(found) if found.is_file() && found.len() == 0 => return Ok(false),
            Ok(_) => {}
        }
        match Store::clear(path) {
            Ok(existed) => Ok(existed),
            Err(Unusable::Busy) => Err(io::ErrorKind::ResourceBusy.into()),
            // No run can use it, or nothing can be written to its file system.
            Err(_) => remove(path),
        }
    }
}

/// Removes the store and its journal. Returns whether there was one.
fn remove(path: &Path) -> io::Result<bool> {
    let mut existed = false;
    for path in files(path) {
        match fs::remove_file(path) {
            Ok(()) => existed = true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(existed)
}

/// Returns the paths of the store and of its journal, which SQLite names.
fn files(path: &Path) -> [PathBuf; 2] {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    [path.to_path_buf(), journal.into()]
}

/// The digests that are known from earlier runs, as one thread sees them.
#[derive(Debug)]
pub struct Known<'c> {
    store: Store,
    /// The block that was read last, and the bytes of its rows.
    block: Option<(FsId, u64)>,
    rows: Vec<u8>,
    today: u32,
    /// Nothing is stored while this exists.
    _turn: RwLockReadGuard<'c, ()>,
}

impl Known<'_> {
    /// Whether files on this file system may be known.
    pub fn has_files_on(&self, fs: FsId) -> bool {
        self.store.knows(fs)
    }

    /// Whether a file with this inode number is known. Its digests may be out of date.
    ///
    /// # Errors
    /// Why the store cannot be used any more.
    pub fn has(&mut self, fs: FsId, ino: u64) -> Result<bool, Unusable> {
        Ok(self.row(fs, ino)?.is_some())
    }

    /// Looks up a file that now has this metadata. Returns whether the digests of all contents are known and still
    /// valid. If so, `digests` receives them in the order of the contents.
    ///
    /// `used` receives the row if its use was not stored for a long time.
    ///
    /// # Errors
    /// Why the store cannot be used any more.
    pub fn digests(
        &mut self,
        fs: FsId,
        now: &Stat,
        contents: &[Content],
        digests: &mut Vec<u8>,
        used: &mut Batch,
    ) -> Result<bool, Unusable> {
        digests.clear();
        let today = self.today;
        let Some(row) = self.row(fs, now.ino)?.filter(|row| row.head.is_valid(now)) else {
            return Ok(false);
        };
        for &content in contents {
            let Some(digest) = row.digest(content) else { return Ok(false) };
            digests.extend_from_slice(digest);
        }
        if row.head.day.saturating_add(TOUCH_AFTER) < today && used.len() < MAX_TOUCHED {
            used.add_used(fs, now.ino, &row, today);
        }
        Ok(true)
    }

    /// Returns the row of a file, whatever its version. Neighbours are in the same block, which is read once.
    fn row(&mut self, fs: FsId, ino: u64) -> Result<Option<Row<'_>>, Unusable> {
        let block = number(ino);
        if self.block != Some((fs, block)) {
            self.block = None;
            self.rows.clear();
            let rows = &mut self.rows;
            self.store.read(fs, block, |read| rows.extend_from_slice(read.as_bytes()))?;
            self.block = Some((fs, block));
        }
        let found = Rows::verified(block, &self.rows).find(|(it, _)| *it == ino);
        Ok(found.and_then(|(_, row)| Row::decode(row)))
    }
}
