//! Parity files that an attacker made, with the right checksums: a clear error, or the right bytes, and nothing else is
//! written. The crate `ftk-parity` tests the rules of the format one by one.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::super::records::{create, lines, seal};
use super::parity::{flip, noise, protect, tree};
use super::reprotect::reprotect;
use super::{names, repair_from};
use crate::harness::{Dir, Run};

const PAGE: usize = 4096;

/// Where the head has these sections, and the highest byte of their page numbers.
const INDEX: (usize, u64) = (56, 1 << 56);
const MANIFEST: (usize, u64) = (80, 1 << 57);

/// A parity file that is edited.
struct Forged {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Forged {
    fn open(dir: &Dir) -> Self {
        let path = dir.aside("parity");
        Self { bytes: fs::read(&path).unwrap(), path }
    }

    fn word(&self, at: usize) -> usize {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().unwrap()) as usize
    }

    fn section(&self, (at, _): (usize, u64)) -> Vec<u8> {
        let (len, start) = (self.word(at), self.word(at + 8));
        let pages = self.bytes[start..].chunks(PAGE).flat_map(|page| &page[..PAGE - 16]);
        pages.copied().take(len).collect()
    }

    /// Appends another section, and puts it into the head.
    fn set(&mut self, (at, tag): (usize, u64), content: &[u8]) {
        let start = self.bytes.len().next_multiple_of(PAGE);
        self.bytes.resize(start, 0);
        for (number, part) in content.chunks(PAGE - 16).enumerate() {
            let mut page = part.to_vec();
            page.resize(PAGE - 16, 0);
            page.extend((tag | number as u64).to_le_bytes());
            let sum = checksum(&[&self.bytes[24..48], &page].concat());
            self.bytes.extend(page);
            self.bytes.extend(sum.to_le_bytes());
        }
        for (nth, value) in [content.len(), start, start].into_iter().enumerate() {
            self.set_head(at + 8 * nth, value as u64);
        }
    }

    fn set_head(&mut self, at: usize, value: u64) {
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Writes it with three heads.
    fn write(&self) {
        let mut head = self.bytes[..PAGE - 8].to_vec();
        head.extend(checksum(&head).to_le_bytes());
        let mut bytes = [&head, &head, &self.bytes[2 * PAGE..]].concat();
        bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
        bytes.extend(&head);
        fs::write(&self.path, bytes).unwrap();
    }
}

/// Returns the CRC-64/NVME, bit by bit.
fn checksum(bytes: &[u8]) -> u64 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u64::from(*byte), |sum, _| (sum >> 1) ^ ((sum & 1) * 0x9A6C_9329_AC4B_C9B5))
    })
}

#[test]
fn the_checksum_is_that_of_the_format() {
    assert_eq!(checksum(b"123456789"), 0xAE8B_1486_0A79_9888);
}

/// A tree with a damaged large file and a parity file.
fn damaged() -> (Dir, Vec<u8>) {
    let dir = tree();
    protect(&dir, &["--redundancy", "50%"]).status(0);
    flip(&dir.path("large"), 70_000);
    let before = fs::read(dir.path("large")).unwrap();
    (dir, before)
}

/// Repairs, and checks that the file is right or as before, and that nothing is left.
fn repairs(dir: &Dir, before: &[u8], what: &str) -> Run {
    let run = repair_from(dir, &["parity"], &["--yes"]);
    let now = fs::read(dir.path("large")).unwrap();
    let is_right = now == noise(200_000, 99);
    run.check(is_right || now == before, what);
    run.check(!run.err.contains("panicked"), what);
    run.check(run.code() == if is_right { 0 } else { run.code().clamp(1, 2) }, what);
    assert_eq!(names(&dir.path(".")).len(), 4, "{what}");
    let state = dir.aside("state").join("ftk");
    let left = if state.exists() { names(&state) } else { Vec::new() };
    assert!(left.iter().all(|name| !name.starts_with("computed-")), "{what}: {left:?}");
    run
}

#[test]
fn a_forged_index_leads_to_an_error_or_to_the_right_bytes() {
    let (dir, before) = damaged();
    let honest = fs::read(dir.aside("parity")).unwrap();
    let index = Forged::open(&dir).section(INDEX);
    let mut random = 7_u64;
    let mut errors = 0;
    for round in 0..60 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        fs::write(dir.aside("parity"), &honest).unwrap();
        let mut forged = Forged::open(&dir);
        let mut index = index.clone();
        // The first bytes are counts and batches.
        let end = if round % 2 == 0 { 120 } else { index.len() - 8 };
        let at = (random >> 33) as usize % end;
        let value = [0, 1, 63, 4096, 1 << 32, 1 << 60, 1 << 63, u64::MAX][round % 8];
        index[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
        forged.set(INDEX, &index);
        forged.write();
        let run = repairs(&dir, &before, &format!("{value} at {at}"));
        errors += usize::from(run.code() == 2);
        if run.code() == 0 {
            flip(&dir.path("large"), 70_000);
        }
    }
    assert!(errors > 10, "{errors}");
}

#[test]
fn forged_recovery_blocks_and_digests_change_nothing() {
    let (dir, before) = damaged();
    let honest = fs::read(dir.aside("parity")).unwrap();
    let index = Forged::open(&dir).section(INDEX);
    let algorithms = 2 + usize::from(index[1]) + 1;
    let word = |at: usize| u64::from_le_bytes(index[at..at + 8].try_into().unwrap());
    assert_eq!(word(algorithms), 1, "one batch");
    let [_, groups, recovery, offset] = [8, 16, 24, 32].map(|at| word(algorithms + at) as usize);
    // All recovery blocks are other bytes, with right checksums: the last ones of the index.
    let mut forged = Forged::open(&dir);
    let mut edited = index.clone();
    let sums = edited.len() - 8 * groups * recovery;
    for nth in 0..groups * recovery {
        let block = &mut forged.bytes[offset + nth * 4096..][..4096];
        // Not the same in each: the sum of such an error can be zero.
        block.copy_from_slice(&noise(4096, 1000 + nth as u64));
        edited[sums + 8 * nth..][..8].copy_from_slice(&checksum(block).to_le_bytes());
    }
    forged.set(INDEX, &edited);
    forged.write();
    repairs(&dir, &before, "recovery blocks")
        .status(2)
        .stderr_has("the computed content is not the recorded one");
    // The digests of the first two contents are exchanged.
    fs::write(dir.aside("parity"), &honest).unwrap();
    let mut forged = Forged::open(&dir);
    let mut edited = index.clone();
    let contents = algorithms + 8 + 32 + 8;
    let digest = usize::from(index[algorithms - 1]);
    let next = contents + digest + 8 + 8 + 24;
    let (one, other) = (index[contents..][..digest].to_vec(), index[next..][..digest].to_vec());
    edited[contents..][..digest].copy_from_slice(&other);
    edited[next..][..digest].copy_from_slice(&one);
    forged.set(INDEX, &edited);
    forged.write();
    repairs(&dir, &before, "digests");
}

/// Bytes that the parity file calls right spoil what is computed from them, and nothing else.
#[test]
fn forged_checksums_of_blocks_change_nothing() {
    let dir = tree();
    dir.file("other", &noise(300_000, 98));
    create(&dir, &[]);
    protect(&dir, &["--redundancy", "5%"]).status(0);
    let honest = fs::read(dir.aside("parity")).unwrap();
    let right = [fs::read(dir.path("large")).unwrap(), fs::read(dir.path("other")).unwrap()];
    // A block of a file that grew, the damaged block itself, or both.
    for forged_blocks in [&[("other", 20)][..], &[("large", 17)], &[("other", 20), ("large", 17)]] {
        fs::write(dir.aside("parity"), &honest).unwrap();
        let mut grown = right[1].clone();
        grown[20 * PAGE..][..100].fill(7);
        grown.extend([8; 10_000]);
        dir.file("large", &right[0]).file("other", &grown);
        create(&dir, &["--force"]);
        flip(&dir.path("large"), 17 * PAGE as u64 + 5);
        let before = fs::read(dir.path("large")).unwrap();
        let mut forged = Forged::open(&dir);
        let mut index = forged.section(INDEX);
        for (name, nth) in forged_blocks {
            let (good, now) = match *name {
                "other" => (&right[1], &grown),
                _ => (&right[0], &before),
            };
            let [good, now] = [good, now].map(|file| checksum(&file[nth * PAGE..][..PAGE]).to_le_bytes());
            let at = index.windows(8).position(|sum| sum == good).unwrap();
            index[at..at + 8].copy_from_slice(&now);
        }
        forged.set(INDEX, &index);
        forged.write();
        let run = repair_from(&dir, &["parity"], &["--yes"]).status(2);
        run.stderr_has("the computed content is not the recorded one");
        assert!(fs::read(dir.path("large")).unwrap() == before, "{forged_blocks:?}");
        // An update copies what is wrong, and repair still writes none of it.
        (0..10).for_each(|nth| _ = fs::remove_file(dir.path(format!("small/{nth}"))));
        reprotect(&dir, &[]);
        let run = repair_from(&dir, &["parity"], &["--yes"]);
        let now = fs::read(dir.path("large")).unwrap();
        run.check(now == before || now == right[0], "it is as before or right");
        run.check(now == before || run.code() == 0, "only what is right is a success");
        run.check(now != before || run.code() != 0, "what is left is reported");
        run.check(!run.err.contains("panicked"), "no panic");
    }
}

#[test]
fn sizes_in_a_forged_parity_file_take_no_memory() {
    let (dir, before) = damaged();
    let mut forged = Forged::open(&dir);
    forged.set_head(INDEX.0, 1 << 40);
    forged.write();
    repairs(&dir, &before, "index").status(2).stderr_has("parity': too large (raise --memory)");
    let verify =
        dir.ftk(["manifest", "verify", "--memory", "64M", "--parity"]).arg(dir.aside("parity")).run();
    verify.status(2).stderr_has("too large (raise --memory)");
}

#[test]
fn a_parity_file_that_grew_still_heals() {
    let (dir, before) = damaged();
    let mut bytes = fs::read(dir.aside("parity")).unwrap();
    bytes.extend([7; 100_000]);
    fs::write(dir.aside("parity"), bytes).unwrap();
    repairs(&dir, &before, "grown").status(0);
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let (dir, before) = damaged();
    fs::remove_file(dir.aside("parity")).unwrap();
    assert!(Command::new("mkfifo").arg(dir.aside("parity")).status().unwrap().success());
    dir.ftk(["manifest", "verify", "--parity"]).arg(dir.aside("parity")).run().status(2);
    repairs(&dir, &before, "a FIFO").status(2).stderr_has("is not a directory");
}

#[test]
fn a_manifest_inside_cannot_lead_out_of_the_tree() {
    let (dir, before) = damaged();
    let manifest = dir.aside("manifest");
    let honest = lines(&manifest);
    for path in ["../outside", "/outside", "small/../../outside", "./../outside"] {
        let mut edited = honest.clone();
        for line in &mut edited {
            *line = line.replace(r#""path":"large""#, &format!(r#""path":"{path}""#));
        }
        assert_ne!(edited, honest);
        let mut forged = Forged::open(&dir);
        fs::write(dir.aside("edited"), seal(&edited)).unwrap();
        let compressed = Command::new("zstd").arg("-qfk").arg(dir.aside("edited")).status().unwrap();
        assert!(compressed.success());
        forged.set(MANIFEST, &fs::read(dir.aside("edited.zst")).unwrap());
        forged.write();
        _ = fs::remove_file(&manifest);
        let run = repair_from(&dir, &["parity"], &["--yes", "--missing", "--max-missing", "100%"]);
        run.status(2);
        assert_eq!(fs::read(dir.path("large")).unwrap(), before);
        assert!(!dir.aside("outside").exists() && !dir.path("outside").exists(), "{path}");
        assert!(!manifest.exists(), "{path}");
    }
}

#[test]
fn former_paths_cannot_lead_out_of_the_tree() {
    let dir = tree();
    let outside = noise(300_000, 98);
    dir.file("other", &outside);
    create(&dir, &["--force"]);
    protect(&dir, &["--redundancy", "5%"]).status(0);
    // The content is no longer recorded, and it is only out of the tree.
    let manifest = dir.aside("manifest");
    let honest = lines(&manifest);
    fs::remove_file(dir.path("other")).unwrap();
    create(&dir, &["--force"]);
    fs::write(dir.aside("outside"), &outside).unwrap();
    std::os::unix::fs::symlink(dir.aside("outside"), dir.path("link")).unwrap();
    flip(&dir.path("large"), 70_000);
    let before = fs::read(dir.path("large")).unwrap();
    let parity = fs::read(dir.aside("parity")).unwrap();
    for path in ["../outside", "/outside", "link", "link/", "small"] {
        let edit = |line: &String| line.replace(r#""path":"other""#, &format!(r#""path":"{path}""#));
        let edited: Vec<_> = honest.iter().map(edit).collect();
        assert_ne!(edited, honest);
        fs::write(dir.aside("parity"), &parity).unwrap();
        let mut forged = Forged::open(&dir);
        fs::write(dir.aside("edited"), seal(&edited)).unwrap();
        let compressed = Command::new("zstd").arg("-qfk").arg(dir.aside("edited")).status().unwrap();
        assert!(compressed.success());
        forged.set(MANIFEST, &fs::read(dir.aside("edited.zst")).unwrap());
        forged.write();
        let run = repair_from(&dir, &["parity"], &["--yes"]).status(1);
        run.check(run.text().contains("too much is lost: "), path);
        assert_eq!(fs::read(dir.path("large")).unwrap(), before);
    }
}

#[test]
fn a_compressed_manifest_that_is_huge_is_not_kept_in_memory() {
    let (dir, _) = damaged();
    let zeros = dir.aside("zeros");
    fs::File::create(&zeros).unwrap().set_len(1 << 30).unwrap();
    assert!(Command::new("zstd").arg("-qfk").arg(&zeros).status().unwrap().success());
    let mut forged = Forged::open(&dir);
    forged.set(MANIFEST, &fs::read(dir.aside("zeros.zst")).unwrap());
    forged.write();
    fs::remove_file(dir.aside("manifest")).unwrap();
    let run = repair_from(&dir, &["parity"], &["--yes", "--memory", "64M"]);
    run.status(2).stderr_has("cannot be used").stderr_has("cannot open");
    create(&dir, &[]);
}
