//! The map of a sparse file: which parts of it the archive has. The others are zeros.

use std::io::{self, Read};

use super::header::{number, text};
use super::pax::decimal;
use super::{BLOCK, invalid};

/// The largest number of segments in a map: 16 MiB of memory.
pub(super) const MAX_SEGMENTS: usize = 1 << 20;

/// A part of a file that the archive has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) offset: u64,
    pub(super) len: u64,
}

/// Reads the map of the old format of GNU tar, which is in the header and in blocks after it. Returns the segments and
/// the size of the file.
pub(super) fn of_gnu(
    header: &[u8; BLOCK],
    mut next: impl FnMut(&mut [u8; BLOCK]) -> io::Result<()>,
) -> io::Result<(Vec<Segment>, u64)> {
    let mut map = Vec::new();
    let size = field(&header[483..495])?;
    push_all(&header[386..482], &mut map)?;
    let mut is_continued = header[482] != 0;
    let mut block = [0; BLOCK];
    while is_continued {
        next(&mut block)?;
        push_all(&block[..504], &mut map)?;
        is_continued = block[504] != 0;
    }
    Ok((map, size))
}

fn push_all(fields: &[u8], map: &mut Vec<Segment>) -> io::Result<()> {
    for pair in fields.chunks_exact(24) {
        if text(pair).is_empty() && pair[12] == 0 {
            return Ok(());
        }
        if map.len() >= MAX_SEGMENTS {
            return Err(invalid("its sparse map is too large"));
        }
        map.push(Segment { offset: field(&pair[..12])?, len: field(&pair[12..])? });
    }
    Ok(())
}

fn field(field: &[u8]) -> io::Result<u64> {
    let known =
        number(field).ok().and_then(|it| i64::try_from(it).ok()).and_then(|it| u64::try_from(it).ok());
    known.ok_or_else(|| invalid("its sparse map is damaged"))
}

/// Reads the map of the form 1.0, which is before the content: the number of segments, and their offsets and lengths,
/// each a line, padded to a block. Returns the segments and the number of bytes that were read.
pub(super) fn before_content(input: &mut impl Read, stored: u64) -> io::Result<(Vec<Segment>, u64)> {
    let damaged = || invalid("its sparse map is damaged");
    let (mut block, mut at, mut read) = ([0; BLOCK], BLOCK, 0_u64);
    let mut line = || {
        let mut digits = Vec::new();
        loop {
            if at == BLOCK {
                if stored - read < BLOCK as u64 {
                    return Err(damaged());
                }
                input.read_exact(&mut block)?;
                (at, read) = (0, read + BLOCK as u64);
            }
            let byte = block[at];
            at += 1;
            match byte {
                b'\n' => return decimal(&digits).map(|it| (it, read)).ok_or_else(damaged),
                _ if digits.len() >= 20 => return Err(damaged()),
                byte => digits.push(byte),
            }
        }
    };
    let (segments, mut read) = line()?;
    if segments > MAX_SEGMENTS as u64 {
        return Err(invalid("its sparse map is too large"));
    }
    let mut map = Vec::new();
    for _ in 0..segments {
        let (offset, _) = line()?;
        let len;
        (len, read) = line()?;
        map.push(Segment { offset, len });
    }
    Ok((map, read))
}

/// Checks that a map describes a file of `size` bytes of which the archive has `stored`.
pub(super) fn check(map: &[Segment], size: u64, stored: u64) -> io::Result<()> {
    let (mut end, mut sum) = (0_u64, 0_u64);
    for it in map {
        let next = it.offset.checked_add(it.len).filter(|next| it.offset >= end && *next <= size);
        end = next.ok_or_else(|| invalid("its sparse map is damaged"))?;
        sum += it.len;
    }
    if sum != stored {
        return Err(invalid("its sparse map does not fit its content"));
    }
    Ok(())
}
