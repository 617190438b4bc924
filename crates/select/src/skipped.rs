//! What a selection left out, by reason.

use std::ops::AddAssign;

/// How much was left out, by reason. A directory counts as one, however much lies below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Entries that were not left out; starting directories do not count.
    pub matched: u64,
    /// Regular files that a filter rejected.
    pub filtered_files: u64,
    /// Other entries that a filter rejected.
    pub filtered_others: u64,
    /// Entries whose name begins with a dot, where those were to be left out.
    pub hidden: u64,
    /// Entries that ignore files name, where those were to be left out.
    pub ignored: u64,
    /// Mount points not entered because one file system was asked for.
    pub other_file_systems: u64,
    /// Mount points not entered because nothing is stored there: proc, sysfs and their kin.
    pub pseudo_file_systems: u64,
    /// Links not followed because they lead back to a directory on their own path. Each is also an error.
    pub loops: u64,
    /// Paths of directories that were entered under another path already, where links are followed.
    pub repeated: u64,
    /// Files that this run writes itself.
    pub own_output: u64,
    /// Starting points that are the same as one before, and directories not entered because a starting point under
    /// another name is the same.
    pub covered: u64,
}

impl Skipped {
    /// What is left out because of options: filters, exclusions, hidden names, ignore files and depth.
    pub fn by_options(&self) -> u64 {
        self.filtered_files + self.filtered_others + self.hidden + self.ignored
    }
}

impl AddAssign for Skipped {
    fn add_assign(&mut self, other: Self) {
        self.matched += other.matched;
        self.filtered_files += other.filtered_files;
        self.filtered_others += other.filtered_others;
        self.hidden += other.hidden;
        self.ignored += other.ignored;
        self.other_file_systems += other.other_file_systems;
        self.pseudo_file_systems += other.pseudo_file_systems;
        self.loops += other.loops;
        self.repeated += other.repeated;
        self.own_output += other.own_output;
        self.covered += other.covered;
    }
}
