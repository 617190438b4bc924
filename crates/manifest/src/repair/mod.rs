//! Repairing a tree: first find the files to read, then what is damaged, missing or otherwise not as recorded, then the
//! contents in copies, and at the end rewrite the manifest.

mod damage;
mod directories;
mod has_content;
mod links;
mod metadata;
mod plan;
mod rewrite;
mod search;

pub use damage::{Damage, Left, Name, Recorded, Unasked, Wanted, Why};
pub use directories::NearestDirectory;
pub use has_content::has_content;
pub use links::{Joined, LinkTo};
pub use metadata::OtherMetadata;
pub use plan::{RepairOptions, RepairPlan};
pub use rewrite::rewrite;
pub use search::{Found, Search};
