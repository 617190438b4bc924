//! Repairing a tree: first find the files to read, then what is damaged or missing, then the contents in
//! copies, and at the end rewrite the manifest.

mod damage;
mod directories;
mod has_content;
mod plan;
mod rewrite;
mod search;

pub use damage::{Damage, Left, Name, Recorded, Wanted, Why};
pub use directories::NearestDirectory;
pub use has_content::has_content;
pub use plan::RepairPlan;
pub use rewrite::rewrite;
pub use search::{Found, Search};
