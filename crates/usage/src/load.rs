//! Reads a tree from the JSON of ncdu.

use std::io::BufRead;

use ftk_record::{NcduEntry, NcduError, NcduEvent, NcduMade, NcduMissing, NcduReader};

use crate::{Facts, Part, Unknown};

/// What a file says about its completeness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The number of entries that the program could not read.
    pub unreadable: u64,
    /// The number of entries that the program did not count, such as other file systems.
    pub excluded: u64,
    /// Whether a directory has a size. gdu writes none.
    pub has_directory_sizes: bool,
    /// How the file was made.
    pub made: NcduMade,
}

/// Counts the tree of a file that `ncdu -o`, gdu, or `ftk du --format ncdu` wrote.
///
/// An inode with several links counts once, as in a walk. Unreadable and excluded entries are [`Unknown`].
///
/// # Errors
/// If the input cannot be read or is not such a file. `part` cannot be used then.
pub fn read_ncdu(input: impl BufRead, part: &mut Part) -> Result<Loaded, NcduError> {
    let mut reader = NcduReader::new(input);
    let mut loaded = Loaded::default();
    // The open directories, and the length of the path above each of them; and that of the root's name and its slash.
    let (mut open, mut path, mut root_len) = (Vec::new(), Vec::new(), None);
    while let Some(event) = reader.next()? {
        match event {
            NcduEvent::Open(entry) => {
                let node = match open.last() {
                    Some((parent, _)) => part.directory(*parent, entry.name),
                    None => part.root(entry.name, true),
                };
                // A directory has no other links, whatever its number of links says.
                let facts = Facts { link: None, ..facts(&entry) };
                loaded.has_directory_sizes |= facts != Facts::default();
                part.add_directory(node, &facts, true);
                loaded.note(&entry, root_len.map(|len| &path[len..]), part);
                open.push((node, path.len()));
                path.extend_from_slice(entry.name);
                path.push(b'/');
                root_len = root_len.or(Some(path.len()));
            }
            NcduEvent::Item(entry) => {
                loaded.note(&entry, root_len.map(|len| &path[len..]), part);
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
    loaded.made.clone_from(reader.made());
    // A selection may omit all directories; their sizes are not missing then.
    loaded.has_directory_sizes |= loaded.made.filter.is_some();
    Ok(loaded)
}

fn facts(entry: &NcduEntry<'_>) -> Facts {
    Facts { apparent: entry.apparent_bytes, allocated: entry.allocated_bytes, link: entry.link }
}

impl Loaded {
    /// Notes an entry that is not known. `dir`: the path of its directory below the root, `None` for the root itself.
    fn note(&mut self, entry: &NcduEntry<'_>, dir: Option<&[u8]>, part: &mut Part) {
        self.unreadable += u64::from(entry.missing == Some(NcduMissing::Unreadable));
        self.excluded += u64::from(entry.is_excluded);
        if entry.missing.is_some() || entry.is_excluded {
            let path = dir.map(|dir| [dir, entry.name].concat()).unwrap_or_default();
            part.add_unknown(Unknown {
                path,
                is_directory: entry.missing == Some(NcduMissing::OtherFileSystem),
            });
        }
    }
}
