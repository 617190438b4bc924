//! Directories and what they contain besides regular files, in tables with [`Keep::Tree`] or [`Keep::Stats`].

use ftk_walk::FileType;

use crate::shard::ROOT;
use crate::{DirNo, Inventory, Keep};

/// An entry that is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Other<'i> {
    /// The name in its directory.
    pub name: &'i [u8],
    /// The type.
    pub file_type: FileType,
    /// The target of a symbolic link, or the number of a device in decimal. Empty for other types.
    pub content: &'i [u8],
}

impl Inventory {
    /// Returns the entries of a directory that are not regular files, sorted by name. They include the
    /// subdirectories, also those that were not entered.
    ///
    /// # Panics
    /// If the table was not made with [`Keep::Tree`] or [`Keep::Stats`].
    pub fn others_of(&self, dir: DirNo) -> impl ExactSizeIterator<Item = Other<'_>> {
        assert!(self.has_tree(), "the table has no other entries");
        let names = &self.shards[usize::from(self.dirs[dir.0 as usize].shard)].names;
        self.rows(dir)[self.files_of(dir).len()..].iter().map(move |row| {
            let file_type = row.file_type;
            let content = if file_type == FileType::Directory { b"" } else { names.target(row.name()) };
            Other { name: names.get(row.name()), file_type, content }
        })
    }

    /// Returns whether the table has all entries of a directory: it was listed without an error, and no filter
    /// skipped an entry.
    ///
    /// # Panics
    /// If the table was not made with [`Keep::Tree`] or [`Keep::Stats`].
    pub fn is_whole(&self, dir: DirNo) -> bool {
        assert!(self.has_tree(), "the table does not know which directories are whole");
        self.partial.binary_search(&dir.0).is_err()
    }

    fn has_tree(&self) -> bool {
        matches!(self.keep, Keep::Tree | Keep::Stats { .. })
    }

    /// Returns the directory that contains a directory; `None` for a starting point.
    pub fn parent(&self, dir: DirNo) -> Option<DirNo> {
        match self.dirs[dir.0 as usize].up {
            ROOT => None,
            up => Some(DirNo(up)),
        }
    }

    /// Returns the device and inode number of a directory that was walked.
    pub fn identity_of_dir(&self, dir: DirNo) -> (u64, u64) {
        let dir = &self.dirs[dir.0 as usize];
        (dir.dev, dir.ino)
    }

    /// Returns the number of the starting point that a directory was reached from.
    pub fn root_of_dir(&self, dir: DirNo) -> usize {
        self.dirs[dir.0 as usize].root as usize
    }

    /// Returns a directory's name in its parent; for a starting point, the path as given.
    pub fn name_of_dir(&self, dir: DirNo) -> &[u8] {
        self.dir_name(dir)
    }

    /// Appends the path of a directory, without a slash at its end unless the starting point was given with one.
    pub fn push_dir_path(&self, dir: DirNo, path: &mut Vec<u8>) {
        self.push_prefix(dir, path);
        if self.segment(dir)[1] == b"/" {
            path.pop();
        }
    }

    /// Returns the path of a directory, like [`push_dir_path`](Self::push_dir_path).
    pub fn dir_path(&self, dir: DirNo) -> Vec<u8> {
        let mut path = Vec::new();
        self.push_dir_path(dir, &mut path);
        path
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::FileNo;
    use crate::fixture::{fixture, metadata, target};

    proptest! {
        #[test]
        fn directories_have_all_their_entries(
            fixture in fixture(),
            keep in select(vec![Keep::Tree, Keep::Stats { files: false }, Keep::Stats { files: true }]),
        ) {
            let (parts, lines) = fixture.collect(keep);
            let inventory = Inventory::merge(parts).unwrap();
            let mut found = Vec::new();
            for dir in (0..inventory.dirs()).map(DirNo) {
                prop_assert!(inventory.is_whole(dir));
                let mut prefix = Vec::new();
                inventory.push_prefix(dir, &mut prefix);
                if !inventory.has_starting_points(dir) {
                    let path = inventory.dir_path(dir);
                    let is_start_with_slash = inventory.parent(dir).is_none() && path.ends_with(b"/");
                    prop_assert!(is_start_with_slash || [&path, &b"/"[..]].concat() == prefix);
                }
                for file in inventory.files_of(dir).map(FileNo) {
                    let ino = inventory.ino(dir, file);
                    if inventory.has_sizes() {
                        prop_assert_eq!(inventory.size(dir, file), metadata(ino, FileType::Regular).size);
                    }
                    found.push([&prefix, inventory.name(dir, file).to_bytes()].concat());
                }
                let others: Vec<_> = inventory.others_of(dir).collect();
                prop_assert!(others.is_sorted());
                for Other { name, file_type, content } in others {
                    let path = [&prefix, name].concat();
                    // Several starting points may contain the same path.
                    let inos = lines.iter().filter(|(line, ..)| *line == path).map(|(.., ino)| *ino);
                    let mut contents = inos.map(|ino| match file_type {
                        FileType::Directory => Vec::new(),
                        _ => target(ino).into_bytes(),
                    });
                    let is_known = contents.any(|known| known == content);
                    prop_assert!(is_known);
                    found.push(path);
                }
            }
            let mut expected: Vec<_> = lines.into_iter().map(|(path, ..)| path).collect();
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn directories_that_lack_an_entry_are_known() {
        for keep in [Keep::Tree, Keep::Stats { files: true }] {
            assert_lacking_directories_are_known(keep);
        }
    }

    fn assert_lacking_directories_are_known(keep: Keep) {
        use crate::shard::{Found, Id};
        let mut part = crate::Collect::new(0, keep);
        let mut add = |name: &std::ffi::CStr, up, is_partial| {
            let name = part.shard.names.push(name).unwrap();
            if is_partial {
                part.shard.mark_partial();
            }
            part.shard.finish(Found { shard: 0, up, name }, Id::default()).unwrap();
        };
        add(c"root", ROOT, false);
        add(c"z", 0, false);
        add(c"a", 0, true);
        let inventory = Inventory::merge(vec![part]).unwrap();
        let dirs = (0..3).map(|dir| (inventory.name_of_dir(DirNo(dir)), inventory.is_whole(DirNo(dir))));
        let expected = [(&b"root"[..], true), (b"a", false), (b"z", true)];
        assert_eq!(dirs.collect::<Vec<_>>(), expected);
    }
}
