//! Which fields are compared, and which files are read.

use ftk_select::{Check, Checks};

use crate::entry::key;
use crate::{Entry, Field, Sample, Selector, Verdict};

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

impl Mode {
    /// Returns whether a field is in the set.
    fn has(self, field: Field) -> bool {
        match self {
            Self::Strict => true,
            Self::Content => {
                matches!(field, Field::Type | Field::Size | Field::Target | Field::Digests)
            }
            Self::Metadata => field != Field::Digests,
        }
    }
}

/// Returns what is compared of an entry. It is at most what can differ in it: only files grow, and a record of something
/// that is ignored is compared.
pub(crate) fn check_of(checks: &Checks, entry: &Entry<'_>) -> Check {
    match checks.of(key(entry.path), entry.stat.file_type) {
        Check::Growing if entry.stat.is_regular() => Check::Growing,
        Check::Growing | Check::Ignore => Check::All,
        check => check,
    }
}

/// Returns whether a field of a recorded entry is compared. Damage is known of the content, so that is always compared
/// again.
pub(crate) fn is_checked(check: Check, field: Field, old: &Entry<'_>) -> bool {
    let is_checked = match check {
        Check::All | Check::Ignore => true,
        Check::Content => Mode::Content.has(field),
        Check::Metadata => Mode::Metadata.has(field),
        Check::Growing => field != Field::Mtime,
        Check::Exists => field == Field::Type,
    };
    is_checked || field == Field::Digests && old.damaged_ns.is_some()
}

/// Returns whether a file is one that may grow, and has grown.
pub(crate) fn has_grown(check: Check, old: &Entry<'_>, new: &Entry<'_>) -> bool {
    check == Check::Growing && old.size().zip(new.size()).is_some_and(|(old, new)| new > old)
}

/// Returns whether only the recorded bytes of a file are compared. Damaged files, and those of an unknown size, are read
/// whole.
pub(crate) fn may_grow(check: Check, old: &Entry<'_>) -> bool {
    check == Check::Growing && old.damaged_ns.is_none() && old.size().is_some()
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
    /// What is compared of each entry, of these fields.
    pub checks: Checks,
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
        field.is_compared() && self.mode.has(field) && !self.ignore.contains(&field)
    }

    /// Returns whether a field of a recorded entry is compared.
    pub(crate) fn compares_of(&self, old: &Entry<'_>, field: Field) -> bool {
        self.compares(field) && is_checked(check_of(&self.checks, old), field, old)
    }

    /// Returns whether everything that is compared is covered by the tree digests of directories.
    pub(crate) fn is_covered_by_trees(&self) -> bool {
        self.compares(Field::Digests)
            && Field::ALL.iter().all(|field| !self.compares(*field) || Mode::Content.has(*field))
    }

    /// Returns whether the content of a file is to be read. Every sample includes the files that are known to
    /// be damaged. Of a file that may grow, only the [start](Self::reads_start) is read.
    pub(crate) fn reads(&self, old: &Entry<'_>) -> bool {
        self.reads_content(old) && !self.may_grow(old)
    }

    /// Returns whether the recorded bytes of a file that may grow are to be read.
    pub(crate) fn reads_start(&self, old: &Entry<'_>) -> bool {
        self.reads_content(old) && self.may_grow(old)
    }

    fn reads_content(&self, old: &Entry<'_>) -> bool {
        let in_sample = || self.sample.as_ref().is_none_or(|sample| sample.matches(old.path));
        self.compares_of(old, Field::Digests) && (old.damaged_ns.is_some() || in_sample())
    }

    fn may_grow(&self, old: &Entry<'_>) -> bool {
        may_grow(check_of(&self.checks, old), old)
    }

    /// Returns whether their digests are equal, unless only the start of the new content can be compared.
    pub(crate) fn is_same(&self, old: &Entry<'_>, new: &Entry<'_>, is_same: bool) -> Option<bool> {
        (!has_grown(check_of(&self.checks, old), old, new)).then_some(is_same)
    }

    /// Returns the verdict on two entries, and how many it adds to [`Summary::untimed`](crate::Summary::untimed). If times are
    /// ignored, they are no evidence either: other content of the same size is an edit then.
    pub(crate) fn judge(&self, verdict: Verdict) -> (Verdict, u64) {
        match verdict {
            Verdict::Corrupted if self.ignore.contains(&Field::Mtime) => (Verdict::Modified, 1),
            verdict => (verdict, 0),
        }
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
        let check = check_of(&self.checks, old);
        let is_compared = |field: Field| match field {
            Field::Size if has_grown(check, old, new) => false,
            field => self.compares(field) && is_checked(check, field, old),
        };
        let is_changed = |field: &Field| is_compared(*field) && field.differs(old, new, is_same);
        changed.extend(Field::ALL.into_iter().filter(is_changed));
    }
}

#[cfg(test)]
mod tests {
    use ftk_file::Stat;
    use ftk_walk::FileType;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const TYPES: [FileType; 4] = [FileType::Regular, FileType::Directory, FileType::Symlink, FileType::Char];

    /// What differs between two entries, apart from the digests.
    fn stats() -> impl Strategy<Value = Stat> {
        let numbers = (0..3_u64, 0..2_i128, 0..2_u32, 0..2_u32, 0..2_u64);
        (select(&TYPES[..]), numbers).prop_map(|(file_type, (size, mtime_ns, mode, uid, rdev))| Stat {
            file_type,
            size,
            mtime_ns,
            mode,
            uid,
            rdev: if file_type.is_device() { rdev } else { 0 },
            ..Stat::EMPTY
        })
    }

    /// The fields that differ, and are compared, as docs/manifest-format.md lists them.
    fn model(check: Check, old: &Stat, new: &Stat, is_same: bool, is_damaged: bool) -> Vec<Field> {
        let (is_pair, grows) =
            (old.is_regular() && new.is_regular(), check == Check::Growing && old.is_regular());
        let content = matches!(check, Check::All | Check::Content | Check::Growing | Check::Ignore);
        let metadata = matches!(check, Check::All | Check::Metadata | Check::Growing | Check::Ignore);
        let has_time = |it: &Stat| it.file_type != FileType::Directory;
        let size = if grows { new.size < old.size } else { new.size != old.size };
        let mut fields = Vec::new();
        let mut add = |field, differs: bool| fields.extend(differs.then_some(field));
        add(Field::Type, old.file_type != new.file_type);
        add(Field::Size, is_pair && size && (content || metadata));
        let times = old.mtime_ns != new.mtime_ns && has_time(old) && has_time(new);
        add(Field::Mtime, times && metadata && !grows);
        add(Field::Mode, metadata && old.mode != new.mode);
        add(Field::Uid, metadata && old.uid != new.uid);
        add(Field::Rdev, metadata && old.rdev != new.rdev);
        add(Field::Digests, is_pair && !is_same && (content || is_damaged && old.is_regular()));
        fields
    }

    proptest! {
        #[test]
        fn every_check_compares_the_fields_of_the_model(
            check in select(&Check::ALL[..]),
            [old, new] in [stats(), stats()],
            is_same in any::<bool>(),
            is_damaged in any::<bool>(),
        ) {
            let rules = format!("exists *\n{} a\n", check.name());
            let criteria = Criteria { checks: Checks::parse(rules.as_bytes()).unwrap(), ..Criteria::default() };
            let damaged_ns = (is_damaged && old.is_regular()).then_some(1);
            let (a, b) = (Entry { damaged_ns, ..Entry::new(b"d/a", old) }, Entry::new(b"d/a", new));
            let is_pair = old.is_regular() && new.is_regular();
            let mut changed = Vec::new();
            criteria.changed(&a, &b, is_pair.then_some(is_same), &mut changed);
            prop_assert_eq!(&changed, &model(check, &old, &new, is_same, is_damaged));
            for field in [Field::Mtime, Field::Digests, Field::Xattrs, Field::LinkGroup] {
                let is_compared = match (check, field) {
                    (Check::All | Check::Ignore, _) => true,
                    (_, Field::Digests) if damaged_ns.is_some() => true,
                    (Check::Content, field) => field == Field::Digests,
                    (Check::Metadata, field) => field != Field::Digests,
                    (Check::Growing, field) => field != Field::Mtime || !old.is_regular(),
                    (Check::Exists, _) => false,
                };
                prop_assert_eq!(criteria.compares_of(&a, field), is_compared, "{}", field);
            }
            // What is read: content that is compared, and of growing files the recorded bytes.
            let grows = check == Check::Growing && old.is_regular() && damaged_ns.is_none();
            prop_assert_eq!(criteria.reads_start(&a), grows);
            prop_assert_eq!(criteria.reads(&a), !grows && criteria.compares_of(&a, Field::Digests));
        }
    }
}
