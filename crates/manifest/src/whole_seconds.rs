//! Times of archives, which are whole seconds in most formats.

use crate::Header;

const SECOND_NS: i128 = 1_000_000_000;

/// Which of two sides record the members of an archive: the old and the new one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Archives([bool; 2]);

impl Archives {
    /// A record and a tree.
    pub(crate) fn recorded(header: &Header) -> Self {
        Self([header.is_tar, false])
    }

    /// Two records.
    pub(crate) fn both(old: &Header, new: &Header) -> Self {
        Self([old.is_tar, new.is_tar])
    }

    /// Returns two times as they are compared: if an archive has whole seconds, the other side is rounded down to them,
    /// as programs do that write archives.
    pub(crate) fn compared(self, [old_ns, new_ns]: [i128; 2]) -> [i128; 2] {
        let down = |ns: i128| ns.div_euclid(SECOND_NS) * SECOND_NS;
        match self.0 {
            [true, _] if down(old_ns) == old_ns => [old_ns, down(new_ns)],
            [_, true] if down(new_ns) == new_ns => [down(old_ns), new_ns],
            _ => [old_ns, new_ns],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_seconds_of_an_archive_are_compared_so() {
        let (second, more, before) = (5 * SECOND_NS, 5 * SECOND_NS + 1, -1);
        for (archives, times, expected) in [
            ([false, false], [second, more], [second, more]),
            ([true, false], [second, more], [second, second]),
            ([true, false], [more, second], [more, second]),
            ([false, true], [more, second], [second, second]),
            ([false, true], [second, more], [second, more]),
            ([true, false], [-SECOND_NS, before], [-SECOND_NS, -SECOND_NS]),
            ([true, true], [more, second], [second, second]),
        ] {
            assert_eq!(Archives(archives).compared(times), expected, "{archives:?} {times:?}");
        }
    }
}
