//! What one worker listed.

use std::cmp::Ordering;
use std::ffi::CStr;

use ftk_walk::FileType;

use crate::Full;
use crate::names::{Name, Names};

/// In the place of a directory's parent: it is a starting point.
pub(crate) const ROOT: u32 = u32::MAX;

/// One entry of a listing, in 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed {
    pub(crate) ino: u64,
    name_offset: u32,
    name_len: u16,
    pub(crate) file_type: FileType,
    pub(crate) via_link: bool,
}

impl Packed {
    pub(crate) fn new(name: Name, ino: u64, file_type: FileType, via_link: bool) -> Self {
        Self { ino, name_offset: name.offset, name_len: name.len, file_type, via_link }
    }

    pub(crate) fn name(&self) -> Name {
        Name { offset: self.name_offset, len: self.name_len }
    }
}

/// Where a directory was found: in which shard, below which of its listings, and under what name, which lies
/// in that shard too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) shard: u16,
    pub(crate) up: u32,
    pub(crate) name: Name,
}

/// One directory that was listed: its regular files, and behind them the entries of other types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listing {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
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
    /// The listing under way, in the order of arrival.
    files: Vec<Keyed>,
    others: Vec<Keyed>,
}

/// A row with the first eight bytes of its name, which decide most comparisons without a look at the arena.
#[derive(Clone, Copy, Debug)]
struct Keyed {
    key: u64,
    row: Packed,
}

impl Shard {
    /// The number the listing under way will have.
    pub(crate) fn current(&self) -> u32 {
        self.listings.len() as u32
    }

    /// Bytes the table takes, without the slack of its vectors.
    pub(crate) fn bytes(&self) -> u64 {
        let rows = self.entries.len() * size_of::<Packed>() + self.listings.len() * size_of::<Listing>();
        let under_way = (self.files.len() + self.others.len()) * size_of::<Keyed>();
        (rows + under_way) as u64 + self.names.bytes()
    }

    /// Adds an entry to the listing under way.
    pub(crate) fn add(
        &mut self,
        name: &CStr,
        ino: u64,
        file_type: FileType,
        via_link: bool,
    ) -> Result<(), Full> {
        let row = Packed::new(self.names.push(name)?, ino, file_type, via_link);
        let keyed = Keyed { key: key(name.to_bytes()), row };
        match file_type {
            FileType::Regular => self.files.push(keyed),
            _ => self.others.push(keyed),
        }
        Ok(())
    }

    /// Ends the listing under way: sorts it and puts it into the table.
    pub(crate) fn finish(&mut self, found: Found, dev: u64, ino: u64) -> Result<(), Full> {
        let start = self.entries.len();
        if u32::try_from(start + self.files.len() + self.others.len()).is_err() {
            return Err(Full::Entries);
        }
        if self.listings.len() as u64 >= u64::from(ROOT) {
            return Err(Full::Directories);
        }
        let (files, others) = (self.files.len() as u32, self.others.len() as u32);
        for part in [&mut self.files, &mut self.others] {
            part.sort_unstable_by(|a, b| by_name(&self.names, a, b));
            self.entries.extend(part.drain(..).map(|keyed| keyed.row));
        }
        self.listings.push(Listing { dev, ino, found, start: start as u32, files, others });
        Ok(())
    }

    /// Ends the listing of arguments that are entries themselves, if there were any: what was added before the
    /// first directory. Its directory has no name, and the names in it are whole paths.
    pub(crate) fn finish_arguments(&mut self, shard: u16) -> Result<(), Full> {
        if self.files.is_empty() && self.others.is_empty() {
            return Ok(());
        }
        self.finish(Found { shard, up: ROOT, name: Name::default() }, 0, 0)
    }
}

/// The first eight bytes as a number that compares as they do; a shorter name is padded with zeros, which no
/// name contains.
fn key(name: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = name.len().min(8);
    head[..len].copy_from_slice(&name[..len]);
    u64::from_be_bytes(head)
}

fn by_name(names: &Names, a: &Keyed, b: &Keyed) -> Ordering {
    a.key.cmp(&b.key).then_with(|| names.get(a.row.name()).cmp(names.get(b.row.name())))
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;

    #[test]
    fn rows_and_records_are_small() {
        assert_eq!(size_of::<Packed>(), 16);
        assert!(size_of::<Listing>() <= 48);
    }
}
