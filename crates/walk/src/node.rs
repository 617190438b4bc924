//! A directory of a walk: its name and its parent. Its size does not grow with depth.

use std::cmp::Ordering;
use std::ffi::CStr;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Device and inode number, which identify a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
}

/// A directory that is queued or being listed, or that is above such a directory.
pub(crate) struct Node<T> {
    up: Option<Arc<Node<T>>>,
    name: Box<CStr>,
    /// The open directory, while a worker's ring contains this node.
    fd: Mutex<Option<Arc<OwnedFd>>>,
    /// Set when the directory is opened first. So it is set before any descendant exists.
    id: OnceLock<Id>,
    root_dev: u64,
    root: usize,
    depth: u32,
    via_link: bool,
    below_link: bool,
    tag: T,
}

impl<T> Node<T> {
    /// Makes the node of starting point number `root`, on device `dev`.
    pub(crate) fn root(name: &CStr, via_link: bool, root: usize, dev: u64, tag: T) -> Self {
        Self {
            up: None,
            name: name.into(),
            fd: Mutex::default(),
            id: OnceLock::new(),
            root_dev: dev,
            root,
            depth: 0,
            via_link,
            below_link: false,
            tag,
        }
    }

    /// Makes the node of the directory `name` in `up`.
    pub(crate) fn child(up: &Arc<Self>, name: &CStr, via_link: bool, tag: T) -> Self {
        Self {
            name: name.into(),
            fd: Mutex::default(),
            id: OnceLock::new(),
            root_dev: up.root_dev,
            root: up.root,
            depth: up.depth + 1,
            via_link,
            below_link: via_link || up.below_link,
            tag,
            up: Some(Arc::clone(up)),
        }
    }

    pub(crate) fn up(&self) -> Option<&Arc<Self>> {
        self.up.as_ref()
    }

    pub(crate) fn name(&self) -> &CStr {
        &self.name
    }

    /// Locks the open directory. Hold the lock only to clone or replace the descriptor.
    pub(crate) fn fd(&self) -> MutexGuard<'_, Option<Arc<OwnedFd>>> {
        self.fd.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the identity, if the directory was opened before.
    pub(crate) fn id(&self) -> Option<Id> {
        self.id.get().copied()
    }

    /// Records the identity, the first time this is called. Later calls have no effect.
    pub(crate) fn set_id(&self, id: Id) {
        self.id.get_or_init(|| id);
    }

    pub(crate) fn root_dev(&self) -> u64 {
        self.root_dev
    }

    /// Returns whether the name itself is a symbolic link.
    pub(crate) fn via_link(&self) -> bool {
        self.via_link
    }

    /// Returns whether the name or one above it is a symbolic link, the starting point excepted.
    pub(crate) fn below_link(&self) -> bool {
        self.below_link
    }

    /// Compares the paths of the two directories as bytes.
    pub(crate) fn cmp_paths(&self, other: &Self) -> Ordering {
        if self.root != other.root {
            let path = |node: &Self| {
                let mut path = Vec::new();
                node.push_path(&mut path);
                path
            };
            return path(self).cmp(&path(other));
        }
        let (mut a, mut b) = (self, other);
        while let Some(up) = a.up().filter(|_| a.depth > b.depth) {
            a = up;
        }
        while let Some(up) = b.up().filter(|_| b.depth > a.depth) {
            b = up;
        }
        while let Some((up, other_up)) = a.up().zip(b.up()).filter(|(up, other)| !Arc::ptr_eq(up, other)) {
            (a, b) = (up, other_up);
        }
        // In the path, a slash follows each name except the last.
        let key = |node: &Self, end: &Self| {
            let slash = (!std::ptr::eq(node, end)).then_some(b'/');
            node.name.to_bytes().iter().copied().chain(slash).collect::<Vec<_>>()
        };
        if std::ptr::eq(a, b) { self.depth.cmp(&other.depth) } else { key(a, self).cmp(&key(b, other)) }
    }

    pub(crate) fn tag(&self) -> &T {
        &self.tag
    }

    /// Returns the nearest directory with this identity, from this one upwards.
    pub(crate) fn find(&self, id: Id) -> Option<&Self> {
        let mut node = self;
        while node.id() != Some(id) {
            node = node.up()?;
        }
        Some(node)
    }
}

/// Drops the chain of parents in a loop. Recursion would overflow the stack in deep trees.
impl<T> Drop for Node<T> {
    fn drop(&mut self) {
        let mut up = self.up.take();
        while let Some(node) = up {
            up = Arc::into_inner(node).and_then(|mut node| node.up.take());
        }
    }
}

/// A directory that is ordered by its path.
pub(crate) struct ByPath<T>(pub(crate) Arc<Node<T>>);

impl<T> Ord for ByPath<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp_paths(&other.0)
    }
}

impl<T> PartialOrd for ByPath<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for ByPath<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for ByPath<T> {}

/// A [`Node`] without its type parameter, as [`Entry`](crate::Entry) and [`Directory`](crate::Directory) see
/// it.
pub(crate) trait Place {
    fn depth(&self) -> u32;
    fn root_number(&self) -> usize;
    /// Appends the path: the starting point as given, joined with the names below it.
    fn push_path(&self, path: &mut Vec<u8>);
}

impl<T> Place for Node<T> {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn root_number(&self) -> usize {
        self.root
    }

    fn push_path(&self, path: &mut Vec<u8>) {
        let chain = || std::iter::successors(Some(self), |node| node.up().map(|up| &**up));
        // Only a root can end in a slash.
        let joint = |node: &Self| usize::from(!node.name.to_bytes().ends_with(b"/"));
        let length: usize = chain().map(|node| node.name.count_bytes() + joint(node)).sum();
        let mut end = path.len() + length;
        path.resize(end, b'/');
        for node in chain() {
            end -= joint(node);
            let start = end - node.name.count_bytes();
            path[start..end].copy_from_slice(node.name.to_bytes());
            end = start;
        }
        if self.up.is_some() || joint(self) == 1 {
            path.pop();
        }
    }
}

impl fmt::Debug for dyn Place + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut path = Vec::new();
        self.push_path(&mut path);
        write!(f, "{:?}", String::from_utf8_lossy(&path))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    /// Returns the node of a path. Nodes that `known` does not contain are made and added to it.
    fn node(path: &str, known: &mut Vec<Arc<Node<()>>>) -> Arc<Node<()>> {
        let of = |node: &Arc<Node<()>>| {
            let mut bytes = Vec::new();
            node.push_path(&mut bytes);
            bytes
        };
        if let Some(node) = known.iter().find(|node| of(node) == path.as_bytes()) {
            return Arc::clone(node);
        }
        let made = match path.rsplit_once('/') {
            None => Node::root(&CString::new(path).unwrap(), false, usize::from(path != "r"), 1, ()),
            Some((up, name)) => Node::child(&node(up, known), &CString::new(name).unwrap(), false, ()),
        };
        known.push(Arc::new(made));
        Arc::clone(&known[known.len() - 1])
    }

    #[test]
    fn nodes_are_ordered_by_path() {
        let names =
            ["r", "r/a", "r/a-b", "r/a-b/x", "r/a/x", "r/a/x/y", "r/a0", "r/a0/x", "r/b", "q", "q/a", "r-/z"];
        let mut known = Vec::new();
        let nodes: Vec<_> = names.iter().map(|path| node(path, &mut known)).collect();
        for (a, one) in names.iter().zip(&nodes) {
            for (b, other) in names.iter().zip(&nodes) {
                assert_eq!(one.cmp_paths(other), a.cmp(b), "{a} {b}");
            }
        }
    }
}
