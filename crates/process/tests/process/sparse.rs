//! Files with holes have the digests of their bytes, whichever worker and reader processes them.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use fastrand::Rng;
use ftk_hash::Algorithm;
use ftk_inventory::Keep;
use ftk_read::Span;

use super::{all, check, inventory_of};

/// Writes a file of about `size` bytes: parts of random lengths, each a hole or data, the last one mostly a hole.
fn write(path: &Path, size: u64, random: &mut Rng) {
    let file = File::create(path).unwrap();
    let mut at = 0;
    while at < size {
        let longest = if random.u8(..3) == 0 { 20_000 } else { size / 2 };
        let len = 1 + random.u64(..longest);
        if random.u8(..3) == 0 {
            let bytes: Vec<_> = (0..len).map(|_| random.u8(..)).collect();
            file.write_all_at(&bytes, at).unwrap();
        }
        at += len;
    }
    file.set_len(at).unwrap();
}

/// Lanes, one lane, and a tree that workers share, with files on both sides of every threshold.
#[test]
fn random_layouts_have_the_digests_of_their_bytes() {
    let root = tempfile::tempdir().unwrap();
    let mut random = Rng::with_seed(1);
    for (nth, size) in [70_000, 70_000, 200_000, 300_000, 1 << 20, 3 << 20, 9 << 20, 17 << 20, 25 << 20]
        .into_iter()
        .enumerate()
    {
        write(&root.path().join(format!("f{nth}")), size, &mut random);
    }
    for (name, size) in [("small hole", 100_000), ("hole", (18 << 20) + 5)] {
        File::create(root.path().join(name)).unwrap().set_len(size).unwrap();
    }
    let inventory = inventory_of(root.path(), Keep::Sizes);
    for algorithm in [Algorithm::Sha256, Algorithm::Md5, Algorithm::Blake3, Algorithm::Xxh128] {
        check(&all(&inventory, &[algorithm]), |size| size > 1 << 20);
    }
    for (piece, pieces) in [(16_384, 2), (65_537, 9)] {
        let algorithms = [Algorithm::Blake3];
        let span = Span::Sample { whole: 65_536, piece, pieces };
        check(&ftk_process::Work { span, ..all(&inventory, &algorithms) }, |_| false);
    }
}
