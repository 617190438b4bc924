//! The entries of a tree, written.

use std::io;

use crate::contents::Content;
use crate::merge::Side as _;
use crate::tree::Tree;
use crate::xattrs::XattrReader;
use crate::{Contents, Entry, Error, Stat, Writer};

/// Writes an entry for everything in the tree, in the order of a manifest, and says how many. With `xattrs` they have
/// their extended attributes, read now.
///
/// What could not be read has no entry: a file whose row is not `Ok`, of which whoever read it knows why, and an entry
/// whose extended attributes cannot be had, which is handed to `on_error` with its path below the root.
///
/// # Errors
/// When the manifest cannot be written, or a file that was to be read was never looked at.
///
/// # Panics
/// If the contents of a regular file are not known, nor the metadata of it.
pub fn create<S: FnMut(&[u8]) -> io::Result<()>>(
    tree: &Tree<'_>,
    contents: &Contents<'_>,
    xattrs: bool,
    writer: &mut Writer<S>,
    on_error: &mut dyn FnMut(&[u8], io::Error),
) -> Result<u64, Error> {
    let mut walk = tree.walk();
    let mut xattr_reader = xattrs.then(|| XattrReader::new(tree.inventory));
    let (mut digests, mut written, mut pending) = (Vec::new(), 0, 0);
    while walk.advance()? {
        let seen = &walk.seen;
        let walked = || {
            let metadata = seen.metadata.as_ref().expect("the walk keeps what stat says");
            Stat::walked(seen.file_type, metadata)
        };
        digests.clear();
        let stat = match seen.file.map_or(Content::Unread, |file| contents.of(file)) {
            Content::Unread => walked(),
            Content::Kept(kept) => {
                digests.extend_from_slice(kept);
                walked()
            }
            Content::Read(row, stat) => {
                contents.digests(row, &mut digests);
                stat
            }
            Content::Failed => continue,
            Content::Pending => {
                pending += 1;
                continue;
            }
        };
        let xattrs = match xattr_reader.as_mut().map(|reader| reader.read(seen)).transpose() {
            Ok(xattrs) => xattrs,
            Err(error) => {
                on_error(&seen.path, error);
                continue;
            }
        };
        let target = seen.target();
        writer.entry(&Entry { path: &seen.path, stat, target, digests: &digests, xattrs })?;
        written += 1;
    }
    if pending > 0 { Err(Error::Unprocessed(pending)) } else { Ok(written) }
}
