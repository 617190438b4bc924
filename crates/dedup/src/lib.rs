//! Internal to ftk: finds duplicates with a funnel of passes, and decides by rules which copies stay. It
//! changes no files.
//!
//! It exists so that `dup`, `prune` and `apply` share one definition of a duplicate.
//!
//! [`find()`] searches an inventory with sizes. A file whose size is unique is never opened. The other files
//! go through up to three passes:
//!
//! - [`Pass::Ends`] reads small files whole, and both ends of larger ones.
//! - [`Pass::Inside`] reads pieces of huge files whose ends are identical.
//! - [`Pass::Whole`] reads the remaining files from start to end.
//!
//! Hard links are read once. A file is grouped only if its whole content was read and did not change
//! meanwhile. Groups share a digest; [`Found::compare`] proves them byte by byte.
//!
//! [`RecordedSearch`] groups files by the digests in manifests instead, and reads none of them.
//! [`Directories`] groups directories with the same content, and [`contained`] finds those whose content mostly
//! exists elsewhere as well. Both use what the funnel found and read nothing.
//!
//! [`prune`] decides what is removed: it applies the rules of the user to groups of files and directories, from a search
//! or from a saved report. [`report`] stores groups in a file.
//!
//! ```
//! use ftk_dedup::{Funnel, find};
//! use ftk_hash::{Algorithm, Platform};
//! use ftk_inventory::{Collect, Inventory, Keep};
//! use ftk_process::{Resources, process};
//! use ftk_sched::{Constants, Limits, Model, Stop, Threads};
//! use ftk_walk::Walker;
//!
//! let parts = Walker::new(["src"]).run(|worker| Collect::new(worker, Keep::Sizes));
//! let inventory = Inventory::merge(parts)?;
//! let (model, stop) = (Model::new(Constants::default()), Stop::new());
//! let limits = Limits { threads: Threads::Auto, backend: None, ring: true, cpus: 0 };
//! let resources = Resources { model: &model, limits, memory: 64 << 20, stop: &stop, watch: None, cache: None };
//! let (algorithm, platform) = (Algorithm::Xxh128, Platform::detect());
//! let funnel = Funnel { inventory: &inventory, algorithm, platform, sizes: 1..=u64::MAX };
//! let Ok(found) = find(&funnel, |stage, rows| Ok::<_, std::convert::Infallible>(process(&stage.work, rows, &resources)));
//! assert!(found.into_groups().is_empty(), "all files are different");
//! # Ok::<(), ftk_inventory::Full>(())
//! ```

mod candidates;
mod classes;
mod dirs;
mod examined;
mod find;
mod found;
mod groups;
mod links;
mod member;
mod names;
mod pass;
mod path_order;
mod proof;
pub mod prune;
mod recorded;
pub mod report;
mod survey;
mod tally;
#[cfg(test)]
mod tests;

pub use dirs::{
    Choice, Class, Contained, Contents, DirGroup, DirReport, DirSurvey, Directories, DirectoryRules, Fate,
    Fates, Holder, Names, Share, UnitPlace, contained,
};
pub use examined::{Examined, Part};
pub use find::{Funnel, find};
pub use found::Found;
pub use groups::{Group, Groups, Totals};
pub use member::Member;
pub use pass::{Pass, Stage};
pub use recorded::{
    Contradiction, Contradictions, FoundDifference, ManifestNames, MountedTrees, NotFound, RecordedFile,
    RecordedGroup, RecordedGroups, RecordedMember, RecordedName, RecordedNames, RecordedSearch,
    recorded_path,
};
pub use survey::{FindShared, Piece, Survey, SurveyOptions, Surveyed};
pub use tally::{FileSpace, GroupTally, Tally};
