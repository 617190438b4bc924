//! Joins the blocks of an archive to members.

use std::io::{self, ErrorKind, Read};

use super::header::{Header, MemberKind};
use super::pax::Pax;
use super::sparse::{self, Segment};
use super::{BLOCK, MAX_EXTENSION, TarXattr, invalid};

/// A member of an archive. Times and sizes are those of the file, not of what the archive stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TarMember {
    /// The offset of its header in the archive.
    pub at: u64,
    /// The name as in the archive: it may be absolute, or have `..`.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: MemberKind,
    /// The target of a symbolic link, or the name of the earlier member for a hard link.
    pub target: Vec<u8>,
    /// The size of the content in bytes; 0 for everything but files.
    pub size: u64,
    /// The permission bits.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// The time of the last change, in nanoseconds since the Unix epoch. Without a record of pax, these are whole
    /// seconds.
    pub mtime_ns: i128,
    /// The major and minor number of a device.
    pub device: [u32; 2],
    /// The extended attributes, in the order of the archive. Most archives store none.
    pub xattrs: Vec<TarXattr>,
    /// The access control list, and the one for what is made in a directory, as text. Archives may have them as
    /// attributes, too.
    pub acls: [Option<Vec<u8>>; 2],
}

/// How an archive ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TarEnd {
    /// Whether it has its end mark, two blocks of zeros. Without one it may be cut off between two members.
    pub is_marked: bool,
    /// Whether other bytes than zeros follow, such as a second archive. They were not read as members.
    pub has_more: bool,
}

/// Reads the members of an archive, in order. [`Read`] returns the content of the last one, with the zeros of its
/// holes.
///
/// Uses memory for one header and one map, at most 32 MiB.
///
/// ```
/// use std::io::Read as _;
/// use ftk_record::TarReader;
///
/// let mut block = [0_u8; 512];
/// block[..5].copy_from_slice(b"hello");
/// block[124..136].copy_from_slice(b"00000000003\0");
/// let sum = block.iter().map(|byte| u32::from(*byte)).sum::<u32>() + 8 * 32;
/// block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
/// let archive = [&block[..], b"abc", &[0; 509], &[0; 1024]].concat();
///
/// let mut reader = TarReader::new(&archive[..]);
/// let member = reader.next()?.expect("a member");
/// assert_eq!((&*member.name, member.size), (&b"hello"[..], 3));
/// let mut content = String::new();
/// reader.read_to_string(&mut content)?;
/// assert_eq!(content, "abc");
/// assert_eq!(reader.next()?, None);
/// assert!(reader.end().expect("it has ended").is_marked);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TarReader<R> {
    input: R,
    /// The offset of what is read next.
    at: u64,
    /// The bytes of the member that are still to be read from the archive, without padding.
    stored: u64,
    /// The bytes after the member up to the next block.
    padding: u64,
    content: Content,
    globals: Pax,
    end: Option<TarEnd>,
}

/// What is left of the content of a member.
#[derive(Debug)]
struct Content {
    /// The position in the file.
    at: u64,
    size: u64,
    /// The segments from the current one on, in reverse order.
    map: Vec<Segment>,
}

impl Content {
    const NONE: Self = Self { at: 0, size: 0, map: Vec::new() };
}

impl<R: Read> TarReader<R> {
    /// Creates a reader of an archive that is not compressed.
    pub fn new(input: R) -> Self {
        let globals = Pax::default();
        Self { input, at: 0, stored: 0, padding: 0, content: Content::NONE, globals, end: None }
    }

    /// Returns how the archive ended, after [`next`](Self::next) has returned `None`.
    pub fn end(&self) -> Option<TarEnd> {
        self.end
    }

    /// Returns the next member, or `None` at the end of the archive. Then the input has been read to its end.
    ///
    /// A lone block of zeros ends the archive, as for GNU tar.
    ///
    /// # Errors
    /// If the input cannot be read, is no archive, is damaged, or is cut off in a member. There is no next member then.
    #[expect(clippy::should_implement_trait, reason = "the content of a member is read from the reader")]
    pub fn next(&mut self) -> io::Result<Option<TarMember>> {
        let at = self.at + self.stored + self.padding;
        self.member().map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => invalid(format!("the archive is cut off in the member at byte {at}")),
            ErrorKind::InvalidData => invalid(format!("the member at byte {at}: {error}")),
            _ => error,
        })
    }

    fn member(&mut self) -> io::Result<Option<TarMember>> {
        if self.end.is_some() {
            return Ok(None);
        }
        self.skip_member()?;
        let (mut local, mut long_name, mut long_target) = (None, None, None);
        loop {
            let at = self.at;
            let is_extended = local.is_some() || long_name.is_some() || long_target.is_some();
            let Some(block) = self.header(is_extended)? else { return Ok(None) };
            let header = Header(&block);
            if !header.is_valid() {
                return Err(invalid(match at {
                    0 => "this is no tar archive",
                    _ => "its header is damaged",
                }));
            }
            let stored = header.size()?;
            match header.type_flag() {
                b'x' | b'X' => {
                    local.get_or_insert_with(|| self.globals.clone()).add(&self.extension(stored)?)?
                }
                b'g' => {
                    let records = self.extension(stored)?;
                    self.globals.add(&records)?;
                }
                b'L' => long_name = Some(self.long(stored)?),
                b'K' => long_target = Some(self.long(stored)?),
                // The label of a volume, and the access control list of Solaris, are about no other member.
                b'V' | b'A' => {
                    self.expect(stored);
                    self.skip_member()?;
                }
                b'M' | b'N' => return Err(invalid("it continues another volume")),
                _ => {
                    let pax = local.unwrap_or_else(|| self.globals.clone());
                    return self.described(at, &block, pax, [long_name, long_target]).map(Some);
                }
            }
        }
    }

    /// Makes a member of its header and of what came before it, and prepares reading its content.
    fn described(
        &mut self,
        at: u64,
        block: &[u8; BLOCK],
        mut pax: Pax,
        [long_name, long_target]: [Option<Vec<u8>>; 2],
    ) -> io::Result<TarMember> {
        let header = Header(block);
        let xattrs = pax.take_xattrs();
        let mut sparse = pax.sparse;
        let name = sparse.name.take().or(pax.path).or(long_name).unwrap_or_else(|| header.name());
        let kind = match header.type_flag() {
            // Old programs mark directories by a slash.
            0 | b'0' | b'7' if name.ends_with(b"/") => MemberKind::Directory,
            0 | b'0' | b'7' | b'S' => MemberKind::File,
            b'1' => MemberKind::HardLink,
            b'2' => MemberKind::Symlink,
            b'3' => MemberKind::Char,
            b'4' => MemberKind::Block,
            // GNU tar lists the names in a directory of an incremental archive.
            b'5' | b'D' => MemberKind::Directory,
            b'6' => MemberKind::Fifo,
            other => MemberKind::Other(other),
        };
        let is_device = matches!(kind, MemberKind::Char | MemberKind::Block);
        let id = |id: u64, name| {
            u32::try_from(id).map_err(|_| invalid(format!("its {name} is no possible number")))
        };
        let stored = pax.size.map_or_else(|| header.size(), Ok)?;
        let has_content =
            matches!(kind, MemberKind::File | MemberKind::Other(_)) || header.type_flag() == b'D';
        // Programs do not agree on whether content follows.
        if stored > 0 && !has_content {
            return Err(invalid("it has a size, and is no file"));
        }
        self.expect(stored);
        let (mut map, mut size) = (vec![Segment { offset: 0, len: stored }], stored);
        if header.type_flag() == b'S' {
            (map, size) = sparse::of_gnu(block, |block| {
                self.input.read_exact(block)?;
                self.at += BLOCK as u64;
                Ok(())
            })?;
        } else if sparse.is_given() && kind == MemberKind::File {
            let damaged = || invalid("its sparse map is damaged");
            match sparse.major {
                None | Some(0) => {
                    if sparse.segments.is_some_and(|it| it != sparse.map.len() as u64) {
                        return Err(damaged());
                    }
                    map = sparse.map;
                }
                Some(1) => {
                    let read;
                    (map, read) = sparse::before_content(&mut self.input, stored)?;
                    (self.at, self.stored) = (self.at + read, stored - read);
                }
                Some(_) => return Err(invalid("its sparse map has an unknown form")),
            }
            size = sparse.size.ok_or_else(damaged)?;
        }
        if kind == MemberKind::File {
            sparse::check(&map, size, self.stored)?;
            map.reverse();
            self.content = Content { at: 0, size, map };
        }
        Ok(TarMember {
            at,
            name,
            kind,
            target: pax.target.or(long_target).unwrap_or_else(|| header.target().to_vec()),
            size: if kind == MemberKind::File { size } else { 0 },
            mode: header.mode()?,
            uid: id(pax.uid.map_or_else(|| header.uid(), Ok)?, "uid")?,
            gid: id(pax.gid.map_or_else(|| header.gid(), Ok)?, "gid")?,
            mtime_ns: pax.mtime_ns.map_or_else(|| header.mtime_ns(), Ok)?,
            device: if is_device { header.device()? } else { [0; 2] },
            xattrs,
            acls: pax.acls,
        })
    }

    /// Says that so many bytes follow.
    fn expect(&mut self, stored: u64) {
        self.stored = stored;
        self.padding = stored.next_multiple_of(BLOCK as u64) - stored;
        self.content = Content::NONE;
    }

    /// Reads the next header. Returns `None` at the end of the archive. `is_extended`: a member must follow.
    fn header(&mut self, is_extended: bool) -> io::Result<Option<[u8; BLOCK]>> {
        let mut block = [0; BLOCK];
        let mut len = self.block(&mut block)?;
        let is_first = self.at == len as u64;
        if len == BLOCK && block != [0; BLOCK] {
            return Ok(Some(block));
        }
        if is_extended || !matches!(len, 0 | BLOCK) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if is_first && len == 0 {
            return Err(invalid("this is no tar archive: it is empty"));
        }
        let is_marked = len == BLOCK;
        let mut has_more = false;
        while len > 0 {
            len = self.block(&mut block)?;
            has_more |= block[..len].iter().any(|byte| *byte != 0);
        }
        self.end = Some(TarEnd { is_marked, has_more });
        Ok(None)
    }

    /// Fills a block as far as possible, and returns the number of bytes.
    fn block(&mut self, block: &mut [u8; BLOCK]) -> io::Result<usize> {
        let mut len = 0;
        while len < BLOCK {
            match self.input.read(&mut block[len..]) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.at += len as u64;
        Ok(len)
    }

    /// Skips what is left of the last member.
    fn skip_member(&mut self) -> io::Result<()> {
        let left = self.stored + self.padding;
        let skipped = io::copy(&mut self.input.by_ref().take(left), &mut io::sink())?;
        (self.stored, self.padding, self.content) = (0, 0, Content::NONE);
        self.at += skipped;
        if skipped < left { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Reads the content of a member that describes the next one.
    fn extension(&mut self, stored: u64) -> io::Result<Vec<u8>> {
        if stored > MAX_EXTENSION {
            return Err(invalid("its extended header is too large"));
        }
        self.expect(stored);
        let mut content = Vec::new();
        self.input.by_ref().take(stored).read_to_end(&mut content)?;
        self.at += content.len() as u64;
        self.stored -= content.len() as u64;
        self.skip_member()?;
        Ok(content)
    }

    /// Reads a long name, up to its NUL.
    fn long(&mut self, stored: u64) -> io::Result<Vec<u8>> {
        let mut name = self.extension(stored)?;
        name.truncate(super::header::text(&name).len());
        Ok(name)
    }
}

impl<R: Read> Read for TarReader<R> {
    /// Reads the content of the last member.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedEof`] if the archive is cut off, and the errors of the input.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Content { at, size, map } = &mut self.content;
        while map.last().is_some_and(|it| it.offset + it.len <= *at) {
            map.pop();
        }
        let (is_hole, end) = match map.last() {
            Some(it) if it.offset <= *at => (false, it.offset + it.len),
            Some(it) => (true, it.offset),
            None => (true, *size),
        };
        let most = usize::try_from(end - *at).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let len = match is_hole {
            true => {
                buffer[..most].fill(0);
                most
            }
            false => self.input.read(&mut buffer[..most])?,
        };
        if len == 0 {
            let what = "the archive is cut off in this member";
            return Err(io::Error::new(ErrorKind::UnexpectedEof, what));
        }
        *at += len as u64;
        if !is_hole {
            self.at += len as u64;
            self.stored -= len as u64;
        }
        Ok(len)
    }
}
