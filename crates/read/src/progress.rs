//! How far a file has been read, where it ends, and what its chunks are called: what all readers share.

use crate::{Buf, Chunk, Failure, File, Part, Stat};

/// A file on its way through a reader.
#[derive(Debug)]
pub(crate) struct Progress {
    file: File,
    slot: u32,
    bytes: u64,
    reads: u64,
    has_started: bool,
    has_ended: bool,
}

impl Progress {
    /// A file of which nothing was read yet.
    pub(crate) fn new(slot: u32, file: File) -> Self {
        Self { file, slot, bytes: 0, reads: 0, has_started: false, has_ended: false }
    }

    pub(crate) fn stat(&self) -> &Stat {
        self.file.stat()
    }

    /// Closes the file and says whether its bytes can be trusted.
    ///
    /// # Panics
    /// If its end was not delivered: the bytes so far are no content.
    pub(crate) fn finish(self) -> Result<Stat, Failure> {
        assert!(self.has_ended, "slot {} is finished before its end", self.slot);
        self.file.verify(self.bytes, self.reads).map(|()| *self.file.stat())
    }

    /// Counts a read. A short one is the end only if it reaches the size the file had, since file systems may
    /// return less than asked anywhere; a size of 0 says nothing, since procfs reports it for every file.
    fn took(&mut self, asked: usize, got: usize) {
        self.bytes += got as u64;
        self.reads += 1;
        let size = self.file.stat().size;
        self.has_ended = got == 0
            || (got < asked && self.bytes == size)
            // A file that grows as fast as it is read would never end; `finish` calls this one changed.
            || (self.bytes > size && self.file.verify(self.bytes, self.reads).is_err());
    }
}

/// A file and the buffer its next bytes go into.
#[derive(Debug)]
pub(crate) struct Filling {
    progress: Progress,
    buf: Buf,
}

impl Filling {
    /// # Panics
    /// If `buf` is empty, as that would look like the end of the file; or if the end was delivered.
    pub(crate) fn new(progress: Progress, mut buf: Buf) -> Self {
        assert!(buf.len() > 0, "a buffer of no bytes was handed in");
        assert!(!progress.has_ended, "slot {} is read on after its end", progress.slot);
        buf.clear();
        Self { progress, buf }
    }

    /// Where the next read goes: from this offset of the file into the rest of the buffer.
    pub(crate) fn next(&mut self) -> (&File, &mut Buf, u64) {
        (&self.progress.file, &mut self.buf, self.progress.bytes)
    }

    pub(crate) fn slot(&self) -> u32 {
        self.progress.slot
    }

    /// Counts a read by which the buffer grew by `got` bytes. `true` when the chunk is complete.
    pub(crate) fn took(&mut self, got: usize) -> bool {
        let asked = self.buf.room().len() + got;
        self.progress.took(asked, got);
        self.progress.has_ended || got == asked
    }

    /// The complete chunk.
    pub(crate) fn into_chunk(mut self) -> (Progress, Chunk) {
        let part = match (self.progress.has_started, self.progress.has_ended) {
            (false, true) => Part::Only,
            (false, false) => Part::First,
            (true, false) => Part::Middle,
            (true, true) => Part::Last,
        };
        self.progress.has_started = true;
        let chunk = Chunk { slot: self.progress.slot, part, buf: self.buf };
        (self.progress, chunk)
    }

    /// Gives up: closes the file.
    pub(crate) fn into_buf(self) -> Buf {
        self.buf
    }

    /// Starts the chunk over in a buffer of the same length, and hands out the one it had.
    pub(crate) fn start_over(&mut self) -> Buf {
        self.progress.bytes -= self.buf.filled() as u64;
        let fresh = Buf::new(self.buf.len());
        std::mem::replace(&mut self.buf, fresh)
    }

    /// Reads with plain system calls until the chunk is complete.
    pub(crate) fn fill(self) -> Result<(Progress, Chunk), (Buf, Failure)> {
        self.fill_with(|file, buf, offset| buf.read(file, offset))
    }

    fn fill_with(
        mut self,
        mut read: impl FnMut(&File, &mut Buf, u64) -> std::io::Result<usize>,
    ) -> Result<(Progress, Chunk), (Buf, Failure)> {
        loop {
            let (file, buf, offset) = self.next();
            match read(file, buf, offset) {
                Ok(got) => {
                    if self.took(got) {
                        return Ok(self.into_chunk());
                    }
                }
                Err(source) => return Err((self.buf, Failure::Io { op: "read", source })),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::{self, Write};
    use std::os::unix::ffi::OsStrExt;

    use proptest::prelude::*;
    use rustix::fs::CWD;

    use super::*;

    fn open(path: &std::path::Path) -> File {
        let path = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
        File::open(CWD, &path, false).unwrap()
    }

    /// Reads a whole file in chunks of `buf_len`, and gives its bytes and what `finish` says.
    fn read_whole(
        file: File,
        buf_len: usize,
        mut read: impl FnMut(&File, &mut Buf, u64) -> io::Result<usize>,
    ) -> (Vec<u8>, Result<Stat, Failure>) {
        let mut progress = Progress::new(0, file);
        let mut bytes = Vec::new();
        loop {
            let filling = Filling::new(progress, Buf::new(buf_len));
            let chunk;
            (progress, chunk) = filling.fill_with(&mut read).unwrap();
            assert_eq!(chunk.part.is_start(), bytes.is_empty());
            bytes.extend_from_slice(chunk.as_ref());
            if chunk.part.is_end() {
                return (bytes, progress.finish());
            }
            assert_eq!(chunk.as_ref().len(), buf_len, "only the end may be short");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn short_reads_are_no_end(
            content in prop::collection::vec(any::<u8>(), 0..300),
            buf_len in 1..100_usize,
            lengths in prop::collection::vec(1..100_usize, 1..20),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("file");
            fs::write(&path, &content).unwrap();
            let mut lengths = lengths.iter().cycle();
            let (bytes, verdict) = read_whole(open(&path), buf_len, |file, buf, offset| {
                let mut some = vec![0; buf.room().len().min(*lengths.next().unwrap())];
                let got = file.read_at(&mut some, offset)?;
                buf.append(&some[..got]);
                Ok(got)
            });
            prop_assert_eq!(bytes, content);
            prop_assert!(verdict.is_ok());
        }
    }

    #[test]
    fn a_file_that_grows_as_it_is_read_ends_as_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for content in ["", "some lines"] {
            fs::write(&path, content).unwrap();
            let mut log = OpenOptions::new().append(true).open(&path).unwrap();
            let (bytes, verdict) = read_whole(open(&path), 4, |file, buf, offset| {
                log.write_all(b"another line").unwrap();
                buf.read(file, offset)
            });
            assert!(bytes.len() <= content.len() + 4, "read on after it had outgrown its size");
            assert!(matches!(verdict, Err(Failure::Changed { .. })), "{verdict:?}");
        }
    }

    #[test]
    fn one_read_is_enough_for_a_file_smaller_than_its_buffer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"content").unwrap();
        let mut reads = 0;
        let (bytes, _) = read_whole(open(&path), 8, |file, buf, offset| {
            reads += 1;
            buf.read(file, offset)
        });
        assert_eq!((bytes.as_slice(), reads), (&b"content"[..], 1));
    }

    #[test]
    fn an_error_gives_the_buffer_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"content").unwrap();
        let filling = Filling::new(Progress::new(0, open(&path)), Buf::new(8));
        let (buf, failure) = filling.fill_with(|_, _, _| Err(io::ErrorKind::Other.into())).unwrap_err();
        assert_eq!(buf.len(), 8);
        assert!(matches!(failure, Failure::Io { op: "read", .. }));
    }

    #[test]
    #[should_panic(expected = "before its end")]
    fn no_verdict_before_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"content").unwrap();
        let filling = Filling::new(Progress::new(0, open(&path)), Buf::new(3));
        let (progress, _) = filling.fill().unwrap();
        let _ = progress.finish();
    }
}
