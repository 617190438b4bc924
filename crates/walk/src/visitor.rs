//! The trait that callers implement.

use crate::{Directory, Entry, Fields, Repeat, WalkError};

/// A visitor's answer: what the walk does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
/// Each worker owns one visitor. It is made before the walk starts and returned when the walk ends. It is
/// unspecified which visitor gets which directory, and in which order entries and directories come.
///
/// A visitor receives the entries of a directory between one call of `enter` and one call of `leave`, with no entry
/// of another directory in between. Starting points come first, to the visitor of worker 0, before any `enter`.
pub trait Visitor: Send {
    /// A value that the walk keeps with each queued directory, and passes to the visitor that lists the
    /// directory. Use `()` if you need none.
    type Dir: Default + Send + Sync;

    /// Receives an entry: of the directory entered last with that directory's value, or a starting point with `None`.
    ///
    /// Starting points are shown on the calling thread, in order, before the walk starts. The name of a starting point
    /// is the path as given. `.` and `..` are not shown.
    fn entry(&mut self, dir: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Step;

    /// Receives an error: a path could not be opened, listed, statted or followed. The walk continues unless
    /// this returns [`Step::Stop`].
    fn error(&mut self, error: WalkError) -> Step;

    /// Returns the value of a directory that is about to be queued. `parent` is the value of the directory that
    /// contains it, `None` for a starting point. By default it is [`Default::default`].
    ///
    /// Called on the same visitor directly after its [`entry`](Self::entry) returned [`Step::Descend`] for this
    /// directory, with no other call in between. Metadata that `entry` has read is not read again.
    fn descend(&mut self, parent: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Self::Dir {
        let _ = (parent, entry);
        Self::Dir::default()
    }

    /// Receives a directory that was opened. It is listed if this returns [`Step::Descend`], the default, and
    /// skipped if this returns [`Step::Next`].
    fn enter(&mut self, dir: &Self::Dir, opened: &Directory<'_>) -> Step {
        let _ = (dir, opened);
        Step::Descend
    }

    /// Ends a directory: all its entries were shown, or an error or a stop ended its listing.
    ///
    /// Called once after each `enter` that returned [`Step::Descend`], also when the walk stops in between.
    fn leave(&mut self, dir: &Self::Dir) {
        let _ = dir;
    }

    /// Returns whether several workers may share the entries of one large directory. The default is `false`.
    ///
    /// Return `true` if [`entry`](Self::entry) does much work, such as reading the file, so that a directory with many
    /// files keeps all workers busy. Then `enter`, `entry` and `leave` are called by each worker that takes a part of the
    /// directory, and several times by one worker that takes several parts. Parts may be visited at the same time and in
    /// any order. Still each entry is shown once, and between `enter` and `leave` come only entries of one directory.
    fn shares_directories(&self) -> bool {
        false
    }

    /// Reports a path that is not walked because a starting point leads to the same file or directory.
    ///
    /// The path is either a starting point that was given before, under this or another name, or a directory
    /// found below a starting point that is itself a starting point with another name. Such a directory was
    /// shown before, as an entry. `path` is the one that is not walked.
    #[doc(hidden)]
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
    #[doc(hidden)]
    fn reads(&self) -> Fields {
        Fields::NONE
    }

    /// Tells that an entry of the directory entered last is not shown.
    ///
    /// The walk itself shows all entries. This is for visitors that filter the entries for another visitor.
    #[doc(hidden)]
    fn filtered(&mut self, dir: &Self::Dir) {
        let _ = dir;
    }

    /// Receives a directory that a filter does not show. It is entered if this returns [`Step::Descend`], the default.
    ///
    /// The walk itself shows all entries. This is for visitors that filter the entries for another visitor.
    #[doc(hidden)]
    fn hidden(&mut self, dir: &Self::Dir, entry: &Entry<'_>) -> Step {
        let _ = (dir, entry);
        Step::Descend
    }
}
