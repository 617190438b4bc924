//! A directory of files, all readers, and functions that read whole files through a reader.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;

use ftk_file::{Failure, Stat, Symlinks};

use crate::tests::fake::{Fake, Script};
use crate::{Ahead, Buf, How, Open, Part, Reader, Ready, Span, SyncReader, Uring};

/// Buffer size in these tests: small, so that few bytes make many chunks.
pub(crate) const BUF: usize = 4096;

/// A temporary directory.
pub(crate) struct Tree {
    pub(crate) dir: tempfile::TempDir,
}

impl Tree {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) -> &Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    pub(crate) fn open(&self) -> Rc<OwnedFd> {
        open_dir(self.dir.path())
    }
}

pub(crate) fn open_dir(path: &Path) -> Rc<OwnedFd> {
    Rc::new(fs::File::open(path).unwrap().into())
}

pub(crate) fn name(name: &str) -> CString {
    CString::new(name).unwrap()
}

/// Returns pseudo-random bytes that depend on the seed.
pub(crate) fn content(len: usize, seed: u64) -> Vec<u8> {
    let mut content = vec![0; len];
    fastrand::Rng::with_seed(seed).fill(&mut content);
    content
}

/// Returns every reader with its name for messages.
#[expect(clippy::print_stderr, reason = "a test that cannot run must be reported")]
pub(crate) fn readers() -> Vec<(String, Box<dyn Reader>)> {
    let mut all: Vec<(String, Box<dyn Reader>)> = Vec::new();
    for slots in [1, 2, 16] {
        all.push((format!("sync {slots}"), Box::new(SyncReader::new(slots, BUF))));
    }
    all.push(("ahead".into(), Box::new(Ahead::new(BUF))));
    for depth in [1, 5] {
        let script = Script::new(depth as u64).short_reads();
        all.push((format!("fake ring {depth}"), Box::new(Fake::reader(&script, depth))));
    }
    for depth in [1, 3, 64] {
        match Uring::new(depth, BUF) {
            Ok(ring) => all.push((format!("uring {depth}"), Box::new(ring))),
            Err(e) if std::env::var_os("FTK_REQUIRE_URING").is_none() => {
                eprintln!("io_uring is not available, and is not tested: {e}");
            }
            Err(e) => panic!("io_uring is required here, but not available: {e}"),
        }
    }
    all
}

pub(crate) fn start(reader: &mut dyn Reader, slot: u32, dir: &Rc<OwnedFd>, name: &CStr) {
    start_span(reader, slot, dir, name, Span::Whole);
}

pub(crate) fn start_span(reader: &mut dyn Reader, slot: u32, dir: &Rc<OwnedFd>, name: &CStr, span: Span) {
    let buf = Buf::new(reader.buf_len());
    reader.start(slot, Open { dir, name, how: How::new(Symlinks::NoFollow, span) }, buf);
}

/// The bytes and the `fstat` of a file, or its failure.
pub(crate) type Outcome = Result<(Vec<u8>, Stat), Failure>;

/// Reads files of one directory through all slots of `reader`, and checks the order of parts.
pub(crate) fn read_all(reader: &mut dyn Reader, dir: &Rc<OwnedFd>, names: &[&str]) -> Vec<Outcome> {
    read_spans(reader, dir, names, Span::Whole)
}

/// Like [`read_all`], but reads `span` of each file.
pub(crate) fn read_spans(
    reader: &mut dyn Reader,
    dir: &Rc<OwnedFd>,
    names: &[&str],
    span: Span,
) -> Vec<Outcome> {
    let mut outcomes: Vec<Option<Outcome>> = names.iter().map(|_| None).collect();
    let mut free: Vec<u32> = (0..reader.slots() as u32).rev().collect();
    let mut busy: HashMap<u32, (usize, Vec<u8>)> = HashMap::new();
    let mut waiting = names.iter().enumerate();
    loop {
        while let Some(&slot) = free.last() {
            let Some((nth, file)) = waiting.next() else { break };
            free.pop();
            start_span(reader, slot, dir, &name(file), span);
            busy.insert(slot, (nth, Vec::new()));
        }
        let Some(ready) = reader.poll(true) else { break };
        let (slot, outcome) = match ready {
            Ready::Failed { slot, failure, .. } => (slot, Err(failure)),
            Ready::Data(chunk) => {
                let slot = chunk.slot;
                let (_, bytes) = busy.get_mut(&slot).expect("only started files have chunks");
                if chunk.part.is_start() {
                    assert!(bytes.is_empty(), "{:?} after other bytes", chunk.part);
                } else {
                    assert!(!bytes.is_empty(), "{:?} before other bytes", chunk.part);
                }
                if matches!(chunk.part, Part::First | Part::Middle) {
                    assert!(!chunk.as_ref().is_empty(), "only the last chunk may be empty");
                }
                bytes.extend_from_slice(chunk.as_ref());
                if !chunk.part.is_end() {
                    reader.more(slot, chunk.into_buf());
                    continue;
                }
                let stat = *reader.stat(slot);
                let finished = reader.finish(slot);
                (
                    slot,
                    finished.map(|last| (std::mem::take(bytes), last)).inspect(|(_, s)| assert_eq!(*s, stat)),
                )
            }
        };
        let (nth, _) = busy.remove(&slot).expect("only started files have results");
        outcomes[nth] = Some(outcome);
        free.push(slot);
    }
    assert!(busy.is_empty(), "the reader is idle, but slots {:?} have no result", busy.keys());
    outcomes.into_iter().map(|o| o.expect("every file was started")).collect()
}

/// Reduces an outcome to the parts that are equal in every run.
pub(crate) fn bytes_of(outcome: Outcome) -> Result<Vec<u8>, String> {
    match outcome {
        Ok((bytes, _)) => Ok(bytes),
        Err(Failure::Io { op, source }) => Err(format!("{op}: {:?}", source.kind())),
        Err(Failure::NotRegular) => Err("not regular".into()),
        Err(Failure::Changed { .. }) => Err("changed".into()),
        Err(other) => panic!("{other:?}"),
    }
}

/// Reads `span` of one file through slot 0. Calls `between` after each chunk.
pub(crate) fn read_one(
    reader: &mut dyn Reader,
    dir: &Rc<OwnedFd>,
    file: &str,
    span: Span,
    mut between: impl FnMut(),
) -> Result<Vec<u8>, String> {
    start_span(reader, 0, dir, &name(file), span);
    let mut bytes = Vec::new();
    loop {
        match reader.poll(true).expect("a file is in progress") {
            Ready::Failed { failure, .. } => return bytes_of(Err(failure)),
            Ready::Data(chunk) => {
                bytes.extend_from_slice(chunk.as_ref());
                between();
                if chunk.part.is_end() {
                    return bytes_of(reader.finish(0).map(|stat| (bytes, stat)));
                }
                reader.more(0, chunk.into_buf());
            }
        }
    }
}
