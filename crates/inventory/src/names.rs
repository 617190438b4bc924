//! An arena of names.

use std::ffi::CStr;

use crate::Full;

/// The binary logarithm of the size of a segment in bytes.
const SEGMENT_BITS: u32 = 20;
/// The number of segments that an offset of 32 bits can reach.
const MAX_SEGMENTS: usize = 1 << (u32::BITS - SEGMENT_BITS);

/// The offset of a name in its arena, and its length without the terminator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) offset: u32,
    pub(crate) len: u16,
}

/// An arena of names, each with its terminator, in segments of 1 MiB.
///
/// Segments do not move, so growing copies nothing, and at most one segment is allocated in
/// advance. A name is always in one segment.
#[derive(Debug, Default)]
pub(crate) struct Names {
    segments: Vec<Vec<u8>>,
}

impl Names {
    pub(crate) fn push(&mut self, name: &CStr) -> Result<Name, Full> {
        self.push_below(MAX_SEGMENTS, name.to_bytes())
    }

    /// Adds a name that contains no NUL.
    pub(crate) fn push_bytes(&mut self, name: &[u8]) -> Result<Name, Full> {
        self.push_below(MAX_SEGMENTS, name)
    }

    /// Adds the name of a link and its target, which [`target`](Self::target) returns.
    pub(crate) fn push_link(&mut self, name: &CStr, target: &CStr) -> Result<Name, Full> {
        let len = u16::try_from(name.count_bytes()).map_err(|_| Full::LongName)?;
        let (name, target) = (name.to_bytes_with_nul(), target.to_bytes_with_nul());
        let (segment, offset) = self.room(MAX_SEGMENTS, name.len() + target.len())?;
        segment.extend_from_slice(name);
        segment.extend_from_slice(target);
        Ok(Name { offset, len })
    }

    fn push_below(&mut self, max_segments: usize, name: &[u8]) -> Result<Name, Full> {
        let len = u16::try_from(name.len()).map_err(|_| Full::LongName)?;
        let (segment, offset) = self.room(max_segments, name.len() + 1)?;
        segment.extend_from_slice(name);
        segment.push(0);
        Ok(Name { offset, len })
    }

    /// Returns a segment with room for `len` bytes, and the offset of its end.
    fn room(&mut self, max_segments: usize, len: usize) -> Result<(&mut Vec<u8>, u32), Full> {
        let fits = self.segments.last().is_some_and(|last| last.len() + len <= 1 << SEGMENT_BITS);
        if !fits {
            if self.segments.len() == max_segments {
                return Err(Full::Names);
            }
            self.segments.push(Vec::with_capacity(1 << SEGMENT_BITS));
        }
        let at = self.segments.len() - 1;
        let offset = (at as u32) << SEGMENT_BITS | self.segments[at].len() as u32;
        Ok((&mut self.segments[at], offset))
    }

    /// Returns the bytes in use. Memory that was allocated but not written does not count.
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

    /// Returns the target of a link. Its name must have been added with [`push_link`](Self::push_link).
    pub(crate) fn target(&self, link: Name) -> &[u8] {
        let rest = &self.at(link)[usize::from(link.len) + 1..];
        CStr::from_bytes_until_nul(rest).expect("a target was pushed as a C string").to_bytes()
    }

    fn get_with_nul(&self, name: Name) -> &[u8] {
        &self.at(name)[..=usize::from(name.len)]
    }

    /// Returns the name and the rest of its segment.
    fn at(&self, name: Name) -> &[u8] {
        let segment = &self.segments[(name.offset >> SEGMENT_BITS) as usize];
        &segment[(name.offset & ((1 << SEGMENT_BITS) - 1)) as usize..]
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    #[test]
    fn names_in_every_segment_are_found() {
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
    fn a_link_and_its_target_are_in_one_segment() {
        let mut names = Names::default();
        let (long, target) =
            (CString::new("n".repeat(60_000)).unwrap(), CString::new("t".repeat(4_095)).unwrap());
        let kept: Vec<_> = (0..50)
            .map(|i| {
                if i % 2 == 0 { names.push_link(&long, &target) } else { names.push_link(c"", c"") }.unwrap()
            })
            .collect();
        assert!(names.segments.len() > 1);
        for (i, &name) in kept.iter().enumerate() {
            let (long, target) =
                if i % 2 == 0 { (long.as_bytes(), target.as_bytes()) } else { (&b""[..], &b""[..]) };
            assert_eq!((names.get(name), names.target(name)), (long, target));
        }
    }

    #[test]
    fn names_that_do_not_fit_are_errors_and_change_nothing() {
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
