//! The manifest after a repair.

use std::collections::BTreeMap;
use std::io;

use ftk_file::Stat;
use ftk_process::FileSystems;

use crate::{Entry, Error, Manifest, Writer};

/// Writes the entries of a manifest again, without the mark of damage on repaired files, and returns the
/// number of entries.
///
/// `repaired` has the paths of these files: with the state of the new file, or with `None` if the file has
/// its recorded content without a repair. They were all verified at `verified_ns` or later. The recorded content, permissions,
/// owner and mtime stay. Only what identifies the inode is that of the new file.
///
/// # Errors
/// When the manifest cannot be read or has changed meanwhile, or the new one cannot be written.
pub fn rewrite<S: FnMut(&[u8]) -> io::Result<()>>(
    manifest: &Manifest,
    repaired: &BTreeMap<Vec<u8>, Option<Stat>>,
    file_systems: &FileSystems,
    verified_ns: i128,
    writer: &mut Writer<S>,
) -> Result<u64, Error> {
    let mut entries = manifest.entries()?;
    let mut written = 0;
    while let Some(entry) = entries.next()? {
        let entry = match repaired.get(entry.path) {
            None => entry,
            Some(None) => Entry { damaged_ns: None, verified_ns: Some(verified_ns), ..entry },
            Some(Some(new)) => {
                let &Stat { dev, ino, nlink, blocks, ctime_ns, birth_ns, .. } = new;
                let stat = Stat { dev, ino, nlink, blocks, ctime_ns, birth_ns, ..entry.stat };
                let fs = file_systems.id(dev);
                Entry { damaged_ns: None, verified_ns: Some(verified_ns), fs, stat, ..entry }
            }
        };
        writer.trusted_entry(&entry)?;
        written += 1;
    }
    Ok(written)
}
