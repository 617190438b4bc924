//! Decides what is removed: which copies stay, why, and which kept copy replaces each of the others.
//!
//! [`plan()`] applies [`KeepRules`] to one group. [`Pruning`] plans a whole run: first directories, then files, from a
//! scan or from a saved report. It returns an [`Item`] for each file and directory. Nothing here changes a file, and a
//! caller that does must check each step again: a plan is only as true as the scan.
//!
//! Groups are planned one at a time, so the memory for a plan is that of its largest group.

mod below;
mod decision;
mod directories;
mod gain;
mod item;
mod linked;
mod other_names;
mod place;
mod plan;
mod probes;
mod pruning;
mod rule_use;
mod rules;
mod sidecars;
mod standing;
mod units;
mod whole;

pub use below::Below;
pub use decision::{Copies, GroupDecision, MemberDecision, Need, SkipReason, Why};
pub use directories::PlannedDirectories;
pub use gain::Gain;
pub use item::{Decision, Effect, Item};
pub use other_names::{OtherName, OtherNames};
pub use place::{TRASH, UnitTest};
pub use plan::{kept_by_each, plan};
pub use probes::{RecordedMembers, recorded_probes, scanned_members, scanned_probes};
pub use pruning::{Pruning, References, root_lens};
pub use rule_use::RuleUse;
pub use rules::{KeepRule, KeepRules, MemberTest};
pub use sidecars::Sidecars;
pub use standing::{Protection, Standing};
pub use whole::Units;
