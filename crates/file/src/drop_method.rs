//! How pages are dropped from the page cache, decided once for each file system.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, PoisonError};

use crate::page_cache::DONTCACHE;
use crate::{PageCacheCalls, Stat};

/// How the pages of a file system are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropMethod {
    /// The kernel drops them after each read with `RWF_DONTCACHE`.
    DontCache,
    /// `mincore` before the first read, and `posix_fadvise` after the reads.
    Advise,
}

/// The methods so far, by device number.
static METHODS: Mutex<BTreeMap<u64, DropMethod>> = Mutex::new(BTreeMap::new());

/// Returns the method of every device, by its number, from which a file was opened.
pub fn drop_methods() -> BTreeMap<u64, DropMethod> {
    METHODS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns the method for the file system of a file.
pub(crate) fn method(calls: PageCacheCalls, file: BorrowedFd<'_>, stat: &Stat) -> DropMethod {
    thread_local! {
        static LAST: Cell<Option<(u64, DropMethod)>> = const { Cell::new(None) };
    }
    if let Some((dev, method)) = LAST.get()
        && dev == stat.dev
    {
        return method;
    }
    let mut methods = METHODS.lock().unwrap_or_else(PoisonError::into_inner);
    let method = *methods.entry(stat.dev).or_insert_with(|| {
        // At the end of the file: the kernel checks the flags, and reads nothing.
        match (calls.read)(file, &mut [MaybeUninit::uninit()], stat.size, DONTCACHE) {
            Ok(_) => DropMethod::DontCache,
            Err(_) => DropMethod::Advise,
        }
    });
    LAST.set(Some((stat.dev, method)));
    method
}
