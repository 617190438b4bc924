//! The trait that callers implement.

use crate::{Directory, Entry, Fields, Repeat, WalkError};

/// A visitor's answer: what the walk does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Continue with the next entry. If this one is a directory, skip everything below it.
    Next,
    /// List this directory too. The same as `Next` for an entry that is not a directory.
    Descend,
    /// Stop the whole walk. Each worker ends after its current call.
    Stop,
}

/// The callbacks of a walk.
///
/// Each worker owns one visitor. It is made before the walk starts and returned when the walk ends. All
/// entries of one directory go to the same visitor: `enter`, each `entry`, `leave`, with no entry of another
/// directory in between. It is unspecified which visitor gets which directory, and in which order entries and
/// directories come.
pub trait Visitor: Send {
    /// A value that the walk keeps with each queued directory, and passes to the visitor that lists the
    /// directory.
    type Dir: Send + Sync;

    /// Receives a starting point. The entry's name is the path as given.
    ///
    /// Called on the calling thread for each starting point, in order, before the walk starts. By default it
    /// returns [`Step::Descend`].
    fn root(&mut self, root: &mut Entry<'_>) -> Step {
        let _ = root;
        Step::Descend
    }

    /// Returns the tag of a directory that is about to be queued. `from` is the tag of its parent, `None` for
    /// a starting point.
    fn descend(&mut self, from: Option<&Self::Dir>, entry: &Entry<'_>) -> Self::Dir;

    /// Receives a directory that was opened. It is listed if this returns [`Step::Descend`], the default, and
    /// skipped if this returns [`Step::Next`].
    fn enter(&mut self, tag: &Self::Dir, dir: &Directory<'_>) -> Step {
        let _ = (tag, dir);
        Step::Descend
    }

    /// Receives one entry of the directory entered last. `.` and `..` are not shown.
    fn entry(&mut self, tag: &Self::Dir, entry: &mut Entry<'_>) -> Step;

    /// Ends a directory: all its entries were shown, or an error or a stop ended its listing.
    ///
    /// Called once after each `enter` that returned [`Step::Descend`], also when the walk stops in between.
    fn leave(&mut self, tag: &Self::Dir) {
        let _ = tag;
    }

    /// Reports a path that is not walked because a starting point leads to the same file or directory.
    ///
    /// The path is either a starting point that was given before, under this or another name, or a directory
    /// found below a starting point that is itself a starting point with another name. Such a directory was
    /// shown before, as an entry. `path` is the one that is not walked.
    fn covered(&mut self, path: &[u8]) {
        let _ = path;
    }

    /// Reports a queued directory that was entered before under another path, and is not entered again.
    ///
    /// Called instead of `enter`, and only with [`Follow::Always`](crate::Follow::Always).
    fn again(&mut self, repeat: &Repeat<'_>) {
        let _ = repeat;
    }

    /// Returns the metadata that this visitor reads of most entries it receives. Default: none.
    ///
    /// A visitor that filters entries for this one reads these fields together with those that it tests, by
    /// one system call. This is only a hint: [`Entry::metadata`] always works.
    fn reads(&self) -> Fields {
        Fields::NONE
    }

    /// Tells that an entry of the directory entered last is not shown.
    ///
    /// The walk itself shows all entries. This is for visitors that filter the entries for another visitor.
    fn filtered(&mut self, tag: &Self::Dir) {
        let _ = tag;
    }

    /// Receives a directory that a filter does not show. It is entered if this returns [`Step::Descend`], the default.
    ///
    /// The walk itself shows all entries. This is for visitors that filter the entries for another visitor.
    fn hidden(&mut self, tag: &Self::Dir, dir: &Entry<'_>) -> Step {
        let _ = (tag, dir);
        Step::Descend
    }

    /// Receives an error: a path could not be opened, listed, statted or followed. The walk continues unless
    /// this returns [`Step::Stop`].
    fn error(&mut self, error: WalkError) -> Step;
}
