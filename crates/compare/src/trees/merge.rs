//! Merges two inventories in path order.

use std::cmp::Ordering;

use ftk_file::Stat;
use ftk_inventory::{DirNo, FileNo, PathOrder};
use ftk_walk::FileType;

use super::WalkedTree;
use super::difference::Below;
use super::names::{NO_NAMES, Names};
use crate::Side;

/// One entry of one tree.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The path below the starting point, in the spelling of the first tree.
    pub(crate) path: Vec<u8>,
    /// The name in its directory.
    pub(crate) name: Vec<u8>,
    pub(crate) dir: DirNo,
    /// The path in the spelling of its own tree, if it is another one.
    pub(crate) own_path: Option<Vec<u8>>,
    /// Whether the name itself is spelled differently.
    pub(crate) is_respelled: bool,
    pub(crate) file_type: FileType,
    pub(crate) file: Option<FileNo>,
    pub(crate) has_target: bool,
    pub(crate) target: Vec<u8>,
    pub(crate) metadata: Option<Stat>,
}

impl Entry {
    /// Returns the path in the spelling of its own tree.
    pub(crate) fn own_path(&self) -> &[u8] {
        self.own_path.as_ref().unwrap_or(&self.path)
    }

    /// Returns the entry's metadata.
    ///
    /// # Panics
    /// If it is a regular file, and the inventory does not keep the metadata of regular files.
    pub(crate) fn metadata(&self) -> &Stat {
        self.metadata.as_ref().expect("the inventory keeps the metadata that the criteria need")
    }
}

/// The entries at one path.
#[derive(Debug)]
pub(crate) enum Step<'m> {
    Only(Side, &'m Entry),
    Both(&'m Entry, &'m Entry),
}

/// Merges two trees. Entries below a directory are skipped if the directory exists on one side only, or could
/// not be listed on one side.
#[derive(Debug)]
pub(crate) struct Merge<'t> {
    a: Cursor<'t>,
    b: Cursor<'t>,
    /// How the paths of the last two entries compare.
    last: Option<Ordering>,
    /// Paths where a walk failed and that the merge has not reached yet, in reverse order.
    failed: Vec<&'t [u8]>,
    /// Whether a walk failed at the current path itself.
    has_failed: bool,
    closed: Closed,
    /// Whether nothing is skipped.
    is_whole: bool,
    /// Whether entries below directories that only the first tree has are not skipped.
    has_all_of_a: bool,
}

impl<'t> Merge<'t> {
    pub(crate) fn new(a: &WalkedTree<'t>, b: &WalkedTree<'t>, names: &'t Names) -> Self {
        let failed_of = |tree: &WalkedTree<'t>| tree.failed.iter().map(|path| below(path, tree.root));
        let mut failed: Vec<_> = failed_of(a).collect();
        match names.is_empty() {
            true => failed.extend(failed_of(b)),
            false => failed.extend(names.failed.iter().map(Vec::as_slice)),
        }
        failed.sort_unstable_by(|one, other| other.cmp(one));
        let order_b = match &names.moved {
            Some(moved) => b.inventory.in_order_of(moved),
            None => b.inventory.in_path_order(),
        };
        let (a, b) = (Cursor::new(a, a.inventory.in_path_order()), Cursor::new(b, order_b));
        Self {
            a,
            b,
            last: None,
            failed,
            has_failed: false,
            closed: Closed::default(),
            is_whole: false,
            has_all_of_a: false,
        }
    }

    /// Does not skip entries below directories that only the first tree has.
    pub(crate) fn with_all_of_a(self, yes: bool) -> Self {
        Self { has_all_of_a: yes, ..self }
    }

    /// Merges two trees without skipping anything.
    pub(crate) fn whole(a: &WalkedTree<'t>, b: &WalkedTree<'t>) -> Self {
        Self { is_whole: true, ..Self::new(a, b, &NO_NAMES) }
    }

    /// Returns the next path. The entries are valid until the next call.
    pub(crate) fn next(&mut self) -> Option<Step<'_>> {
        if self.advance() { self.step() } else { None }
    }

    /// Moves to the next path. Returns whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        loop {
            match self.last {
                None => {
                    self.a.advance();
                    self.b.advance();
                }
                Some(last) => {
                    if last.is_le() {
                        self.a.advance();
                    }
                    if last.is_ge() {
                        self.b.advance();
                    }
                }
            }
            let order = match (self.a.entry(), self.b.entry()) {
                (None, None) => return false,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => a.path.cmp(&b.path),
            };
            self.last = Some(order);
            if self.is_whole || self.is_reportable(order) {
                return true;
            }
        }
    }

    /// Returns the side that alone has a directory at the current path.
    pub(crate) fn only_directory(&self) -> Option<Side> {
        let is_directory = |entry: &Entry| entry.file_type == FileType::Directory;
        match self.step()? {
            Step::Only(side, entry) => is_directory(entry).then_some(side),
            Step::Both(a, b) => match (is_directory(a), is_directory(b)) {
                (true, false) => Some(Side::A),
                (false, true) => Some(Side::B),
                _ => None,
            },
        }
    }

    /// Returns the entries at the current path.
    pub(crate) fn step(&self) -> Option<Step<'_>> {
        let (a, b) = (&self.a.entry, &self.b.entry);
        Some(match self.last? {
            Ordering::Less => Step::Only(Side::A, a),
            Ordering::Greater => Step::Only(Side::B, b),
            Ordering::Equal => Step::Both(a, b),
        })
    }

    /// Adds up what is below the current path in one tree, which has a directory there. Returns `None` if a walk failed
    /// there.
    pub(crate) fn below(&self, side: Side) -> Option<Below> {
        let cursor = match side {
            Side::A => &self.a,
            Side::B => &self.b,
        };
        let top = &cursor.entry.path;
        let is_below = |path: &[u8]| path.starts_with(top) && path.get(top.len()) == Some(&b'/');
        if self.has_failed || self.failed.iter().any(|failed| is_below(failed)) {
            return None;
        }
        let (mut order, mut below) = (cursor.order.clone(), Below::default());
        while let Some(item) = order.next() {
            let path = self::below(item.path, cursor.root);
            if !path.starts_with(top) {
                break;
            }
            if is_below(path) {
                below.entries += 1;
                let size = item.metadata.filter(Stat::is_regular).map_or(0, |metadata| metadata.size);
                below.size_bytes = below.size_bytes.saturating_add(size);
            }
        }
        Some(below)
    }

    /// Returns whether the current path can be reported. If the entries below it must be skipped, adds the
    /// path to `closed`.
    fn is_reportable(&mut self, order: Ordering) -> bool {
        let first = if order.is_le() { &self.a.entry } else { &self.b.entry };
        let path = &first.path;
        self.has_failed = false;
        while let Some(failed) = self.failed.pop_if(|failed| *failed <= path.as_slice()) {
            self.has_failed |= failed == path.as_slice();
            self.closed.close(failed);
        }
        if self.closed.holds(path) {
            return false;
        }
        // If only one of two entries is a directory, only one tree has what is below.
        let is_only_in_a = match order {
            Ordering::Less => true,
            Ordering::Equal => self.b.entry.file_type != FileType::Directory,
            Ordering::Greater => false,
        };
        let has_below = match order {
            _ if self.has_all_of_a && is_only_in_a => true,
            Ordering::Equal => first.file_type == self.b.entry.file_type,
            _ => first.file_type != FileType::Directory,
        };
        if !has_below {
            self.closed.close(path);
        }
        // If a walk failed here, the entry may exist on both sides.
        order.is_eq() || !self.has_failed
    }
}

/// Directories whose entries are skipped. Each is a prefix of the next one. A directory that is not a prefix
/// of the current path can be dropped, because paths come in order.
#[derive(Debug, Default)]
struct Closed(Vec<Vec<u8>>);

impl Closed {
    fn close(&mut self, path: &[u8]) {
        self.pass(path);
        self.0.push(path.to_vec());
    }

    /// Whether the path is below one of these directories.
    fn holds(&mut self, path: &[u8]) -> bool {
        self.pass(path);
        let is_below = |dir: &Vec<u8>| match dir.len() {
            0 => !path.is_empty(),
            len => path.get(len) == Some(&b'/'),
        };
        self.0.iter().any(is_below)
    }

    fn pass(&mut self, path: &[u8]) {
        while self.0.pop_if(|dir| !path.starts_with(dir)).is_some() {}
    }
}

/// The position in one of the trees.
#[derive(Debug)]
struct Cursor<'t> {
    root: &'t [u8],
    order: PathOrder<'t>,
    /// The current entry. Its buffers are reused.
    entry: Entry,
    has_ended: bool,
}

impl<'t> Cursor<'t> {
    fn new(tree: &WalkedTree<'t>, order: PathOrder<'t>) -> Self {
        let entry = Entry {
            path: Vec::new(),
            name: Vec::new(),
            dir: DirNo(0),
            own_path: None,
            is_respelled: false,
            file_type: FileType::Directory,
            file: None,
            has_target: false,
            target: Vec::new(),
            metadata: None,
        };
        Self { root: tree.root, order, entry, has_ended: false }
    }

    fn entry(&self) -> Option<&Entry> {
        (!self.has_ended).then_some(&self.entry)
    }

    fn advance(&mut self) {
        let Some(item) = self.order.next() else {
            self.has_ended = true;
            return;
        };
        let entry = &mut self.entry;
        entry.path.clear();
        entry.path.extend_from_slice(below(item.path, self.root));
        entry.own_path = item.own_path.map(|path| below(path, self.root).to_vec());
        entry.name.clear();
        entry.name.extend_from_slice(item.name);
        entry.is_respelled = item.is_respelled;
        (entry.dir, entry.file_type, entry.file) = (item.dir, item.file_type, item.file);
        entry.metadata = item.metadata;
        entry.has_target = item.target.is_some();
        entry.target.clear();
        entry.target.extend_from_slice(item.target.unwrap_or_default());
    }
}

/// Returns the path relative to the starting point.
pub(crate) fn below<'p>(path: &'p [u8], root: &[u8]) -> &'p [u8] {
    let below = path.get(root.len()..).unwrap_or_default();
    below.strip_prefix(b"/").unwrap_or(below)
}
