//! Whole directories as victims.
//!
//! A [`Step`](crate::Step) may also name two directories. [`Tree::list`] lists the victim again and finds the
//! counterpart of each entry in the keeper: under the same name, with the same type, size and link target. If anything
//! differs, the directory is refused as a whole, before anything is done.
//!
//! [`Engine::run_tree`](crate::Engine::run_tree) then performs a step for each file, with the same proof and the same
//! journal as for single files. Deletions and moves end at the first file that fails. If all files are gone, the links
//! follow, and then the directories, the innermost ones first. A directory is removed only if it is empty, so a file
//! that appeared meanwhile stays, with all directories above it.

mod listing;
mod remove;
mod run;

pub use listing::{Tree, TreeError, TreeFile};
pub(crate) use listing::{open, read_link};
pub use run::TreeDone;
pub(crate) use run::intent;
