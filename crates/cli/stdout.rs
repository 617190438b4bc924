//! Standard output: whole lines from several workers, a closed pipe that is no error, and any other failure
//! that is.

use std::io::{self, ErrorKind, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::fs::{FileType, Stat, fstat, stat};

/// Bytes gathered by each writer before they go out.
const BUFFER: usize = 64 << 10;

/// How long a line may wait in a buffer while others are looked for.
const WAIT: Duration = Duration::from_millis(100);

/// Standard output, shared by workers that hand it whole lines.
#[derive(Debug, Default)]
pub(crate) struct Stdout {
    /// The first failure; nothing is written after it.
    failure: Mutex<Option<io::Error>>,
}

impl Stdout {
    /// Writes all of `bytes` in one piece as far as other writers are concerned. `false` once writing has
    /// failed: there is no use in making more.
    pub(crate) fn write(&self, bytes: &[u8]) -> bool {
        let mut failure = self.failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if failure.is_none()
            && let Err(error) = write_all(bytes)
        {
            *failure = Some(error);
        }
        failure.is_none()
    }

    /// Whether nothing more can be written: a reader has closed the pipe, or writing failed.
    pub(crate) fn is_over(&self) -> bool {
        self.failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_some()
    }

    /// What went wrong. A reader that has seen enough and closed the pipe is nothing wrong.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Whether all that is written is thrown away, by the null device.
    pub(crate) fn is_null() -> bool {
        let device =
            |stat: Stat| FileType::from_raw_mode(stat.st_mode).is_char_device().then_some(stat.st_rdev);
        let stdout = fstat(io::stdout().as_fd()).ok().and_then(device);
        stdout.is_some() && stdout == stat("/dev/null").ok().and_then(device)
    }

    /// Device and inode of a regular file behind standard output, which a scan should leave out.
    pub(crate) fn identity() -> Option<(u64, u64)> {
        let stat = fstat(io::stdout().as_fd()).ok()?;
        let is_regular = FileType::from_raw_mode(stat.st_mode).is_file();
        #[allow(clippy::unnecessary_cast, reason = "the width differs between platforms")]
        is_regular.then_some((stat.st_dev as u64, stat.st_ino as u64))
    }
}

/// Straight to the descriptor: the lines are gathered already.
fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(io::stdout().as_fd(), bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Lines on their way to standard output.
#[derive(Debug)]
pub(crate) struct Lines<'o> {
    out: &'o Stdout,
    buf: Vec<u8>,
    is_terminal: bool,
    /// When someone last asked whether lines have waited for long.
    asked: Option<Instant>,
}

impl<'o> Lines<'o> {
    pub(crate) fn new(out: &'o Stdout) -> Self {
        Self { out, buf: Vec::new(), is_terminal: Stdout::is_terminal(), asked: None }
    }

    /// Whether nothing more can be written.
    pub(crate) fn is_over(&self) -> bool {
        self.out.is_over()
    }

    /// Appends a line by `push`. `false` once writing has failed.
    pub(crate) fn line(&mut self, push: impl FnOnce(&mut Vec<u8>)) -> bool {
        push(self.begin());
        self.end()
    }

    /// Appends the path that is `dir` and `name`. `false` once writing has failed.
    pub(crate) fn path(&mut self, dir: &[u8], name: &[u8], end: u8) -> bool {
        self.buf.extend_from_slice(dir);
        self.buf.extend_from_slice(name);
        self.buf.push(end);
        self.end()
    }

    /// Where the next line goes, behind what waits there. What was appended may be cut off again until
    /// [`end`](Self::end) is called.
    pub(crate) fn begin(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }

    /// The line is complete. `false` once writing has failed.
    pub(crate) fn end(&mut self) -> bool {
        self.buf.len() < BUFFER || self.flush()
    }

    /// Writes out what has gathered if a person watches, or a tenth of a second after the last look: rare lines
    /// must not wait for a full buffer.
    pub(crate) fn flush_if_waiting(&mut self) {
        if self.buf.is_empty() {
            return;
        }
        let now = Instant::now();
        let asked = *self.asked.get_or_insert(now);
        if self.is_terminal || now - asked >= WAIT {
            self.asked = Some(now);
            self.flush();
        }
    }

    /// Writes out what has gathered. `false` once writing has failed.
    pub(crate) fn flush(&mut self) -> bool {
        let ok = self.buf.is_empty() || self.out.write(&self.buf);
        self.buf.clear();
        ok
    }
}
