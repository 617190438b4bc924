//! The head: what a parity file is, and where its parts are.

use ftk_file::File;

use crate::pages::{PAGE, Section};
use crate::{Error, UNIT, checksum};

/// The first bytes of a head.
pub(crate) const MAGIC: &[u8; 16] = b"ftk parity file\n";

/// The version of the format.
const VERSION: u32 = 1;

/// The longest block of the format, in bytes.
pub(crate) const MAX_BLOCK: u64 = 1 << 20;

/// Where the checksum of the head is.
const SUM: usize = PAGE as usize - 8;

/// What a parity file is, and where its parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The length of a block in bytes.
    pub(crate) block: u64,
    /// Random bytes that belong to this file.
    pub(crate) id: [u8; 16],
    /// Counts the changes of the file. The valid head with the highest one counts.
    pub(crate) generation: u64,
    /// What was asked for, for writers: the share of recovery blocks in millionths, and the size of a file that may be
    /// lost.
    pub(crate) redundancy: u64,
    pub(crate) lost_file: u64,
    /// The length of the file in bytes, with this page at its end.
    pub(crate) len: u64,
    pub(crate) index: Section,
    pub(crate) manifest: Section,
}

impl Head {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut page = Vec::with_capacity(PAGE as usize);
        page.extend(MAGIC);
        page.extend(VERSION.to_le_bytes());
        page.extend((self.block as u32).to_le_bytes());
        page.extend(self.id);
        for value in [self.generation, self.len] {
            page.extend(value.to_le_bytes());
        }
        for Section { len, copies: [one, other] } in [self.index, self.manifest] {
            [len, one, other].iter().for_each(|value| page.extend(value.to_le_bytes()));
        }
        [self.redundancy, self.lost_file].iter().for_each(|value| page.extend(value.to_le_bytes()));
        page.resize(SUM, 0);
        page.extend(checksum(&[&page]).to_le_bytes());
        page
    }

    /// Reads a page.
    ///
    /// # Errors
    /// [`Error::NoHead`] if it is not an undamaged head.
    fn decode(page: &[u8]) -> Result<Self, Error> {
        let word = |at: usize| u64::from_le_bytes(page[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_le_bytes(page[at..at + 4].try_into().expect("four bytes"));
        if !page.starts_with(MAGIC) || word(SUM) != checksum(&[&page[..SUM]]) {
            return Err(Error::NoHead);
        }
        if half(16) != VERSION {
            return Err(Error::Version(half(16)));
        }
        let section = |at: usize| Section { len: word(at), copies: [word(at + 8), word(at + 16)] };
        let head = Self {
            block: half(20).into(),
            id: page[24..40].try_into().expect("sixteen bytes"),
            generation: word(40),
            redundancy: word(104),
            lost_file: word(112),
            len: word(48),
            index: section(56),
            manifest: section(80),
        };
        let is_valid = (UNIT..=MAX_BLOCK).contains(&head.block) && head.block.is_multiple_of(UNIT);
        if is_valid { Ok(head) } else { Err(Error::Invalid("the length of blocks")) }
    }

    /// Returns what the checksums of pages cover besides the page: a page of an earlier state of the file is no page of
    /// this one.
    pub(crate) fn salt(&self) -> [u8; 24] {
        let mut salt = [0; 24];
        salt[..16].copy_from_slice(&self.id);
        salt[16..].copy_from_slice(&self.generation.to_le_bytes());
        salt
    }

    /// Returns the offsets of its copies.
    pub(crate) fn places(&self) -> [u64; 3] {
        [0, PAGE, self.len.saturating_sub(PAGE)]
    }

    /// Returns the valid head with the highest generation, and the offsets of its undamaged copies. If several have it, one
    /// is of another file: the head with more copies counts, or else the first one.
    pub(crate) fn find(file: &File) -> Result<(Self, Vec<u64>), Error> {
        let (mut found, mut error): (Vec<(u64, Self)>, _) = (Vec::new(), Error::NoHead);
        let last = file.stat().size.saturating_sub(PAGE).max(2 * PAGE);
        let mut offsets = vec![0, PAGE, last];
        let mut nth = 0;
        while let Some(&offset) = offsets.get(nth) {
            nth += 1;
            let mut page = [0; PAGE as usize];
            if file.read_exact_at(&mut page, offset).is_err() {
                continue;
            }
            match Self::decode(&page) {
                Ok(head) => {
                    // After an update that was killed, or if something was appended, the file is longer.
                    let end = head.places()[2];
                    if nth <= 3 && !offsets.contains(&end) {
                        offsets.push(end);
                    }
                    found.push((offset, head));
                }
                Err(Error::NoHead) => {}
                Err(other) => error = other,
            }
        }
        let copies = |head: &Self| found.iter().filter(|(_, it)| it == head).count();
        // The last one of equal ones is the maximum.
        let newest = found.iter().rev().max_by_key(|(_, head)| (head.generation, copies(head)));
        let newest = newest.ok_or(error)?.1;
        let is_copy = |(offset, head): &&(u64, Self)| *head == newest && newest.places().contains(offset);
        Ok((newest, found.iter().filter(is_copy).map(|(offset, _)| *offset).collect()))
    }
}
