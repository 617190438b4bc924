//! The action engine: the only code that changes a user's tree.
//!
//! A [`Step`] says that one file, the victim, is to go in favour of another, the keeper. No scan is believed: the
//! [`Engine`] reaches both files through descriptors of directories and without following links, sees that they
//! are what the scan saw, compares their bytes, and owner, permissions and attributes where those would be lost,
//! notes in a [`Journal`] what it is about to do, and only then changes a name. [`undo()`] takes a journal back.
//!
//! At every moment, whatever fails and even if the process is killed, the victim's name leads to its old content
//! or to what was asked for. Only where the engine must prove that the files are two (see `apart`), the victim has a
//! private name for a moment. A step that fails leaves nothing behind. One that is killed can leave a file called
//! `.ftk-` and 16 hexadecimal digits beside the victim; `undo` of the journal clears it away, and in case it is the
//! victim gives it its name back.
//!
//! What is left open: writes through a memory mapping, of which the kernel may tell late, between the comparison
//! and the action; and on file systems that cannot exchange two names (NFS, FAT), a file that takes the victim's
//! name in the moment between a look at the name and the rename. The times of directories change with the names
//! in them.
//!
//! Needs Linux.

mod act;
mod action;
mod apart;
mod check;
mod copy;
mod dedupe;
mod destination;
mod durable;
mod engine;
mod history;
mod intent;
mod journal;
mod metadata;
mod ours;
mod probe;
mod prove;
mod reach;
mod refusal;
pub mod script;
mod seen;
mod share;
mod stat;
mod swap;
mod temp;
mod trust;
mod undo;

pub use action::{Action, ActionKind, ActionOptions, Freed};
pub use check::{Check, check, shared};
pub use engine::Engine;
pub use history::JournalError;
pub use journal::Journal;
pub use probe::{Obstacle, probe};
pub use reach::Reach;
pub use refusal::{ActError, Difference, Refusal, Side};
pub use seen::{Seen, Step};
pub use trust::open_journal;
pub use undo::{Undo, Undone, undo};
