//! The sample: a few pairs spread over the plan, compared by the calling thread and measured.

use std::time::{Duration, Instant};

use ftk_sched::{Sample, voluntary_switches};

use super::pairs::PairTable;
use super::worker::Worker;

/// Pairs in the sample.
const PAIRS: usize = 16;

/// Neighbours sampled together: directories are opened for whole runs of their files.
const RUN: usize = 4;

/// When the sample has told enough.
const TIME: Duration = Duration::from_millis(20);

/// Compares a few pairs of at most so many bytes and says what their files cost, two for each.
pub(crate) fn compare(worker: &mut Worker<'_>, plan: &mut PairTable, most: u64) -> Sample {
    let (start, waits) = (Instant::now(), voluntary_switches());
    let mut sample = Sample::default();
    for nth in spread(plan.pairs.len()) {
        if start.elapsed() > TIME {
            break;
        }
        if worker.compare(nth, &mut plan.pairs[nth], most) {
            sample.files += 2;
        }
    }
    sample.bytes = worker.bytes;
    sample.nanos = start.elapsed().as_nanos() as u64;
    sample.waits = (voluntary_switches() - waits) as u32;
    sample
}

/// Which of so many pairs are sampled: all of few, else runs in the middle of equal parts, ascending.
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
