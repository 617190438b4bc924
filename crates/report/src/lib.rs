//! Internal to ftk: the report, a page that shows a tree in the browser.
//!
//! [`Data`] is what a page shows: what uses the space, duplicates, changes and the age of verifications. [`page()`] makes
//! one HTML file of it, with style and script inside. [`SpaceBuilder`] chooses the largest directories and files of a tree
//! of any size, so that the page stays small; [`DuplicatesBuilder`] does so for groups; [`ChangesBuilder`] and
//! [`HealthBuilder`] collect from manifests. A page has less than 8 MB.
//!
//! The sources of the page are in `assets/`: a template, a style sheet, and modules of script that run in the browser as
//! they are.
//!
//! Names in the data are for display: [`ftk_record::sanitize`] has escaped what could act on a terminal or reorder text.
//! The page sets them only as text. This crate does not read files and does not print.
//!
//! ```
//! use ftk_inventory::Budget;
//! use ftk_report::{Data, SpaceBuilder, Usage, page};
//!
//! let mut space = SpaceBuilder::new(b"/home/ann", 10_000, &Budget::new(64 << 20));
//! space.file(b"notes.txt", &Usage { allocated: 4096, apparent: 123, ..Usage::default() })?;
//! let space = Some(space.finish(|uid| uid.to_string()));
//! let html = page(&Data { title: "/home/ann".into(), space, ..Data::default() });
//! assert!(html.starts_with("<!DOCTYPE html>") && html.contains("notes.txt"));
//! # Ok::<(), ftk_inventory::Full>(())
//! ```
#![forbid(unsafe_code)]

mod changes;
mod data;
mod duplicates;
mod health;
mod number;
mod page;
mod room;
mod space;

pub use changes::ChangesBuilder;
pub use data::{
    Age, Change, ChangeCounts, ChangedDir, ChangedEntry, Changes, Damaged, Data, DuplicateCopy,
    DuplicateGroup, DuplicateKind, Duplicates, GrownDir, Health, HealthOfDir, Problems,
};
pub use duplicates::DuplicatesBuilder;
pub use health::HealthBuilder;
pub use number::{Count, SignedCount};
pub use page::page;
pub use space::{MAX_NODES, Space, SpaceBuilder, Usage};
