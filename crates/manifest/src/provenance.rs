//! How a manifest was made from a tree and an older manifest: what a later update may conclude from it.

use std::borrow::Cow;

use ftk_file::{FsId, Subvolume};
use ftk_record::{Object, RecordWriter};
use serde::{Deserialize, Serialize};

use crate::field::file_system;
use crate::root_identity::hex;
use crate::text::Text;

/// Where the records of a manifest come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The [lineage](Subvolume::lineage) of the subvolume that contains the root.
    pub lineage: Option<FsId>,
    /// The read-only subvolume that contains the root, if everything in it could be read.
    pub subvolume: Option<RecordedSubvolume>,
    /// The time before which a file must have changed to be [complete](Subvolume::settled_ns) in the snapshot that contains
    /// the root, in nanoseconds since the Unix epoch. `None` if the root is not in one.
    pub settled_ns: Option<i128>,
    /// Whether digests were kept because the user said that the root is a snapshot of what an older manifest records.
    pub snapshot_of: bool,
    /// Set if the last run examined only a part of the tree.
    pub examined: Option<Examined>,
}

/// The state of a read-only subvolume of Btrfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedSubvolume {
    /// Its UUID.
    pub uuid: FsId,
    /// The transaction that made it.
    pub made: u64,
    /// The transaction that changed something in it last.
    pub changed: u64,
}

/// Which part of a tree was examined last: the paths of a list, and some more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The start of the last run that examined the whole tree, in nanoseconds since the Unix epoch.
    pub full_ns: i128,
}

impl Provenance {
    /// Returns that of a new manifest, whose root is in `subvolume` and has this lineage.
    pub fn of(subvolume: Option<&Subvolume>, lineage: Option<FsId>) -> Self {
        let settled_ns = subvolume.and_then(Subvolume::settled_ns);
        let read_only = subvolume.filter(|it| it.is_read_only);
        let subvolume = read_only
            .and_then(|it| Some(RecordedSubvolume { uuid: it.uuid?, made: it.made, changed: it.changed }));
        let subvolume = subvolume.filter(|_| lineage.is_some());
        Self { lineage, subvolume, settled_ns, ..Self::default() }
    }

    /// Returns whether a root in the subvolume `now` with this lineage is another state of the recorded tree, in the
    /// same history: then an inode number means the same file in both.
    pub fn is_history_of(&self, now: Option<&Subvolume>, lineage: Option<FsId>) -> bool {
        let (Some(now), Some(new), Some(old)) = (now, lineage, self.lineage) else { return false };
        // A server that receives snapshots makes each from the one before. The recorded state must not be a later one
        // than that from which the new snapshot was made.
        let is_child = |old: &RecordedSubvolume| now.parent == Some(old.uuid) && old.changed <= now.made;
        old == new || self.subvolume.as_ref().is_some_and(is_child)
    }

    /// Returns the time before which a file must have changed to be complete in both the recorded tree and the present one,
    /// whose provenance is `now`. `None` if all files are, apart from those that changed.
    ///
    /// A snapshot that is later than the recorded one has every change that the recorded one has, complete. An earlier one may
    /// not, and neither may one of a tree that was recorded itself.
    pub(crate) fn settled_with(&self, now: &Self) -> Option<i128> {
        let is_unchanged = |it: &RecordedSubvolume| it.changed <= it.made;
        let both = self
            .subvolume
            .zip(now.subvolume)
            .filter(|(old, new)| self.lineage == now.lineage && is_unchanged(old) && is_unchanged(new));
        match both {
            Some((old, new)) if old == new => None,
            Some((old, new)) if old.made <= new.made => self.settled_ns,
            _ => self.settled_ns.into_iter().chain(now.settled_ns).min(),
        }
    }

    /// Returns that of the parts of a tree together. `start_ns` are the starts of the runs that recorded them.
    pub(crate) fn of_parts<'p>(parts: impl Iterator<Item = (&'p Self, i128)> + Clone) -> Self {
        let is_partial = parts.clone().any(|(part, _)| part.examined.is_some());
        let full_ns = |(part, start_ns): (&Self, _)| part.examined.map_or(start_ns, |it| it.full_ns);
        let examined = parts.clone().map(full_ns).min().filter(|_| is_partial);
        let snapshot_of = parts.clone().any(|(part, _)| part.snapshot_of);
        let settled_ns = parts.clone().filter_map(|(part, _)| part.settled_ns).min();
        let mut all = parts.map(|(part, _)| (part.lineage, part.subvolume));
        let first = all.next().unwrap_or_default();
        let (lineage, subvolume) = if all.all(|it| it == first) { first } else { (None, None) };
        let examined = examined.map(|full_ns| Examined { full_ns });
        Self { lineage, subvolume, settled_ns, snapshot_of, examined }
    }

    /// Returns that of a header with these members, or what is wrong with them.
    pub(crate) fn read(
        lineage: Option<&Text<'_>>,
        subvolume: Option<&Object<SubvolumeLine<'_>>>,
        settled_ns: Option<i128>,
        snapshot_of: Option<bool>,
        examined: Option<&Object<ExaminedLine>>,
    ) -> Result<Self, String> {
        Ok(Self {
            lineage: lineage.map(|digits| uuid(digits)).transpose()?,
            subvolume: subvolume.map(|Object(line)| line.read()).transpose()?,
            settled_ns,
            snapshot_of: snapshot_of.unwrap_or(false),
            examined: examined.map(|Object(line)| Examined { full_ns: line.full_ns }),
        })
    }

    pub(crate) fn write(&self, record: &mut RecordWriter<'_, '_>) {
        if let Some(lineage) = &self.lineage {
            record.member("lineage", hex(lineage));
        }
        if let Some(RecordedSubvolume { uuid, made, changed }) = &self.subvolume {
            let uuid = hex(uuid).into();
            record.member("subvolume", SubvolumeLine { uuid, otransid: *made, ctransid: *changed });
        }
        if let Some(settled_ns) = self.settled_ns {
            record.member("settled_ns", settled_ns);
        }
        if self.snapshot_of {
            record.member("snapshot_of", true);
        }
        if let Some(Examined { full_ns }) = self.examined {
            record.member("examined", WrittenExamined { by: "list", full_ns });
        }
    }
}

/// The member `subvolume`.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct SubvolumeLine<'l> {
    #[serde(borrow)]
    uuid: Cow<'l, str>,
    otransid: u64,
    ctransid: u64,
}

/// The member `examined`, without its source.
#[derive(Debug, Deserialize)]
pub(crate) struct ExaminedLine {
    full_ns: i128,
}

/// The member `examined`.
#[derive(Debug, Serialize)]
struct WrittenExamined {
    by: &'static str,
    full_ns: i128,
}

impl SubvolumeLine<'_> {
    fn read(&self) -> Result<RecordedSubvolume, String> {
        Ok(RecordedSubvolume { uuid: uuid(&self.uuid)?, made: self.otransid, changed: self.ctransid })
    }
}

fn uuid(digits: &str) -> Result<FsId, String> {
    file_system(digits.as_bytes())
        .ok_or_else(|| format!("{digits:?} has not 32 lower-case hexadecimal digits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn id(byte: u8) -> FsId {
        FsId::from_bytes([byte; 16])
    }

    const HOUR: i128 = 3_600_000_000_000;

    #[test]
    fn states_of_one_history_are_the_snapshots_of_a_tree_and_those_received_in_a_row() {
        let of = |uuid, parent: Option<u8>, is_read_only, changed, made| {
            let now = Subvolume {
                uuid: Some(id(uuid)),
                parent: parent.map(id),
                is_read_only,
                changed,
                made,
                made_ns: HOUR + i128::from(made),
            };
            (now, Provenance::of(Some(&now), now.lineage()))
        };
        let origin = of(1, None, false, 90, 5);
        let [first, second] = [of(2, Some(1), true, 9, 10), of(3, Some(1), true, 20, 20)];
        // Written since it was made.
        let copy = of(4, Some(1), false, 30, 25);
        let of_copy = of(5, Some(4), true, 30, 31);
        let [received, next] = [of(6, None, true, 13, 12), of(7, Some(6), true, 16, 14)];
        // The parent was changed after the snapshot was made.
        let branched = of(8, Some(6), true, 16, 12);
        let all = [origin, first, second, copy, of_copy, received, next, branched];
        let related = |old: usize, new: usize| {
            let group = |nth| [0, 0, 0, 3, 3, 5, 6, 7][nth];
            group(old) == group(new) || (old, new) == (5, 6)
        };
        for old in 0..all.len() {
            for (nth, (now, _)) in all.iter().enumerate() {
                let is = all[old].1.is_history_of(Some(now), now.lineage());
                assert_eq!(is, related(old, nth), "{old} {nth}");
            }
            assert!(!all[old].1.is_history_of(Some(&all[old].0), None), "a copy is mounted");
            assert!(!all[old].1.is_history_of(None, None));
        }
        assert_eq!(
            all.map(|(_, it)| it.settled_ns),
            [None, Some(10), Some(20), None, Some(31), None, None, None],
            "an hour before each snapshot was made"
        );
        // Files of a snapshot that changed in the hour before it are trusted in itself only.
        let settled = |old: usize, new: usize| all[old].1.settled_with(&all[new].1);
        let expected = [
            ((1, 1), None),
            ((1, 2), Some(10)),
            ((1, 0), Some(10)),
            // The recorded state is a later one.
            ((2, 1), Some(10)),
            ((0, 2), Some(20)),
            // Of another history.
            ((1, 4), Some(10)),
            ((4, 1), Some(10)),
            ((5, 6), None),
        ];
        for ((old, new), settled_ns) in expected {
            assert_eq!(settled(old, new), settled_ns, "{old} {new}");
        }
        // As if files had been older.
        let earlier = Provenance { settled_ns: None, ..first.1 };
        assert_eq!((earlier.settled_with(&second.1), earlier.settled_with(&of_copy.1)), (None, Some(31)));
        assert_eq!(all.map(|(_, it)| it.subvolume.is_some()), [0, 1, 1, 0, 1, 1, 1, 1].map(|it| it == 1));
    }

    #[test]
    fn parts_have_in_common_what_all_have() {
        let one = Provenance { lineage: Some(id(1)), snapshot_of: true, ..Provenance::default() };
        let two = Provenance { lineage: Some(id(1)), examined: Some(Examined { full_ns: 5 }), ..one };
        let other = Provenance { lineage: Some(id(2)), snapshot_of: false, ..one };
        let merged = |parts: &[(&Provenance, i128)]| Provenance::of_parts(parts.iter().copied());
        assert_eq!(merged(&[(&one, 7), (&one, 8)]), one);
        assert_eq!(merged(&[(&one, 7), (&two, 8)]), two);
        let settled = Provenance { settled_ns: Some(7), ..one };
        let later = Provenance { settled_ns: Some(8), ..one };
        assert_eq!(merged(&[(&later, 7), (&settled, 8), (&one, 7)]), settled);
        let earlier = Provenance { examined: Some(Examined { full_ns: 3 }), ..one };
        assert_eq!(merged(&[(&two, 7), (&one, 3)]), earlier);
        assert_eq!(merged(&[(&other, 7), (&one, 3)]), Provenance { lineage: None, ..one });
    }
}
