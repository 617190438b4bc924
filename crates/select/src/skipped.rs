//! Counts of skipped entries, by reason.

use std::ops::AddAssign;

/// Counts of selected and skipped entries, by reason. A skipped directory counts as one, however much is
/// below it. Entries below the maximum depth are not counted, because they are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Entries that were selected. Directories given as starting points do not count.
    pub matched: u64,
    /// Regular files that a filter, an exclusion or the minimum depth rejected.
    pub filtered_files: u64,
    /// Other entries that a filter, an exclusion or the minimum depth rejected, and starting directories that
    /// are not listed because the maximum depth is 0.
    pub filtered_others: u64,
    /// Entries skipped because their name begins with a dot.
    pub hidden: u64,
    /// Entries skipped because of ignore files.
    pub ignored: u64,
    /// Directories not entered because they are on another file system.
    pub other_file_systems: u64,
    /// Mount points not entered because they are pseudo file systems, such as proc and sysfs.
    pub pseudo_file_systems: u64,
    /// Directories not entered because they are also above themselves, through a link or a mount. Each is also an error.
    pub loops: u64,
    /// Paths of directories that were entered before under another path. Counted only if all links are
    /// followed.
    pub repeated: u64,
    /// Files that this run writes itself.
    pub own_output: u64,
    /// Directories not entered because of a file that marks them.
    pub marked: u64,
    /// Directories not entered because they are tagged as caches or contain a file of a given name.
    pub tagged: u64,
    /// Starting points that were given before, and directories not entered because they are a starting point
    /// with another name.
    pub covered: u64,
}

impl Skipped {
    /// Returns how many entries were skipped because of options: filters, exclusions, hidden names, ignore
    /// files, tags and depth.
    pub fn by_options(&self) -> u64 {
        self.filtered_files + self.filtered_others + self.hidden + self.ignored + self.tagged
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
        self.marked += other.marked;
        self.tagged += other.tagged;
        self.covered += other.covered;
    }
}
