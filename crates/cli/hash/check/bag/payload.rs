//! The payload of a bag: the files in its directory `data`.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_inventory::{Inventory, Keep};
use ftk_select::Selection;
use ftk_walk::{FileType, Follow};

use crate::console::Outcome;
use crate::hash::check::bag::findings::Findings;
use crate::hash::check::bag::manifests::{Listed, is_payload};
use crate::run::Run;

/// The files in `data`.
pub(super) struct Payload {
    /// `None` if the directory does not exist.
    inventory: Option<Inventory>,
    /// Length of the part of its paths that is not part of the paths in manifests.
    prefix: usize,
    /// Whether all of it could be listed.
    is_whole: bool,
    /// The links to files of the payload: where each leads, and the size of the file there.
    links: BTreeMap<Vec<u8>, (Vec<u8>, u64)>,
}

impl Payload {
    /// Lists the payload.
    ///
    /// # Errors
    /// If it does not fit into the allowed memory.
    pub(super) fn walk(
        bag: &Path,
        selection: &Selection,
        run: &Run<'_>,
        findings: &mut Findings<'_>,
    ) -> anyhow::Result<Self> {
        let data = bag.join("data");
        let prefix = data.as_os_str().len() - "data".len();
        let is_directory = data.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        if !is_directory {
            findings.invalid("the payload is missing", "the bag has no directory data");
            return Ok(Self { inventory: None, prefix, is_whole: false, links: BTreeMap::new() });
        }
        let start = CString::new(data.as_os_str().as_bytes())?;
        let scan = run.walk(vec![start], Follow::Never, selection, Keep::Stats { files: true }, "")?;
        findings.raise(scan.outcome);
        let is_whole = scan.outcome == Outcome::Success;
        let mut payload = Self { inventory: Some(scan.inventory), prefix, is_whole, links: BTreeMap::new() };
        payload.links = payload.find_links(bag);
        Ok(payload)
    }

    /// Finds the links that lead to regular files of the payload. What is found here is only a path: the file there is
    /// opened like any other, without following a link.
    fn find_links(&self, bag: &Path) -> BTreeMap<Vec<u8>, (Vec<u8>, u64)> {
        let mut links = BTreeMap::new();
        let Some(inventory) = &self.inventory else { return links };
        let Ok(root) = bag.canonicalize() else { return links };
        let mut order = inventory.in_path_order();
        while let Some(item) = order.next() {
            if item.file_type != FileType::Symlink {
                continue;
            }
            let Ok(target) = Path::new(OsStr::from_bytes(item.path)).canonicalize() else { continue };
            let Ok(metadata) = target.symlink_metadata() else { continue };
            if let Ok(below) = target.strip_prefix(&root)
                && is_payload(below.as_os_str().as_bytes())
                && metadata.is_file()
            {
                let below = below.as_os_str().as_bytes().to_vec();
                links.insert(item.path[self.prefix..].to_vec(), (below, metadata.len()));
            }
        }
        links
    }

    /// Returns where a path leads if it is a link to a file of the payload.
    pub(super) fn link(&self, path: &[u8]) -> Option<&[u8]> {
        self.links.get(path).map(|(target, _)| &**target)
    }

    /// Calls `each` with the path in the bag and the size of everything that is not a directory.
    fn each(&self, mut each: impl FnMut(&[u8], u64)) {
        let Some(inventory) = &self.inventory else { return };
        let mut order = inventory.in_path_order();
        while let Some(item) = order.next() {
            if item.file_type != FileType::Directory {
                let path = &item.path[self.prefix..];
                let own = || item.metadata.map_or(0, |stat| stat.size);
                each(path, self.links.get(path).map_or_else(own, |(_, size)| *size));
            }
        }
    }

    /// Returns the paths in the payload that no manifest lists, sorted.
    pub(super) fn unlisted(&self, listed: &Listed) -> Vec<Vec<u8>> {
        let mut known = listed.files().peekable();
        let mut unlisted = Vec::new();
        self.each(|path, _| {
            while known.next_if(|file| file.path() < path).is_some() {}
            if known.peek().is_none_or(|file| file.path() != path) {
                unlisted.push(path.to_vec());
            }
        });
        unlisted
    }

    /// Returns the number of bytes and of files, or `None` if not everything could be listed.
    pub(super) fn totals(&self) -> Option<(u64, u64)> {
        let mut totals = (0_u64, 0);
        self.each(|_, size| totals = (totals.0.saturating_add(size), totals.1 + 1));
        self.is_whole.then_some(totals)
    }
}
