//! The head and the index of parity files, with the right checksums.

use std::ffi::CString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;

use ftk_file::{File, Symlinks};
use ftk_hash::Algorithm;
use ftk_parity::{Parity, Sources, heal};

const PAGE: usize = 4096;

/// What may be used, in bytes.
const MEMORY: u64 = 1 << 20;

/// Uses the first bytes as those of a head, and the others as an index. Their checksums are right.
pub fn parity_files(data: &[u8]) {
    let Some((fields, index)) = data.split_at_checked(84) else { return };
    let mut head = b"ftk parity file\n".to_vec();
    head.extend([1, 0, 0, 0]);
    head.extend(fields);
    // Its index and its two copies, so that most inputs have one.
    head[56..64].copy_from_slice(&(index.len() as u64).to_le_bytes());
    head[64..72].copy_from_slice(&(2 * PAGE as u64).to_le_bytes());
    head.resize(PAGE - 8, 0);
    head.extend(sum(&head));
    let mut file = head.repeat(2);
    for (number, part) in index.chunks(PAGE - 16).enumerate() {
        let mut page = part.to_vec();
        page.resize(PAGE - 16, 0);
        page.extend((1_u64 << 56 | number as u64).to_le_bytes());
        let sum = sum(&[&fields[4..28], &page].concat());
        file.extend(page);
        file.extend(sum);
    }
    let mut named = tempfile::NamedTempFile::new().unwrap();
    named.write_all(&file).unwrap();
    let name = CString::new(named.path().as_os_str().as_bytes()).unwrap();
    let opened = File::open(fs::File::open("/").unwrap(), &name, Symlinks::Follow).unwrap();
    let Ok(parity) = Parity::open(opened, MEMORY) else { return };
    assert!(parity.algorithms().0.iter().any(|algorithm| algorithm.identifies_content()));
    // A recovery block and a block of the stream have eight bytes of the index each.
    let blocks: u64 = parity.batches().iter().map(|batch| batch.blocks + batch.recovery_blocks()).sum();
    assert!(blocks <= index.len() as u64 / 8);
    _ = parity.manifest(MEMORY);
    _ = parity.verify();
    let sizes: Vec<_> = parity.contents().iter().map(|content| content.size).collect();
    let wanted: Vec<_> = (0..sizes.len()).collect();
    let planned = heal(&parity, &wanted, &mut Zeros(&sizes), MEMORY, None).unwrap();
    let mut output = |content: usize, offset: u64, bytes: &[u8]| {
        assert!(!bytes.is_empty());
        assert!(offset.checked_add(bytes.len() as u64).is_some_and(|end| end <= sizes[content]));
        Ok(())
    };
    let outcomes = heal(&parity, &wanted, &mut Zeros(&sizes), MEMORY, Some(&mut output)).unwrap();
    assert_eq!(outcomes, planned, "the plan says what happens");
}

fn sum(bytes: &[u8]) -> [u8; 8] {
    let digest = Algorithm::Crc64Nvme.hash_one(bytes);
    let mut sum: [u8; 8] = digest.as_bytes().try_into().unwrap();
    // Digests have their highest byte first.
    sum.reverse();
    sum
}

/// Files of zeros that have every other content.
struct Zeros<'z>(&'z [u64]);

impl Sources for Zeros<'_> {
    fn candidates(&mut self, content: usize) -> usize {
        content % 3
    }

    fn read(&mut self, content: usize, _: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        assert!(offset.checked_add(buf.len() as u64).is_some_and(|end| end <= self.0[content]));
        buf.fill(0);
        Ok(())
    }
}
