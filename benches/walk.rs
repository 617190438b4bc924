//! The walker alone with a visitor that only counts, by number of threads; and for comparison a recursion
//! over the standard library's `read_dir`.

use std::fs;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ftk_benches::{Tree, config, is_timed, thread_counts};
use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};

/// Counts entries.
#[derive(Default)]
struct Count(usize);

impl Visitor for Count {
    type Dir = ();

    fn entry(&mut self, dir: Option<&()>, _: &mut Entry<'_>) -> Step {
        self.0 += usize::from(dir.is_some());
        Step::Descend
    }

    fn error(&mut self, error: WalkError) -> Step {
        panic!("{error}");
    }
}

fn walk(criterion: &mut Criterion) {
    let (wide, deep) = if is_timed() { ((1000, 1, 100), (3, 8, 5)) } else { ((10, 1, 3), (2, 4, 3)) };
    for (name, (branches, depth, files)) in [("wide", wide), ("deep", deep)] {
        let tree = Tree::new(branches, depth, files, 0).expect("room for a tree");
        let expected = tree.files + tree.dirs;
        let mut group = criterion.benchmark_group(format!("walk/{name}"));
        group.throughput(Throughput::Elements(expected as u64));
        for threads in thread_counts() {
            group.bench_function(BenchmarkId::new("ftk", threads), |bencher| {
                bencher.iter(|| assert_eq!(walker(tree.path(), threads), expected));
            });
        }
        group.bench_function("read_dir", |bencher| {
            bencher.iter(|| assert_eq!(read_dir(tree.path()), expected));
        });
    }
}

fn walker(top: &Path, threads: usize) -> usize {
    let counts = Walker::new([top]).threads(threads).run(|_| Count::default());
    counts.iter().map(|count| count.0).sum()
}

fn read_dir(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).expect("a directory");
    entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            let is_dir = entry.file_type().expect("a type").is_dir();
            1 + if is_dir { read_dir(&entry.path()) } else { 0 }
        })
        .sum()
}

criterion_group! {
    name = benches;
    config = config();
    targets = walk
}
criterion_main!(benches);
