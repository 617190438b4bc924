//! One worker's half of the comparison: its open directories, its buffers, and what it has found.

use std::os::fd::AsFd;
use std::sync::atomic::AtomicU64;

use ftk_inventory::{DirNo, FileNo, Opener};
use ftk_read::{Failure, File};
use ftk_sched::Stop;
use rustix::fs::{AtFlags, statat};

use super::facts::Facts;
use super::pairs::{Failed, Pair, PairState};
use super::{TreeCriteria, Trees, WalkedTree, large};
use crate::input::{Cursor, Input as _};
use crate::{FileResources, Side, first_difference, is_trusted};

/// Bytes of each file that are compared at a time: two buffers of this length fit the second-level cache.
const BUF: usize = 128 << 10;

/// A pair of larger files is put off when it is opened, so that nobody is left with several of them in the end: before,
/// nobody knows its size. Then it is worth being mapped.
pub(crate) const SMALL: u64 = 1 << 20;

/// Lives on the thread that it was made on.
#[derive(Debug)]
pub(crate) struct Worker<'t> {
    a: Half<'t>,
    b: Half<'t>,
    rules: TreeCriteria,
    memory: u64,
    stop: &'t Stop,
    /// Bytes read from both trees.
    pub(crate) bytes: u64,
    pub(crate) failed: Vec<Failed>,
}

/// What it has of one tree.
#[derive(Debug)]
struct Half<'t> {
    side: Side,
    tree: WalkedTree<'t>,
    opener: Opener<'t>,
    /// The directory of the file opened last: mostly that of the next one.
    dir: DirNo,
    buf: Vec<u8>,
}

impl<'t> Worker<'t> {
    /// Nothing is open yet. Two files may take so many bytes of memory to be mapped.
    pub(crate) fn new(trees: &Trees<'t>, memory: u64, stop: &'t Stop) -> Self {
        let half = |side, tree: WalkedTree<'t>| Half {
            side,
            tree,
            opener: Opener::new(tree.inventory),
            dir: DirNo(0),
            buf: vec![0; BUF],
        };
        let (a, b) = (half(Side::A, trees.a), half(Side::B, trees.b));
        Self { a, b, rules: trees.rules, memory, stop, bytes: 0, failed: Vec::new() }
    }

    /// Compares a pair of the plan, whose place in it is `nth`, unless that is done or it has more than `most` bytes, of
    /// which a note is made. Says whether it was compared.
    pub(crate) fn compare(&mut self, nth: usize, pair: &mut Pair, most: u64) -> bool {
        if !pair.is_pending(most) {
            return false;
        }
        let found = self.with(pair, |worker, a, b| match a.stat().size.max(b.stat().size) {
            size if size > most => Ok(PairState::Pending(size)),
            size if size > SMALL => worker.map(a, b),
            _ => worker.read(a, b),
        });
        self.settle(nth, pair, found);
        pair.pending().is_none()
    }

    /// What is found of a pair by `read`, which is called with both files open if that has to be.
    pub(crate) fn with(
        &mut self,
        pair: &Pair,
        read: impl FnOnce(&mut Self, &File, &File) -> Result<PairState, (Side, Failure)>,
    ) -> Result<PairState, (Side, Failure)> {
        let (a, b) = match self.open(pair) {
            Ok(files) => files,
            // Who may not read a file may still know its size.
            Err(failed) => return self.tell_closed(pair).ok_or(failed),
        };
        let facts = (a.stat().into(), b.stat().into());
        if let Some(verdict) = tell(facts.0, facts.1, self.rules, &a) {
            return Ok(verdict);
        }
        Ok(match read(self, &a, &b)? {
            // The sizes were not believed.
            PairState::Differs(_)
                if a.stat().size != b.stat().size && is_size_true(&a) && is_size_true(&b) =>
            {
                PairState::Sizes(a.stat().size, b.stat().size)
            }
            verdict => verdict,
        })
    }

    fn tell_closed(&mut self, pair: &Pair) -> Option<PairState> {
        let (a, b) = (self.a.ask(pair.a)?, self.b.ask(pair.b)?);
        let dir = self.a.dir_of(pair.a);
        tell(a, b, self.rules, self.a.opener.open(dir).ok()?)
    }

    /// Both files of a pair, opened.
    fn open(&mut self, pair: &Pair) -> Result<(File, File), (Side, Failure)> {
        Ok((self.a.open(pair.a)?, self.b.open(pair.b)?))
    }

    /// Writes down what was found.
    pub(crate) fn settle(&mut self, nth: usize, pair: &mut Pair, found: Result<PairState, (Side, Failure)>) {
        pair.verdict = found.unwrap_or_else(|(side, failure)| {
            self.failed.push(Failed { pair: nth, side, failure });
            PairState::Failed
        });
    }

    /// As `read`, for files that are not small.
    fn map(&mut self, a: &File, b: &File) -> Result<PairState, (Side, Failure)> {
        let done = AtomicU64::new(0);
        let env = FileResources { workers: 1, memory: self.memory, stop: self.stop, done: &done };
        let found = large::compare(a, b, self.rules, &env);
        self.bytes += 2 * done.into_inner();
        found
    }

    /// Where the files differ first. Once stopped, nothing is known.
    fn read(&mut self, a: &File, b: &File) -> Result<PairState, (Side, Failure)> {
        let (mut in_a, mut in_b) = (Cursor::new(a, 0), Cursor::new(b, 0));
        let (a, b) = (&mut self.a.buf[..], &mut self.b.buf[..]);
        let mut at = 0;
        let mut verdict = PairState::UNKNOWN;
        while verdict == PairState::UNKNOWN && !self.stop.is_raised() {
            let len_a = in_a.fill(a).map_err(|failure| (Side::A, failure))?;
            let len_b = in_b.fill(b).map_err(|failure| (Side::B, failure))?;
            self.bytes += (len_a + len_b) as u64;
            let common = len_a.min(len_b);
            verdict = match first_difference(&a[..common], &b[..common]) {
                Some(differs) => PairState::Differs(at + differs as u64),
                None if len_a != len_b => PairState::Differs(at + common as u64),
                // Fewer than there was room for are the end of both.
                None if common < BUF => PairState::Equal,
                None => PairState::UNKNOWN,
            };
            at += common as u64;
        }
        in_a.verify(0).map_err(|failure| (Side::A, failure))?;
        in_b.verify(0).map_err(|failure| (Side::B, failure))?;
        Ok(verdict)
    }
}

/// Whether a file ends where its size says, which is found out by reading there.
fn is_size_true(file: &File) -> bool {
    let size = file.stat().size;
    let has_byte = |at| file.read_at(&mut [0], at).ok().map(|read| read > 0);
    has_byte(size) == Some(false) && size.checked_sub(1).is_none_or(|last| has_byte(last) == Some(true))
}

impl Half<'_> {
    fn open(&mut self, file: FileNo) -> Result<File, (Side, Failure)> {
        let inventory = self.tree.inventory;
        let dir = self.dir_of(file);
        let opened = match self.opener.open(dir) {
            Ok(at) => File::open(&at, inventory.name(dir, file), inventory.via_link(dir, file)),
            Err(source) => Err(Failure::Io { op: "open", source }),
        };
        opened.map_err(|failure| (self.side, failure))
    }

    /// What is known of a regular file without opening it.
    fn ask(&mut self, file: FileNo) -> Option<Facts> {
        let inventory = self.tree.inventory;
        let dir = self.dir_of(file);
        let link = if inventory.via_link(dir, file) { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        let stat = statat(self.opener.open(dir).ok()?, inventory.name(dir, file), link).ok()?;
        rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file().then(|| (&stat).into())
    }

    fn dir_of(&mut self, file: FileNo) -> DirNo {
        let inventory = self.tree.inventory;
        if !inventory.files_of(self.dir).contains(&file.0) {
            self.dir = inventory.dir_of(file);
        }
        self.dir
    }
}

/// What is known of two files without a look at their bytes; `beside` is a descriptor on the file system of the first.
fn tell(a: Facts, b: Facts, rules: TreeCriteria, beside: impl AsFd) -> Option<PairState> {
    if !rules.no_shortcuts && a.has_identity_of(b) && is_trusted(beside) {
        return Some(PairState::OneFile);
    }
    Facts::sizes(a, b, false).map(|(a, b)| PairState::Sizes(a, b))
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    use ftk_inventory::{Collect, Inventory, Keep};
    use ftk_walk::Walker;

    use super::*;

    fn walk(root: &Path) -> Inventory {
        let root = CString::new(root.as_os_str().as_bytes()).unwrap();
        let collect = |worker| Collect::new(worker, Keep::Stats { files: true });
        Inventory::merge(Walker::new([root]).threads(1).run(collect)).unwrap()
    }

    /// What is found of two files, opened, and then changed by `change`, which is given the directory of both trees.
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
        let trees = Trees { a: tree(&a, 0), b: tree(&b, 1), rules: TreeCriteria::default() };
        let stop = Stop::new();
        let mut worker = Worker::new(&trees, 1 << 30, &stop);
        let (a, b) = worker.open(&Pair::new(FileNo(0), FileNo(0)))?;
        change(dir.path());
        worker.read(&a, &b)
    }

    #[test]
    fn the_first_byte_that_differs_round_the_borders_of_buffers() {
        for len in [0, 1, BUF - 1, BUF, BUF + 1, 2 * BUF, 2 * BUF + 1] {
            let bytes = vec![7; len];
            assert_eq!(read(&bytes, &bytes, |_| {}).unwrap(), PairState::Equal, "{len}");
            for at in [0, len / 2, BUF - 1, BUF, len.wrapping_sub(1)].into_iter().filter(|at| *at < len) {
                let mut other = bytes.clone();
                other[at] = 8;
                let differs = PairState::Differs(at as u64);
                assert_eq!(read(&bytes, &other, |_| {}).unwrap(), differs, "{at} of {len}");
                // Where one ends, the other differs.
                assert_eq!(read(&bytes, &bytes[..at], |_| {}).unwrap(), differs, "{at} of {len}");
                assert_eq!(read(&bytes[..at], &bytes, |_| {}).unwrap(), differs, "{at} of {len}");
            }
        }
    }

    #[test]
    fn a_file_that_changes_is_equal_to_nothing() {
        for (side, name) in [(Side::A, "a/x"), (Side::B, "b/x")] {
            for content in ["same", "", "same and more"] {
                let found = read(b"same", b"same", |dir| {
                    sleep(Duration::from_millis(20)); // more than a tick of the clock of files
                    fs::write(dir.join(name), content).unwrap();
                });
                assert!(matches!(&found, Err((of, Failure::Changed { .. })) if *of == side), "{found:?}");
            }
        }
    }
}
