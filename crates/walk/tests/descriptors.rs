//! Walks with few descriptors. This is the only test of its process, because it lowers the process's limit.
//! The portable listing duplicates a descriptor for each directory, so this holds on Linux only.
#![cfg(all(target_os = "linux", not(feature = "portable")))]

use std::fs::{self, File};
use std::path::Path;

use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[derive(Default)]
struct Count {
    entries: usize,
    errors: Vec<WalkError>,
}

impl Visitor for Count {
    type Dir = ();
    fn entry(&mut self, dir: Option<&()>, _: &mut Entry<'_>) -> Step {
        self.entries += usize::from(dir.is_some());
        Step::Descend
    }
    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }
}

fn count(root: &Path, threads: usize) -> usize {
    let counts = Walker::new([root]).threads(threads).run(|_| Count::default());
    if let Some(error) = counts.iter().flat_map(|count| &count.errors).next() {
        panic!("{error}: {}", error.source);
    }
    counts.iter().map(|count| count.entries).sum()
}

#[test]
fn few_descriptors_are_enough() {
    let dir = tempfile::tempdir().unwrap();
    let mut deep = dir.path().to_path_buf();
    for level in 0..150 {
        deep.push(format!("level-{level}"));
        fs::create_dir(&deep).unwrap();
        for sibling in ["a/b", "c/d", "e"] {
            fs::create_dir_all(deep.join(sibling)).unwrap();
        }
    }
    let entries = 150 * 6;
    let before = getrlimit(Resource::Nofile);
    let limit = |current| {
        setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: before.maximum }).unwrap();
    };

    limit(16);
    for threads in [1, 2, 8] {
        for _ in 0..10 {
            assert_eq!(count(dir.path(), threads), entries);
        }
    }

    // Parts of directories are opened again if necessary.
    for threads in [2, 8] {
        let counts = Walker::new([dir.path()]).threads(threads).fold(
            || 0,
            |count, entry| {
                entry.unwrap();
                std::thread::sleep(std::time::Duration::from_micros(50));
                *count += 1;
                Step::Descend
            },
        );
        assert_eq!(counts.iter().sum::<usize>(), entries + 1);
    }

    // The limit is higher, but only four descriptors are free.
    limit(100);
    let mut in_use: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    in_use.truncate(in_use.len() - 4);
    assert_eq!(count(dir.path(), 1), entries);

    limit(before.current.unwrap_or(1024));
}
