//! What must hold for any bytes whatever: one function a target, which panics where it does not.
//!
//! `cargo test -p ftk-fuzz` replays the inputs in `corpus/`, on any toolchain. New ones are looked for by
//! [cargo-fuzz]: `cargo fuzz run --features libfuzzer --sanitizer none sum_lists`, which needs a C++ compiler,
//! and a nightly toolchain only for another sanitizer than `none`. What it finds becomes a file in
//! `corpus/TARGET/`, and a test by that.
//!
//! [cargo-fuzz]: https://rust-fuzz.github.io/book/cargo-fuzz.html

mod comparisons;
mod digests;
mod lists;
mod sealed;
mod selections;
mod values;

pub use comparisons::comparisons;
pub use digests::digests;
pub use lists::{json_paths, names, sum_lists};
pub use sealed::{manifests, reports, sealed};
pub use selections::{ignore_files, selections};
pub use values::{constants, values};

/// A target: what runs on each input.
pub type Target = fn(&[u8]);

/// Every target, by the name of its program and of its folder in `corpus/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("comparisons", comparisons),
    ("constants", constants),
    ("digests", digests),
    ("ignore_files", ignore_files),
    ("json_paths", json_paths),
    ("manifests", manifests),
    ("names", names),
    ("reports", reports),
    ("sealed", sealed),
    ("selections", selections),
    ("sum_lists", sum_lists),
    ("values", values),
];
