//! Writing the entries of a walked tree.

use std::io;

use ftk_inventory::{Budget, LinkNames};
use ftk_process::{FileSystems, file_systems};

use crate::contents::Content;
use crate::kept_xattrs::KeptXattrs;
use crate::merge::Side as _;
use crate::trees::Trees;
use crate::walked_tree::{Seen, WalkedTree};
use crate::xattrs::XattrReader;
use crate::{Contents, Entry, Error, Failed, Writer};

/// Writes an entry for everything in the tree, in the order of a manifest, and returns the number of entries.
/// With `xattrs` their extended attributes are written too. Those that were not read together with the content are read
/// now.
///
/// Entries that could not be read are skipped: files whose row is not `Ok`, which were reported when they
/// were read, and entries whose extended attributes cannot be read, which are passed to `on_error` with their
/// path below the root. A directory has tree digests if everything below it was found and read. The header gets the mount
/// points of the tree, and everything that could not be read.
///
/// Extended attributes are kept until they are written. Those that do not fit into the budget are read twice.
///
/// # Errors
/// When the manifest cannot be written, when a file that was to be read was never processed, or when the names of files
/// with several hard links do not fit into the budget.
///
/// # Panics
/// If neither the content nor the metadata of a regular file is known.
pub fn create<S: FnMut(&[u8]) -> io::Result<()>>(
    tree: &WalkedTree<'_>,
    contents: &Contents<'_>,
    xattrs: bool,
    writer: &mut Writer<S>,
    budget: &Budget,
    on_error: &mut dyn FnMut(&[u8], io::Error),
) -> Result<u64, Error> {
    let mut file_systems = file_systems(tree.inventory);
    // The root is not among the directories that were listed if the options exclude everything in it.
    if let Some(root) = &writer.header().root_identity {
        file_systems = file_systems.and(root.identity.dev, root.identity.fs);
    }
    let wanted = [xattrs, writer.header().shard.is_none()];
    let mut maker = Maker::new(tree, &file_systems, *contents, wanted, None, budget);
    let mut trees = Trees::new(writer.header());
    let (unlisted, mut unread) = (Failed::of(tree), Vec::new());
    // The header, which comes first, says what could not be read.
    if trees.is_needed() || xattrs {
        let mut walk = tree.walk();
        while walk.advance()? {
            match maker.make(&walk.seen, None)? {
                Made::Entry(entry) => trees.add(&entry, walk.seen.is_whole),
                _ => {
                    trees.omit(&walk.seen.path);
                    unread.push(walk.seen.path.clone());
                }
            }
        }
        trees.finish();
        trees.say_incomplete(&unlisted, writer.header_mut());
        maker.make_again();
    }
    let header = writer.header_mut();
    header.failed = Failed::union([&unlisted, &Failed::new(unread)]);
    header.provenance.subvolume.take_if(|_| !header.failed.is_empty());
    header.mounts = tree.mounts();
    let mut walk = tree.walk();
    let (mut written, mut pending) = (0, 0);
    while walk.advance()? {
        match maker.make(&walk.seen, None)? {
            Made::Entry(entry) => {
                writer.trusted_entry(&trees.with_tree(entry))?;
                written += 1;
            }
            // The header says that everything else could be read.
            Made::WithoutXattrs(entry, error) if !writer.header().failed.covers(entry.path) => {
                return Err(error.into());
            }
            Made::WithoutXattrs(entry, error) => on_error(entry.path, error),
            Made::Unread => {}
            Made::Pending => pending += 1,
        }
    }
    if pending > 0 { Err(Error::Unprocessed(pending)) } else { Ok(written) }
}

/// The result of making an entry.
pub(crate) enum Made<'m> {
    /// The complete entry.
    Entry(Entry<'m>),
    /// The entry without its extended attributes, and why these could not be read.
    WithoutXattrs(Entry<'m>, io::Error),
    /// No entry: the file could not be read, or changed while being read.
    Unread,
    /// No entry: the file was to be read but was not.
    Pending,
}

/// Makes entries from what the walk found and what was read.
pub(crate) struct Maker<'t> {
    contents: Contents<'t>,
    file_systems: &'t FileSystems,
    xattrs: Option<KeptXattrs<'t>>,
    /// The first path of each file with several names. `None` if link groups are not recorded.
    links: Option<LinkNames<(u64, u64)>>,
    /// The time of verification to record for files that were read, if any.
    verified_ns: Option<i128>,
    digests: Vec<u8>,
}

impl<'t> Maker<'t> {
    /// Creates a maker. `xattrs` and `links` tell whether extended attributes and link groups are recorded.
    pub(crate) fn new(
        tree: &WalkedTree<'t>,
        file_systems: &'t FileSystems,
        contents: Contents<'t>,
        [xattrs, links]: [bool; 2],
        verified_ns: Option<i128>,
        budget: &Budget,
    ) -> Self {
        let xattrs = xattrs.then(|| KeptXattrs::new(XattrReader::new(tree.inventory, contents), budget));
        let links = links.then(|| LinkNames::new(budget));
        Self { contents, file_systems, xattrs, links, verified_ns, digests: Vec::new() }
    }

    /// Prepares for making the same entries once more, in the same order. Their extended attributes are not read
    /// again.
    pub(crate) fn make_again(&mut self) {
        if let Some(xattrs) = &mut self.xattrs {
            xattrs.rewind();
        }
    }

    /// Makes the entry of what was seen. A file that was not to be read gets the digests of `known`, and its time
    /// of verification.
    ///
    /// # Errors
    /// When the names of files with several hard links do not fit into the budget.
    ///
    /// # Panics
    /// If the walk has not kept the metadata of something that was not read.
    pub(crate) fn make<'m>(
        &'m mut self,
        seen: &'m Seen,
        known: Option<&Entry<'m>>,
    ) -> Result<Made<'m>, Error> {
        let (stat, digests, verified_ns) =
            match seen.file.map_or(Content::Unread, |file| self.contents.of(file)) {
                Content::Unread => {
                    let known = known.filter(|_| seen.file.is_some());
                    let (digests, verified_ns) =
                        known.map_or((&[][..], None), |it| (it.digests, it.verified_ns));
                    (seen.stat(), digests, verified_ns)
                }
                Content::Read(row, stat) => {
                    self.contents.digests(row, &mut self.digests);
                    (stat, &*self.digests, self.verified_ns)
                }
                Content::Failed => return Ok(Made::Unread),
                Content::Pending => return Ok(Made::Pending),
            };
        let fs = self.file_systems.id(stat.dev);
        let target = seen.target();
        let entry = Entry { target, digests, fs, verified_ns, ..Entry::new(&seen.path, stat) };
        let link_group = match (&mut self.links, stat.linked_identity()) {
            (Some(links), Some(inode)) => Some(links.first(&seen.path, Some(inode))?),
            _ => None,
        };
        let entry = Entry { link_group, ..entry };
        Ok(match self.xattrs.as_mut().map(|reader| reader.read(seen)).transpose() {
            Ok(xattrs) => Made::Entry(Entry { xattrs, ..entry }),
            Err(error) => Made::WithoutXattrs(entry, error),
        })
    }
}
