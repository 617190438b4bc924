//! The order of sorted output.

use std::cmp::Ordering;

use clap::ValueEnum;
use ftk_walk::{Entry, Fields, WalkError};

use super::parts;
use super::render::facts;

/// What entries are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SortKey {
    Path,
    Name,
    Size,
    Mtime,
    Extension,
    /// Only for groups.
    Count,
}

/// The order of entries. Equal keys are ordered by path, so the order is the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) key: SortKey,
    pub(super) reverse: bool,
}

impl Order {
    /// Whether this is the order of paths, not reversed.
    pub(super) fn is_by_path(self) -> bool {
        self.key == SortKey::Path && !self.reverse
    }

    /// Returns the metadata that it needs.
    pub(super) fn reads(self) -> Fields {
        match self.key {
            SortKey::Path | SortKey::Name | SortKey::Extension | SortKey::Count => Fields::NONE,
            SortKey::Size | SortKey::Mtime => Fields::BASIC,
        }
    }

    /// Returns the number that the entry is sorted by, or `None` if that is text.
    pub(super) fn number(self, entry: &mut Entry<'_>) -> Result<Option<i128>, WalkError> {
        Ok(match self.key {
            SortKey::Path | SortKey::Name | SortKey::Extension | SortKey::Count => None,
            SortKey::Size => Some(facts(entry, Fields::SIZE)?.size.into()),
            SortKey::Mtime => Some(facts(entry, Fields::MTIME)?.mtime_ns),
        })
    }

    /// Compares two entries: their numbers, which must be 0 if they have none, and their paths.
    pub(super) fn cmp(self, a: (i128, &[u8]), b: (i128, &[u8])) -> Ordering {
        let by_key = match self.key {
            SortKey::Path | SortKey::Count => Ordering::Equal,
            SortKey::Size | SortKey::Mtime => a.0.cmp(&b.0),
            SortKey::Name => parts::name(a.1).cmp(parts::name(b.1)),
            SortKey::Extension => parts::split_extension(a.1).1.cmp(parts::split_extension(b.1).1),
        };
        let order = by_key.then_with(|| a.1.cmp(b.1));
        if self.reverse { order.reverse() } else { order }
    }
}
