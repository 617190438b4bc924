//! Prints how much is duplicated, and how much of it pruning would free.

use ftk_dedup::Tally;
use ftk_record::write_record;
use indicatif::{DecimalBytes, HumanCount};

use crate::console::Console;
use crate::dup::options::ReportFormat;
use crate::rules::Rules;

/// Returns how many files are surplus, and what `ftk dup prune --action delete` with the default rules frees: `7,092
/// surplus copies; pruning would free 38.90 GB`. If the blocks are not known, this is an estimate by the sizes.
fn text(tally: &Tally) -> String {
    let directory_groups = tally.directory_groups.unwrap_or_default();
    // Files in groups of directories are not counted.
    let surplus = match (tally.surplus, directory_groups) {
        (0, _) | (_, 1..) => String::new(),
        (1, 0) => "1 surplus copy; ".into(),
        (n, 0) => format!("{} surplus copies; ", HumanCount(n)),
    };
    let free = match (tally.groups + directory_groups, tally.free) {
        (0, _) => "no duplicates".into(),
        (_, Some(free)) if directory_groups > 0 => {
            format!("pruning would free about {}", DecimalBytes(free))
        }
        (_, Some(0)) => "pruning would free nothing".into(),
        (_, Some(free)) if tally.is_upper_bound => {
            format!("pruning would free up to {}", DecimalBytes(free))
        }
        (_, Some(free)) => format!("pruning would free {}", DecimalBytes(free)),
        (_, None) => format!("pruning would free about {}", DecimalBytes(tally.waste)),
    };
    surplus + &free
}

/// Appends the totals as the only output. `failed`: the files and directories that were not compared. `rules` are those
/// of the walk.
pub(super) fn push(tally: &Tally, json: bool, failed: u64, rules: &Rules, out: &mut Vec<u8>) {
    if !json {
        return out.extend_from_slice(format!("{}\n", text(tally)).as_bytes());
    }
    let Tally { files, groups, surplus, waste, shared, is_upper_bound, directory_groups, .. } = tally;
    write_record(out, |record| {
        record
            .member("files", files)
            .member("groups", groups)
            .member("surplus_files", surplus)
            .member("waste_bytes", waste)
            .member("freed_bytes", tally.freed_bytes())
            .member("shared_bytes", shared)
            .member("failed", failed);
        if *is_upper_bound {
            record.member("is_upper_bound", true);
        }
        if let Some(groups) = directory_groups {
            record.member("directory_groups", groups);
        }
        rules.write(record);
    });
}

/// Prints the totals after the groups, and records them under the names that they have in the JSON output.
pub(super) fn say(tally: &Tally, format: ReportFormat, console: &Console) {
    if format != ReportFormat::Summary {
        console.summary(text(tally));
    }
    let stats = &console.stats;
    stats.result("files", tally.files);
    stats.result("groups", tally.groups);
    stats.result("surplus_files", tally.surplus);
    stats.result("waste_bytes", tally.waste);
    stats.result("shared_bytes", tally.shared);
    tally.free.into_iter().for_each(|free| stats.result("freed_bytes", free));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_an_estimate_if_the_blocks_are_unknown() {
        assert_eq!(text(&Tally::default()), "no duplicates");
        let tally = Tally { files: 2, groups: 1, waste: 1000, ..Tally::default() };
        assert_eq!(text(&tally), "pruning would free about 1.00 kB");
        assert_eq!(text(&Tally { free: Some(4096), ..tally }), "pruning would free 4.10 kB");
        assert_eq!(text(&Tally { free: Some(0), ..tally }), "pruning would free nothing");
        let tally = Tally { free: Some(4096), is_upper_bound: true, ..tally };
        assert_eq!(text(&tally), "pruning would free up to 4.10 kB");
        let free = "pruning would free up to 4.10 kB";
        assert_eq!(text(&Tally { surplus: 1, ..tally }), format!("1 surplus copy; {free}"));
        assert_eq!(text(&Tally { surplus: 1234, ..tally }), format!("1,234 surplus copies; {free}"));
        let directories = Tally { surplus: 1, directory_groups: Some(1), ..tally };
        assert_eq!(text(&directories), "pruning would free about 4.10 kB");
    }
}
