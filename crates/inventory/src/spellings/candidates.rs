//! Pairs names by their normal forms.

use std::ops::Range;

use super::align::{Seed, Spellings};
use super::unpaired::normal_hash;
use crate::normal_form::push_normal;
use crate::{Budget, Full, OpenDirs, Reservation};

/// The root of both trees. It is the first node, and has no name.
const ROOT: u32 = 0;

/// The paths of two trees that may be pairs, and the directories above them.
#[derive(Debug)]
pub struct Candidates {
    /// The hashes of the normal forms of paths that may have partners, ascending.
    hashes: Vec<u64>,
    /// Whether ASCII paths may have partners.
    has_ascii: bool,
    /// Every node comes after the directory that contains it.
    nodes: Vec<Node>,
    names: Vec<u8>,
    open: OpenDirs<Dir>,
    normal: Vec<u8>,
    reserved: Reservation,
    /// For the directories in `open`.
    open_reserved: Reservation,
    budget: Budget,
}

/// A path of one of the trees, or of both.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    /// Where its name begins. Its normal form follows it, if it differs from the name.
    start: usize,
    len: u32,
    normal_len: u32,
    /// Whether each tree has the path, or a path below it.
    is_in: [bool; 2],
    /// Whether each tree has an entry at this path. A selection may have the contents of a directory without the directory.
    is_entry: [bool; 2],
}

/// What a node costs besides its name: itself in a list that grows, its partner, and its place in two sorted lists.
const NODE_BYTES: usize = 2 * size_of::<Node>() + 8;

/// An entry below which others may still come.
#[derive(Clone, Copy, Debug)]
struct Dir {
    /// The length of its path.
    len: usize,
    node: Option<u32>,
    is_in: [bool; 2],
    is_entry: [bool; 2],
}

impl Candidates {
    /// `reserved`: the memory of the hashes.
    pub(super) fn new(hashes: Vec<u64>, has_ascii: bool, reserved: Reservation, budget: &Budget) -> Self {
        Self {
            hashes,
            has_ascii,
            nodes: vec![Node {
                parent: ROOT,
                start: 0,
                len: 0,
                normal_len: 0,
                is_in: [true; 2],
                is_entry: [true; 2],
            }],
            names: Vec::new(),
            open: OpenDirs::default(),
            normal: Vec::new(),
            reserved,
            open_reserved: Reservation::new(budget),
            budget: budget.clone(),
        }
    }

    /// Adds an entry, in path order; `sides` tells which trees have it. All entries of both trees must be added. The path
    /// of the root is empty.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn add(&mut self, sides: [bool; 2], path: &[u8]) -> Result<(), Full> {
        if path.is_empty() {
            return Ok(());
        }
        self.open.go_to(path);
        while let Some(dir) = self.open.missing(path) {
            let open = Dir { len: dir.len(), node: None, is_in: [false; 2], is_entry: [false; 2] };
            self.open.push_within(&mut self.open_reserved, dir.len(), dir, open)?;
        }
        for dir in self.open.around(path) {
            dir.is_in = merged(dir.is_in, sides);
            if let Some(node) = dir.node {
                self.nodes[node as usize].is_in = dir.is_in;
            }
        }
        let node = if self.is_candidate(sides, path) { Some(self.add_node(sides, path)?) } else { None };
        // It may be a directory in one of the trees.
        let open = Dir { len: path.len(), node, is_in: sides, is_entry: sides };
        self.open.push_within(&mut self.open_reserved, path.len(), path, open)
    }

    fn is_candidate(&mut self, sides: [bool; 2], path: &[u8]) -> bool {
        sides != [true; 2]
            && (self.has_ascii || !path.is_ascii())
            && self.hashes.binary_search(&normal_hash(path, &mut self.normal)).is_ok()
    }

    /// Adds a path and the directories above it.
    fn add_node(&mut self, sides: [bool; 2], path: &[u8]) -> Result<u32, Full> {
        let Self { nodes, names, normal, reserved, .. } = self;
        let (mut parent, mut start) = (ROOT, 0);
        let mut push = |parent: u32, name: &[u8], is_in, is_entry| -> Result<u32, Full> {
            normal.clear();
            push_normal(name, normal);
            let differs = normal != name;
            let normal_len = if differs { normal.len() } else { 0 };
            let node = Node {
                parent,
                start: names.len(),
                len: u32::try_from(name.len()).map_err(|_| Full::LongName)?,
                normal_len: u32::try_from(normal_len).map_err(|_| Full::LongName)?,
                is_in,
                is_entry,
            };
            reserved.consume((NODE_BYTES + 2 * (name.len() + normal_len)) as u64)?;
            names.extend_from_slice(name);
            names.extend_from_slice(&normal[..normal_len]);
            nodes.push(node);
            u32::try_from(nodes.len() - 1).map_err(|_| Full::Entries)
        };
        for dir in self.open.around(path) {
            let node = match dir.node {
                Some(node) => node,
                None => push(parent, &path[start..dir.len], dir.is_in, dir.is_entry)?,
            };
            dir.node = Some(node);
            (parent, start) = (node, dir.len + 1);
        }
        push(parent, &path[start..], sides, sides)
    }

    /// Pairs the paths.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn pair(self) -> Result<Spellings, Full> {
        let only = |side: usize| {
            let mut found: Vec<u32> = (0..self.nodes.len() as u32)
                .filter(|node| {
                    let is_in = self.nodes[*node as usize].is_in;
                    is_in[side] && !is_in[1 - side]
                })
                .collect();
            found.sort_unstable_by(|a, b| self.key(*a).cmp(&self.key(*b)));
            found
        };
        let (ours, theirs) = (only(0), only(1));
        let mut partners = vec![None; self.nodes.len()];
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        // Directories come before what is below them, so the partner of a directory is known when its entries come.
        for group in ours.chunk_by(|a, b| self.group(*a) == self.group(*b)) {
            let (parent, normal) = self.group(group[0]);
            let Some(partner) = self.partner(parent, &partners) else { continue };
            let start = theirs.partition_point(|node| self.group(*node) < (partner, normal));
            let rest = &theirs[start..];
            let rest = &rest[..rest.partition_point(|node| self.group(*node) == (partner, normal))];
            pairs.clear();
            self.pair_names(group, rest, &mut pairs);
            pairs.iter().for_each(|[our, their]| partners[*our as usize] = Some(*their));
        }
        let (mut seeds, mut reserved) = (Vec::new(), Reservation::new(&self.budget));
        for (ours, theirs) in partners.iter().enumerate().filter_map(|(ours, it)| Some((ours, (*it)?))) {
            let (old, new) = (&self.nodes[ours], &self.nodes[theirs as usize]);
            if self.name(old) != self.name(new) {
                let path = self.path(theirs);
                let name = self.name(old).to_vec();
                reserved.consume((Seed::BYTES + path.len() + name.len()) as u64)?;
                seeds.push(Seed { path, name, is_entry: old.is_entry[0] && new.is_entry[1] });
            }
        }
        seeds.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        self.reserved.release();
        self.open_reserved.release();
        Ok(Spellings { seeds })
    }

    /// Pairs names with one normal form in two directories. Both lists are sorted.
    fn pair_names(&self, ours: &[u32], theirs: &[u32], pairs: &mut Vec<[u32; 2]>) {
        let name = |node: u32| self.name(&self.nodes[node as usize]);
        let (mut our_rest, mut their_rest) = (Vec::new(), Vec::new());
        let mut theirs = theirs.iter().copied().peekable();
        for &our in ours {
            while let Some(their) = theirs.next_if(|their| name(*their) < name(our)) {
                their_rest.push(their);
            }
            match theirs.next_if(|their| name(*their) == name(our)) {
                Some(their) => pairs.push([our, their]),
                None => our_rest.push(our),
            }
        }
        their_rest.extend(theirs);
        pairs.extend(our_rest.into_iter().zip(their_rest).map(|(our, their)| [our, their]));
    }

    /// Returns the partner of a directory of the first tree.
    fn partner(&self, dir: u32, partners: &[Option<u32>]) -> Option<u32> {
        let is_common = self.nodes[dir as usize].is_in == [true; 2];
        if is_common { Some(dir) } else { partners[dir as usize] }
    }

    /// Names with one normal form in a directory are a group.
    fn group(&self, node: u32) -> (u32, &[u8]) {
        let node = &self.nodes[node as usize];
        (node.parent, self.normal(node))
    }

    fn key(&self, node: u32) -> ((u32, &[u8]), &[u8]) {
        (self.group(node), self.name(&self.nodes[node as usize]))
    }

    fn name(&self, node: &Node) -> &[u8] {
        &self.names[range(node.start, node.len)]
    }

    fn normal(&self, node: &Node) -> &[u8] {
        match node.normal_len {
            0 => self.name(node),
            len => &self.names[range(node.start + node.len as usize, len)],
        }
    }

    fn path(&self, node: u32) -> Vec<u8> {
        let parent = |node: &u32| Some(self.nodes[*node as usize].parent);
        let mut nodes: Vec<_> =
            std::iter::successors(Some(node), parent).take_while(|node| *node != ROOT).collect();
        nodes.reverse();
        let names: Vec<_> = nodes.into_iter().map(|node| self.name(&self.nodes[node as usize])).collect();
        names.join(&b'/')
    }
}

fn range(start: usize, len: u32) -> Range<usize> {
    start..start + len as usize
}

fn merged(a: [bool; 2], b: [bool; 2]) -> [bool; 2] {
    [a[0] || b[0], a[1] || b[1]]
}
