//! What the tests share.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_read::File;
use rustix::fs::CWD;

/// The file at a path, opened.
pub(crate) fn open(path: &Path) -> File {
    File::open(CWD, &CString::new(path.as_os_str().as_bytes()).unwrap(), false).unwrap()
}

/// So many bytes without a pattern (the multiplier of Knuth's MMIX), the same each time.
pub(crate) fn random(len: usize) -> Vec<u8> {
    let mut state = len as u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}
