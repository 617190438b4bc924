//! A group of equal files.

use std::collections::HashMap;

use ftk_dedup::Member;
use ftk_hash::Digest;

/// Files with the same content, and what is known of each name.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) size: u64,
    pub(super) digest: Digest,
    /// By path, hard links included.
    pub(super) members: Vec<Member>,
}

impl Group {
    /// Numbers files as they first appear: members with the same number are hard links of one file.
    pub(super) fn clusters(&self) -> Vec<usize> {
        let mut seen = HashMap::new();
        let number = |member: &Member| {
            let next = seen.len();
            *seen.entry((member.dev, member.ino)).or_insert(next)
        };
        self.members.iter().map(number).collect()
    }
}
