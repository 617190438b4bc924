//! Properties that must hold for all input bytes: a function for each target, which panics if one does not
//! hold.
//!
//! `cargo test -p ftk-fuzz` replays the inputs in `corpus/`, on any toolchain. `README.md` describes how to
//! search for new ones, what each target asserts, and what was run.

mod checks;
mod comparisons;
mod digests;
mod engines;
mod film_lists;
mod formats;
mod globs;
mod ignore_files;
mod journals;
mod json;
mod list_edits;
mod lists;
mod manifests;
mod ncdu_trees;
mod other_formats;
mod other_lists;
mod parity_files;
mod paths;
mod plans;
mod reports;
mod s3_inventories;
mod sealed;
mod selections;
mod tars;
mod values;

pub use checks::checks;
pub use comparisons::comparisons;
pub use digests::digests;
pub use engines::engines;
pub use film_lists::film_lists;
pub use formats::formats;
pub use globs::globs;
pub use ignore_files::ignore_files;
pub use journals::journals;
pub use list_edits::list_edits;
pub use lists::{json_paths, names, sum_lists};
pub use manifests::manifests;
pub use ncdu_trees::ncdu_trees;
pub use other_formats::imports;
pub use other_lists::{bag_manifests, hashdeep_lists, sfv_lists};
pub use parity_files::parity_files;
pub use paths::path_lists;
pub use plans::plans;
pub use reports::reports;
pub use s3_inventories::s3_inventories;
pub use sealed::sealed;
pub use selections::{expressions, selections};
pub use tars::tars;
pub use values::{constants, values};

/// A target: a function that is run on each input.
pub type Target = fn(&[u8]);

/// Every target, by the name of its program and of its folder in `corpus/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("bag_manifests", bag_manifests),
    ("checks", checks),
    ("comparisons", comparisons),
    ("constants", constants),
    ("digests", digests),
    ("engines", engines),
    ("expressions", expressions),
    ("film_lists", film_lists),
    ("formats", formats),
    ("globs", globs),
    ("hashdeep_lists", hashdeep_lists),
    ("ignore_files", ignore_files),
    ("imports", imports),
    ("journals", journals),
    ("json_paths", json_paths),
    ("list_edits", list_edits),
    ("manifests", manifests),
    ("names", names),
    ("ncdu_trees", ncdu_trees),
    ("parity_files", parity_files),
    ("path_lists", path_lists),
    ("plans", plans),
    ("reports", reports),
    ("s3_inventories", s3_inventories),
    ("sealed", sealed),
    ("selections", selections),
    ("sfv_lists", sfv_lists),
    ("sum_lists", sum_lists),
    ("tars", tars),
    ("values", values),
];
