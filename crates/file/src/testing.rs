//! Helpers of the tests.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;

use crate::{File, Symlinks};

/// Opens the file at a path.
pub(crate) fn open(path: &Path) -> File {
    File::open(CWD, &CString::new(path.as_os_str().as_bytes()).unwrap(), Symlinks::NoFollow).unwrap()
}

/// Opens a new file of 100 bytes. Returns its directory, its path and the open file.
pub(crate) fn file_of_100_bytes() -> (tempfile::TempDir, PathBuf, File) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, [7; 100]).unwrap();
    let file = open(&path);
    (dir, path, file)
}
