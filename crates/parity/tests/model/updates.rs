//! Updates of parity files: nothing that could be restored is given up, whatever rots, and whenever a writer is killed.

use std::cell::RefCell;
use std::collections::HashMap;

use ftk_parity::{Target, Update, Updated};

use super::*;

/// The number of trees that live through updates.
const TREES: usize = 4;

/// What is recorded, with the files as they are.
#[derive(Clone)]
struct World(Vec<(Vec<u8>, Bytes)>);

fn intact(content: &[u8]) -> Bytes {
    content.iter().map(|byte| Some(*byte)).collect()
}

impl World {
    fn new(contents: Vec<Vec<u8>>) -> Self {
        Self(contents.into_iter().map(|it| (intact(&it), it)).map(|(file, it)| (it, file)).collect())
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        self.0.iter().map(|(content, _)| content.clone()).collect()
    }

    /// Returns the files that may have these contents. A content that is gone has no file.
    fn files(&self, of: &[Content]) -> Files {
        let digests = records(&self.contents()).into_iter().map(|it| it.digests);
        let files: HashMap<_, _> = digests.zip(self.0.iter().map(|(_, file)| file.clone())).collect();
        Files(of.iter().map(|content| files.get(&content.digests).cloned().into_iter().collect()).collect())
    }

    /// Adds, removes and edits contents, and damages files.
    fn change(&mut self, random: &mut Rng) {
        for _ in 0..random.usize(..4) {
            self.0.swap_remove(random.usize(..self.0.len()));
            if self.0.is_empty() {
                break;
            }
        }
        let new: Vec<_> = contents(random).into_iter().take(random.usize(..6)).collect();
        let known: HashSet<_> = self.contents().into_iter().collect();
        let new = new.into_iter().filter(|it| !known.contains(it)).collect();
        self.0.extend(World::new(new).0);
        if self.0.is_empty() {
            self.0 = World::new(vec![vec![1; 100]]).0;
        }
        for _ in 0..random.usize(..3) {
            let at = random.usize(..self.0.len());
            damage(random, &mut self.0[at].1);
        }
    }

    fn is_rotten(&self, nth: usize) -> bool {
        self.0[nth].1 != intact(&self.0[nth].0)
    }

    /// Returns which contents are protected or there, by their position. Whatever is computed must be right.
    fn healed(&self, parity: &Parity) -> Vec<bool> {
        self.healed_of(parity, &(0..self.0.len()).collect::<Vec<_>>())
    }

    fn healed_of(&self, parity: &Parity, of: &[usize]) -> Vec<bool> {
        let files = self.files(parity.contents());
        let lens: Vec<_> = parity.contents().iter().map(|it| it.size as usize).collect();
        let positions: HashMap<_, _> =
            parity.contents().iter().enumerate().map(|(nth, it)| (&it.digests, nth)).collect();
        let recorded = records(&self.contents());
        let wanted: Vec<_> =
            of.iter().filter_map(|nth| positions.get(&recorded[*nth].digests).copied()).collect();
        let mut found: HashMap<usize, Vec<u8>> =
            wanted.iter().map(|nth| (*nth, vec![0; lens[*nth]])).collect();
        let mut output = |content: usize, offset: u64, bytes: &[u8]| {
            let offset = offset as usize;
            found.get_mut(&content).unwrap()[offset..offset + bytes.len()].copy_from_slice(bytes);
            Ok(())
        };
        let outcomes = heal(parity, &wanted, &mut Tree(&files, lens), 1 << 22, Some(&mut output)).unwrap();
        let outcomes: HashMap<_, _> = wanted.into_iter().zip(outcomes).collect();
        let is_healed = |&nth: &usize| {
            let Some(position) = positions.get(&recorded[nth].digests) else { return !self.is_rotten(nth) };
            let is_healed = outcomes[position].lost == 0;
            assert!(!is_healed || found[position] == self.0[nth].0, "nothing wrong is passed on");
            is_healed
        };
        of.iter().map(is_healed).collect()
    }
}

/// Updates a parity file.
fn update(path: &Path, world: &World, memory: u64, target: &dyn Target, manifest: &[u8]) -> Updated {
    let parity = Parity::open(open(path), MEMORY).unwrap();
    let update = Update::new(&parity, records(&world.contents()), memory).unwrap();
    let files = world.files(update.contents());
    let mut tree = Tree(&files, update.contents().iter().map(|it| it.size as usize).collect());
    let spool = tempfile::tempfile().unwrap();
    let updated = update.write(&mut tree, target, manifest, spool, &mut |_| {}).unwrap();
    let digests = |nth: usize| &update.contents()[nth].digests;
    for (nth, _) in &updated.skipped {
        let recorded = records(&world.contents());
        let at = recorded.iter().position(|it| it.digests == *digests(*nth)).unwrap();
        assert!(world.is_rotten(at), "only what no file has is skipped");
    }
    updated
}

fn writable(path: &Path) -> std::fs::File {
    std::fs::File::options().read(true).write(true).open(path).unwrap()
}

#[test]
fn an_update_gives_up_nothing_and_never_protects_rot() {
    let dir = tempfile::tempdir().unwrap();
    let (path, anew) = (dir.path().join("parity"), dir.path().join("anew"));
    let mut random = Rng::with_seed(50);
    let trees = std::env::var("FTK_PATTERNS").map_or(TREES, |it| it.parse().unwrap());
    let (mut computed, mut lost, mut dissolved, mut kept, mut covered) = (0, 0, 0, 0, 0);
    for _ in 0..trees {
        let mut world = World::new(contents(&mut random));
        let share = random.choice([10_000, 50_000, 200_000, 1_000_000]).unwrap();
        let memory = random.choice([0, 1 << 22, 1 << 28]).unwrap();
        write(&path, &world.contents(), &Files::of(&world.contents()), share, memory).unwrap();
        for turn in 0..5 {
            world.change(&mut random);
            if random.u8(..3) == 0 {
                let mut bytes: Bytes = std::fs::read(&path).unwrap().into_iter().map(Some).collect();
                let at = random.usize(2 * PAGE..bytes.len());
                bytes[at] = bytes[at].map(|byte| !byte);
                std::fs::write(&path, bytes.into_iter().flatten().collect::<Vec<_>>()).unwrap();
            }
            let manifest = vec![turn; 5000];
            let before = world.healed(&Parity::open(open(&path), MEMORY).unwrap());
            let updated = update(&path, &world, memory, &writable(&path), &manifest);
            let parity = Parity::open(open(&path), MEMORY).unwrap();
            assert_eq!(parity.manifest(MEMORY).unwrap(), manifest);
            let condition = parity.verify().unwrap();
            assert_eq!((condition.heads, condition.pages), (0, 0));
            let after = world.healed(&parity);
            for (nth, (before, after)) in before.iter().zip(&after).enumerate() {
                assert!(after >= before, "content {nth} of {} in turn {turn}", world.0[nth].0.len());
            }
            computed += updated.computed;
            lost += updated.lost;
            dissolved += updated.plan.dissolved;
            kept += u64::from(
                updated.plan.new_blocks().0 < updated.plan.batches().iter().map(|it| it.blocks).sum(),
            );
            // What a tree heals, as a user would repair it. The rest is given up.
            world.0 =
                world.0.into_iter().zip(after).filter(|(_, healed)| *healed).map(|(it, _)| it).collect();
            world.0.iter_mut().for_each(|(content, file)| *file = intact(content));
            if world.0.is_empty() {
                break;
            }
            let updated = update(&path, &world, memory, &writable(&path), &manifest);
            assert!(updated.skipped.is_empty() && updated.computed == 0);
            covered += single_losses(&path, &anew, &world, share, memory, updated.plan.used);
        }
    }
    assert!(
        computed > 0 && dissolved > trees as u64 && kept > trees as u64,
        "{computed} {lost} {dissolved} {kept}"
    );
    assert!(covered > 10 * trees, "{covered}");
}

/// Loses each content alone. What a new parity file restores, and is not longer than the promise of the updated one, that one
/// restores, too.
fn single_losses(path: &Path, anew: &Path, world: &World, share: u32, memory: u64, used: f64) -> usize {
    let mut covered = 0;
    write(anew, &world.contents(), &Files::of(&world.contents()), share, memory).unwrap();
    let [parity, anew] = [path, anew].map(|path| Parity::open(open(path), MEMORY).unwrap());
    let survives = |batch: &Batch| {
        let left = (batch.recovery as f64 * (1.0 - used)) as u64;
        if batch.recovery >= batch.rows(0) && used == 0.0 { u64::MAX } else { left * batch.groups }
    };
    let least = parity.batches().iter().map(survives).min().unwrap_or(0);
    for nth in 0..world.0.len() {
        let mut damaged = world.clone();
        damaged.0[nth].1.clear();
        let blocks = world.0[nth].0.len().div_ceil(BLOCK) as u64 + 1;
        if blocks <= least && damaged.healed_of(&anew, &[nth])[0] {
            assert!(damaged.healed_of(&parity, &[nth])[0], "content {nth} of {blocks} blocks");
            covered += 1;
        }
    }
    covered
}

#[test]
fn new_batches_survive_as_much_as_the_old_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parity");
    let mut random = Rng::with_seed(4);
    let mut noise = |len: usize| std::iter::repeat_with(|| random.u8(..)).take(len).collect::<Vec<u8>>();
    let mut world = World::new((0..20).map(|_| noise(50 * BLOCK)).collect());
    write(&path, &world.contents(), &Files::of(&world.contents()), 50_000, 1 << 28).unwrap();
    let first = Parity::open(open(&path), MEMORY).unwrap().batches()[0];
    assert_eq!((first.groups, first.recovery), (2, 25));
    world.0.extend(World::new((0..40).map(|nth| noise(100 + nth)).collect()).0);
    let updated = update(&path, &world, 1 << 28, &writable(&path), b"");
    let batches = updated.plan.batches();
    // Two blocks, which are there twice.
    assert_eq!((batches.len(), batches[0].blocks, batches[1].blocks), (2, 1000, 2));
    assert!(batches[1].burst() >= 2);
    world.0.extend(World::new(vec![noise(100 * BLOCK)]).0);
    let updated = update(&path, &world, 1 << 28, &writable(&path), b"");
    let batches = updated.plan.batches();
    assert_eq!((batches.len(), batches[0].blocks, updated.plan.dissolved), (2, 1000, 1));
    assert!(batches[1].burst() >= first.burst() && batches[1].recovery >= first.recovery, "{batches:?}");
}

#[test]
fn contents_that_are_gone_use_up_to_a_quarter_of_the_recovery_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parity");
    let mut random = Rng::with_seed(5);
    let mut noise = |len: usize| std::iter::repeat_with(|| random.u8(..)).take(len).collect::<Vec<u8>>();
    let mut world = World::new((0..250).map(|_| noise(4 * BLOCK)).collect());
    write(&path, &world.contents(), &Files::of(&world.contents()), 50_000, 1 << 28).unwrap();
    // Two groups with 25 recovery blocks each: 6 lost ones in each are no more than a quarter, and 8 are.
    for (gone, used, dissolved) in [(0, 0.0, 0), (1, 0.08, 0), (3, 0.24, 0), (4, 0.0, 1)] {
        let mut world = World(world.0[gone..].to_vec());
        std::fs::copy(&path, dir.path().join("copy")).unwrap();
        let path = dir.path().join("copy");
        let plan = update(&path, &world, 1 << 28, &writable(&path), b"").plan;
        assert_eq!((plan.used, plan.dissolved, plan.batches().len()), (used, dissolved, 1));
        let (data, _) = plan.new_blocks();
        assert_eq!(data, if dissolved == 1 { 4 * 246 } else { 0 });
        // The file does not grow for ever: the places of earlier states are used again.
        let mut lens = Vec::new();
        for _ in 0..6 {
            world.0[0].1.clear();
            let updated = update(&path, &world, 1 << 28, &writable(&path), b"");
            lens.push(updated.len);
        }
        assert!(lens[1..].iter().all(|len| *len == lens[1]), "{lens:?}");
    }
    world.0.clear();
    let updated = update(&path, &world, 1 << 28, &writable(&path), b"");
    assert_eq!((updated.plan.batches().len(), updated.plan.contents()), (0, 0));
}

#[test]
fn a_file_stays_as_it_is_if_it_is_undamaged_and_nothing_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parity");
    let mut random = Rng::with_seed(6);
    let mut noise = |len: usize| std::iter::repeat_with(|| random.u8(..)).take(len).collect::<Vec<u8>>();
    let world = World::new((0..30).map(|nth| noise(1 + nth * BLOCK)).collect());
    write(&path, &world.contents(), &Files::of(&world.contents()), 50_000, 1 << 28).unwrap();
    let is_current = |world: &World| {
        let parity = Parity::open(open(&path), MEMORY).unwrap();
        let update = Update::new(&parity, records(&world.contents()), 1 << 28).unwrap();
        let files = world.files(update.contents());
        let mut tree = Tree(&files, update.contents().iter().map(|it| it.size as usize).collect());
        let plan = update.plan(&mut tree).unwrap();
        update.is_current(&plan)
    };
    let good = std::fs::read(&path).unwrap();
    assert!(is_current(&world));
    // Damage of a recovery block is not mended, as long as few are damaged.
    let batch = Parity::open(open(&path), MEMORY).unwrap().batches()[0];
    let recovery =
        batch.offset as usize / PAGE..batch.offset as usize / PAGE + batch.recovery_blocks() as usize;
    for page in 0..good.len() / PAGE {
        let mut bytes = good.clone();
        bytes[page * PAGE + random.usize(..PAGE)] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(is_current(&world), recovery.contains(&page), "page {page}");
    }
    std::fs::write(&path, [&good[..], b"an update that was killed"].concat()).unwrap();
    assert!(!is_current(&world));
    std::fs::write(&path, &good).unwrap();
    let mut changed = world.clone();
    changed.0.remove(0);
    assert!(is_current(&changed), "contents that are gone stay in the index");
    changed.0.extend(World::new(vec![vec![7; 100]]).0);
    assert!(!is_current(&changed));
}

/// A change of a file.
#[derive(Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Len(u64),
    Sync,
}

/// A file that records its changes.
struct Recorder<'r>(&'r std::fs::File, RefCell<Vec<Change>>);

impl Target for Recorder<'_> {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.1.borrow_mut().push(Change::Write(offset, bytes.to_vec()));
        Target::write_all_at(self.0, bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.1.borrow_mut().push(Change::Len(len));
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.1.borrow_mut().push(Change::Sync);
        Ok(())
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(offset, new) => {
            let end = *offset as usize + new.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[*offset as usize..end].copy_from_slice(new);
        }
        Change::Len(len) => bytes.resize(*len as usize, 0),
        Change::Sync => {}
    }
}

/// Applies some of the changes that are not known to be on the disk, whole or in part, in any order.
fn crash(random: &mut Rng, durable: &[u8], pending: &[Change]) -> Vec<u8> {
    let mut bytes = durable.to_vec();
    let mut some: Vec<_> = pending.iter().filter(|_| random.u8(..3) > 0).cloned().collect();
    random.shuffle(&mut some);
    for change in &mut some {
        if let Change::Write(offset, new) = change
            && random.u8(..3) == 0
        {
            // A sector is written or not.
            let from = random.usize(..new.len()) / 512 * 512;
            new.drain(..from);
            *offset += from as u64;
        }
        apply(&mut bytes, change);
    }
    bytes
}

#[test]
fn a_crash_leaves_the_old_state_or_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let [path, other, earlier] = ["parity", "other", "earlier"].map(|name| dir.path().join(name));
    let mut random = Rng::with_seed(51);
    let (mut old_states, mut new_states, mut in_place) = (0, 0, 0);
    for round in 0..2 {
        let mut world = World::new(contents(&mut random));
        write(&path, &world.contents(), &Files::of(&world.contents()), 200_000, 1 << 22).unwrap();
        for turn in 0..4_u8 {
            let before = std::fs::read(&path).unwrap();
            std::fs::write(&earlier, &before).unwrap();
            let old_parity = Parity::open(open(&earlier), MEMORY).unwrap();
            let (old, old_manifest) = (world.clone(), old_parity.manifest(MEMORY).unwrap());
            // Now and then only the manifest is new, and all heads are replaced where they are.
            if turn % 2 == 0 {
                world.change(&mut random);
                world.0.iter_mut().for_each(|(content, file)| *file = intact(content));
            }
            let manifest = vec![turn; 3000];
            let file = writable(&path);
            let recorder = Recorder(&file, RefCell::default());
            update(&path, &world, 1 << 22, &recorder, &manifest);
            let changes = recorder.1.into_inner();
            in_place += usize::from(file.metadata().unwrap().len() == before.len() as u64);
            let new_parity = Parity::open(open(&path), MEMORY).unwrap();
            let (mut durable, mut start) = (before.clone(), 0);
            for end in 0..=changes.len() {
                if end > 0 && matches!(changes[end - 1], Change::Sync) {
                    changes[start..end].iter().for_each(|change| apply(&mut durable, change));
                    start = end;
                } else if end < changes.len() && random.u8(..8) > 0 {
                    continue;
                }
                let bytes = crash(&mut random, &durable, &changes[start..end]);
                std::fs::write(&other, &bytes).unwrap();
                let parity = Parity::open(open(&other), MEMORY).unwrap();
                assert_eq!(parity.verify().unwrap().pages, 0, "round {round} turn {turn}");
                let found = parity.manifest(MEMORY).unwrap();
                assert!(found == manifest || found == old_manifest);
                let (mut damaged, whole, count) = match found == manifest {
                    true => (world.clone(), &new_parity, &mut new_states),
                    false => (old.clone(), &old_parity, &mut old_states),
                };
                *count += 1;
                let lost = random.usize(..damaged.0.len());
                damaged.0[lost].1.clear();
                assert_eq!(damaged.healed(&parity), damaged.healed(whole));
                // The update is repeated.
                let again = update(&other, &world, 1 << 22, &writable(&other), &manifest);
                assert!(again.skipped.is_empty() && again.lost == 0);
                let parity = Parity::open(open(&other), MEMORY).unwrap();
                assert!(parity.verify().unwrap().is_good());
                assert_eq!(parity.manifest(MEMORY).unwrap(), manifest);
            }
            let mut whole = before;
            changes.iter().for_each(|change| apply(&mut whole, change));
            assert!(whole == std::fs::read(&path).unwrap());
        }
    }
    assert!(old_states > 10 && new_states > 10 && in_place > 1, "{old_states} {new_states} {in_place}");
}
