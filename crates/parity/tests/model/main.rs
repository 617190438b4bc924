//! Random damage to trees and parity files: what the layout promises is healed, and nothing wrong is ever passed on.

#![expect(clippy::single_range_in_vec_init, reason = "a content without holes is one range")]
#![expect(clippy::needless_range_loop, reason = "a unit is a column of all rows")]

mod updates;

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::Path;

use fastrand::Rng;
use ftk_file::{File, Symlinks};
use ftk_hash::Algorithm;
use ftk_parity::{
    Algorithms, Batch, Content, Error, Layout, LeftOut, Outcome, Parity, Plan, Protected, Redundancy,
    Sources, UNIT, heal, protect,
};

/// The number of random patterns of damage.
const PATTERNS: usize = 400;

const BLOCK: usize = 4096;
const PAGE: usize = 4096;

/// A content of this size or more has blocks of its own.
const LARGE: usize = 16 * BLOCK;

/// A file that may have a content. `None`: the byte cannot be read.
type Bytes = Vec<Option<u8>>;

/// Files in memory, by content.
#[derive(Clone)]
struct Files(Vec<Vec<Bytes>>);

impl Files {
    fn of(contents: &[Vec<u8>]) -> Self {
        Self(contents.iter().map(|content| vec![content.iter().map(|byte| Some(*byte)).collect()]).collect())
    }
}

/// Files that say that they are holes.
struct Holes<'h>(Tree<'h>);

impl Sources for Holes<'_> {
    fn data(&mut self, _: usize, _: u64) -> Vec<std::ops::Range<u64>> {
        Vec::new()
    }

    fn candidates(&mut self, content: usize) -> usize {
        self.0.candidates(content)
    }

    fn read(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.0.read(content, candidate, offset, buf)
    }
}

/// The files. Those of another size than the content are only read in part.
struct Tree<'t>(&'t Files, Vec<usize>);

impl Sources for Tree<'_> {
    fn candidates(&mut self, content: usize) -> usize {
        self.0.0[content].len()
    }

    fn read(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let file = self.0.0[content].get(candidate).ok_or(io::ErrorKind::NotFound)?;
        if file.len() != self.1[content] {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.part(content, candidate, offset, buf)
    }

    fn part(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let file = self.0.0[content].get(candidate).ok_or(io::ErrorKind::NotFound)?;
        let bytes = file.get(offset as usize..offset as usize + buf.len());
        for (to, from) in buf.iter_mut().zip(bytes.ok_or(io::ErrorKind::UnexpectedEof)?) {
            *to = from.ok_or_else(|| io::Error::other("a lost sector"))?;
        }
        Ok(())
    }
}

fn contents(random: &mut Rng) -> Vec<Vec<u8>> {
    let count = random.usize(1..40);
    let mut all: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let len = match random.u8(..10) {
                0 => 0,
                1..5 => random.usize(1..300),
                5..8 => random.usize(1..LARGE),
                8 => random.usize(1..4) * LARGE,
                _ => random.usize(LARGE..6 * LARGE),
            };
            std::iter::repeat_with(|| random.u8(..)).take(len).collect()
        })
        .collect();
    all.iter_mut().filter(|_| random.u8(..6) == 0).for_each(|content| content.fill(0));
    let mut seen = HashSet::new();
    all.retain(|content| seen.insert(content.clone()));
    all
}

fn records(contents: &[Vec<u8>]) -> Vec<Content> {
    let digests = |content: &[u8]| Algorithm::Sha256.hash_one(content).as_bytes().to_vec();
    contents.iter().map(|it| Content { size: it.len() as u64, digests: digests(it) }).collect()
}

fn sizes(contents: &[Vec<u8>]) -> Vec<usize> {
    contents.iter().map(Vec::len).collect()
}

fn open(path: &Path) -> File {
    use std::os::unix::ffi::OsStrExt as _;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
    File::open(std::fs::File::open("/").unwrap(), &name, Symlinks::Follow).unwrap()
}

/// What the reader may use.
const MEMORY: u64 = 1 << 24;

const MANIFEST: &[u8] = b"not a manifest, but kept as it is";

/// Writes a parity file of the contents, as the files have them.
fn write(
    path: &Path,
    contents: &[Vec<u8>],
    files: &Files,
    share: u32,
    memory: u64,
) -> Result<Protected, Error> {
    let redundancy = Redundancy::new(share).unwrap();
    let lens = sizes(contents);
    let algorithms = Algorithms(vec![Algorithm::Sha256]);
    let mut tree = Tree(files, lens.clone());
    let plan = Plan::new(algorithms, records(contents), &mut tree, redundancy, 0, memory).unwrap();
    assert_eq!(plan.block_len(), BLOCK as u64);
    let file = std::fs::File::create(path).unwrap();
    let planned = plan.file_len(MANIFEST.len() as u64);
    let protected = protect(plan, &mut tree, &file, [7; 16], MANIFEST, &mut |_| {})?;
    assert_eq!((protected.len, file.metadata().unwrap().len()), (planned, planned));
    Ok(protected)
}

/// Damages a file.
fn damage(random: &mut Rng, file: &mut Bytes) {
    let len = file.len();
    if len == 0 {
        return;
    }
    match random.u8(..7) {
        0 => file.clear(),
        6 => file.extend((0..random.usize(1..3 * BLOCK)).map(|nth| Some(nth as u8))),
        1 => file.truncate(random.usize(..len)),
        2 => {
            let at = random.usize(..len);
            file[at] = file[at].map(|byte| byte ^ 1 << random.u8(..8));
        }
        3 => {
            let at = random.usize(..len) / 512 * 512;
            file[at..(at + 512).min(len)].fill(None);
        }
        4 => {
            let at = random.usize(..len);
            let end = (at + random.usize(..3 * BLOCK)).min(len);
            file[at..end].iter_mut().for_each(|byte| *byte = Some(random.u8(..)));
        }
        _ => *file.last_mut().unwrap() = None,
    }
}

/// Which units of the stream are lost, by block and unit: from the bytes, without checksums.
fn lost_units(layout: &Layout, contents: &[Vec<u8>], files: &Files) -> Vec<Vec<bool>> {
    let is_good = |content: usize, file: &Bytes, from: usize, len: usize| {
        let part = file.get(from..from + len);
        part.is_some_and(|part| {
            part.iter().zip(&contents[content][from..]).all(|(one, other)| *one == Some(*other))
        })
    };
    let has = |content: usize| {
        files.0[content].iter().any(|file| is_good(content, file, 0, contents[content].len()))
    };
    (0..layout.blocks)
        .map(|block| {
            let mut lost = vec![false; BLOCK / UNIT as usize];
            let pieces: Vec<_> = layout.pieces_of(block).collect();
            let part = |it: &ftk_parity::Piece, nth: usize| {
                files.0[it.content]
                    .get(nth)
                    .is_some_and(|file| is_good(it.content, file, it.offset as usize, it.len as usize))
            };
            let is_large = pieces.first().is_some_and(|it| contents[it.content].len() >= LARGE);
            let tries = if is_large { files.0[pieces[0].content].len() } else { 1 };
            let is_known = |piece: &ftk_parity::Piece| !is_large && has(piece.content);
            if !(0..tries).any(|nth| pieces.iter().all(|piece| is_known(piece) || part(piece, nth))) {
                for piece in pieces.iter().filter(|piece| !is_known(piece)) {
                    let start = (piece.place % BLOCK as u64 / UNIT) as usize;
                    let units = piece.len.div_ceil(UNIT) as usize;
                    lost[start..start + units].fill(true);
                }
            }
            lost
        })
        .collect()
}

/// Compares what is healed with the model. Returns whether all was healed.
fn compare(
    parity: &Parity,
    is_whole: impl Fn(&Batch, u64) -> bool,
    contents: &[Vec<u8>],
    files: &Files,
    memory: u64,
) -> bool {
    let lens: Vec<_> = contents.iter().map(|it| it.len() as u64).collect();
    let layout = Layout::new(BLOCK as u64, &lens, |nth| vec![0..lens[nth]]);
    let lost = lost_units(&layout, contents, files);
    let mut expected: BTreeSet<usize> = BTreeSet::new();
    for batch in parity.batches() {
        for group in 0..batch.groups {
            let available =
                (0..batch.recovery).filter(|row| is_whole(batch, row * batch.groups + group)).count();
            for unit in 0..BLOCK / UNIT as usize {
                let rows: Vec<_> = (0..batch.rows(group)).map(|row| batch.block(group, row)).collect();
                let missing: Vec<_> = rows.into_iter().filter(|block| lost[*block as usize][unit]).collect();
                if missing.len() > available {
                    for block in missing {
                        let at = block * BLOCK as u64 + unit as u64 * UNIT;
                        let piece = layout.pieces_of(block).find(|it| it.within(&(at..at + UNIT)).is_some());
                        expected.insert(piece.unwrap().content);
                    }
                }
            }
        }
    }
    let wanted: Vec<_> = (0..contents.len()).collect();
    let lens = sizes(contents);
    let planned = heal(parity, &wanted, &mut Tree(files, lens.clone()), memory, None).unwrap();
    let mut healed: Vec<Vec<u8>> = lens.iter().map(|len| vec![0; *len]).collect();
    let outcomes = heal(
        parity,
        &wanted,
        &mut Tree(files, lens),
        memory,
        Some(&mut |content, offset, bytes| {
            let offset = offset as usize;
            assert_eq!(bytes, &contents[content][offset..offset + bytes.len()], "nothing wrong is passed on");
            healed[content][offset..offset + bytes.len()].copy_from_slice(bytes);
            Ok(())
        }),
    );
    let outcomes = outcomes.unwrap();
    assert_eq!(outcomes, planned, "the plan says what happens");
    for (nth, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.lost > 0, expected.contains(&nth), "content {nth}: {outcome:?}");
        assert_eq!(outcome.lost > 0, outcome.lacking > 0);
        assert!(outcome.lost > 0 || healed[nth] == contents[nth], "content {nth}");
    }
    expected.is_empty()
}

#[test]
fn damage_within_the_promise_is_healed_and_beyond_it_nothing_wrong_is_passed_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parity");
    let mut random = Rng::with_seed(49);
    let (mut healed, mut exhausted, mut unusable) = (0, 0, 0);
    let patterns = std::env::var("FTK_PATTERNS").map_or(PATTERNS, |it| it.parse().unwrap());
    while healed + exhausted + unusable < patterns {
        let contents = contents(&mut random);
        let share = random.choice([10_000, 50_000, 200_000, 1_000_000]).unwrap();
        let memory = random.choice([0, 1 << 22, 1 << 28]).unwrap();
        let intact = Files::of(&contents);
        let protected = write(&path, &contents, &intact, share, memory).unwrap();
        assert!(protected.skipped.is_empty());
        let good = std::fs::read(&path).unwrap();
        assert!(Parity::open(open(&path), MEMORY).unwrap().verify().unwrap().is_good());
        for _ in 0..10 {
            let mut files = intact.clone();
            for _ in 0..random.usize(..4) {
                let at = random.usize(..contents.len());
                damage(&mut random, &mut files.0[at][0]);
            }
            if random.u8(..4) == 0 {
                let (one, other) = (random.usize(..contents.len()), random.usize(..contents.len()));
                files.0.swap(one, other);
            }
            if random.u8(..4) == 0 {
                let at = random.usize(..contents.len());
                let mut copy = intact.0[at][0].clone();
                if random.bool() {
                    damage(&mut random, &mut copy);
                }
                files.0[at].push(copy);
            }
            let mut bytes: Bytes = good.iter().map(|byte| Some(*byte)).collect();
            for _ in 0..random.usize(..3) {
                damage(&mut random, &mut bytes);
            }
            let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte.unwrap_or(0)).collect();
            std::fs::write(&path, &bytes).unwrap();
            let is_same =
                |from: usize, len: usize| bytes.get(from..from + len) == Some(&good[from..from + len]);
            match Parity::open(open(&path), MEMORY) {
                Ok(parity) => {
                    let is_whole = |batch: &Batch, nth: u64| {
                        is_same(batch.offset as usize + nth as usize * BLOCK, BLOCK)
                    };
                    match compare(&parity, is_whole, &contents, &files, memory) {
                        true => healed += 1,
                        false => exhausted += 1,
                    }
                }
                Err(error) => {
                    // A head and each page of the index are in the first or the second half, or in neither.
                    let heads = [0, PAGE, good.len() - PAGE];
                    let no_head = heads.iter().all(|at| !is_same(*at, PAGE)) || bytes.len() < good.len();
                    assert!(no_head || matches!(error, Error::Lost("index")), "{error}");
                    unusable += 1;
                }
            }
        }
    }
    assert!(healed > patterns / 4 && exhausted > patterns / 20, "{healed} {exhausted} {unusable}");
}

#[test]
fn every_single_damaged_page_of_a_parity_file_is_survived() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parity");
    let mut random = Rng::with_seed(1);
    let contents: Vec<Vec<u8>> =
        (0..300).map(|nth| std::iter::repeat_with(|| random.u8(..)).take(nth * 11 + 1).collect()).collect();
    write(&path, &contents, &Files::of(&contents), 50_000, 1 << 22).unwrap();
    let good = std::fs::read(&path).unwrap();
    for page in 0..good.len() / PAGE {
        let mut bytes = good.clone();
        bytes[page * PAGE + random.usize(..PAGE)] ^= 0x10;
        std::fs::write(&path, &bytes).unwrap();
        let parity = Parity::open(open(&path), MEMORY).unwrap();
        assert_eq!(parity.manifest(MEMORY).unwrap(), MANIFEST);
        assert!(!parity.verify().unwrap().is_good(), "page {page}");
        let mut files = Files::of(&contents);
        files.0[100][0].clear();
        let is_same = |from: usize| bytes[from..from + BLOCK] == good[from..from + BLOCK];
        compare(
            &parity,
            |batch, nth| is_same(batch.offset as usize + nth as usize * BLOCK),
            &contents,
            &files,
            1 << 22,
        );
    }
}

#[test]
fn a_truncated_parity_file_has_what_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parity");
    let contents: Vec<Vec<u8>> = (1..50_u8).map(|nth| vec![nth; 3000]).collect();
    write(&path, &contents, &Files::of(&contents), 200_000, 1 << 22).unwrap();
    let good = std::fs::read(&path).unwrap();
    let (first, last) = {
        let parity = Parity::open(open(&path), MEMORY).unwrap();
        let batch = parity.batches()[0];
        (batch.offset as usize, batch.offset as usize + batch.recovery_blocks() as usize * BLOCK)
    };
    let mut files = Files::of(&contents);
    files.0[3][0].clear();
    for (len, is_healed) in [(last, true), (last - BLOCK, true), (first + BLOCK, true), (first, false)] {
        std::fs::write(&path, &good[..len]).unwrap();
        let parity = Parity::open(open(&path), MEMORY).unwrap();
        let is_whole = |batch: &Batch, nth: u64| batch.offset as usize + (nth as usize + 1) * BLOCK <= len;
        assert_eq!(compare(&parity, is_whole, &contents, &files, 1 << 22), is_healed, "{len}");
    }
    std::fs::write(&path, &good[..first - PAGE]).unwrap();
    assert!(matches!(Parity::open(open(&path), MEMORY), Err(Error::Lost("index"))));
    std::fs::write(&path, &good[last..]).unwrap();
    assert!(Parity::open(open(&path), MEMORY).is_err(), "offsets count from the start");
}

#[test]
fn a_hole_is_protected_only_if_zeros_are_recorded() {
    let path = tempfile::NamedTempFile::new().unwrap();
    let contents = [vec![7; 2 * LARGE], vec![0; 3 * LARGE], vec![8; 4 * LARGE]];
    let mut files = Files::of(&[vec![0; 2 * LARGE], vec![0; 3 * LARGE]]);
    files.0.push(Vec::new());
    let mut holes = Holes(Tree(&files, sizes(&contents)));
    let algorithms = Algorithms(vec![Algorithm::Sha256]);
    let redundancy = Redundancy::new(50_000).unwrap();
    let plan = Plan::new(algorithms, records(&contents), &mut holes, redundancy, 0, 1 << 22).unwrap();
    assert_eq!(plan.blocks(), 0);
    let protected = protect(plan, &mut holes, path.as_file(), [7; 16], MANIFEST, &mut |_| {}).unwrap();
    let skipped: Vec<_> = protected.skipped.iter().map(|(nth, _)| *nth).collect();
    assert_eq!(skipped, [0, 2]);
    let parity = Parity::open(open(path.path()), MEMORY).unwrap();
    assert_eq!(parity.contents(), &records(&contents)[1..2]);
    assert_eq!(heal(&parity, &[0], &mut holes, MEMORY, None).unwrap(), [Outcome::default()]);
}

#[test]
fn contents_that_no_file_has_are_never_encoded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parity");
    let mut random = Rng::with_seed(2);
    for round in 0..30 {
        let contents = contents(&mut random);
        let mut files = Files::of(&contents);
        let mut rotten = BTreeSet::new();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..contents.len());
            damage(&mut random, &mut files.0[at][0]);
            if Tree(&files, sizes(&contents)).0.0[at][0] != Files::of(&contents).0[at][0] {
                rotten.insert(at);
            }
        }
        let memory = if round % 2 == 0 { 0 } else { 1 << 28 };
        let protected = write(&path, &contents, &files, 200_000, memory).unwrap();
        let skipped: BTreeSet<_> = protected.skipped.iter().map(|(nth, _)| *nth).collect();
        assert_eq!(skipped, rotten);
        assert!(
            protected.skipped.iter().all(|(_, why)| matches!(why, LeftOut::Differs | LeftOut::Unreadable(_)))
        );
        // The others are as well protected as if the rotten ones had never been there: these count as zeros.
        let parity = Parity::open(open(&path), MEMORY).unwrap();
        let kept: Vec<_> = (0..contents.len()).filter(|nth| !rotten.contains(nth)).collect();
        assert_eq!(parity.contents().len(), kept.len());
        for (position, nth) in kept.iter().enumerate() {
            if contents[*nth].len() > 100 * BLOCK / 5 || contents[*nth].is_empty() {
                continue;
            }
            let truth: Vec<_> = kept.iter().map(|nth| contents[*nth].clone()).collect();
            let mut files = Files::of(&truth);
            files.0[position][0].clear();
            let mut healed = vec![0; contents[*nth].len()];
            let outcome = heal(
                &parity,
                &[position],
                &mut Tree(&files, sizes(&truth)),
                1 << 20,
                Some(&mut |_, at, bytes| {
                    healed[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
                    Ok(())
                }),
            );
            if outcome.unwrap()[0].lost == 0 {
                assert!(healed == contents[*nth]);
            }
        }
    }
}
