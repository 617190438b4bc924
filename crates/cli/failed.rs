//! Messages about files that could not be read.

use ftk_inventory::Inventory;
use ftk_process::Failed;
use ftk_read::Failure;
use ftk_record::quote;
use indicatif::HumanCount;

use crate::console::{Console, cause};

/// Prints a line for each file that was not read completely, sorted by path. `so` is the consequence, such as
/// `not hashed`.
pub(crate) fn say_failed(inventory: &Inventory, failed: &[Failed], so: &str, console: &Console) {
    let path = |failed: &Failed| {
        let mut path = Vec::new();
        inventory.push_path(failed.file, &mut path);
        path
    };
    let mut failed: Vec<_> = failed.iter().map(|failed| (path(failed), &failed.failure)).collect();
    failed.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    failed.iter().for_each(|(path, failure)| say_failure(path, failure, so, console));
}

/// Prints the line for one file.
pub(crate) fn say_failure(path: &[u8], failure: &Failure, so: &str, console: &Console) {
    match failure {
        Failure::Io { op, source } => console.path_error(op, path, cause(source)),
        Failure::NotRegular => {
            let what = format_args!("{} is no longer a regular file: {so}", quote(path));
            console.error_of("not regular", what);
        }
        Failure::Changed { before, after, .. } if before.size != after.size => {
            let (before, after) = (HumanCount(before.size), HumanCount(after.size));
            let how = format_args!("(size {before} then {after}): {so}");
            console.error_of("changed", format_args!("{} changed while being read {how}", quote(path)));
        }
        _ => {
            let what = format_args!("{} changed while being read: {so}", quote(path));
            console.error_of("changed", what);
        }
    }
}
