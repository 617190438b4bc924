//! An arena of names.

use std::ffi::CStr;

use crate::Full;

/// Bytes of a segment, as a power of two.
const SEGMENT_BITS: u32 = 20;
/// Segments an offset of 32 bits can reach.
const MAX_SEGMENTS: usize = 1 << (u32::BITS - SEGMENT_BITS);

/// Where a name lies in its arena, and its length without the terminator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) offset: u32,
    pub(crate) len: u16,
}

/// Names, each with its terminator, in segments of 1 MiB that never move: growing copies nothing, and no more
/// than one segment is ever allocated but unused. No name straddles two segments.
#[derive(Debug, Default)]
pub(crate) struct Names {
    segments: Vec<Vec<u8>>,
}

impl Names {
    pub(crate) fn push(&mut self, name: &CStr) -> Result<Name, Full> {
        self.push_below(MAX_SEGMENTS, name.to_bytes())
    }

    /// As `push`; the name must hold no zero byte.
    pub(crate) fn push_bytes(&mut self, name: &[u8]) -> Result<Name, Full> {
        self.push_below(MAX_SEGMENTS, name)
    }

    fn push_below(&mut self, max_segments: usize, name: &[u8]) -> Result<Name, Full> {
        let len = u16::try_from(name.len()).map_err(|_| Full::LongName)?;
        let fits = self.segments.last().is_some_and(|last| last.len() + name.len() < 1 << SEGMENT_BITS);
        if !fits {
            if self.segments.len() == max_segments {
                return Err(Full::Names);
            }
            self.segments.push(Vec::with_capacity(1 << SEGMENT_BITS));
        }
        let at = self.segments.len() - 1;
        let offset = (at as u32) << SEGMENT_BITS | self.segments[at].len() as u32;
        self.segments[at].extend_from_slice(name);
        self.segments[at].push(0);
        Ok(Name { offset, len })
    }

    /// Bytes in use: memory that was allocated but never touched costs nothing.
    pub(crate) fn bytes(&self) -> u64 {
        let full = self.segments.len().saturating_sub(1) << SEGMENT_BITS;
        (full + self.segments.last().map_or(0, Vec::len)) as u64
    }

    pub(crate) fn get(&self, name: Name) -> &[u8] {
        let bytes = self.get_with_nul(name);
        &bytes[..bytes.len() - 1]
    }

    pub(crate) fn get_c(&self, name: Name) -> &CStr {
        CStr::from_bytes_with_nul(self.get_with_nul(name)).expect("a name was pushed as a C string")
    }

    fn get_with_nul(&self, name: Name) -> &[u8] {
        let segment = &self.segments[(name.offset >> SEGMENT_BITS) as usize];
        let within = (name.offset & ((1 << SEGMENT_BITS) - 1)) as usize;
        &segment[within..=within + usize::from(name.len)]
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    #[test]
    fn names_come_back_from_every_segment() {
        let mut names = Names::default();
        let long = |i: usize| CString::new(format!("{i}-{}", "x".repeat(60_000))).unwrap();
        let kept: Vec<_> = (0..100).map(|i| names.push(&long(i)).unwrap()).collect();
        assert!(names.segments.len() > 4);
        for (i, &name) in kept.iter().enumerate() {
            assert_eq!(names.get_c(name), long(i).as_c_str());
            assert_eq!(names.get(name), long(i).as_bytes());
        }
        assert!(names.segments.iter().all(|s| s.capacity() == 1 << SEGMENT_BITS));
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_changes_nothing() {
        let mut names = Names::default();
        let long = CString::new("x".repeat(65_536)).unwrap();
        assert_eq!(names.push(&long), Err(Full::LongName));
        let full = CString::new("x".repeat(65_535)).unwrap();
        for _ in 0..2 * 16 {
            names.push_below(2, full.to_bytes()).unwrap();
        }
        assert_eq!(names.push_below(2, b"y"), Err(Full::Names));
        assert_eq!(names.segments.len(), 2);
    }
}
