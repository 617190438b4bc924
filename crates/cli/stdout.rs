//! Standard output, shared by workers that write whole lines. A closed pipe ends the output without an error;
//! any other failure is an error.

use std::io::{self, ErrorKind, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use ftk_file::{FileType, StandardStream, Stat, Symlinks};
use rustix::fs::CWD;

/// The message for a failure of standard output.
pub(crate) const CANNOT_WRITE: &str = "cannot write to standard output";

/// Bytes that each writer buffers before it writes.
const BUFFER: usize = 64 << 10;

/// Time between two flushes by [`Lines::flush_if_waiting`], if standard output is not a terminal.
const WAIT: Duration = Duration::from_millis(100);

/// Standard output, shared by workers that write whole lines.
#[derive(Debug, Default)]
pub(crate) struct Stdout {
    /// The first failure; nothing is written after it.
    failure: Mutex<Option<io::Error>>,
}

impl Stdout {
    /// Writes all of `bytes` without interleaving other writers. Returns `false` once writing has failed, so
    /// that the caller can stop.
    pub(crate) fn write(&self, bytes: &[u8]) -> bool {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none()
            && let Err(error) = write_all(bytes)
        {
            *failure = Some(error);
        }
        failure.is_none()
    }

    /// Whether nothing more can be written: the reader has closed the pipe, or a write failed.
    pub(crate) fn is_over(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Returns the first failure. A closed pipe is not a failure: its reader needs no more output.
    pub(crate) fn finish(&self) -> anyhow::Result<()> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context(CANNOT_WRITE),
            _ => Ok(()),
        }
    }

    /// Writes all of `bytes`, for a command that prints nothing else.
    pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<()> {
        let stdout = Self::default();
        stdout.write(bytes);
        stdout.finish()
    }

    pub(crate) fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Whether standard output is the null device, which discards everything.
    pub(crate) fn is_null() -> bool {
        let device = |stat: Stat| (stat.file_type == FileType::Char).then_some(stat.rdev);
        let stdout = Stat::of(io::stdout()).ok().and_then(device);
        stdout.is_some() && stdout == Stat::at(CWD, "/dev/null", Symlinks::Follow).ok().and_then(device)
    }

    /// Device and inode of standard output if it is a regular file. A scan should skip that file.
    pub(crate) fn identity() -> Option<(u64, u64)> {
        Stat::of(io::stdout()).ok().filter(Stat::is_regular).map(|stat| stat.identity())
    }
}

/// Writes directly to the descriptor, because the lines are buffered already.
fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    if !bytes.is_empty() {
        StandardStream::Output.check()?;
    }
    while !bytes.is_empty() {
        match rustix::io::write(io::stdout().as_fd(), bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A line buffer in front of standard output, for one worker.
#[derive(Debug)]
pub(crate) struct Lines<'o> {
    out: &'o Stdout,
    buf: Vec<u8>,
    is_terminal: bool,
    /// When `flush_if_waiting` was first called or last flushed.
    waiting_since: Option<Instant>,
}

impl<'o> Lines<'o> {
    pub(crate) fn new(out: &'o Stdout) -> Self {
        Self { out, buf: Vec::new(), is_terminal: Stdout::is_terminal(), waiting_since: None }
    }

    /// Whether nothing more can be written.
    pub(crate) fn is_over(&self) -> bool {
        self.out.is_over()
    }

    /// Appends a line that `push` writes. Returns `false` once writing has failed.
    pub(crate) fn line(&mut self, push: impl FnOnce(&mut Vec<u8>)) -> bool {
        push(self.begin());
        self.end()
    }

    /// Appends `dir`, `name` and the terminator `end`. Returns `false` once writing has failed.
    pub(crate) fn path(&mut self, dir: &[u8], name: &[u8], end: u8) -> bool {
        self.buf.extend_from_slice(dir);
        self.buf.extend_from_slice(name);
        self.buf.push(end);
        self.end()
    }

    /// Returns the buffer, to append a line after the ones waiting there. Until [`end`](Self::end) is called,
    /// the caller may truncate what it appended.
    pub(crate) fn begin(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }

    /// Completes a line. Returns `false` once writing has failed.
    pub(crate) fn end(&mut self) -> bool {
        self.buf.len() < BUFFER || self.flush()
    }

    /// Flushes the buffer on a terminal. Elsewhere, flushes it if a tenth of a second has passed since the
    /// last flush here. Without this call, rare lines would wait for a full buffer.
    pub(crate) fn flush_if_waiting(&mut self) {
        if self.buf.is_empty() {
            return;
        }
        let now = Instant::now();
        let since = *self.waiting_since.get_or_insert(now);
        if self.is_terminal || now - since >= WAIT {
            self.waiting_since = Some(now);
            self.flush();
        }
    }

    /// Writes whole lines without buffering them.
    pub(crate) fn write(&self, bytes: &[u8]) {
        self.out.write(bytes);
    }

    /// Writes the buffered lines, and returns the first failure of standard output.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.flush();
        self.out.finish()
    }

    /// Writes the buffered lines. Returns `false` once writing has failed.
    pub(crate) fn flush(&mut self) -> bool {
        let ok = self.buf.is_empty() || self.out.write(&self.buf);
        self.buf.clear();
        ok
    }
}
