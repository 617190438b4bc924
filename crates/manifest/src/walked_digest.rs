//! The tree digest of a directory that was walked and read, without a manifest.

use ftk_hash::Algorithm;
use ftk_inventory::{Budget, FileNo};
use ftk_process::file_systems;

use crate::create::{Made, Maker};
use crate::entry::ROOT;
use crate::git;
use crate::merge::Side as _;
use crate::tree_digest::{Closed, TreeDigester, TreeForm};
use crate::{Contents, Error, WalkedTree};

/// The tree digest of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeDigest {
    /// The digests by all algorithms, concatenated.
    Known(Vec<u8>),
    /// There is none, because this directory below the root was not listed completely.
    Partial(Vec<u8>),
    /// There is none, because this file below the root was not read.
    Unread(Vec<u8>),
}

/// Returns the files that must be read for a tree digest, ascending.
pub fn tree_digest_files(tree: &WalkedTree<'_>, form: TreeForm) -> Result<Vec<FileNo>, Error> {
    let mut files = Vec::new();
    let mut walk = tree.walk();
    while walk.advance()? {
        files.extend(walk.seen.file.filter(|_| form != TreeForm::Git || !git::is_own(&walk.seen.path)));
    }
    files.sort_unstable();
    Ok(files)
}

/// Computes the tree digest of the root of a tree. The digests of files are in `contents`.
///
/// # Errors
/// When a file that was to be read was never processed.
///
/// # Panics
/// If neither the content nor the metadata of a regular file is known.
pub fn tree_digest(
    tree: &WalkedTree<'_>,
    contents: &Contents<'_>,
    algorithms: &[Algorithm],
    form: TreeForm,
) -> Result<TreeDigest, Error> {
    let file_systems = file_systems(tree.inventory);
    let mut maker = Maker::new(tree, &file_systems, *contents, [false; 2], None, &Budget::new(0));
    let mut digester = TreeDigester::new(form, algorithms);
    let (mut found, mut pending) = (TreeDigest::Partial(ROOT.to_vec()), 0);
    let mut each = |closed: Closed<'_>| {
        if let ([], Some(digests)) = (closed.path, closed.digests) {
            found = TreeDigest::Known(digests.to_vec());
        }
        Ok::<_, Error>(())
    };
    let mut unknown = None;
    let mut walk = tree.walk();
    while walk.advance()? {
        let seen = &walk.seen;
        if form == TreeForm::Git && git::is_own(&seen.path) {
            continue;
        }
        match maker.make(seen, None)? {
            Made::Entry(entry) => {
                if entry.stat.file_type == ftk_walk::FileType::Directory && !seen.is_whole {
                    unknown.get_or_insert_with(|| TreeDigest::Partial(seen.path.clone()));
                }
                digester.add(&entry, seen.is_whole, &mut each)?;
            }
            Made::Pending => pending += 1,
            Made::Unread | Made::WithoutXattrs(..) => {
                unknown.get_or_insert_with(|| TreeDigest::Unread(seen.path.clone()));
                digester.omit(&seen.path, &mut each)?;
            }
        }
    }
    digester.finish(&mut each)?;
    if pending > 0 { Err(Error::Unprocessed(pending)) } else { Ok(unknown.unwrap_or(found)) }
}
