//! Inodes with several links, each counted once.

use crate::names::Place;
use crate::usage::Usage;

/// One path of an inode that may have others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// The directory that contains it; for a directory, this directory itself.
    pub(crate) node: Place,
    /// The name; [`Place::NONE`] for a directory, and where names are not kept.
    pub(crate) name: Place,
    pub(crate) apparent: u64,
    pub(crate) allocated: u64,
}

impl Link {
    pub(crate) fn inode(&self) -> (u64, u64) {
        (self.dev, self.ino)
    }
}

/// Removes links that are not needed: of those of one inode without a name that count for one directory, all but one.
pub(crate) fn compact(links: &mut Vec<Link>) {
    let key = |link: &Link| (link.inode(), link.node, link.name);
    links.sort_unstable_by_key(key);
    links.dedup_by_key(|link| key(link));
}

/// Returns the link of each inode that counts: the one whose path is first.
pub(crate) fn first_links(mut links: Vec<Link>, usage: &Usage) -> Vec<Link> {
    links.sort_unstable_by_key(Link::inode);
    let first = |same: &[Link]| {
        let first = same
            .iter()
            .copied()
            .reduce(|first, link| if usage.cmp_links(&link, &first).is_lt() { link } else { first });
        first.expect("a group is not empty")
    };
    links.chunk_by(|a, b| a.inode() == b.inode()).map(first).collect()
}
