//! The pages of column chunks, with their checksums: the library reads them, but does not write them.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use parquet::column::page_store::{PageKey, PageStore, PageStoreArgs, PageStoreFactory};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};

/// The pages of the columns of one row group.
#[derive(Clone, Debug)]
pub(super) struct Pages(Arc<Vec<Mutex<Chunk>>>);

/// The pages of a column.
#[derive(Debug, Default)]
struct Chunk {
    /// A header whose page follows.
    header: Option<Bytes>,
    dictionary: BytesMut,
    data: BytesMut,
    /// The length of each page in `data`.
    lens: Vec<i32>,
    /// How many bytes the checksums need.
    added: usize,
}

impl Pages {
    pub(super) fn new(columns: usize) -> Self {
        Self(Arc::new((0..columns).map(|_| Mutex::default()).collect()))
    }

    /// Returns the bytes of a column that is complete, and its description with the places of these.
    ///
    /// # Errors
    /// If the description has other pages.
    pub(super) fn chunk(&self, column: usize, of: &ColumnCloseResult) -> Result<(Bytes, ColumnCloseResult)> {
        let Chunk { mut dictionary, data, lens, added, .. } =
            std::mem::take(&mut *self.0[column].lock().unwrap_or_else(PoisonError::into_inner));
        let (mut close, has_dictionary) = (of.clone(), !dictionary.is_empty());
        let start = dictionary.len() as i64;
        dictionary.unsplit(data);
        let bytes = dictionary.freeze();
        let metadata = close.metadata;
        let (compressed, uncompressed) = (metadata.compressed_size(), metadata.uncompressed_size());
        close.metadata = metadata
            .into_builder()
            .set_dictionary_page_offset(has_dictionary.then_some(0))
            .set_data_page_offset(start)
            .set_total_compressed_size(compressed + added as i64)
            .set_total_uncompressed_size(uncompressed + added as i64)
            .build()?;
        let mut offset = start;
        let locations = close.offset_index.iter_mut().flat_map(|index| &mut index.page_locations);
        for (location, len) in locations.zip(&lens) {
            (location.offset, location.compressed_page_size) = (offset, *len);
            offset += i64::from(*len);
        }
        if close.metadata.compressed_size() != bytes.len() as i64 || offset != bytes.len() as i64 {
            return Err(ParquetError::General("a column has other pages than were written".into()));
        }
        Ok((bytes, close))
    }
}

impl PageStoreFactory for Pages {
    fn create(&self, args: &PageStoreArgs<'_>) -> Result<Box<dyn PageStore>> {
        Ok(Box::new(Store { pages: self.clone(), column: args.column_index() }))
    }
}

/// Receives the header and the content of each page of a column.
struct Store {
    pages: Pages,
    column: usize,
}

impl PageStore for Store {
    fn put(&mut self, bytes: Bytes) -> Result<PageKey> {
        let mut chunk = self.pages.0[self.column].lock().unwrap_or_else(PoisonError::into_inner);
        let Some(header) = chunk.header.take() else {
            chunk.header = Some(bytes);
            return Ok(PageKey::new(0));
        };
        let sealed = with_checksum(&header, crc32fast::hash(&bytes))
            .ok_or_else(|| ParquetError::General("the header of a page is unknown".into()))?;
        chunk.added += sealed.len() - header.len();
        let is_dictionary = header[1] == DICTIONARY;
        let to = if is_dictionary { &mut chunk.dictionary } else { &mut chunk.data };
        to.extend_from_slice(&sealed);
        to.extend_from_slice(&bytes);
        if !is_dictionary {
            chunk.lens.push((sealed.len() + bytes.len()) as i32);
        }
        Ok(PageKey::new(0))
    }

    fn take(&mut self, _: PageKey) -> Result<Bytes> {
        Err(ParquetError::General("pages are only read as a chunk".into()))
    }
}

/// The field before which is no other, of the type `i32`, in the compact protocol of Thrift. The next two fields
/// begin in the same way.
const NEXT_I32: u8 = 0x15;
/// The type `struct`, without the distance to the field before.
const STRUCT: u8 = 0x0c;
/// The kind of page of a dictionary.
const DICTIONARY: u8 = 4;

/// Adds the checksum to the header of a page, as the fourth field. Returns `None` if the header does not begin with the
/// kind of the page and its two lengths, or if another field follows than the description of that kind.
fn with_checksum(header: &[u8], crc32: u32) -> Option<Vec<u8>> {
    let mut at = 0;
    for _ in 0..3 {
        (*header.get(at)? == NEXT_I32).then_some(())?;
        at += 2 + header.get(at + 1..)?.iter().position(|byte| byte & 0x80 == 0)?;
    }
    let field = *header.get(at)?;
    (field & 0xf == STRUCT && field >> 4 > 1).then_some(())?;
    let mut sealed = Vec::with_capacity(header.len() + 6);
    sealed.extend_from_slice(&header[..at]);
    sealed.push(NEXT_I32);
    // The signed number of the same bits, in zigzag order.
    let signed = crc32 as i32;
    let mut rest = (signed << 1 ^ signed >> 31) as u32;
    while rest > 0x7f {
        sealed.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    sealed.extend_from_slice(&[rest as u8, field - 0x10]);
    sealed.extend_from_slice(&header[at + 1..]);
    Some(sealed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_the_fourth_field() {
        // A page of data: kind 0, lengths 100 and 64, then field 5.
        let header = [0x15, 0, 0x15, 0xc8, 1, 0x15, 0x80, 1, 0x2c, 7, 0, 0];
        let sealed = |crc32| with_checksum(&header, crc32).unwrap();
        assert_eq!(sealed(1), [0x15, 0, 0x15, 0xc8, 1, 0x15, 0x80, 1, 0x15, 2, 0x1c, 7, 0, 0]);
        assert_eq!(sealed(u32::MAX)[8..10], [0x15, 1]);
        assert_eq!(sealed(1 << 31)[8..14], [0x15, 0xff, 0xff, 0xff, 0xff, 0xf]);
        // A checksum is there already, and headers that are cut off.
        assert_eq!(with_checksum(&sealed(1), 1), None);
        assert!((0..9).all(|len| with_checksum(&header[..len], 1).is_none()));
    }
}
