//! The command line of `cargo xtask horrors`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use horrors::{FAMILIES, Place, Scenario};

use super::page::{self, Report};
use crate::bench::build::tested;
use crate::bench::interrupt;
use crate::bench::machine::Machine;
use crate::bench::peers::Peers;
use crate::bench::scratch::Scratch;
use crate::bench::splice::splice;

/// The page with the results.
const PAGE: &str = "docs/horrors.md";

/// Reproduce failures of file tools with ftk and its peers
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Run peers too; DIR is searched first
    #[arg(long, value_name = "DIR")]
    peers: Option<Option<PathBuf>>,
    /// Run only the scenarios of these entries
    #[arg(long, value_name = "N", value_delimiter = ',')]
    only: Vec<u8>,
    /// Update the page; needs --peers and all scenarios
    #[arg(long, requires = "peers", conflicts_with = "only")]
    write: bool,
    /// Show the output of every command
    #[arg(short = 'v')]
    verbose: bool,
    /// The program to judge; by default ftk is built first
    #[arg(long, value_name = "PROGRAM")]
    ftk: Option<PathBuf>,
}

impl Options {
    fn wants(&self, scenario: &Scenario) -> bool {
        self.only.is_empty() || self.only.contains(&scenario.number)
    }
}

/// Runs `cargo xtask horrors`. The status is 1 if ftk fails in any scenario.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    interrupt::watch()?;
    let ftk = match &options.ftk {
        Some(program) => std::path::absolute(program)?,
        None => tested()?,
    };
    let peers = options.peers.as_ref().map_or_else(Peers::none, |folder| Peers::find(folder.as_deref()));
    // Outside the workspace, because the other user may not have access to it.
    let scratch = Scratch::new(&std::env::temp_dir().join("ftk-horrors"), false)?;
    let programs = scratch.path("bin");
    fs::create_dir(&programs)?;
    for (name, path) in [("ftk", &*ftk)].into_iter().chain(peers.iter()) {
        install(path, &programs.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
    }

    let mut report = Report::new(Machine::look(&ftk, &peers)?);
    let mut nth = 0;
    for family in &*FAMILIES {
        for scenario in family.scenarios.iter().filter(|scenario| options.wants(scenario)) {
            println!("{:2}  {}", scenario.number, scenario.title);
            for tool in ["ftk"].into_iter().chain(family.peers.iter().map(String::as_str)) {
                let is_there = tool == "ftk" || peers.get(tool).is_some();
                let Some(lines) = scenario.lines(tool).filter(|_| is_there) else { continue };
                nth += 1;
                let place = Place::new(scratch.path(&format!("{nth}-{tool}")), &programs, interrupt::check)?;
                let outcome = family
                    .run(scenario, &place, lines)
                    .with_context(|| format!("{}, {}, {tool}", scenario.number, scenario.title))?;
                let Some((verdict, seen)) = outcome else {
                    println!("    {tool:11} not run: the file system cannot be mounted");
                    continue;
                };
                let (word, why) = verdict.words();
                println!("    {tool:11} {} {why}", word.trim_matches('*'));
                if options.verbose {
                    for run in &seen.runs {
                        println!("{run}");
                    }
                }
                report.add(scenario, tool, verdict);
            }
        }
    }
    if options.write {
        let old = fs::read_to_string(PAGE).with_context(|| format!("cannot read {PAGE}"))?;
        fs::write(PAGE, splice(&old, "horrors", &page::page(&report))?)?;
        println!("{PAGE} is up to date");
    } else {
        println!("\n{}", page::tables(&report));
    }
    Ok(verdict_of_the_run(&report))
}

fn verdict_of_the_run(report: &Report) -> ExitCode {
    let failures: Vec<_> = report.of("ftk").filter(|(_, verdict)| verdict.is_failure()).collect();
    for (scenario, verdict) in &failures {
        println!("ftk fails {}, {}: {}", scenario.number, scenario.title, verdict.words().1);
    }
    let passed = report.of("ftk").count() - failures.len();
    println!("ftk passes {passed} of {} scenarios", passed + failures.len());
    // A run without a result proves nothing.
    ExitCode::from(u8::from(!failures.is_empty() || passed == 0))
}

/// Puts a program at a path where every user can run it.
fn install(program: &Path, to: &Path) -> std::io::Result<()> {
    let program = program.canonicalize()?;
    fs::hard_link(&program, to).or_else(|_| fs::copy(&program, to).map(drop))
}

#[cfg(test)]
mod tests {
    use horrors::Verdict;

    use super::*;
    use crate::bench::machine;

    #[test]
    fn numbers_choose_scenarios() {
        let options = Options { only: vec![1, 22], ..Options::default() };
        let scenarios = || FAMILIES.iter().flat_map(|family| &family.scenarios);
        assert!(scenarios().filter(|scenario| options.wants(scenario)).all(|s| [1, 22].contains(&s.number)));
        assert!(scenarios().any(|scenario| options.wants(scenario)));
        assert!(scenarios().all(|scenario| Options::default().wants(scenario)));
    }

    #[test]
    fn a_failure_of_ftk_or_an_empty_run_fails() {
        let scenario = &FAMILIES[0].scenarios[0];
        let code = |tool, verdict| {
            let mut report = Report::new(machine::tests::example());
            report.add(scenario, tool, verdict);
            verdict_of_the_run(&report)
        };
        assert_eq!(code("ftk", Verdict::Passes), ExitCode::SUCCESS);
        assert_eq!(code("ftk", Verdict::Hangs(String::new())), ExitCode::from(1));
        assert_eq!(code("fd", Verdict::Passes), ExitCode::from(1));
    }
}
