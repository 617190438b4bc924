//! Reads ncdu's JSON as a stream of events, in memory for one name and for the directories around it.

use std::fmt;
use std::io::{self, BufRead, ErrorKind};

use crate::lines::{MAX_LINE, MAX_NESTED_PATH};
use crate::ncdu::NcduMissing;

/// The deepest nesting in a value that is skipped.
const MAX_NESTING: usize = 128;

/// What the file says about an entry. Unknown members are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NcduEntry<'r> {
    /// The name; for the root its path. Not empty, and without NUL; below the root also without `/`.
    pub name: &'r [u8],
    /// The size in bytes; 0 if the file does not say, and for a further link of an inode in a file of gdu.
    pub apparent_bytes: u64,
    /// The allocated bytes; 0 as for `apparent_bytes`.
    pub allocated_bytes: u64,
    /// For an entry that may have several hard links: device and inode number. The device is that of the nearest
    /// directory above that has one, and 0 if none has.
    pub link: Option<(u64, u64)>,
    /// Why the contents are missing.
    pub missing: Option<NcduMissing>,
    /// Whether the program did not count the entry, because of a pattern or a file system.
    pub is_excluded: bool,
    /// Everything else.
    pub facts: NcduFacts,
}

/// What the file says about an entry besides its space. `None`: it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NcduFacts {
    /// The size in bytes. Files omit it if it is 0, except gdu for directories.
    pub size_bytes: Option<u64>,
    /// The allocated bytes, as `size_bytes`.
    pub allocated_bytes: Option<u64>,
    /// The type and permissions, as in `st_mode`.
    pub mode: Option<u32>,
    /// The owner.
    pub uid: Option<u32>,
    /// The group.
    pub gid: Option<u32>,
    /// The time of the last change to the content, in seconds since 1970. A fraction is cut off.
    pub mtime_seconds: Option<u64>,
    /// The device. Files have it where it is not that of the directory around the entry.
    pub dev: Option<u64>,
    /// The inode number.
    pub ino: Option<u64>,
    /// The number of hard links.
    pub links: Option<u64>,
    /// Whether the entry is neither a regular file nor a directory.
    pub is_special: bool,
}

/// How a file was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NcduMade {
    /// When the tree was read, in seconds since 1970.
    pub seconds: Option<u64>,
    /// Whether ftk wrote it.
    pub is_ftk: bool,
    /// Whether gdu wrote it.
    pub is_gdu: bool,
    /// The first option that ftk selected the entries with. Other programs do not record this.
    pub filter: Option<String>,
}

/// The next part of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NcduEvent<'r> {
    /// A directory begins. The first event is that of the root.
    Open(NcduEntry<'r>),
    /// An entry that is not a directory, or a directory that was not entered.
    Item(NcduEntry<'r>),
    /// The innermost directory ends.
    Close,
}

/// Why a file cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum NcduError {
    /// Reading failed.
    Io(io::Error),
    /// The file is not the JSON of ncdu.
    Syntax {
        /// The number of bytes before the place.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// The path of a directory that has entries is longer than [`MAX_NESTED_PATH`].
    TooLong {
        /// The number of bytes before its first entry.
        offset: u64,
    },
}

impl fmt::Display for NcduError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Syntax { offset, what } => {
                write!(f, "not the JSON of ncdu: {what} (at byte {})", offset + 1)
            }
            Self::TooLong { offset } => {
                let at = offset + 1;
                write!(f, "the path of a directory is longer than {MAX_NESTED_PATH} bytes (at byte {at})")
            }
        }
    }
}

impl std::error::Error for NcduError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => error.source(),
            Self::Syntax { .. } | Self::TooLong { .. } => None,
        }
    }
}

impl From<io::Error> for NcduError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A reader of ncdu's JSON.
#[derive(Debug)]
pub struct NcduReader<R> {
    input: R,
    offset: u64,
    is_started: bool,
    is_finished: bool,
    made: NcduMade,
    open: Vec<OpenDir>,
    name: Vec<u8>,
    text: Vec<u8>,
}

/// A directory whose entries may follow.
#[derive(Clone, Copy, Debug)]
struct OpenDir {
    dev: Option<u64>,
    /// The length of its path, with a slash at its end.
    path_len: usize,
}

/// The members of an object, apart from its name.
#[derive(Default)]
struct Members {
    facts: NcduFacts,
    is_linked: bool,
    missing: Option<NcduMissing>,
    is_excluded: bool,
}

impl<R: BufRead> NcduReader<R> {
    /// Creates a reader.
    pub fn new(input: R) -> Self {
        Self {
            input,
            offset: 0,
            is_started: false,
            is_finished: false,
            made: NcduMade::default(),
            open: Vec::new(),
            name: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Returns how the file was made. This is known after the first part of the tree.
    pub fn made(&self) -> &NcduMade {
        &self.made
    }

    /// Returns the next part of the tree, or `None` after the end of the file.
    ///
    /// # Errors
    /// If the input cannot be read, ends early, or is not the JSON of ncdu. The reader cannot be used after an error.
    #[expect(clippy::should_implement_trait, reason = "an entry borrows the reader's memory")]
    pub fn next(&mut self) -> Result<Option<NcduEvent<'_>>, NcduError> {
        if self.is_finished {
            return Ok(None);
        }
        if !self.is_started {
            self.is_started = true;
            self.header()?;
            return self.directory().map(Some);
        }
        if self.open.is_empty() {
            self.end()?;
            self.is_finished = true;
            return Ok(None);
        }
        match self.token()? {
            b']' => {
                self.open.pop();
                Ok(Some(NcduEvent::Close))
            }
            b',' if self.path_len() > MAX_NESTED_PATH + 1 => Err(NcduError::TooLong { offset: self.offset }),
            b',' => match self.token()? {
                b'[' => self.directory().map(Some),
                b'{' => {
                    let members = self.members()?;
                    Ok(Some(NcduEvent::Item(self.entry(&members, false))))
                }
                _ => self.refuse("expected an entry"),
            },
            _ => self.refuse("expected `,` or `]`"),
        }
    }

    /// Reads everything before the object of the root.
    fn header(&mut self) -> Result<(), NcduError> {
        self.expect(b'[', "expected `[`")?;
        if self.peek_token()?.is_none_or(|byte| !byte.is_ascii_digit()) || self.number()? != 1 {
            return self.refuse("expected version 1 of the format");
        }
        self.expect(b',', "expected `,`")?;
        self.number()?;
        self.expect(b',', "expected `,`")?;
        self.expect(b'{', "expected an object about the program")?;
        if self.peek_token()? == Some(b'}') {
            self.bump();
        } else {
            self.program()?;
        }
        self.expect(b',', "expected `,`")?;
        self.expect(b'[', "expected the root directory")
    }

    /// Reads the object about the program, after its `{`.
    fn program(&mut self) -> Result<(), NcduError> {
        loop {
            self.expect(b'"', "expected a member")?;
            self.string()?;
            self.expect(b':', "expected `:`")?;
            let value = self.peek_token()?;
            match (&*self.text, value) {
                (b"progname", _) => {
                    self.expect(b'"', "expected a string")?;
                    self.string()?;
                    self.made.is_gdu = self.text == b"gdu";
                    self.made.is_ftk = self.text == b"ftk";
                }
                (b"filter", Some(b'"')) => {
                    self.bump();
                    self.string()?;
                    self.made.filter = Some(String::from_utf8_lossy(&self.text).into_owned());
                }
                (b"timestamp", Some(b'0'..=b'9')) => self.made.seconds = Some(self.number()?),
                _ => self.skip_value()?,
            }
            match self.token()? {
                b',' => {}
                b'}' => return Ok(()),
                _ => return self.refuse("expected `,` or `}`"),
            }
        }
    }

    /// Reads everything after the root. Later minor versions of the format may have more values there.
    fn end(&mut self) -> Result<(), NcduError> {
        loop {
            match self.token()? {
                b',' => self.skip_value()?,
                b']' => break,
                _ => return self.refuse("expected `,` or `]`"),
            }
        }
        match self.peek_token()? {
            None => Ok(()),
            Some(_) => self.refuse("expected the end of the file"),
        }
    }

    /// Reads the object of a directory.
    fn directory(&mut self) -> Result<NcduEvent<'_>, NcduError> {
        self.expect(b'{', "expected the object of a directory")?;
        let members = self.members()?;
        let dev = members.facts.dev.or(self.dev());
        let path_len = self.path_len().saturating_add(self.name.len() + 1);
        self.open.push(OpenDir { dev, path_len });
        // The members of the directory itself refer to its own device.
        Ok(NcduEvent::Open(self.entry(&members, true)))
    }

    /// Returns the device of the innermost open directory.
    fn dev(&self) -> Option<u64> {
        self.open.last().and_then(|dir| dir.dev)
    }

    /// Returns the length of the path of the innermost open directory, with a slash at its end.
    fn path_len(&self) -> usize {
        self.open.last().map_or(0, |dir| dir.path_len)
    }

    fn entry(&self, members: &Members, is_open: bool) -> NcduEntry<'_> {
        let Members { facts, is_linked, missing, is_excluded } = *members;
        let is_gdu = self.made.is_gdu;
        let dev = facts.dev.or(self.dev());
        // gdu does not mark the link that it counts, but all further links of the inode.
        let space = |bytes: Option<u64>| bytes.filter(|_| !(is_gdu && is_linked)).unwrap_or_default();
        let is_known = missing.is_none() && !is_excluded;
        // Directories that ftk did not select have no size.
        let lacks_size = is_open && (is_gdu || self.made.filter.is_some());
        let zero = (is_known && !lacks_size).then_some(0);
        let one = (is_known && !is_open && !is_gdu && !is_linked).then_some(1);
        NcduEntry {
            name: &self.name,
            apparent_bytes: space(facts.size_bytes),
            allocated_bytes: space(facts.allocated_bytes),
            link: facts.ino.filter(|_| is_linked && !is_gdu).map(|ino| (dev.unwrap_or_default(), ino)),
            missing,
            is_excluded,
            facts: NcduFacts {
                size_bytes: facts.size_bytes.or(zero),
                allocated_bytes: facts.allocated_bytes.or(zero),
                dev,
                links: facts.links.or(one),
                ..facts
            },
        }
    }

    /// Reads the members of an object, after its `{`.
    fn members(&mut self) -> Result<Members, NcduError> {
        let mut members = Members::default();
        self.name.clear();
        if self.peek_token()? == Some(b'}') {
            return self.refuse("an entry has no name");
        }
        loop {
            self.expect(b'"', "expected a member")?;
            self.string()?;
            self.expect(b':', "expected `:`")?;
            self.member(&mut members)?;
            match self.token()? {
                b',' => {}
                b'}' => break,
                _ => return self.refuse("expected `,` or `}`"),
            }
        }
        if self.name.is_empty() {
            return self.refuse("an entry has no name");
        }
        let is_root = self.open.is_empty();
        if self.name.iter().any(|byte| *byte == 0 || (*byte == b'/' && !is_root)) {
            return self.refuse("a name contains NUL or `/`");
        }
        Ok(members)
    }

    /// Reads the value of the member whose name is in `text`.
    fn member(&mut self, members: &mut Members) -> Result<(), NcduError> {
        match &*self.text {
            b"name" if !self.name.is_empty() => return self.refuse("an entry has two names"),
            b"name" => {
                self.expect(b'"', "expected a string")?;
                self.string()?;
                std::mem::swap(&mut self.name, &mut self.text);
            }
            b"asize" => members.facts.size_bytes = Some(self.number()?),
            b"dsize" => members.facts.allocated_bytes = Some(self.number()?),
            b"dev" => members.facts.dev = Some(self.number()?),
            b"ino" => members.facts.ino = Some(self.number()?),
            b"nlink" => {
                let links = self.number()?;
                members.facts.links = Some(links);
                members.is_linked |= links > 1;
            }
            b"mode" => members.facts.mode = self.whole_number()?,
            b"uid" => members.facts.uid = self.whole_number()?,
            b"gid" => members.facts.gid = self.whole_number()?,
            b"mtime" => members.facts.mtime_seconds = self.whole_number()?,
            b"notreg" => members.facts.is_special = self.boolean()?,
            b"hlnkc" => members.is_linked |= self.boolean()?,
            b"read_error" => {
                if self.boolean()? {
                    members.missing = Some(NcduMissing::Unreadable);
                }
            }
            b"excluded" => {
                self.expect(b'"', "expected a string")?;
                self.string()?;
                members.is_excluded = true;
                if matches!(&*self.text, b"otherfs" | b"othfs" | b"kernfs") {
                    members.missing = Some(NcduMissing::OtherFileSystem);
                }
            }
            _ => self.skip_value()?,
        }
        Ok(())
    }

    /// Reads a value that may be of any kind. Returns its whole part, if it is a number that is not negative.
    fn whole_number<T: TryFrom<u64>>(&mut self) -> Result<Option<T>, NcduError> {
        let mut value = Some(0_u64);
        let (mut has_digits, mut is_fraction) = (false, false);
        self.peek_token()?;
        while let Some(byte) =
            self.peek()?.filter(|byte| byte.is_ascii_digit() || has_digits && *byte == b'.')
        {
            is_fraction |= byte == b'.';
            if !is_fraction {
                let digit = u64::from(byte - b'0');
                value = value.and_then(|it| it.checked_mul(10)?.checked_add(digit));
            }
            has_digits = true;
            self.bump();
        }
        match self.peek()? {
            None | Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n') if has_digits => {
                Ok(value.and_then(|it| it.try_into().ok()))
            }
            _ => self.skip_value().map(|()| None),
        }
    }

    fn number(&mut self) -> Result<u64, NcduError> {
        let mut value: Option<u64> = None;
        self.peek_token()?;
        while let Some(digit) = self.peek()?.filter(u8::is_ascii_digit) {
            let next =
                value.unwrap_or(0).checked_mul(10).and_then(|it| it.checked_add(u64::from(digit - b'0')));
            let Some(next) = next else { return self.refuse("a number is too large") };
            value = Some(next);
            self.bump();
        }
        match (value, self.peek()?) {
            (Some(value), None | Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n')) => Ok(value),
            _ => self.refuse("expected a whole number"),
        }
    }

    fn boolean(&mut self) -> Result<bool, NcduError> {
        let word: &[u8] = match self.peek_token()? {
            Some(b't') => b"true",
            Some(b'f') => b"false",
            _ => return self.refuse("expected true or false"),
        };
        for byte in word {
            self.expect_next(*byte, "expected true or false")?;
        }
        Ok(word == b"true")
    }

    /// Reads a string into `text`, after its quote.
    fn string(&mut self) -> Result<(), NcduError> {
        self.text.clear();
        loop {
            let buffer = fill(&mut self.input)?;
            if buffer.is_empty() {
                return self.refuse(ENDS_EARLY);
            }
            let at = memchr::memchr2(b'"', b'\\', buffer);
            let part = &buffer[..at.unwrap_or(buffer.len())];
            self.text.extend_from_slice(part);
            let used = part.len() + usize::from(at.is_some());
            let end = at.map(|at| buffer[at]);
            self.input.consume(used);
            self.offset += used as u64;
            match end {
                _ if self.text.len() > MAX_LINE => return self.refuse("a string is too long"),
                Some(b'"') => return Ok(()),
                Some(_) => self.escape()?,
                None => {}
            }
        }
    }

    /// Reads an escape into `text`, after its backslash.
    fn escape(&mut self) -> Result<(), NcduError> {
        let byte = match self.next_byte()? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut unit = self.code_unit()?;
                if (0xd800..0xdc00).contains(&unit) {
                    self.expect_next(b'\\', "half of a surrogate pair")?;
                    self.expect_next(b'u', "half of a surrogate pair")?;
                    let low = self.code_unit()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return self.refuse("half of a surrogate pair");
                    }
                    unit = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                }
                let Some(char) = char::from_u32(unit) else { return self.refuse("half of a surrogate pair") };
                self.text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return self.refuse("an unknown escape"),
        };
        self.text.push(byte);
        Ok(())
    }

    fn code_unit(&mut self) -> Result<u32, NcduError> {
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = char::from(self.next_byte()?).to_digit(16) else {
                return self.refuse("expected four hexadecimal digits");
            };
            unit = unit * 16 + digit;
        }
        Ok(unit)
    }

    /// Skips a value of any kind.
    fn skip_value(&mut self) -> Result<(), NcduError> {
        let mut closers = Vec::new();
        loop {
            match self.token()? {
                b'"' => self.string()?,
                b'[' => closers.push(b']'),
                b'{' => closers.push(b'}'),
                byte @ (b']' | b'}') if closers.last() == Some(&byte) => drop(closers.pop()),
                b',' | b':' if !closers.is_empty() => continue,
                b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                    while self.peek()?.as_ref().is_some_and(is_part) {
                        self.bump();
                    }
                }
                _ => return self.refuse("expected a value"),
            }
            match closers.len() {
                0 => return Ok(()),
                1..=MAX_NESTING => {}
                _ => return self.refuse("a value is nested too deeply"),
            }
        }
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), NcduError> {
        self.peek_token()?;
        self.expect_next(byte, what)
    }

    fn expect_next(&mut self, byte: u8, what: &'static str) -> Result<(), NcduError> {
        match self.peek()? {
            Some(next) if next == byte => {
                self.bump();
                Ok(())
            }
            None => self.refuse(ENDS_EARLY),
            Some(_) => self.refuse(what),
        }
    }

    /// Returns the next byte that is not white space.
    fn token(&mut self) -> Result<u8, NcduError> {
        self.peek_token()?;
        self.next_byte()
    }

    fn peek_token(&mut self) -> Result<Option<u8>, NcduError> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek()? {
            self.bump();
        }
        self.peek()
    }

    fn next_byte(&mut self) -> Result<u8, NcduError> {
        match self.peek()? {
            Some(byte) => {
                self.bump();
                Ok(byte)
            }
            None => self.refuse(ENDS_EARLY),
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, NcduError> {
        Ok(fill(&mut self.input)?.first().copied())
    }

    /// Consumes the byte that was peeked at.
    fn bump(&mut self) {
        self.input.consume(1);
        self.offset += 1;
    }

    fn refuse<T>(&self, what: &'static str) -> Result<T, NcduError> {
        Err(NcduError::Syntax { offset: self.offset, what })
    }
}

const ENDS_EARLY: &str = "the file ends early";

fn fill(input: &mut impl BufRead) -> io::Result<&[u8]> {
    // A second call after an interrupted one returns the same buffer, so it is the result of the first success.
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    input.fill_buf()
}
