//! The block before each member of an archive.

use std::io;

use super::{BLOCK, invalid};

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    /// A regular file, with its content.
    File,
    /// Another name of an earlier member, which [`target`](super::TarMember::target) names.
    HardLink,
    /// A symbolic link.
    Symlink,
    /// A character device.
    Char,
    /// A block device.
    Block,
    /// A directory.
    Directory,
    /// A FIFO.
    Fifo,
    /// A type that ftk does not know, such as a continuation of another volume. Its content is skipped.
    Other(u8),
}

/// One block that is a header.
pub(super) struct Header<'b>(pub(super) &'b [u8; BLOCK]);

impl Header<'_> {
    /// Returns whether the checksum is right. Some old programs added up signed bytes.
    pub(super) fn is_valid(&self) -> bool {
        let blank = |at: usize| (148..156).contains(&at);
        let bytes = || self.0.iter().enumerate().map(|(at, byte)| if blank(at) { b' ' } else { *byte });
        let unsigned: i64 = bytes().map(i64::from).sum();
        let signed: i64 = bytes().map(|byte| i64::from(byte.cast_signed())).sum();
        number(&self.0[148..156]).is_ok_and(|sum| sum == i128::from(unsigned) || sum == i128::from(signed))
    }

    pub(super) fn type_flag(&self) -> u8 {
        self.0[156]
    }

    /// Returns the name, with the prefix that only POSIX headers have.
    pub(super) fn name(&self) -> Vec<u8> {
        let (prefix, name) = (text(&self.0[345..500]), text(&self.0[..100]));
        match &self.0[257..263] {
            b"ustar\0" if !prefix.is_empty() => [prefix, b"/", name].concat(),
            _ => name.to_vec(),
        }
    }

    pub(super) fn target(&self) -> &[u8] {
        text(&self.0[157..257])
    }

    pub(super) fn mode(&self) -> io::Result<u32> {
        Ok(unsigned(&self.0[100..108], "mode", 0o7777_7777)? as u32 & 0o7777)
    }

    pub(super) fn uid(&self) -> io::Result<u64> {
        unsigned(&self.0[108..116], "uid", u32::MAX.into())
    }

    pub(super) fn gid(&self) -> io::Result<u64> {
        unsigned(&self.0[116..124], "gid", u32::MAX.into())
    }

    /// Returns the number of bytes in the archive that follow, without padding.
    pub(super) fn size(&self) -> io::Result<u64> {
        unsigned(&self.0[124..136], "size", i64::MAX as u64)
    }

    pub(super) fn mtime_ns(&self) -> io::Result<i128> {
        let seconds = number(&self.0[136..148]).ok().filter(|it| i64::try_from(*it).is_ok());
        seconds.map(|it| it * 1_000_000_000).ok_or_else(|| invalid("its mtime is no number"))
    }

    /// Returns the major and minor number of a device. v7 has none.
    pub(super) fn device(&self) -> io::Result<[u32; 2]> {
        let number = |range, name| Ok::<_, io::Error>(unsigned(range, name, u32::MAX.into())? as u32);
        Ok([number(&self.0[329..337], "devmajor")?, number(&self.0[337..345], "devminor")?])
    }
}

fn unsigned(field: &[u8], name: &str, most: u64) -> io::Result<u64> {
    let known = number(field).ok().and_then(|it| u64::try_from(it).ok()).filter(|it| *it <= most);
    known.ok_or_else(|| invalid(format!("its {name} is no possible number")))
}

/// Returns a number: octal digits after blanks, up to a blank or NUL; or a binary number in two's complement that the
/// highest bit of the field marks. Nothing is 0. A field has at most 12 bytes.
pub(super) fn number(field: &[u8]) -> Result<i128, ()> {
    if field[0] & 0x80 != 0 {
        // The next bit is the sign.
        let first = i128::from((field[0] << 1).cast_signed() >> 1);
        return Ok(field[1..].iter().fold(first, |all, byte| all << 8 | i128::from(*byte)));
    }
    let digits = text(field).trim_ascii_start();
    let end = digits.iter().position(|byte| *byte == b' ').unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    if !rest.trim_ascii().is_empty() || digits.iter().any(|byte| !matches!(byte, b'0'..=b'7')) {
        return Err(());
    }
    Ok(digits.iter().fold(0, |all, digit| all << 3 | i128::from(digit - b'0')))
}

/// Returns a text up to the first NUL.
pub(super) fn text(field: &[u8]) -> &[u8] {
    &field[..memchr::memchr(0, field).unwrap_or(field.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_octal_or_binary() {
        for (field, expected) in [
            (&b"0000644\0"[..], Ok(0o644)),
            (b"   644 \0", Ok(0o644)),
            (b"77777777", Ok(0o7777_7777)),
            (b"\0\0\0\0\0\0\0\0", Ok(0)),
            (b"        ", Ok(0)),
            (b"\x80\0\0\0\0\0\x01\x02", Ok(258)),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff", Ok(-1)),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", Ok(-2)),
            (b"\x80\0\0\0\0\0\0\x02\0\0\0\0", Ok(1 << 33)),
            (b"0000648\0", Err(())),
            (b"06 4\0\0\0\0", Err(())),
            (b"-1\0\0\0\0\0\0", Err(())),
            (b"0x10\0\0\0\0", Err(())),
        ] {
            assert_eq!(number(field), expected, "{}", field.escape_ascii());
        }
    }
}
