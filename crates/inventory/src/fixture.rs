//! Random trees in memory, which fill a table without a walk.

use std::collections::BTreeMap;
use std::ffi::CString;

use fastrand::Rng;
use ftk_file::Symlinks;
use ftk_walk::{FileType, Metadata};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::shard::{Found, Id, ROOT};
use crate::{Collect, Keep};

/// An entry of a tree.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Leaf(FileType),
    Dir(BTreeMap<Vec<u8>, Node>),
}

/// Starting points with their trees, and how workers share the directories.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) roots: Vec<(Vec<u8>, Node)>,
    pub(crate) workers: u16,
    pub(crate) seed: u64,
}

/// An expected entry: whole path, type, inode number.
pub(crate) type Line = (Vec<u8>, FileType, u64);

/// Returns the metadata of the entry with this inode number. It is different for each entry.
pub(crate) fn metadata(ino: u64, file_type: FileType) -> Metadata {
    let mut metadata = Metadata::new(file_type);
    metadata.mode = ino as u32 * 7 % 0o10000;
    metadata.uid = ino as u32 + 1;
    metadata.gid = ino as u32 + 2;
    metadata.dev = DEV + u64::from(ino.is_multiple_of(3));
    metadata.rdev = ino << 40;
    metadata.ino = ino;
    metadata.nlink = 1 + ino % 2;
    metadata.size = ino * 1_000 + 3;
    metadata.blocks = ino * 2;
    metadata.mtime_ns = i128::from(ino) * -123_456_789_123;
    metadata.ctime_ns = i128::from(ino) * 123_456_789_123;
    metadata.birth_ns = (!ino.is_multiple_of(4)).then_some(i128::from(ino) * -987_654_321);
    metadata
}

/// Returns the target of the symbolic link with this inode number.
pub(crate) fn target(ino: u64) -> CString {
    CString::new(format!("{}/{ino}", "../".repeat(ino as usize % 5))).unwrap()
}

/// The device of all directories.
const DEV: u64 = 5;

/// Generates names with bytes below and above the slash, prefixes of each other, shorter and longer than a
/// sort key.
fn names() -> impl Strategy<Value = Vec<u8>> {
    let bytes = select(b"\x01-.0a\xff".to_vec());
    (any::<bool>(), vec(bytes, 1..4))
        .prop_map(|(long, tail)| if long { [b"aaaaaaaa", &tail[..]].concat() } else { tail })
        .prop_filter("not the name of an entry", |name| name != b"." && name != b"..")
}

impl Node {
    fn file_type(&self) -> FileType {
        match self {
            Self::Leaf(file_type) => *file_type,
            Self::Dir(_) => FileType::Directory,
        }
    }
}

fn leaf() -> impl Strategy<Value = Node> {
    let types = vec![FileType::Regular, FileType::Regular, FileType::Symlink, FileType::Fifo];
    select(types).prop_map(Node::Leaf)
}

fn tree() -> impl Strategy<Value = Node> {
    leaf().prop_recursive(4, 60, 8, |inner| btree_map(names(), inner, 0..8).prop_map(Node::Dir))
}

/// Generates starting points, each with its own tree. Some are prefixes of others, as bytes or as paths.
pub(crate) fn fixture() -> impl Strategy<Value = Fixture> {
    let paths =
        [".", "./a", "/", "a", "a-b", "a.c", "a/", "a/b", "a0", "aa"].map(|path| path.as_bytes().to_vec());
    let roots = subsequence(paths.to_vec(), 1..=10).prop_shuffle();
    let trees = vec(tree(), 10);
    (roots, trees, 1_u16..4, any::<u64>()).prop_map(|(roots, trees, workers, seed)| Fixture {
        roots: roots.into_iter().zip(trees).collect(),
        workers,
        seed,
    })
}

impl Fixture {
    /// Returns the parts as a walk would fill them, and their entries in no particular order.
    pub(crate) fn collect(&self, keep: Keep) -> (Vec<Collect>, Vec<Line>) {
        let parts = (0..self.workers).map(|worker| Collect::new(usize::from(worker), keep)).collect();
        let mut filler = Filler { parts, lines: Vec::new(), keep, random: Rng::with_seed(self.seed) };
        let mut waiting = Vec::new();
        for (path, node) in &self.roots {
            if keep.matches_start(node.file_type()) {
                filler.entry(0, path, path.clone(), node);
            }
            if let Node::Dir(below) = node {
                let name = filler.parts[0].shard.names.push(&CString::new(path.clone()).unwrap()).unwrap();
                waiting.push((Found { shard: 0, up: ROOT, name }, path, below));
            }
        }
        filler.parts[0].shard.finish_starting_points(0).unwrap();
        for (found, path, below) in waiting {
            let slash = if path.ends_with(b"/") { "" } else { "/" };
            filler.dir(found, &[path, slash.as_bytes()].concat(), below);
        }
        (filler.parts, filler.lines)
    }
}

struct Filler {
    parts: Vec<Collect>,
    lines: Vec<Line>,
    keep: Keep,
    random: Rng,
}

impl Filler {
    fn entry(&mut self, worker: u16, name: &[u8], path: Vec<u8>, node: &Node) {
        let file_type = node.file_type();
        if self.keep.matches(file_type) {
            let ino = self.lines.len() as u64;
            let name = CString::new(name).unwrap();
            let shard = &mut self.parts[usize::from(worker)].shard;
            let added = if !self.keep.needs_stat_for(file_type) {
                shard.add(&name, ino, file_type, Symlinks::NoFollow)
            } else if self.keep == Keep::Tree && file_type != FileType::Regular {
                let content = target(ino);
                shard.add_with_content(&name, &content, Symlinks::NoFollow, &metadata(ino, file_type))
            } else if self.keep.has_sizes_in_columns() {
                let with_times = self.keep == Keep::Times;
                shard.add_sized(&name, Symlinks::NoFollow, &metadata(ino, file_type), with_times)
            } else {
                let content = (file_type != FileType::Regular).then(|| target(ino));
                shard.add_recorded(&name, content.as_deref(), Symlinks::NoFollow, &metadata(ino, file_type))
            };
            added.unwrap();
            self.lines.push((path, file_type, ino));
        }
    }

    /// Lists a directory as one of the workers, and then the directories below it.
    fn dir(&mut self, found: Found, prefix: &[u8], entries: &BTreeMap<Vec<u8>, Node>) {
        let worker = self.random.usize(..self.parts.len()) as u16;
        let mut waiting = Vec::new();
        // In reverse order, so that nothing is sorted by accident.
        for (name, node) in entries.iter().rev() {
            self.entry(worker, name, [prefix, name].concat(), node);
            if let Node::Dir(below) = node {
                let shard = &mut self.parts[usize::from(worker)].shard;
                let held = shard.names.push(&CString::new(name.clone()).unwrap()).unwrap();
                let found = Found { shard: worker, up: shard.current(), name: held };
                waiting.push((found, [prefix, name, b"/"].concat(), below));
            }
        }
        self.parts[usize::from(worker)].shard.finish(found, Id { dev: DEV, ino: 0, root: 0 }).unwrap();
        for (found, prefix, below) in waiting {
            self.dir(found, &prefix, below);
        }
    }
}
