//! The io_uring reader where there is no io_uring: it cannot be had.

use std::io;

use crate::{Buf, Failure, Open, Reader, Ready, Stat};

/// The io_uring reader; there is none on this platform.
#[derive(Debug)]
pub enum Uring {}

impl Uring {
    /// Bytes of a buffer.
    pub const BUF_LEN: usize = 32 << 10;

    /// Fails.
    ///
    /// # Errors
    /// Always, with [`io::ErrorKind::Unsupported`].
    pub fn new(_depth: usize, _buf_len: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Reader for Uring {
    fn slots(&self) -> usize {
        match *self {}
    }
    fn buf_len(&self) -> usize {
        match *self {}
    }
    fn start(&mut self, _: u32, _: Open<'_>, _: Buf) {
        match *self {}
    }
    fn more(&mut self, _: u32, _: Buf) {
        match *self {}
    }
    fn poll(&mut self, _: bool) -> Option<Ready> {
        match *self {}
    }
    fn stat(&self, _: u32) -> &Stat {
        match *self {}
    }
    fn finish(&mut self, _: u32) -> Result<Stat, Failure> {
        match *self {}
    }
    fn cancel(&mut self, _: u32) {
        match *self {}
    }
}
