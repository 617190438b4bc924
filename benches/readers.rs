//! The readers on files in the page cache: many small ones, and a large one.
//!
//! Opening, reading and closing is timed; the bytes are not used. Before that, the content that each reader
//! returns is compared with the standard library's. If the system has no io_uring, `Uring` is skipped with a
//! message.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::rc::Rc;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use ftk_benches::{Tree, config, is_timed};
use ftk_file::Symlinks;
use ftk_read::{Ahead, Buf, How, Open, Reader, Ready, Span, SyncReader, Uring};

/// Files that a ring reads at once.
const DEPTH: usize = 64;

/// All files of a directory.
struct Files {
    dir: Rc<OwnedFd>,
    names: Vec<CString>,
    /// The contents that the standard library reads.
    contents: Vec<Vec<u8>>,
}

impl Files {
    fn of(tree: &Tree) -> Self {
        let dir = File::open(tree.path()).expect("a directory");
        let names: Vec<_> =
            fs::read_dir(tree.path()).expect("a listing").map(|entry| entry.expect("an entry")).collect();
        Self {
            dir: Rc::new(dir.into()),
            contents: names.iter().map(|entry| fs::read(entry.path()).expect("a file")).collect(),
            names: names
                .into_iter()
                .map(|entry| CString::new(entry.file_name().into_vec()).expect("a name has no NUL"))
                .collect(),
        }
    }

    fn bytes(&self) -> usize {
        self.contents.iter().map(Vec::len).sum()
    }

    /// Reads all files, and calls `see` with each piece and the number of its file.
    fn read(&self, reader: &mut dyn Reader, bufs: &mut Vec<Buf>, mut see: impl FnMut(usize, &[u8])) {
        let mut on_slot = vec![0; reader.slots()];
        let mut free: Vec<u32> = (0..reader.slots() as u32).collect();
        let mut waiting = self.names.iter().map(CString::as_c_str).enumerate();
        loop {
            while let Some(&slot) = free.last() {
                let Some((nth, name)) = waiting.next() else { break };
                free.pop();
                on_slot[slot as usize] = nth;
                let buf = bufs.pop().unwrap_or_else(|| Buf::new(reader.buf_len()));
                reader.start(slot, self.open(name), buf);
            }
            match reader.poll(true) {
                None => return,
                Some(Ready::Data(chunk)) => {
                    let (slot, is_end) = (chunk.slot, chunk.part.is_end());
                    see(on_slot[slot as usize], chunk.as_ref());
                    if is_end {
                        reader.finish(slot).expect("no process writes to it");
                        free.push(slot);
                        bufs.push(chunk.into_buf());
                    } else {
                        reader.more(slot, chunk.into_buf());
                    }
                }
                Some(Ready::Failed { failure, .. }) => panic!("{failure:?}"),
            }
        }
    }

    fn open<'f>(&'f self, name: &'f CStr) -> Open<'f> {
        Open { dir: &self.dir, name, how: How::new(Symlinks::NoFollow, Span::Whole) }
    }

    fn check(&self, name: &str, reader: &mut dyn Reader) {
        let mut contents = vec![Vec::new(); self.names.len()];
        self.read(reader, &mut Vec::new(), |nth, piece| contents[nth].extend_from_slice(piece));
        assert!(contents == self.contents, "{name} reads something else");
    }

    fn bench(&self, group: &mut BenchmarkGroup<'_, WallTime>, name: &str, reader: &mut dyn Reader) {
        self.check(name, reader);
        let mut bufs = Vec::new();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut bytes = 0;
                self.read(reader, &mut bufs, |_, piece| bytes += piece.len());
                assert_eq!(bytes, self.bytes());
            });
        });
    }
}

fn small(criterion: &mut Criterion) {
    let count = if is_timed() { 1000 } else { 2 * DEPTH + 1 };
    let tree = Tree::new(0, 0, count, 4000).expect("room for files");
    let files = Files::of(&tree);
    let mut group = criterion.benchmark_group("readers/small files");
    group.throughput(Throughput::Elements(count as u64));
    files.bench(&mut group, "sync", &mut SyncReader::new(1, SyncReader::LANE_BUF_LEN));
    if let Some(mut ring) = ring() {
        files.bench(&mut group, "uring", &mut ring);
    }
}

fn large(criterion: &mut Criterion) {
    let tree =
        Tree::new(0, 0, 1, if is_timed() { 256 << 20 } else { (2 << 20) + 1 }).expect("room for a file");
    let files = Files::of(&tree);
    let mut group = criterion.benchmark_group("readers/large file");
    group.throughput(Throughput::Bytes(files.bytes() as u64));
    files.bench(&mut group, "sync", &mut SyncReader::new(1, SyncReader::STREAM_BUF_LEN));
    files.bench(&mut group, "ahead", &mut Ahead::new(Ahead::BUF_LEN));
    if let Some(mut ring) = ring() {
        files.bench(&mut group, "uring", &mut ring);
    }
}

#[expect(clippy::print_stderr, reason = "a skipped bench must say so")]
fn ring() -> Option<Uring> {
    Uring::new(DEPTH, Uring::BUF_LEN).map_err(|error| eprintln!("skipped: uring: {error}")).ok()
}

criterion_group! {
    name = benches;
    config = config();
    targets = small, large
}
criterion_main!(benches);
