//! Ways to divide a tree into units of work, and what each unit costs in nanoseconds.

use std::ops::RangeInclusive;

use super::costs::Costs;
use super::schedule::Unit;
use super::tree::{Dir, Random, Tree};

/// The shards of a plan: ranges of paths with the same number of entries each, when the plan was made.
///
/// Every shard lists all directories that are partly in its range, and examines its own entries.
pub(crate) fn by_plan(tree: &Tree, n_shards: u64, costs: &Costs) -> Vec<Unit> {
    let planned = tree.planned().max(1);
    let shard_of = |entry: u64| {
        (u128::from(entry.min(planned - 1)) * u128::from(n_shards) / u128::from(planned)) as usize
    };
    let mut shards =
        Shards { own: vec![costs.start; n_shards as usize], change: vec![0.0; n_shards as usize + 1] };
    // The directories that are not yet over, with the first entry of each.
    let (mut open, mut at): (Vec<(Dir, u64)>, u64) = (Vec::new(), 0);
    for dir in &tree.dirs {
        while let Some((over, first)) = open.pop_if(|(it, _)| it.depth >= dir.depth) {
            shards.list(&over, shard_of(first)..=shard_of(at.max(first + 1) - 1), costs);
        }
        open.push((*dir, at));
        let end = at + u64::from(dir.planned);
        let of = shard_of(at)..=shard_of(end.max(at + 1) - 1);
        let each = f64::from(dir.now) * costs.stat / of.clone().count() as f64;
        of.for_each(|shard| shards.own[shard] += each);
        at = end;
    }
    for (over, first) in open {
        shards.list(&over, shard_of(first)..=shard_of(at.max(first + 1) - 1), costs);
    }
    shards.units()
}

struct Shards {
    own: Vec<f64>,
    /// What each shard pays more than the one before it.
    change: Vec<f64>,
}

impl Shards {
    /// Adds the listing of a directory in all shards that its subtree is in.
    fn list(&mut self, dir: &Dir, of: RangeInclusive<usize>, costs: &Costs) {
        let is_shared = of.start() != of.end();
        let each = costs.dir + f64::from(dir.now) * if is_shared { costs.list_alone } else { costs.list };
        self.change[*of.start()] += each;
        self.change[*of.end() + 1] -= each;
    }

    fn units(self) -> Vec<Unit> {
        let mut listed = 0.0;
        let costs = self.own.iter().zip(&self.change).map(|(own, change)| {
            listed += change;
            own + listed
        });
        costs.map(Unit::new).collect()
    }
}

/// Shards without a plan: each lists all directories, and examines the entries of those whose hash is its own.
pub(crate) fn by_hash(tree: &Tree, n_shards: u64, costs: &Costs) -> Vec<Unit> {
    let listed: f64 = tree.dirs.iter().map(|dir| costs.dir + f64::from(dir.now) * costs.list).sum();
    let mut shards = vec![costs.start + listed; n_shards as usize];
    let mut hash = Random::new(7);
    for dir in &tree.dirs {
        shards[hash.below(n_shards) as usize] += f64::from(dir.now) * costs.stat;
    }
    shards.into_iter().map(Unit::new).collect()
}

/// The subtrees at a fixed level, as GUFI cuts. The directories above them are the first unit.
pub(crate) fn at_level(tree: &Tree, level: u16, costs: &Costs) -> Vec<Unit> {
    let mut units = vec![costs.start];
    for dir in &tree.dirs {
        if dir.depth == level {
            units.push(costs.start);
        }
        let unit = if dir.depth < level { 0 } else { units.len() - 1 };
        units[unit] += costs.dir + f64::from(dir.now) * (costs.list + costs.stat);
    }
    units.into_iter().map(Unit::new).collect()
}

/// Lists of the same number of entries each, as fpart makes them: by one thread that lists the whole tree. A list can be
/// worked on as soon as it is complete.
pub(crate) fn by_crawl(tree: &Tree, n_lists: u64, costs: &Costs) -> Vec<Unit> {
    let entries = tree.entries() as f64;
    let crawl = entries * costs.crawl + tree.dirs.len() as f64 * costs.dir;
    let each = Unit::new(costs.start + entries * costs.stat / n_lists as f64);
    let ready = |nth: u64| Unit::new(crawl * nth as f64 / n_lists as f64).cost;
    (1..=n_lists).map(|nth| Unit { ready: ready(nth), ..each }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::costs::tests::ROUND;
    use super::super::tree::tests::SMALL;
    use super::*;

    fn dir(depth: u16, entries: u32) -> Dir {
        Dir { depth, planned: entries, now: entries }
    }

    fn costs(units: &[Unit]) -> Vec<u64> {
        units.iter().map(|unit| unit.cost).collect()
    }

    /// The root with 2 entries, and below it directories with 38 and 40 entries.
    fn three() -> Tree {
        Tree { dirs: vec![dir(0, 2), dir(1, 38), dir(1, 40)] }
    }

    #[test]
    fn shards_share_the_directories_that_a_cut_crosses() {
        let [root, entries] = [100 + 2 * 2, 40 * 10];
        let found = by_plan(&three(), 2, &ROUND);
        assert_eq!(costs(&found), [1000 + root + 100 + 38 + entries, 1000 + root + 100 + 40 + entries]);
        // One flat directory: each shard lists all of it.
        let flat = Tree { dirs: vec![dir(0, 100)] };
        assert_eq!(costs(&by_plan(&flat, 4, &ROUND)), [1000 + 100 + 2 * 100 + 25 * 10; 4]);
        assert_eq!(costs(&by_plan(&flat, 1, &ROUND)), [1000 + 100 + 100 + 100 * 10]);
    }

    #[test]
    fn entries_that_are_new_since_the_plan_stay_in_their_range() {
        let mut tree = three();
        tree.dirs[2].now = 60;
        let [before, after] = [three(), tree].map(|tree| costs(&by_plan(&tree, 2, &ROUND)));
        assert_eq!(after, [before[0], before[1] + 20 * 11]);
    }

    #[test]
    fn empty_directories_belong_to_some_shard() {
        for dirs in [vec![dir(0, 0)], vec![dir(0, 1), dir(1, 0)], vec![dir(0, 0), dir(1, 3), dir(2, 0)]] {
            for n_shards in 1..5 {
                assert_eq!(by_plan(&Tree { dirs: dirs.clone() }, n_shards, &ROUND).len() as u64, n_shards);
            }
        }
    }

    #[test]
    fn a_hash_keeps_directories_whole() {
        let listed = 300 + 80;
        assert_eq!(costs(&by_hash(&three(), 1, &ROUND)), [1000 + listed + 800]);
        let found = costs(&by_hash(&three(), 7, &ROUND));
        assert_eq!(found.iter().sum::<u64>(), 7 * (1000 + listed) + 800);
    }

    #[test]
    fn levels_keep_subtrees_whole() {
        let units = costs(&at_level(&three(), 1, &ROUND));
        assert_eq!(units, [1000 + 100 + 22, 1000 + 100 + 38 * 11, 1000 + 100 + 40 * 11]);
        assert_eq!(costs(&at_level(&three(), 0, &ROUND)), [1000, 1000 + 300 + 80 * 11]);
    }

    #[test]
    fn lists_are_ready_one_after_another() {
        let units = by_crawl(&three(), 2, &ROUND);
        let crawl = 80 * 30 + 300;
        assert_eq!(units.iter().map(|unit| unit.ready).collect::<Vec<_>>(), [crawl / 2, crawl]);
        assert_eq!(costs(&units), [1000 + 400; 2]);
    }

    /// However a tree is cut, the entries are examined once.
    #[test]
    fn all_cuts_examine_all_entries() {
        let tree = Tree::generate(&SMALL);
        let only_stat = Costs { start: 0.0, dir: 0.0, list: 0.0, list_alone: 0.0, stat: 1000.0, crawl: 0.0 };
        let expected = tree.entries() as f64 * 1000.0;
        for units in [
            by_plan(&tree, 64, &only_stat),
            by_hash(&tree, 64, &only_stat),
            at_level(&tree, 2, &only_stat),
            by_crawl(&tree, 64, &only_stat),
        ] {
            let sum = units.iter().map(|unit| unit.cost as f64).sum::<f64>();
            assert!((sum / expected - 1.0).abs() < 1e-6, "{sum} {expected}");
        }
    }
}
