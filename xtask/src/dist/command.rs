//! The command line of `cargo xtask dist`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::builder::PossibleValuesParser;

use super::build::Build;
use super::image::Images;
use super::source::Source;
use super::target::Target;
use super::tools::Tools;
use super::{archive, check, graph, licences, packages, sbom, sums, trial};
use crate::bench::build::{DEV, RELEASE};
use crate::ci;

/// Make the files of a release in target/dist
///
/// Installs the tools that it needs. The files depend only on the commit and on these tools: a
/// second run, elsewhere, makes the same.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only check whether the repository can be released
    #[arg(long, conflicts_with_all = ["profile", "test", "twice"])]
    check: bool,
    /// Only install the files that are there in fresh systems, and run them
    #[arg(long, conflicts_with = "profile")]
    test: bool,
    /// Make the files in two clones, compare them, and install them as --test does
    #[arg(long, conflicts_with = "test")]
    twice: bool,
    /// `dev` is for trials: the program is slow, and changes need not be committed
    #[arg(long, default_value = RELEASE, value_parser = PossibleValuesParser::new([RELEASE, DEV]))]
    profile: String,
    /// Make only the files for this processor, which must be that of this machine
    #[arg(long)]
    target: Option<Target>,
    /// Pack this clone of the repository
    #[arg(long, value_name = "DIR")]
    clone: Option<PathBuf>,
    /// Install the tools in DIR [default: target/release-tools]
    #[arg(long, value_name = "DIR")]
    tools: Option<PathBuf>,
}

/// Runs `cargo xtask dist`.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let tools = options.tools.as_ref().map(std::path::absolute).transpose()?;
    if let Some(clone) = &options.clone {
        std::env::set_current_dir(clone)?;
    }
    let is_clean = if options.check {
        check::is_clean()?
    } else if options.twice {
        trial::is_same(&options.profile, options.target)?
    } else if options.test {
        trial::install(&folder()?)?;
        true
    } else {
        let source = Source::of_repository(options.profile == DEV)?;
        let tools = Tools::install(tools)?;
        let build = Build { tools: &tools, source: &source, profile: &options.profile };
        make(&build, options.target.as_ref().map_or(&Target::ALL, std::slice::from_ref))?;
        true
    };
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Makes a release twice, and tries it.
pub(crate) fn is_clean() -> Result<bool> {
    trial::is_same(RELEASE, None)
}

/// Returns the folder of the files of a release.
fn folder() -> Result<PathBuf> {
    Ok(std::path::absolute(ci::target_dir().join("dist"))?)
}

fn make(build: &Build<'_>, targets: &[Target]) -> Result<()> {
    let out = empty(folder()?)?;
    let scratch = empty(out.with_file_name("dist.scratch"))?;
    let source = build.source;
    let native = Target::native()?;
    let mut programs = Vec::new();
    for &target in targets {
        let name = format!("ftk-{}-{}", source.version, target.triple());
        let packages = graph::packages(target)?;
        let sbom = out.join(format!("{name}.cdx.json"));
        fs::write(&sbom, sbom::list(&packages, target, source)?)?;
        let program = build.program(target, &sbom, &out)?;
        let licences = licences::texts(&packages, &build.tools.zig())?;
        archive::write(&program.with_file_name(licences::FILE), &licences)?;
        archive::pack(&program, &name, source, &scratch, &out)?;
        packages::make(build, target, &out)?;
        programs.push((target, program));
    }
    let ftk = programs.iter().find(|(target, _)| *target == native).map(|(_, program)| &**program);
    let ftk: &Path =
        ftk.ok_or_else(|| anyhow::anyhow!("no program runs on this machine, to compute digests"))?;
    let image = out.join(format!("ftk-{}-oci.tar.gz", source.version));
    Images { native: ftk, source, scratch: &scratch }.make(&programs, &image)?;
    fs::remove_dir_all(&scratch)?;
    sums::write(ftk, &out)?;
    println!("{}", fs::read_to_string(out.join(sums::LIST))?);
    Ok(())
}

/// Makes an empty folder.
fn empty(path: PathBuf) -> Result<PathBuf> {
    if path.exists() {
        fs::remove_dir_all(&path)?;
    }
    fs::create_dir_all(&path)?;
    Ok(path)
}
