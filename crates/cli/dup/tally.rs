//! Prints how much is duplicated, and how much of it pruning would free.

use ftk_dedup::Tally;
use ftk_record::write_record;
use indicatif::DecimalBytes;

use crate::console::Console;
use crate::dup::options::ReportFormat;
use crate::rules::Rules;

/// Returns what `ftk dup prune --action delete` with the default rules frees: `pruning would free 38.90 GB`. If the
/// blocks are not known, this is an estimate by the sizes.
fn text(tally: &Tally) -> String {
    let directory_groups = tally.directory_groups.unwrap_or_default();
    match (tally.groups + directory_groups, tally.free) {
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
    }
}

/// Appends the totals as the only output. `rules` are those of the walk.
pub(super) fn push(tally: &Tally, json: bool, rules: &Rules, out: &mut Vec<u8>) {
    if !json {
        return out.extend_from_slice(format!("{}\n", text(tally)).as_bytes());
    }
    let Tally { files, groups, waste, shared, is_upper_bound, directory_groups, .. } = tally;
    write_record(out, |record| {
        record
            .member("files", files)
            .member("groups", groups)
            .member("waste_bytes", waste)
            .member("freed_bytes", tally.freed_bytes())
            .member("shared_bytes", shared);
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
    }
}
