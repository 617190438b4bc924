//! The package for Debian in a fresh system.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bench::build::made;
use crate::dist::tools::{output, succeed};

/// The test that runs the first steps of README with the installed program.
const TASKS: &str = "recipes::tasks::the_tour_of_the_front_page";

/// Loads the completions as a shell does when a user types the name of the program.
const COMPLETION: &str =
    ". /usr/share/bash-completion/bash_completion; _completion_loader ftk; complete -p ftk";

/// What package managers write about themselves.
const OF_DPKG: &[&str] = &["./var/lib/dpkg/", "./var/log/", "./var/cache/"];

/// Makes a fresh Debian, installs the package, runs the tasks of README, and removes the package.
///
/// # Errors
/// If something fails, or the package leaves something.
pub(super) fn installs(package: &Path, scratch: &Path) -> Result<()> {
    let root = scratch.join("debian");
    let tasks = made("integration", "test --no-run --test integration")?;
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.args(["--variant=minbase", "--include=bash-completion", "stable"]).arg(&root);
    let quiet = debootstrap.stdout(fs::File::create(scratch.join("debootstrap.log"))?);
    succeed(quiet).context("debootstrap is needed")?;
    let before = files(&root)?;

    let place = root.join("opt/package.deb");
    fs::copy(package, &place)?;
    succeed(&mut inside(&root, &["dpkg", "--install", "/opt/package.deb"]))?;
    let said = output(&mut inside(&root, &["ftk", "--version"]))?;
    ensure!(said.starts_with("ftk "), "the installed program says {said:?}");
    let said = output(&mut inside(&root, &["bash", "-c", COMPLETION]))?;
    ensure!(said.contains("ftk"), "bash has no completions for ftk: {said:?}");
    let page = output(&mut inside(&root, &["zcat", "/usr/share/man/man1/ftk-hash.1.gz"]))?;
    ensure!(page.contains(".TH"), "the manual page of ftk hash is {page:?}");

    fs::copy(&tasks, root.join("opt/tasks"))?;
    let repository = std::env::current_dir()?;
    let copy = root.join(repository.strip_prefix("/")?);
    fs::create_dir_all(&copy)?;
    fs::copy("README.md", copy.join("README.md"))?;
    let mut run = inside(&root, &["/opt/tasks", "--exact", TASKS]);
    let said = output(run.env("CI", "1").env("FTK_TEST_PROGRAM", "/usr/bin/ftk"))?;
    ensure!(said.contains("1 passed"), "the tasks of README were not run: {said}");
    fs::remove_file(root.join("opt/tasks"))?;
    fs::remove_file(copy.join("README.md"))?;
    // The folders that were made for it.
    let _ = copy.ancestors().take_while(|folder| *folder != root).try_for_each(fs::remove_dir);

    succeed(&mut inside(&root, &["dpkg", "--purge", "ftk"]))?;
    fs::remove_file(&place)?;
    let after = files(&root)?;
    let left: Vec<_> = after.difference(&before).collect();
    ensure!(left.is_empty(), "the package leaves {left:?}");
    let gone: Vec<_> = before.difference(&after).collect();
    ensure!(gone.is_empty(), "the package removes {gone:?}");
    println!("the package for Debian installs, runs and leaves nothing");
    Ok(())
}

/// Returns a command in the other system, which has `/proc` and `/dev` while the command runs.
fn inside(root: &Path, words: &[&str]) -> Command {
    const ENTER: &str =
        "mount -t proc proc \"$0/proc\" && mount --rbind /dev \"$0/dev\" && exec chroot \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", ENTER]).arg(root).args(words).env_clear();
    command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    command
}

/// Returns the paths of all files, and the sizes of those that are not of package managers.
fn files(root: &Path) -> Result<BTreeSet<String>> {
    let listed = output(Command::new("find").args([".", "-printf", "%p %y %m\\n"]).current_dir(root))?;
    let is_own = |line: &&str| OF_DPKG.iter().all(|folder| !line.starts_with(folder));
    Ok(listed.lines().filter(is_own).map(str::to_owned).collect())
}
