//! The files of a run as jobs, in the order in which workers claim them.

use std::cmp::Reverse;
use std::iter;

use ftk_file::Stat;
use ftk_inventory::{DirNo, FileNo};
use ftk_sched::{Claims, pick, spread};

use crate::Work;
use crate::rows::{RowMut, Rows, RowsMut};

/// Number of files sorted by inode at once when a cold disk is read. This is enough to turn seeks into a
/// sweep, and sorting takes 5 ms at most.
const WINDOW: usize = 64 << 10;

/// Maximum number of directories that the files of one window come from. A worker keeps them open, so this
/// limits its descriptors.
const WINDOW_DIRS: usize = 256;

/// One file to read, and the row for its digest.
#[derive(Debug)]
pub(crate) struct Job<'r> {
    pub(crate) dir: DirNo,
    pub(crate) file: FileNo,
    pub(crate) row: RowMut<'r>,
}

/// A file too large to be read in a lane next to small files; it is deferred until those are done. Sorted by
/// size, then number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Large {
    pub(crate) size: u64,
    pub(crate) file: FileNo,
    /// The device and inode number.
    pub(crate) identity: (u64, u64),
}

impl Large {
    /// Files larger than this, in bytes, are not read in a lane next to small files: a lane of a wide engine
    /// has a fraction of the speed that the file gets alone.
    pub(crate) const ABOVE: u64 = 1 << 20;
}

impl Job<'_> {
    /// Defers the file. `seen` is what `fstat` returned when the file was opened.
    pub(crate) fn defer(self, seen: &Stat) -> Large {
        self.row.defer();
        Large { size: seen.size, file: self.file, identity: seen.identity() }
    }
}

/// All files of the work with their rows, whatever their state, in the order of the inventory.
#[derive(Debug)]
pub(crate) struct FileJobs<'w, 'r> {
    work: &'w Work<'w>,
    /// The directory of the last file, and the end of its file numbers.
    dir: DirNo,
    end: u32,
    /// The number of the first row in `rows`.
    next: u32,
    rows: RowsMut<'r>,
}

impl<'w, 'r> FileJobs<'w, 'r> {
    pub(crate) fn new(work: &'w Work<'w>, rows: &'r mut Rows) -> Self {
        Self { work, dir: DirNo(0), end: 0, next: 0, rows: rows.all() }
    }
}

impl<'r> Iterator for FileJobs<'_, 'r> {
    type Item = Job<'r>;

    fn next(&mut self) -> Option<Job<'r>> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<Job<'r>> {
        let skipped = n.min(self.rows.len());
        self.rows.skip(skipped);
        self.next += skipped as u32;
        if self.rows.len() == 0 {
            return None;
        }
        let file = self.work.file(self.next);
        if file.0 >= self.end {
            self.dir = self.work.dir_from(self.dir, file);
            self.end = self.work.inventory.files_of(self.dir).end;
        }
        self.next += 1;
        Some(Job { dir: self.dir, file, row: self.rows.take_first() })
    }
}

/// The order in which files are claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Directory by directory, as in the inventory. A claim ends with a directory if possible.
    Directory,
    /// By inode number, within one window of files at a time.
    Inode,
}

/// The files that no worker has claimed yet.
pub(crate) type FileClaims<'c> = Claims<Box<dyn Iterator<Item = Job<'c>> + Send + 'c>>;

/// Makes all pending rows claimable.
pub(crate) fn claims<'c>(
    work: &'c Work<'c>,
    rows: &'c mut Rows,
    workers: usize,
    order: Order,
) -> FileClaims<'c> {
    let left = rows.pending() as usize;
    let pending = FileJobs::new(work, rows).filter(|job| job.row.is_pending());
    claims_of(work, pending, left, workers, order)
}

/// Makes those rows claimable that are pending among `most` rows in `runs` runs, which are spread over the table.
pub(crate) fn some_claims<'c>(
    work: &'c Work<'c>,
    rows: &'c mut Rows,
    most: u32,
    runs: u32,
    workers: usize,
    order: Order,
) -> FileClaims<'c> {
    let mut some = pick(FileJobs::new(work, rows), spread(work.files(), most, runs));
    some.retain(|job| job.row.is_pending());
    let left = some.len();
    claims_of(work, some.into_iter(), left, workers, order)
}

fn claims_of<'c>(
    work: &'c Work<'c>,
    pending: impl Iterator<Item = Job<'c>> + Send + 'c,
    left: usize,
    workers: usize,
    order: Order,
) -> FileClaims<'c> {
    match order {
        Order::Directory => Claims::new(Box::new(pending), left, workers, |last, job| last.dir == job.dir),
        Order::Inode => Claims::new(Box::new(by_inode(work, pending)), left, workers, |_, _| false),
    }
}

/// Sorts the jobs by inode number, one window after another.
fn by_inode<'r>(work: &Work<'_>, jobs: impl Iterator<Item = Job<'r>>) -> impl Iterator<Item = Job<'r>> {
    let mut jobs = jobs.peekable();
    let mut window = Vec::new();
    iter::from_fn(move || {
        if window.is_empty() {
            let (mut dirs, mut last) = (0, None);
            let mut fits = |job: &Job<'_>| {
                dirs += usize::from(last.replace(job.dir) != Some(job.dir));
                dirs <= WINDOW_DIRS
            };
            while window.len() < WINDOW
                && let Some(job) = jobs.next_if(&mut fits)
            {
                window.push(job);
            }
            window.sort_unstable_by_key(|job| Reverse(work.inventory.ino(job.dir, job.file)));
        }
        window.pop()
    })
}

#[cfg(test)]
mod tests {

    use ftk_inventory::{Collect, Inventory, Keep};
    use ftk_sched::pick;
    use ftk_walk::Walker;

    use super::*;
    use crate::rows::State;

    fn inventory(dirs: usize, files: usize) -> (tempfile::TempDir, Inventory) {
        let root = tempfile::tempdir().unwrap();
        for dir in 0..dirs {
            let dir = root.path().join(format!("{dir}"));
            std::fs::create_dir(&dir).unwrap();
            // One directory in three is empty.
            (0..if dir.ends_with("1") { 0 } else { files })
                .for_each(|file| std::fs::write(dir.join(format!("{file}")), "").unwrap());
        }
        let parts = Walker::new([root.path()]).threads(1).run(|worker| Collect::new(worker, Keep::Files));
        (root, Inventory::merge(parts).unwrap())
    }

    #[test]
    fn every_pending_row_is_claimed_once_with_its_directory() {
        let (_root, inventory) = inventory(3, 150);
        let some: Vec<_> = (0..300).filter(|file| file % 7 < 3 || *file > 250).map(FileNo).collect();
        for (workers, order, only) in [
            (1, Order::Directory, None),
            (2, Order::Inode, None),
            (5, Order::Directory, None),
            (1, Order::Directory, Some(&some[..])),
            (2, Order::Inode, Some(&some[..])),
            (2, Order::Inode, Some(&some[some.len() - 1..])),
        ] {
            let platform = ftk_hash::Platform::detect();
            let span = ftk_read::Span::Whole;
            let work = Work {
                inventory: &inventory,
                algorithms: &[],
                platform,
                only,
                span,
                fixed_sizes: false,
                prefix: None,
            };
            let mut rows = Rows::new(work.files(), &[]);
            let done: Vec<_> = [0, 7, 200].into_iter().filter(|row| *row < work.files()).collect();
            let picked = pick(FileJobs::new(&work, &mut rows), done.iter().copied());
            for (job, &row) in picked.into_iter().zip(&done) {
                assert_eq!((job.dir, job.file), (inventory.dir_of(job.file), work.file(row)));
                assert_eq!(work.row(job.file), row);
                job.row.fail(State::Failed);
            }
            let claims = claims(&work, &mut rows, workers, order);
            let (mut claimed, mut queue) = (Vec::new(), Vec::new());
            while claims.claim(&mut queue) {
                while let Some(job) = queue.pop() {
                    assert_eq!(job.dir, inventory.dir_of(job.file));
                    claimed.push(job.file.0);
                    job.row.fail(State::Failed);
                }
            }
            assert_eq!(claims.left(), 0);
            if order == Order::Directory {
                assert!(claimed.is_sorted());
            } else {
                assert!(
                    claimed
                        .iter()
                        .map(|&f| inventory.ino(inventory.dir_of(FileNo(f)), FileNo(f)))
                        .is_sorted()
                );
            }
            claimed.sort_unstable();
            let expected = (0..work.files()).filter(|row| !done.contains(row)).map(|row| work.file(row).0);
            assert!(claimed.iter().copied().eq(expected));
            drop(claims);
            assert_eq!(rows.pending(), 0);
        }
    }
}
