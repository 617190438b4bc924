//! The RPM package in an empty system.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::dist::tools::{output, succeed};

/// Installs the package, runs the program, removes the package, and looks for what is left.
pub(super) fn installs(package: &Path, scratch: &Path) -> Result<()> {
    let root = scratch.join("fedora");
    fs::create_dir(&root)?;
    let rpm = |words: &[&str]| {
        let mut rpm = Command::new("rpm");
        rpm.args(["--quiet", "--root"]).arg(&root).args(words);
        rpm
    };
    succeed(rpm(&["--install", "--"]).arg(package))?;
    let said = output(Command::new("chroot").arg(&root).args(["/usr/bin/ftk", "--version"]))?;
    ensure!(said.starts_with("ftk "), "the installed program says {said:?}");
    let page = root.join("usr/share/man/man1/ftk-hash.1");
    ensure!(page.exists(), "there is no manual page {}", page.display());
    succeed(&mut rpm(&["--erase", "ftk"]))?;
    let left = output(Command::new("find").arg(root.join("usr")).args(["-not", "-type", "d"]))?;
    ensure!(left.is_empty(), "the package leaves\n{left}");
    println!("the RPM package installs, runs and leaves nothing");
    Ok(())
}
