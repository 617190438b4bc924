//! Plans must be preserved when written again, and divide all paths, or be refused.

use ftk_manifest::Plan;

use crate::sealed::{seal, texts};

/// Paths that are easily misplaced.
const PATHS: [&[u8]; 9] = [b".", b"a", b"a-b", b"a/x", b"ab", b"a\x01", b"\x01", b"\xff", b"\xff/\xff"];

/// Uses the lines of the input as those of a plan.
pub fn plans(data: &[u8]) {
    let _ = Plan::read(data);
    let Ok(plan) = Plan::read(&*seal(&texts(data))) else { return };
    let again = Plan::read(&*plan.to_bytes()).expect("what is written is a plan");
    assert_eq!(again, plan);
    let of = plan.shards.len() as u32;
    let shards: Vec<_> = (1..=of).map(|number| plan.shard(number, of).expect("it is planned")).collect();
    let cuts = plan.shards.iter().filter_map(|shard| shard.range.from());
    for path in PATHS.into_iter().chain(cuts) {
        let owners = shards.iter().filter(|shard| shard.contains(path)).count();
        assert_eq!(owners, 1, "{}", path.escape_ascii());
    }
    assert!(shards[0].contains(b"."), "the root belongs to the first shard");
}
