//! Hard links: several names of one file.

use ftk_inventory::{FileNo, Inventory};

use crate::candidates::files;

/// The names of files that have several. One name of a file, the first, stands for it; the others are further
/// names.
#[derive(Debug)]
pub(crate) struct Links {
    /// A first name and a further one of the same file, ascending.
    pairs: Vec<(FileNo, FileNo)>,
}

/// A name of a file that has several: device, inode number, size.
type Linked = (u64, u64, u64, FileNo);

impl Links {
    /// Believes device and inode number only of files that are said to have several names. Where files of
    /// different sizes share them nevertheless, each name is taken for a file of its own.
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

    /// All further names, ascending.
    pub(crate) fn further(&self) -> Vec<FileNo> {
        let mut further: Vec<_> = self.pairs.iter().map(|&(_, further)| further).collect();
        further.sort_unstable();
        further
    }

    /// The further names of the file that this is the first name of, ascending.
    pub(crate) fn further_of(&self, first: FileNo) -> impl Iterator<Item = FileNo> {
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
            // An inode number that stands for two files stands for none.
            name(1, 9, 10, 0),
            name(1, 9, 10, 1),
            name(1, 9, 11, 2),
        ];
        linked.sort_unstable();
        let links = Links::of_sorted(&linked);
        assert_eq!(links.further(), [5, 8].map(FileNo));
        assert!(links.further_of(FileNo(3)).eq([5, 8].map(FileNo)));
        assert!(
            (0..10).filter(|&file| file != 3).all(|file| links.further_of(FileNo(file)).next().is_none())
        );
    }
}
