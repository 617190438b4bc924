//! `ftk calibrate`: measures the machine and stores the figures that the cost model needs.

use std::env;
use std::ffi::CString;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use ftk_inventory::{Collect, Inventory, Keep};
use ftk_record::quote;
use ftk_sched::Constants;
use ftk_walk::Walker;
use serde_json::{Map, Value, json};

use crate::args::Globals;
use crate::asked;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::simd;
use crate::stdout::Stdout;

/// Measure this machine for the cost model
///
/// This takes about two seconds; other programs should be idle. The figures are stored as text in $XDG_CACHE_HOME/ftk, or
/// else in ~/.cache/ftk, and apply to this CPU, this kernel and this version of ftk. Without them, ftk uses built-in
/// figures. No other command stores figures.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CalibrateArgs {
    /// Print the figures in use, without measuring
    #[arg(long)]
    show: bool,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk calibrate           measure, store and print the figures
  ftk calibrate --show    print the figures in use";

const NO_PLACE: &str = "neither XDG_CACHE_HOME nor HOME says where to keep the figures";

pub(crate) fn run(args: &CalibrateArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let constants = if args.show {
        in_use(|why| console.summary(format_args!("built-in figures: {why}")))
    } else {
        let path = file().context(NO_PLACE)?;
        asked::doing(&"measuring this machine");
        let constants = measure().context("cannot measure")?;
        constants.check().context("cannot believe what was measured: is the machine busy?")?;
        constants.save(&path).with_context(|| {
            format!("cannot keep the figures in {}", quote(path.as_os_str().as_encoded_bytes()))
        })?;
        console.summary(format_args!("kept in {}", quote(path.as_os_str().as_encoded_bytes())));
        constants
    };
    let out = Stdout::default();
    out.write(if globals.json { json(&constants)? } else { constants.to_string() }.as_bytes());
    out.finish().context("cannot write to standard output")?;
    Ok(Outcome::Success)
}

/// One object: the same names, the digests in an object of their own.
fn json(constants: &Constants) -> anyhow::Result<String> {
    let mut figures = Map::new();
    for (name, value) in constants.to_string().lines().filter_map(|line| line.split_once(" = ")) {
        let value: Value = serde_json::from_str(value)?;
        match name.split_once('.') {
            Some((group, name)) => figures.entry(group).or_insert_with(|| json!({}))[name] = value,
            None => _ = figures.insert(name.into(), value),
        }
    }
    Ok(Value::from(figures).to_string() + "\n")
}

/// The figures that were kept, or the built-in ones: whatever is wrong with a stored file is no error. `say` is
/// told why.
pub(crate) fn in_use(say: impl FnOnce(&dyn fmt::Display)) -> Constants {
    let built_in = |why: &dyn fmt::Display| {
        say(why);
        Constants::default()
    };
    match file().map(|path| Constants::load(&path)) {
        Some(Ok(constants)) => constants,
        Some(Err(error)) => built_in(&error),
        None => built_in(&NO_PLACE),
    }
}

/// Where the figures are kept, if the environment says where caches go.
fn file() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("ftk").join("constants"))
}

fn measure() -> anyhow::Result<Constants> {
    let tree = tempfile::tempdir()?;
    make_files(tree.path())?;
    let root = CString::new(tree.path().as_os_str().to_owned().into_vec())?;
    let parts = Walker::new([root]).run(|worker| Collect::new(worker, Keep::Files));
    Ok(ftk_process::calibrate(&Inventory::merge(parts)?, simd::platform()?))
}

/// 4,000 files of 4 KiB, 100 to a directory.
fn make_files(root: &Path) -> std::io::Result<()> {
    for dir in 0..40 {
        let dir = root.join(dir.to_string());
        fs::create_dir(&dir)?;
        (0..100).try_for_each(|file| fs::write(dir.join(file.to_string()), [7; 4096]))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_the_same_as_json() {
        let constants = Constants::default();
        let json: Value = serde_json::from_str(&json(&constants).unwrap()).unwrap();
        assert_eq!(json["file_ns"], constants.file_ns);
        assert_eq!(json["contention"], constants.contention);
        assert_eq!(
            json["digest_bytes_per_s"]["sha256/avx512"],
            constants.digest_bytes_per_s["sha256/avx512"]
        );
        let figures = json.as_object().unwrap().len() - 1 + constants.digest_bytes_per_s.len();
        assert_eq!(figures, constants.to_string().lines().count());
    }
}
