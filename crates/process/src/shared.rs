//! Hashes huge files with all workers, if the digest is a tree: BLAKE3.
//!
//! The windows of all files form one list, in which workers claim one after the other. So no worker waits at the end
//! of a file, except at that of the last one. The worker that finishes the last window of a file computes its digest.
#![expect(unsafe_code, reason = "workers leave the shared descriptor table, and read mapped files")]

use std::mem;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ftk_file::{AlignedBuf, Birth, Failure, File, Holes, KnownRange, Stat, now_ns};
use ftk_hash::{ChainingValue, Windows};
use ftk_inventory::{DirNo, Opener};
use ftk_read::{Map, SyncReader, WriteBack, WrittenBack, leave_shared_descriptors};
use ftk_sched::{Stop, Team, lock};

use crate::claims::{Job, Large};
use crate::driver::Failed;
use crate::rows::State;
use crate::run::Context;

/// Hashes deferred files, in this order. Workers share no descriptors, so each opens the files of its windows itself,
/// and finally checks that the file it read did not change. Returns the files that failed.
pub(crate) fn process(context: &Context<'_>, workers: usize, jobs: Vec<(Large, Job<'_>)>) -> Vec<Failed> {
    let (n, mut windows) = (jobs.len(), 0);
    let files = jobs.into_iter().enumerate().map(|(nth, (large, job))| {
        // Larger windows are faster, and only at the end of the last file do workers wait for each other.
        let tree = Windows::new(large.size, if nth + 1 == n { workers } else { 1 });
        let tree = tree.expect("only files of several windows are shared");
        let first = windows;
        windows += tree.windows();
        SharedFile::new(context, large, job, tree, first)
    });
    let files: Vec<_> = files.collect();
    let next = AtomicUsize::new(0);
    let failed = Team::new(workers).run(context.resources.stop, |worker| {
        if worker > 0 {
            // SAFETY: this is the first call on a new thread. `read` opens a file and closes it again, and the
            // results (values and failures) hold no descriptor.
            unsafe { leave_shared_descriptors() };
        }
        let mut claims = Claims { next: &next, claimed: None };
        let mut failed = Vec::new();
        while !context.resources.stop.is_raised() {
            let nth = claims.peek();
            if nth >= windows {
                break;
            }
            let file = &files[files.partition_point(|file| file.first <= nth) - 1];
            failed.extend(file.claim(context, worker, &mut claims));
        }
        failed
    });
    failed.into_iter().flatten().collect()
}

/// One worker's claims in the list of all windows.
struct Claims<'c> {
    next: &'c AtomicUsize,
    /// A window that was claimed but not started.
    claimed: Option<usize>,
}

impl Claims<'_> {
    /// Returns the number of the next window, which is claimed.
    fn peek(&mut self) -> usize {
        // Relaxed: the counter only hands out numbers.
        *self.claimed.get_or_insert_with(|| self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Starts the next window if its number is below `end`.
    fn start_below(&mut self, end: usize) -> Option<usize> {
        let nth = self.peek();
        self.claimed.take_if(|_| nth < end)
    }
}

/// A file whose windows several workers read.
struct SharedFile<'r> {
    large: Large,
    dir: DirNo,
    birth: Birth,
    write_back: WriteBack,
    tree: Windows,
    /// The number of its first window in the list of all.
    first: usize,
    /// Raised by the first worker that fails, so that no worker reads the rest.
    failed: Stop,
    progress: Mutex<Progress<'r>>,
}

/// What is done of a file.
struct Progress<'r> {
    /// Removed by the worker that ends the file.
    job: Option<Job<'r>>,
    /// The number of windows that are not done.
    left: usize,
    parts: Vec<Result<Part, Failure>>,
}

/// One worker's result: the file's metadata as it saw it, and the values of the windows it claimed.
struct Part {
    stat: Stat,
    /// When it opened the file.
    read_ns: i128,
    is_written_back: bool,
    values: Vec<(usize, ChainingValue)>,
}

/// The results of all workers.
struct Whole {
    stat: Stat,
    read_ns: i128,
    is_written_back: bool,
    values: Vec<ChainingValue>,
}

impl<'r> SharedFile<'r> {
    fn new(context: &Context<'_>, large: Large, job: Job<'r>, tree: Windows, first: usize) -> Self {
        let (dir, birth, write_back) = (job.dir, job.row.birth(), context.write_back(&job));
        let progress = Progress { job: Some(job), left: tree.windows(), parts: Vec::new() };
        let (failed, progress) = (Stop::new(), Mutex::new(progress));
        Self { large, dir, birth, write_back, tree, first, failed, progress }
    }

    /// Claims and hashes windows until all are claimed, and ends the file if the last of them is done. Returns the file
    /// if it failed. If the run is stopped, the file stays pending.
    fn claim(&self, context: &Context<'_>, worker: usize, claims: &mut Claims<'_>) -> Option<Failed> {
        let end = self.first + self.tree.windows();
        let mut n_done = 0;
        let part = self.read(context, worker, || {
            let nth = claims.start_below(end)?;
            n_done += 1;
            Some(nth - self.first)
        });
        if part.is_err() {
            self.failed.raise();
        }
        if self.failed.is_raised() {
            // No worker has to read the rest.
            while claims.start_below(end).is_some() {
                n_done += 1;
            }
        }
        let mut progress = lock(&self.progress);
        progress.parts.push(part);
        progress.left -= n_done;
        if progress.left > 0 {
            return None;
        }
        let job = progress.job.take().expect("only one worker does the last window");
        let parts = mem::take(&mut progress.parts);
        drop(progress);
        let failed = self.end(context, job, parts);
        context.counters.of(worker).add_file(true);
        failed
    }

    /// Fills the row.
    fn end(&self, context: &Context<'_>, job: Job<'r>, parts: Vec<Result<Part, Failure>>) -> Option<Failed> {
        let parts = parts.into_iter().collect::<Result<Vec<_>, _>>();
        match parts.and_then(|parts| join(&self.tree, self.large, &parts)) {
            Ok(Whole { values, stat, read_ns, is_written_back }) => {
                let root = self.tree.root(&values);
                if let Some(reuse) = context.reuse.filter(|_| is_written_back) {
                    reuse.note(&stat, read_ns, root.as_bytes());
                }
                job.row.ok(root.as_bytes(), &stat);
                None
            }
            Err(failure) => {
                let file = job.file;
                job.row.fail(State::of(&failure));
                Some(Failed { file, failure })
            }
        }
    }

    /// Opens the file and hashes the windows that `next` returns.
    fn read(
        &self,
        context: &Context<'_>,
        worker: usize,
        mut next: impl FnMut() -> Option<usize>,
    ) -> Result<Part, Failure> {
        let read_ns = now_ns();
        // This examines the file again, because all other files may have been processed since it was first opened.
        let mut opener = Opener::new(context.work.inventory);
        let file = opener.open_file_with(self.dir, self.large.file, self.birth)?;
        file.expect_pieces();
        let is_written_back = self.write_back.apply(&file) != WrittenBack::Unknown;
        let mut part = Part { stat: *file.stat(), read_ns, is_written_back, values: Vec::new() };
        if !is_still(&part.stat, self.large) {
            // `join` reports this as a change.
            self.failed.raise();
            return Ok(part);
        }
        let mut window = Window::new(&file);
        if is_written_back && !part.stat.version().is_written_back() {
            // On XFS, only reads wait for a write that is in progress.
            window.do_not_map();
        }
        while !context.resources.stop.is_raised() && !self.failed.is_raised() {
            let Some(nth) = next() else { break };
            let mut subtree = self.tree.subtree(nth);
            let before = window.bytes;
            window.read(self.tree.window(nth), |bytes| subtree.update(bytes))?;
            context.counters.of(worker).add_bytes((window.bytes - before) as usize, true);
            context.show();
            part.values.push((nth, subtree.finalize()));
        }
        // The other workers read the file at the same time.
        file.verify_always(window.bytes)?;
        Ok(part)
    }
}

/// Reads a worker's windows of the file. They are mapped, which avoids a copy, or read into a buffer if
/// mapping fails. Holes are neither mapped nor read.
struct Window<'f> {
    file: &'f File,
    holes: Holes,
    /// The bytes of holes; empty before the first hole. They are never written to, so that they take no memory.
    zeros: Vec<u8>,
    /// Empty as long as mapping works.
    buf: AlignedBuf,
    bytes: u64,
}

impl<'f> Window<'f> {
    fn new(file: &'f File) -> Self {
        Self { file, holes: Holes::new(file, true), zeros: Vec::new(), buf: AlignedBuf::default(), bytes: 0 }
    }

    /// Passes all bytes of `window` to `consume`, in order. They may change while it reads them: see
    /// [`Map::bytes`].
    fn read(&mut self, window: Range<u64>, mut consume: impl FnMut(&[u8])) -> Result<(), Failure> {
        let mut at = window.start;
        while at < window.end {
            let KnownRange { holds, end } = self.holes.at(self.file, at);
            let part = at..end.min(window.end);
            at = part.end;
            if holds { self.zeros(part, &mut consume) } else { self.data(part, &mut consume)? }
        }
        Ok(())
    }

    fn zeros(&mut self, hole: Range<u64>, consume: &mut impl FnMut(&[u8])) {
        if self.zeros.is_empty() {
            self.zeros = vec![0; SyncReader::STREAM_BUF_LEN];
        }
        for start in hole.clone().step_by(self.zeros.len()) {
            let len = self.zeros.len().min((hole.end - start) as usize);
            consume(&self.zeros[..len]);
        }
        self.bytes += hole.end - hole.start;
    }

    fn data(&mut self, data: Range<u64>, consume: &mut impl FnMut(&[u8])) -> Result<(), Failure> {
        if self.buf.is_empty()
            && let Ok(map) = Map::new(self.file, data.clone())
        {
            // SAFETY: the digest accepts any bytes, and we do not write to files that we hash.
            consume(unsafe { map.bytes() });
            self.bytes += data.end - data.start;
            let Err(missing) = map.check() else { return Ok(()) };
            let lost = self.file.lost(missing);
            if matches!(lost, Failure::Io { .. }) {
                // The size and times of the file are unchanged, but part of it could not be loaded. Reading
                // may give the cause, such as a disk error.
                self.copy(data, &mut |_| {})?;
            }
            return Err(lost);
        }
        self.copy(data, consume)
    }

    /// From now on reads everything into the buffer.
    fn do_not_map(&mut self) {
        if self.buf.is_empty() {
            self.buf = AlignedBuf::new(SyncReader::STREAM_BUF_LEN);
        }
    }

    /// Does the same as [`data`](Self::data), always through the buffer.
    fn copy(&mut self, data: Range<u64>, consume: &mut impl FnMut(&[u8])) -> Result<(), Failure> {
        self.do_not_map();
        let mut at = data.start;
        while at < data.end {
            let ask = self.buf.len().min((data.end - at) as usize);
            self.file.read_exact_at(&mut self.buf[..ask], at)?;
            consume(&self.buf[..ask]);
            at += ask as u64;
            self.bytes += ask as u64;
        }
        Ok(())
    }
}

/// Whether the open file is the deferred one, with its size unchanged.
fn is_still(stat: &Stat, large: Large) -> bool {
    stat.identity() == large.identity && stat.size == large.size
}

/// Returns the values of all windows in order, and the file's metadata. It is an error if the workers saw
/// different files or contents.
fn join(tree: &Windows, large: Large, parts: &[Part]) -> Result<Whole, Failure> {
    let first = &parts[0].stat;
    let is_other = |part: &&Part| !is_still(&part.stat, large) || !part.stat.is_same_content(first);
    if let Some(other) = parts.iter().find(is_other) {
        let ((dev, ino), size) = (large.identity, large.size);
        let before = Stat { dev, ino, size, ..*first };
        return Err(Failure::Changed { before: Box::new(before), after: Box::new(other.stat), read: size });
    }
    let mut values = vec![None; tree.windows()];
    for &(nth, value) in parts.iter().flat_map(|part| &part.values) {
        values[nth] = Some(value);
    }
    let values = values.into_iter().collect::<Option<_>>().ok_or_else(unexpected_end)?;
    let is_written_back = parts.iter().all(|part| part.is_written_back);
    let read_ns = parts.iter().map(|part| part.read_ns).min().unwrap_or_default();
    Ok(Whole { stat: *first, read_ns, is_written_back, values })
}

/// The error for a file that ended before its size, although nothing else about it changed.
fn unexpected_end() -> Failure {
    Failure::of_read(std::io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::FileExt as _;
    use std::path::{Path, PathBuf};

    use ftk_file::Symlinks;
    use ftk_hash::{Algorithm, Platform};
    use ftk_inventory::{FileNo, Inventory, PathList};
    use ftk_read::Span;
    use ftk_sched::{Choice, Constants, Counters, Jobs, Limits, Model, Run, Threads};

    use super::*;
    use crate::run::Files;
    use crate::{Resources, Rows, Work};

    const LEN: u64 = 3 * Windows::WINDOW + 5;

    /// The size of a file that is shared.
    const SHARED: u64 = (16 << 20) + 5;

    fn file() -> (tempfile::TempDir, PathBuf, File) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, (0..LEN).map(|i| (i % 251) as u8).collect::<Vec<_>>()).unwrap();
        let file = open(&path);
        (dir, path, file)
    }

    fn open(path: &Path) -> File {
        let name = CString::new(path.as_os_str().as_bytes()).unwrap();
        File::open(rustix::fs::CWD, &name, Symlinks::NoFollow).unwrap()
    }

    /// Returns one window that maps the file and one that reads it.
    fn both_ways(file: &File) -> [Window<'_>; 2] {
        [0, 1000].map(AlignedBuf::new).map(|buf| Window { buf, ..Window::new(file) })
    }

    #[test]
    fn mapping_and_reading_see_the_same_bytes() {
        let (_dir, path, file) = file();
        let expected = fs::read(path).unwrap();
        for mut window in both_ways(&file) {
            let mut seen = Vec::new();
            for start in [0, Windows::WINDOW, 2 * Windows::WINDOW, 3 * Windows::WINDOW] {
                window
                    .read(start..LEN.min(start + Windows::WINDOW), |bytes| seen.extend_from_slice(bytes))
                    .unwrap();
            }
            assert!(seen == expected && window.bytes == LEN);
            file.verify_always(window.bytes).unwrap();
        }
    }

    /// Data begins and ends within windows, and the last window is partly a hole.
    #[test]
    fn holes_are_neither_mapped_nor_read() {
        let (_dir, path, _) = file();
        let sparse = fs::File::create(&path).unwrap();
        sparse.set_len(LEN).unwrap();
        let island = 700_000..1_500_000;
        sparse.write_all_at(&vec![7; 800_000], island.start).unwrap();
        sparse.sync_all().unwrap();
        let file = open(&path);
        for mut window in both_ways(&file) {
            let (mut seen, mut data) = (Vec::new(), 0);
            for start in [0, Windows::WINDOW, 2 * Windows::WINDOW, 3 * Windows::WINDOW] {
                let range = start..LEN.min(start + Windows::WINDOW);
                let zeros = window.zeros.as_ptr_range();
                window
                    .read(range, |bytes| {
                        let is_hole =
                            bytes.len() <= SyncReader::STREAM_BUF_LEN && bytes.iter().all(|&it| it == 0);
                        data += if is_hole { 0 } else { bytes.len() };
                        seen.extend_from_slice(bytes);
                    })
                    .unwrap();
                assert!(start == 0 || zeros == window.zeros.as_ptr_range(), "zeros are allocated once");
            }
            assert!(seen == fs::read(&path).unwrap() && window.bytes == LEN);
            // The blocks that contain the island.
            assert!((800_000..900_000).contains(&data), "{data} bytes of data");
            file.verify_always(window.bytes).unwrap();
        }
    }

    #[test]
    fn a_hole_that_is_cut_while_being_read_has_changed() {
        let (_dir, path, _) = file();
        fs::File::create(&path).unwrap().set_len(LEN).unwrap();
        let file = open(&path);
        let mut window = Window::new(&file);
        let cut = |_: &[u8]| fs::File::options().write(true).open(&path).unwrap().set_len(10).unwrap();
        window.read(0..LEN, cut).unwrap();
        let verified = file.verify_always(window.bytes);
        assert!(matches!(verified, Err(Failure::Changed { read: LEN, .. })), "{verified:?}");
    }

    #[test]
    fn a_file_truncated_while_being_read_has_changed() {
        for nth in [0, 1] {
            let (_dir, path, file) = file();
            let [mapped, read] = both_ways(&file);
            let mut window = if nth == 0 { mapped } else { read };
            let mut sum = 0;
            let cut = |bytes: &[u8]| {
                fs::File::options().write(true).open(&path).unwrap().set_len(10).unwrap();
                sum += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
            };
            let failure = window.read(0..LEN, cut).unwrap_err();
            assert!(matches!(failure, Failure::Changed { .. }), "{failure:?}");
        }
    }

    /// Hashes files of [`SHARED`] bytes from a list as a whole run does. `change` is called after they were deferred and
    /// before they are reopened, with the path of the first. Returns the states, the failures, and whether the digest of
    /// each file is that of its content, if it has a digest.
    fn hash_deferred_files(n: u32, change: impl FnOnce(&Path)) -> (Vec<State>, Vec<Failed>, Vec<bool>) {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..n).map(|nth| dir.path().join(format!("file{nth}"))).collect();
        let mut list = PathList::new();
        for (nth, path) in paths.iter().enumerate() {
            let file = fs::File::create(path).unwrap();
            file.set_len(SHARED).unwrap();
            file.write_all_at(&[nth as u8; 5], 5 * nth as u64).unwrap();
            list.push(path.as_os_str().as_bytes()).unwrap();
        }
        let (inventory, _) = Inventory::from_list(list).unwrap();
        let algorithms = &[Algorithm::Blake3];
        let platform = Platform::detect();
        let work = Work {
            inventory: &inventory,
            algorithms,
            platform,
            only: None,
            span: Span::Whole,
            fixed_sizes: false,
            prefix: None,
        };
        let mut rows = Rows::new(n, algorithms);
        let limits = Limits { threads: Threads::Fixed(2), backend: None, ring: false, cpus: 2 };
        let (model, stop, counters) = (Model::new(Constants::default()), Stop::new(), Counters::default());
        let resources =
            Resources { model: &model, limits, memory: 1 << 20, stop: &stop, watch: None, cache: None };
        let run = Run { model: &model, limits, stop: &stop, counters: &counters };
        let mut files = Files::new(&work, &mut rows, &resources);
        let sample = files.sample(&run);
        // On a slow machine, the sample ends before the last file.
        let choice = Choice { workers: 1, ..model.choose(sample, n.into(), limits) };
        files.do_small(&run, &sample, &choice);
        assert_eq!(files.large.len(), n as usize, "too large for a single worker");
        assert!(files.context(&run).shares(files.large[0].size));
        change(&paths[0]);
        counters.add_team(2);
        files.do_large(&run);
        let failed = files.failed;
        let are_right = (0..n).zip(&paths).filter_map(|(row, path)| {
            let digest = rows.digest(row, 0)?;
            Some(digest == Algorithm::Blake3.hash_one_with(platform, &fs::read(path).unwrap()).as_bytes())
        });
        let are_right = are_right.collect();
        assert_eq!(counters.sum().files, u64::from(n), "files that failed are counted too");
        ((0..n).map(|row| rows.state(row)).collect(), failed, are_right)
    }

    fn hash_deferred(change: impl FnOnce(&Path)) -> (State, Vec<Failed>) {
        let (states, failed, are_right) = hash_deferred_files(1, change);
        assert!(are_right.into_iter().all(|is_right| is_right));
        (states[0], failed)
    }

    #[test]
    fn several_deferred_files_are_hashed() {
        let (states, failed, are_right) = hash_deferred_files(3, |_| ());
        assert!(states == [State::Ok; 3] && failed.is_empty(), "{states:?} {failed:?}");
        assert_eq!(are_right, [true; 3]);
    }

    #[test]
    fn a_file_that_fails_does_not_affect_the_others() {
        for remove in [false, true] {
            let (states, failed, are_right) = hash_deferred_files(3, |path| {
                if remove {
                    fs::remove_file(path).unwrap();
                } else {
                    fs::File::options().write(true).open(path).unwrap().set_len(SHARED - 1).unwrap();
                }
            });
            let expected = if remove { State::Failed } else { State::Changed };
            assert_eq!(states, [expected, State::Ok, State::Ok]);
            assert!(failed.len() == 1 && failed[0].file == FileNo(0), "{failed:?}");
            assert_eq!(are_right, [true; 2]);
        }
    }

    #[test]
    fn a_deferred_file_is_hashed() {
        let (state, failed) = hash_deferred(|_| ());
        assert!(state == State::Ok && failed.is_empty(), "{state:?} {failed:?}");
    }

    #[test]
    fn a_deferred_file_that_was_replaced_has_changed() {
        let (state, failed) = hash_deferred(|path| {
            fs::File::create(path.with_extension("new")).unwrap().set_len(SHARED).unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        });
        assert_eq!(state, State::Changed);
        assert!(matches!(failed[..], [Failed { failure: Failure::Changed { .. }, .. }]), "{failed:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn h35_a_fifo_that_replaced_a_deferred_file_is_not_opened() {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

        let opened = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        let (state, failed) = hash_deferred(|path| {
            fs::remove_file(path).unwrap();
            rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).unwrap();
            add_watch(&opened, path, WatchFlags::OPEN).unwrap();
        });
        assert_eq!(state, State::Failed);
        assert!(matches!(failed[..], [Failed { failure: Failure::NotRegular, .. }]), "{failed:?}");
        let mut events = [0; 4096];
        // The watch ends with the FIFO, which is an event too. An open would come before it.
        let len = rustix::io::read(&opened, &mut events[..]).unwrap_or(0);
        let first = events[..len].first_chunk::<8>().map(|event| event[4..].to_vec());
        assert_ne!(first, Some(WatchFlags::OPEN.bits().to_ne_bytes().to_vec()), "it was opened");
    }
}
