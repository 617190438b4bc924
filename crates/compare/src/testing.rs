//! Helpers of the tests.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_read::File;
use rustix::fs::CWD;

/// Opens the file at a path.
pub(crate) fn open(path: &Path) -> File {
    File::open(CWD, &CString::new(path.as_os_str().as_bytes()).unwrap(), false).unwrap()
}

/// Returns `len` random-looking bytes, the same each time. The multiplier is that of Knuth's MMIX.
pub(crate) fn random(len: usize) -> Vec<u8> {
    let mut state = len as u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}
