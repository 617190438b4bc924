//! Internal to ftk: the engines that remove or replace duplicates, and that restore damaged and missing files. No
//! other crate changes a user's tree.
//!
//! A [`Step`] names two files with equal content: the victim, which is removed or replaced, and the keeper. A
//! scan may be out of date, so the [`Engine`] checks everything again. For each step:
//!
//! 1. It opens both files through descriptors of their directories, without following links, and checks that
//!    they are the files that the scan saw.
//! 2. It compares their bytes, and their owner, permissions and attributes if the action would lose those of
//!    the victim.
//! 3. It records the step in a [`Journal`].
//! 4. It performs the [`Action`].
//!
//! A step may require further [`Copies`], which are proven in the same way. It may also name two directories: [`Engine::run_tree`] performs the action on each file of the victim, and
//! removes the directory when it is empty. [`Engine::remove_emptied`] removes directories that a run has emptied.
//!
//! A [`Chosen`] entry is one that the user chose in a list. No copy of it has to stay; instead, it and everything below it must
//! be as it was shown. [`Engine::run_chosen`] moves it away, or deletes it for good.
//!
//! A [`Restore`] names a file with good content and the names that it should get. The [`Restorer`] copies it
//! next to the damaged file, has the caller check the bytes that it reads back, saves the damaged content and
//! exchanges the names. It also puts back recorded metadata, with a [`PutBack`] for each entry.
//!
//! [`undo()`] reverts the steps in a journal. [`script`] writes the steps as a shell script instead.
//!
//! # Safety of the data
//!
//! At every moment the victim's name leads to its old content or to the requested result, whatever fails,
//! even if the process is killed. There is one exception: if the engine must prove that the two files are
//! distinct (see `alias_check`), the victim has a private name for a moment.
//!
//! A step that fails removes its temporary files, or reports that it could not. A step that is killed can
//! leave a file called `.ftk-` and 16 hexadecimal digits in the victim's directory. `undo` removes it or, if
//! it is the victim, gives it its name back.
//!
//! Two windows remain open:
//!
//! - A write through a memory mapping between the comparison and the action may be missed, since the kernel
//!   may update the file's times late.
//! - On file systems that cannot exchange two names (NFS, FAT), a file that gets the victim's name between
//!   the check of the name and the rename is overwritten.
//!
//! The times of directories change when names in them change.
//!
//! On macOS, what the system cannot prove or restore is refused, as access control lists and reflinks. On other systems, all
//! actions are. The module `sys` has what differs.
//!
//! # Example
//!
//! Replaces a file by a hard link, and undoes that:
//!
//! ```
//! use std::fs;
//! use std::io;
//! use std::os::unix::ffi::OsStrExt;
//! use std::os::unix::fs::MetadataExt;
//! use std::path::Path;
//!
//! use ftk_apply::{Action, ActionOptions, Engine, Journal, Seen, Step, open_journal_to_undo, undo};
//! use ftk_file::{Stat, Symlinks};
//! use ftk_sched::Stop;
//! use rustix::fs::CWD;
//!
//! /// Returns the state of a file, as a scan would record it.
//! fn seen(path: &Path) -> io::Result<Seen> {
//!     let version = Stat::at(CWD, path, Symlinks::NoFollow)?.version();
//!     let path = path.as_os_str().as_bytes().to_vec();
//!     Ok(Seen { root_len: path.len(), path, version })
//! }
//!
//! let dir = tempfile::tempdir()?;
//! let [keeper, victim, log] = ["keeper", "victim", "journal"].map(|name| dir.path().join(name));
//! fs::write(&keeper, "content")?;
//! fs::write(&victim, "content")?;
//! let is_linked = || Ok::<_, io::Error>(fs::metadata(&victim)?.ino() == fs::metadata(&keeper)?.ino());
//!
//! let step = Step::new(seen(&victim)?, seen(&keeper)?);
//! let mut journal = Journal::create(&log)?;
//! let mut engine = Engine::new(Action::Hardlink, ActionOptions::default())?;
//! engine.run([step], &mut journal, &Stop::new(), |_, outcome| assert!(outcome.is_ok()))?;
//! journal.finish()?;
//! assert!(is_linked()?);
//!
//! undo(open_journal_to_undo(&log)?, &Stop::new(), |_, outcome| assert!(outcome.is_ok()))?;
//! assert!(!is_linked()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod act;
mod action;
mod alias_check;
mod bagging;
mod check;
mod chosen;
mod copies;
mod copy;
mod dedupe;
mod destination;
mod digest;
mod durable;
mod emptied;
mod engine;
mod entry;
mod exposed;
mod history;
mod identity_record;
mod intent;
mod journal;
mod metadata;
mod own_changes;
mod own_directory;
mod private;
mod probe;
mod prove;
mod reach;
mod refusal;
mod restore;
mod scratch;
pub mod script;
mod seen;
mod share;
mod sharing;
mod stat;
mod swap;
mod sys;
mod temp;
mod trash;
mod tree;
mod trust;
mod undo;

pub use action::{Action, ActionKind, ActionOptions, Freed};
pub use bagging::{ASIDE, BagError, Bagging, bag_path};
pub use check::{Check, check};
pub use chosen::Chosen;
pub use destination::{QUARANTINE, QUARANTINES};
pub use emptied::Emptied;
pub use engine::Engine;
pub use history::{JournalError, JournalSummary, Remade, started, summarize};
pub use journal::Journal;
pub use probe::{Obstacle, probe};
pub use reach::Reach;
pub use refusal::{ActError, Difference, Refusal, Side};
pub use restore::{
    HasContent, NearestDirectory, PutBack, RecordedMetadata, Restore, RestoreName, Restored, Restorer,
};
pub use scratch::Scratch;
pub use seen::{Copies, Need, Seen, Step};
pub use sharing::Sharing;
pub use trash::trash_directories;
pub use tree::{Tree, TreeDone, TreeError, TreeFile};
pub use trust::{ensure_safe_directory, open_journal, open_journal_to_undo, open_trusted_journal};
pub use undo::{Foreseen, Shortfall, Undo, UndoOptions, Undone, preview, undo, undo_with};
