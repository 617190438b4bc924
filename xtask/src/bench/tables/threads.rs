//! How commands scale with the number of threads, and which number ftk chooses.

use std::process::Command;

use anyhow::Result;

use super::Algorithm;
use super::find::{self, Scenario};
use super::hashers::Task;
use crate::bench::cache::Cache;
use crate::bench::case::Case;
use crate::bench::context::Context;
use crate::bench::record::{Group, Section};

/// Smallest maximum number of threads. More threads than CPUs show the cost of waiting.
const AT_LEAST: usize = 4;

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let numbers = numbers(bench.jobs);
    let (mut find, mut hash) = (Vec::new(), Vec::new());
    let all = Scenario::plain("all files");
    let sha256 = Algorithm::named("sha256")?;
    let task = Task::new(bench, sha256, &tree.path, tree.files);
    for jobs in numbers {
        let number = jobs.to_string();
        let title = format!("-j {number}");
        find.push(bench.clock().group(
            &title,
            tree.files,
            find::cases(bench, &all, &tree.path, Some(&number)),
        )?);
        let task = Task { jobs, ..task.clone() };
        let mut cases = vec![task.ftk(&["-j", &number]).named("ftk")];
        cases.extend(task.openssl().into_iter().chain(task.hashdeep()));
        hash.push(bench.clock().group(&title, tree.files, cases)?);
    }
    let mut cases = find::cases(bench, &all, &tree.path, None);
    cases.retain(Case::is_ftk);
    find.push(bench.clock().group("auto", tree.files, cases)?);
    let auto = task.ftk(&[]);
    let note = plan(&auto);
    hash.push(Group { note, ..bench.clock().group("auto", tree.files, vec![auto])? });
    let sections = [("find", find), ("hash sha256", hash)].map(|(what, groups)| {
        let section = Section::new(&tree, Cache::Warm, groups);
        Section { title: format!("{what}, {}", section.title), ..section }
    });
    Ok(sections.into())
}

/// Returns 1, 2, 4 and so on up to the number of CPUs, or to [`AT_LEAST`].
fn numbers(cpus: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |number| Some(number * 2))
        .take_while(move |&number| number <= cpus.max(AT_LEAST))
}

/// Returns the plan that `ftk -v` prints.
fn plan(case: &Case) -> Option<String> {
    let (program, args) = case.timed.stages.first()?.split_first()?;
    let output = Command::new(program).arg("-v").args(args).output().ok()?;
    let said = String::from_utf8(output.stderr).ok()?;
    said.lines().find_map(|line| Some(line.strip_prefix("ftk: plan")?.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_up_to_the_cpus_are_tried() {
        assert_eq!(numbers(2).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(numbers(12).collect::<Vec<_>>(), [1, 2, 4, 8]);
        assert_eq!(numbers(16).last(), Some(16));
    }
}
