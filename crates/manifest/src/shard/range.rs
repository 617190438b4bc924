//! Ranges of paths in the order of a manifest.

use crate::entry::key;

/// The paths from one path up to another one, in the order of a manifest: by bytes, the root before all others.
///
/// Everything below a directory `D` lies in one range too: from `D/` up to `D0`, since `0` is the byte after `/`. Other
/// paths may come between `D` and `D/`: `a`, `a-b`, `a/x`, `ab`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRange {
    /// The first path; empty for the root.
    from: Vec<u8>,
    /// The first path after the range; `None` if the range has no end.
    to: Option<Vec<u8>>,
}

/// How the entries below a directory lie relative to a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// All of them belong to the shard.
    Inside,
    /// Some may belong to it, and others may not.
    Crossing,
    /// None of them belong to it.
    Outside,
}

impl PathRange {
    /// Creates the range from the path `from`, included, up to the path `to`, excluded. `None`: from the root, or up to
    /// the end.
    pub fn new(from: Option<&[u8]>, to: Option<&[u8]>) -> Self {
        Self { from: from.map_or_else(Vec::new, |from| key(from).to_vec()), to: to.map(<[u8]>::to_vec) }
    }

    /// Returns the first path; `None` if the range starts at the root.
    pub fn from(&self) -> Option<&[u8]> {
        Some(&*self.from).filter(|from| !from.is_empty())
    }

    /// Returns the first path after the range; `None` if the range has no end.
    pub fn to(&self) -> Option<&[u8]> {
        self.to.as_deref()
    }

    /// Returns whether the range contains a path.
    pub fn contains(&self, path: &[u8]) -> bool {
        let path = key(path);
        *self.from <= *path && self.to.as_deref().is_none_or(|to| path < to)
    }

    /// Returns how the paths below a directory lie relative to the range.
    pub fn place(&self, dir: &[u8]) -> Place {
        let dir = key(dir);
        if self.to.as_ref().is_some_and(|to| *to <= self.from) {
            return Place::Outside;
        }
        if dir.is_empty() {
            let is_all = self.from.is_empty() && self.to.is_none();
            return if is_all { Place::Inside } else { Place::Crossing };
        }
        let (from, to) = (order(&self.from, dir), self.to.as_deref().map(|to| order(to, dir)));
        match (from, to) {
            (Side::After, _) | (_, Some(Side::Before)) => Place::Outside,
            (Side::Before, None | Some(Side::After)) => Place::Inside,
            _ => Place::Crossing,
        }
    }
}

/// Where a path lies relative to those below a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Before all of them.
    Before,
    Below,
    /// After all of them.
    After,
}

/// Returns where `path` lies relative to the paths below `dir`.
fn order(path: &[u8], dir: &[u8]) -> Side {
    match path.strip_prefix(dir) {
        Some([b'/', ..]) => Side::Below,
        Some([next, ..]) if *next > b'/' => Side::After,
        Some(_) => Side::Before,
        None if path < dir => Side::Before,
        None => Side::After,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::entry::is_below;

    fn path() -> impl Strategy<Value = Vec<u8>> {
        let name = select(vec![&b"a"[..], b"a-b", b"ab", b"a0", b"x", b"\n", b"\xff", b"a\x01"]);
        prop::collection::vec(name, 1..4).prop_map(|names| names.join(&b"/"[..]))
    }

    proptest! {
        /// The paths below a directory are all inside if it is inside, and none is if it is outside.
        #[test]
        fn places_hold_for_every_path(
            cuts in prop::array::uniform2(prop::option::of(path())),
            dir in prop_oneof![path(), Just(b".".to_vec())],
            paths in prop::collection::vec(path(), 1..30),
        ) {
            let [from, to] = cuts;
            let range = PathRange::new(from.as_deref(), to.as_deref());
            prop_assert_eq!(range.from(), from.as_deref());
            let below = |path: &Vec<u8>| is_below(&dir, path);
            let mut below: Vec<_> = paths.into_iter().filter(below).collect();
            // The cuts themselves are the paths that are most easily misplaced.
            below.extend([from, to].into_iter().flatten().filter(|cut| is_below(&dir, cut)));
            let inside = below.iter().filter(|path| range.contains(path)).count();
            match range.place(&dir) {
                Place::Inside => prop_assert_eq!(inside, below.len()),
                Place::Outside => prop_assert_eq!(inside, 0),
                Place::Crossing => {}
            }
        }
    }

    #[test]
    fn subtrees_inside_outside_and_across() {
        let range = PathRange::new(Some(b"a-b"), Some(b"b/m"));
        for (dir, place) in [
            (&b"."[..], Place::Crossing),
            (b"a", Place::Inside),
            (b"a-b", Place::Inside),
            (b"a,b", Place::Outside),
            (b"aa", Place::Inside),
            (b"b", Place::Crossing),
            (b"b/l", Place::Inside),
            (b"b/m", Place::Outside),
            (b"c", Place::Outside),
        ] {
            assert_eq!(range.place(dir), place, "{}", dir.escape_ascii());
        }
        assert!(!range.contains(b"a") && range.contains(b"a-b") && range.contains(b"b"));
        assert!(range.contains(b"b/lz") && !range.contains(b"b/m"));
        let all = PathRange::new(None, None);
        assert!(all.contains(b".") && all.place(b".") == Place::Inside);
        let empty = PathRange::new(Some(b"a"), Some(b"a"));
        assert_eq!(empty.place(b"."), Place::Outside);
    }
}
