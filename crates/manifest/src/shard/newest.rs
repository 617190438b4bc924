//! The directories of a walk that changed last.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ftk_walk::Directory;

use crate::entry::{ROOT, key};

/// The most directories that a part names.
const MOST: usize = 10_000;
/// The most bytes of their paths: a line of a manifest has at most 64 MiB, and a byte may be written as six.
const MOST_BYTES: usize = 4 << 20;

/// The directories that changed last, with their mtime.
#[derive(Debug, Default)]
pub(super) struct Newest {
    /// The oldest is on top.
    heap: BinaryHeap<Reverse<(i128, Vec<u8>)>>,
    bytes: usize,
    /// The latest mtime of those that do not fit.
    dropped_ns: Option<i128>,
}

impl Newest {
    /// Adds a directory, whose path is only made if it is among the newest.
    pub(super) fn add(&mut self, mtime_ns: i128, path: impl FnOnce() -> Vec<u8>) {
        if self.dropped_ns.is_some() || self.heap.len() == MOST {
            let oldest = self.heap.peek().map(|Reverse((oldest, _))| *oldest).or(self.dropped_ns);
            if oldest.is_some_and(|oldest| mtime_ns <= oldest) {
                return self.drop_one(mtime_ns);
            }
        }
        let path = path();
        self.bytes += path.len();
        self.heap.push(Reverse((mtime_ns, path)));
        while self.heap.len() > MOST || self.bytes > MOST_BYTES {
            let Reverse((oldest, path)) = self.heap.pop().expect("it has bytes");
            self.bytes -= path.len();
            self.drop_one(oldest);
        }
    }

    fn drop_one(&mut self, mtime_ns: i128) {
        self.dropped_ns = self.dropped_ns.max(Some(mtime_ns));
    }

    /// Adds those that another worker found.
    pub(super) fn merge(&mut self, other: Self) {
        other.dropped_ns.into_iter().for_each(|mtime_ns| self.drop_one(mtime_ns));
        other.heap.into_iter().for_each(|Reverse((mtime_ns, path))| self.add(mtime_ns, || path));
    }

    /// Returns them in the order of a manifest, each once, and the time since which all that changed are among them.
    pub(super) fn finish(self) -> (Vec<(Vec<u8>, i128)>, Option<i128>) {
        let since_ns = self.dropped_ns.map_or(0, |dropped_ns| dropped_ns.saturating_add(1));
        let mut dirs: Vec<_> =
            self.heap.into_iter().map(|Reverse((mtime_ns, path))| (path, mtime_ns)).collect();
        // Several workers may have shared a directory.
        dirs.sort_unstable_by(|(a, earlier), (b, later)| (key(a), later).cmp(&(key(b), earlier)));
        dirs.dedup_by(|(later, _), (first, _)| later == first);
        (dirs, Some(since_ns))
    }
}

/// Returns the path of a directory below the starting point of its walk.
pub(super) fn below_root(dir: &Directory<'_>) -> Vec<u8> {
    let Some(last) = dir.depth().checked_sub(1) else { return ROOT.to_vec() };
    let mut path = Vec::new();
    dir.push_path(&mut path);
    let start = memchr::memrchr_iter(b'/', &path).nth(last as usize).map_or(0, |slash| slash + 1);
    path.split_off(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(dirs: impl IntoIterator<Item = (String, i128)>) -> Newest {
        let mut newest = Newest::default();
        dirs.into_iter().for_each(|(path, mtime_ns)| newest.add(mtime_ns, || path.into_bytes()));
        newest
    }

    #[test]
    fn few_directories_are_all_there_in_order() {
        let mut one = of([("b".to_owned(), 5), (".".to_owned(), 9), ("a/x".to_owned(), 7)]);
        one.merge(of([("a".to_owned(), 3), ("b".to_owned(), 6)]));
        let expected = [(".", 9), ("a", 3), ("a/x", 7), ("b", 6)];
        assert_eq!(one.finish(), (expected.map(|(path, ns)| (path.into(), ns)).to_vec(), Some(0)));
    }

    #[test]
    fn the_newest_of_many_are_there() {
        let number = |nth: i128| (format!("{nth:05}"), nth * 7919 % 30_011);
        let workers = 3;
        let mut all = Newest::default();
        for worker in 0..workers {
            all.merge(of((1..30_011).filter(|nth| nth % workers == worker).map(number)));
        }
        let (dirs, since_ns) = all.finish();
        assert_eq!((dirs.len(), since_ns), (MOST, Some(20_011)));
        assert!(dirs.iter().all(|(_, mtime_ns)| *mtime_ns >= 20_011));
        assert!(dirs.is_sorted());
    }

    #[test]
    fn long_paths_have_a_limit() {
        let path = |nth: i128| (format!("{nth}{}", "x".repeat(4000)), nth);
        let (dirs, since_ns) = of((1..=2_000).map(path)).finish();
        assert!(dirs.len() < 1_100 && since_ns == Some(2_001 - dirs.len() as i128), "{}", dirs.len());
        let (dirs, since_ns) = of([("x".repeat(MOST_BYTES + 1), 1), ("y".into(), 2)]).finish();
        assert_eq!((dirs, since_ns), (vec![(b"y".to_vec(), 2)], Some(2)));
    }
}
