//! Sections: the index and the manifest, as pages with checksums, twice.

use ftk_file::File;

use crate::{Error, Target, checksum};

/// The length of a page, and of its part of the section.
pub(crate) const PAGE: u64 = 4096;
const PAYLOAD: u64 = PAGE - 16;

/// Which section a page belongs to. It is the highest byte of the number of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Index = 1,
    Manifest = 2,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Manifest => "manifest",
        }
    }
}

/// Where the two copies of a section are, and the length of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) len: u64,
    pub(crate) copies: [u64; 2],
}

/// Returns the number of bytes that the pages of a section have.
pub(crate) fn pages_len(len: u64) -> u64 {
    len.div_ceil(PAYLOAD) * PAGE
}

/// Returns the checksum of a page: over the [salt](crate::head::Head::salt), the content and the number.
fn sum(salt: &[u8; 24], page: &[u8]) -> u64 {
    checksum(&[salt, &page[..PAGE as usize - 8]])
}

fn tag(kind: Kind, number: u64) -> [u8; 8] {
    ((kind as u64) << 56 | number).to_le_bytes()
}

/// Writes both copies of a section.
pub(crate) fn write(
    file: &dyn Target,
    salt: &[u8; 24],
    kind: Kind,
    section: &Section,
    content: &[u8],
) -> Result<(), Error> {
    for (number, part) in content.chunks(PAYLOAD as usize).enumerate() {
        let mut page = part.to_vec();
        page.resize(PAYLOAD as usize, 0);
        page.extend(tag(kind, number as u64));
        page.extend([0; 8]);
        let sum = sum(salt, &page);
        page[PAGE as usize - 8..].copy_from_slice(&sum.to_le_bytes());
        for copy in section.copies {
            file.write_all_at(&page, copy + number as u64 * PAGE)?;
        }
    }
    Ok(())
}

/// Reads a section, whose length is within the memory: each page from the first copy in which it is undamaged.
pub(crate) fn read(file: &File, salt: &[u8; 24], kind: Kind, section: &Section) -> Result<Vec<u8>, Error> {
    let mut content = Vec::with_capacity(section.len as usize);
    let mut page = vec![0; PAGE as usize];
    for number in 0..section.len.div_ceil(PAYLOAD) {
        if !section.copies.iter().any(|&copy| is_good(file, salt, kind, copy, number, &mut page)) {
            return Err(Error::Lost(kind.name()));
        }
        let len = PAYLOAD.min(section.len - number * PAYLOAD);
        content.extend(&page[..len as usize]);
    }
    Ok(content)
}

/// Reads both copies of a section. Returns the number of damaged pages.
pub(crate) fn check(file: &File, salt: &[u8; 24], kind: Kind, section: &Section) -> Result<u64, Error> {
    let (mut damaged, mut page) = (0, vec![0; PAGE as usize]);
    for number in 0..section.len.div_ceil(PAYLOAD) {
        let good = section.copies.iter().filter(|&&copy| is_good(file, salt, kind, copy, number, &mut page));
        match good.count() as u64 {
            0 => return Err(Error::Lost(kind.name())),
            good => damaged += 2 - good,
        }
    }
    Ok(damaged)
}

/// Reads a page of a copy, which begins at `copy`. Returns whether it is undamaged.
fn is_good(file: &File, salt: &[u8; 24], kind: Kind, copy: u64, number: u64, page: &mut [u8]) -> bool {
    let offset = number.checked_mul(PAGE).and_then(|at| at.checked_add(copy));
    let is_read = offset.is_some_and(|offset| file.read_exact_at(page, offset).is_ok());
    let (tagged, end) = page.split_at(PAGE as usize - 8);
    is_read && tagged.ends_with(&tag(kind, number)) && end == sum(salt, page).to_le_bytes()
}
