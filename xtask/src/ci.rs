//! The steps of CI in order, cheap checks first.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{codegen, deny, spark, tidy};

/// One step of CI.
struct Step {
    name: &'static str,
    action: Action,
}

enum Action {
    /// A function that returns whether the check passed.
    Task(fn() -> Result<bool>),
    /// Arguments of cargo, and the environment they run in.
    Cargo { args: &'static str, env: &'static [(&'static str, &'static str)] },
    /// Arguments of `cargo test`. A run without a single test fails. Different compiler flags get a separate target
    /// directory; otherwise each run would build everything again.
    Test { args: &'static str, flags: Option<Flags> },
}

/// A build with `--cfg` set.
struct Flags {
    rustflags: &'static str,
    target: &'static str,
}

impl Step {
    const fn task(name: &'static str, is_well: fn() -> Result<bool>) -> Self {
        Self { name, action: Action::Task(is_well) }
    }

    const fn cargo(name: &'static str, args: &'static str) -> Self {
        Self { name, action: Action::Cargo { args, env: &[] } }
    }

    const fn test(name: &'static str, args: &'static str, flags: Option<Flags>) -> Self {
        Self { name, action: Action::Test { args, flags } }
    }
}

const STEPS: &[Step] = &[
    Step::cargo("fmt", "fmt --all --check"),
    Step::task("tidy", tidy::is_clean),
    Step::task("deny", deny::is_clean),
    Step::cargo("clippy", "clippy --locked --workspace --exclude ftk-query --all-targets -- -D warnings"),
    Step {
        name: "doc",
        action: Action::Cargo {
            args: "doc --locked --workspace --exclude ftk-query --no-deps --document-private-items",
            env: &[("RUSTDOCFLAGS", "-D warnings")],
        },
    },
    // The code for systems other than Linux, run on this one.
    Step::test(
        "portable",
        "-p ftk-walk -p ftk-read",
        Some(Flags { rustflags: "--cfg ftk_portable", target: "portable" }),
    ),
    // All interleavings of the walk's idle protocol, of a comparison's search, and of a mapping's guard.
    Step::test(
        "loom",
        "-p ftk-walk -p ftk-compare -p ftk-read --test loom --release",
        Some(Flags { rustflags: "--cfg ftk_loom", target: "loom" }),
    ),
    // Runs each benchmark once, on little input, to check its results. `--workspace` selects the same dependency
    // features as the next step, which would otherwise rebuild the dependencies.
    Step::cargo("benches", "test --locked --workspace --exclude ftk-query --bench *"),
    Step::task("codegen", codegen::is_clean),
    // Checks that published files are complete; other steps check that they build.
    Step::cargo(
        "package",
        "package --locked --workspace --no-verify --quiet --allow-dirty --exclude ftk-benches --exclude ftk-fuzz --exclude xtask",
    ),
    // Compares results with peers; a release build for times would take minutes.
    Step::cargo("bench", "run --locked --quiet --package xtask -- bench --quick --profile dev"),
    // Failures that other tools have had; without peers.
    Step::cargo("horrors", "run --locked --quiet --package xtask -- horrors"),
    // Forces every kernel of this CPU; lists the others as skipped.
    Step::test(
        "simd",
        "--workspace --exclude ftk-query --test engines --test integration -- every_kernel_is hash::simd::",
        None,
    ),
    // DataFusion is compiled only here: once to check it, and once to run it. No other step selects `ftk-query`.
    Step::cargo("query-clippy", "clippy --locked --package ftk-query --all-targets -- -D warnings"),
    Step {
        name: "query-doc",
        action: Action::Cargo {
            args: "doc --locked --package ftk-query --no-deps --document-private-items",
            env: &[("RUSTDOCFLAGS", "-D warnings")],
        },
    },
    Step::test("query", "--package ftk-query", None),
    // Runs the programs that the steps before have built.
    Step::task("spark", spark::is_clean),
    // Last, so that its results end the log.
    Step::test("test", "--workspace --exclude ftk-query", None),
];

/// Runs the steps in `names`, or all if it is empty. The first step that fails ends the run with its status.
pub(crate) fn run(names: &[&str]) -> Result<ExitCode> {
    if let Some(name) = names.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        let known: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        bail!("no step {name:?}, expected some of {}", known.join(", "));
    }
    let start = Instant::now();
    for step in STEPS.iter().filter(|step| names.is_empty() || names.contains(&step.name)) {
        println!("== {}", step.name);
        let begun = Instant::now();
        let status = step.action.run().with_context(|| format!("step {}", step.name))?;
        let seconds = begun.elapsed().as_secs_f64();
        if status != 0 {
            println!("== {} FAILED after {seconds:.1} s, status {status}", step.name);
            return Ok(ExitCode::from(status));
        }
        println!("== {} ok in {seconds:.1} s", step.name);
    }
    println!("== all ok in {:.1} s", start.elapsed().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

impl Action {
    /// Runs the step and returns its exit status.
    fn run(&self) -> Result<u8> {
        match self {
            Self::Task(is_well) => Ok(u8::from(!is_well()?)),
            Self::Cargo { args, env } => {
                let status = cargo(args).envs(env.iter().copied()).status()?;
                Ok(code(status.code()))
            }
            Self::Test { args, flags } => {
                let mut command = cargo("test --locked");
                command.args(args.split_whitespace());
                if let Some(Flags { rustflags, target }) = flags {
                    command.env("RUSTFLAGS", rustflags).env("CARGO_TARGET_DIR", target_dir().join(target));
                }
                Ok(test(command, &mut std::io::stdout())?.0)
            }
        }
    }
}

/// Runs a test command, copies its output to `out`, and counts its tests.
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
