//! Digests of content that only the test knows.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of `content` as `sha256sum` prints it.
pub fn sha256(content: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(content))
}
