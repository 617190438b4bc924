//! The reader for one huge file: a helper thread reads ahead while the caller works on the last chunk.

use std::mem;
use std::os::fd::OwnedFd;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{Builder, JoinHandle};

use ftk_file::{Failure, File, Stat};

use crate::name::Name;
use crate::progress::{Filling, Progress};
use crate::{Buf, Chunk, How, Open, Reader, Ready};

/// How many buffers the helper may fill before the caller asks for them.
const BUFS_AHEAD: usize = 2;

/// Reads one file, up to two buffers ahead of the caller.
///
/// It has one slot. The first chunk is read on the calling thread. If the file is longer, a helper thread
/// reads the rest: [`Reader::more`] passes it an empty buffer, and `poll` returns one that it has filled. If
/// no thread can be started, the calling thread reads everything.
///
/// The helper ends with `finish`, with `cancel`, on a failure, or when the reader is dropped. Each of these
/// waits for at most one read.
pub struct Ahead {
    state: State,
    name: Name,
    buf_len: usize,
    /// Stack size of the helper in bytes. It needs very little.
    stack: usize,
}

enum State {
    Free,
    Opening {
        dir: Rc<OwnedFd>,
        how: How,
        buf: Buf,
    },
    /// There is no helper, and the caller has asked for the next bytes.
    Reading(Filling),
    /// There is no helper, and the caller has a chunk.
    Out(Box<Progress>),
    /// The helper has the file. If `is_asked`, the caller has asked for the next bytes; otherwise it has a
    /// chunk.
    Helped {
        helper: Helper,
        is_asked: bool,
    },
}

impl Ahead {
    /// Buffer size in bytes.
    pub const BUF_LEN: usize = 512 << 10;

    /// Creates a reader that asks for buffers of `buf_len` bytes. It allocates two more for files that need
    /// the helper.
    ///
    /// # Panics
    /// If `buf_len` is 0.
    pub fn new(buf_len: usize) -> Self {
        assert!(buf_len > 0, "a reader needs a buffer size");
        Self { state: State::Free, name: Name::new(), buf_len, stack: 128 << 10 }
    }

    fn fill(&mut self, filling: Filling) -> Ready {
        match filling.fill() {
            Ok((progress, chunk)) => {
                self.state = if chunk.part == crate::Part::First {
                    match Helper::start(progress, self.buf_len, self.stack) {
                        Ok(helper) => State::Helped { helper, is_asked: false },
                        Err(progress) => State::Out(progress),
                    }
                } else {
                    State::Out(progress)
                };
                Ready::Data(chunk)
            }
            Err((buf, failure)) => Ready::Failed { slot: 0, buf, failure },
        }
    }
}

impl Reader for Ahead {
    fn slots(&self) -> usize {
        1
    }

    fn buf_len(&self) -> usize {
        self.buf_len
    }

    fn start(&mut self, slot: u32, file: Open<'_>, buf: Buf) {
        assert!(slot == 0 && matches!(self.state, State::Free), "slot {slot} is in use or does not exist");
        let Open { dir, name, how } = file;
        self.name.set(name);
        self.state = State::Opening { dir: Rc::clone(dir), how, buf };
    }

    fn more(&mut self, _slot: u32, buf: Buf) {
        self.state = match mem::replace(&mut self.state, State::Free) {
            State::Out(progress) => State::Reading(Filling::new(progress, buf)),
            State::Helped { helper, is_asked: false } => {
                helper.give(buf);
                State::Helped { helper, is_asked: true }
            }
            _ => panic!("the caller has no chunk"),
        }
    }

    fn poll(&mut self, wait: bool) -> Option<Ready> {
        match mem::replace(&mut self.state, State::Free) {
            State::Opening { dir, how, buf } => {
                Some(match File::open_with(&*dir, self.name.as_c_str(), how.symlinks, how.birth) {
                    Ok(file) => self.fill(Filling::new(Progress::new(0, file, how), buf)),
                    Err(failure) => Ready::Failed { slot: 0, buf, failure },
                })
            }
            State::Reading(filling) => Some(self.fill(filling)),
            State::Helped { helper, is_asked: true } => {
                let Some(filled) = helper.receive(wait) else {
                    self.state = State::Helped { helper, is_asked: true };
                    return None;
                };
                Some(match filled {
                    Ok(chunk) => {
                        self.state = State::Helped { helper, is_asked: false };
                        Ready::Data(chunk)
                    }
                    Err((buf, failure)) => Ready::Failed { slot: 0, buf, failure },
                })
            }
            other => {
                self.state = other;
                None
            }
        }
    }

    fn stat(&self, _slot: u32) -> &Stat {
        match &self.state {
            State::Out(progress) => progress.stat(),
            State::Helped { helper, is_asked: false } => &helper.stat,
            _ => panic!("the caller has no chunk"),
        }
    }

    fn file(&self, _slot: u32) -> Option<&File> {
        match &self.state {
            State::Out(progress) => Some(progress.file()),
            State::Helped { is_asked: false, .. } => None,
            _ => panic!("the caller has no chunk"),
        }
    }

    fn is_written_back(&self, _slot: u32) -> bool {
        match &self.state {
            State::Out(progress) => progress.is_written_back(),
            State::Helped { helper, is_asked: false } => helper.is_written_back,
            _ => panic!("the caller has no chunk"),
        }
    }

    fn finish(&mut self, _slot: u32) -> Result<Stat, Failure> {
        match mem::replace(&mut self.state, State::Free) {
            State::Out(progress) => progress.finish(),
            State::Helped { helper, is_asked: false } => {
                helper.stop().expect("the helper did not fail: the caller has a chunk").finish()
            }
            _ => panic!("the caller has no chunk"),
        }
    }

    fn cancel(&mut self, _slot: u32) {
        match mem::replace(&mut self.state, State::Free) {
            State::Out(_) | State::Helped { is_asked: false, .. } => {}
            _ => panic!("the caller has no chunk"),
        }
    }
}

type Filled = Result<Chunk, (Buf, Failure)>;

/// The thread that reads ahead. Dropping this stops the thread and waits for it.
struct Helper {
    stat: Stat,
    is_written_back: bool,
    /// `None` tells the thread to stop.
    empty: Option<Sender<Buf>>,
    filled: Receiver<Filled>,
    /// Returns the file, unless reading it failed. `None` after the thread was joined.
    thread: Option<JoinHandle<Option<Box<Progress>>>>,
}

impl Helper {
    /// Starts a thread that reads on from `progress`. Returns `progress` as the error if no thread can be
    /// started.
    fn start(progress: Box<Progress>, buf_len: usize, stack: usize) -> Result<Self, Box<Progress>> {
        let (stat, is_written_back) = (*progress.stat(), progress.is_written_back());
        let (empty, to_fill) = mpsc::channel();
        let (to_caller, filled) = mpsc::channel();
        // Send the file after the thread has started: a closure that owned the file would be dropped with it
        // if the thread could not start.
        let (file, from_caller) = mpsc::channel();
        let run = move || read_ahead(from_caller.recv().ok()?, &to_fill, &to_caller);
        let Ok(thread) = Builder::new().name("ftk-ahead".into()).stack_size(stack).spawn(run) else {
            return Err(progress);
        };
        let helper = Self { stat, is_written_back, empty: Some(empty), filled, thread: Some(thread) };
        file.send(progress).expect("the helper receives its file before anything else");
        for _ in 0..BUFS_AHEAD {
            helper.give(Buf::new(buf_len));
        }
        Ok(helper)
    }

    /// Passes an empty buffer to the helper. If the helper has already ended, its last result is in `filled`.
    fn give(&self, buf: Buf) {
        let empty = self.empty.as_ref().expect("only `stop` and `drop` clear it");
        // An error means that the helper has ended and needs no buffer.
        let _ = empty.send(buf);
    }

    /// Returns the next chunk or failure, or `None` if it is not ready and `wait` is false.
    fn receive(&self, wait: bool) -> Option<Filled> {
        match self.filled.try_recv() {
            Ok(filled) => Some(filled),
            Err(TryRecvError::Empty) if !wait => None,
            Err(_) => Some(
                self.filled.recv().expect("the helper sends the end of the file or a failure before it ends"),
            ),
        }
    }

    /// Stops the helper and waits for it. Returns the file unless reading it failed.
    fn stop(mut self) -> Option<Box<Progress>> {
        self.empty = None;
        let thread = self.thread.take().expect("only `stop` and `drop` clear it");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.empty = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the helper is resumed by `stop`. Without `stop`, the result is no longer needed.
            let _ = thread.join();
        }
    }
}

/// Fills the buffers it receives until the end of the file or until no more buffers come.
fn read_ahead(
    mut progress: Box<Progress>,
    to_fill: &Receiver<Buf>,
    to_caller: &Sender<Filled>,
) -> Option<Box<Progress>> {
    while let Ok(buf) = to_fill.recv() {
        let filled = Filling::new(progress, buf).fill();
        let chunk;
        (progress, chunk) = match filled {
            Ok(filled) => filled,
            Err(failed) => {
                let _ = to_caller.send(Err(failed));
                return None;
            }
        };
        let is_end = chunk.part.is_end();
        if to_caller.send(Ok(chunk)).is_err() || is_end {
            break;
        }
    }
    Some(progress)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::{BUF, Tree, bytes_of, content, read_all, start};

    #[test]
    fn if_no_thread_can_start_the_calling_thread_reads() {
        let tree = Tree::new();
        tree.file("file", &content(9 * BUF + 5, 1));
        let mut reader = Ahead::new(BUF);
        // No address space has room for this stack, so that no thread can start.
        reader.stack = usize::MAX / 4 * 3;
        start(&mut reader, 0, &tree.open(), c"file");
        reader.poll(true).unwrap();
        assert!(matches!(reader.state, State::Out(_)), "a thread was started");
        reader.cancel(0);
        let outcome = read_all(&mut reader, &tree.open(), &["file"]).remove(0);
        assert_eq!(bytes_of(outcome), Ok(content(9 * BUF + 5, 1)));
    }

    #[test]
    fn the_helper_reads_at_most_two_buffers_ahead() {
        let tree = Tree::new();
        tree.file("file", &content(9 * BUF, 1));
        let file = File::open(tree.open().as_ref(), c"file", ftk_file::Symlinks::NoFollow).unwrap();
        let (progress, _) = Filling::new(
            Progress::new(0, file, How::new(ftk_file::Symlinks::NoFollow, crate::Span::Whole)),
            Buf::new(BUF),
        )
        .fill()
        .unwrap();
        let helper = Helper::start(progress, BUF, 128 << 10).unwrap_or_else(|_| panic!("no thread"));
        for nth in 1..=2 {
            let chunk = helper.receive(true).unwrap().unwrap();
            assert!(chunk.as_ref() == &content(9 * BUF, 1)[nth * BUF..][..BUF]);
        }
        let progress = helper.stop().unwrap();
        let (_, chunk) = Filling::new(progress, Buf::new(BUF)).fill().unwrap();
        assert!(
            chunk.as_ref() == &content(9 * BUF, 1)[3 * BUF..][..BUF],
            "the helper read more than two buffers ahead"
        );
    }
}
