//! The part of the table that one worker fills.

use std::cmp::Ordering;
use std::ffi::CStr;

use ftk_file::Symlinks;
use ftk_walk::{FileType, Metadata};

use crate::Full;
use crate::columns::Columns;
use crate::names::{Name, Names};

/// The parent number of a starting point.
pub(crate) const ROOT: u32 = u32::MAX;

/// A row of the table: one entry of a listing, in 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed {
    /// The inode number, or the index of the entry's record if there is one.
    pub(crate) ino: u64,
    name_offset: u32,
    name_len: u16,
    pub(crate) file_type: FileType,
    flags: u8,
}

/// Flag: the entry is a link that is followed.
const VIA_LINK: u8 = 1;
/// Flag: the entry is a directory, and all its entries are in the table.
const WHOLE: u8 = 4;
/// Flag: the entry has more than one hard link. Set only if the entry's metadata was read.
const LINKED: u8 = 2;

impl Packed {
    pub(crate) fn new(name: Name, ino: u64, file_type: FileType, symlinks: Symlinks) -> Self {
        let flags = if symlinks == Symlinks::Follow { VIA_LINK } else { 0 };
        Self { ino, name_offset: name.offset, name_len: name.len, file_type, flags }
    }

    pub(crate) fn symlinks(&self) -> Symlinks {
        Symlinks::follow_if(self.flags & VIA_LINK != 0)
    }

    pub(crate) fn is_linked(&self) -> bool {
        self.flags & LINKED != 0
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.flags & WHOLE != 0
    }

    fn with_links(self, nlink: u64) -> Self {
        Self { flags: self.flags | if nlink > 1 { LINKED } else { 0 }, ..self }
    }

    pub(crate) fn name(&self) -> Name {
        Name { offset: self.name_offset, len: self.name_len }
    }
}

/// Where a directory was found: the shard, the number of its parent's listing there, and its name in that
/// shard's arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) shard: u16,
    pub(crate) up: u32,
    pub(crate) name: Name,
}

/// The identity of a directory that was listed, and the number of its starting point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Id {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) root: u32,
}

/// A directory that was listed. Its regular files come first, then the entries of other types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listing {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) root: u32,
    pub(crate) found: Found,
    pub(crate) start: u32,
    pub(crate) files: u32,
    pub(crate) others: u32,
}

/// One worker's part of the table.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    pub(crate) names: Names,
    pub(crate) entries: Vec<Packed>,
    pub(crate) listings: Vec<Listing>,
    pub(crate) columns: Columns,
    /// The numbers of listings that lack an entry, ascending.
    pub(crate) partial: Vec<u32>,
    /// The current listing, in the order of arrival.
    files: Vec<Keyed>,
    others: Vec<Keyed>,
}

/// A row with the first eight bytes of its name, or those after a prefix that all names share. These decide most
/// comparisons without reading the arena.
#[derive(Clone, Copy, Debug)]
struct Keyed {
    key: u64,
    row: Packed,
}

impl Shard {
    /// Returns the number of the current listing.
    pub(crate) fn current(&self) -> u32 {
        self.listings.len() as u32
    }

    /// Returns the bytes in use, without unused capacity.
    pub(crate) fn bytes(&self) -> u64 {
        let rows = self.entries.len() * size_of::<Packed>() + self.listings.len() * size_of::<Listing>();
        let current = (self.files.len() + self.others.len()) * size_of::<Keyed>();
        (rows + current) as u64 + self.names.bytes() + self.columns.bytes()
    }

    /// Adds an entry to the current listing, without metadata.
    pub(crate) fn add(
        &mut self,
        name: &CStr,
        ino: u64,
        file_type: FileType,
        symlinks: Symlinks,
    ) -> Result<Name, Full> {
        let at = self.names.push(name)?;
        self.push(name, Packed::new(at, ino, file_type, symlinks));
        Ok(at)
    }

    /// Adds a file with its size, identity and link count, and perhaps its times. All regular files of a table must be
    /// added in this way, or none.
    pub(crate) fn add_sized(
        &mut self,
        name: &CStr,
        symlinks: Symlinks,
        file: &Metadata,
        with_times: bool,
    ) -> Result<Name, Full> {
        let at = self.names.push(name)?;
        let row = Packed::new(at, self.columns.add_seen(file, with_times), file.file_type, symlinks);
        self.push(name, row.with_links(file.nlink));
        Ok(at)
    }

    /// Adds an entry that is not a regular file with its content, which [`Names::target`] returns.
    pub(crate) fn add_with_content(
        &mut self,
        name: &CStr,
        content: &CStr,
        symlinks: Symlinks,
        entry: &Metadata,
    ) -> Result<Name, Full> {
        let at = self.names.push_link(name, content)?;
        self.push(name, Packed::new(at, entry.ino, entry.file_type, symlinks));
        Ok(at)
    }

    /// Adds an entry with its metadata. One that is not a regular file has a content, which [`Names::target`] returns.
    pub(crate) fn add_recorded(
        &mut self,
        name: &CStr,
        content: Option<&CStr>,
        symlinks: Symlinks,
        entry: &Metadata,
    ) -> Result<Name, Full> {
        let at = match content {
            Some(content) => self.names.push_link(name, content)?,
            None => self.names.push(name)?,
        };
        let row = Packed::new(at, self.columns.record(entry), entry.file_type, symlinks);
        self.push(name, row.with_links(entry.nlink));
        Ok(at)
    }

    fn push(&mut self, name: &CStr, row: Packed) {
        let keyed = Keyed { key: key(name.to_bytes()), row };
        match row.file_type {
            FileType::Regular => self.files.push(keyed),
            _ => self.others.push(keyed),
        }
    }

    /// Ends the current listing: sorts it and puts it into the table.
    pub(crate) fn finish(&mut self, found: Found, id: Id) -> Result<(), Full> {
        let start = self.entries.len();
        if u32::try_from(start + self.files.len() + self.others.len()).is_err() {
            return Err(Full::Entries);
        }
        if self.listings.len() as u64 >= u64::from(ROOT) {
            return Err(Full::Directories);
        }
        let (files, others) = (self.files.len() as u32, self.others.len() as u32);
        for part in [&mut self.files, &mut self.others] {
            skip_shared_prefix(&self.names, part);
            part.sort_unstable_by(|a, b| by_name(&self.names, a, b));
            self.entries.extend(part.drain(..).map(|keyed| keyed.row));
        }
        self.columns.end_listing(start as u32, &mut self.entries[start..], files, id.dev);
        let Id { dev, ino, root } = id;
        self.listings.push(Listing { dev, ino, root, found, start: start as u32, files, others });
        Ok(())
    }

    /// Records that the current listing lacks an entry.
    pub(crate) fn mark_partial(&mut self) {
        self.partial.push(self.current());
    }

    /// Records that all entries of a directory are in the table. The directory was found by this shard.
    pub(crate) fn mark_whole(&mut self, found: Found) {
        let name = self.names.get(found.name);
        // Starting points are in the first listing, if they are entries.
        let above = self.listings.get(if found.up == ROOT { 0 } else { found.up as usize });
        let Some(above) = above.filter(|above| found.up != ROOT || above.found.name.len == 0) else { return };
        let start = (above.start + above.files) as usize;
        let others = &mut self.entries[start..start + above.others as usize];
        if let Ok(at) = others.binary_search_by(|row| self.names.get(row.name()).cmp(name)) {
            others[at].flags |= WHOLE;
        }
    }

    /// Ends the listing of starting points that are entries themselves, if there are any.
    ///
    /// They were added before the first directory. Their directory has no name, and their names are whole
    /// paths.
    pub(crate) fn finish_starting_points(&mut self, shard: u16) -> Result<(), Full> {
        if self.files.is_empty() && self.others.is_empty() {
            return Ok(());
        }
        self.finish(Found { shard, up: ROOT, name: Name::default() }, Id::default())
    }
}

/// Returns the first eight bytes as a number that has the same order. A shorter name is padded with zeros,
/// which names do not contain.
fn key(name: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = name.len().min(8);
    head[..len].copy_from_slice(&name[..len]);
    u64::from_be_bytes(head)
}

/// Makes the keys of what follows the prefix that all names share. Otherwise all numbered files such as
/// `IMG_20260101_0001.jpg` would have the same key.
fn skip_shared_prefix(names: &Names, part: &mut [Keyed]) {
    let Some((first, rest)) = part.split_first() else { return };
    // Keys that differ within the first four bytes mostly decide.
    if rest.iter().any(|keyed| (keyed.key ^ first.key) >> 32 != 0) {
        return;
    }
    let first = names.get(first.row.name());
    let shared = |len, name: &[u8]| first[..len].iter().zip(name).take_while(|(a, b)| a == b).count();
    let len = rest.iter().fold(first.len(), |len, keyed| shared(len, names.get(keyed.row.name())));
    part.iter_mut().for_each(|keyed| keyed.key = key(&names.get(keyed.row.name())[len..]));
}

fn by_name(names: &Names, a: &Keyed, b: &Keyed) -> Ordering {
    match a.key.cmp(&b.key) {
        Ordering::Equal => by_whole_name(names, &a.row, &b.row),
        order => order,
    }
}

/// Not inlined, so that comparisons that the key decides do not save registers for this call.
#[inline(never)]
fn by_whole_name(names: &Names, a: &Packed, b: &Packed) -> Ordering {
    names.get(a.name()).cmp(names.get(b.name()))
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;

    #[test]
    fn names_with_a_shared_prefix_are_sorted() {
        for prefix in [c"", c"IMG", c"IMG_", c"IMG_2026_01_01_"] {
            let prefix = prefix.to_bytes();
            let mut names: Vec<_> = ["", "10", "1", "2", "100000009", "100000010"]
                .map(|end| [prefix, end.as_bytes()].concat())
                .into();
            names.retain(|name| !name.is_empty());
            let mut shard = Shard::default();
            for name in &names {
                let name = std::ffi::CString::new(name.clone()).unwrap();
                shard.add(&name, 0, FileType::Regular, Symlinks::NoFollow).unwrap();
            }
            let found = Found { shard: 0, up: ROOT, name: Name::default() };
            shard.finish(found, Id::default()).unwrap();
            names.sort();
            assert!(shard.entries.iter().map(|row| shard.names.get(row.name())).eq(&names));
        }
    }

    #[test]
    fn rows_and_records_are_small() {
        assert_eq!(size_of::<Packed>(), 16);
        assert!(size_of::<Listing>() <= 48);
    }
}
