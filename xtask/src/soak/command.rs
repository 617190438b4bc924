//! The command line of `cargo xtask soak`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use super::figures::Figures;
use super::options::Options;
use super::record::{self, Outcome};
use crate::bench::build::{Programs, RELEASE};
use crate::bench::interrupt;
use crate::bench::machine::Machine;
use crate::bench::peers::Peers;
use crate::bench::roles::Roles;
use crate::bench::scratch::Scratch;

/// The context of every part.
pub(super) struct Soak {
    pub(super) options: Options,
    /// The program under test.
    pub(super) ftk: PathBuf,
    /// This program, which also serves as the helper that measures memory.
    pub(super) helper: PathBuf,
    pub(super) peers: Peers,
    pub(super) scratch: Scratch,
}

/// Runs `cargo xtask soak`. The status is 1 if a part found a deviation.
pub(crate) fn run(options: Options) -> Result<ExitCode> {
    interrupt::watch()?;
    let ftk = match &options.ftk {
        Some(ftk) => ftk.canonicalize().with_context(|| format!("no {}", ftk.display()))?,
        None => Programs::build(RELEASE)?.ftk,
    };
    let peers = Peers::find(options.common.peers.as_deref());
    let machine = Machine::look(&ftk, &peers)?;
    let scratch = Scratch::new(options.common.scratch("target/soak"), options.common.keep)?;
    let soak = Soak { ftk, helper: std::env::current_exe()?, peers, scratch, options };
    let mut roles = Roles::default();
    roles.add(&soak.ftk, "ftk");
    roles.add(&soak.scratch.path(""), "$SCRATCH/");
    let mut is_ok = true;
    for part in soak.options.parts() {
        println!("{}: {}", part.name, part.title);
        let (begun, mut figures) = (Instant::now(), Figures::default());
        (part.run)(&soak, &mut figures).with_context(|| format!("part {}", part.name))?;
        let seconds = begun.elapsed().as_secs_f64().round();
        for count in &figures.counts {
            println!("  {:>12} {}", count.n, count.what);
        }
        println!("  {} deviations, {seconds} s", figures.deviations);
        is_ok &= figures.deviations == 0;
        figures.hide(&roles);
        if !soak.options.common.quick {
            let (name, title, ftk) = (part.name.to_owned(), part.title.to_owned(), machine.ftk.clone());
            let folder = soak.options.common.records.join(machine.slug());
            // Written now, because the next part may take hours and fail.
            record::add(&folder, &machine, Outcome { name, title, ftk, seconds, figures })?;
            println!("  the record is in {}", folder.display());
        }
    }
    Ok(if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
