//! Other systems and CPUs than those of this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::ci;

/// Targets for which everything that `cargo install ftk` needs is compiled. Only the code is checked: nothing is linked.
const CHECKED: &[&str] =
    &["aarch64-apple-darwin", ARM, NARROW, "x86_64-apple-darwin", "x86_64-unknown-freebsd", STATIC];

/// The target of the static program, and its compiler for C.
const STATIC: &str = "x86_64-unknown-linux-musl";
const STATIC_CC: &str = "musl-gcc";

/// The target with 32 bits, whose tests run on this machine.
const NARROW: &str = "i686-unknown-linux-gnu";

/// Headers of the kernel are where gcc looks for them only with 64 bits.
const NARROW_FLAGS: &str = "-m32 -idirafter /usr/include/x86_64-linux-gnu";

/// The libraries whose code depends on the size of an address.
const NARROW_LIBRARIES: &[&str] = &["file", "hash", "read", "record", "walk"];

/// The target whose tests run in an emulator.
const ARM: &str = "aarch64-unknown-linux-gnu";

/// The emulator. The loader of programs for ARM and the C library are where they are on ARM: with another folder (`-L`), the
/// emulator would open this one when a program opens `/`.
const EMULATOR: &str = "qemu-aarch64-static";

/// A CPU without the extensions for digests.
const OLD_CPU: &str = "qemu-aarch64-static -cpu cortex-a72";

/// The compiler for C and the linker.
const ARM_CC: &str = "aarch64-linux-gnu-gcc";

/// The libraries. `ftk-hash` comes first: only its kernels depend on the CPU.
const LIBRARIES: &[&str] = &[
    "hash",
    "apply",
    "browse",
    "cache",
    "compare",
    "dedup",
    "file",
    "ignore",
    "inventory",
    "manifest",
    "parity",
    "process",
    "read",
    "record",
    "report",
    "sched",
    "select",
    "usage",
    "walk",
];

/// The integration tests that run with a program for another CPU or C library: digests, names of files and owners, and for
/// each command the comparison with another tool, or else examples.
const CORE: &[&str] = &[
    "hash::algorithms",
    "hash::names",
    "find::long",
    "cmp::trees_gnu",
    "dup::oracles",
    "dup::undo",
    "du::gnu::of_one_tree",
    "manifest::repair::copies",
    "manifest::verify",
    "cache::reuse::single_files_are_reused",
    "report::decisions",
    "recipes::tasks::the_tour_of_the_front_page",
];

/// Further ones with the static program. In the emulator, where a start takes 0.2 s, the 3,800 starts of the first two would
/// take longer than all others; and tracing shows calls of the emulator.
const NOT_EMULATED: &[&str] = &["cmp::gnu", "find::gnu", "command::old_kernels"];

/// What the emulator (QEMU 7.2) cannot do, and the tests that fail because of it. Each was shown by a small program in C that
/// makes only this call.
const FAULTS: &[(&str, &[&str])] = &[
    (
        "the kernel starts programs for ARM only where the emulator is registered (binfmt_misc)",
        &[
            // All tests of these modules start a program under strace, which would see the calls of the emulator.
            "faults::",
            "a_panic_restores_the_terminal_before_its_message",
            "journals::relative_paths_start_from_the_directory_of_the_run",
            "errors_have_no_line",
            "lines_are_those_of_other_tools",
            "search::search_is_grep_of_files_that_are_neither_hidden_nor_ignored",
            "tests::descriptors::few_descriptors_suffice",
            "tests::descriptors::with_too_few_descriptors_an_open_waits_for_finish",
            "tests::descriptors::without_descriptors_every_open_fails",
            "output::tests::a_failed_writer_leaves_no_file",
            "output::tests::a_killed_writer_leaves_no_file",
            "output::tests::the_child_writes_if_it_is_not_disturbed",
            "errors_are_reported_and_the_status_is_2",
            "index_is_find_in_path_order",
            "lines_is_wc",
            "streams_count_as_find_does",
            "sums_is_du_of_files",
        ],
    ),
    ("there is no ioctl FS_IOC_FSGETXATTR", &["extents::tests::a_file_written_just_now_has_extents"]),
    (
        "there is no ioctl FIDEDUPERANGE",
        &[
            "reflinks::h10_on_btrfs",
            "reflinks::h10_on_xfs",
            "reflinks::h37_equal_inode_numbers_of_btrfs_subvolumes_are_different_files",
        ],
    ),
];

/// Checks the program for all targets, in a target directory of its own.
pub(crate) fn compile() -> Result<bool> {
    add(CHECKED)?;
    let mut check = ci::cargo("check --locked --package ftk");
    check.env("CARGO_TARGET_DIR", target_dir()).env("RUSTFLAGS", "-D warnings");
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
    let mut libraries = arm("test --no-fail-fast --lib --tests", EMULATOR);
    libraries.args(packages(LIBRARIES)).arg("--").args(skipped());
    let mut kernels = arm("test --package ftk-hash --test engines --test vectors", OLD_CPU);
    let mut program = arm("build --package ftk", EMULATOR);
    if !libraries.status()?.success() || !kernels.status()?.success() || !program.status()?.success() {
        return Ok(false);
    }
    report_passed()?;
    println!("not run in the emulator: {}", NOT_EMULATED.join(", "));
    let mut core = integration(&emulated(&program_in(ARM))?);
    Ok(core.args(CORE).args(skipped()).status()?.success())
}

/// Runs a core of the integration tests with the static program.
pub(crate) fn static_is_clean() -> Result<bool> {
    add(&[STATIC])?;
    if !foreign("build --package ftk", STATIC, STATIC_CC).status()?.success() {
        return Ok(false);
    }
    let mut tests = integration(&std::path::absolute(program_in(STATIC))?);
    Ok(tests.args(CORE).args(NOT_EMULATED).status()?.success())
}

/// Runs the tests of some libraries with 32 bits.
pub(crate) fn narrow_is_clean() -> Result<bool> {
    add(&[NARROW])?;
    let mut tests = foreign("test --no-fail-fast", NARROW, "cc");
    tests.env(format!("CFLAGS_{}", NARROW.replace('-', "_")), NARROW_FLAGS);
    Ok(tests.args(packages(NARROW_LIBRARIES)).status()?.success())
}

/// Returns the command of the integration tests, which are programs of this machine, with another program.
fn integration(program: &Path) -> Command {
    let mut command = ci::cargo("test --locked --no-fail-fast --test integration --");
    command.env("FTK_TEST_PROGRAM", program);
    command
}

/// Returns the path of the program that was built for a target.
fn program_in(target: &str) -> PathBuf {
    target_dir().join(target).join("debug/ftk")
}

/// Returns a command of cargo for another target. `cc` compiles C for it.
fn foreign(args: &str, target: &str, cc: &str) -> Command {
    let mut command = ci::cargo(args);
    command.args(["--locked", "--target", target]).env("CARGO_TARGET_DIR", target_dir());
    command.env(format!("CC_{}", target.replace('-', "_")), cc);
    command
}

/// Returns a command of cargo for ARM. Optimised a little, since the emulator spends far longer with the tests than the
/// compiler does.
fn arm(args: &str, emulator: &str) -> Command {
    let setting = |end: &str| format!("CARGO_TARGET_{}_{end}", ARM.replace('-', "_").to_uppercase());
    let mut command = foreign(args, ARM, ARM_CC);
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
    command.env(setting("LINKER"), ARM_CC).env(setting("RUNNER"), emulator);
    command
}

/// Returns the arguments of cargo that select libraries.
fn packages(libraries: &[&str]) -> impl Iterator<Item = String> {
    libraries.iter().map(|name| format!("--package=ftk-{name}"))
}

/// The steps that are not for this machine share nothing with others.
fn target_dir() -> PathBuf {
    ci::target_dir().join("targets")
}

/// Returns the arguments of the test programs that skip the faults of the emulator, and prints these.
fn skipped() -> impl Iterator<Item = &'static str> {
    FAULTS.iter().flat_map(|(why, tests)| {
        println!("the emulator's fault: {why}: {}", tests.join(", "));
        tests.iter().flat_map(|test| ["--skip", test])
    })
}

/// Runs the tests that are skipped, and prints those that pass: another emulator, or another machine, has not this fault.
fn report_passed() -> Result<()> {
    let mut tests = arm("test --no-fail-fast --lib --tests", EMULATOR);
    tests.args(packages(LIBRARIES)).arg("--").args(FAULTS.iter().flat_map(|(_, tests)| *tests));
    let output = tests.stderr(Stdio::null()).output()?;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... ok")) {
            println!("passes here: {name}");
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_is_tested() {
        let members = include_str!("../../Cargo.toml").lines();
        let mut known: Vec<_> =
            members.filter_map(|line| line.trim().strip_prefix("\"crates/")?.strip_suffix("\",")).collect();
        let mut tested = LIBRARIES.to_vec();
        known.sort_unstable();
        tested.sort_unstable();
        assert_eq!(tested, known);
    }
}
