//! Extended attributes of entries of any type, including access control lists and capabilities.

use std::io;

use ftk_file::{Attribute, AttributeReader, TRUSTED};
use ftk_inventory::{Inventory, Opener};
use ftk_process::AttributeSet;

use crate::walked_tree::Seen;
use crate::{Contents, Entry, Xattr};

/// A reader of the extended attributes of a tree's entries.
#[derive(Debug)]
pub(crate) struct XattrReader<'t> {
    contents: Contents<'t>,
    opener: Opener<'t>,
    reader: AttributeReader,
    /// The set of `contents` that `xattrs` are.
    set: Option<AttributeSet>,
    xattrs: Vec<Xattr>,
}

impl<'t> XattrReader<'t> {
    pub(crate) fn new(inventory: &'t Inventory, contents: Contents<'t>) -> Self {
        let (opener, reader) = (Opener::new(inventory), AttributeReader::default());
        Self { contents, opener, reader, set: None, xattrs: Vec::new() }
    }

    /// Returns the extended attributes of an entry, sorted by name. Links are not followed, except that the
    /// root itself may be a link. Those of files that were read are known; those of other entries are read now.
    ///
    /// # Errors
    /// When its directory cannot be opened or has been replaced, or the attributes cannot be read. A file
    /// system without extended attributes gives an empty list.
    pub(crate) fn read(&mut self, seen: &Seen) -> io::Result<&[Xattr]> {
        if !self.knows(seen) {
            self.set = None;
            let found = self.opener.attributes(seen.dir, &seen.name, seen.symlinks(), &mut self.reader);
            self.keep(found?.into_iter());
        }
        Ok(&self.xattrs)
    }

    /// Returns whether the attributes of an entry were read together with its content. They are then [`last`](Self::last).
    pub(crate) fn knows(&mut self, seen: &Seen) -> bool {
        let Some(set) = seen.file.and_then(|file| self.contents.attributes(file)) else { return false };
        if self.set != Some(set) {
            self.set = Some(set);
            match set {
                AttributeSet::EMPTY => self.xattrs.clear(),
                set => {
                    let found = self.contents.set(set);
                    self.keep(found.iter().cloned());
                }
            }
        }
        true
    }

    /// The attributes that were read last.
    pub(crate) fn last(&self) -> &[Xattr] {
        &self.xattrs
    }

    fn keep(&mut self, found: impl Iterator<Item = Attribute>) {
        self.xattrs.clear();
        self.xattrs.extend(found.map(|(name, value)| Xattr { name, value }));
    }
}

/// Hides the attributes that only root sees from a comparison of which one side does not know them.
#[derive(Debug, Default)]
pub(crate) struct Hider {
    is_needed: bool,
    kept: [Option<Vec<Xattr>>; 2],
}

impl Hider {
    /// Creates a hider for a comparison of entries of which `see` tells whether these attributes were seen.
    pub(crate) fn new(see: [bool; 2]) -> Self {
        Self { is_needed: see != [true; 2], kept: [None, None] }
    }

    /// Removes these attributes from both entries. Returns whether there were any.
    pub(crate) fn hide<'h>(&'h mut self, entries: [&mut Entry<'h>; 2]) -> bool {
        if !self.is_needed {
            return false;
        }
        self.kept = [&entries[0], &entries[1]].map(|entry| without_trusted(entry.xattrs?));
        for (entry, kept) in entries.into_iter().zip(&self.kept) {
            entry.xattrs = kept.as_deref().or(entry.xattrs);
        }
        self.kept != [None, None]
    }
}

/// Returns the attributes without those that only root sees, if there are any.
fn without_trusted(xattrs: &[Xattr]) -> Option<Vec<Xattr>> {
    let is_trusted = |xattr: &Xattr| xattr.name.starts_with(TRUSTED);
    let others = || xattrs.iter().filter(|xattr| !is_trusted(xattr)).cloned().collect();
    xattrs.iter().any(is_trusted).then(others)
}

#[cfg(test)]
mod tests {
    use ftk_file::Stat;

    use super::*;

    #[test]
    fn what_only_root_sees_is_hidden_if_one_side_does_not_see_it() {
        let xattr = |name: &str| Xattr { name: name.into(), value: Vec::new() };
        let all = [xattr("security.x"), xattr("trusted.x"), xattr("user.trusted.x")];
        let others = [xattr("security.x"), xattr("user.trusted.x")];
        for see in [[true, true], [true, false], [false, true], [false, false]] {
            let mut old = Entry { xattrs: Some(&all), ..Entry::new(b"a", Stat::EMPTY) };
            let mut new = Entry { xattrs: Some(&others), ..old };
            let mut hider = Hider::new(see);
            let is_hidden = hider.hide([&mut old, &mut new]);
            assert_eq!(is_hidden, see != [true; 2]);
            assert_eq!(old.xattrs == new.xattrs, is_hidden);
            assert_eq!(new.xattrs, Some(&others[..]));
        }
        let mut hider = Hider::new([false, true]);
        let mut entries =
            [Some(&others[..]), None].map(|xattrs| Entry { xattrs, ..Entry::new(b"a", Stat::EMPTY) });
        let [old, new] = &mut entries;
        assert!(!hider.hide([old, new]));
        assert_eq!(entries.map(|entry| entry.xattrs), [Some(&others[..]), None]);
    }
}
