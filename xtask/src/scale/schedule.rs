//! When hosts have finished units of work that each takes from a queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A piece of work for one host, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// When it can begin, since the start.
    pub(crate) ready: u64,
    pub(crate) cost: u64,
}

impl Unit {
    pub(crate) fn new(cost: f64) -> Self {
        Self { ready: 0, cost: cost.round() as u64 }
    }
}

/// Returns when the last unit is done. A host that is free takes the next unit in order, as in a job array.
pub(crate) fn makespan(units: &[Unit], hosts: usize) -> u64 {
    let mut free: BinaryHeap<_> = std::iter::repeat_n(Reverse(0), hosts).collect();
    let mut last = 0;
    for unit in units {
        let Some(Reverse(since)) = free.pop() else { break };
        let done = since.max(unit.ready) + unit.cost;
        last = last.max(done);
        free.push(Reverse(done));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::super::tree::Random;
    use super::*;

    fn units() -> Vec<Unit> {
        let mut random = Random::new(3);
        (0..500).map(|_| Unit { ready: 0, cost: 1 + random.below(1000).pow(2) }).collect()
    }

    #[test]
    fn one_host_does_everything() {
        assert_eq!(makespan(&units(), 1), units().iter().map(|unit| unit.cost).sum::<u64>());
        assert_eq!(makespan(&[], 1), 0);
    }

    #[test]
    fn hosts_cannot_be_faster_than_their_share_or_the_largest_unit() {
        let units = units();
        let total: u64 = units.iter().map(|unit| unit.cost).sum();
        let largest = units.iter().map(|unit| unit.cost).max().unwrap();
        for hosts in [1, 2, 3, 7, 64, 500, 1000] {
            let found = makespan(&units, hosts);
            assert!(found >= (total / hosts as u64).max(largest), "{hosts}");
            // Graham's bound for a queue in any order.
            assert!(found <= total / hosts as u64 + largest, "{hosts}");
        }
        assert_eq!(makespan(&units, 500), largest);
    }

    #[test]
    fn a_unit_waits_until_it_is_ready() {
        let units = [10, 20, 30].map(|ready| Unit { ready, cost: 15 });
        assert_eq!(makespan(&units, 1), 10 + 3 * 15);
        assert_eq!(makespan(&units, 2), 30 + 15);
    }
}
