//! Algorithms, and the peers that support them.

use anyhow::{Context, Result};

/// An algorithm with its name in ftk.
#[derive(Debug)]
pub(crate) struct Algorithm {
    pub(crate) name: &'static str,
    /// The usual tool for it, with the options for one thread and this algorithm.
    pub(crate) tool: &'static [&'static str],
    /// The option of `openssl dgst`.
    pub(crate) openssl: Option<&'static str>,
    pub(crate) hashdeep: bool,
}

impl Algorithm {
    /// Returns the algorithm of this name.
    pub(crate) fn named(name: &str) -> Result<&'static Self> {
        let mut all = ALL.iter();
        all.find(|algorithm| algorithm.name == name).with_context(|| format!("unknown algorithm {name:?}"))
    }
}

const ALL: &[Algorithm] = &[
    Algorithm { name: "sha256", tool: &["sha256sum"], openssl: Some("-sha256"), hashdeep: true },
    Algorithm { name: "sha1", tool: &["sha1sum"], openssl: Some("-sha1"), hashdeep: true },
    Algorithm { name: "sha512", tool: &["sha512sum"], openssl: Some("-sha512"), hashdeep: false },
    Algorithm { name: "md5", tool: &["md5sum"], openssl: Some("-md5"), hashdeep: true },
    Algorithm { name: "blake2b", tool: &["b2sum"], openssl: Some("-blake2b512"), hashdeep: false },
    Algorithm { name: "blake3", tool: &["b3sum", "--num-threads", "1"], openssl: None, hashdeep: false },
    Algorithm { name: "xxh64", tool: &["xxhsum", "-H1"], openssl: None, hashdeep: false },
    Algorithm { name: "xxh3", tool: &["xxhsum", "-H3"], openssl: None, hashdeep: false },
    Algorithm { name: "xxh128", tool: &["xxhsum", "-H2"], openssl: None, hashdeep: false },
];
