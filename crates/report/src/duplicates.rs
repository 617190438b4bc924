//! Groups of equal files and directories.

use crate::data::{DuplicateGroup, Duplicates};
use crate::room;

/// Collects groups, of which the first that fit are on the page. Memory is limited by what the page may hold.
#[derive(Debug)]
pub struct DuplicatesBuilder {
    duplicates: Duplicates,
    /// The bytes of the page that are left for groups.
    room: usize,
}

impl Default for DuplicatesBuilder {
    fn default() -> Self {
        Self { duplicates: Duplicates::default(), room: room::DUPLICATES }
    }
}

impl DuplicatesBuilder {
    /// Whether another group may fit.
    pub fn has_room(&self) -> bool {
        /// The page has at least this many bytes for a group: the names of its members, and the line of the report.
        const LEAST: usize = 300;
        self.room >= LEAST
    }

    /// Adds a group. Those with the largest waste must come first: a group that does not fit is only counted.
    pub fn add(&mut self, group: DuplicateGroup) {
        let len = room::embedded_len(&group);
        if len > self.room {
            return self.omit(group.waste_bytes.0);
        }
        self.room -= len;
        self.count(group.waste_bytes.0);
        self.duplicates.groups.push(group);
    }

    /// Counts a group that is not on the page.
    pub fn omit(&mut self, waste: u128) {
        self.count(waste);
        self.duplicates.omitted_groups.0 += 1;
        self.duplicates.omitted_waste_bytes.0 += waste;
    }

    fn count(&mut self, waste: u128) {
        self.duplicates.total_groups.0 += 1;
        self.duplicates.total_waste_bytes.0 += waste;
    }

    /// Returns the data of the page. `header` is the first line of a file of decisions, without its newline.
    pub fn finish(self, header: String) -> Duplicates {
        Duplicates { header, ..self.duplicates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DuplicateCopy, DuplicateKind};
    use crate::{Count, Data, page};

    fn group(waste: u64, name: &str) -> DuplicateGroup {
        let copy = |_| DuplicateCopy { names: vec![name.to_owned()], mtime_s: i64::MIN };
        DuplicateGroup {
            kind: DuplicateKind::File,
            size_bytes: waste.into(),
            waste_bytes: waste.into(),
            files: 1_u64.into(),
            same_names: true,
            copies: (0..2).map(copy).collect(),
            line: format!("{{\"path\":\"{name}\"}}").repeat(2),
        }
    }

    #[test]
    fn the_page_has_less_than_8_mb_and_says_what_it_lacks() {
        // The longest names, of a character that the page escapes, and ordinary ones.
        for name in ["<".repeat(4000), "photos/2019/trip/IMG_2041.CR2".into()] {
            let mut builder = DuplicatesBuilder::default();
            let n = 40_000;
            for waste in (1..=n).rev() {
                match builder.has_room() {
                    true => builder.add(group(waste, &name)),
                    false => builder.omit(waste.into()),
                }
            }
            let duplicates = builder.finish("{}".into());
            let shown = duplicates.groups.len() as u64;
            assert!(shown > 10 && shown < n, "{shown}");
            assert_eq!(duplicates.groups.last().unwrap().waste_bytes, Count((n - shown + 1).into()));
            assert_eq!(duplicates.total_groups, n.into());
            assert_eq!(duplicates.total_waste_bytes, (n * (n + 1) / 2).into());
            assert_eq!(duplicates.omitted_groups, (n - shown).into());
            assert_eq!(duplicates.omitted_waste_bytes, ((n - shown) * (n - shown + 1) / 2).into());
            let len = page(&Data { duplicates: Some(duplicates), ..Data::default() }).len();
            assert!((room::DUPLICATES - 50_000..room::DUPLICATES + 200_000).contains(&len), "{len}");
        }
    }

    #[test]
    fn a_group_that_is_too_large_leaves_room_for_others() {
        let mut builder = DuplicatesBuilder::default();
        builder.add(group(9, &"x".repeat(room::DUPLICATES)));
        builder.add(group(1, "x"));
        let duplicates = builder.finish(String::new());
        assert_eq!((duplicates.groups.len(), duplicates.omitted_waste_bytes), (1, Count(9)));
    }
}
