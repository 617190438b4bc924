//! Failures that file tools have had, by number. The tests of each bear its number: `h08_a_stale_result`.

use std::fmt;

/// What a failure does to whoever meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    DataLoss,
    Security,
    WrongResult,
    Hang,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DataLoss => "data loss",
            Self::Security => "security",
            Self::WrongResult => "wrong result",
            Self::Hang => "hang",
        })
    }
}

/// A failure.
pub(crate) struct Entry {
    pub(crate) number: u8,
    pub(crate) kinds: &'static [Kind],
    /// The failure, not what is right.
    pub(crate) title: &'static str,
    pub(crate) untested: Untested,
}

/// What no test of an entry says anything about.
pub(crate) enum Untested {
    Nothing,
    Parts(&'static [Part]),
    /// The whole of it, and why.
    All(&'static str),
}

/// A case of an entry that is not tested.
pub(crate) struct Part {
    pub(crate) what: &'static str,
    pub(crate) why: &'static str,
}

const fn entry(number: u8, kinds: &'static [Kind], title: &'static str) -> Entry {
    Entry { number, kinds, title, untested: Untested::Nothing }
}

impl Entry {
    const fn without(self, parts: &'static [Part]) -> Self {
        Self { untested: Untested::Parts(parts), ..self }
    }

    const fn waits(self, why: &'static str) -> Self {
        Self { untested: Untested::All(why), ..self }
    }
}

const D: Kind = Kind::DataLoss;
const S: Kind = Kind::Security;
const W: Kind = Kind::WrongResult;
const H: Kind = Kind::Hang;

/// Every entry, by number from 1 without a gap.
pub(crate) const ENTRIES: &[Entry] = &[
    entry(1, &[D], "a symbolic link is counted as the copy that stays"),
    entry(2, &[D], "one file reached by two names is its own duplicate").without(&[
        Part { what: "a directory of NFS that is mounted twice", why: "needs a server in the kernel" },
        Part {
            what: "a directory in which case does not matter",
            why: "the kernel was built without Unicode for ext4",
        },
    ]),
    entry(3, &[D], "a missing digest equals another missing digest"),
    entry(4, &[D], "a rule says which copy stays, and none does"),
    entry(5, &[D], "another action is taken in silence when the wanted one is impossible"),
    entry(6, &[D], "a replacement fails half-way and the file is gone"),
    entry(7, &[W], "a temporary name does not fit beside a name of 255 bytes"),
    entry(8, &[D], "a file that has changed since the search is removed"),
    entry(9, &[S], "a directory on the way becomes a symbolic link, and what lies behind it is removed"),
    entry(10, &[D], "sharing blocks overwrites content that differs"),
    entry(11, &[D, S], "mode, owner, times or attributes are lost by linking"),
    entry(12, &[W], "names of one file are torn apart and nothing is freed"),
    entry(13, &[W], "a file can have no more names"),
    entry(14, &[D], "tidying up empty directories climbs out of the tree"),
    entry(15, &[D], "the default changes something"),
    entry(16, &[W], "a file of the tool's own choosing is overwritten"),
    entry(17, &[W], "the output lies in the tree and becomes input"),
    entry(18, &[S], "a newline in a name makes a second record"),
    entry(19, &[W], "a backslash in a name is taken for a separator"),
    entry(20, &[H, W], "a name that is not UTF-8 hangs the tool or breaks its JSON"),
    entry(21, &[S], "a name in a generated script is run by the shell"),
    entry(22, &[S], "a name in a report acts on the terminal"),
    entry(23, &[S], "a hostile list breaks its parser"),
    entry(24, &[W], "whoever reads the output trips over its escapes"),
    entry(25, &[S], "a hostile list leads out of the tree"),
    entry(26, &[W], "a malformed or empty list is a success"),
    entry(27, &[W], "an error does not reach the exit status"),
    entry(28, &[W], "a verification is blind to a kind of change"),
    entry(29, &[W], "a list that was cut off looks complete"),
    entry(30, &[W], "threads race and a digest is wrong"),
    entry(31, &[D], "a stale or poisoned cache is believed").waits("ftk keeps no digests between runs"),
    entry(32, &[D], "files are equal because parts of them are"),
    entry(33, &[S], "files are equal because their digests collide"),
    entry(34, &[W], "a file that changes while it is read has a digest"),
    entry(35, &[H], "a FIFO, a device or a file of the kernel is read for ever")
        .without(&[Part { what: "a directory of autofs", why: "needs a daemon that mounts it" }]),
    entry(36, &[H, W], "a symbolic link leads in a circle or out of the tree"),
    entry(37, &[W], "device and inode number are no identity").without(&[Part {
        what: "inode numbers that change while nothing else does",
        why: "takes a file system made for it; reports whose numbers are wrong are tested, and btrfs",
    }]),
    entry(38, &[W], "holes and huge files have the wrong digest").without(&[Part {
        what: "the digest of a terabyte",
        why: "takes the better part of an hour: holes are read like everything else",
    }]),
    entry(39, &[W, H], "long paths, deep trees and wide directories"),
    entry(40, &[W], "filters that are optimised find something else"),
    entry(41, &[D], "directories are called equal that are not")
        .waits("ftk says nothing of whole directories yet"),
    entry(42, &[W], "the bytes said to be freed are not"),
    entry(43, &[D], "the plan changes the answer"),
    entry(44, &[D], "a file that was not read has a digest"),
    entry(45, &[W], "without io_uring nothing works"),
    entry(46, &[W], "a short read is taken for the end"),
    entry(47, &[W], "output that could not be written is a success"),
    entry(48, &[W], "errors are forgotten with several threads"),
    entry(49, &[H], "signals are ignored"),
    entry(50, &[W], "an argument is taken for a pattern"),
    entry(51, &[W], "one odd name makes the whole list useless"),
    entry(52, &[W], "descriptors run out and entries are missing"),
    entry(53, &[W], "an unreadable file verifies as intact"),
    entry(54, &[H], "the walk never ends, or entries are missing from it"),
    entry(55, &[W], "one thread does the work of all"),
    entry(56, &[W], "megabytes of memory for an empty directory"),
    entry(57, &[W], "a calibration that measured noise decides for ever"),
    entry(58, &[D], "one file in two file systems is its own duplicate"),
    entry(59, &[W], "a file system reports holes where there is data"),
    entry(60, &[D], "an empty mount point erases the record"),
    entry(61, &[D], "a directory that could not be read counts as deleted"),
    entry(62, &[D], "damage is reported once and accepted after that"),
    entry(63, &[W], "a shift of all times hides damage")
        .waits("ftk does not recognise a shift of all times yet"),
    entry(64, &[D], "files are pruned out of a directory that is a unit")
        .waits("ftk has no option that names units yet"),
    entry(65, &[H], "a file that is truncated while it is mapped kills the tool"),
    entry(66, &[H], "a hole takes for ever").waits("ftk reads holes like data, except in cmp"),
    entry(67, &[W], "a block of zeros is skipped although its last byte is not zero"),
    entry(68, &[H], "sharing blocks never ends where it is impossible"),
    entry(69, &[W], "the kernel overstates what it shared"),
    entry(70, &[W], "the same space is freed on every run"),
    entry(71, &[W], "a tree that may not be read is an empty success"),
    entry(72, &[D], "files are acted on that were never proved equal"),
    entry(73, &[D], "a reference that is listed twice is its own duplicate"),
    entry(74, &[D], "files are equal because their sizes agree in the low 32 bits"),
    entry(75, &[D], "a large list of duplicates aborts in the middle of deleting"),
    entry(76, &[S], "a verification crashes on a name"),
    entry(77, &[W], "totals change from run to run"),
    entry(78, &[W], "different directories have one inode number, and entries are missing"),
    entry(79, &[W], "a familiar option means something else"),
    entry(80, &[W], "a verification of a part counts what it did not read as good"),
    entry(81, &[S], "root undoes the journal of another user"),
    entry(82, &[D], "a new record replaces the old one, and damage becomes the truth"),
    entry(83, &[H], "links form a lattice, and every path through it is walked"),
    entry(84, &[H], "an input that never ends is read"),
];
