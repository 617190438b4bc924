//! Trees with copies, and the groups that comparing every byte finds.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use crate::harness::{Dir, bytes};

/// Pseudo-random numbers from a seed.
pub(super) struct Dice {
    bytes: Vec<u8>,
    at: usize,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self { bytes: bytes(seed, 1 << 16), at: 0 }
    }

    /// Returns a number in `0..n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        let at = self.at % (self.bytes.len() - 4);
        self.at += 4;
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap()) as usize % n
    }

    pub(super) fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }
}

/// Names that break careless programs, and harmless ones.
pub(super) const NAMES: [&[u8]; 10] =
    [b"a", b"b c", b"-rf", b"two\nlines", b"\xff\xfe", b"it's", b"$(touch X)", b"~", b"tab\there", b"*"];

/// Sizes at the boundaries of blocks that are read at once.
const SIZES: [usize; 12] = [0, 1, 9, 4095, 4096, 4097, 16_384, 32_768, 65_536, 131_072, 131_073, 300_000];

/// Creates files in four directories. They have few contents, some of which differ in one byte, and some
/// names are hard links. Symbolic links and a FIFO next to them are not copies.
pub(super) fn plant(dir: &Dir, seed: u64, files: usize) {
    let mut dice = Dice::new(seed);
    let mut paths: Vec<Vec<u8>> = Vec::new();
    for nth in 0..files {
        let mut path = format!("d{}/", dice.below(4)).into_bytes();
        path.extend_from_slice(NAMES[dice.below(NAMES.len())]);
        path.extend_from_slice(format!("{nth}").as_bytes());
        if !paths.is_empty() && dice.below(6) == 0 {
            let to = dice.pick(&paths).clone();
            let (to, path) = (std::ffi::OsStr::from_bytes(&to), std::ffi::OsStr::from_bytes(&path));
            fs::create_dir_all(dir.path(path).parent().unwrap()).unwrap();
            fs::hard_link(dir.path(to), dir.path(path)).unwrap();
        } else {
            dir.raw_file(&path, &content(&mut dice));
        }
        paths.push(path);
    }
    dir.symlink("d0", "link to a directory").symlink("missing", "dangling").fifo("fifo");
}

/// Returns one of about fifty contents.
fn content(dice: &mut Dice) -> Vec<u8> {
    let size = *dice.pick(&SIZES);
    let mut content = bytes(1, size);
    if size > 0 {
        // Unchanged, or with one different byte at the beginning, end or middle.
        match dice.below(5) {
            0 => content[0] ^= 1,
            1 => content[size - 1] ^= 1,
            2 => content[size / 2] ^= 1,
            _ => {}
        }
    }
    content
}

/// Files with one content: the names of each, sorted by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Same {
    pub(super) size: usize,
    pub(super) files: Vec<Vec<Vec<u8>>>,
}

/// Returns the groups of equal files below `.`, the largest waste first, by comparing every byte.
pub(super) fn oracle(dir: &Dir, min_size: usize) -> Vec<Same> {
    let mut contents: BTreeMap<Vec<u8>, BTreeMap<u64, Vec<Vec<u8>>>> = BTreeMap::new();
    for (path, content, ino) in contents_of(dir, ".") {
        contents.entry(content).or_default().entry(ino).or_default().push(path);
    }
    let same = |(content, files): (Vec<u8>, BTreeMap<u64, Vec<Vec<u8>>>)| {
        let mut files: Vec<_> = files.into_values().collect();
        files.iter_mut().for_each(|names| names.sort());
        files.sort();
        Same { size: content.len(), files }
    };
    let mut groups: Vec<_> = contents.into_iter().map(same).collect();
    groups.retain(|it| it.files.len() > 1 && it.size >= min_size);
    groups.sort_by(|a, b| {
        let waste = |it: &Same| it.size * (it.files.len() - 1);
        (waste(b), &a.files).cmp(&(waste(a), &b.files))
    });
    groups
}

/// Returns path, content and inode of every regular file.
pub(super) fn contents_of(dir: &Dir, root: &str) -> Vec<(Vec<u8>, Vec<u8>, u64)> {
    let mut found = Vec::new();
    let mut waiting = vec![std::path::PathBuf::from(root)];
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(dir.path(&path)).unwrap() {
            let path = path.join(entry.unwrap().file_name());
            let metadata = fs::symlink_metadata(dir.path(&path)).unwrap();
            if metadata.is_dir() {
                waiting.push(path);
            } else if metadata.is_file() {
                let content = fs::read(dir.path(&path)).unwrap();
                found.push((path.as_os_str().as_bytes().to_vec(), content, metadata.ino()));
            }
        }
    }
    found.sort();
    found
}

/// Returns what `--format fdupes` prints for these groups.
pub(super) fn printed(groups: &[Same], end: u8) -> Vec<u8> {
    let mut text = Vec::new();
    for group in groups {
        for names in &group.files {
            text.extend_from_slice(&names[0]);
            text.push(end);
        }
        text.push(end);
    }
    text
}
