//! The names of all files that were found, in path order.

use ftk_inventory::{FileNo, Inventory};

use crate::found::Equal;
use crate::links::Links;

/// A name, with its sort key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// The device and inode number.
    pub(crate) identity: (u64, u64),
    /// The position in path order.
    pub(crate) rank: u32,
    /// The number of the file.
    pub(crate) file: u32,
}

/// The names in all sets, including other hard links.
#[derive(Debug)]
pub(crate) struct Names {
    names: Vec<Name>,
    /// Where the names of each set end.
    ends: Vec<u32>,
}

impl Names {
    /// Collects the names. It walks the table once in path order, so paths need not be stored or sorted.
    pub(crate) fn new(inventory: &Inventory, links: &Links, equal: &Equal) -> Self {
        const NONE: u32 = u32::MAX;
        let mut set_of = vec![NONE; inventory.files() as usize];
        let mut next = Vec::with_capacity(equal.len());
        let mut count = 0;
        for (nth, set) in (0..).zip(equal.iter()) {
            next.push(count);
            let other = |&first: &FileNo| std::iter::once(first).chain(links.other_names_of(first));
            for file in set.files.iter().flat_map(other) {
                set_of[file.0 as usize] = nth;
                count += 1;
            }
        }
        let mut names = vec![Name::default(); count as usize];
        let (mut order, mut rank) = (inventory.in_path_order(), 0);
        while let Some(item) = order.next() {
            let Some(file) = item.file else { continue };
            if let Some(next) = next.get_mut(set_of[file.0 as usize] as usize) {
                let identity = inventory.identity(item.dir, file);
                names[*next as usize] = Name { identity, rank, file: file.0 };
                *next += 1;
                rank += 1;
            }
        }
        Self { names, ends: next }
    }

    /// Returns the names of each set. The caller sorts them.
    pub(crate) fn of_sets(&mut self) -> impl Iterator<Item = &mut [Name]> {
        let mut rest = &mut self.names[..];
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let len = (end - start) as usize;
            start = end;
            rest.split_off_mut(..len).expect("sets are consecutive")
        })
    }
}
