//! Hard links: several names of one file.

use ftk_inventory::{FileNo, Inventory};

use crate::candidates::files;

/// Hard links. The first name of a file represents the file; all others are its other names.
#[derive(Debug)]
pub(crate) struct Links {
    /// Pairs of a first name and one of its other names, ascending.
    pairs: Vec<(FileNo, FileNo)>,
}

/// A hard link: device, inode number, size, and number of the file.
type Linked = (u64, u64, u64, FileNo);

impl Links {
    /// Finds the hard links of an inventory. Device and inode number are trusted only if the link count is
    /// above 1. If names with the same inode number have different sizes, each is treated as a separate file.
    pub(crate) fn new(inventory: &Inventory) -> Self {
        let linked = files(inventory).filter(|&(dir, file)| inventory.is_linked(dir, file));
        let mut linked: Vec<Linked> = linked
            .map(|(dir, file)| {
                let (dev, ino) = inventory.identity(dir, file);
                (dev, ino, inventory.size(dir, file), file)
            })
            .collect();
        linked.sort_unstable();
        Self::of_sorted(&linked)
    }

    fn of_sorted(linked: &[Linked]) -> Self {
        let same_file = |names: &&[Linked]| names[0].2 == names[names.len() - 1].2;
        let clusters = linked.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(same_file);
        let pairs = |names: &[Linked]| {
            let first = names[0].3;
            names[1..].iter().map(|name| (first, name.3)).collect::<Vec<_>>()
        };
        let mut pairs: Vec<_> = clusters.flat_map(pairs).collect();
        pairs.sort_unstable();
        Self { pairs }
    }

    /// Returns all other names, ascending.
    pub(crate) fn other_names(&self) -> Vec<FileNo> {
        let mut other: Vec<_> = self.pairs.iter().map(|&(_, other)| other).collect();
        other.sort_unstable();
        other
    }

    /// Returns pairs of a file's first name and one of its other names, ascending.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (FileNo, FileNo)> {
        self.pairs.iter().copied()
    }

    /// Returns the other names of the file with this first name, ascending.
    pub(crate) fn other_names_of(&self, first: FileNo) -> impl Iterator<Item = FileNo> {
        let start = self.pairs.partition_point(|pair| pair.0 < first);
        self.pairs[start..].iter().take_while(move |pair| pair.0 == first).map(|pair| pair.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_inode_and_one_size_are_one_file() {
        let name = |dev, ino, size, file| (dev, ino, size, FileNo(file));
        let mut linked = [
            name(1, 7, 10, 8),
            name(1, 7, 10, 3),
            name(1, 7, 10, 5),
            name(2, 7, 10, 4),
            // Different sizes: the inode number is not reliable.
            name(1, 9, 10, 0),
            name(1, 9, 10, 1),
            name(1, 9, 11, 2),
        ];
        linked.sort_unstable();
        let links = Links::of_sorted(&linked);
        assert_eq!(links.other_names(), [5, 8].map(FileNo));
        assert!(links.other_names_of(FileNo(3)).eq([5, 8].map(FileNo)));
        assert!(
            (0..10).filter(|&file| file != 3).all(|file| links.other_names_of(FileNo(file)).next().is_none())
        );
    }
}
