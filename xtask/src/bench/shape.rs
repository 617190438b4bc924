//! Generated trees: the same names and bytes on every machine.

use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, anyhow};
use rustix::fs::{Mode, OFlags, mkdirat, openat};

use super::interrupt;

/// The seed of the pseudo-random numbers. Another seed would make different trees, and records incomparable.
const SEED: u64 = 0x66_74_6b;
/// Extensions, with the percentage of files that have them.
const EXTENSIONS: &[(&str, u64)] =
    &[("jpg", 40), ("png", 30), ("txt", 10), ("json", 10), ("py", 5), ("bin", 5)];
/// Size of one write.
const BLOCK_BYTES: u64 = 64 << 10;
/// Maximum overhead of a file and its inode on disk.
const DISK_BYTES: u64 = 4096 + 512;

/// A kind of tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    layout: Layout,
    sizes: Sizes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Directories next to each other.
    Flat { dirs: usize, files: usize },
    /// Each directory has `branching` subdirectories, down to `depth`, and `files` files; so has the top.
    Deep { branching: usize, depth: usize, files: usize },
}

/// Lengths of files in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sizes {
    All(u64),
    /// The same number of files between each power of two and the next, up to this size; one file in fifty is empty.
    /// Such a tree also has the special cases of [`Shape::oddities`].
    UpTo(u64),
}

const fn flat(name: &'static str, dirs: usize, files: usize, sizes: Sizes) -> Shape {
    Shape { name, layout: Layout::Flat { dirs, files }, sizes }
}

pub(crate) const SMALL: Shape = flat("small", 100, 100, Sizes::All(100));
pub(crate) const MEDIUM: Shape = flat("medium", 100, 1_000, Sizes::All(100));
pub(crate) const LARGE: Shape = flat("large", 1_000, 1_000, Sizes::All(100));
pub(crate) const WIDE: Shape = flat("wide", 2_000, 50, Sizes::All(100));
pub(crate) const DEEP: Shape = Shape {
    name: "deep",
    layout: Layout::Deep { branching: 3, depth: 5, files: 20 },
    sizes: Sizes::All(100),
};
pub(crate) const MIXED: Shape = flat("mixed", 100, 100, Sizes::UpTo(2 << 20));
/// A small variant of [`MIXED`] for checking results.
pub(crate) const MIXED_SMALL: Shape = flat("mixed-small", 10, 50, Sizes::UpTo(128 << 10));
pub(crate) const BULK: Shape = flat("bulk", 4, 4, Sizes::All(128 << 20));
/// For file systems on which each file takes milliseconds. sshfs does not read the absolute links of oddities.
pub(crate) const SLOW: Shape = flat("slow", 50, 20, Sizes::All(4096));
/// One directory with files that are worth a thread each.
pub(crate) const FLAT: Shape = flat("flat", 1, 200, Sizes::All(2_000_000));
/// A small variant of [`FLAT`] for checking results.
pub(crate) const FLAT_SMALL: Shape = flat("flat-small", 1, 200, Sizes::All(4096));
/// One directory with many short files.
pub(crate) const MAILDIR: Shape = flat("maildir", 1, 50_000, Sizes::All(4096));
pub(crate) const HUGE: Shape = flat("huge", 1, 1, Sizes::All(1 << 30));

pub(crate) const ALL: &[Shape] =
    &[SMALL, MEDIUM, LARGE, WIDE, DEEP, MIXED, MIXED_SMALL, SLOW, FLAT, FLAT_SMALL, MAILDIR, BULK, HUGE];

/// The description for records. Trees with the same description are identical.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layout {
            Layout::Flat { dirs: 1, files: 1 } => write!(f, "one file")?,
            Layout::Flat { dirs: 1, files } => write!(f, "one directory x {files} files")?,
            Layout::Flat { dirs, files } => write!(f, "{dirs} directories x {files} files")?,
            Layout::Deep { branching, depth, files } => {
                write!(f, "{branching} directories in each, {depth} deep, {files} files in each")?;
            }
        }
        match self.sizes {
            Sizes::All(bytes) => write!(f, ", {} each", in_words(bytes)),
            Sizes::UpTo(bytes) => write!(f, ", up to {} each, and oddities", in_words(bytes)),
        }
    }
}

/// Formats a number of bytes.
pub(crate) fn in_words(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ if bytes.is_multiple_of(1_000_000) => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} MiB", bytes >> 20),
    }
}

impl Shape {
    /// Halves the file size until the tree needs at most `room` bytes.
    pub(crate) fn within(mut self, room: u64) -> Self {
        while let Sizes::All(bytes) = &mut self.sizes
            && *bytes > BLOCK_BYTES
            && self.layout.files() * (*bytes + DISK_BYTES) > room
        {
            *bytes /= 2;
        }
        self
    }

    pub(crate) fn files(&self) -> u64 {
        self.layout.files() + if self.is_odd() { ODDITIES } else { 0 }
    }

    /// Returns an upper bound of the disk space of the tree.
    pub(crate) fn disk_bytes(&self) -> u64 {
        (0..self.layout.files()).map(|number| self.size(number) + DISK_BYTES).sum()
    }

    /// Returns a size in bytes that many files exceed, for filters by size.
    pub(crate) fn threshold(&self) -> u64 {
        match self.sizes {
            Sizes::All(bytes) => bytes / 2,
            Sizes::UpTo(_) => 4096,
        }
    }

    fn is_odd(&self) -> bool {
        matches!(self.sizes, Sizes::UpTo(_))
    }

    fn size(&self, number: u64) -> u64 {
        match self.sizes {
            Sizes::All(bytes) => bytes,
            Sizes::UpTo(_) if number % 50 == 7 => 0,
            Sizes::UpTo(bytes) => {
                let dice = mix(SEED ^ !number);
                let power = 1 << (dice % u64::from(bytes.ilog2()));
                power + (dice >> 32) % power
            }
        }
    }

    /// Returns the directories that contain files, relative to the top, parents before children.
    pub(crate) fn dirs(&self) -> Vec<PathBuf> {
        match self.layout {
            Layout::Flat { dirs, .. } => (0..dirs).map(|n| format!("dir_{n:04}").into()).collect(),
            Layout::Deep { branching, depth, .. } => {
                let mut all = vec![PathBuf::new()];
                let mut level = 0..1;
                for _ in 0..depth {
                    for parent in level.clone() {
                        all.extend(
                            (0..branching).map(|n| all[parent].join(format!("dir_{n}"))).collect::<Vec<_>>(),
                        );
                    }
                    level = level.end..all.len();
                }
                all
            }
        }
    }

    /// Returns the paths of the files in directory number `dir`, whose path is `path`.
    pub(crate) fn files_in(&self, dir: usize, path: &Path) -> Vec<PathBuf> {
        let files = self.layout.files_a_dir();
        let first = (dir * files) as u64;
        (first..).take(files).map(|number| path.join(file_name(number))).collect()
    }

    /// Makes the tree in the new directory `top`, with one thread per CPU.
    ///
    /// # Errors
    /// On a failure of the file system, and after an interrupt. The tree is then incomplete.
    pub(crate) fn make(&self, top: &Path) -> Result<()> {
        let dirs = self.dirs();
        for dir in &dirs {
            fs::create_dir_all(top.join(dir))?;
        }
        in_parallel(dirs.len(), |nth| {
            let first = (nth * self.layout.files_a_dir()) as u64;
            for (path, number) in self.files_in(nth, &top.join(&dirs[nth])).iter().zip(first..) {
                write(path, number, self.size(number))
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
            Ok(())
        })?;
        if self.is_odd() { self.oddities(top) } else { Ok(()) }
    }

    /// Adds special cases. Tools see some only with the right options: hidden and ignored files, names with blanks or
    /// escaped characters, and hard links. They must not follow the others: symbolic links, one of them a loop.
    fn oddities(&self, top: &Path) -> Result<()> {
        let target = &self.files_in(0, &top.join("dir_0000"))[0];
        fs::create_dir_all(top.join(".hidden/.deeper"))?;
        fs::write(top.join(".hidden/.deeper/file_hidden_1.txt"), "hidden")?;
        fs::write(top.join(".gitignore"), "*.jpg\n*.png\ndir_0001/\n")?;
        fs::write(top.join("a name (1) = b  c.txt"), "blanks")?;
        fs::write(top.join(r"a \ name \n1.txt"), "backslashes")?;
        fs::hard_link(target, top.join("hard_link_1.bin"))?;
        symlink(target, top.join("symbolic_link_1.bin"))?;
        symlink(top, top.join("circle_1"))?;
        Ok(())
    }
}

/// Calls `work` for every number below `count`, with one thread per CPU.
///
/// # Errors
/// The first error of each thread ends its work; one of them is returned.
pub(crate) fn in_parallel(count: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let numbers = || std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
    let thread = || numbers().take_while(|nth| *nth < count).try_for_each(&work);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(thread)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })
}

/// Makes a chain of nested directories below `top`, with a file every `every` levels, whose size is `size` of the level.
pub(crate) fn chain(top: &Path, depth: u64, every: u64, size: impl Fn(u64) -> u64) -> Result<()> {
    // Paths would become too long for the kernel.
    let mut deepest: OwnedFd = File::open(top)?.into();
    for level in 1..=depth {
        interrupt::check()?;
        mkdirat(&deepest, "d", Mode::from_raw_mode(0o755))?;
        deepest = openat(&deepest, "d", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        if level % every == 0 {
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
            File::from(openat(&deepest, "f", flags, Mode::from_raw_mode(0o644))?).set_len(size(level))?;
        }
    }
    Ok(())
}

/// Number of files that [`Shape::oddities`] adds.
const ODDITIES: u64 = 5;

impl Layout {
    fn files_a_dir(&self) -> usize {
        match *self {
            Self::Flat { files, .. } | Self::Deep { files, .. } => files,
        }
    }

    fn files(&self) -> u64 {
        let dirs = match *self {
            Self::Flat { dirs, .. } => dirs,
            Self::Deep { branching, depth, .. } => (0..=depth as u32).map(|level| branching.pow(level)).sum(),
        };
        (dirs * self.files_a_dir()) as u64
    }
}

fn file_name(number: u64) -> String {
    let mut dice = mix(SEED ^ number) % 100;
    for (extension, share) in EXTENSIONS {
        if dice < *share {
            return format!("file_{number:06}.{extension}");
        }
        dice -= share;
    }
    unreachable!("the shares add up to 100")
}

/// Writes a file whose first bytes are unique, if it is long enough for its number.
///
/// Blocks differ only in their first bytes, because generating random blocks takes longer than writing them.
fn write(path: &Path, number: u64, size: u64) -> Result<()> {
    let mut block = block(number, size.min(BLOCK_BYTES));
    let mut file = File::create(path)?;
    for start in (0..size).step_by(BLOCK_BYTES as usize) {
        interrupt::check()?;
        let stamp = (number ^ (start << 24)).to_le_bytes();
        let stamped = stamp.len().min(block.len());
        block[..stamped].copy_from_slice(&stamp[..stamped]);
        block.truncate((size - start).min(BLOCK_BYTES) as usize);
        file.write_all(&block)?;
    }
    Ok(())
}

fn block(number: u64, bytes: u64) -> Vec<u8> {
    let words = 0..bytes.div_ceil(8);
    let mut block: Vec<u8> = words.flat_map(|word| mix(SEED ^ (number << 16) ^ word).to_le_bytes()).collect();
    block.truncate(bytes as usize);
    block
}

/// The step between two states of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub(crate) const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64, used here to hash a number.
pub(crate) fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(GAMMA);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_the_stated_number_of_files() {
        let counts = [SMALL, MEDIUM, LARGE, DEEP, WIDE, BULK, HUGE].map(|shape| shape.files());
        assert_eq!(counts, [10_000, 100_000, 1_000_000, 364 * 20, 100_000, 16, 1]);
        assert_eq!(DEEP.dirs().len(), 364);
        assert_eq!(MIXED.files(), 10_000 + ODDITIES);
    }

    #[test]
    fn descriptions_distinguish_trees() {
        assert_eq!(SMALL.to_string(), "100 directories x 100 files, 100 bytes each");
        assert_eq!(MIXED.to_string(), "100 directories x 100 files, up to 2 MiB each, and oddities");
        assert_eq!(HUGE.to_string(), "one file, 1024 MiB each");
        assert_eq!(FLAT.to_string(), "one directory x 200 files, 2 MB each");
    }

    #[test]
    fn the_deep_tree_is_deep() {
        let dirs = DEEP.dirs();
        let depth = |n: usize| dirs.iter().filter(|dir| dir.components().count() == n).count();
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(depth), [1, 3, 9, 27, 81, 243, 0]);
        assert_eq!(dirs.iter().collect::<std::collections::HashSet<_>>().len(), dirs.len());
    }

    #[test]
    fn extensions_have_their_shares() {
        for (extension, share) in EXTENSIONS {
            let ending = format!(".{extension}");
            let count = (0..100_000).filter(|&n| file_name(n).ends_with(&ending)).count() as u64;
            assert!((count / 10).abs_diff(share * 100) < 100, "{extension}: {count} of 100,000");
        }
        assert!(file_name(7).starts_with("file_000007."));
    }

    #[test]
    fn mixed_sizes_are_spread_over_all_magnitudes() {
        let sizes: Vec<u64> = (0..10_000).map(|number| MIXED.size(number)).collect();
        assert!(sizes.iter().all(|&size| size < 2 << 20));
        assert_eq!(sizes.iter().filter(|&&size| size == 0).count(), 200);
        for power in 0..21 {
            let count = sizes.iter().filter(|&&size| size >> power == 1).count();
            assert!((350..600).contains(&count), "{count} from 2^{power} to the next power");
        }
    }

    #[test]
    fn trees_shrink_to_the_available_space() {
        assert_eq!(BULK.within(u64::MAX), BULK);
        let shrunk = BULK.within(1 << 30);
        assert_eq!(shrunk.to_string(), "4 directories x 4 files, 32 MiB each");
        assert!(shrunk.disk_bytes() <= 1 << 30);
        assert_eq!(HUGE.within(0).disk_bytes(), BLOCK_BYTES + DISK_BYTES);
    }

    #[test]
    fn no_two_files_or_blocks_are_equal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut seen = std::collections::HashSet::new();
        for (number, size) in [(0, 100), (1, 100), (256, 100), (2, BLOCK_BYTES * 2 + 9), (3, 8)] {
            write(&path, number, size).unwrap();
            let bytes = fs::read(&path).unwrap();
            assert_eq!(bytes.len() as u64, size);
            for block in bytes.chunks(BLOCK_BYTES as usize) {
                assert!(seen.insert(block.to_vec()), "a block of file {number} is not new");
            }
        }
    }

    #[test]
    fn file_numbers_continue_across_directories() {
        let files = SMALL.files_in(2, Path::new("x"));
        assert_eq!(files.len(), 100);
        assert!(files[0].to_str().unwrap().starts_with("x/file_000200."));
    }
}
