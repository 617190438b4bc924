//! Reads a tree from the JSON of ncdu.

use std::io::BufRead;

use ftk_record::{NcduEntry, NcduError, NcduEvent, NcduMissing, NcduReader};

use crate::{Facts, Part};

/// What a file says about its completeness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The number of entries that the program could not read.
    pub unreadable: u64,
    /// The number of entries that the program did not count, such as other file systems.
    pub excluded: u64,
}

/// Counts the tree of a file that `ncdu -o`, gdu, or `ftk du --format ncdu` wrote.
///
/// An inode with several links counts once, as in a walk.
///
/// # Errors
/// If the input cannot be read or is not such a file. `part` cannot be used then.
pub fn read_ncdu(input: impl BufRead, part: &mut Part) -> Result<Loaded, NcduError> {
    let mut reader = NcduReader::new(input);
    let mut loaded = Loaded::default();
    // The open directories, and the length of the path above each of them.
    let (mut open, mut path) = (Vec::new(), Vec::new());
    while let Some(event) = reader.next()? {
        match event {
            NcduEvent::Open(entry) => {
                let node = match open.last() {
                    Some((parent, _)) => part.directory(*parent, entry.name),
                    None => part.root(entry.name, true),
                };
                // A directory has no other links, whatever its number of links says.
                part.add_directory(node, &Facts { link: None, ..facts(&entry) }, true);
                loaded.note(&entry);
                open.push((node, path.len()));
                path.extend_from_slice(entry.name);
                path.push(b'/');
            }
            NcduEvent::Item(entry) => {
                loaded.note(&entry);
                if let Some((parent, _)) = open.last().filter(|_| !entry.is_excluded) {
                    let path = || [&path, entry.name].concat();
                    part.add_file(*parent, entry.name, &facts(&entry), path);
                }
            }
            NcduEvent::Close => path.truncate(open.pop().map_or(0, |(_, above)| above)),
        }
        if !part.reserve() {
            break;
        }
    }
    Ok(loaded)
}

fn facts(entry: &NcduEntry<'_>) -> Facts {
    Facts { apparent: entry.apparent_bytes, allocated: entry.allocated_bytes, link: entry.link }
}

impl Loaded {
    fn note(&mut self, entry: &NcduEntry<'_>) {
        self.unreadable += u64::from(entry.missing == Some(NcduMissing::Unreadable));
        self.excluded += u64::from(entry.is_excluded);
    }
}
