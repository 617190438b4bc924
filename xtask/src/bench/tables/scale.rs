//! Hashing one file to a million, to see at which size each mode pays off.

use std::path::PathBuf;

use anyhow::Result;

use super::hash::{FTK, Task};
use crate::bench::cache::Cache;
use crate::bench::context::Context;
use crate::bench::record::Section;
use crate::bench::shape::Shape;
use crate::bench::tree::Tree;

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let shape = bench.many();
    let tree = bench.shape(&shape)?;
    println!(" {}", tree.title);
    let ours = format!("{FTK}\n[ftk -j mono] ftk -j mono hash -a {{algorithm}} {{paths}}");
    let mut groups = Vec::new();
    let mut files = 1;
    while files <= shape.files() {
        let task = Task::new(bench, "sha256", paths(&shape, &tree, files), files);
        let cases = task.cases(&ours, |row| row == task.tool());
        groups.push(bench.clock().group(&files.to_string(), files, cases)?);
        files *= 10;
    }
    let title = format!("files as arguments, or in directories of {}: {shape}", a_dir(&shape));
    Ok(vec![Section { title, ..Section::new(&tree, Cache::Warm, groups) }])
}

fn a_dir(shape: &Shape) -> u64 {
    shape.files() / shape.dirs().len() as u64
}

/// Returns the arguments for `count` files: files of the first directory, whole directories, or the top.
fn paths(shape: &Shape, tree: &Tree, count: u64) -> Vec<PathBuf> {
    let dirs = shape.dirs();
    let files = count as usize;
    if count == shape.files() {
        vec![tree.path.clone()]
    } else if count <= a_dir(shape) {
        shape.files_in(0, &tree.path.join(&dirs[0])).into_iter().take(files).collect()
    } else {
        let whole = files / a_dir(shape) as usize;
        dirs.iter().take(whole).map(|dir| tree.path.join(dir)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::shape;
    use crate::bench::tree::tests::example;

    #[test]
    fn arguments_contain_the_requested_number_of_files() {
        let of = |count| paths(&shape::SMALL, &example(), count);
        assert_eq!(of(10).len(), 10);
        assert!(of(1)[0].starts_with("t/dir_0000"));
        assert_eq!(of(100).len(), 100);
        assert_eq!(of(1_000).len(), 10);
        assert_eq!(of(1_000)[9], PathBuf::from("t/dir_0009"));
        assert_eq!(of(10_000), [PathBuf::from("t")]);
    }
}
