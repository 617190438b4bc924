//! Compares and measures the sample: a few pairs spread over the table, on the calling thread.

use std::time::{Duration, Instant};

use ftk_sched::{Sample, voluntary_switches};

use super::pairs::PairTable;
use super::worker::Worker;

/// Pairs in the sample.
const PAIRS: usize = 16;

/// Neighbouring pairs sampled together, because a directory is opened once for a whole run of its files.
const RUN: usize = 4;

/// Maximum duration of the sample.
const TIME: Duration = Duration::from_millis(20);

/// Compares a few pairs of at most `max` bytes, and measures the cost of their files (two for each pair).
pub(crate) fn compare(worker: &mut Worker<'_>, table: &mut PairTable, max: u64) -> Sample {
    let (start, waits) = (Instant::now(), voluntary_switches());
    let mut sample = Sample::default();
    for nth in spread(table.pairs.len()) {
        if start.elapsed() > TIME {
            break;
        }
        if worker.compare(nth, &mut table.pairs[nth], max) {
            sample.files += 2;
        }
    }
    sample.bytes = worker.bytes;
    sample.nanos = start.elapsed().as_nanos() as u64;
    sample.waits = (voluntary_switches() - waits) as u32;
    sample
}

/// Returns the pairs to sample, in ascending order: all of a few pairs, otherwise runs in the middle of equal
/// parts.
fn spread(pairs: usize) -> impl Iterator<Item = usize> {
    let (runs, run) = if pairs < PAIRS { (1, pairs) } else { (PAIRS / RUN, RUN) };
    let start = move |nth: usize| {
        let part = |nth: usize| nth * pairs / runs;
        part(nth) + (part(nth + 1) - part(nth) - run) / 2
    };
    (0..runs).flat_map(move |nth| start(nth)..start(nth) + run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_ascending_and_covers_all_parts() {
        for pairs in [0, 1, 3, 15, 16, 17, 100, 1_000_003] {
            let spread: Vec<_> = spread(pairs).collect();
            assert_eq!(spread.len(), pairs.min(PAIRS));
            assert!(spread.is_sorted_by(|a, b| a < b) && spread.iter().all(|&nth| nth < pairs));
            for part in 0..PAIRS / RUN {
                let part = part * pairs / (PAIRS / RUN)..(part + 1) * pairs / (PAIRS / RUN);
                assert!(part.is_empty() || spread.iter().any(|nth| part.contains(nth)), "{pairs}");
            }
        }
    }
}
