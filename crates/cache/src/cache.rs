//! The store of a run.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use ftk_file::{FsId, Stat};

use crate::recorder::Recorder;
use crate::row::today;
use crate::store::Store;
use crate::{Content, Remembered, Stored, Unusable};

/// The number of days during which the use of a row is not stored again.
const TOUCH_AFTER: u32 = 30;

/// The number of rows whose use one thread stores in one run. The others follow in later runs.
const MAX_TOUCHED: usize = 1 << 16;

/// The store of a run, and the thread that adds to it.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    recorder: Recorder,
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
        drop(Store::open(path)?);
        Ok(Self { path: path.to_path_buf(), recorder: Recorder::start(path.to_path_buf())?, today: today() })
    }

    /// Returns the device and inode numbers of the store and, if it exists, of its journal, so that walks can
    /// skip them. Nothing else in this process may open the store.
    pub fn identities(&self) -> Vec<(u64, u64)> {
        let found = files(&self.path).into_iter().filter_map(|path| fs::metadata(path).ok());
        found.map(|metadata| (metadata.dev(), metadata.ino())).collect()
    }

    /// Prepares the calling thread to look up digests. Nothing is stored until it drops the result.
    ///
    /// # Errors
    /// Why the store cannot be used.
    pub fn known(&self) -> Result<Known, Unusable> {
        let store = Store::open(&self.path)?;
        store.freeze()?;
        Ok(Known { store, today: self.today })
    }

    /// Returns where to send what was read. It is stored within a few seconds. A thread that looks digests up must not
    /// send any: nothing is stored meanwhile, and the channel may be full.
    pub fn new_rows(&self) -> SyncSender<Vec<Remembered>> {
        self.recorder.rows().clone()
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
            _ => Store::open(path)?.contents().map(Some),
        }
    }

    /// Sets the size to which the store is trimmed from now on, in bytes, and trims it.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn set_max_size(path: &Path, bytes: u64) -> Result<(), Unusable> {
        let mut store = Store::open(path)?;
        store.set_max_size(bytes)?;
        store.trim(today())
    }

    /// Removes what is known about these files: the identity of the file system, and the inode number.
    /// Returns how many were known.
    ///
    /// # Errors
    /// Why the store cannot be used.
    pub fn forget(path: &Path, files: impl Iterator<Item = (FsId, u64)>) -> Result<u64, Unusable> {
        Store::open(path)?.forget(files)
    }

    /// Removes the store, even a damaged one. Returns whether there was one.
    ///
    /// # Errors
    /// Any error of the removal.
    pub fn clear(path: &Path) -> io::Result<bool> {
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
}

/// Returns the paths of the store and of its journal, which SQLite names.
fn files(path: &Path) -> [PathBuf; 2] {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    [path.to_path_buf(), journal.into()]
}

/// The digests that are known from earlier runs, as one thread sees them.
#[derive(Debug)]
pub struct Known {
    store: Store,
    today: u32,
}

impl Known {
    /// Looks up a file that now has this metadata. Returns whether the digests of all contents are known and still
    /// valid. If so, `digests` receives them in the order of the contents.
    ///
    /// `used` receives the row if its use was not stored for a long time.
    ///
    /// # Errors
    /// Why the store cannot be used any more.
    pub fn digests(
        &self,
        fs: FsId,
        now: &Stat,
        contents: &[Content],
        digests: &mut Vec<u8>,
        used: &mut Vec<Remembered>,
    ) -> Result<bool, Unusable> {
        digests.clear();
        let Some(mut row) = self.store.row(fs, now.ino)?.filter(|row| row.is_valid(now)) else {
            return Ok(false);
        };
        for &content in contents {
            let Some(digest) = row.digest(content) else { return Ok(false) };
            digests.extend_from_slice(digest.as_bytes());
        }
        if row.day.saturating_add(TOUCH_AFTER) < self.today && used.len() < MAX_TOUCHED {
            row.day = self.today;
            used.push(Remembered { fs, ino: now.ino, row });
        }
        Ok(true)
    }
}
