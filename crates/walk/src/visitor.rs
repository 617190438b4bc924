//! What a caller does with a tree.

use crate::{Directory, Entry, Repeat, WalkError};

/// What the walk does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Go on with the next entry.
    Next,
    /// As `Next`, and list this directory too. Means `Next` for anything that is not a directory.
    Descend,
    /// End the whole walk, on all workers, as soon as each finishes its current call.
    Stop,
}

/// One worker's view of a walk.
///
/// Every worker owns one visitor, made before the walk starts and handed back when it ends. All entries of
/// one directory reach the same visitor without anything in between: `enter`, each `entry`, `leave`.
/// Which visitor gets which directory is unspecified, as is the order of entries and directories.
pub trait Visitor: Send {
    /// What the visitor wants to remember about a directory while it waits to be listed, by whichever worker.
    type Dir: Send + Sync;

    /// A starting point, before anything below it: the entry's name is the path as given.
    ///
    /// Called on the calling thread for every root, in order, before the walk starts.
    fn root(&mut self, root: &mut Entry<'_>) -> Step {
        let _ = root;
        Step::Descend
    }

    /// The tag of a directory about to be queued. `from` is the tag of the directory it was found in, `None`
    /// for a root.
    fn descend(&mut self, from: Option<&Self::Dir>, entry: &Entry<'_>) -> Self::Dir;

    /// The directory was opened and its identity is known; its listing follows if this returns
    /// [`Step::Descend`].
    fn enter(&mut self, tag: &Self::Dir, dir: &Directory<'_>) -> Step {
        let _ = (tag, dir);
        Step::Descend
    }

    /// One entry of the directory entered last; `.` and `..` are left out.
    fn entry(&mut self, tag: &Self::Dir, entry: &mut Entry<'_>) -> Step;

    /// Every entry of the directory was delivered, or an error ended its listing. Follows each `enter` that
    /// returned [`Step::Descend`], also when the walk stops in between.
    fn leave(&mut self, tag: &Self::Dir) {
        let _ = tag;
    }

    /// Something is not walked, since a starting point leads to the same: a starting point that was given before under
    /// this or another name, or a directory below one that is met under another name than that of a starting point.
    /// The latter was shown before, as an entry.
    fn covered(&mut self) {}

    /// A directory that waited to be listed was entered before under another path, and is not entered again. Happens
    /// only with [`Follow::Always`](crate::Follow::Always), instead of `enter`.
    fn again(&mut self, repeat: &Repeat<'_>) {
        let _ = repeat;
    }

    /// Something could not be opened, listed or statted. The walk goes on unless this returns [`Step::Stop`].
    fn error(&mut self, error: WalkError) -> Step;
}
