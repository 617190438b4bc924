//! Runs each fuzz target for a minute with libFuzzer.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, ensure};

use crate::{ci, deny};

/// The seconds for each target.
const SECONDS: u32 = 60;

/// The flags with which cargo-fuzz makes the compiler report coverage, without a sanitizer. They need no nightly toolchain.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// The lines that are shown of the output of a target that fails.
const LAST_LINES: usize = 30;

/// Builds all targets, runs as many at a time as there are CPUs, and returns whether no input failed.
pub(crate) fn is_clean() -> Result<bool> {
    let home = std::path::absolute(ci::target_dir().join("fuzz"))?;
    let host = deny::host()?;
    let programs = build(&home, &host)?;
    let found = home.join("found");
    let mut names = Vec::new();
    for entry in fs::read_dir("fuzz/corpus")? {
        names.push(entry?.file_name().into_string().ok().context("names of targets are UTF-8")?);
    }
    names.sort_unstable_by(|a, b| b.cmp(a)); // taken from the end
    let names = Mutex::new(names);
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let work = || -> Result<bool> {
            let mut is_clean = true;
            loop {
                let Some(name) = names.lock().expect("no thread panics").pop() else { return Ok(is_clean) };
                is_clean &= search(&programs, &name, &found)?;
            }
        };
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut is_clean = true;
        for thread in threads {
            is_clean &= thread.join().expect("no thread panics")?;
        }
        Ok(is_clean)
    })
}

/// Builds the programs of all targets and returns their directory.
fn build(home: &Path, host: &str) -> Result<PathBuf> {
    // With `--target`, the flags do not apply to build scripts.
    let mut build =
        ci::cargo("build --locked --release --package ftk-fuzz --features libfuzzer --bins --target");
    build.arg(host).env("CARGO_TARGET_DIR", home).env("RUSTFLAGS", COVERAGE);
    build.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    build.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    ensure!(build.status()?.success(), "the fuzz targets do not build");
    Ok(home.join(host).join("release"))
}

/// Runs one target on its committed inputs and those of earlier runs, and prints the result. New inputs stay in a folder
/// in `found`, and one that fails next to it.
fn search(programs: &Path, name: &str, found: &Path) -> Result<bool> {
    let new = found.join(name);
    fs::create_dir_all(&new)?;
    let mut run = Command::new(programs.join(name));
    run.arg(new).arg(Path::new("fuzz/corpus").join(name));
    run.args([format!("-max_total_time={SECONDS}"), format!("-artifact_prefix={}/{name}-", found.display())]);
    run.args(["-timeout=10", "-rss_limit_mb=2048"]);
    let output = run.output().with_context(|| format!("cannot run the fuzz target {name}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        println!("{name}: {}", text.lines().rfind(|line| line.starts_with("Done ")).unwrap_or("done"));
        return Ok(true);
    }
    let lines: Vec<_> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
    println!("{name}: {}\n{last}", output.status);
    Ok(false)
}
