//! Failures that file tools have had, by number. Their tests bear the numbers: `h08_a_stale_result`.

use std::fmt;

/// The effect of a failure on the user.
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
    /// The failure, not the correct behaviour.
    pub(crate) title: &'static str,
    pub(crate) untested: Untested,
}

/// The cases of an entry that no test covers.
pub(crate) enum Untested {
    Nothing,
    Parts(&'static [Part]),
    /// The whole entry; the text is the reason.
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
    entry(1, &[D], "a symbolic link counts as the copy to keep"),
    entry(2, &[D], "a file reached by two names counts as its own duplicate").without(&[
        Part { what: "an NFS directory that is mounted twice", why: "needs an NFS server in the kernel" },
        Part {
            what: "a case-insensitive directory",
            why: "the kernel was built without Unicode support for ext4",
        },
    ]),
    entry(3, &[D], "two missing digests compare as equal"),
    entry(4, &[D], "a rule says which copy to keep, and none is kept"),
    entry(5, &[D], "another action silently replaces one that is impossible"),
    entry(6, &[D], "a replacement fails halfway, and the file is lost"),
    entry(7, &[W], "a temporary name is too long for a file whose name has 255 bytes"),
    entry(8, &[D], "a file that changed after the search is removed"),
    entry(9, &[S], "a directory in a path becomes a symbolic link, and files below its target are removed"),
    entry(10, &[D], "sharing blocks overwrites content that differs"),
    entry(11, &[D, S], "linking loses mode, owner, times or attributes"),
    entry(12, &[W], "hard links of one file are separated, and no space is freed"),
    entry(13, &[W], "a file has the maximum number of hard links"),
    entry(14, &[D], "the removal of empty directories continues above the tree"),
    entry(15, &[D], "a run without options changes files"),
    entry(16, &[W], "a file that the user did not name is overwritten"),
    entry(17, &[W], "the output file lies in the tree and is read as input"),
    entry(18, &[S], "a newline in a name starts a new record"),
    entry(19, &[W], "a backslash in a name is treated as a separator"),
    entry(20, &[H, W], "a name that is not UTF-8 hangs the tool or breaks its JSON"),
    entry(21, &[S], "a name in a generated script is run by the shell"),
    entry(22, &[S], "a name in a report acts on the terminal"),
    entry(23, &[S], "a hostile list breaks the parser"),
    entry(24, &[W], "programs that read the output misinterpret its escapes"),
    entry(25, &[S], "a hostile list leads out of the tree"),
    entry(26, &[W], "the check of a malformed or empty list succeeds"),
    entry(27, &[W], "an error does not reach the exit status"),
    entry(28, &[W], "a verification misses a kind of change"),
    entry(29, &[W], "a truncated list is accepted as complete"),
    entry(30, &[W], "a race between threads gives a wrong digest"),
    entry(31, &[D], "a stale or poisoned cache is trusted").waits("ftk keeps no digests between runs"),
    entry(32, &[D], "files are called equal because parts of them are"),
    entry(33, &[S], "files are called equal because their digests collide"),
    entry(34, &[W], "a file that changes while being read gets a digest"),
    entry(35, &[H], "the read of a FIFO, a device or a kernel file never ends")
        .without(&[Part { what: "an autofs directory", why: "needs a daemon that mounts it" }]),
    entry(36, &[H, W], "a symbolic link forms a loop or leads out of the tree"),
    entry(37, &[W], "device and inode number do not identify a file").without(&[Part {
        what: "inode numbers that change although the files do not",
        why: "needs a special file system; reports with wrong numbers are tested, and so is btrfs",
    }]),
    entry(38, &[W], "holes or huge files get a wrong digest").without(&[Part {
        what: "the digest of a file of one terabyte",
        why: "takes most of an hour, because holes are read like data",
    }]),
    entry(39, &[W, H], "long paths, deep trees or wide directories fail"),
    entry(40, &[W], "optimised filters give other results"),
    entry(41, &[D], "directories that differ are called equal")
        .waits("ftk does not report whole directories yet"),
    entry(42, &[W], "the reported freed space is wrong"),
    entry(43, &[D], "the execution plan changes the result"),
    entry(44, &[D], "a file that was not read gets a digest"),
    entry(45, &[W], "the tool does not work without io_uring"),
    entry(46, &[W], "a short read is treated as end of file"),
    entry(47, &[W], "a run succeeds although its output could not be written"),
    entry(48, &[W], "errors are lost with several threads"),
    entry(49, &[H], "signals are ignored"),
    entry(50, &[W], "an argument is treated as a pattern"),
    entry(51, &[W], "one unusual name makes the whole list unusable"),
    entry(52, &[W], "descriptors run out and entries are missing"),
    entry(53, &[W], "an unreadable file verifies as intact"),
    entry(54, &[H], "the walk never ends, or it misses entries"),
    entry(55, &[W], "one thread does all the work"),
    entry(56, &[W], "an empty directory needs megabytes of memory"),
    entry(57, &[W], "one noisy calibration affects all later runs"),
    entry(58, &[D], "a file shown by two file systems counts as its own duplicate"),
    entry(59, &[W], "a file system reports holes where there is data"),
    entry(60, &[D], "an empty mount point erases the record"),
    entry(61, &[D], "a directory that could not be read counts as deleted"),
    entry(62, &[D], "damage is reported once and then accepted"),
    entry(63, &[W], "a shift of all times hides damage")
        .waits("ftk does not recognise a shift of all times yet"),
    entry(64, &[D], "files are removed from a directory whose files belong together")
        .waits("ftk has no option for directories whose files belong together yet"),
    entry(65, &[H], "a file that is truncated while it is mapped kills the tool"),
    entry(66, &[H], "reading a hole takes too long").waits("ftk reads holes like data, except in cmp"),
    entry(67, &[W], "a block of zeros is skipped although its last byte is not zero"),
    entry(68, &[H], "sharing blocks never ends if it is impossible"),
    entry(69, &[W], "the kernel overstates how much it shared"),
    entry(70, &[W], "every run reports the same space as freed again"),
    entry(71, &[W], "an unreadable tree gives an empty result and success"),
    entry(72, &[D], "files are linked or deleted without proof that they are identical"),
    entry(73, &[D], "a reference given twice counts as its own duplicate"),
    entry(74, &[D], "files are called equal because their sizes agree in the low 32 bits"),
    entry(75, &[D], "the deletion of a large list of duplicates aborts in the middle"),
    entry(76, &[S], "a verification crashes on a name"),
    entry(77, &[W], "totals change from run to run"),
    entry(78, &[W], "two directories share an inode number, and entries are missing"),
    entry(79, &[W], "a familiar option means something else"),
    entry(80, &[W], "a partial verification counts files that it did not read as intact"),
    entry(81, &[S], "root undoes the journal of another user"),
    entry(82, &[D], "a new record replaces the old one and accepts damage"),
    entry(83, &[H], "links form a lattice, and the tool walks every path through it"),
    entry(84, &[H], "an endless input is read forever"),
];
