//! From one file to a million: where each way of working begins to pay.

use std::path::PathBuf;

use anyhow::Result;

use super::hash::xargs;
use crate::bench::answer::Format;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::{Context, Tree};
use crate::bench::record::Section;
use crate::bench::shape::{self, Shape};

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let (shape, counts): (_, &[u64]) = if bench.options.is_quick {
        (shape::SMALL, &[1, 10, 100, 1_000, 10_000])
    } else {
        (shape::LARGE, &[1, 10, 100, 1_000, 10_000, 100_000, 1_000_000])
    };
    let tree = bench.shape(&shape)?;
    println!(" {}", tree.title);
    let groups = counts.iter().map(|&count| {
        let cases = cases(bench, &paths(&shape, &tree, count), count);
        bench.clock().group(&count.to_string(), count, cases)
    });
    Ok(vec![Section {
        title: format!(
            "files of {} bytes, as arguments or in directories of {}",
            shape::FILE_BYTES,
            a_dir(&shape)
        ),
        file_system: tree.file_system.clone(),
        cache: "warm".into(),
        groups: groups.collect::<Result<_>>()?,
    }])
}

fn a_dir(shape: &Shape) -> u64 {
    shape.files() / shape.dirs().len() as u64
}

/// The arguments for so many files: files of the first directory, or whole directories, or the top.
fn paths(shape: &Shape, tree: &Tree, count: u64) -> Vec<PathBuf> {
    let dirs = shape.dirs();
    let taken = count as usize;
    if count == shape.files() {
        vec![tree.path.clone()]
    } else if count <= a_dir(shape) {
        shape.files_in(0, &tree.path.join(&dirs[0])).into_iter().take(taken).collect()
    } else {
        let taken = taken / a_dir(shape) as usize;
        dirs.iter().take(taken).map(|dir| tree.path.join(dir)).collect()
    }
}

fn cases(bench: &Context, paths: &[PathBuf], count: u64) -> Vec<Case> {
    let arguments = || paths.iter().map(|path| path.clone().into_os_string());
    let ftk = |name: &str, options: &[&str]| {
        let mut words = words![&bench.programs.ftk, "hash"];
        words.extend(options.iter().map(|option| option.into()));
        words.extend(arguments());
        Case::new(name, Format::Sums, Pipeline::new(words))
    };
    let mut cases = vec![ftk("ftk", &[]), ftk("ftk -j mono", &["-j", "mono"])];
    if let Some(program) = bench.peers.get("sha256sum") {
        let mut words = words![program];
        words.extend(arguments());
        let tool = "sha256sum";
        cases.push(if count == paths.len() as u64 {
            Case::new(tool, Format::Sums, Pipeline::new(words))
        } else {
            let tops: Vec<_> = paths.iter().map(PathBuf::as_path).collect();
            let program = words![program];
            Case::new(tool, Format::Sums, xargs(&tops, bench.jobs, None, &program))
                .answered_by(xargs(&tops, 1, None, &program))
        });
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_hold_as_many_files_as_asked_for() {
        let tree = Tree {
            title: "x".into(),
            path: "t".into(),
            files: 0,
            file_system: "ext4".into(),
            extensions: vec![],
        };
        let of = |count| paths(&shape::SMALL, &tree, count);
        assert_eq!(of(10).len(), 10);
        assert!(of(1)[0].starts_with("t/dir_0000"));
        assert_eq!(of(100).len(), 100);
        assert_eq!(of(1_000).len(), 10);
        assert_eq!(of(1_000)[9], PathBuf::from("t/dir_0009"));
        assert_eq!(of(10_000), [PathBuf::from("t")]);
    }
}
