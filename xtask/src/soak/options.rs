//! The options of `cargo xtask soak`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::parts::{self, Part};
use crate::bench::options::Common;

/// Options of a run.
#[derive(Debug)]
pub(super) struct Options {
    /// In the order given, or that of [`parts::ALL`].
    pub(super) parts: Vec<&'static Part>,
    /// A part that repeats its work ends after this time.
    pub(super) limit: Option<Duration>,
    /// The number of kills of each kind of run; by default that of the part.
    pub(super) kills: Option<u64>,
    pub(super) common: Common,
    /// The program to test; by default the release build.
    pub(super) ftk: Option<PathBuf>,
}

impl Options {
    /// # Errors
    /// If an option or part is unknown, or a value is missing or invalid.
    pub(super) fn parse(args: &[&str]) -> Result<Self> {
        let common = Common::new("target/soak");
        let mut options = Self { parts: Vec::new(), limit: None, kills: None, common, ftk: None };
        let mut args = args.iter();
        while let Some(&arg) = args.next() {
            let mut value = || args.next().copied().with_context(|| format!("{arg} needs a value"));
            if options.common.accept(arg, &mut value)? {
                continue;
            }
            match arg {
                "--ftk" => options.ftk = Some(value()?.into()),
                "--kills" => options.kills = Some(value()?.parse().context("--kills")?),
                "--minutes" => {
                    let minutes: u64 = value()?.parse().context("--minutes")?;
                    options.limit = Some(Duration::from_secs(minutes * 60));
                }
                _ => match parts::ALL.iter().find(|part| part.name == arg) {
                    Some(part) => options.parts.push(part),
                    None => bail!("unknown part or option {arg:?}"),
                },
            }
        }
        if options.parts.is_empty() {
            options.parts = parts::ALL.iter().collect();
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_names_all_parts_run() {
        let options = Options::parse(&[]).unwrap();
        assert_eq!(options.parts.len(), parts::ALL.len());
        assert!(options.limit.is_none() && options.ftk.is_none() && !options.common.is_quick);
    }

    #[test]
    fn parts_and_options_mix() {
        let options = Options::parse(&["races", "--minutes", "2", "--ftk", "x/ftk", "stress"]).unwrap();
        assert_eq!(options.parts.iter().map(|part| part.name).collect::<Vec<_>>(), ["races", "stress"]);
        assert_eq!(options.limit, Some(Duration::from_secs(120)));
        assert_eq!(options.ftk.unwrap(), PathBuf::from("x/ftk"));
    }

    #[test]
    fn mistakes_are_named() {
        let said = |args: &[&str]| Options::parse(args).unwrap_err().to_string();
        assert_eq!(said(&["sleep"]), "unknown part or option \"sleep\"");
        assert_eq!(said(&["--ftk"]), "--ftk needs a value");
        assert_eq!(said(&["--minutes", "few"]), "--minutes");
        assert_eq!(said(&["--kills", "-1"]), "--kills");
    }
}
