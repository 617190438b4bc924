//! Packages for Debian, and for Fedora and its relatives. `Cargo.toml` says what is where in them.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::build::Build;
use super::source::Source;
use super::target::Target;
use super::tools::succeed;
use crate::ci;

/// The number of packages that one version has had before, plus 1.
const REVISION: &str = "1";

/// Returns the name of the package for Debian.
pub(super) fn debian_name(target: Target, source: &Source) -> String {
    format!("ftk_{}-{REVISION}_{}.deb", source.version, target.debian())
}

/// Returns the name of the RPM package.
pub(super) fn rpm_name(target: Target, source: &Source) -> String {
    format!("ftk-{}-{REVISION}.{}.rpm", source.version, target.machine())
}

/// Makes both packages of the program that was built for a target.
pub(super) fn make(build: &Build<'_>, target: Target, out: &Path) -> Result<()> {
    let of_target = ["--target", target.triple(), "--profile", build.profile, "--output"];
    let path = |name: String| -> PathBuf { out.join(name) };
    let mut debian = ci::cargo("deb --quiet --locked --no-build --no-strip --package ftk");
    debian.args(["--deb-revision", REVISION]).args(of_target).arg(path(debian_name(target, build.source)));
    let mut rpm = ci::cargo("generate-rpm --auto-req disabled --payload-compress zstd --source-date");
    rpm.arg(&build.source.time).args(of_target).arg(path(rpm_name(target, build.source)));
    for mut command in [debian, rpm] {
        build.environ(&mut command)?;
        succeed(&mut command)?;
    }
    Ok(())
}
