//! Extended attributes that are needed twice and read by path once, so that both passes over a tree see the same ones.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};

use ftk_inventory::{Budget, Reservation};

use crate::Xattr;
use crate::walked_tree::Seen;
use crate::xattrs::XattrReader;

/// The extended attributes of a tree's entries. Entries without attributes, and files that were read, use no memory.
#[derive(Debug)]
pub(crate) struct KeptXattrs<'i> {
    reader: XattrReader<'i>,
    reserved: Reservation,
    /// The number of entries so far in this pass whose attributes are read by path.
    count: u64,
    /// What was found in the first pass, with the number of the entry.
    kept: VecDeque<(u64, io::Result<Vec<Xattr>>)>,
    is_second_pass: bool,
    current: Vec<Xattr>,
}

impl<'i> KeptXattrs<'i> {
    pub(crate) fn new(reader: XattrReader<'i>, budget: &Budget) -> Self {
        let (kept, current) = (VecDeque::new(), Vec::new());
        Self { reader, reserved: Reservation::new(budget), count: 0, kept, is_second_pass: false, current }
    }

    /// Begins the second pass.
    pub(crate) fn rewind(&mut self) {
        (self.count, self.is_second_pass) = (0, true);
    }

    /// Returns the attributes of the next entry. The second pass must ask for the same entries in the same order.
    ///
    /// # Errors
    /// When they cannot be read, or do not fit into the budget.
    pub(crate) fn read(&mut self, seen: &Seen) -> io::Result<&[Xattr]> {
        if self.reader.knows(seen) {
            return Ok(self.reader.last());
        }
        self.count += 1;
        if !self.is_second_pass {
            let found = self.reader.read(seen).map(<[Xattr]>::to_vec);
            let found = found.and_then(|found| self.reserve(&found).map(|()| found));
            match &found {
                Ok(found) => self.current.clone_from(found),
                Err(error) => {
                    let error = copy(error);
                    self.kept.push_back((self.count, found));
                    return Err(error);
                }
            }
            if !self.current.is_empty() {
                self.kept.push_back((self.count, found));
            }
        } else {
            self.current.clear();
            if self.kept.front().is_some_and(|(number, _)| *number == self.count)
                && let Some((_, found)) = self.kept.pop_front()
            {
                self.current = found?;
            }
        }
        Ok(&self.current)
    }

    fn reserve(&mut self, xattrs: &[Xattr]) -> io::Result<()> {
        let bytes = |xattr: &Xattr| xattr.name.len() + xattr.value.len() + size_of::<Xattr>();
        let bytes: usize = xattrs.iter().map(bytes).sum();
        self.reserved.consume(bytes as u64).map_err(|full| io::Error::new(ErrorKind::OutOfMemory, full))
    }
}

/// Returns an error of the same kind with the same message.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
