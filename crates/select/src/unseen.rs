//! What a walk does not show because of rules that protect.

/// What a walk did not show because of `--exclude` and `--exclude-where`, or may not have shown: under another name, the same
/// files may be selected. Recorded only [on request](crate::Selection::recording_unseen).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// The directories and regular files that a rule skipped, whatever else skipped them.
    pub entries: Vec<SkippedEntry>,
    /// The paths of directories that were not entered, for any other reason. Rules may skip what is below these paths.
    pub not_entered: Vec<Vec<u8>>,
}

/// An entry that a rule skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedEntry {
    /// The starting point as given, joined with the names below it.
    pub path: Vec<u8>,
    /// The long option of the rule.
    pub option: &'static str,
    /// `None` for a directory.
    pub file: Option<SkippedFile>,
}

/// A regular file that a rule skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Device and inode number of the directory that contains it.
    pub directory: (u64, u64),
    /// Device and inode number of the file; for a followed link, those of its target.
    pub identity: (u64, u64),
    /// Whether another file with this identity is no mere hard link to it: it has one link, is mounted here, or a link
    /// leads to it.
    pub is_unique: bool,
}

impl Unseen {
    /// Adds what another worker recorded.
    pub fn merge(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.not_entered.extend(other.not_entered);
    }
}
