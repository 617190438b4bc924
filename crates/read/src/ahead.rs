//! The reader for one huge file: a helper thread reads on while the caller works on what was read.

use std::mem;
use std::os::fd::OwnedFd;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{Builder, JoinHandle};

use crate::name::Name;
use crate::progress::{Filling, Progress};
use crate::{Buf, Chunk, Failure, File, Open, Reader, Ready, Span, Stat};

/// Buffers the helper may fill before the caller has asked.
const BUFS_AHEAD: usize = 2;

/// Reads one file, two buffers ahead of the caller.
///
/// It has one slot. The first chunk is read in place; if that was not all, a helper thread is started for the
/// rest of this file, and what [`Reader::more`] is given goes to it in exchange for a buffer it has filled.
/// Where no thread can be had everything is read in place. The helper ends with `finish`, `cancel`, a failure,
/// or the reader itself, which wait for at most one read.
pub struct Ahead {
    state: State,
    name: Name,
    buf_len: usize,
    /// Bytes of the helper's stack; it needs next to none.
    stack: usize,
}

enum State {
    Free,
    Opening {
        dir: Rc<OwnedFd>,
        follow: bool,
        span: Span,
        buf: Buf,
    },
    /// No thread could be had, and the next bytes are asked for.
    Reading(Filling),
    /// A chunk is out, and there is no helper.
    Out(Progress),
    /// The helper has the file. `is_asked`: the caller wants the next bytes, else a chunk is out.
    Helped {
        helper: Helper,
        is_asked: bool,
    },
}

impl Ahead {
    /// Bytes of a buffer.
    pub const BUF_LEN: usize = 512 << 10;

    /// A reader that asks for buffers of `buf_len` bytes, and makes two of its own when a file needs them.
    ///
    /// # Panics
    /// If `buf_len` is 0.
    pub fn new(buf_len: usize) -> Self {
        assert!(buf_len > 0, "a reader needs a buffer");
        Self { state: State::Free, name: Name::new(), buf_len, stack: 128 << 10 }
    }

    fn fill(&mut self, filling: Filling) -> Ready {
        match filling.fill() {
            Ok((progress, chunk)) => {
                self.state = if chunk.part == crate::Part::First {
                    match Helper::start(progress, self.buf_len, self.stack) {
                        Ok(helper) => State::Helped { helper, is_asked: false },
                        Err(progress) => State::Out(*progress),
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
        assert!(slot == 0 && matches!(self.state, State::Free), "slot {slot} is taken, or none");
        let Open { dir, name, follow, span } = file;
        self.name.set(name);
        self.state = State::Opening { dir: Rc::clone(dir), follow, span, buf };
    }

    fn more(&mut self, _slot: u32, buf: Buf) {
        self.state = match mem::replace(&mut self.state, State::Free) {
            State::Out(progress) => State::Reading(Filling::new(progress, buf)),
            State::Helped { helper, is_asked: false } => {
                helper.give(buf);
                State::Helped { helper, is_asked: true }
            }
            _ => panic!("no chunk is out"),
        }
    }

    fn poll(&mut self, wait: bool) -> Option<Ready> {
        match mem::replace(&mut self.state, State::Free) {
            State::Opening { dir, follow, span, buf } => {
                Some(match File::open(&*dir, self.name.as_c_str(), follow) {
                    Ok(file) => self.fill(Filling::new(Progress::new(0, file, span), buf)),
                    Err(failure) => Ready::Failed { slot: 0, buf, failure },
                })
            }
            State::Reading(filling) => Some(self.fill(filling)),
            State::Helped { helper, is_asked: true } => {
                let Some(filled) = helper.take(wait) else {
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
            _ => panic!("no chunk is out"),
        }
    }

    fn finish(&mut self, _slot: u32) -> Result<Stat, Failure> {
        match mem::replace(&mut self.state, State::Free) {
            State::Out(progress) => progress.finish(),
            State::Helped { helper, is_asked: false } => {
                helper.stop().expect("its end was delivered").finish()
            }
            _ => panic!("no chunk is out"),
        }
    }

    fn cancel(&mut self, _slot: u32) {
        match mem::replace(&mut self.state, State::Free) {
            State::Out(_) | State::Helped { is_asked: false, .. } => {}
            _ => panic!("no chunk is out"),
        }
    }
}

type Filled = Result<Chunk, (Buf, Failure)>;

/// The thread that reads ahead. Dropping it stops the thread and waits for it.
struct Helper {
    stat: Stat,
    /// Gone when the thread is to stop.
    empty: Option<Sender<Buf>>,
    filled: Receiver<Filled>,
    /// Gives the file back, unless it failed. Gone when it was waited for.
    thread: Option<JoinHandle<Option<Progress>>>,
}

impl Helper {
    /// Reads on from `progress`, which comes back if no thread can be had.
    fn start(progress: Progress, buf_len: usize, stack: usize) -> Result<Self, Box<Progress>> {
        let stat = *progress.stat();
        let (empty, to_fill) = mpsc::channel();
        let (to_caller, filled) = mpsc::channel();
        // The file is sent after the thread was started: a closure that owned it would be lost with a thread
        // that could not.
        let (file, from_caller) = mpsc::channel();
        let run = move || read_ahead(from_caller.recv().ok()?, &to_fill, &to_caller);
        let Ok(thread) = Builder::new().name("ftk-ahead".into()).stack_size(stack).spawn(run) else {
            return Err(Box::new(progress));
        };
        let helper = Self { stat, empty: Some(empty), filled, thread: Some(thread) };
        file.send(progress).expect("the helper waits for its file");
        for _ in 0..BUFS_AHEAD {
            helper.give(Buf::new(buf_len));
        }
        Ok(helper)
    }

    /// Hands an empty buffer over. The helper may have ended, with all it had to say in `filled`.
    fn give(&self, buf: Buf) {
        let empty = self.empty.as_ref().expect("only `stop` takes it");
        // A buffer that nobody takes any more is dropped.
        let _ = empty.send(buf);
    }

    /// The next chunk, or `None` if it must be waited for and `wait` is false.
    fn take(&self, wait: bool) -> Option<Filled> {
        match self.filled.try_recv() {
            Ok(filled) => Some(filled),
            Err(TryRecvError::Empty) if !wait => None,
            Err(_) => Some(self.filled.recv().expect("the helper ends only after the end or a failure")),
        }
    }

    /// Waits until the helper has ended. The file comes back unless it failed.
    fn stop(mut self) -> Option<Progress> {
        self.empty = None;
        let thread = self.thread.take().expect("only taken here and in `drop`");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.empty = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the helper was either surfaced by `stop` or is of no interest any more.
            let _ = thread.join();
        }
    }
}

/// Fills what it is given until the end of the file, or until nothing is given any more.
fn read_ahead(
    mut progress: Progress,
    to_fill: &Receiver<Buf>,
    to_caller: &Sender<Filled>,
) -> Option<Progress> {
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
    fn without_a_thread_it_reads_in_place() {
        let tree = Tree::new();
        tree.file("file", &content(9 * BUF + 5, 1));
        let mut reader = Ahead::new(BUF);
        // No address space has room for this stack.
        reader.stack = 1 << 60;
        start(&mut reader, 0, &tree.open(), c"file");
        reader.poll(true).unwrap();
        assert!(matches!(reader.state, State::Out(_)), "a thread was had");
        reader.cancel(0);
        let outcome = read_all(&mut reader, &tree.open(), &["file"]).remove(0);
        assert_eq!(bytes_of(outcome), Ok(content(9 * BUF + 5, 1)));
    }

    #[test]
    fn it_is_two_buffers_ahead_and_no_more() {
        let tree = Tree::new();
        tree.file("file", &content(9 * BUF, 1));
        let file = File::open(tree.open().as_ref(), c"file", false).unwrap();
        let (progress, _) = Filling::new(Progress::new(0, file, Span::Whole), Buf::new(BUF)).fill().unwrap();
        let helper = Helper::start(progress, BUF, 128 << 10).unwrap_or_else(|_| panic!("no thread"));
        for nth in 1..=2 {
            let chunk = helper.take(true).unwrap().unwrap();
            assert!(chunk.as_ref() == &content(9 * BUF, 1)[nth * BUF..][..BUF]);
        }
        let progress = helper.stop().unwrap();
        let (_, chunk) = Filling::new(progress, Buf::new(BUF)).fill().unwrap();
        assert!(
            chunk.as_ref() == &content(9 * BUF, 1)[3 * BUF..][..BUF],
            "it read what nobody had asked for"
        );
    }
}
