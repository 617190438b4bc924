//! Decides which worker processes which file. Workers claim short runs of rows while they work, so that no
//! worker gets a share that turns out too large.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ftk_inventory::{DirNo, FileNo};
use ftk_read::Stat;

use crate::Work;
use crate::rows::{RowMut, Rows, RowsMut};

/// Maximum number of files in one claim. A claim may have up to twice as many if it then ends with a
/// directory. A claim costs one lock, one reopened directory and one look at the clock. At the end of a run,
/// a worker idles for two claims at most.
const CLAIM: usize = 64;

/// Number of files sorted by inode at once when a cold disk is read. This is enough to turn seeks into a
/// sweep, and sorting takes 5 ms at most.
const WINDOW: usize = 64 << 10;

/// Maximum number of directories that the files of one window come from. A worker keeps them open, so this
/// limits its descriptors.
pub(crate) const WINDOW_DIRS: usize = 256;

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
        Large { size: seen.size, file: self.file, identity: (seen.dev, seen.ino) }
    }
}

/// The order in which files are claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Directory by directory, as in the inventory.
    Directory,
    /// By inode number, within one window of files at a time.
    Inode,
}

/// The files that are not claimed yet.
#[derive(Debug)]
pub(crate) struct FileClaims<'w, 'r> {
    work: &'w Work<'w>,
    workers: usize,
    order: Order,
    rest: Mutex<Rest<'r>>,
}

#[derive(Debug)]
struct Rest<'r> {
    /// The directory of the last row removed from `rows`, and the end of its file numbers.
    dir: DirNo,
    end: u32,
    /// The number of the first row in `rows`.
    next: u32,
    rows: RowsMut<'r>,
    /// Jobs removed from `rows` but not claimed yet, in reverse order.
    window: Vec<Job<'r>>,
}

impl<'w, 'r> FileClaims<'w, 'r> {
    /// Makes all pending rows claimable.
    pub(crate) fn all(work: &'w Work<'w>, rows: &'r mut Rows, workers: usize, order: Order) -> Self {
        let rest = Rest { dir: DirNo(0), end: 0, next: 0, rows: rows.all(), window: Vec::new() };
        Self { work, workers, order, rest: Mutex::new(rest) }
    }

    /// Moves the next claim into `out`, in reverse order. `out` stays empty when no files are left.
    pub(crate) fn claim(&self, out: &mut Vec<Job<'r>>) {
        let mut rest = lock(&self.rest);
        let share = CLAIM.min(rest.left() / (4 * self.workers) + 1);
        if self.order == Order::Inode && rest.window.is_empty() {
            rest.refill_window(self.work);
        }
        if rest.window.is_empty() {
            while out.len() < share || (out.len() < 2 * share && rest.is_inside_dir(self.work)) {
                let Some(job) = rest.next_job(self.work) else { break };
                if job.row.is_pending() {
                    out.push(job);
                }
            }
            out.reverse();
        } else {
            let at = rest.window.len().saturating_sub(share);
            out.extend(rest.window.drain(at..));
        }
    }

    /// Returns the number of files not claimed yet.
    pub(crate) fn left(&self) -> usize {
        lock(&self.rest).left()
    }
}

/// Returns the jobs for these rows, which must be in ascending order.
pub(crate) fn pick<'r>(
    work: &Work<'_>,
    rows: &'r mut Rows,
    wanted: impl IntoIterator<Item = u32>,
) -> Vec<Job<'r>> {
    let mut rows = rows.all();
    let mut next = 0;
    let job = |row: u32| {
        rows.skip((row - next) as usize);
        next = row + 1;
        let file = work.file(row);
        Job { dir: work.inventory.dir_of(file), file, row: rows.take_first() }
    };
    wanted.into_iter().map(job).collect()
}

impl<'r> Rest<'r> {
    fn left(&self) -> usize {
        self.rows.len() + self.window.len()
    }

    /// Removes the next row in directory order, whatever its state.
    fn next_job(&mut self, work: &Work<'_>) -> Option<Job<'r>> {
        if self.rows.len() == 0 {
            return None;
        }
        let file = work.file(self.next);
        if file.0 >= self.end {
            self.dir = work.dir_from(self.dir, file);
            self.end = work.inventory.files_of(self.dir).end;
        }
        self.next += 1;
        Some(Job { dir: self.dir, file, row: self.rows.take_first() })
    }

    /// Whether the next row belongs to a file in the same directory as the last one.
    fn is_inside_dir(&self, work: &Work<'_>) -> bool {
        self.rows.len() > 0 && work.file(self.next).0 < self.end
    }

    fn refill_window(&mut self, work: &Work<'_>) {
        let mut dirs = 1;
        while self.window.len() < WINDOW {
            if !self.is_inside_dir(work) {
                dirs += 1;
            }
            if dirs > WINDOW_DIRS {
                break;
            }
            let Some(job) = self.next_job(work) else { break };
            if job.row.is_pending() {
                self.window.push(job);
            }
        }
        self.window.sort_unstable_by_key(|job| std::cmp::Reverse(work.inventory.ino(job.dir, job.file)));
    }
}

/// Locks a mutex, poisoned or not. Workers hold these locks only for a moment and never while they process a
/// file, so a panic cannot leave half-changed data.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use ftk_inventory::{Collect, Inventory, Keep};
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
        let path = CString::new(root.path().to_str().unwrap()).unwrap();
        let parts = Walker::new([path]).threads(1).run(|worker| Collect::new(worker, Keep::Files));
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
            let work = Work { inventory: &inventory, algorithms: &[], platform, only, span };
            let mut rows = Rows::new(work.files(), &[]);
            let done: Vec<_> = [0, 7, 200].into_iter().filter(|row| *row < work.files()).collect();
            for (job, &row) in pick(&work, &mut rows, done.iter().copied()).into_iter().zip(&done) {
                assert_eq!((job.file, work.row(job.file)), (work.file(row), row));
                job.row.fail(State::Failed);
            }
            let claims = FileClaims::all(&work, &mut rows, workers, order);
            let (mut claimed, mut queue) = (Vec::new(), Vec::new());
            loop {
                claims.claim(&mut queue);
                if queue.is_empty() {
                    break;
                }
                assert!(queue.len() <= 2 * CLAIM);
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
            assert_eq!(rows.pending(), 0);
        }
    }
}
