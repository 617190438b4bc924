//! What is compared.

use ftk_walk::FileType;

use crate::{Entry, Field, Sample};

/// What two entries are compared by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Everything that is recorded and compared.
    #[default]
    Strict,
    /// Type, size, link target and digests.
    Content,
    /// Everything but the digests, so that no file is read.
    Metadata,
}

/// What is compared, and of which files the content.
#[derive(Clone, Debug, Default)]
pub struct Criteria {
    /// What in general.
    pub mode: Mode,
    /// What of it not.
    pub ignore: Vec<Field>,
    /// Which files are read; `None`: all.
    pub sample: Option<Sample>,
}

impl Criteria {
    /// Whether a verification has to know what `stat` says of regular files that it does not read: then the walk should
    /// keep it, as it should for a manifest without digests. What it has not kept is asked for one by one.
    pub fn needs_stats(&self) -> bool {
        self.sample.is_some() || !self.compares(Field::Digests)
    }

    /// Whether a field is compared.
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

    /// Whether the content of a file is to be read. A sample always includes files that are known to be damaged.
    pub(crate) fn reads(&self, old: &Entry<'_>) -> bool {
        let in_sample = || self.sample.as_ref().is_none_or(|sample| sample.matches(old.path));
        self.compares(Field::Digests) && (old.damaged_ns.is_some() || in_sample())
    }

    /// Replaces `changed` by the compared fields in which the entries differ. `is_same`: whether their digests are the
    /// same, if that is known.
    ///
    /// Sizes are those of regular files: that of a directory is the file system's affair, and that of a link is its
    /// target's. A directory's time tells only that entries came or went, which they tell themselves.
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
