//! Runs commands while a parent directory is exchanged with a link out of the tree: nothing outside may change or leak.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::command::Soak;
use super::figures::Figures;
use super::fixture::{ELSEWHERE_ONLY, Fixture};
use super::process::Ended;
use super::swapper::Swapper;

/// Minimum number of exchanges in all, and of runs of each command.
const SWAPS: u64 = 100_000;
const QUICK_SWAPS: u64 = 1_000;
const ROUNDS: u64 = 50;
const QUICK_ROUNDS: u64 = 2;

/// One command that could follow the link. It runs in the parent of `root`, so paths are relative.
struct Trial {
    name: &'static str,
    /// The commands that prepare the trial, without exchanges, separated by `; `; empty if there are none.
    before: &'static str,
    /// The command that runs while names are exchanged.
    raced: &'static str,
    /// Text that the output must not contain, besides digests of secret content.
    leak: &'static str,
}

const fn trial(name: &'static str, before: &'static str, raced: &'static str) -> Trial {
    Trial { name, before, raced, leak: ELSEWHERE_ONLY }
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
    trial("undo of symlink", "dup prune --action symlink --journal journal --yes root", "dup undo journal"),
    trial(
        "undo of delete",
        "dup prune --action delete --remove-empty-dirs --journal journal --yes root",
        "dup undo journal",
    ),
    trial(
        "undo of quarantine",
        "dup prune --action delete --quarantine away --remove-empty-dirs --journal journal --yes root",
        "dup undo journal",
    ),
    trial(
        "repair",
        "manifest create -o manifest root; dup prune --action delete --remove-empty-dirs --yes root",
        "manifest repair --missing --max-missing 100% --yes --journal journal --from copy root manifest",
    ),
    trial(
        "undo of repair",
        "manifest create -o manifest root; dup prune --action delete --remove-empty-dirs --yes root; \
         manifest repair --missing --max-missing 100% --yes --journal journal --from copy root manifest",
        "undo journal",
    ),
    trial("check", "", "hash --check --json --root root ours.sums"),
    Trial {
        leak: "\"verdict\":\"ok\"",
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
    let (swaps, rounds) =
        if soak.options.common.quick { (QUICK_SWAPS, QUICK_ROUNDS) } else { (SWAPS, ROUNDS) };
    let fixture = Fixture::new(&soak.scratch.path("races"))?;
    let trials: Vec<_> = TRIALS
        .iter()
        .filter_map(|trial| quiet(soak, &fixture, trial, figures).transpose())
        .collect::<Result<_>>()?;
    let begun = Instant::now();
    let (mut swapped, mut round) = (0, 0);
    figures.count("swaps", 0);
    while swapped < swaps || round < rounds {
        if soak.options.limit().is_some_and(|limit| begun.elapsed() >= limit) {
            break;
        }
        for (nth, trial) in trials.iter().enumerate() {
            swapped += raced(soak, &fixture, trial, round << 8 | nth as u64, figures)?;
        }
        round += 1;
    }
    figures.count("swaps", swapped);
    figures.count("rounds", round);
    Ok(())
}

/// Runs the trial without exchanges, and returns it unless this file system does not support it.
fn quiet(
    soak: &Soak,
    fixture: &Fixture,
    trial: &'static Trial,
    figures: &mut Figures,
) -> Result<Option<&'static Trial>> {
    let ended = prepared(soak, fixture, trial)?;
    if ended.code == 2 && trial.name.contains("reflink") {
        figures.skip(format!("{}: not on this file system", trial.name));
        return Ok(None);
    }
    judge(fixture, trial, &ended, "undisturbed", figures)?;
    if ended.code == 2 {
        figures.deviation(format!("{}, undisturbed: {}", trial.name, ended.in_words()));
    }
    Ok(Some(trial))
}

/// Makes the fixture again and runs the trial on it.
fn prepared(soak: &Soak, fixture: &Fixture, trial: &Trial) -> Result<Ended> {
    prepare(soak, fixture, trial)?;
    soak.ftk(fixture.top(), &words(trial.raced))
}

fn prepare(soak: &Soak, fixture: &Fixture, trial: &Trial) -> Result<()> {
    fixture.renew()?;
    for command in trial.before.split("; ").filter(|command| !command.is_empty()) {
        let before = soak.ftk(fixture.top(), &words(command))?;
        ensure!(before.code == 0, "{command}: {}", before.in_words());
    }
    Ok(())
}

/// Runs the trial while names are exchanged, and returns the number of exchanges.
fn raced(soak: &Soak, fixture: &Fixture, trial: &Trial, seed: u64, figures: &mut Figures) -> Result<u64> {
    prepare(soak, fixture, trial)?;
    let [a, b] = fixture.names();
    let swapper = Swapper::start(&a, &b, seed);
    let ended = soak.ftk(fixture.top(), &words(trial.raced));
    let swaps = swapper.stop()?;
    let ended = ended?;
    figures.count(&format!("{}: runs", trial.name), 1);
    // An error means that the command noticed an exchange: without exchanges there are none.
    figures.count(&format!("{}: runs that refused something", trial.name), u64::from(ended.code == 2));
    judge(fixture, trial, &ended, &format!("seed {seed}"), figures)?;
    Ok(swaps)
}

/// Records deviations of a run.
fn judge(fixture: &Fixture, trial: &Trial, ended: &Ended, when: &str, figures: &mut Figures) -> Result<()> {
    let mut deviation = |what: &str| figures.deviation(format!("{}, {when}: {what}", trial.name));
    if !ended.is_orderly() {
        deviation(&ended.in_words());
    }
    for harm in fixture.damage()? {
        deviation(&harm);
    }
    let out = String::from_utf8_lossy(&ended.out);
    if out.contains(trial.leak)
        || trial.leak == ELSEWHERE_ONLY && fixture.secrets().any(|secret| out.contains(secret))
    {
        deviation("its output shows files outside the tree");
    }
    Ok(())
}

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}
