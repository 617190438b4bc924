//! One JSON object per entry. `docs/json.md` documents the members.

use ftk_record::write_record;
use ftk_usage::{Listing, Usage};

use crate::stdout::{Lines, Stdout};

/// `inodes`: whether the sums are numbers of inodes.
pub(super) fn print(usage: &Usage, listing: &Listing, inodes: bool, out: &Stdout) {
    let mut lines = Lines::new(out);
    for row in &listing.rows {
        let is_written = lines.line(|line| {
            write_record(line, |record| {
                let kind = if usage.is_directory(row.item) { "directory" } else { "file" };
                record
                    .path("path", &usage.path(row.item))
                    .member("type", kind)
                    .member("depth", usage.depth(row.item));
                match inodes {
                    true => record.member("inodes", row.sum.allocated),
                    false => record
                        .member("allocated_bytes", row.sum.allocated)
                        .member("apparent_bytes", row.sum.apparent),
                };
                record.member("files", row.sum.files).member("directories", row.sum.directories);
                if let Some(exclusive) = usage.exclusive(row.item) {
                    record
                        .member("exclusive_bytes", exclusive.known())
                        .member("exclusive_unknown_files", exclusive.unknown_files);
                }
            });
        });
        if !is_written {
            return;
        }
    }
    lines.flush();
}
