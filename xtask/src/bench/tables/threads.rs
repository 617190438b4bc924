//! How commands scale with the number of threads, and which number ftk chooses.

use std::process::Command;

use anyhow::Result;

use super::hash::{FTK, Task};
use super::listing::{FILES, all};
use crate::bench::cache::Cache;
use crate::bench::case::Case;
use crate::bench::context::Context;
use crate::bench::record::{Group, Section};

/// Smallest maximum number of threads. More threads than CPUs show the cost of waiting.
const AT_LEAST: usize = 4;

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let clock = bench.clock();
    let task = Task::new(bench, "sha256", vec![tree.path.clone()], tree.files);
    let (mut find, mut hash) = (Vec::new(), Vec::new());
    for jobs in numbers(bench.jobs) {
        let title = format!("-j {jobs}");
        let commands = all(bench, &tree, &title).with("threads", format!("-j{jobs}"));
        let commands = commands.with("jobs", jobs.to_string());
        find.extend(commands.measure(clock, tree.files, FILES)?);
        let mut task = task.clone();
        task.jobs = jobs;
        let ours = "ftk -j {jobs} hash -a {algorithm} {paths}";
        hash.push(clock.group(&title, tree.files, task.cases(ours, |row| row != task.tool()))?);
    }
    let (_, mut cases) = all(bench, &tree, "auto").group(FILES);
    cases.retain(Case::is_ftk);
    find.push(clock.group("auto", tree.files, cases)?);
    let auto = task.cases(FTK, |_| false);
    let note = auto.first().and_then(plan);
    hash.push(Group { note, ..clock.group("auto", tree.files, auto)? });
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
