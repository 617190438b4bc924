//! A tree on disk, the identical files in it, and the result of the funnel.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{Collect, FileNo, Inventory, Keep};
use ftk_process::{Resources, process};
use ftk_sched::{Backend, Constants, Limits, Model, Stop, Threads};
use ftk_walk::{Follow, Walker};

use crate::find::find_with;
use crate::pass::Thresholds;
use crate::{Found, Funnel, Groups, Pass, Stage};

/// A size, and the names of each file.
pub(super) type Listed = (u64, Vec<Vec<PathBuf>>);

/// The names of files, by device and inode number.
type Names = BTreeMap<(u64, u64), Vec<PathBuf>>;

pub(super) struct Tree(pub(super) tempfile::TempDir);

/// Settings that must not affect the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) algorithm: Algorithm,
    pub(super) threads: Threads,
    pub(super) backend: Backend,
}

impl Default for Settings {
    fn default() -> Self {
        Self { algorithm: Algorithm::Xxh128, threads: Threads::Fixed(2), backend: Backend::Sync }
    }
}

/// Thresholds small enough for hundreds of test trees.
pub(super) const SMALL: Thresholds = Thresholds { whole: 64, piece: 16, pieces: 5, huge: 400 };

impl Tree {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(super) fn link(&self, from: &str, to: &str) {
        let path = self.path(to);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::hard_link(self.path(from), path).unwrap();
    }

    pub(super) fn inventory(&self) -> Inventory {
        self.walked(Follow::Never)
    }

    pub(super) fn walked(&self, follow: Follow) -> Inventory {
        let walker = Walker::new([self.0.path()]).threads(1).follow(follow);
        Inventory::merge(walker.run(|worker| Collect::new(worker, Keep::Sizes))).unwrap()
    }

    /// Returns all files of at least `min_size` that have an identical copy, in the order of a report.
    pub(super) fn really_equal(&self, min_size: u64) -> Vec<Listed> {
        let mut contents = BTreeMap::<Vec<u8>, Names>::new();
        let mut dirs = vec![self.0.path().to_path_buf()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let stat = fs::symlink_metadata(&path).unwrap();
                if stat.is_dir() {
                    dirs.push(path);
                } else if stat.is_file() && stat.len() >= min_size {
                    let files = contents.entry(fs::read(&path).unwrap()).or_default();
                    files.entry((stat.dev(), stat.ino())).or_default().push(path);
                }
            }
        }
        let group = |(content, files): (Vec<u8>, Names)| {
            let mut clusters: Vec<_> = files.into_values().collect();
            clusters.iter_mut().for_each(|names| names.sort_by(|a, b| bytes(a).cmp(bytes(b))));
            clusters.sort_by(|a, b| bytes(&a[0]).cmp(bytes(&b[0])));
            (content.len() as u64, clusters)
        };
        let mut groups: Vec<Listed> =
            contents.into_iter().map(group).filter(|(_, clusters)| clusters.len() > 1).collect();
        groups.sort_by(|a, b| {
            let key = |(size, clusters): &Listed| Reverse(size * (clusters.len() as u64 - 1));
            key(a).cmp(&key(b)).then_with(|| bytes(&a.1[0][0]).cmp(bytes(&b.1[0][0])))
        });
        groups
    }
}

/// Returns the bytes of a path, which define the order. `Path` itself compares component by component.
fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Runs the funnel, and calls `before` before each stage.
pub(super) fn run<'i>(
    inventory: &'i Inventory,
    settings: Settings,
    min_size: u64,
    thresholds: &Thresholds,
    mut before: impl FnMut(&Stage<'_>),
) -> Found<'i> {
    let Settings { algorithm, threads, backend } = settings;
    let (model, stop) = (Model::new(Constants::default()), Stop::new());
    let limits = Limits { threads, backend: Some(backend), ring: true, cpus: 4 };
    let resources =
        Resources { model: &model, limits, memory: 64 << 20, stop: &stop, watch: None, cache: None };
    let funnel = Funnel { inventory, algorithm, platform: Platform::detect(), sizes: min_size..=u64::MAX };
    let Ok(found) = find_with(&funnel, thresholds, |stage, rows| {
        before(stage);
        Ok::<_, Infallible>(process(&stage.work, rows, &resources))
    });
    assert_eq!(found.pending, 0);
    found
}

pub(super) fn listed(inventory: &Inventory, groups: &Groups) -> Vec<Listed> {
    let path = |&file: &FileNo| path(inventory, file);
    let names = |cluster: &[FileNo]| cluster.iter().map(path).collect();
    groups.iter().map(|group| (group.size, group.clusters().map(names).collect())).collect()
}

pub(super) fn path(inventory: &Inventory, file: FileNo) -> PathBuf {
    OsString::from_vec(inventory.path(file)).into()
}

/// Returns the groups of the tree, and each pass with its number of files.
pub(super) fn groups(
    tree: &Path,
    inventory: &Inventory,
    thresholds: &Thresholds,
) -> (Vec<Vec<String>>, Vec<(Pass, u32)>) {
    let mut passes = Vec::new();
    let found = run(inventory, Settings::default(), 1, thresholds, |stage| {
        passes.push((stage.pass, stage.work.files()));
    });
    assert!(found.failed.is_empty());
    let name = |path: &PathBuf| path.strip_prefix(tree).unwrap().to_str().unwrap().to_owned();
    let groups = listed(inventory, &found.into_groups());
    let names = groups.iter().map(|(_, clusters)| clusters.iter().flatten().map(name).collect());
    (names.collect(), passes)
}
