//! Compares the directory hashes of a generation with the digests of its files.

use std::collections::HashMap;

use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{Budget, Full, Reservation};
use ftk_record::{MhlDirectory, MhlItem, MhlKind};

use crate::entry::ROOT;

/// The directories of one generation.
pub(super) struct Directories {
    entries: HashMap<Vec<u8>, Entries>,
    recorded: Vec<Recorded>,
    reserved: Reservation,
}

/// What is in a directory.
#[derive(Default)]
struct Entries {
    /// The number of entries.
    count: u64,
    /// By each algorithm, the entries that have a digest by it, and their number.
    by_algorithm: Vec<(Algorithm, MhlDirectory, u64)>,
}

/// The hashes of a directory as the generation has them.
struct Recorded {
    path: Vec<u8>,
    algorithm: Algorithm,
    /// The content hash and the structure hash.
    hashes: [Option<Digest>; 2],
}

/// How the directory hashes of a generation compare.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// The number of hashes, two of each directory by each algorithm, that follow from the files.
    pub(super) right: u64,
    /// The number of those that cannot be computed, since some files have no digest by the algorithm.
    pub(super) unknown: u64,
    /// Directories whose hashes are wrong, and what they are.
    pub(super) wrong: Vec<(Vec<u8>, String)>,
}

impl Directories {
    pub(super) fn new(budget: &Budget) -> Self {
        Self { entries: HashMap::new(), recorded: Vec::new(), reserved: Reservation::new(budget) }
    }

    /// Adds an item of the generation.
    pub(super) fn add(&mut self, item: &MhlItem) -> Result<(), Full> {
        let path = item.path.as_bytes();
        let is_directory = match item.kind {
            MhlKind::File => false,
            MhlKind::Directory => true,
            MhlKind::Generation | MhlKind::Ignored => return Ok(()),
        };
        let structure =
            |algorithm| item.structure.iter().find(|it| it.algorithm == algorithm).map(|it| it.digest);
        if is_directory {
            for it in &item.digests {
                let hashes = [Some(it.digest), structure(it.algorithm)];
                self.reserved.consume((path.len() + 2 * size_of::<Recorded>()) as u64)?;
                self.recorded.push(Recorded { path: path.to_vec(), algorithm: it.algorithm, hashes });
            }
            if path == ROOT {
                return Ok(());
            }
        }
        let (dir, name) = match memchr::memrchr(b'/', path) {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (ROOT, path),
        };
        if !self.entries.contains_key(dir) {
            self.reserved.consume((dir.len() + 2 * size_of::<(Vec<u8>, Entries)>()) as u64)?;
            self.entries.insert(dir.to_vec(), Entries::default());
        }
        let entries = self.entries.get_mut(dir).expect("it was added");
        entries.count += 1;
        for it in &item.digests {
            // A growing vector needs up to three times its contents.
            self.reserved.consume(6 * it.algorithm.digest_len() as u64)?;
            let known = entries.by_algorithm.iter_mut().find(|(algorithm, ..)| *algorithm == it.algorithm);
            let (_, directory, count) = match known {
                Some(known) => known,
                None => {
                    entries.by_algorithm.push((it.algorithm, MhlDirectory::new(it.algorithm), 0));
                    entries.by_algorithm.last_mut().expect("it was added")
                }
            };
            match (is_directory, structure(it.algorithm)) {
                (false, _) => directory.file(name, &it.digest),
                (true, Some(structure)) => directory.directory(name, [&it.digest, &structure]),
                (true, None) => continue,
            }
            *count += 1;
        }
        Ok(())
    }

    /// Compares all hashes.
    pub(super) fn compare(mut self) -> Compared {
        let mut compared = Compared::default();
        for Recorded { path, algorithm, hashes } in std::mem::take(&mut self.recorded) {
            let computed = match self.entries.get(&path) {
                None => Some(MhlDirectory::new(algorithm).finish()),
                Some(entries) => {
                    let mut complete = entries.by_algorithm.iter().filter(|(it, _, count)| {
                        *it == algorithm && *count == entries.count
                    });
                    complete.next().map(|(_, directory, _)| directory.clone().finish())
                }
            };
            let Some(computed) = computed else {
                compared.unknown += 2;
                continue;
            };
            let names = ["content", "structure"].into_iter().zip(hashes).zip(computed);
            for ((name, recorded), computed) in names {
                if recorded == Some(computed) {
                    compared.right += 1;
                } else {
                    compared.wrong.push((path.clone(), format!("{name} hash by {algorithm}")));
                }
            }
        }
        self.reserved.release();
        compared
    }
}
