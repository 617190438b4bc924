//! Compares the results of a group of commands, then times them in turn.

use std::path::Path;

use anyhow::Result;

use super::answer::Answer;
use super::cache::Cache;
use super::case::Case;
use super::interrupt;
use super::once::{self, Run};
use super::record::{Group, Outcome, Row};
use super::roles::Roles;

/// A group is run more often if one run of all its tools takes less than this, in milliseconds.
const SHORT_MS: f64 = 100.0;
/// Factor for such groups, because start-up times vary more than they differ.
const SHORT_TIMES: usize = 8;

/// How groups are measured.
#[derive(Clone, Copy)]
pub(crate) struct Meter<'p> {
    /// The program that runs one command.
    pub(crate) helper: &'p Path,
    pub(crate) cache: Cache,
    pub(crate) runs: usize,
    /// Whether short commands are run more often.
    pub(crate) repeats_short: bool,
    pub(crate) roles: &'p Roles,
    /// This ftk and an earlier one, which runs the same commands in turn.
    pub(crate) earlier: Option<[&'p Path; 2]>,
}

impl Meter<'_> {
    /// Compares the results with that of the first case that is not ftk, and measures the commands that agree.
    ///
    /// # Errors
    /// After an interrupt. A tool that fails is an outcome.
    pub(crate) fn group(&self, title: &str, files: u64, mut cases: Vec<Case>) -> Result<Group> {
        if let Some([ftk, earlier]) = self.earlier {
            let ours = cases.iter().filter(|case| case.is_ftk());
            let earlier: Vec<_> = ours.map(|case| case.with_earlier(ftk, earlier)).collect();
            cases.extend(earlier);
        }
        println!("  {title}: {}", cases.iter().map(|case| &*case.tool).collect::<Vec<_>>().join(", "));
        let mut verdicts = compare(&cases)?;
        let mut runs: Vec<Vec<Run>> = vec![Vec::new(); cases.len()];
        let mut rounds = self.runs;
        let mut round = 0;
        while round < rounds {
            for ((case, verdict), runs) in cases.iter().zip(&mut verdicts).zip(&mut runs) {
                if verdict.is_none() {
                    case.prepare()?;
                    self.cache.prepare()?;
                    let run = once::measure(self.helper, &case.timed);
                    interrupt::check()?; // checked first, because an interrupt may have made the command fail
                    match run {
                        Ok(run) => runs.push(run),
                        Err(error) => *verdict = Some(Outcome::Failed(format!("{error:#}"))),
                    }
                }
            }
            round += 1;
            if round == 1 && self.repeats_short && self.is_short(&runs) {
                rounds *= SHORT_TIMES;
            }
        }
        let rows = cases.into_iter().zip(verdicts).zip(runs).map(|((case, verdict), runs)| Row {
            command: self.roles.show(&case.timed),
            tool: case.tool,
            outcome: match verdict {
                Some(Outcome::Differs(why)) => Outcome::Differs(self.roles.hide(&why)),
                Some(Outcome::Failed(why)) => Outcome::Failed(self.roles.hide(&why)),
                _ => measured(&runs),
            },
        });
        Ok(Group { title: title.to_owned(), files, note: None, rows: rows.collect() })
    }

    fn is_short(&self, runs: &[Vec<Run>]) -> bool {
        let total: f64 = runs.iter().flatten().map(|run| run.milliseconds).sum();
        self.cache == Cache::Warm && total < SHORT_MS
    }
}

/// Returns the times, the CPU time, and the largest memory of all runs.
fn measured(runs: &[Run]) -> Outcome {
    let memory_kib = runs.iter().map(|run| run.memory_kib).max().unwrap_or(0);
    let outcome = Outcome::measured(runs.iter().map(|run| run.milliseconds), memory_kib);
    outcome.with_cpu(runs.iter().map(|run| run.cpu_ms))
}

/// Returns the fault of each result, except those of lower bounds, which only must succeed. The reference is the first
/// result of a peer, or without peers the first of ftk.
fn compare(cases: &[Case]) -> Result<Vec<Option<Outcome>>> {
    let mut reference: Option<(usize, Answer)> = None;
    let mut verdicts: Vec<Option<Outcome>> = cases.iter().map(|_| None).collect();
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|&nth| (cases[nth].is_earlier(), cases[nth].is_ftk()));
    for nth in order {
        let answer = cases[nth].answer();
        interrupt::check()?; // checked first, because an interrupt may have made the command fail
        verdicts[nth] = match (answer, &reference) {
            (Err(error), _) => Some(Outcome::Failed(format!("{error:#}"))),
            _ if cases[nth].is_bound => None,
            (Ok(answer), None) => {
                reference = Some((nth, answer));
                None
            }
            (Ok(answer), Some((whose, reference))) => {
                answer.difference(reference, &cases[*whose].tool).map(Outcome::Differs)
            }
        };
    }
    if let Some((nth, answer)) = reference {
        println!("    {} lines according to {}", answer.lines(), cases[nth].tool);
    }
    for (case, verdict) in cases.iter().zip(&verdicts) {
        match verdict {
            Some(Outcome::Differs(why)) => println!("    {} gives a different result: {why}", case.tool),
            Some(Outcome::Failed(why)) => println!("    {} failed: {why}", case.tool),
            _ => {}
        }
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::bench::answer::Format;
    use crate::bench::case::{Pipeline, words};

    fn echo(tool: &str, text: &str) -> Case {
        Case::new(tool, Format::Lines, Pipeline::new(words!["echo", text]))
    }

    #[test]
    fn a_peer_is_the_reference() {
        let failing = Case::new("bad", Format::Lines, Pipeline::new(words!["false"]));
        let verdicts =
            compare(&[echo("ftk", "x"), failing, echo("find", "y"), echo("fd", "y"), echo("ftk -j 1", "y")])
                .unwrap();
        assert!(matches!(&verdicts[0], Some(Outcome::Differs(why)) if why.contains("find has 1")));
        assert!(matches!(verdicts[1], Some(Outcome::Failed(_))));
        assert_eq!(verdicts[2..], [None, None, None]);
    }

    #[test]
    fn without_peers_ftk_is_compared_with_itself() {
        let verdicts = compare(&[echo("ftk", "x"), echo("ftk --io sync", "y")]).unwrap();
        assert_eq!(verdicts[0], None);
        assert!(matches!(verdicts[1], Some(Outcome::Differs(_))));
    }

    #[test]
    fn results_of_lower_bounds_are_not_compared() {
        let mut bound = echo("find", "z");
        let mut failing = Case::new("bad", Format::Lines, Pipeline::new(words!["false"]));
        (bound.is_bound, failing.is_bound) = (true, true);
        let verdicts = compare(&[bound, echo("ftk", "x"), echo("fd", "x"), failing]).unwrap();
        assert_eq!(verdicts[..3], [None, None, None]);
        assert!(matches!(verdicts[3], Some(Outcome::Failed(_))));
    }

    #[test]
    fn only_right_results_are_timed() {
        let folder = tempfile::tempdir().unwrap();
        let helper = folder.path().join("helper");
        std::fs::write(&helper, "#!/bin/sh\necho 4.5 7.25 1234\n").unwrap();
        std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o700)).unwrap();
        let roles = Roles::default();
        let earlier = Some(["echo", "printf"].map(Path::new));
        let meter = Meter {
            helper: &helper,
            cache: Cache::Warm,
            runs: 2,
            repeats_short: false,
            roles: &roles,
            earlier,
        };
        let group = meter.group("echo", 1, vec![echo("ftk", "y"), echo("a", "y"), echo("b", "z")]).unwrap();
        let measured =
            Outcome::Measured { median: 4.5, runs: vec![4.5; 2], cpu_ms: Some(7.25), memory_kib: 1234 };
        assert_eq!(group.rows[0].outcome, measured);
        assert_eq!(group.rows[1].outcome, measured);
        assert!(matches!(group.rows[2].outcome, Outcome::Differs(_)));
        assert_eq!(group.rows[0].command, "echo y");
        assert_eq!((&*group.rows[3].tool, &*group.rows[3].command), ("earlier: ftk", "printf y"));
        assert_eq!(group.rows[3].outcome, measured);
        assert_eq!(group.rows.len(), 4);
    }

    #[test]
    fn short_commands_are_run_more_often() {
        let roles = Roles::default();
        let helper = Path::new("");
        let (cache, earlier) = (Cache::Warm, None);
        let meter = Meter { helper, cache, runs: 2, repeats_short: true, roles: &roles, earlier };
        let run = |milliseconds| vec![Run { milliseconds, cpu_ms: 0.0, memory_kib: 0 }];
        assert!(meter.is_short(&[run(SHORT_MS / 3.0), run(SHORT_MS / 2.0)]));
        assert!(!meter.is_short(&[run(SHORT_MS / 2.0), run(SHORT_MS / 2.0)]));
        assert!(!Meter { cache: Cache::Cold, ..meter }.is_short(&[run(1.0)]));
    }
}
