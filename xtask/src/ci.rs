//! The steps of CI in order, cheap checks first.

use std::io::{BufRead, BufReader, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{codegen, deny, dist, fuzz, oldest, semver, spark, targets, tidy};

/// One step of CI.
struct Step {
    name: &'static str,
    /// The smallest tier that runs it.
    tier: Tier,
    action: Action,
    /// Variables set for the step.
    env: &'static [(&'static str, &'static str)],
}

/// How much is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    /// For every change: some minutes when everything is built. Tests with FUSE, loop devices, injected faults, a browser
    /// or Slurm are skipped.
    Quick,
    /// What CI runs: everything except the nightly steps.
    Full,
    /// What takes too long for every change.
    Nightly,
}

enum Action {
    /// A function that returns whether the check passed.
    Task(fn() -> Result<bool>),
    /// Arguments of cargo.
    Cargo(&'static str),
    /// Arguments of `cargo test`. A run without a single test fails.
    Test(&'static str),
}

impl Step {
    const fn task(tier: Tier, name: &'static str, is_well: fn() -> Result<bool>) -> Self {
        Self { name, tier, action: Action::Task(is_well), env: &[] }
    }

    const fn cargo(tier: Tier, name: &'static str, args: &'static str) -> Self {
        Self { name, tier, action: Action::Cargo(args), env: &[] }
    }

    const fn test(tier: Tier, name: &'static str, args: &'static str) -> Self {
        Self { name, tier, action: Action::Test(args), env: &[] }
    }

    const fn with(self, env: &'static [(&'static str, &'static str)]) -> Self {
        Self { env, ..self }
    }
}

/// Fails on warnings of rustdoc.
const STRICT_DOC: &[(&str, &str)] = &[("RUSTDOCFLAGS", "-D warnings")];

/// Compiles the packages of the workspace with Clippy, which also generates code: `cargo clippy` would check all of
/// DataFusion before another command compiles it. `cargo clippy` sets these variables for its own checks.
const LINTED: &[(&str, &str)] = &[
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"),
];

/// The number of tests that libtest runs at one time.
const THREADS: &str = "RUST_TEST_THREADS";

/// Tells the tests that a quick run skips the slow kinds.
const QUICK: &str = "FTK_TEST_QUICK";

/// Steps with `--workspace --exclude ftk-query` get the same features of dependencies as `cargo test`, so that all of them
/// share one build. `ftk-query` gets others, and `ftk-fuzz`, which includes sources of it, is built with it.
const STEPS: &[Step] = &[
    // `cargo fmt` does not know the program of `bench walkers`, which is a workspace of its own.
    Step::cargo(Tier::Quick, "fmt", "fmt --all --check -- benches/walkers/main.rs"),
    Step::task(Tier::Quick, "tidy", tidy::is_clean),
    Step::task(Tier::Full, "deny", deny::is_clean),
    Step::cargo(
        Tier::Quick,
        "clippy",
        "clippy --locked --workspace --exclude ftk-query --all-targets -- -D warnings",
    ),
    Step::cargo(
        Tier::Full,
        "doc",
        "doc --locked --workspace --exclude ftk-query --no-deps --document-private-items",
    )
    .with(STRICT_DOC),
    // Without the code of tests. The other compiler shares the target directory, and builds everything for itself once.
    Step::task(Tier::Full, "msrv", oldest::is_clean),
    // Other systems and CPUs, without linking.
    Step::task(Tier::Full, "targets", targets::compile),
    // All interleavings of the walk's idle protocol, of a comparison's search, and of a mapping's guard. Other compiler
    // flags get a separate target directory, or each run would build everything again.
    Step::test(Tier::Full, "loom", "-p ftk-walk -p ftk-compare -p ftk-read --test loom --profile loom")
        .with(&[("RUSTFLAGS", "--cfg ftk_loom"), ("CARGO_TARGET_DIR", "target/loom")]),
    // Runs each benchmark once, on little input, to check its results.
    Step::cargo(Tier::Full, "benches", "test --locked --workspace --exclude ftk-query --bench *"),
    Step::test(Tier::Full, "xtask", "--workspace --exclude ftk-query --bin xtask"),
    Step::task(Tier::Full, "codegen", codegen::is_clean),
    // Checks that published files are complete; other steps check that they build. Nothing is sent.
    Step::cargo(
        Tier::Full,
        "package",
        "publish --dry-run --locked --workspace --no-verify --quiet --allow-dirty",
    ),
    Step::cargo(
        Tier::Full,
        "walkers",
        "clippy --locked --manifest-path benches/walkers/Cargo.toml --target-dir target/walkers -- -D warnings",
    ),
    // Compares results with peers; a release build for times would take minutes.
    Step::cargo(
        Tier::Full,
        "bench",
        "run --locked --quiet --package xtask -- bench --quick --runs 1 --profile dev",
    ),
    // The code for systems other than Linux, run on this one.
    Step::test(
        Tier::Full,
        "portable",
        "-p ftk-walk -p ftk-read --features ftk-walk/portable,ftk-read/portable",
    ),
    // The traits of another crate, which are off by default.
    Step::test(Tier::Full, "digest", "-p ftk-hash --features digest --test forms"),
    // Replays the inputs of the fuzz targets.
    Step::test(Tier::Full, "fuzz", "-p ftk-query -p ftk-fuzz --test replay").with(LINTED),
    // The only step that compiles DataFusion.
    Step::test(Tier::Full, "query", "-p ftk-query -p ftk-fuzz --bin ftk-query --test query").with(LINTED),
    // Compares answers with DuckDB, with the program of the step before.
    Step::cargo(
        Tier::Full,
        "lake",
        "run --locked --quiet --package xtask -- bench --quick --runs 1 --profile dev lake",
    ),
    // Runs the programs that the steps before have built.
    Step::task(Tier::Full, "spark", spark::is_clean),
    // The command of README. Last, so that its results end the log.
    Step::test(Tier::Quick, "test", ""),
    Step::cargo(
        Tier::Nightly,
        "query-doc",
        "doc --locked --package ftk-query --no-deps --document-private-items",
    )
    .with(STRICT_DOC),
    // Says that nothing was compared until the first release.
    Step::task(Tier::Nightly, "semver", semver::is_clean),
    Step::task(Tier::Nightly, "spark-cluster", spark::cluster_is_clean),
    // Searches for inputs that fail, one minute for each target, with another build of the libraries.
    Step::task(Tier::Nightly, "fuzz-search", fuzz::is_clean),
    // Builds a release twice, compares the files, and installs them in fresh systems.
    Step::task(Tier::Nightly, "dist", dist::is_clean),
    // Tests on another CPU, in an emulator.
    Step::task(Tier::Nightly, "arm64", targets::arm_is_clean),
    // The program with musl instead of glibc.
    Step::task(Tier::Nightly, "static", targets::static_is_clean),
    // Tests with 32 bits.
    Step::task(Tier::Nightly, "i686", targets::narrow_is_clean),
    // The tests that take too long for every change. `child` is not a test: others run it as a child process.
    Step::test(Tier::Nightly, "ignored", "--no-fail-fast -- --ignored --skip output::tests::child"),
];

/// Runs the steps of a tier: `quick`, `nightly`, or those of CI if there is no name; or else the steps in `names`. The first
/// step that fails ends the run with its status.
pub(crate) fn run(names: &[&str]) -> Result<ExitCode> {
    let is_selected = |step: &&Step| match names {
        ["quick"] => step.tier == Tier::Quick,
        ["nightly"] => step.tier == Tier::Nightly,
        [] => step.tier != Tier::Nightly,
        names => names.contains(&step.name),
    };
    if !matches!(names, ["quick" | "nightly"])
        && let Some(name) = names.iter().find(|name| STEPS.iter().all(|step| step.name != **name))
    {
        let known: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        bail!("no step {name:?}, expected quick, nightly, or some of {}", known.join(", "));
    }
    let start = Instant::now();
    let mut times = Vec::new();
    for step in STEPS.iter().filter(is_selected) {
        println!("== {}", step.name);
        let begun = Instant::now();
        let is_quick = names == ["quick"];
        let status = step.run(is_quick).with_context(|| format!("step {}", step.name))?;
        let seconds = begun.elapsed().as_secs_f64();
        if status != 0 {
            println!("== {} FAILED after {seconds:.1} s, status {status}", step.name);
            return Ok(ExitCode::from(status));
        }
        println!("== {} ok in {seconds:.1} s", step.name);
        times.push(format!("{} {seconds:.0}", step.name));
    }
    println!("== seconds: {}", times.join(", "));
    println!("== all ok in {:.1} s", start.elapsed().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

impl Step {
    /// Runs the step and returns its exit status.
    fn run(&self, is_quick: bool) -> Result<u8> {
        match self.action {
            Action::Task(is_well) => Ok(u8::from(!is_well()?)),
            Action::Cargo(args) => {
                let status = cargo(args).envs(self.env.iter().copied()).status()?;
                Ok(code(status.code()))
            }
            Action::Test(args) => {
                let mut command = self.test_command(args);
                if is_quick {
                    command.env(QUICK, "1");
                }
                Ok(test(command, &mut std::io::stdout())?.0)
            }
        }
    }

    /// Returns the command of a test step.
    fn test_command(&self, args: &str) -> Command {
        let mut command = cargo("test --locked");
        command.args(args.split_whitespace()).envs(self.env.iter().copied());
        // Tests often wait for the processes that they start.
        if std::env::var_os(THREADS).is_none() {
            let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
            command.env(THREADS, (2 * cores).to_string());
        }
        command
    }
}

/// Runs all tests of CI, also after a failure, and passes the name, status and counts of each step to `each`.
pub(crate) fn test_all(mut each: impl FnMut(&str, u8, Tally)) -> Result<()> {
    for step in STEPS.iter().filter(|step| step.tier != Tier::Nightly) {
        let Action::Test(args) = step.action else { continue };
        let mut command = step.test_command("--no-fail-fast");
        command.args(args.split_whitespace()).env("CI", "1"); // a missing tool is a failure
        let (status, tally) = test(command, &mut std::io::stdout())?;
        each(step.name, status, tally);
    }
    Ok(())
}

/// Runs a test command, copies its output to `out`, and counts its tests. A run without tests has the status 1.
pub(crate) fn test(mut command: Command, out: &mut dyn Write) -> Result<(u8, Tally)> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut reader = BufReader::new(child.stdout.take().context("stdout is a pipe")?);
    let mut tally = Tally::default();
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        out.write_all(&line)?;
        tally.add(&String::from_utf8_lossy(&line));
        line.clear();
    }
    let status = code(child.wait()?.code());
    writeln!(out, "{} tests passed, {} failed, {} ignored", tally.passed, tally.failed, tally.ignored)?;
    if status == 0 && tally.passed == 0 {
        writeln!(out, "a run without tests proves nothing")?;
        return Ok((1, tally));
    }
    Ok((status, tally))
}

/// Sums of the results of all test binaries.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    ignored: u64,
}

impl Tally {
    /// Adds a line of output if it is like `test result: ok. 3 passed; 0 failed; ...`.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            let Some((number, what)) = count.trim_end().split_once(' ') else { continue };
            let total = match what {
                "passed" => &mut self.passed,
                "failed" => &mut self.failed,
                "ignored" => &mut self.ignored,
                _ => continue,
            };
            *total += number.parse::<u64>().unwrap_or(0);
        }
    }
}

/// Returns a command for the cargo that runs this program. `args` are separated by blanks.
pub(crate) fn cargo(args: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args.split_whitespace());
    command
}

/// Returns the target directory, relative to the root of the workspace.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// Converts an exit status. A process that a signal ended has none, which becomes 1.
fn code(code: Option<i32>) -> u8 {
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_runs_the_command_of_readme() {
        assert!(include_str!("../../README.md").contains("This runs the tests:\n\n```sh\ncargo test\n```\n"));
        let last = STEPS.iter().rfind(|step| step.tier != Tier::Nightly).unwrap();
        assert!(matches!(last.action, Action::Test("")) && last.env.is_empty());
    }

    #[test]
    fn each_step_is_in_one_job_of_the_nightly_workflow() {
        let workflow = include_str!("../../.github/workflows/nightly.yml");
        let jobs = workflow.lines().skip_while(|line| line.trim() != "steps:").skip(1);
        let jobs = jobs.map_while(|line| line.trim().strip_prefix("- "));
        let mut run: Vec<_> = jobs.flat_map(str::split_whitespace).collect();
        let mut known: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        run.sort_unstable();
        known.sort_unstable();
        assert_eq!(run, known);
    }

    #[test]
    fn results_add_up() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests\n",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n",
            "test a_test_named_result: ok ... ok\n",
            "test result: FAILED. 20 passed; 2 failed; 0 ignored; 7 measured; 9 filtered out; finished in 1s\n",
        ] {
            tally.add(line);
        }
        assert_eq!(tally, Tally { passed: 23, failed: 2, ignored: 1 });
    }

    /// Returns status and output of a simulated test run.
    fn shell(script: &str) -> (u8, String) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut out = Vec::new();
        let (status, _) = test(command, &mut out).unwrap();
        (status, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_run_without_tests_fails() {
        assert_eq!(shell("echo 'test result: ok. 0 passed; 0 failed; 0 ignored'").0, 1);
        assert_eq!(shell("true").0, 1);
        assert_eq!(shell("echo 'test result: ok. 1 passed; 0 failed; 0 ignored'").0, 0);
    }

    #[test]
    fn a_failed_run_keeps_its_status() {
        assert_eq!(shell("echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored'; exit 101").0, 101);
        assert_eq!(shell("kill -9 $$").0, 1);
    }

    #[test]
    fn output_of_tests_is_copied() {
        let (_, out) =
            shell("echo one; printf 'test result: ok. 7 passed; 0 failed; 2 ignored\n'; printf end");
        assert!(out.starts_with("one\ntest result: ok. 7 passed; 0 failed; 2 ignored\nend"), "{out}");
        assert!(out.ends_with("7 tests passed, 0 failed, 2 ignored\n"), "{out}");
    }
}
