//! Chooses the largest nodes of a tree while its entries pass by.

use ftk_inventory::{Budget, Full, OpenDirs, Reservation};
use ftk_record::sanitize;

use super::Usage;
use super::columns::Space;
use super::nodes::{Node, Totals, prune};
use super::types::Types;
use crate::room::{SPACE, embedded_len};

/// Chooses the largest directories and files of a tree.
///
/// Entries come in the order of a manifest: sorted by the bytes of their paths, a directory before what is in it. Memory
/// does not grow with the number of entries: it is proportional to the limit, to the lengths of the names that are kept, and
/// to the depth of the tree. The names and the depth count towards a budget. The result is the same as if all entries were
/// sorted by size.
#[derive(Debug)]
pub struct SpaceBuilder {
    limit: usize,
    /// The number of nodes at which the smallest are removed.
    prune_at: usize,
    nodes: Vec<Node>,
    types: Types,
    /// The nodes of the root and of other directories whose entries may still come.
    open: OpenDirs<usize>,
    /// The length of the names of all nodes.
    names_len: u64,
    memory: Reservation,
}

/// The memory for a node that is open: as such it also keeps another node from being removed. A part is for the removal.
const OPEN_BYTES: u64 = (2 * size_of::<Node>() + OpenDirs::<usize>::BYTES + 128) as u64;

/// The copies of a name: of a node, of an open directory, and on the page.
const COPIES_OF_NAME: u64 = 4;

impl SpaceBuilder {
    /// Creates a builder that keeps about `limit` nodes; the root is called `root`.
    pub fn new(root: &[u8], limit: usize, budget: &Budget) -> Self {
        let node = Node {
            name: sanitize(root).into(),
            parent: 0,
            is_dir: true,
            is_open: true,
            totals: Totals::NONE,
            rest: Totals::NONE,
            rest_entries: 0,
        };
        let mut open = OpenDirs::default();
        open.push(b"", 0);
        let limit = limit.max(1);
        Self {
            limit,
            prune_at: 2 * limit,
            nodes: vec![node],
            types: Types::new(),
            open,
            names_len: 0,
            memory: Reservation::new(budget),
        }
    }

    /// Adds the root's own usage.
    pub fn root(&mut self, usage: &Usage) {
        self.nodes[0].totals.add(&Totals::of(usage, None));
    }

    /// Adds the directory at `path` below the root.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn dir(&mut self, path: &[u8], usage: &Usage) -> Result<(), Full> {
        self.go_to(path)?;
        self.enter(path, Totals::of(usage, None))
    }

    /// Adds the file, link or special file at `path` below the root.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn file(&mut self, path: &[u8], usage: &Usage) -> Result<(), Full> {
        let (parent, name) = self.go_to(path)?;
        let totals = Totals::of(usage, Some(self.types.of(name)));
        self.nodes[parent].totals.add(&totals);
        self.push(path, false, totals).map(drop)
    }

    /// Returns the columns of the page. `owner` returns the name of an owner. If names are so long that the page has no
    /// room for all nodes, fewer are kept.
    pub fn finish(mut self, mut owner: impl FnMut(u32) -> String) -> Space {
        while let Some(node) = self.open.pop() {
            self.close(node);
        }
        loop {
            prune(&mut self.nodes, self.limit);
            let space = Space::new(&self.nodes, &self.types, &mut owner);
            let len = embedded_len(&space);
            if len <= SPACE || self.nodes.len() == 1 {
                return space;
            }
            self.limit = (self.nodes.len() * (SPACE - SPACE / 20) / len).max(1);
        }
    }

    /// Opens the directories of `path`, and closes those of which no entry can follow. Returns the node of the directory of
    /// `path`, and the name in it.
    fn go_to<'p>(&mut self, path: &'p [u8]) -> Result<(usize, &'p [u8]), Full> {
        while let Some(node) = self.open.pop_before(path) {
            self.close(node);
        }
        // A directory that was not added, because options excluded it, uses nothing itself.
        while let Some(dir) = self.open.missing(path) {
            self.enter(dir, Totals::NONE)?;
        }
        Ok(self.place(path))
    }

    /// Returns the node of the innermost directory of `path`, and the part of `path` below it.
    fn place<'p>(&self, path: &'p [u8]) -> (usize, &'p [u8]) {
        let (at, name) = self.open.above(path).expect("the root is open");
        (self.open[at], name)
    }

    /// Adds a directory, and opens it.
    fn enter(&mut self, path: &[u8], totals: Totals) -> Result<(), Full> {
        let node = self.push(path, true, totals)?;
        self.open.push(path, node);
        Ok(())
    }

    /// Adds what a directory uses to the one above.
    fn close(&mut self, node: usize) {
        self.nodes[node].is_open = false;
        let Node { parent, totals, .. } = self.nodes[node];
        if parent != node {
            self.nodes[parent].totals.add(&totals);
        }
    }

    fn push(&mut self, path: &[u8], is_dir: bool, totals: Totals) -> Result<usize, Full> {
        if self.nodes.len() >= self.prune_at {
            let numbers = prune(&mut self.nodes, self.limit);
            self.open.values_mut().for_each(|node| *node = numbers[*node].expect("open nodes are kept"));
            self.prune_at = 2 * self.nodes.len().max(self.limit);
            self.names_len = self.nodes.iter().map(|node| node.name.len() as u64).sum();
        }
        let (parent, name) = self.place(path);
        let name: Box<str> = sanitize(name).into();
        self.names_len += name.len() as u64;
        let open_nodes = self.open.len() as u64 + u64::from(is_dir);
        self.memory.reach(OPEN_BYTES * open_nodes + COPIES_OF_NAME * self.names_len)?;
        let node =
            Node { name, parent, is_dir, is_open: is_dir, totals, rest: Totals::NONE, rest_entries: 0 };
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn usage(size: u64) -> Usage {
        Usage { allocated: size, apparent: size, mtime_s: size as i64, uid: Some(7), waste: 0 }
    }

    fn new(limit: usize) -> SpaceBuilder {
        builder_with(limit, u64::MAX)
    }

    fn builder_with(limit: usize, memory: u64) -> SpaceBuilder {
        SpaceBuilder::new(b"r", limit, &Budget::new(memory))
    }

    /// Returns each node's path, kind and sizes.
    fn shown(builder: SpaceBuilder) -> BTreeMap<String, (String, u64)> {
        let json = serde_json::to_value(builder.finish(|uid| uid.to_string())).unwrap();
        let column = |name: &str| json[name].as_array().unwrap().clone();
        let (names, parents, kinds) = (column("name"), column("parent"), column("kind"));
        let sizes = column("allocated_bytes");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut paths: Vec<String> = Vec::new();
        for (node, parent) in parents.iter().enumerate() {
            let parent = parent.as_u64().unwrap() as usize;
            assert!(node == 0 || parent < node);
            paths.push(if node == 0 {
                String::new()
            } else {
                format!("{}/{}", paths[parent], text(&names[node]))
            });
        }
        (0..names.len())
            .map(|at| (paths[at].clone(), (text(&kinds[at]), sizes[at].as_u64().unwrap())))
            .collect()
    }

    #[test]
    fn a_directory_contains_its_entries_although_others_sort_between() {
        let mut builder = new(100);
        builder.root(&usage(1));
        builder.dir(b"a", &usage(2)).unwrap();
        builder.dir(b"a-b", &usage(4)).unwrap();
        builder.file(b"a-b/y", &usage(8)).unwrap();
        builder.file(b"a.c", &usage(16)).unwrap();
        builder.file(b"a/x", &usage(32)).unwrap();
        builder.dir(b"empty", &usage(64)).unwrap();
        builder.file(b"left/out/z", &usage(128)).unwrap();
        let expected = [
            ("", "d", 255),
            ("/a", "d", 34),
            ("/a-b", "d", 12),
            ("/a-b/y", "f", 8),
            ("/a.c", "f", 16),
            ("/a/x", "f", 32),
            ("/empty", "d", 64),
            ("/left", "d", 128),
            ("/left/out", "d", 128),
            ("/left/out/z", "f", 128),
        ];
        let expected = expected.map(|(path, kind, size)| (path.to_owned(), (kind.to_owned(), size)));
        assert_eq!(shown(builder), expected.into_iter().collect());
    }

    #[test]
    fn small_entries_are_one_node() {
        let mut builder = new(3);
        for n in 0..100 {
            builder.file(format!("d/f{n:02}").as_bytes(), &usage(if n == 50 { 1000 } else { 1 })).unwrap();
        }
        let shown = shown(builder);
        assert_eq!(shown["/d"].1, 1099);
        assert_eq!(shown["/d/f50"], ("f".into(), 1000));
        assert_eq!(shown["/d/99 smaller entries"], ("r".into(), 99));
        assert_eq!(shown.len(), 4);
    }

    #[test]
    fn a_directory_of_very_many_entries_has_few_nodes() {
        let mut builder = new(1000);
        for n in 0..200_000 {
            builder.file(format!("d/f{n:06}").as_bytes(), &usage(n + 1)).unwrap();
            assert!(builder.nodes.len() <= 2 * (1000 + builder.open.len() + 1));
        }
        let shown = shown(builder);
        assert_eq!(shown["/d"], ("d".into(), 200_000 * 200_001 / 2));
        assert!(shown.contains_key("/d/f199999") && !shown.contains_key("/d/f000000"));
        assert!(shown.len() <= 1001, "{}", shown.len());
    }

    #[test]
    fn long_names_fit_into_the_page() {
        let mut builder = new(20_000);
        for n in 0..20_000 {
            builder.file(format!("{}{n:05}", "\u{1}".repeat(250)).as_bytes(), &usage(n + 1)).unwrap();
        }
        let space = builder.finish(|uid| uid.to_string());
        let len = embedded_len(&space);
        assert!((SPACE / 2..=SPACE).contains(&len), "{len}");
        let json = serde_json::to_value(space).unwrap();
        assert_eq!(json["allocated_bytes"][0], 20_000_u64 * 20_001 / 2);
        assert!(
            json["name"].as_array().unwrap().last().unwrap().as_str().unwrap().ends_with("smaller entries")
        );
    }

    #[test]
    fn totals_beyond_64_bits_are_exact() {
        let mut builder = new(9);
        for name in [b"a", b"b", b"c"] {
            builder.file(name, &usage(u64::MAX)).unwrap();
        }
        let json = serde_json::to_value(builder.finish(|_| String::new())).unwrap();
        assert_eq!(json["apparent_bytes"][0], (3 * u128::from(u64::MAX)).to_string());
    }

    /// Paths of a few letters, among them those that sort around `/`.
    fn paths() -> impl Strategy<Value = BTreeMap<String, u64>> {
        let name = "[a-b.0-]{1,2}";
        let path = prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"));
        prop::collection::btree_map(path, 0..50_u64, 0..60)
    }

    proptest! {
        /// The sizes are those of a naive sum, and the nodes are the largest ones.
        #[test]
        fn the_largest_nodes_are_kept(files in paths(), limit in 1..40_usize) {
            let mut sums: BTreeMap<String, (bool, u64)> = BTreeMap::new();
            sums.insert(String::new(), (true, 0));
            let mut entries: BTreeMap<String, Option<u64>> = BTreeMap::new();
            for (path, size) in &files {
                for (slash, _) in path.match_indices('/') {
                    entries.insert(path[..slash].into(), None);
                }
                entries.entry(path.clone()).or_insert(Some(*size));
            }
            let is_dir = |path: &str| entries.keys().any(|it| it.strip_prefix(path).is_some_and(|it| it.starts_with('/')));
            let mut builder = new(limit);
            for (path, size) in &entries {
                let is_dir = is_dir(path);
                let size = if is_dir { 3 } else { size.unwrap_or(0) };
                if is_dir {
                    builder.dir(path.as_bytes(), &usage(size)).unwrap();
                } else {
                    builder.file(path.as_bytes(), &usage(size)).unwrap();
                }
                sums.entry(format!("/{path}")).or_insert((is_dir, 0)).1 += size;
                for (slash, _) in format!("/{path}").match_indices('/') {
                    sums.get_mut(&format!("/{path}")[..slash]).unwrap().1 += size;
                }
            }
            let shown = shown(builder);
            let mut kept: Vec<u64> = Vec::new();
            for (path, (kind, size)) in &shown {
                if kind == "r" {
                    continue;
                }
                prop_assert_eq!(sums[path], (kind == "d", *size), "{}", path);
                kept.push(*size);
                if kind == "d" {
                    let inside = shown.iter().filter(|it| it.0.rsplit_once('/').is_some_and(|it| it.0 == path));
                    let own = if path.is_empty() { 0 } else { 3 };
                    prop_assert_eq!(inside.map(|it| it.1.1).sum::<u64>() + own, *size, "{}", path);
                }
            }
            let mut all: Vec<u64> = sums.values().map(|it| it.1).collect();
            all.sort_unstable_by(|a, b| b.cmp(a));
            all.truncate(limit.max(1));
            kept.sort_unstable_by(|a, b| b.cmp(a));
            prop_assert_eq!(kept, all);
        }
    }

    /// Depth and names count, and what was removed does not count.
    #[test]
    fn memory_is_bounded_by_the_budget() {
        let memory = 8 << 20;
        let deep =
            |depth: usize| builder_with(100, memory).file(&[&*b"a/".repeat(depth), b"x"].concat(), &usage(1));
        let most = (memory / OPEN_BYTES) as usize;
        assert_eq!(deep(most), Err(Full::Memory));
        assert_eq!(deep(most / 2), Ok(()));
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_entries() {
        let mut builder = builder_with(100, 1 << 20);
        for n in 0..20_000 {
            builder.file(format!("d{n:05}/{n:0200}").as_bytes(), &usage(n + 1)).unwrap();
        }
        assert_eq!(builder.open.len(), 2);
        let long = builder_with(100, 1 << 20).file(&b"x".repeat(1 << 19), &usage(1));
        assert_eq!(long, Err(Full::Memory), "the copies of a name do not fit");
    }
}
