//! Parity files that an attacker made: their checksums are right, and what they say is wrong.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt as _;

use ftk_file::{File, Symlinks};
use ftk_hash::Algorithm;

use crate::head::Head;
use crate::index::Index;
use crate::pages::{self, Kind, PAGE, Section};
use crate::{Algorithms, Batch, Condition, Content, Error, Layout, Outcome, Parity, Piece, Sources, heal};

const BLOCK: u64 = 64;
const MEMORY: u64 = 1 << 24;

/// An index of small contents of one block each, in one group with two recovery blocks.
fn index(contents: usize) -> Index {
    let content = |nth: usize| Content { size: BLOCK, digests: vec![nth as u8; 32] };
    let piece = |nth: usize| Piece { content: nth, offset: 0, place: nth as u64 * BLOCK, len: BLOCK };
    Index {
        algorithms: Algorithms(vec![Algorithm::Sha256]),
        batches: vec![Batch {
            first: 0,
            blocks: contents as u64,
            groups: 1,
            recovery: 2,
            offset: 2 * PAGE,
            earlier: 0,
        }],
        contents: (0..contents).map(content).collect(),
        layout: Layout { pieces: (0..contents).map(piece).collect(), blocks: contents as u64, block: BLOCK },
        data_sums: vec![1; contents],
        recovery_sums: vec![1; 2],
    }
}

/// Opens a file with this index. `edit` changes the head.
fn open_with(index: &[u8], edit: impl FnOnce(&mut Head)) -> Result<Parity, Error> {
    open_as(index, &[], edit)
}

/// Opens a file with this index and these recovery blocks.
fn open_as(index: &[u8], recovery: &[u8], edit: impl FnOnce(&mut Head)) -> Result<Parity, Error> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let copies = [3 * PAGE, 3 * PAGE];
    let section = Section { len: index.len() as u64, copies };
    let mut head = Head {
        block: BLOCK,
        id: [1; 16],
        generation: 1,
        redundancy: 50_000,
        lost_file: 0,
        len: 1 << 40,
        index: section,
        manifest: Section { len: 0, copies },
    };
    edit(&mut head);
    pages::write(file.as_file(), &head.salt(), Kind::Index, &section, index).unwrap();
    file.as_file().write_all_at(&head.encode(), 0).unwrap();
    file.as_file().write_all_at(recovery, 2 * PAGE).unwrap();
    let name = std::ffi::CString::new(file.path().to_str().unwrap()).unwrap();
    let opened = File::open(fs::File::open("/").unwrap(), &name, Symlinks::Follow).unwrap();
    Parity::open(opened, MEMORY)
}

fn open(index: &[u8]) -> Result<Parity, Error> {
    open_with(index, |_| ())
}

/// What an edited index must lead to.
fn refuses(edit: impl FnOnce(&mut Index)) -> &'static str {
    let mut index = index(4);
    edit(&mut index);
    match open(&index.encode()) {
        Err(Error::Invalid(what)) => what,
        other => panic!("{other:?}"),
    }
}

/// Files that cannot be read.
struct Nothing;

impl Sources for Nothing {
    fn candidates(&mut self, _: usize) -> usize {
        1
    }

    fn read(&mut self, _: usize, _: usize, _: u64, _: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }
}

#[test]
fn an_index_within_the_rules_is_read() {
    let parity = open(&index(4).encode()).unwrap();
    assert_eq!((parity.contents().len(), parity.batches().len()), (4, 1));
    let outcomes = heal(&parity, &[0, 3], &mut Nothing, MEMORY, None).unwrap();
    // Neither of the recovery blocks has the checksum 1.
    assert_eq!(outcomes, [Outcome { computed: 0, lost: 64, lacking: 4 }; 2]);
}

#[test]
fn batches_that_break_a_rule_are_refused() {
    const HUGE: [u64; 5] = [1 << 60, 1 << 63, u64::MAX, u64::MAX - 65_535, u64::MAX / 64 + 1];
    for value in HUGE {
        assert_eq!(refuses(|it| it.batches[0].blocks = value), "a batch", "{value}");
        assert_eq!(refuses(|it| it.batches[0].groups = value), "a batch", "{value}");
        assert_eq!(refuses(|it| it.batches[0].recovery = value), "a batch", "{value}");
        if value > 1 << 40 {
            assert_eq!(refuses(|it| it.batches[0].offset = value), "a batch", "{value}");
        }
    }
    for value in [0, 5] {
        assert_eq!(refuses(|it| it.batches[0].groups = value), "a batch", "{value}");
    }
    assert_eq!(refuses(|it| it.batches[0].blocks = 0), "a batch");
    assert_eq!(refuses(|it| it.batches[0].recovery = 0), "a batch");
    assert_eq!(refuses(|it| it.batches[0].recovery = (1 << 15) + 1), "a batch");
    // Two whose numbers of blocks have a sum of 2^64 + 4.
    let twice = |it: &mut Index| {
        it.batches[0].blocks = 1 << 63;
        it.batches.push(Batch { blocks: (1 << 63) + 4, ..it.batches[0] });
    };
    assert_eq!(refuses(twice), "a batch");
}

#[test]
fn places_that_overlap_or_lead_out_are_refused() {
    let place = "the place of a content";
    for value in [1, 32, 4 * BLOCK, 1 << 60, u64::MAX - 63, u64::MAX] {
        assert_eq!(refuses(|it| it.layout.pieces[3].place = value), place, "{value}");
    }
    for value in [0, 1, BLOCK + 1, 1 << 60, u64::MAX] {
        assert_eq!(refuses(|it| it.layout.pieces[3].len = value), place, "{value}");
        assert_eq!(refuses(|it| it.layout.pieces[3].offset = value.max(1)), place, "{value}");
    }
    assert_eq!(refuses(|it| it.layout.pieces[2].place = it.layout.pieces[1].place), place);
    // The pieces of a small content are all of it: there is no other, and none is missing.
    assert_eq!(refuses(|it| _ = it.layout.pieces.pop()), place);
    assert_eq!(refuses(|it| it.layout.pieces[1].content = 0), place);
    assert_eq!(refuses(|it| it.contents[0].size = 2 * BLOCK), place);
    let parts = |it: &mut Index| {
        it.contents[0].size = 2 * BLOCK;
        it.layout.pieces.remove(1);
        it.contents.remove(1);
        it.layout.pieces.push(Piece { content: 0, offset: BLOCK, place: BLOCK, len: BLOCK });
        it.layout.pieces[1].content = 1;
        it.layout.pieces[2].content = 2;
    };
    let mut whole = index(4);
    parts(&mut whole);
    assert_eq!(open(&whole.encode()).unwrap().contents().len(), 3);
    for offset in [0, BLOCK - 32, BLOCK / 2, 2 * BLOCK] {
        let shifted = |it: &mut Index| {
            parts(it);
            it.layout.pieces[3].offset = offset;
        };
        assert_eq!(refuses(shifted), place, "{offset}");
    }
    // A large one shares no block, whatever its size.
    for size in [16 * BLOCK, 1 << 60, u64::MAX] {
        let shared = |it: &mut Index| {
            it.layout.block = 2 * BLOCK;
            it.contents[0].size = size;
            it.layout.pieces[0].len = 10;
            it.layout.pieces[0].place = 0;
        };
        let mut index = index(4);
        shared(&mut index);
        let wide = open_with(&index.encode(), |head| head.block = 2 * BLOCK);
        assert!(matches!(wide, Err(Error::Invalid(_))), "{size}");
    }
}

#[test]
fn counts_beyond_the_index_are_refused() {
    let bytes = index(4).encode();
    let digests = 1 + 1 + "sha256".len() + 1;
    for at in [digests, digests + 8 + 32, digests + 8 + 32 + 8 + 32 + 8] {
        let count = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert!([1, 4].contains(&count), "{at} is the place of a count");
        for value in [count + 1, 1 << 60, u64::MAX] {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            assert!(matches!(open(&bytes), Err(Error::Invalid(_))), "{at} {value}");
        }
    }
    for len in 0..bytes.len() {
        assert!(matches!(open(&bytes[..len]), Err(Error::Invalid(_))), "{len}");
    }
    assert!(matches!(open(&[&bytes[..], &[0]].concat()), Err(Error::Invalid("the length of the index"))));
}

#[test]
fn other_algorithms_are_refused() {
    let bytes = index(4).encode();
    let digests = 1 + 1 + "sha256".len() + 1;
    let with = |start: &[u8]| match open(&[start, &bytes[digests..]].concat()) {
        Err(Error::Invalid(what)) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(with(b"\0"), "no digests that identify contents");
    assert_eq!(with(b"\x01\x05crc32\x04"), "no digests that identify contents");
    for name in [&b"sha257"[..], b"SHA256", b"sha-25", b"sha25\xFF", b""] {
        let start = [&[1, name.len() as u8], name, &[32]].concat();
        assert_eq!(with(&start), "an unknown algorithm", "{name:?}");
    }
    assert_eq!(with(b"\x01\x06sha256\x10"), "the length of a digest");
    assert_eq!(with(b"\xFF\x06sha256\x20"), "an unknown algorithm");
}

#[test]
fn heads_that_lie_are_refused() {
    let bytes = index(4).encode();
    for block in [0, 1, 63, 65, (1 << 20) + 64, u64::from(u32::MAX)] {
        assert!(matches!(open_with(&bytes, |it| it.block = block), Err(Error::Invalid(_))), "{block}");
    }
    // It does not decide how much memory is used.
    for len in [MEMORY, 1 << 60, u64::MAX] {
        assert!(matches!(open_with(&bytes, |it| it.index.len = len), Err(Error::TooLarge)), "{len}");
        let parity = open_with(&bytes, |it| it.manifest.len = len).unwrap();
        assert!(matches!(parity.manifest(MEMORY - 1), Err(Error::TooLarge)), "{len}");
        assert!(matches!(parity.verify(), Err(Error::Lost("manifest"))), "{len}");
    }
    for offset in [0, PAGE, 3 * PAGE + 1, 1 << 60, u64::MAX, u64::MAX - PAGE + 1] {
        let opened = open_with(&bytes, |it| it.index.copies = [offset; 2]);
        assert!(matches!(opened, Err(Error::Lost("index"))), "{offset}");
    }
    // The recovery blocks are beyond the end of the file, or the length of the file is not that of the head.
    for len in [0, 2 * PAGE] {
        assert!(matches!(open_with(&bytes, |it| it.len = len), Err(Error::Invalid("a batch"))));
    }
    assert!(open_with(&bytes, |it| it.generation = u64::MAX).is_ok());
}

#[test]
fn a_head_of_another_file_is_outvoted() {
    let section = Section { len: 1, copies: [3 * PAGE; 2] };
    let (redundancy, lost_file, len) = (50_000, 0, 3 * PAGE);
    let (index, manifest) = (section, section);
    let head = Head { block: BLOCK, id: [1; 16], generation: 1, redundancy, lost_file, len, index, manifest };
    let other = Head { id: [2; 16], ..head };
    let find = |pages: [Option<Head>; 3]| {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes =
            pages.iter().flat_map(|page| page.map_or_else(|| vec![0; PAGE as usize], |head| head.encode()));
        fs::write(file.path(), bytes.collect::<Vec<u8>>()).unwrap();
        let name = std::ffi::CString::new(file.path().as_os_str().as_encoded_bytes()).unwrap();
        let file = File::open(fs::File::open("/").unwrap(), &name, Symlinks::Follow).unwrap();
        let (head, copies) = Head::find(&file).unwrap();
        (head, copies.len())
    };
    for place in 0..3 {
        let mut pages = [Some(head); 3];
        pages[place] = Some(other);
        assert!(find(pages) == (head, 2), "{place}");
    }
    assert!(find([Some(head), None, Some(other)]) == (head, 1));
    let newer = Head { generation: 2, ..other };
    assert!(find([Some(head), Some(head), Some(newer)]) == (newer, 1));
}

#[test]
fn many_batches_are_verified_in_linear_time() {
    const COUNT: u64 = 40_000;
    let mut index = index(0);
    let batch = |nth| Batch { first: nth, blocks: 1, groups: 1, recovery: 1, offset: 0, earlier: nth };
    index.batches = (0..COUNT).map(batch).collect();
    index.layout.blocks = COUNT;
    index.data_sums = vec![0; COUNT as usize];
    index.recovery_sums = vec![0; COUNT as usize];
    let bytes = index.encode();
    let parity = open(&bytes).unwrap();
    assert!(parity.index == index);
    assert_eq!(parity.verify().unwrap(), Condition { heads: 2, blocks: COUNT, worst: 1, pages: 0 });
}

#[test]
fn digests_of_other_contents_are_passed_on_for_their_caller_to_compare() {
    // The index says that block 0 has the digest of something else, and the recovery blocks are right.
    let truth = vec![7; BLOCK as usize];
    let mut index = index(1);
    index.batches[0].recovery = 1;
    index.recovery_sums = vec![crate::checksum(&[&truth])];
    let bytes = index.encode();
    let parity = open_as(&bytes, &truth, |_| ()).unwrap();
    let mut found = Vec::new();
    let mut output = |_, _, bytes: &[u8]| {
        found.extend_from_slice(bytes);
        Ok(())
    };
    let outcomes = heal(&parity, &[0], &mut Nothing, MEMORY, Some(&mut output)).unwrap();
    assert_eq!((outcomes[0].computed, found), (64, truth));
}
