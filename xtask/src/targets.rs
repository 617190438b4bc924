//! Other systems and CPUs than those of this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::ci;

/// Targets for which everything that `cargo install ftk` needs is compiled. Only the code is checked: nothing is linked.
const CHECKED: &[&str] = &[
    "aarch64-apple-darwin",
    ARM,
    "i686-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "x86_64-unknown-freebsd",
    "x86_64-unknown-linux-musl",
];

/// The target whose tests run in an emulator.
const ARM: &str = "aarch64-unknown-linux-gnu";

/// The emulator, with the root of the libraries in Debian's packages.
const EMULATOR: &str = "qemu-aarch64-static -L /usr/aarch64-linux-gnu";

/// A CPU without the extensions for digests.
const OLD_CPU: &str = "qemu-aarch64-static -cpu cortex-a72 -L /usr/aarch64-linux-gnu";

/// The compiler for C and the linker.
const ARM_CC: &str = "aarch64-linux-gnu-gcc";

/// The libraries. `ftk-hash` comes first: only its kernels depend on the CPU.
const LIBRARIES: &[&str] = &[
    "hash",
    "apply",
    "cache",
    "compare",
    "dedup",
    "file",
    "inventory",
    "manifest",
    "process",
    "read",
    "record",
    "report",
    "sched",
    "select",
    "usage",
    "walk",
];

/// The integration tests that run with an emulated program: digests, names, comparison, and changes of a tree.
const CORE: &[&str] =
    &["hash::algorithms", "hash::names", "find::gnu", "cmp::gnu", "cmp::trees_gnu", "dup::oracles"];

/// Tests that fail because of the emulator, and why.
const FAULTS: &[(&str, &str)] = &[];

/// Checks the program for all targets, in a target directory of its own.
pub(crate) fn compile() -> Result<bool> {
    add(CHECKED)?;
    let mut check = ci::cargo("check --locked --package ftk");
    check.env("CARGO_TARGET_DIR", ci::target_dir().join("targets")).env("RUSTFLAGS", "-D warnings");
    for target in CHECKED {
        check.args(["--target", target]);
        // A check reads no library of C. So these are not compiled, which would need a compiler for each target.
        for tool in ["CC", "AR"] {
            check.env(format!("{tool}_{}", target.replace('-', "_")), "true");
        }
    }
    Ok(check.status()?.success())
}

/// Runs the tests of all libraries and a core of the integration tests for ARM in an emulator.
pub(crate) fn arm_is_clean() -> Result<bool> {
    add(&[ARM])?;
    let packages: Vec<String> = LIBRARIES.iter().map(|name| format!("--package=ftk-{name}")).collect();
    let mut libraries = arm("test --no-fail-fast --lib --tests", EMULATOR);
    libraries.args(packages).arg("--").args(skipped());
    let mut kernels = arm("test --package ftk-hash --test engines", OLD_CPU);
    let mut program = arm("build --package ftk", EMULATOR);
    if !libraries.status()?.success() || !kernels.status()?.success() || !program.status()?.success() {
        return Ok(false);
    }
    // The tests are programs of this machine.
    let mut core = ci::cargo("test --locked --no-fail-fast --test integration --");
    core.env("FTK_TEST_PROGRAM", emulated(&target_dir().join(ARM).join("debug/ftk"))?);
    core.args(CORE).args(skipped());
    Ok(core.status()?.success())
}

/// Returns a command of cargo for ARM.
fn arm(args: &str, emulator: &str) -> Command {
    let name = ARM.replace('-', "_");
    let setting = |end: &str| format!("CARGO_TARGET_{}_{end}", name.to_uppercase());
    let mut command = ci::cargo(args);
    command.args(["--locked", "--target", ARM]).env("CARGO_TARGET_DIR", target_dir());
    command.env(setting("LINKER"), ARM_CC).env(setting("RUNNER"), emulator);
    command.env(format!("CC_{name}"), ARM_CC);
    command
}

/// Other flags and compilers would rebuild what other steps share.
fn target_dir() -> PathBuf {
    ci::target_dir().join("arm64")
}

/// Returns the arguments of the test programs that skip the faults of the emulator, and prints these.
fn skipped() -> impl Iterator<Item = &'static str> {
    FAULTS.iter().flat_map(|(name, why)| {
        println!("skipped: {name}: {why}");
        ["--skip", name]
    })
}

/// Makes a program that runs another one in the emulator, and returns its path.
fn emulated(program: &Path) -> Result<PathBuf> {
    let program = std::path::absolute(program)?;
    let wrapper = program.with_extension("emulated");
    fs::write(&wrapper, format!("#!/bin/sh\nexec {EMULATOR} {} \"$@\"\n", program.display()))?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    Ok(wrapper)
}

/// Installs the standard library for targets that do not have it yet.
fn add(targets: &[&str]) -> Result<()> {
    let mut rustup = Command::new("rustup");
    let status = rustup.args(["target", "add"]).args(targets).status().context("cannot run rustup")?;
    ensure!(status.success(), "cannot add the targets");
    Ok(())
}
