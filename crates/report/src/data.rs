//! What a page shows. `ftk report --json` prints it, and the page contains it.

use serde::Serialize;

use crate::room::{self, shorten};
use crate::space::Space;
use crate::{Count, SignedCount};

/// All data of a page. Views whose data is absent are not shown. Names are for display: everything in them that could
/// act on a terminal is escaped, so they need not be valid paths.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Data {
    /// The version of ftk.
    pub program: String,
    /// The heading, such as the path of the tree.
    pub title: String,
    /// When the data was collected, in seconds since 1970.
    pub made_s: i64,
    /// What the data came from, such as the paths of manifests.
    pub inputs: Vec<String>,
    /// What is missing.
    pub problems: Problems,
    /// What uses the space.
    pub space: Option<Space>,
    /// Groups of equal files and directories.
    pub duplicates: Option<Duplicates>,
    /// What differs between two manifests.
    pub changes: Option<Changes>,
    /// When files were last verified.
    pub health: Option<Health>,
}

impl Data {
    /// Returns the JSON object that `ftk report --json` prints and that is part of the page, in one line.
    ///
    /// Its first members are `ftk`, which is `report`, and `version`, which is 1. Integers beyond 2^53 are strings.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Object<'d> {
            ftk: &'static str,
            version: u32,
            #[serde(flatten)]
            data: &'d Data,
        }
        serde_json::to_string(&Object { ftk: "report", version: 1, data: self })
            .expect("all keys are strings")
    }
}

/// What is missing from the data.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Problems {
    /// Entries that could not be read.
    pub unreadable: Count,
    /// Entries that options excluded.
    pub excluded: Count,
    /// The first messages about unreadable entries.
    pub messages: Vec<String>,
}

impl Problems {
    /// Sets the messages to the first ones that the page has room for.
    pub fn set_messages(&mut self, messages: impl Iterator<Item = String>) {
        self.messages = messages.take(1_000).collect();
        shorten(&mut self.messages, room::MESSAGES);
    }
}

/// Groups of equal files and directories.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Duplicates {
    /// The first line of a file of decisions, without its newline.
    pub header: String,
    /// The groups that waste most, as far as the page has room for them.
    pub groups: Vec<DuplicateGroup>,
    /// The number of all groups.
    pub total_groups: Count,
    /// The bytes that all but one copy of each group use.
    pub total_waste_bytes: Count,
    /// The disk space that a deletion of all surplus copies frees, if it is known, and whether this is an upper bound.
    pub freed_bytes: Option<Count>,
    /// Whether less may be freed.
    pub is_upper_bound: bool,
    /// The number of groups that are not among `groups`.
    pub omitted_groups: Count,
    /// The waste of these groups.
    pub omitted_waste_bytes: Count,
}

/// Equal files, or equal directories.
#[derive(Clone, Debug, Serialize)]
pub struct DuplicateGroup {
    /// What the copies are.
    pub kind: DuplicateKind,
    /// The size of each copy.
    pub size_bytes: Count,
    /// The size of all copies but one.
    pub waste_bytes: Count,
    /// The number of files in each copy.
    pub files: Count,
    /// Whether directories have the same names in them. `ftk dup apply` acts only on such directories.
    pub same_names: bool,
    /// The copies. Decisions name them by their positions, which are the numbers (`cluster`) of files in the report.
    pub copies: Vec<DuplicateCopy>,
    /// The group's line in the report, without its newline.
    pub line: String,
}

/// What is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DuplicateKind {
    /// Files.
    File,
    /// Directories.
    Directory,
}

/// One file or directory of a group.
#[derive(Clone, Debug, Serialize)]
pub struct DuplicateCopy {
    /// Its names: more than one for a file with hard links.
    pub names: Vec<String>,
    /// When its content was last modified, in seconds since 1970.
    pub mtime_s: i64,
}

/// What differs between two manifests.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Changes {
    /// How many entries changed in each way.
    pub counts: ChangeCounts,
    /// The directories in which most entries changed, with the changes directly in them.
    pub dirs: Vec<ChangedDir>,
    /// The number of directories in which entries changed.
    pub total_dirs: Count,
    /// The directories that grew or shrank most, each before those in it. `None` if the manifests cannot be compared so.
    pub grown: Option<Vec<GrownDir>>,
    /// The changes that matter most: damage first, then by size.
    pub rows: Vec<ChangedEntry>,
    /// The number of changes that are not among the rows.
    pub omitted_rows: Count,
}

/// A number of entries for each kind of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangeCounts {
    /// Other content under the same size and time.
    pub corrupted: u64,
    /// Only the new manifest has them.
    pub added: u64,
    /// Only the old manifest has them.
    pub removed: u64,
    /// Other content.
    pub modified: u64,
    /// The same content under another path.
    pub moved: u64,
    /// The same content with other metadata.
    pub metadata: u64,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Other content under the same size and time.
    Corrupted,
    /// Only the new manifest has it.
    Added,
    /// Only the old manifest has it.
    Removed,
    /// Other content.
    Modified,
    /// The same content under another path.
    Moved,
    /// The same content with other metadata.
    Metadata,
}

/// Changes directly in a directory.
#[derive(Clone, Debug, Serialize)]
pub struct ChangedDir {
    /// The path of the directory.
    pub path: String,
    /// How many entries directly in it changed.
    #[serde(flatten)]
    pub counts: ChangeCounts,
}

/// By how much a directory grew, with everything below it. Negative numbers: by how much it shrank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrownDir {
    /// The path of the directory below the root; `.` for the root.
    pub path: String,
    /// The depth: 0 for the root.
    pub depth: u32,
    /// Allocated bytes, if both manifests have them.
    pub allocated_bytes_change: Option<SignedCount>,
    /// The sizes of the entries.
    pub apparent_bytes_change: SignedCount,
    /// The number of files.
    pub files_change: SignedCount,
}

/// A changed entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedEntry {
    /// How it changed.
    pub kind: Change,
    /// Its path.
    pub path: String,
    /// The old path of a moved file.
    pub from: Option<String>,
    /// Its size in the old manifest, if it is a file there.
    pub old_bytes: Option<Count>,
    /// Its size in the new manifest, if it is a file there.
    pub new_bytes: Option<Count>,
}

/// When the files of a manifest were last verified.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Health {
    /// All files of the manifest.
    pub files: Count,
    /// Their content.
    pub bytes: Count,
    /// Files that were never verified since they were recorded.
    pub never_read_files: Count,
    /// The oldest verification of any file that was verified, in seconds since 1970.
    pub oldest_s: Option<i64>,
    /// Files that are marked as damaged.
    pub total_damaged: Count,
    /// The first damaged files.
    pub damaged: Vec<Damaged>,
    /// All files, by the age of their verification.
    pub ages: Vec<Age>,
    /// The top directories of the tree.
    pub dirs: Vec<HealthOfDir>,
}

/// A damaged file.
#[derive(Clone, Debug, Serialize)]
pub struct Damaged {
    /// Its path.
    pub path: String,
    /// When the damage was found, in seconds since 1970.
    pub since_s: i64,
}

/// The files whose verification has an age in this range.
#[derive(Clone, Debug, Serialize)]
pub struct Age {
    /// The range, such as `under a month`.
    pub label: &'static str,
    /// Their number.
    pub files: Count,
    /// Their content.
    pub bytes: Count,
}

/// The files below a directory.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HealthOfDir {
    /// The path of the directory.
    pub path: String,
    /// The content of all files below it.
    pub bytes: Count,
    /// The oldest verification of any file that was verified, in seconds since 1970.
    pub oldest_s: Option<i64>,
    /// Files that were never verified since they were recorded.
    pub never_read_files: Count,
    /// Files that are marked as damaged.
    pub damaged_files: Count,
}
