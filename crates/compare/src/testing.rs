//! Helpers of the tests.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_file::{File, Symlinks};
use rustix::fs::CWD;

/// Opens the file at a path.
pub(crate) fn open(path: &Path) -> File {
    File::open(CWD, &CString::new(path.as_os_str().as_bytes()).unwrap(), Symlinks::NoFollow).unwrap()
}

/// Returns `len` random bytes, the same each time.
pub(crate) fn random(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    fastrand::Rng::with_seed(len as u64).fill(&mut bytes);
    bytes
}
