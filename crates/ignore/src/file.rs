//! One ignore file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, retry_on_intr};

use crate::line::{Line, MAX_NAME, Patterns, is_special};
use crate::memory::{Held, Memory};

/// Larger ignore files are errors. They are not written by hand.
const MAX_LEN: u64 = 4 << 20;

/// Ignore files that need more steps to match one entry are errors. A step takes one to two nanoseconds.
pub(crate) const MAX_STEPS: u64 = 10_000_000;

/// The lines of one ignore file, for programs that have its content and ask for paths. Nothing is read.
///
/// # Examples
///
/// ```
/// use ftk_ignore::IgnoreFile;
///
/// let file = IgnoreFile::parse("# results\n*.o\n/target/\n!keep.o\n")?;
/// let ignores = |path: &str, is_dir| file.find(path, is_dir).is_some_and(|line| line.ignores);
/// assert!(ignores("src/main.o", false) && !ignores("src/keep.o", false));
/// assert!(ignores("target", true) && !ignores("target", false) && !ignores("src/target", true));
/// let line = file.find("src/keep.o", false).expect("a line matches");
/// assert_eq!((line.number, line.text, line.ignores), (4, &b"!keep.o"[..], false));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct IgnoreFile {
    content: Box<[u8]>,
    lines: Box<[Numbered]>,
    patterns: Patterns,
    /// The memory for all this.
    _held: Held,
}

/// A line, and where it comes from.
#[derive(Debug)]
struct Numbered {
    /// The number of the line in its file, from 1.
    number: u32,
    /// Where it is in the file.
    start: u32,
    line: Line,
}

/// A line that matches an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match<'l> {
    /// The number of the line in its file, from 1.
    pub number: usize,
    /// The line as it is written.
    pub text: &'l [u8],
    /// Whether the entry is ignored. `false` if the line begins with `!`.
    pub ignores: bool,
}

impl IgnoreFile {
    /// Parses the content of an ignore file. A line that is not a valid pattern matches nothing, as in git.
    ///
    /// # Errors
    /// If the content is larger than 4 MiB, or if matching a name of 255 bytes could take more than ten million steps.
    pub fn parse(content: impl Into<Vec<u8>>) -> io::Result<Self> {
        Self::parse_within(content.into(), None)
    }

    /// Returns the last line that matches a path, or `None` if no line does.
    ///
    /// `path` is relative to the directory of the file, without `./` and without a slash at the end. An entry is ignored too
    /// if a directory above it is. This does not look at those: a walk does not enter them.
    pub fn find(&self, path: impl AsRef<OsStr>, is_dir: bool) -> Option<Match<'_>> {
        self.find_bytes(path.as_ref().as_bytes(), is_dir)
    }

    /// Returns the lines of a file that have a pattern, without blank lines and comments. `None` stands for a pattern that
    /// is malformed, which [`parse`](Self::parse) skips as git does.
    ///
    /// ```
    /// let lines: Vec<_> = ftk_ignore::IgnoreFile::patterns(b"# results\n*.o\n\n[a\n").collect();
    /// assert_eq!(lines, [(2, Some(&b"*.o"[..])), (4, None)]);
    /// ```
    pub fn patterns(content: &[u8]) -> impl Iterator<Item = (usize, Option<&[u8]>)> {
        let has_text = |line: &&[u8]| !line.starts_with(b"#") && line.iter().any(|&byte| byte != b' ');
        let lines = numbered_lines(content).filter(move |(_, _, line)| has_text(line));
        lines.map(|(number, _, line)| {
            let is_valid = !line.contains(&0) && Line::parse(line, 0, &mut Patterns::default()).is_some();
            (number as usize, is_valid.then_some(line))
        })
    }

    /// The number of lines with a pattern.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether no line has a pattern.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether every pattern is for names, and means the same in each directory.
    pub fn is_for_names(&self) -> bool {
        self.lines.iter().all(|it| it.line.is_for_names())
    }

    /// Calls `visit` for each line that matches a path, as [`find`](Self::find) does for the last one. Lines with a pattern
    /// are numbered from 0.
    pub fn each_match(&self, path: impl AsRef<OsStr>, is_dir: bool, mut visit: impl FnMut(usize)) {
        let path = path.as_ref().as_bytes();
        let name = last_name(path);
        let file = (&*self.content, &self.patterns);
        let lines = self.lines.iter().enumerate();
        lines.filter(|(_, it)| it.line.matches(file, path, name, is_dir)).for_each(|(nth, _)| visit(nth));
    }

    /// Reads the file `path`, relative to `at`. If that fails, returns no lines, and the error.
    ///
    /// A file that does not exist or is not a regular file has no lines, and is not an error.
    pub(super) fn read(
        at: BorrowedFd<'_>,
        path: &Path,
        memory: Option<&Memory>,
    ) -> (Self, Option<io::Error>) {
        match content(at, path).and_then(|content| Self::parse_within(content, memory)) {
            Ok(lines) => (lines, None),
            Err(error) => (Self::default(), Some(error)),
        }
    }

    fn parse_within(content: Vec<u8>, memory: Option<&Memory>) -> io::Result<Self> {
        if content.is_empty() {
            return Ok(Self::default());
        }
        if content.len() as u64 > MAX_LEN {
            return Err(io::Error::other(format!("the file is larger than {} MiB", MAX_LEN >> 20)));
        }
        let mut held = Held::reserve(memory, Self::bytes_for(&content))?;
        let (mut lines, mut patterns) = (Vec::new(), Patterns::default());
        for (number, start, line) in numbered_lines(&content) {
            if let Some(line) = Line::parse(line, start, &mut patterns) {
                lines.push(Numbered { number, start: start as u32, line });
            }
        }
        if patterns.steps(MAX_NAME) > MAX_STEPS {
            return Err(io::Error::other(
                "it has too many patterns with `*` and `?`: matching would take too long",
            ));
        }
        patterns.shrink_to_fit();
        let (content, lines) = (content.into_boxed_slice(), lines.into_boxed_slice());
        held.shrink_to((content.len() + size_of_val(&*lines) + patterns.bytes()) as u64);
        Ok(Self { content, lines, patterns, _held: held })
    }

    /// Returns the memory that parsing may need, at most.
    fn bytes_for(content: &[u8]) -> u64 {
        let lines = count(content, b'\n') + 1;
        let has_tokens = |line: &&[u8]| line.iter().any(is_special);
        let globs = content.split(|byte| *byte == b'\n').filter(has_tokens);
        let globs = globs.map(|line| Patterns::bytes_for(line.len(), count(line, b'[')));
        (content.len() + 2 * lines * size_of::<Numbered>() + globs.sum::<usize>()) as u64
    }

    /// Returns the most steps to match an entry with a path of this length.
    pub(super) fn steps(&self, path_len: usize) -> u64 {
        self.patterns.steps(path_len)
    }

    /// Returns the last line that matches. `path` is relative to the directory of the file.
    pub(crate) fn find_bytes(&self, path: &[u8], is_dir: bool) -> Option<Match<'_>> {
        let name = last_name(path);
        let file = (&*self.content, &self.patterns);
        let found = self.lines.iter().rev().find(|it| it.line.matches(file, path, name, is_dir))?;
        let text =
            self.content[found.start as usize..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        Some(Match { number: found.number as usize, text, ignores: !found.line.is_negated })
    }
}

/// Returns each line with its number from 1 and its offset. A byte order mark is skipped.
fn numbered_lines(content: &[u8]) -> impl Iterator<Item = (u32, usize, &[u8])> {
    let mut start = if content.starts_with("\u{feff}".as_bytes()) { "\u{feff}".len() } else { 0 };
    (1..).zip(content[start..].split(|&byte| byte == b'\n')).map(move |(number, text)| {
        let line = (number, start, text.strip_suffix(b"\r").unwrap_or(text));
        start += text.len() + 1;
        line
    })
}

fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

fn count(text: &[u8], byte: u8) -> usize {
    text.iter().filter(|it| **it == byte).count()
}

fn content(at: BorrowedFd<'_>, path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe must not block.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut content = Vec::new();
    let fd = match retry_on_intr(|| openat(at, path, flags, Mode::empty())) {
        Ok(fd) => fd,
        // NXIO is the error for a socket.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NXIO) => return Ok(content),
        Err(error) => return Err(error.into()),
    };
    if FileType::from_raw_mode(fstat(&fd)?.st_mode) == FileType::RegularFile {
        File::from(fd).take(MAX_LEN + 1).read_to_end(&mut content)?;
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(content: &[u8]) -> io::Result<IgnoreFile> {
        IgnoreFile::parse(content)
    }

    fn repeated(line: &str, len: usize) -> Vec<u8> {
        line.repeat(len / line.len()).into_bytes()
    }

    const LEN: usize = 400_000;

    #[test]
    fn no_line_of_a_large_file_makes_matching_slow() {
        let deep = "d".repeat(255) + "/" + &"e".repeat(255);
        for line in ["*a?b\n", "a*b?\n", "a\n", "*.o\n", "a/**\n", "/d/e?.o\n", "[a-c]\n", "???\n"] {
            let lines = parse(&repeated(line, LEN)).expect(line);
            assert!(lines.steps(MAX_NAME) <= MAX_STEPS, "{line}");
            assert!(lines.find(&deep, false).is_none(), "{line}");
        }
        for line in ["*a?b*\n", "*a*b*c\n", "/d/*.o\n", "**/abc\n", "**/a*b*c\n", "/*aa*aa*\n"] {
            assert!(parse(&repeated(line, LEN)).is_err(), "{line}");
            assert!(parse(&repeated(line, LEN / 100)).is_ok(), "{line}");
        }
    }

    #[test]
    fn memory_is_that_of_the_content_and_of_a_few_words_for_each_line_and_token() {
        for line in ["a\n", "*a?b\n", "[a]\n", "a/**/b\n", "# comment\n", "!x\n"] {
            let content = repeated(line, 20_000);
            let lines = parse(&content).unwrap();
            let held = lines.content.len() + size_of_val(&*lines.lines) + lines.patterns.bytes();
            assert!(held <= 20 * content.len(), "{line}: {held}");
            assert!(held as u64 <= IgnoreFile::bytes_for(&content), "{line}");
        }
    }

    #[test]
    fn each_line_with_a_pattern_is_named_and_each_that_matches() {
        let content = "\u{feff}x\r\n# no\n  \n!x\n[a\n!\n/\nd\0e\nx/\n".as_bytes();
        let lines: Vec<_> = IgnoreFile::patterns(content).collect();
        assert_eq!(lines[..2], [(1, Some(&b"x"[..])), (4, Some(b"!x"))]);
        assert_eq!(lines[2..], [(5, None), (6, None), (7, None), (8, None), (9, Some(&b"x/"[..]))]);
        let file = parse(b"x\n!x\nx/\na/x\n").unwrap();
        let matches = |path: &str, is_dir| {
            let mut lines = Vec::new();
            file.each_match(path, is_dir, |line| lines.push(line));
            lines
        };
        assert_eq!((matches("x", false), matches("a/x", true)), (vec![0, 1], vec![0, 1, 2, 3]));
        assert_eq!((file.len(), matches("a", true)), (4, vec![]));
        assert!(!file.is_for_names() && parse(b"x/\n!y\n").unwrap().is_for_names());
    }

    #[test]
    fn the_last_line_that_matches_is_found_with_its_text() {
        let lines = parse("\u{feff}x\r\n# no\n!*.c\r\n/a/*.o\nx".as_bytes()).unwrap();
        let found = |path: &[u8]| lines.find_bytes(path, false).map(|it| (it.number, it.text, it.ignores));
        assert_eq!(found(b"x"), Some((5, &b"x"[..], true)));
        assert_eq!(found(b"d/b.c"), Some((3, &b"!*.c"[..], false)));
        assert_eq!(found(b"a/b.o"), Some((4, &b"/a/*.o"[..], true)));
        assert_eq!(found(b"b.o"), None);
    }
}
