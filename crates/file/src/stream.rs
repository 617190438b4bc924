//! Reads standard input, and files that are not regular, from front to back.

use std::io;
use std::os::fd::AsFd;

use rustix::buffer::spare_capacity;
use rustix::io::retry_on_intr;

use crate::page_cache::{Pages, preserves_page_cache};
use crate::{Stat, limit};

/// A file of any type that is read from its current position on. Obeys the [rate limit](crate::limit_rate).
/// If it is a regular file, leaves [the page cache](crate::preserve_page_cache) as it was.
#[derive(Debug)]
pub struct Stream<F: AsFd> {
    file: F,
    pages: Option<Box<Pages>>,
    /// Where the next read begins; used only with `pages`.
    offset: u64,
}

impl<F: AsFd> Stream<F> {
    /// Prepares to read an open file.
    pub fn new(file: F) -> Self {
        if !preserves_page_cache() {
            return Self { file, pages: None, offset: 0 };
        }
        let regular = Stat::of(&file).ok().filter(Stat::is_regular);
        let pages = regular.and_then(|stat| Pages::of(file.as_fd(), &stat));
        let offset = rustix::fs::tell(&file).unwrap_or(0);
        Self { file, pages, offset }
    }
}

impl<F: AsFd> Stream<F> {
    /// Reads once into the spare capacity of `buf`. Returns how many bytes were added; 0 at the end.
    ///
    /// # Errors
    /// Any error of `read` except an interruption, which is retried.
    pub fn append_to(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        if self.pages.is_none() && !limit::is_rate_limited() {
            return Ok(retry_on_intr(|| rustix::io::read(&self.file, spare_capacity(buf)))?);
        }
        let len = buf.len();
        buf.resize(buf.capacity(), 0);
        let got = io::Read::read(self, &mut buf[len..]);
        buf.truncate(len + *got.as_ref().unwrap_or(&0));
        got
    }
}

impl<F: AsFd> io::Read for Stream<F> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = limit::most(buf.len());
        let buf = &mut buf[..len];
        let fd = self.file.as_fd();
        let got = match &self.pages {
            None => retry_on_intr(|| rustix::io::read(fd, &mut *buf))?,
            Some(pages) => pages.read_next(fd, buf, self.offset)?,
        };
        self.offset += got as u64;
        // Wait after the read: only now its size is known.
        limit::wait_for(got as u64);
        Ok(got)
    }
}

impl<F: AsFd> Drop for Stream<F> {
    fn drop(&mut self) {
        if let Some(pages) = &self.pages {
            pages.finish(self.file.as_fd());
        }
    }
}
