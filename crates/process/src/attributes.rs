//! The extended attributes of the files in a table of rows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ftk_file::{Attribute, AttributeReader, File};
use ftk_inventory::{Budget, Full, Reservation};
use ftk_sched::lock;

/// A set of extended attributes. Many files of a tree have the same one, such as the same SELinux label.
type Set = Arc<[Attribute]>;

/// The extended attributes of a file: the number of a set in the table of its [`Rows`](crate::Rows).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeSet(u32);

impl AttributeSet {
    /// No attributes.
    pub const EMPTY: Self = Self(0);
    /// Not read through the open file, or reading them failed, or there is no memory for them.
    pub(crate) const UNKNOWN: Self = Self(u32::MAX);
}

/// The different sets of a table, which workers share.
#[derive(Debug)]
pub(crate) struct AttributeTable(Mutex<Sets>);

#[derive(Debug)]
struct Sets {
    /// Those with numbers from 1 on.
    sets: Vec<Set>,
    numbers: HashMap<Set, u32>,
    reserved: Reservation,
}

impl AttributeTable {
    pub(crate) fn new(budget: &Budget) -> Self {
        let reserved = Reservation::new(budget);
        Self(Mutex::new(Sets { sets: Vec::new(), numbers: HashMap::new(), reserved }))
    }

    /// Returns the attributes of this set.
    ///
    /// # Panics
    /// If the set belongs to another table, or is empty.
    pub(crate) fn get(&self, set: AttributeSet) -> Set {
        lock(&self.0).sets[set.0 as usize - 1].clone()
    }

    fn set(&self, attributes: &[Attribute]) -> Result<AttributeSet, Full> {
        let Sets { sets, numbers, reserved } = &mut *lock(&self.0);
        if let Some(number) = numbers.get(attributes) {
            return Ok(AttributeSet(*number));
        }
        let bytes = |(name, value): &Attribute| name.len() + value.len() + size_of::<Attribute>();
        let bytes = attributes.iter().map(bytes).sum::<usize>() + 4 * size_of::<Set>();
        reserved.consume(bytes as u64)?;
        let number = u32::try_from(sets.len() + 1).ok().filter(|number| *number < u32::MAX);
        let number = number.ok_or(Full::Entries)?;
        let set = Set::from(attributes);
        sets.push(set.clone());
        numbers.insert(set, number);
        Ok(AttributeSet(number))
    }
}

/// Reads the attributes of open files, for one worker.
#[derive(Debug, Default)]
pub(crate) struct OpenAttributes {
    reader: AttributeReader,
    /// Those of the last file that had any, and their number.
    last: Option<(Vec<Attribute>, AttributeSet)>,
}

impl OpenAttributes {
    /// Returns the attributes of an open file.
    pub(crate) fn read(&mut self, file: &File, table: &AttributeTable) -> AttributeSet {
        match self.reader.read_open(file) {
            Ok(found) if found.is_empty() => AttributeSet::EMPTY,
            Ok(found) => match &self.last {
                Some((last, set)) if *last == found => *set,
                _ => match table.set(&found) {
                    Ok(set) => self.last.insert((found, set)).1,
                    Err(_) => AttributeSet::UNKNOWN,
                },
            },
            Err(_) => AttributeSet::UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(nth: u32) -> Attribute {
        (b"user.number".to_vec(), nth.to_le_bytes().to_vec())
    }

    #[test]
    fn equal_sets_have_one_number() {
        let table = AttributeTable::new(&Budget::new(u64::MAX));
        let sets = [vec![attribute(1)], vec![attribute(2)], vec![attribute(1), attribute(2)]];
        let numbers = [0, 1, 0, 2, 1].map(|nth: usize| table.set(&sets[nth]).unwrap());
        assert_eq!(numbers.map(|number| number.0), [1, 2, 1, 3, 2]);
        for (number, nth) in numbers.into_iter().zip([0, 1, 0, 2, 1]) {
            assert_eq!(*table.get(number), sets[nth]);
        }
    }

    #[test]
    fn sets_that_do_not_fit_are_not_kept() {
        let table = AttributeTable::new(&Budget::new(64 << 10));
        let numbers = (0..100_000).map(|nth| table.set(&[attribute(nth)]));
        let kept = numbers.take_while(Result::is_ok).count();
        assert!((100..99_999).contains(&kept), "{kept}");
        assert_eq!(table.set(&[attribute(7)]), Ok(AttributeSet(8)), "those that are known need no memory");
    }

    #[test]
    fn attributes_of_open_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let table = AttributeTable::new(&Budget::new(u64::MAX));
        let mut open = OpenAttributes::default();
        for (name, value) in [(c"a", None), (c"b", Some(b"1")), (c"c", Some(b"1")), (c"d", Some(b"2"))] {
            let path = dir.path().join(name.to_str().unwrap());
            std::fs::write(&path, "").unwrap();
            if let Some(value) = value {
                rustix::fs::setxattr(&path, "user.ftk", value, rustix::fs::XattrFlags::empty()).unwrap();
            }
        }
        let directory = std::fs::File::open(dir.path()).unwrap();
        let mut read = |name| {
            let file = File::open(&directory, name, ftk_file::Symlinks::NoFollow).unwrap();
            let set = open.read(&file, &table);
            let own = |(name, value): &Attribute| (name == b"user.ftk").then(|| value.clone());
            let found = |set| table.get(set).iter().find_map(own);
            (set, Some(set).filter(|set| *set != AttributeSet::EMPTY).and_then(found))
        };
        let [a, b, c, d] = [c"a", c"b", c"c", c"d"].map(&mut read);
        assert_eq!(
            [a.1, b.1, c.1, d.1],
            [None, Some(b"1".to_vec()), Some(b"1".to_vec()), Some(b"2".to_vec())]
        );
        assert!(b.0 == c.0 && b.0 != d.0);
    }
}
