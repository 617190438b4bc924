//! Groups of commands, held against each other and then timed in turn.

use std::path::Path;

use anyhow::{Context, Result};

use super::answer::Answer;
use super::cache::Cache;
use super::case::{Case, Pipeline};
use super::context::Roles;
use super::record::{Group, Outcome, Row};
use super::stats::Summary;
use super::{interrupt, peak};

/// Groups that need less than this for all their tools, in milliseconds, are run more often.
const SHORT_MS: f64 = 100.0;
/// How much more often: start-up times scatter more than they differ.
const SHORT_TIMES: usize = 8;

/// What is read off a run.
#[derive(Clone, Copy)]
pub(crate) enum Quantity<'p> {
    /// Milliseconds.
    Time,
    /// KiB, measured by the helper program.
    Memory { helper: &'p Path },
}

/// How groups are measured.
#[derive(Clone, Copy)]
pub(crate) struct Meter<'p> {
    pub(crate) quantity: Quantity<'p>,
    pub(crate) cache: Cache,
    pub(crate) runs: usize,
    pub(crate) roles: &'p Roles,
}

impl Meter<'_> {
    /// Compares the answers with that of the first case that is not ftk, and measures those that agree.
    ///
    /// # Errors
    /// An interruption. A tool that fails is an outcome.
    pub(crate) fn group(&self, title: &str, files: u64, cases: Vec<Case>) -> Result<Group> {
        println!("  {title}: {}", cases.iter().map(|case| &*case.tool).collect::<Vec<_>>().join(", "));
        let mut verdicts = compare(&cases)?;
        let mut runs = vec![Vec::new(); cases.len()];
        let mut rounds = self.runs;
        let mut round = 0;
        while round < rounds {
            for ((case, verdict), runs) in cases.iter().zip(&mut verdicts).zip(&mut runs) {
                if verdict.is_none() {
                    interrupt::check()?;
                    self.cache.prepare()?;
                    match self.once(&case.timed) {
                        Ok(value) => runs.push(value),
                        Err(error) => *verdict = Some(Outcome::Failed(format!("{error:#}"))),
                    }
                }
            }
            round += 1;
            if round == 1 && self.is_short(&runs) {
                rounds *= SHORT_TIMES;
            }
        }
        let rows = cases.into_iter().zip(verdicts).zip(runs).map(|((case, verdict), runs)| Row {
            command: self.roles.show(&case.timed),
            tool: case.tool,
            outcome: match verdict {
                Some(Outcome::Differs(why)) => Outcome::Differs(self.roles.hide(&why)),
                Some(Outcome::Failed(why)) => Outcome::Failed(self.roles.hide(&why)),
                _ => measured(runs),
            },
        });
        Ok(Group { title: title.to_owned(), files, rows: rows.collect() })
    }

    fn is_short(&self, runs: &[Vec<f64>]) -> bool {
        matches!((self.quantity, self.cache), (Quantity::Time, Cache::Warm))
            && runs.iter().flatten().sum::<f64>() < SHORT_MS
    }

    fn once(&self, pipeline: &Pipeline) -> Result<f64> {
        match self.quantity {
            Quantity::Time => Ok(pipeline.time()?.as_secs_f64() * 1e3),
            Quantity::Memory { helper } => {
                let words = pipeline.stages.first().context("a pipeline has processes")?;
                let output = Pipeline::new(peak::wrap(helper, words)).output()?;
                Ok(std::str::from_utf8(&output)?.trim().parse()?)
            }
        }
    }
}

fn measured(runs: Vec<f64>) -> Outcome {
    let runs: Vec<f64> = runs.into_iter().map(|run| (run * 1e3).round() / 1e3).collect();
    let median = Summary::of(&runs).map_or(0.0, |summary| summary.median);
    Outcome::Measured { median: (median * 1e3).round() / 1e3, runs }
}

/// What is wrong with each answer. The reference is the first of a peer, or without peers ftk's own first.
fn compare(cases: &[Case]) -> Result<Vec<Option<Outcome>>> {
    let mut reference: Option<(usize, Answer)> = None;
    let mut verdicts: Vec<Option<Outcome>> = cases.iter().map(|_| None).collect();
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|&nth| cases[nth].is_ftk());
    for nth in order {
        interrupt::check()?;
        verdicts[nth] = match (cases[nth].answer(), &reference) {
            (Err(error), _) => Some(Outcome::Failed(format!("{error:#}"))),
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
        println!("    {} lines, says {}", answer.lines(), cases[nth].tool);
    }
    for (case, verdict) in cases.iter().zip(&verdicts) {
        match verdict {
            Some(Outcome::Differs(why)) => println!("    {} gives another answer: {why}", case.tool),
            Some(Outcome::Failed(why)) => println!("    {} failed: {why}", case.tool),
            _ => {}
        }
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::answer::Format;
    use crate::bench::case::words;

    fn echo(tool: &str, text: &str) -> Case {
        Case::new(tool, Format::Lines, Pipeline::new(words!["echo", text]))
    }

    #[test]
    fn peers_decide_what_is_right() {
        let failing = Case::new("bad", Format::Lines, Pipeline::new(words!["false"]));
        let verdicts =
            compare(&[echo("ftk", "x"), failing, echo("find", "y"), echo("fd", "y"), echo("ftk -j 1", "y")])
                .unwrap();
        assert!(matches!(&verdicts[0], Some(Outcome::Differs(why)) if why.contains("find has 1")));
        assert!(matches!(verdicts[1], Some(Outcome::Failed(_))));
        assert_eq!(verdicts[2..], [None, None, None]);
    }

    #[test]
    fn without_peers_ftk_is_held_against_itself() {
        let verdicts = compare(&[echo("ftk", "x"), echo("ftk --io sync", "y")]).unwrap();
        assert_eq!(verdicts[0], None);
        assert!(matches!(verdicts[1], Some(Outcome::Differs(_))));
    }

    #[test]
    fn only_right_answers_are_timed() {
        let roles = Roles::default();
        let meter = Meter { quantity: Quantity::Time, cache: Cache::Warm, runs: 2, roles: &roles };
        let group = meter.group("echo", 1, vec![echo("ftk", "y"), echo("a", "y"), echo("b", "z")]).unwrap();
        let counts: Vec<_> = group
            .rows
            .iter()
            .map(|row| match &row.outcome {
                Outcome::Measured { runs, .. } => runs.len(),
                _ => 0,
            })
            .collect();
        assert!(counts[0] >= 2 && counts[0] == counts[1] && counts[2] == 0, "{counts:?}");
        assert_eq!(group.rows[0].command, "echo y");
    }
}
