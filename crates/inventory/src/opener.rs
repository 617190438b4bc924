//! Re-opening the directories of a table.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use crate::{DirNo, Inventory};

/// A directory descriptor. An open still in flight holds a clone, so the number stays taken.
pub type DirFd = Rc<OwnedFd>;

/// Opens directories of one inventory again, for the thread that reads their files.
#[derive(Debug)]
pub struct Opener<'i> {
    _inventory: &'i Inventory,
}

impl<'i> Opener<'i> {
    /// An opener that holds no descriptor yet.
    pub fn new(inventory: &'i Inventory) -> Self {
        Self { _inventory: inventory }
    }
    /// A descriptor (`O_PATH`) of the directory; the last one is kept and handed out again.
    ///
    /// # Errors
    /// When it cannot be opened, or is not the directory that was walked: another device or inode.
    pub fn open(&mut self, dir: DirNo) -> io::Result<DirFd> {
        let _ = dir;
        todo!()
    }
}
