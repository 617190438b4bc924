//! A group that stands for itself.

use std::collections::HashMap;

use ftk_hash::Digest;

use crate::Member;

/// Files with the same content, and what is known of each name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Length of each file in bytes.
    pub size: u64,
    /// Of their content.
    pub digest: Digest,
    /// By path, hard links included.
    pub members: Vec<Member>,
}

impl Group {
    /// Numbers the files as they first appear, one number a member: members with the same one are hard links of one
    /// file.
    pub fn clusters(&self) -> Vec<usize> {
        let mut seen = HashMap::new();
        let number = |member: &Member| {
            let next = seen.len();
            *seen.entry((member.dev, member.ino)).or_insert(next)
        };
        self.members.iter().map(number).collect()
    }
}
