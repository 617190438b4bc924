//! Duplicates: the funnel that finds them, and the rules that say which stay. Read-only.
//!
//! [`find()`] takes an inventory with sizes. Files whose size nobody shares are never opened. Of the others small
//! ones are read whole and large ones at both ends ([`Pass::Ends`]); huge ones whose ends agree at some places
//! inside ([`Pass::Inside`]); and what then still agrees from end to end ([`Pass::Whole`]). The names of one
//! inode are read once. Only what was read, and did not change while it was, is ever grouped, and only by a
//! digest of the whole content; [`Found::compare`] proves a group byte by byte.
//!
//! [`plan()`] knows nothing of inventories: it takes the members of a group, from wherever they come, and [`KeepRules`],
//! and says what stays and why, and what may go in favour of what. [`report`] keeps groups in a file meanwhile.
//!
//! ```
//! use ftk_dedup::{Funnel, find};
//! use ftk_hash::{Algorithm, Platform};
//! use ftk_inventory::{Collect, Inventory, Keep};
//! use ftk_process::{Resources, process};
//! use ftk_sched::{Constants, Limits, Model, Stop, Threads};
//! use ftk_walk::Walker;
//!
//! let parts = Walker::new([c"src".into()]).run(|worker| Collect::new(worker, Keep::Sizes));
//! let inventory = Inventory::merge(parts)?;
//! let (model, stop) = (Model::new(Constants::default()), Stop::new());
//! let limits = Limits { threads: Threads::Auto, backend: None, ring: true, cpus: 0 };
//! let env = Resources { model: &model, limits, memory: 64 << 20, stop: &stop, watch: None };
//! let (algorithm, platform) = (Algorithm::Xxh128, Platform::detect());
//! let funnel = Funnel { inventory: &inventory, algorithm, platform, sizes: 1..=u64::MAX };
//! let Ok(found) = find(&funnel, |stage, rows| Ok::<_, std::convert::Infallible>(process(&stage.work, rows, &env)));
//! assert!(found.into_groups().is_empty(), "no file here has a twin");
//! # Ok::<(), ftk_inventory::Full>(())
//! ```

mod candidates;
mod classes;
mod find;
mod found;
mod groups;
mod links;
mod member;
mod names;
mod open;
mod pass;
mod plan;
mod proof;
pub mod report;
mod rules;
mod survey;
#[cfg(test)]
mod tests;
mod units;
mod verdict;

pub use find::{Funnel, find};
pub use found::Found;
pub use groups::{Group, Groups, Totals};
pub use member::Member;
pub use pass::{Pass, Stage};
pub use plan::plan;
pub use rules::{KeepRule, KeepRules, PathTest};
pub use survey::Survey;
pub use verdict::{GroupDecision, Left, MemberDecision, Why};
