//! Tracks how far a file has been read, and gives each chunk its [`Part`]. All readers share this.

use ftk_file::{Failure, File, Holes, KnownRange, ReadState, Stat};

use crate::span::Pieces;
use crate::{Buf, Chunk, How, Part, WrittenBack};

/// For fewer bytes, in all pieces together, a read takes no longer than to look for holes.
const LOOK_FROM: u64 = 64 << 10;

/// A file that is being read. It is boxed, because it is large and moves from one state of a slot to the next several
/// times for each file.
#[derive(Debug)]
pub(crate) struct Progress {
    file: File,
    written_back: WrittenBack,
    slot: u32,
    /// The pieces to read, or `None` for the whole file.
    pieces: Option<Pieces>,
    holes: Holes,
    /// Its offsets are those of the file or, with pieces, of the concatenated pieces.
    state: ReadState,
    has_started: bool,
}

impl Progress {
    /// Starts the reading of a file that was just opened.
    pub(crate) fn new(slot: u32, file: File, how: How) -> Box<Self> {
        let written_back = how.write_back.apply(&file);
        let pieces = how.span.pieces(file.stat().size);
        if pieces.is_some() {
            file.expect_pieces();
        }
        let len = pieces.as_ref().map(Pieces::len);
        let holes = Holes::new(&file, len.unwrap_or(file.stat().size) > LOOK_FROM);
        let state = ReadState::new(0, len);
        Box::new(Self { file, written_back, slot, pieces, holes, state, has_started: false })
    }

    pub(crate) fn stat(&self) -> &Stat {
        self.file.stat()
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Whether modified pages were written back before the first read.
    pub(crate) fn is_written_back(&self) -> bool {
        self.written_back != WrittenBack::Unknown
    }

    /// Closes the file and checks whether its bytes can be trusted.
    ///
    /// # Panics
    /// If the end was not delivered.
    pub(crate) fn finish(self) -> Result<Stat, Failure> {
        assert!(self.state.has_ended(), "slot {} is finished before its end", self.slot);
        let verified = match self.written_back {
            WrittenBack::AfterWait => self.state.verify_always(&self.file),
            WrittenBack::Yes | WrittenBack::Unknown => self.state.verify(&self.file),
        };
        verified.map(|()| *self.file.stat())
    }

    /// Returns the offset of the next bytes, how many of them there are before a hole, its end or the end of a
    /// piece begins, at most `room`, and whether they are in a hole.
    fn next(&mut self, room: usize) -> (u64, usize, bool) {
        let at = self.state.offset();
        let (offset, rest) = self.pieces.as_ref().map_or((at, u64::MAX), |pieces| pieces.place(at));
        let KnownRange { holds, end } = self.holes.at(&self.file, offset);
        let rest = rest.min(end - offset);
        (offset, usize::try_from(rest).unwrap_or(room).min(room), holds)
    }
}

/// A file, and the buffer for its next chunk.
#[derive(Debug)]
pub(crate) struct Filling {
    progress: Box<Progress>,
    buf: Buf,
}

impl Filling {
    /// Starts the next chunk.
    ///
    /// # Panics
    /// If `buf` has no capacity, which would look like the end of the file, or if the end was already
    /// delivered.
    pub(crate) fn new(progress: Box<Progress>, mut buf: Buf) -> Self {
        assert!(buf.capacity() > 0, "the buffer has no capacity");
        assert!(!progress.state.has_ended(), "slot {} is read past its end", progress.slot);
        buf.clear();
        Self { progress, buf }
    }

    /// Fills the buffer as long as the next bytes are in a hole. Returns whether the chunk is complete: then
    /// nothing must be read for it.
    pub(crate) fn add_holes(&mut self) -> bool {
        while !self.is_complete() {
            let (_, most, is_hole) = self.progress.next(self.buf.left());
            if !is_hole {
                return false;
            }
            self.buf.add_zeros(most);
            self.progress.state.count_hole(&self.progress.file, most as u64);
        }
        true
    }

    /// Returns the parameters of the next read: the file, the buffer to append to, the offset in the file,
    /// and the number of bytes to ask for. [`add_holes`](Self::add_holes) must have returned false.
    pub(crate) fn next(&mut self) -> (&File, &mut Buf, u64, usize) {
        let (offset, most, _) = self.progress.next(self.buf.left());
        (&self.progress.file, &mut self.buf, offset, most)
    }

    /// Returns the buffer, to add the bytes of a completed read.
    pub(crate) fn buf(&mut self) -> &mut Buf {
        &mut self.buf
    }

    pub(crate) fn slot(&self) -> u32 {
        self.progress.slot
    }

    /// Counts a read that added `got` bytes to the buffer.
    pub(crate) fn count_read(&mut self, got: usize) {
        let asked = self.buf.left() + got;
        let Progress { file, state, .. } = &mut *self.progress;
        // `finish` reports a file that has grown.
        let _ = state.count_read(file, asked, got);
    }

    fn is_complete(&self) -> bool {
        self.progress.state.has_ended() || self.buf.left() == 0
    }

    /// Returns the complete chunk.
    pub(crate) fn into_chunk(mut self) -> (Box<Progress>, Chunk) {
        let part = match (self.progress.has_started, self.progress.state.has_ended()) {
            (false, true) => Part::Only,
            (false, false) => Part::First,
            (true, false) => Part::Middle,
            (true, true) => Part::Last,
        };
        self.progress.has_started = true;
        let chunk = Chunk { slot: self.progress.slot, part, buf: self.buf };
        (self.progress, chunk)
    }

    /// Closes the file and returns the buffer.
    pub(crate) fn into_buf(self) -> Buf {
        self.buf
    }

    /// Restarts the chunk in a new buffer of the same capacity, and returns the old buffer.
    pub(crate) fn start_over(&mut self) -> Buf {
        self.progress.state.go_back(self.buf.filled() as u64);
        let fresh = Buf::new(self.buf.capacity());
        std::mem::replace(&mut self.buf, fresh)
    }

    /// Reads with plain system calls until the chunk is complete.
    pub(crate) fn fill(self) -> Result<(Box<Progress>, Chunk), (Buf, Failure)> {
        self.fill_with(|file, buf, offset, most| buf.read(file, offset, most))
    }

    fn fill_with(
        mut self,
        mut read: impl FnMut(&File, &mut Buf, u64, usize) -> std::io::Result<usize>,
    ) -> Result<(Box<Progress>, Chunk), (Buf, Failure)> {
        while !self.add_holes() {
            let (file, buf, offset, most) = self.next();
            match read(file, buf, offset, most) {
                Ok(got) => self.count_read(got),
                Err(source) => return Err((self.buf, Failure::of_read(source))),
            }
        }
        Ok(self.into_chunk())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::{self, Write};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::FileExt as _;

    use ftk_file::Symlinks;
    use proptest::prelude::*;
    use rustix::fs::CWD;

    use super::*;
    use crate::Span;

    fn open(path: &std::path::Path) -> File {
        let path = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
        File::open(CWD, &path, Symlinks::NoFollow).unwrap()
    }

    /// Reads a file in chunks of `buf_len` bytes. Returns the bytes and the result of `finish`.
    fn read_all(
        file: File,
        buf_len: usize,
        span: Span,
        mut read: impl FnMut(&File, &mut Buf, u64, usize) -> io::Result<usize>,
    ) -> (Vec<u8>, Result<Stat, Failure>) {
        let mut progress = Progress::new(0, file, How::new(Symlinks::NoFollow, span));
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
            assert_eq!(chunk.as_ref().len(), buf_len, "only the last chunk may be short");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_short_read_is_not_the_end(
            content in prop::collection::vec(any::<u8>(), 0..300),
            buf_len in 1..100_usize,
            lengths in prop::collection::vec(1..100_usize, 1..20),
            piece in 1..60_u32,
            pieces in 1..6_u32,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("file");
            fs::write(&path, &content).unwrap();
            let mut lengths = lengths.iter().cycle();
            for span in [Span::Whole, Span::Sample { whole: 0, piece, pieces }] {
                let (bytes, result) = read_all(open(&path), buf_len, span, |file, buf, offset, most| {
                    let mut some = vec![0; most.min(*lengths.next().unwrap())];
                    let got = file.read_at(&mut some, offset)?;
                    buf.append(&some[..got]);
                    Ok(got)
                });
                let ranges = span.ranges(content.len() as u64);
                let expected: Vec<_> =
                    ranges.flat_map(|range| &content[range.start as usize..range.end as usize]).collect();
                prop_assert!(bytes.iter().eq(expected), "{:?}", span);
                prop_assert!(result.is_ok());
            }
        }
    }

    #[test]
    fn reading_a_growing_file_ends_and_reports_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for content in ["", "some lines"] {
            fs::write(&path, content).unwrap();
            let mut log = OpenOptions::new().append(true).open(&path).unwrap();
            let (bytes, result) = read_all(open(&path), 4, Span::Whole, |file, buf, offset, most| {
                log.write_all(b"another line").unwrap();
                buf.read(file, offset, most)
            });
            assert!(bytes.len() <= content.len() + 4, "reading went on past the size at the open");
            assert!(matches!(result, Err(Failure::Changed { .. })), "{result:?}");
        }
    }

    #[test]
    fn a_file_smaller_than_the_buffer_needs_one_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"content").unwrap();
        let mut reads = 0;
        let (bytes, _) = read_all(open(&path), 8, Span::Whole, |file, buf, offset, most| {
            reads += 1;
            buf.read(file, offset, most)
        });
        assert_eq!((bytes.as_slice(), reads), (&b"content"[..], 1));
    }

    /// Returns the reads (offset and bytes asked for) of a file of `len` bytes that has one page of data at each of
    /// `islands`.
    fn reads_of(islands: &[u64], len: u64, span: Span) -> Vec<(u64, usize)> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        let file = fs::File::create(&path).unwrap();
        file.set_len(len).unwrap();
        islands.iter().for_each(|&at| file.write_all_at(&[7; 4096], at).unwrap());
        file.sync_all().unwrap();
        let mut reads = Vec::new();
        let (bytes, result) = read_all(open(&path), 100_000, span, |file, buf, offset, most| {
            reads.push((offset, most));
            buf.read(file, offset, most)
        });
        result.unwrap();
        let content = fs::read(&path).unwrap();
        let expected: Vec<_> =
            span.ranges(len).flat_map(|it| &content[it.start as usize..it.end as usize]).collect();
        assert!(bytes.iter().eq(expected));
        reads
    }

    #[test]
    fn holes_are_not_read() {
        const MIB: u64 = 1 << 20;
        assert_eq!(reads_of(&[], MIB, Span::Whole), []);
        assert_eq!(reads_of(&[], MIB + 5, Span::Whole), []);
        assert_eq!(reads_of(&[300 * 4096], 2 * MIB, Span::Whole), [(300 * 4096, 4096)]);
        // Part of the last data was read into the buffer before.
        assert_eq!(reads_of(&[98_304], MIB, Span::Whole), [(98_304, 1696), (100_000, 2400)]);
        // Data that reaches the end is read as in every other file, to find the end.
        let reads = reads_of(&[MIB - 4096], MIB, Span::Whole);
        assert!(reads[0].0 == MIB - 4096 && reads.len() <= 2, "{reads:?}");
        // A short hole is read, because a lookup takes as long.
        assert_eq!(reads_of(&[0, 8192], MIB, Span::Whole)[0], (0, 4096));
        assert_eq!(reads_of(&[0, 8192], MIB, Span::Whole)[1], (4096, 65_536));
    }

    #[test]
    fn holes_in_pieces_are_not_read() {
        const MIB: u64 = 1 << 20;
        let span = Span::Sample { whole: 0, piece: 40_960, pieces: 2 };
        assert_eq!(reads_of(&[], MIB, span), []);
        assert_eq!(reads_of(&[20_480], MIB, span), [(20_480, 4096)]);
        // So little is read that lookups are not worthwhile.
        let small = Span::Sample { whole: 0, piece: 4096, pieces: 2 };
        assert_eq!(reads_of(&[], MIB, small), [(0, 4096), (MIB - 4096, 4096)]);
    }

    #[test]
    fn a_failed_read_returns_the_buffer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"content").unwrap();
        let filling = Filling::new(
            Progress::new(0, open(&path), How::new(Symlinks::NoFollow, Span::Whole)),
            Buf::new(8),
        );
        let (buf, failure) = filling.fill_with(|_, _, _, _| Err(io::ErrorKind::Other.into())).unwrap_err();
        assert_eq!(buf.capacity(), 8);
        assert!(matches!(failure, Failure::Io { op: "read", .. }));
    }

    #[test]
    #[should_panic(expected = "before its end")]
    fn finish_before_the_end_panics() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"content").unwrap();
        let filling = Filling::new(
            Progress::new(0, open(&path), How::new(Symlinks::NoFollow, Span::Whole)),
            Buf::new(3),
        );
        let (progress, _) = filling.fill().unwrap();
        let _ = progress.finish();
    }
}
