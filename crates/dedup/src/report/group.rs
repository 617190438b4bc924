//! A group that needs no inventory.

use std::collections::HashMap;

use ftk_hash::Digest;

use crate::Member;

/// Identical files, with the metadata of each name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The size of each file, in bytes.
    pub size: u64,
    /// The digest of the content.
    pub digest: Digest,
    /// All names, sorted by path, including hard links.
    pub members: Vec<Member>,
}

impl Group {
    /// Returns one file number for each member. Files are numbered in order of appearance; members with the
    /// same number are hard links of one file.
    pub fn clusters(&self) -> Vec<usize> {
        let mut seen = HashMap::new();
        let number = |member: &Member| {
            let next = seen.len();
            *seen.entry(member.version.identity()).or_insert(next)
        };
        self.members.iter().map(number).collect()
    }
}
