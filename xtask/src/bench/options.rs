//! The options of `cargo xtask bench`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::build::RELEASE;
use super::tables::{self, Algorithm};

/// Options that benchmarks and long tests share.
#[derive(Debug)]
pub(crate) struct Common {
    /// Small trees, few repetitions and no record, to check that everything works.
    pub(crate) is_quick: bool,
    /// The folder for generated trees.
    pub(crate) scratch: PathBuf,
    /// Keep generated trees, and use them again.
    pub(crate) keep: bool,
    /// A folder of peers that is searched first.
    pub(crate) peers: Option<PathBuf>,
    /// The folder for records.
    pub(crate) records: PathBuf,
}

impl Common {
    /// The defaults, with this folder for generated trees.
    pub(crate) fn new(scratch: &str) -> Self {
        Self { is_quick: false, scratch: scratch.into(), keep: false, peers: None, records: RECORDS.into() }
    }

    /// Applies an option that takes its value from `value`. Returns `false` if it is not one of these.
    ///
    /// # Errors
    /// If the value is missing.
    pub(crate) fn accept<'a>(&mut self, arg: &str, value: impl FnOnce() -> Result<&'a str>) -> Result<bool> {
        match arg {
            "--quick" => self.is_quick = true,
            "--keep" => self.keep = true,
            "--scratch" => self.scratch = value()?.into(),
            "--peers" => self.peers = Some(value()?.into()),
            "--records" => self.records = value()?.into(),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Options of a run.
#[derive(Debug)]
pub(crate) struct Options {
    /// Names of the tables to make, in the order of [`tables::ALL`].
    pub(crate) tables: Vec<&'static str>,
    pub(crate) common: Common,
    /// A tree of real files.
    pub(crate) tree: Option<PathBuf>,
    /// An earlier ftk, whose times are compared with those of this one.
    pub(crate) before: Option<PathBuf>,
    /// Number of timed runs of each command.
    pub(crate) runs: usize,
    /// Algorithms to measure; if empty, the default of each table.
    pub(crate) algorithms: Vec<&'static Algorithm>,
    /// The profile that ftk is built with. A record is written only with the default one.
    pub(crate) profile: String,
}

/// The default folder for records.
pub(crate) const RECORDS: &str = "benches/records";

impl Options {
    /// # Errors
    /// If an option or table is unknown, or a value is missing or invalid.
    pub(crate) fn parse(args: &[&str]) -> Result<Self> {
        let mut options = Self {
            tables: Vec::new(),
            common: Common::new("target/bench"),
            tree: None,
            before: None,
            runs: 0,
            algorithms: Vec::new(),
            profile: RELEASE.into(),
        };
        let mut args = args.iter();
        while let Some(&arg) = args.next() {
            let mut value = || args.next().copied().with_context(|| format!("{arg} needs a value"));
            if options.common.accept(arg, &mut value)? {
                continue;
            }
            match arg {
                "--tree" => options.tree = Some(value()?.into()),
                "--before" => options.before = Some(value()?.into()),
                "--profile" => options.profile = value()?.into(),
                "--runs" => options.runs = value()?.parse().context("--runs")?,
                "-a" | "--algorithm" => options.algorithms.push(Algorithm::named(value()?)?),
                _ => match tables::ALL.iter().find(|table| table.name == arg) {
                    Some(table) => options.tables.push(table.name),
                    None => bail!("unknown table or option {arg:?}"),
                },
            }
        }
        if options.tables.is_empty() {
            options.tables = tables::ALL.iter().map(|table| table.name).collect();
        }
        if options.runs == 0 {
            options.runs = if options.common.is_quick { 3 } else { 5 };
        }
        if let Some(tree) = &mut options.tree {
            ensure!(tree.is_dir(), "{} is not a directory", tree.display());
            *tree = tree.canonicalize()?;
        }
        if let Some(before) = &mut options.before {
            *before = before.canonicalize().with_context(|| format!("--before {}", before.display()))?;
        }
        Ok(options)
    }

    /// Whether the run writes a record.
    pub(crate) fn keeps_record(&self) -> bool {
        !self.common.is_quick && self.profile == RELEASE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_arguments_everything_is_measured() {
        let options = Options::parse(&[]).unwrap();
        assert_eq!(options.tables.len(), tables::ALL.len());
        assert_eq!((options.runs, options.common.is_quick, options.common.keep), (5, false, false));
        assert!(options.keeps_record() && options.algorithms.is_empty());
        assert!(!Options::parse(&["--profile", "dev"]).unwrap().keeps_record());
    }

    #[test]
    fn options_and_tables_mix() {
        let args = ["hash", "--runs", "7", "--tree", ".", "-a", "md5", "scale", "--keep", "--quick"];
        let options = Options::parse(&args).unwrap();
        assert_eq!(options.tables, ["hash", "scale"]);
        assert_eq!(options.runs, 7);
        assert!(options.tree.unwrap().is_absolute() && options.common.keep && options.common.is_quick);
        assert_eq!(options.algorithms.iter().map(|algorithm| algorithm.name).collect::<Vec<_>>(), ["md5"]);
    }

    #[test]
    fn mistakes_are_named() {
        let said = |args: &[&str]| Options::parse(args).unwrap_err().to_string();
        assert_eq!(said(&["--fast"]), "unknown table or option \"--fast\"");
        assert_eq!(said(&["--tree"]), "--tree needs a value");
        assert_eq!(said(&["--tree", "Cargo.toml"]), "Cargo.toml is not a directory");
        assert_eq!(said(&["-a", "crc32"]), "unknown algorithm \"crc32\"");
        assert_eq!(said(&["--before", "no/ftk"]), "--before no/ftk");
    }
}
