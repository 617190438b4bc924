//! The table of the model.

use std::fmt::Write as _;

use super::costs::Costs;
use super::cuts::{at_level, by_crawl, by_hash, by_plan};
use super::schedule::{Unit, makespan};
use super::tree::Tree;

/// The shards of the plan, and the lists of fpart.
const SHARDS: u64 = 4096;

/// Levels at which GUFI may cut. Each row shows the best one.
const LEVELS: std::ops::Range<u16> = 1..8;

const HOSTS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// Returns the table and the numbers that belong to it.
pub(crate) fn page(tree: &Tree, costs: &Costs, record: &str) -> String {
    let plan = by_plan(tree, SHARDS, costs);
    let crawl = by_crawl(tree, SHARDS, costs);
    let levels: Vec<_> = LEVELS.map(|level| at_level(tree, level, costs)).collect();
    let mut text = describe(tree, costs, record, &plan);
    text.push_str(
        "\n| hosts | ftk, plan of 4,096 shards | ftk, one shard per host by hash | fpart, 4,096 lists | GUFI, best level |\n\
         |---:|---:|---:|---:|---:|\n",
    );
    for hosts in HOSTS {
        let by_hash = makespan(&by_hash(tree, hosts as u64, costs), hosts);
        let level = levels.iter().map(|units| makespan(units, hosts)).min().unwrap_or_default();
        let row = [makespan(&plan, hosts), by_hash, makespan(&crawl, hosts), level].map(seconds);
        _ = writeln!(text, "| {hosts} | {} |", row.join(" | "));
    }
    text
}

fn describe(tree: &Tree, costs: &Costs, record: &str, plan: &[Unit]) -> String {
    let ns = plan.iter().map(|unit| unit.cost);
    let total: u64 = ns.clone().sum();
    let largest = ns.max().unwrap_or_default();
    let Costs { start, dir, list, list_alone, stat, crawl } = costs;
    format!(
        "Tree: {} entries in {} directories, {:.1} % of the entries new since the plan; the largest subtree of the root \
         has {:.0} % of the entries.\n\n\
         Costs, from `benches/records/{record}`: {list:.0} ns to list an entry ({list_alone:.0} ns in a directory that \
         several shards list, with one thread), {stat:.0} ns for its metadata, {:.1} µs per directory, {:.1} ms to start; \
         {crawl:.0} ns for an entry that one thread lists and examines.\n\n\
         The 4,096 shards need {} in sum, {:.0} % of which is the work of a single run; the largest needs {}.\n",
        grouped(tree.entries()),
        grouped(tree.dirs.len() as u64),
        100.0 * (tree.entries() - tree.planned()) as f64 / tree.entries() as f64,
        100.0 * tree.largest_share(),
        dir / 1e3,
        start / 1e6,
        seconds(total),
        100.0 * by_plan(tree, 1, costs)[0].cost as f64 / total as f64,
        seconds(largest),
    )
}

/// Returns a time with three digits.
fn seconds(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    match seconds {
        ..10.0 => format!("{seconds:.2} s"),
        ..100.0 => format!("{seconds:.1} s"),
        _ => format!("{} s", grouped(seconds.round() as u64)),
    }
}

/// Returns a number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::costs::tests::ROUND;
    use super::super::tree::tests::SMALL;
    use super::*;

    #[test]
    fn numbers_are_grouped_and_times_have_three_digits() {
        let shown = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
        let shown = [0.5, 12.345, 1234.5].map(|it| seconds((it * 1e9) as u64));
        assert_eq!(shown, ["0.50 s", "12.3 s", "1,235 s"]);
    }

    #[test]
    fn the_table_has_a_row_for_each_number_of_hosts() {
        let text = page(&Tree::generate(&SMALL), &ROUND, "day");
        for hosts in HOSTS {
            assert!(text.contains(&format!("\n| {hosts} | ")), "{text}");
        }
    }
}
