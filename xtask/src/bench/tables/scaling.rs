//! How much faster commands become with more CPUs, and how much of their time does not.

use std::fmt::Write as _;

use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity};

use crate::bench::cache::Cache;
use crate::bench::case::Case;
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::record::{Group, Section};
use crate::bench::shape;

/// Each command of ftk, with as many workers as CPUs. util-linux has `taskset`.
const TEXT: &str = "
# find
[{row}] taskset -c {cpus} @ftk find -j {workers} {tree}

# hash sha256
[{row}] taskset -c {cpus} @ftk hash -j {workers} {tree}

# hash xxh128
[{row}] taskset -c {cpus} @ftk hash -a xxh128 -j {workers} {tree}

# hash blake3, one file
[{row}] taskset -c {cpus} @ftk hash -a blake3 -j {workers} {huge}

# dup
[{row}] taskset -c {cpus} @ftk dup -j {workers} {tree} {copies}

# manifest create
[{row}] taskset -c {cpus} @ftk manifest create -j {workers} {tree}

# cmp
[{row}] taskset -c {cpus} @ftk cmp -j {workers} {tree} {copy}
";

/// Numbers of CPUs for which the speed is predicted.
const PREDICTED: [usize; 2] = [8, 32];

/// Each group is a command; its rows are numbers of CPUs, the most first.
pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let huge =
        if bench.options.common.quick { shape::MIXED_SMALL } else { shape::HUGE.within(bench.room()?) };
    let huge = bench.shape(&huge)?;
    let (copies, copy) = (derived::copies(bench, &tree)?, derived::copy(bench, &tree)?);
    let cpus = allowed(&sched_getaffinity(None)?);
    let numbers: Vec<_> =
        std::iter::successors(Some(cpus.len()), |n| Some(n / 2)).take_while(|&n| n > 0).collect();
    let commands = Commands::new(bench).with("tree", &tree.path).with("huge", &huge.path);
    let commands = commands.with("copies", &copies.path).with("copy", &copy.path);
    let mut cases: Vec<(String, Vec<Case>)> = Vec::new();
    for &number in &numbers {
        let row = if number == cpus.len() { "ftk".to_owned() } else { format!("ftk, CPUs: {number}") };
        let list: Vec<_> = cpus[..number].iter().map(usize::to_string).collect();
        let commands = commands.clone().with("row", row).with("cpus", list.join(","));
        let groups = commands.with("workers", number.to_string()).groups(TEXT);
        cases.resize_with(groups.len(), Default::default);
        for ((name, cases), (title, new)) in cases.iter_mut().zip(groups) {
            *name = title;
            cases.extend(new);
        }
    }
    let mut groups = Vec::new();
    for (title, cases) in cases {
        let group = bench.clock().group(&title, tree.files, cases)?;
        let note = note(&times(&group, &numbers));
        groups.push(Group { note, ..group });
    }
    Ok(vec![Section::new(&tree, Cache::Warm, groups)])
}

/// Returns the numbers of the CPUs in a set.
fn allowed(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

/// Returns the measured milliseconds for each number of CPUs.
fn times(group: &Group, numbers: &[usize]) -> Vec<(usize, f64)> {
    let rows = group.rows.iter().zip(numbers);
    rows.filter_map(|(row, &cpus)| Some((cpus, row.outcome.summary()?.median))).collect()
}

/// Says what part of the time on one CPU does not become shorter, and what follows for more CPUs. `None` if there is no
/// time for one CPU, or none for several.
fn note(times: &[(usize, f64)]) -> Option<String> {
    let serial = serial_fraction(times)?;
    let most = times.iter().map(|(cpus, _)| *cpus).max()?;
    let mut note = format!("serial fraction {:.0} %", serial * 100.0);
    let more = PREDICTED.into_iter().filter(|&cpus| cpus > most);
    for (nth, cpus) in more.enumerate() {
        let before = if nth == 0 { "; predicted by Amdahl's law, not measured: " } else { ", " };
        let _ = write!(note, "{before}{:.1}x on {cpus} CPUs", speedup(serial, cpus));
    }
    Some(note)
}

/// Fits Amdahl's law, `time(n) / time(1) = s + (1 - s) / n`, by least squares, and returns `s`, from 0 to 1.
///
/// G. Amdahl, "Validity of the single processor approach to achieving large scale computing capabilities" (1967).
fn serial_fraction(times: &[(usize, f64)]) -> Option<f64> {
    let (_, alone) = times.iter().find(|(cpus, _)| *cpus == 1)?;
    let (mut above, mut below) = (0.0, 0.0);
    for (cpus, time) in times {
        let share = 1.0 / *cpus as f64;
        above += (time / alone - share) * (1.0 - share);
        below += (1.0 - share) * (1.0 - share);
    }
    (below > 0.0).then(|| (above / below).clamp(0.0, 1.0))
}

/// Returns how many times faster `cpus` CPUs are than one.
fn speedup(serial: f64, cpus: usize) -> f64 {
    1.0 / (serial + (1.0 - serial) / cpus as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_fraction_is_found() {
        for serial in [0.0, 0.1, 0.5, 1.0] {
            let times: Vec<_> = [8, 4, 2, 1].map(|cpus| (cpus, 300.0 / speedup(serial, cpus))).into();
            let found = serial_fraction(&times).unwrap();
            assert!((found - serial).abs() < 1e-9, "{found} instead of {serial}");
        }
        // Faster than the number of CPUs allows, and slower than one of them.
        assert_eq!(serial_fraction(&[(2, 40.0), (1, 100.0)]), Some(0.0));
        assert_eq!(serial_fraction(&[(2, 140.0), (1, 100.0)]), Some(1.0));
        assert_eq!(serial_fraction(&[(1, 100.0)]), None);
        assert_eq!(serial_fraction(&[(2, 100.0)]), None);
    }

    #[test]
    fn only_more_cpus_are_predicted() {
        let note = |times: &[_]| note(times).unwrap();
        assert_eq!(
            note(&[(2, 55.0), (1, 100.0)]),
            "serial fraction 10 %; predicted by Amdahl's law, not measured: 4.7x on 8 CPUs, 7.8x on 32 CPUs"
        );
        assert!(note(&[(16, 12.0), (1, 100.0)]).ends_with("not measured: 11.0x on 32 CPUs"));
        assert_eq!(note(&[(64, 50.0), (1, 100.0)]), "serial fraction 49 %");
    }
}
