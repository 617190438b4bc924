//! The entries of a tree, written.

use std::io;

use crate::contents::Content;
use crate::merge::Side as _;
use crate::walked_tree::{Seen, WalkedTree};
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
    tree: &WalkedTree<'_>,
    contents: &Contents<'_>,
    xattrs: bool,
    writer: &mut Writer<S>,
    on_error: &mut dyn FnMut(&[u8], io::Error),
) -> Result<u64, Error> {
    let mut walk = tree.walk();
    let mut maker = Maker::new(tree, *contents, xattrs);
    let (mut written, mut pending) = (0, 0);
    while walk.advance()? {
        match maker.make(&walk.seen, &[]) {
            Made::Entry(entry) => {
                writer.entry(&entry)?;
                written += 1;
            }
            Made::WithoutXattrs(entry, error) => on_error(entry.path, error),
            Made::Unread => {}
            Made::Pending => pending += 1,
        }
    }
    if pending > 0 { Err(Error::Unprocessed(pending)) } else { Ok(written) }
}

/// What can be recorded of an entry of a tree.
pub(crate) enum Made<'m> {
    /// Everything.
    Entry(Entry<'m>),
    /// Everything but its extended attributes, and why these could not be read.
    WithoutXattrs(Entry<'m>, io::Error),
    /// Nothing: the file could not be read, or changed meanwhile.
    Unread,
    /// Nothing: it was to be read and was not.
    Pending,
}

/// Makes entries of what a walk found and of what was read.
pub(crate) struct Maker<'t> {
    contents: Contents<'t>,
    xattrs: Option<XattrReader<'t>>,
    digests: Vec<u8>,
}

impl<'t> Maker<'t> {
    pub(crate) fn new(tree: &WalkedTree<'t>, contents: Contents<'t>, xattrs: bool) -> Self {
        let xattrs = xattrs.then(|| XattrReader::new(tree.inventory));
        Self { contents, xattrs, digests: Vec::new() }
    }

    /// The entry of what was seen. `known`: the digests of a file that was not to be read.
    ///
    /// # Panics
    /// If the walk has not kept what `stat` says of something that was not read.
    pub(crate) fn make<'m>(&'m mut self, seen: &'m Seen, known: &'m [u8]) -> Made<'m> {
        let (stat, digests) = match seen.file.map_or(Content::Unread, |file| self.contents.of(file)) {
            Content::Unread => {
                let metadata = seen.metadata.as_ref().expect("the walk keeps what stat says");
                (Stat::walked(seen.file_type, metadata), known)
            }
            Content::Read(row, stat) => {
                self.contents.digests(row, &mut self.digests);
                (stat, &*self.digests)
            }
            Content::Failed => return Made::Unread,
            Content::Pending => return Made::Pending,
        };
        let entry =
            Entry { path: &seen.path, stat, target: seen.target(), digests, xattrs: None, damaged_ns: None };
        match self.xattrs.as_mut().map(|reader| reader.read(seen)).transpose() {
            Ok(xattrs) => Made::Entry(Entry { xattrs, ..entry }),
            Err(error) => Made::WithoutXattrs(entry, error),
        }
    }
}
