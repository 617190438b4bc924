//! Why a step was refused or failed.

use std::fmt;
use std::io;

use ftk_file::{Failure, IdentityDifference};
use ftk_record::{quote, sanitize};
use rustix::io::Errno;

/// One of the two files of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The file to be removed or replaced.
    Victim,
    /// The file to be kept.
    Keeper,
    /// The file to be restored.
    Target,
    /// The file that has the content to be restored.
    Source,
    /// The saved content of a damaged file, which an undo restores.
    Saved,
    /// A new file that is not complete yet.
    New,
    /// A further copy that the step counts on.
    Copy,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Victim => "the victim",
            Self::Keeper => "the keeper",
            Self::Target => "the file",
            Self::Source => "the copy",
            Self::Saved => "the saved content",
            Self::New => "the new file",
            Self::Copy => "the copy",
        })
    }
}

/// Why a step was refused. Nothing was changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The path is not one that a scan prints: empty, with a NUL, or with `..` below the starting point.
    Path(Side),
    /// A directory on the path below the starting point is a symbolic link.
    Link(Side),
    /// The file has the name of a temporary file: another run may be about to remove it, or a killed run has
    /// left it for its undo.
    TemporaryName(Side),
    /// The file is not a regular file.
    NotRegular(Side),
    /// The file cannot be opened, queried or read.
    Unreadable {
        /// Which file.
        side: Side,
        /// What was tried.
        op: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// Another file now has the name.
    Replaced(Side),
    /// The recorded inode number or times of the file have lost their last digits.
    Rounded(Side),
    /// The starting point is not the directory that was recorded.
    OtherStart {
        /// Which file it was opened for.
        side: Side,
        /// Its path.
        path: Vec<u8>,
        /// What is different. `None` if no identity was recorded.
        difference: Option<IdentityDifference>,
    },
    /// Another user could have put this directory, which files would be moved to, in place of another one.
    Exchangeable(Vec<u8>),
    /// The directory of the file is not the one that was recorded.
    OtherDirectory {
        /// Which file.
        side: Side,
        /// What is different.
        difference: IdentityDifference,
    },
    /// The file is not as the scan or the journal recorded it, or changed during the step.
    Changed {
        /// Which file.
        side: Side,
        /// What changed, or when.
        what: &'static str,
    },
    /// Both names lead to one file.
    SameFile,
    /// The keeper is in an overlay and the victim is not: the keeper's content may be that of the victim.
    InLayers,
    /// The victim's name stands for files in several branches of a union. Removing it would remove all of
    /// them.
    InBranches,
    /// Device and inode numbers do not prove that these are two files, and the check that could prove it
    /// failed.
    Unproven {
        /// What was tried.
        op: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The bytes differ.
    ContentDiffers,
    /// Metadata of the victim would be lost.
    MetadataDiffers(Difference),
    /// The files are on different file systems, and the action needs one.
    OtherFileSystem,
    /// The file is on a read-only file system or subvolume.
    ReadOnly(Side),
    /// The victim is in a read-only subvolume. It could be cloned with
    /// [`into_snapshots`](crate::ActionOptions::into_snapshots).
    Snapshot,
    /// The victim is in the trash already.
    InTrash,
    /// This directory of the trash belongs to another user, or others may write to it.
    ForeignTrash(Vec<u8>),
    /// The file system does not support the action.
    Unsupported,
    /// No action is safe on this operating system.
    System,
    /// The directory of the file has an access control list that its permissions do not show, and that lets others change
    /// it.
    AccessList(Side),
    /// The keeper has the maximal number of hard links. Another keeper may work.
    TooManyLinks,
    /// The record of the step in the journal would be too long.
    LongRecord,
    /// The victim's new name already exists.
    NameExists,
    /// The damaged file grants more than is recorded, and another user could have put it there.
    GrantsMore,
    /// The file that names are to be linked to has other metadata than recorded, or set-ID bits or capabilities.
    OtherMetadata,
    /// A damaged file has another owner than the recorded one, who may have put it there.
    OtherOwner {
        /// Its owner.
        owner: u32,
        /// The recorded one.
        recorded: u32,
    },
    /// Another user can replace a directory on the path of the file.
    ExposedPath {
        /// The directory that another user can change.
        directory: Vec<u8>,
        /// Its permission bits.
        mode: u32,
        /// Its owner.
        owner: u32,
    },
    /// The journal has no identities, and another user can change a directory on the path of the victim.
    OldJournal(Box<Refusal>),
    /// The journal has no digest of the content.
    NoDigest,
    /// The bytes of the copy are not the content to be restored.
    WrongContent,
    /// The damaged content was not saved, so it cannot be restored.
    NotSaved,
    /// Another name of the same file could not be restored.
    OtherName,
    /// Only root can give a file the recorded owner or group.
    OnlyRoot {
        /// What would have to change.
        what: &'static str,
        /// The recorded user or group id.
        id: u32,
    },
    /// Only root and this user, who owns the entry, can change its metadata.
    NotOwner(u32),
    /// The kept directory has no entry of this name and type.
    NoCounterpart,
    /// The kept directory has a symbolic link to another target.
    LinkDiffers,
    /// The directory is not empty: an entry appeared after it was listed.
    NotEmpty,
    /// Another file system is mounted on the directory.
    Mounted,
    /// The directory is, or contains, the one that it is to be moved to.
    IsDestination,
    /// The entry was deleted for good.
    Gone,
    /// A symbolic link would lead to a file that another user can change or replace.
    Exposed {
        /// The directory above the keeper that another user can change. `None` if it is the keeper itself.
        directory: Option<Vec<u8>>,
        /// Its permission bits.
        mode: u32,
        /// Its owner.
        owner: u32,
    },
    /// Another file that must be handled together with this one was refused.
    Together,
    /// Fewer copies are proven than must stay.
    TooFewCopies {
        /// The number of copies that must stay.
        needed: usize,
        /// How many of them are proven.
        found: usize,
        /// The path of a copy that is not proven, and why.
        failed: Option<(Vec<u8>, Box<Refusal>)>,
    },
}

/// A difference in the metadata of victim and keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The owner.
    Owner {
        /// User id of the victim.
        victim: u32,
        /// User id of the keeper.
        keeper: u32,
    },
    /// The group.
    Group {
        /// Group id of the victim.
        victim: u32,
        /// Group id of the keeper.
        keeper: u32,
    },
    /// The permissions.
    Mode {
        /// Permission bits of the victim.
        victim: u32,
        /// Permission bits of the keeper.
        keeper: u32,
    },
    /// An extended attribute, by its name. This includes access control lists, capabilities and labels.
    Attribute(Vec<u8>),
}

/// Why a step was refused or failed. The text omits the cause: that is the [source](std::error::Error), and
/// always an [`io::Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ActError {
    /// The step was refused, and nothing was changed.
    Refused(Refusal),
    /// The step was tried and failed. If `left` is `None`, the victim has its old name and content.
    Failed {
        /// What was tried.
        op: &'static str,
        /// The cause.
        source: io::Error,
        /// The last component of the path of a file that could not be removed or renamed back: a private name
        /// in the directory of the victim or, for a move, the new name in the directory it was moved to.
        left: Option<Vec<u8>>,
    },
    /// The run was stopped before the step.
    Stopped,
}

impl Refusal {
    /// Converts a reader's failure for a file of a step.
    pub(crate) fn of_failure(side: Side, failure: Failure) -> Self {
        match failure {
            Failure::NotRegular => Self::NotRegular(side),
            Failure::Changed { .. } => Self::Changed { side, what: "its content or inode" },
            Failure::Io { op, source } => Self::Unreadable { side, op, source },
            _ => Self::Unreadable { side, op: "read", source: io::ErrorKind::Other.into() },
        }
    }

    pub(crate) fn unproven(op: &'static str, errno: Errno) -> Self {
        Self::Unproven { op, source: errno.into() }
    }

    pub(crate) fn unreadable(side: Side, op: &'static str, source: impl Into<io::Error>) -> Self {
        Self::Unreadable { side, op, source: source.into() }
    }
}

impl ActError {
    pub(crate) fn failed(op: &'static str, source: impl Into<io::Error>) -> Self {
        Self::Failed { op, source: source.into(), left: None }
    }

    /// Converts the error of a system call that creates a name. Some errors mean that the action is
    /// impossible here.
    pub(crate) fn of_naming(op: &'static str, errno: Errno) -> Self {
        match errno {
            Errno::XDEV => Refusal::OtherFileSystem.into(),
            Errno::MLINK => Refusal::TooManyLinks.into(),
            Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOTTY => Refusal::Unsupported.into(),
            errno => Self::failed(op, errno),
        }
    }

    /// Replaces the sides in the error of a copy, whose source is called the keeper and whose new file is
    /// called the victim.
    pub(crate) fn with_source(self, source: Side) -> Self {
        let other = |side| match side {
            Side::Keeper => source,
            Side::Victim => Side::New,
            side => side,
        };
        match self {
            Self::Refused(Refusal::Changed { side, what }) => {
                Refusal::Changed { side: other(side), what }.into()
            }
            Self::Refused(Refusal::Unreadable { side, op, source }) => {
                Refusal::Unreadable { side: other(side), op, source }.into()
            }
            error => error,
        }
    }

    /// Adds the name of a file that is left.
    pub(crate) fn leaving(self, name: &[u8]) -> Self {
        let left = Some(name.to_vec());
        match self {
            Self::Failed { op, source, .. } => Self::Failed { op, source, left },
            Self::Refused(refusal) => {
                Self::Failed { op: "finish the step", source: io::Error::other(refusal), left }
            }
            Self::Stopped => {
                Self::Failed { op: "finish the step", source: io::ErrorKind::Interrupted.into(), left }
            }
        }
    }

    /// Adds the name of the private directory in which a file is left.
    pub(crate) fn left_inside(self, directory: &[u8]) -> Self {
        match self {
            Self::Failed { op, source, left: Some(name) } => {
                Self::Failed { op, source, left: Some([directory, b"/", &name].concat()) }
            }
            error => error,
        }
    }
}

impl From<Refusal> for ActError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(side) => write!(
                f,
                "the path of {side} is invalid: empty, or with NUL, or with '..' below the starting point"
            ),
            Self::Link(side) => {
                write!(f, "a directory on the path of {side} is a symbolic link, which is not followed")
            }
            Self::TemporaryName(side) => {
                write!(
                    f,
                    "{side} has the name of a temporary file of ftk: wait for that run, or undo its journal"
                )
            }
            Self::NotRegular(side) => write!(f, "{side} is not a regular file"),
            Self::Unreadable { side, op, .. } => write!(f, "cannot {op} {side}"),
            Self::Rounded(side) => write!(
                f,
                "the recorded inode number or times of {side} are rounded, as by jq before 1.7: edit the report with a \
                 program that keeps all digits"
            ),
            Self::Replaced(side) => write!(f, "another file now has the name of {side}"),
            Self::OtherStart { path, difference: None, .. } => {
                write!(f, "the journal does not record which directory {} was", quote(path))
            }
            Self::OtherStart { path, difference: Some(difference), .. } => {
                write!(f, "{} is not the directory that was recorded: {difference}", quote(path))
            }
            Self::Exchangeable(name) => write!(
                f,
                "another user can put another directory in place of {}, and no earlier run of ftk made it: name one in a \
                 directory that only you can write to",
                quote(name)
            ),
            Self::OtherDirectory { side, difference } => {
                write!(f, "the directory of {side} is not the one that was recorded: {difference}")
            }
            Self::OnlyRoot { what, id } => write!(f, "only root can give it its recorded {what} {id}"),
            Self::NotOwner(owner) => {
                write!(f, "only root and its owner, user {owner}, can change its metadata")
            }
            Self::Changed { side, what } => write!(f, "{side} changed ({what})"),
            Self::SameFile => f.write_str("both names lead to the same file"),
            Self::InLayers => {
                f.write_str("the keeper is in an overlay, and may have the content of the victim")
            }
            Self::InBranches => f.write_str(
                "mergerfs has files of this name in several branches, and would remove all of them",
            ),
            Self::Unproven { op, .. } => write!(f, "cannot prove that these are two files: cannot {op}"),
            Self::ContentDiffers => f.write_str("content differs"),
            Self::MetadataDiffers(difference) => difference.fmt(f),
            Self::OtherFileSystem => {
                f.write_str("the keeper, or the directory to move to, is on another file system")
            }
            Self::ReadOnly(side) => write!(f, "{side} is on a read-only file system or subvolume"),
            Self::Snapshot => f.write_str(
                "the victim is in a read-only subvolume, such as a snapshot: --into-snapshots permits to clone it",
            ),
            Self::InTrash => f.write_str("the file is in the trash already"),
            Self::ForeignTrash(name) => write!(
                f,
                "the directory {} of the trash belongs to another user, or others may write to it",
                quote(name)
            ),
            Self::Unsupported => f.write_str("the file system does not support this action on these files"),
            Self::System => f.write_str(
                "ftk changes no files on this operating system: it cannot read their access control lists here",
            ),
            Self::AccessList(side) => {
                write!(f, "the directory of {side} has an access control list that may let others change it")
            }
            Self::TooManyLinks => f.write_str("the keeper has as many hard links as the file system allows"),
            Self::LongRecord => f.write_str(
                "its record in the journal would be longer than 1 MiB: its path is too long, or its attributes are too large",
            ),
            Self::NameExists => f.write_str("another file already has the victim's new name"),
            Self::GrantsMore => f.write_str(
                "its permissions, group or access list grant more than recorded, and another user could have put it there: \
                 --metadata restores them too",
            ),
            Self::OtherMetadata => f.write_str(
                "its other name has no longer the recorded metadata, or has set-ID bits or capabilities",
            ),
            Self::OtherOwner { owner, recorded } => write!(
                f,
                "its owner is {owner}, not the recorded {recorded}, and another user could have put it there: set its owner first"
            ),
            Self::ExposedPath { directory, mode, owner } => write!(
                f,
                "another user can change its path: {} has owner {owner} and mode {mode:04o}",
                quote(directory)
            ),
            Self::OldJournal(why) => {
                write!(f, "the journal is of an older version and does not identify directories: {why}")
            }
            Self::NoDigest => f.write_str(
                "the journal has no digest of the content, so undo cannot tell that the keeper still has it",
            ),
            Self::WrongContent => f.write_str("the copy no longer has the recorded content"),
            Self::NotSaved => f.write_str("the damaged content was not saved, so it cannot be restored"),
            Self::OtherName => f.write_str("another hard link of this file could not be restored"),
            Self::NoCounterpart => f.write_str("the kept directory has no such entry"),
            Self::LinkDiffers => f.write_str("the link in the kept directory has another target"),
            Self::NotEmpty => f.write_str("the directory has a new entry, which the kept one may lack"),
            Self::Mounted => f.write_str("another file system is mounted here"),
            Self::IsDestination => f.write_str("it contains the directory that it would be moved to"),
            Self::Gone => f.write_str("it was deleted for good, which cannot be undone"),
            Self::Exposed { directory: None, mode, owner } => {
                write!(f, "another user can change the keeper (owner {owner}, mode {mode:04o})")
            }
            Self::Exposed { directory: Some(path), mode, owner } => write!(
                f,
                "another user can replace the keeper: {} has owner {owner} and mode {mode:04o}",
                quote(path)
            ),
            Self::Together => f.write_str("a file that goes only together with it was refused"),
            Self::TooFewCopies { needed, found, failed } => {
                write!(f, "{found} of the {needed} copies that must stay can be proven")?;
                match failed {
                    Some((path, why)) => write!(f, "; {}: {why}", quote(path)),
                    None => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner { victim, keeper } => write!(f, "owner differs ({victim}, the keeper has {keeper})"),
            Self::Group { victim, keeper } => write!(f, "group differs ({victim}, the keeper has {keeper})"),
            Self::Mode { victim, keeper } => {
                write!(f, "permissions differ ({victim:04o}, the keeper has {keeper:04o})")
            }
            Self::Attribute(name) if name == b"system.posix_acl_access" => {
                f.write_str("access control list differs")
            }
            Self::Attribute(name) => write!(f, "extended attribute {} differs", sanitize(name)),
        }
    }
}

impl fmt::Display for ActError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Failed { op, left: None, .. } => write!(f, "cannot {op}"),
            Self::Failed { op, left: Some(name), .. } if name.contains(&b'/') => write!(
                f,
                "cannot {op}, and {} is left: `ftk undo` moves it back if it is the file of the step, and touches nothing else there",
                sanitize(name)
            ),
            Self::Failed { op, left: Some(name), .. } => {
                write!(f, "cannot {op}, and {} is left: `ftk undo` cleans up", sanitize(name))
            }
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } | Self::Unproven { source, .. } => Some(source),
            Self::TooFewCopies { failed: Some((_, why)), .. } => why.source(),
            _ => None,
        }
    }
}

impl std::error::Error for ActError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused(refusal) => refusal.source(),
            Self::Failed { source, .. } => Some(source),
            Self::Stopped => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_a_readable_text() {
        use Side::{Keeper, Saved, Source, Target, Victim};
        let unreadable = |side, op| Refusal::unreadable(side, op, Errno::IO);
        let changed = |side, what| Refusal::Changed { side, what };
        for (refusal, text) in [
            (
                Refusal::Path(Victim),
                "the path of the victim is invalid: empty, or with NUL, or with '..' below the starting point",
            ),
            (
                Refusal::Link(Keeper),
                "a directory on the path of the keeper is a symbolic link, which is not followed",
            ),
            (
                Refusal::TemporaryName(Victim),
                "the victim has the name of a temporary file of ftk: wait for that run, or undo its journal",
            ),
            (Refusal::NotRegular(Keeper), "the keeper is not a regular file"),
            (Refusal::OnlyRoot { what: "group", id: 34 }, "only root can give it its recorded group 34"),
            (Refusal::NotOwner(12), "only root and its owner, user 12, can change its metadata"),
            (unreadable(Victim, "open"), "cannot open the victim"),
            (unreadable(Keeper, "find"), "cannot find the keeper"),
            (
                unreadable(Victim, "read the symbolic link in place of"),
                "cannot read the symbolic link in place of the victim",
            ),
            (unreadable(Victim, "open the directory of"), "cannot open the directory of the victim"),
            (unreadable(Keeper, "read the attributes of"), "cannot read the attributes of the keeper"),
            (Refusal::Replaced(Victim), "another file now has the name of the victim"),
            (
                Refusal::Rounded(Keeper),
                "the recorded inode number or times of the keeper are rounded, as by jq before 1.7: edit the report with a \
                 program that keeps all digits",
            ),
            (changed(Victim, "its size"), "the victim changed (its size)"),
            (changed(Keeper, "since the run"), "the keeper changed (since the run)"),
            (Refusal::SameFile, "both names lead to the same file"),
            (Refusal::ContentDiffers, "content differs"),
            (Refusal::OtherFileSystem, "the keeper, or the directory to move to, is on another file system"),
            (Refusal::ReadOnly(Victim), "the victim is on a read-only file system or subvolume"),
            (
                Refusal::Snapshot,
                "the victim is in a read-only subvolume, such as a snapshot: --into-snapshots permits to clone it",
            ),
            (Refusal::InTrash, "the file is in the trash already"),
            (
                Refusal::ForeignTrash(b"Trash".to_vec()),
                "the directory 'Trash' of the trash belongs to another user, or others may write to it",
            ),
            (Refusal::Unsupported, "the file system does not support this action on these files"),
            (Refusal::TooManyLinks, "the keeper has as many hard links as the file system allows"),
            (
                Refusal::LongRecord,
                "its record in the journal would be longer than 1 MiB: its path is too long, or its attributes are too large",
            ),
            (Refusal::NameExists, "another file already has the victim's new name"),
            (
                Refusal::OldJournal(Box::new(Refusal::SameFile)),
                "the journal is of an older version and does not identify directories: both names lead to the same file",
            ),
            (
                Refusal::GrantsMore,
                "its permissions, group or access list grant more than recorded, and another user could have put it there: \
                 --metadata restores them too",
            ),
            (
                Refusal::OtherOwner { owner: 7, recorded: 0 },
                "its owner is 7, not the recorded 0, and another user could have put it there: set its owner first",
            ),
            (
                Refusal::ExposedPath { directory: b"/srv".to_vec(), mode: 0o777, owner: 7 },
                "another user can change its path: '/srv' has owner 7 and mode 0777",
            ),
            (
                Refusal::NoDigest,
                "the journal has no digest of the content, so undo cannot tell that the keeper still has it",
            ),
            (
                Refusal::OtherStart { side: Victim, path: b"a".to_vec(), difference: None },
                "the journal does not record which directory 'a' was",
            ),
            (
                Refusal::OtherStart {
                    side: Victim,
                    path: b"a".to_vec(),
                    difference: Some(IdentityDifference::Inode),
                },
                "'a' is not the directory that was recorded: it is another one",
            ),
            (
                Refusal::OtherDirectory { side: Victim, difference: IdentityDifference::Owner },
                "the directory of the victim is not the one that was recorded: it has another owner",
            ),
            (changed(Target, "it exists now"), "the file changed (it exists now)"),
            (unreadable(Source, "open"), "cannot open the copy"),
            (unreadable(Saved, "open"), "cannot open the saved content"),
            (Refusal::WrongContent, "the copy no longer has the recorded content"),
            (Refusal::NotSaved, "the damaged content was not saved, so it cannot be restored"),
            (Refusal::OtherName, "another hard link of this file could not be restored"),
            (Refusal::NoCounterpart, "the kept directory has no such entry"),
            (Refusal::LinkDiffers, "the link in the kept directory has another target"),
            (Refusal::NotEmpty, "the directory has a new entry, which the kept one may lack"),
            (Refusal::Mounted, "another file system is mounted here"),
            (Refusal::IsDestination, "it contains the directory that it would be moved to"),
            (Refusal::Gone, "it was deleted for good, which cannot be undone"),
            (Refusal::Together, "a file that goes only together with it was refused"),
            (
                Refusal::Exchangeable(b"q".to_vec()),
                "another user can put another directory in place of 'q', and no earlier run of ftk made it: name one in a \
                 directory that only you can write to",
            ),
            (
                Refusal::Exposed { directory: None, mode: 0o664, owner: 7 },
                "another user can change the keeper (owner 7, mode 0664)",
            ),
            (
                Refusal::Exposed { directory: Some(b"/srv".to_vec()), mode: 0o777, owner: 0 },
                "another user can replace the keeper: '/srv' has owner 0 and mode 0777",
            ),
            (
                Refusal::TooFewCopies {
                    needed: 2,
                    found: 1,
                    failed: Some((b"m/b".to_vec(), unreadable(Side::Copy, "open").into())),
                },
                "1 of the 2 copies that must stay can be proven; 'm/b': cannot open the copy",
            ),
            (
                Refusal::TooFewCopies { needed: 2, found: 1, failed: None },
                "1 of the 2 copies that must stay can be proven",
            ),
        ] {
            assert_eq!(refusal.to_string(), text);
        }
    }

    #[test]
    fn files_that_are_left_are_named() {
        let error = ActError::failed("remove the file", Errno::IO).leaving(b".ftk-0123456789abcdef");
        let text = "cannot remove the file, and .ftk-0123456789abcdef is left: `ftk undo` cleans up";
        assert_eq!(error.to_string(), text);
        let inside = ActError::from(Refusal::SameFile).leaving(b"v").left_inside(b".ftk-0123456789abcdef");
        let text = "cannot finish the step, and .ftk-0123456789abcdef/v is left: `ftk undo` moves it back if it is the \
                    file of the step, and touches nothing else there";
        assert_eq!(inside.to_string(), text);
        let error = ActError::from(Refusal::SameFile).leaving(b".ftk-0123456789abcdef");
        assert!(error.to_string().starts_with("cannot finish the step, and "), "{error}");
    }
}
