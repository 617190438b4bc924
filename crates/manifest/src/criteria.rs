//! Which fields are compared, and which files are read.

use ftk_walk::FileType;

use crate::{Entry, Field, Sample};

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
        in_mode && !self.ignore.contains(&field)
    }

    /// Returns whether the content of a file is to be read. Every sample includes the files that are known to
    /// be damaged.
    pub(crate) fn reads(&self, old: &Entry<'_>) -> bool {
        let in_sample = || self.sample.as_ref().is_none_or(|sample| sample.matches(old.path));
        self.compares(Field::Digests) && (old.damaged_ns.is_some() || in_sample())
    }

    /// Replaces `changed` with the compared fields in which the entries differ. `is_same` tells whether their
    /// digests are equal, if that is known.
    ///
    /// Sizes are compared for regular files only: the size of a directory depends on the file system, and
    /// that of a link on its target. The mtime of directories is not compared, because added and removed
    /// entries are reported themselves.
    pub(crate) fn changed(
        &self,
        old: &Entry<'_>,
        new: &Entry<'_>,
        is_same: Option<bool>,
        changed: &mut Vec<Field>,
    ) {
        let (a, b) = (&old.stat, &new.stat);
        let both = |file_type| a.file_type == file_type && b.file_type == file_type;
        let differs = |field: &Field| match field {
            Field::Type => a.file_type != b.file_type,
            Field::Size => both(FileType::Regular) && a.size != b.size,
            Field::Mtime => {
                ![a.file_type, b.file_type].contains(&FileType::Directory) && a.mtime_ns != b.mtime_ns
            }
            Field::Mode => a.mode != b.mode,
            Field::Uid => a.uid != b.uid,
            Field::Gid => a.gid != b.gid,
            Field::Rdev => a.rdev != b.rdev,
            Field::Target => old.target != new.target,
            Field::Digests => is_same == Some(false),
            Field::Xattrs => old.xattrs.zip(new.xattrs).is_some_and(|(old, new)| old != new),
        };
        changed.clear();
        changed.extend(Field::ALL.iter().filter(|field| differs(field) && self.compares(**field)));
    }
}
