//! One worker of the comparison: its open directories, its buffers, and its failures.

use std::os::fd::AsFd;
use std::sync::atomic::AtomicU64;

use ftk_file::{AlignedBuf, Cursor, Failure, File, Stat, is_remote, is_trusted};
use ftk_inventory::{DirFd, DirNo, FileNo, Opener};
use ftk_sched::{Run, Stop, Storage, WorkerCounters};

use super::classify::sizes;
use super::pairs::{Failed, Pair, PairState};
use super::{TreeCriteria, Trees, WalkedTree, large};
use crate::{FileResources, Side, first_difference};

/// Bytes of each file compared at a time: two buffers of this size fit into the second-level cache.
const BUF: usize = 128 << 10;

/// Pairs of larger files are deferred when they are opened, because their size is not known before. Otherwise
/// one worker might be left with several of them at the end. Files of more than this size are worth mapping.
pub(crate) const SMALL: u64 = 1 << 20;

/// A worker. It must stay on the thread that created it.
#[derive(Debug)]
pub(crate) struct Worker<'t> {
    a: TreeView<'t>,
    b: TreeView<'t>,
    criteria: TreeCriteria,
    memory: u64,
    stop: &'t Stop,
    done: &'t WorkerCounters,
    pub(crate) failed: Vec<Failed>,
}

/// One tree as seen by one worker.
#[derive(Debug)]
struct TreeView<'t> {
    side: Side,
    tree: WalkedTree<'t>,
    opener: Opener<'t>,
    /// The directory of the last file. The next file is mostly in the same one.
    dir: DirNo,
    buf: AlignedBuf,
}

impl<'t> Worker<'t> {
    /// Creates worker number `nth` of the run, with no open directories. Two files may be mapped if they have
    /// at most `memory` bytes together.
    pub(crate) fn new(trees: &Trees<'t>, memory: u64, run: &Run<'t>, nth: usize) -> Self {
        let view = |side, tree: WalkedTree<'t>| TreeView {
            side,
            tree,
            opener: Opener::new(tree.inventory),
            dir: DirNo(0),
            buf: AlignedBuf::new(BUF),
        };
        let (a, b) = (view(Side::A, trees.a), view(Side::B, trees.b));
        let (stop, done) = (run.stop, run.counters.of(nth));
        Self { a, b, criteria: trees.criteria, memory, stop, done, failed: Vec::new() }
    }

    /// Compares pair number `nth`, unless it is done or larger than `max` bytes. In the latter case its size
    /// is recorded.
    pub(crate) fn compare(&mut self, nth: usize, pair: &mut Pair, max: u64) {
        if !pair.is_pending(max) {
            return;
        }
        let found = self.with(pair, |worker, a, b| match a.stat().size.max(b.stat().size) {
            size if size > max => Ok(PairState::Pending(size)),
            size if size > SMALL => worker.map(a, b),
            _ => worker.read(a, b),
        });
        self.settle(nth, pair, found);
    }

    /// Determines the result for a pair. Calls `read` with both files open if they must be read.
    pub(crate) fn with(
        &mut self,
        pair: &Pair,
        read: impl FnOnce(&mut Self, &File, &File) -> Result<PairState, (Side, Failure)>,
    ) -> Result<PairState, (Side, Failure)> {
        let (a, b) = match self.open(pair) {
            Ok(files) => files,
            // Files that may not be read may still have known sizes.
            Err(failed) => return self.compare_unopened(pair).ok_or(failed),
        };
        if let Some(state) = compare_unread(a.stat(), b.stat(), self.criteria, &a) {
            return Ok(state);
        }
        Ok(match read(self, &a, &b)? {
            // The sizes were not trusted before, but reading has confirmed them.
            PairState::Differs(_)
                if a.stat().size != b.stat().size && is_size_correct(&a) && is_size_correct(&b) =>
            {
                PairState::Sizes(a.stat().size, b.stat().size)
            }
            state => state,
        })
    }

    fn compare_unopened(&mut self, pair: &Pair) -> Option<PairState> {
        let (a, b) = (self.a.stat(pair.a)?, self.b.stat(pair.b)?);
        let dir = self.a.dir_of(pair.a);
        compare_unread(&a, &b, self.criteria, self.a.opener.open(dir).ok()?)
    }

    /// Opens both files of a pair.
    fn open(&mut self, pair: &Pair) -> Result<(File, File), (Side, Failure)> {
        Ok((self.a.open(pair.a)?, self.b.open(pair.b)?))
    }

    /// Whether both files of the last pair are on this kind of file system.
    pub(crate) fn is_on(&mut self, storage: Storage) -> bool {
        let is: fn(DirFd) -> bool = match storage {
            Storage::Counted => is_trusted,
            Storage::Remote => is_remote,
        };
        [&mut self.a, &mut self.b].into_iter().all(|tree| tree.opener.open(tree.dir).is_ok_and(is))
    }

    /// Stores the result of a pair, and counts the pair if it is done.
    pub(crate) fn settle(&mut self, nth: usize, pair: &mut Pair, found: Result<PairState, (Side, Failure)>) {
        pair.state = found.unwrap_or_else(|(side, failure)| {
            self.failed.push(Failed { pair: nth, side, failure });
            PairState::Failed
        });
        if pair.pending().is_none() {
            self.done.add_file(false);
        }
    }

    /// Does the same as `read`, for files that are not small.
    fn map(&mut self, a: &File, b: &File) -> Result<PairState, (Side, Failure)> {
        let done = AtomicU64::new(0);
        let resources = FileResources { workers: 1, memory: self.memory, stop: self.stop, done: &done };
        let found = large::compare(a, b, self.criteria, &resources);
        self.done.add_bytes(done.into_inner() as usize, false);
        found
    }

    /// Finds the first difference of two files. Once the run is stopped, the result is unknown.
    fn read(&mut self, a: &File, b: &File) -> Result<PairState, (Side, Failure)> {
        let (mut in_a, mut in_b) = (Cursor::new(a, 0), Cursor::new(b, 0));
        let (a, b) = (&mut self.a.buf[..], &mut self.b.buf[..]);
        let mut at = 0;
        let mut state = PairState::UNKNOWN;
        while state == PairState::UNKNOWN && !self.stop.is_raised() {
            let len_a = in_a.fill(a).map_err(Side::A.failed())?;
            let len_b = in_b.fill(b).map_err(Side::B.failed())?;
            self.done.add_bytes(len_a + len_b, false);
            let common = len_a.min(len_b);
            state = match first_difference(&a[..common], &b[..common]) {
                Some(differs) => PairState::Differs(at + differs as u64),
                None if len_a != len_b => PairState::Differs(at + common as u64),
                // A buffer that is not full means that both files have ended.
                None if common < BUF => PairState::Equal,
                None => PairState::UNKNOWN,
            };
            at += common as u64;
        }
        in_a.verify().map_err(Side::A.failed())?;
        in_b.verify().map_err(Side::B.failed())?;
        Ok(state)
    }
}

/// Whether the file ends where its size says. This is checked by reading there.
fn is_size_correct(file: &File) -> bool {
    let size = file.stat().size;
    let has_byte = |at| file.read_at(&mut [0], at).ok().map(|read| read > 0);
    has_byte(size) == Some(false) && size.checked_sub(1).is_none_or(|last| has_byte(last) == Some(true))
}

impl TreeView<'_> {
    fn open(&mut self, file: FileNo) -> Result<File, (Side, Failure)> {
        let dir = self.dir_of(file);
        self.opener.open_file(dir, file).map_err(self.side.failed())
    }

    /// Returns the metadata of a regular file without opening it.
    fn stat(&mut self, file: FileNo) -> Option<Stat> {
        let dir = self.dir_of(file);
        self.opener.stat_file(dir, file).ok().filter(Stat::is_regular)
    }

    fn dir_of(&mut self, file: FileNo) -> DirNo {
        let inventory = self.tree.inventory;
        if !inventory.files_of(self.dir).contains(&file.0) {
            self.dir = inventory.dir_of(file);
        }
        self.dir
    }
}

/// Compares two files without reading them. `on_a` is a descriptor on the file system of the first file.
fn compare_unread(a: &Stat, b: &Stat, criteria: TreeCriteria, on_a: impl AsFd) -> Option<PairState> {
    if !criteria.no_shortcuts && a.identity() == b.identity() && is_trusted(on_a) {
        return Some(PairState::OneFile);
    }
    sizes(a, b, false).map(|(a, b)| PairState::Sizes(a, b))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    use ftk_inventory::{Collect, Inventory, Keep};
    use ftk_sched::{Constants, Counters, Limits, Model, Threads};
    use ftk_walk::Walker;

    use super::*;

    fn walk(root: &Path) -> Inventory {
        let collect = |worker| Collect::new(worker, Keep::Stats { files: true });
        Inventory::merge(Walker::new([root]).threads(1).run(collect)).unwrap()
    }

    /// Compares two files that were opened and then changed by `change`. The argument of `change` is the
    /// directory that contains both trees.
    fn read(a: &[u8], b: &[u8], change: impl FnOnce(&Path)) -> Result<PairState, (Side, Failure)> {
        let dir = tempfile::tempdir().unwrap();
        for (tree, bytes) in [("a", a), ("b", b)] {
            fs::create_dir(dir.path().join(tree)).unwrap();
            fs::write(dir.path().join(tree).join("x"), bytes).unwrap();
        }
        let roots = ["a", "b"].map(|tree| dir.path().join(tree));
        let [a, b] = roots.each_ref().map(|root| walk(root));
        let tree = |inventory, nth: usize| WalkedTree {
            inventory,
            root: roots[nth].as_os_str().as_bytes(),
            failed: &[],
        };
        let trees = Trees { a: tree(&a, 0), b: tree(&b, 1), criteria: TreeCriteria::default() };
        let (model, stop, counters) = (Model::new(Constants::default()), Stop::new(), Counters::default());
        let limits = Limits { threads: Threads::Auto, backend: None, ring: false, cpus: 0 };
        let run = Run { model: &model, limits, stop: &stop, counters: &counters };
        let mut worker = Worker::new(&trees, 1 << 30, &run, 0);
        let (a, b) = worker.open(&Pair::new(FileNo(0), FileNo(0)))?;
        change(dir.path());
        worker.read(&a, &b)
    }

    #[test]
    fn the_first_difference_is_found_near_buffer_boundaries() {
        for len in [0, 1, BUF - 1, BUF, BUF + 1, 2 * BUF, 2 * BUF + 1] {
            let bytes = vec![7; len];
            assert_eq!(read(&bytes, &bytes, |_| {}).unwrap(), PairState::Equal, "{len}");
            for at in [0, len / 2, BUF - 1, BUF, len.wrapping_sub(1)].into_iter().filter(|at| *at < len) {
                let mut other = bytes.clone();
                other[at] = 8;
                let differs = PairState::Differs(at as u64);
                assert_eq!(read(&bytes, &other, |_| {}).unwrap(), differs, "{at} of {len}");
                // If one file ends early, it differs from there on.
                assert_eq!(read(&bytes, &bytes[..at], |_| {}).unwrap(), differs, "{at} of {len}");
                assert_eq!(read(&bytes[..at], &bytes, |_| {}).unwrap(), differs, "{at} of {len}");
            }
        }
    }

    #[test]
    fn a_file_that_changes_is_an_error_with_its_side() {
        for (side, name) in [(Side::A, "a/x"), (Side::B, "b/x")] {
            for content in ["same", "", "same and more"] {
                let found = read(b"same", b"same", |dir| {
                    sleep(Duration::from_millis(20)); // more than one tick of file timestamps
                    fs::write(dir.join(name), content).unwrap();
                });
                assert!(matches!(&found, Err((of, Failure::Changed { .. })) if *of == side), "{found:?}");
            }
        }
    }
}
