//! Extended attributes that are needed twice and read by path once, so that both passes over a tree see the same ones.

use std::collections::VecDeque;
use std::io;

use ftk_inventory::{Budget, Reservation};

use crate::Xattr;
use crate::walked_tree::Seen;
use crate::xattrs::XattrReader;

/// The extended attributes of a tree's entries. Entries without attributes, and files that were read, use no memory. When the
/// budget is used up, the others are read in each pass.
#[derive(Debug)]
pub(crate) struct KeptXattrs<'i> {
    reader: XattrReader<'i>,
    reserved: Reservation,
    /// The number of entries so far in this pass whose attributes are read by path.
    count: u64,
    /// What was found in the first pass, with the number of the entry.
    kept: VecDeque<(u64, io::Result<Vec<Xattr>>)>,
    /// The number of the first entry whose attributes did not fit.
    full_from: Option<u64>,
    is_second_pass: bool,
    current: Vec<Xattr>,
}

impl<'i> KeptXattrs<'i> {
    pub(crate) fn new(reader: XattrReader<'i>, budget: &Budget) -> Self {
        let (kept, current) = (VecDeque::new(), Vec::new());
        let reserved = Reservation::new(budget);
        Self { reader, reserved, count: 0, kept, full_from: None, is_second_pass: false, current }
    }

    /// Begins the second pass.
    pub(crate) fn rewind(&mut self) {
        (self.count, self.is_second_pass) = (0, true);
    }

    /// Returns the attributes of the next entry. The second pass must ask for the same entries in the same order.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn read(&mut self, seen: &Seen) -> io::Result<&[Xattr]> {
        if self.reader.knows(seen) {
            return Ok(self.reader.last());
        }
        self.count += 1;
        if !self.is_second_pass {
            let found = self.reader.read(seen).map(<[Xattr]>::to_vec);
            if found.as_ref().is_ok_and(|found| self.full_from.is_none() && !self.fits(found)) {
                self.full_from = Some(self.count);
            }
            match &found {
                Ok(found) => self.current.clone_from(found),
                Err(error) => {
                    let error = copy(error);
                    self.kept.push_back((self.count, found));
                    return Err(error);
                }
            }
            if !self.current.is_empty() && self.full_from.is_none() {
                self.kept.push_back((self.count, found));
            }
        } else {
            self.current.clear();
            if self.kept.front().is_some_and(|(number, _)| *number == self.count)
                && let Some((_, found)) = self.kept.pop_front()
            {
                self.current = found?;
            } else if self.full_from.is_some_and(|from| self.count >= from) {
                self.current = self.reader.read(seen)?.to_vec();
            }
        }
        Ok(&self.current)
    }

    fn fits(&mut self, xattrs: &[Xattr]) -> bool {
        let bytes = |xattr: &Xattr| xattr.name.len() + xattr.value.len() + size_of::<Xattr>();
        let bytes: usize = xattrs.iter().map(bytes).sum();
        self.reserved.consume(bytes as u64).is_ok()
    }
}

/// Returns an error of the same kind with the same message.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
