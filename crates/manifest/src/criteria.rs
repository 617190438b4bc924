//! Which fields are compared, and which files are read.

use crate::{Entry, Field, Sample, Selector};

/// The set of fields that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All recorded fields that can be compared.
    #[default]
    Strict,
    /// Type, size, link target and digests.
    Content,
    /// Everything except the digests, so that no file is read.
    Metadata,
}

/// Which fields are compared, and which files are read.
#[derive(Clone, Debug, Default)]
pub struct Criteria {
    /// The set of fields to start from.
    pub mode: Mode,
    /// Fields removed from that set.
    pub ignore: Vec<Field>,
    /// Which files are read; `None`: all.
    pub sample: Option<Sample>,
    /// Names that differ only in their Unicode normal form count as equal.
    pub normalize_names: bool,
    /// The entries that are compared; `None`: all. Others count in [`Summary::unselected`](crate::Summary::unselected).
    pub part: Option<Selector>,
}

impl Criteria {
    /// Returns whether a verification needs the metadata of regular files that it does not read.
    ///
    /// If so, the walk should keep it (as for a manifest without digests); otherwise it is requested file by
    /// file.
    pub fn needs_stats(&self) -> bool {
        self.sample.is_some() || !self.compares(Field::Digests)
    }

    /// Returns whether a field is compared.
    pub fn compares(&self, field: Field) -> bool {
        let in_mode = match self.mode {
            Mode::Strict => true,
            Mode::Content => {
                matches!(field, Field::Type | Field::Size | Field::Target | Field::Digests)
            }
            Mode::Metadata => field != Field::Digests,
        };
        field.is_compared() && in_mode && !self.ignore.contains(&field)
    }

    /// Returns whether everything that is compared is covered by the tree digests of directories.
    pub(crate) fn is_covered_by_trees(&self) -> bool {
        let is_covered =
            |field: &Field| matches!(field, Field::Type | Field::Size | Field::Target | Field::Digests);
        self.compares(Field::Digests)
            && Field::ALL.iter().all(|field| !self.compares(*field) || is_covered(field))
    }

    /// Returns whether the content of a file is to be read. Every sample includes the files that are known to
    /// be damaged.
    pub(crate) fn reads(&self, old: &Entry<'_>) -> bool {
        let in_sample = || self.sample.as_ref().is_none_or(|sample| sample.matches(old.path));
        self.compares(Field::Digests) && (old.damaged_ns.is_some() || in_sample())
    }

    /// Replaces `changed` with the compared fields in which the entries differ. `is_same` tells whether their
    /// digests are equal, if that is known.
    pub(crate) fn changed(
        &self,
        old: &Entry<'_>,
        new: &Entry<'_>,
        is_same: Option<bool>,
        changed: &mut Vec<Field>,
    ) {
        changed.clear();
        let is_changed = |field: &Field| self.compares(*field) && field.differs(old, new, is_same);
        changed.extend(Field::ALL.into_iter().filter(is_changed));
    }
}
