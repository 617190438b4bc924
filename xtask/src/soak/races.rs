//! While somebody exchanges a parent directory with a link to elsewhere, nothing elsewhere changes or is told of.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::command::Soak;
use super::figures::Figures;
use super::ground::{ELSEWHERE_ONLY, Ground};
use super::process::Ended;
use super::swapper::Swapper;

/// How many exchanges there are in all, and how often each command runs, at least.
const SWAPS: u64 = 100_000;
const QUICK_SWAPS: u64 = 1_000;
const ROUNDS: u64 = 50;
const QUICK_ROUNDS: u64 = 2;

/// One way to be led astray. Everything runs beside `root`, so paths are relative.
struct Trial {
    name: &'static str,
    /// What is run while all is quiet.
    before: &'static str,
    /// What is run while names are exchanged.
    raced: &'static str,
    /// What would tell of elsewhere in its output, beside the digests of secrets.
    told: &'static str,
}

const fn trial(name: &'static str, before: &'static str, raced: &'static str) -> Trial {
    Trial { name, before, raced, told: ELSEWHERE_ONLY }
}

const TRIALS: &[Trial] = &[
    trial("prune hardlink", "", "dup prune --action hardlink --yes root"),
    trial("prune symlink", "", "dup prune --action symlink --yes root"),
    trial("prune reflink", "", "dup prune --action reflink --yes root"),
    trial("prune delete", "", "dup prune --action delete --yes root"),
    trial("prune quarantine", "", "dup prune --action delete --quarantine away --yes root"),
    trial("prune move", "", "dup prune --action move=away --yes root"),
    trial("apply hardlink", "dup --json -o report root", "dup apply report --action hardlink --yes"),
    trial("apply delete", "dup --json -o report root", "dup apply report --action delete --yes"),
    trial("undo", "dup prune --action hardlink --journal journal --yes root", "dup undo journal"),
    trial("check", "", "hash --check --json --root root ours.sums"),
    Trial {
        told: "\"verdict\":\"ok\"",
        ..trial("check of secrets", "", "hash --check --json --root root theirs.sums")
    },
    trial("hash", "", "hash root"),
    trial("hash, four workers", "", "hash -j 4 root"),
    trial("find", "", "find root"),
    trial("manifest create", "", "manifest create root"),
    trial("manifest verify", "manifest create -o manifest root", "manifest verify --json root manifest"),
    trial("manifest update", "manifest create -o manifest root", "manifest update root manifest"),
];

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let (swaps, rounds) = if soak.options.is_quick { (QUICK_SWAPS, QUICK_ROUNDS) } else { (SWAPS, ROUNDS) };
    let ground = Ground::new(&soak.scratch.path("races"))?;
    let trials: Vec<_> = TRIALS
        .iter()
        .filter_map(|trial| quiet(soak, &ground, trial, figures).transpose())
        .collect::<Result<_>>()?;
    let begun = Instant::now();
    let (mut swapped, mut round) = (0, 0);
    figures.count("swaps", 0);
    while swapped < swaps || round < rounds {
        if soak.options.limit.is_some_and(|limit| begun.elapsed() >= limit) {
            break;
        }
        for (nth, trial) in trials.iter().enumerate() {
            swapped += raced(soak, &ground, trial, round << 8 | nth as u64, figures)?;
        }
        round += 1;
    }
    figures.count("swaps", swapped);
    figures.count("rounds", round);
    Ok(())
}

/// The trial, if it does its work where nobody interferes.
fn quiet(
    soak: &Soak,
    ground: &Ground,
    trial: &'static Trial,
    figures: &mut Figures,
) -> Result<Option<&'static Trial>> {
    let ended = prepared(soak, ground, trial)?;
    if ended.code == 2 && trial.name.contains("reflink") {
        figures.skip(format!("{}: not on this file system", trial.name));
        return Ok(None);
    }
    judge(ground, trial, &ended, "undisturbed", figures)?;
    if ended.code == 2 {
        figures.deviation(format!("{}, undisturbed: {}", trial.name, ended.in_words()));
    }
    Ok(Some(trial))
}

/// Makes the ground anew and runs the trial on it.
fn prepared(soak: &Soak, ground: &Ground, trial: &Trial) -> Result<Ended> {
    prepare(soak, ground, trial)?;
    soak.ftk(ground.top(), &words(trial.raced))
}

fn prepare(soak: &Soak, ground: &Ground, trial: &Trial) -> Result<()> {
    ground.renew()?;
    if !trial.before.is_empty() {
        let before = soak.ftk(ground.top(), &words(trial.before))?;
        ensure!(before.code == 0, "{}: {}", trial.before, before.in_words());
    }
    Ok(())
}

/// Runs the trial while names are exchanged, and says how often they were.
fn raced(soak: &Soak, ground: &Ground, trial: &Trial, seed: u64, figures: &mut Figures) -> Result<u64> {
    prepare(soak, ground, trial)?;
    let [a, b] = ground.names();
    let swapper = Swapper::start(&a, &b, seed);
    let ended = soak.ftk(ground.top(), &words(trial.raced));
    let swaps = swapper.stop()?;
    let ended = ended?;
    figures.count(&format!("{}: runs", trial.name), 1);
    // An error here is a swap that was met: undisturbed, there is none.
    figures.count(&format!("{}: runs that refused something", trial.name), u64::from(ended.code == 2));
    judge(ground, trial, &ended, &format!("seed {seed}"), figures)?;
    Ok(swaps)
}

/// Notes what must not have happened.
fn judge(ground: &Ground, trial: &Trial, ended: &Ended, when: &str, figures: &mut Figures) -> Result<()> {
    let mut deviation = |what: &str| figures.deviation(format!("{}, {when}: {what}", trial.name));
    if !ended.is_orderly() {
        deviation(&ended.in_words());
    }
    for harm in ground.damage()? {
        deviation(&harm);
    }
    let out = String::from_utf8_lossy(&ended.out);
    if out.contains(trial.told)
        || trial.told == ELSEWHERE_ONLY && ground.secrets().any(|secret| out.contains(secret))
    {
        deviation("its output tells of elsewhere");
    }
    Ok(())
}

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}
