//! A reusable buffer for a file name that waits for its open. Names need one allocation per slot, not one per
//! file.

use std::ffi::CStr;

/// A copy of a file name, including the NUL.
#[derive(Clone, Debug)]
pub(crate) struct Name(Vec<u8>);

impl Name {
    /// Creates an empty name.
    pub(crate) fn new() -> Self {
        Self(vec![0])
    }

    pub(crate) fn set(&mut self, name: &CStr) {
        self.0.clear();
        self.0.extend_from_slice(name.to_bytes_with_nul());
    }

    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).expect("a name ends with NUL")
    }
}
