//! The options that limit a command to one shard of a tree.

use std::ffi::OsStr;
use std::io::BufReader;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf, absolute};
use std::str::FromStr;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_manifest::{Header, Plan, PlanError, Shard};
use ftk_record::quote;

use crate::input;
use crate::manifest::root::Root;

/// Options that select one shard.
#[derive(Debug, Args)]
pub(super) struct ShardArgs {
    /// Only shard K of N: a part of the tree
    ///
    /// Without --plan, directories are assigned to shards by a hash of their path. Then every shard lists all
    /// directories, but examines only the entries of its own.
    #[arg(long, value_name = "K/N", help_heading = "Shards")]
    shard: Option<Nth>,

    /// The plan that divides the tree (see `ftk manifest plan`)
    ///
    /// Only directories with entries of the shard are listed. The plan must have N shards, and must be a plan for this
    /// ROOT and for these options.
    #[arg(long, value_name = "PLAN", requires = "shard", help_heading = "Shards")]
    plan: Option<PathBuf>,
}

/// A shard of a number of shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Nth {
    number: u32,
    of: u32,
}

impl FromStr for Nth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| {
            let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse::<u32>().ok().filter(|_| is_number)
        };
        let (number, of) = text
            .split_once('/')
            .and_then(|(nth, of)| Some((number(nth)?, number(of)?)))
            .ok_or("expected the number of a shard and the number of all shards, such as 3/16")?;
        if of > Shard::MOST {
            return Err(format!("at most {} shards", Shard::MOST));
        }
        if (1..=of).contains(&number) {
            return Ok(Self { number, of });
        }
        Err(PlanError::NoShard { number, of }.to_string())
    }
}

/// A shard that was asked for.
pub(super) struct Asked {
    pub(super) shard: Shard,
    pub(super) plan: Option<Plan>,
}

impl ShardArgs {
    /// Returns the shard of the tree `root` whose entries are selected by `options`; `None` for the whole tree. With
    /// `other_root`, a plan may be for another directory.
    ///
    /// # Errors
    /// If the plan cannot be read, is for another directory or for other options, or has another number of shards.
    pub(super) fn resolve(
        &self,
        root: &Root,
        options: &[Vec<u8>],
        other_root: bool,
    ) -> anyhow::Result<Option<Asked>> {
        let Some(Nth { number, of }) = self.shard else { return Ok(None) };
        let Some(path) = &self.plan else {
            return Ok(Some(Asked { shard: Shard::hashed(number, of), plan: None }));
        };
        let name = || quote(path.as_os_str().as_bytes());
        let plan = read(path)?;
        if let Some(why) = difference(&plan, root).filter(|_| !other_root) {
            bail!(
                "{} is a plan for {}, which is another directory than {}: {why} (mount the right one, or add \
                 --other-root)",
                name(),
                quote(&plan.root.path),
                quote(root.given().as_bytes())
            );
        }
        ensure!(
            plan.options == options,
            "{} is a plan for a tree with {}; the options given here are {}",
            name(),
            shown(&plan.options),
            shown(options)
        );
        let shard = plan.shard(number, of).with_context(name)?;
        Ok(Some(Asked { shard, plan: Some(plan) }))
    }

    /// Returns whether `output` is an earlier manifest of the shard that `header` describes, which may be replaced.
    pub(super) fn is_earlier(output: Option<&Path>, header: &Header) -> bool {
        let earlier = output
            .filter(|path| path.is_file())
            .and_then(|path| Header::of(&input::open_file(path.as_os_str()).ok()?).ok());
        earlier.is_some_and(|earlier| earlier.is_same_part(header))
    }
}

/// Reads a plan.
fn read(path: &Path) -> anyhow::Result<Plan> {
    let name = || quote(path.as_os_str().as_bytes());
    let file = input::open(path.as_os_str()).with_context(|| format!("cannot open {}", name()))?;
    Plan::read(BufReader::new(file)).with_context(name)
}

/// Returns why `root` is not the directory of a plan, or `None` if it is.
fn difference(plan: &Plan, root: &Root) -> Option<String> {
    match &plan.root.identity {
        Some(planned) => planned.difference(root.identity()).map(|why| why.to_string()),
        None => {
            let given = absolute(root.given()).map(|path| normal(path.as_os_str().as_bytes()));
            let is_same =
                root.identity().path == plan.root.path || given.is_ok_and(|it| it == plan.root.path);
            (!is_same).then(|| "its path differs".into())
        }
    }
}

/// Returns a path without superfluous slashes.
pub(super) fn normal(path: &[u8]) -> Vec<u8> {
    let path: PathBuf = Path::new(OsStr::from_bytes(path)).components().collect();
    path.into_os_string().into_vec()
}

/// Describes options that select entries.
fn shown(options: &[Vec<u8>]) -> String {
    match options {
        [] => "no options that select entries".into(),
        options => options.iter().map(|option| quote(option)).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_numbered_from_1() {
        assert_eq!("3/16".parse(), Ok(Nth { number: 3, of: 16 }));
        assert_eq!("1/1".parse(), Ok(Nth { number: 1, of: 1 }));
        for text in
            ["", "3", "/", "0/3", "4/3", "1/0", "+1/3", "-1/3", "1/3/5", " 1/3", "1/2000000", "9999999999/1"]
        {
            assert!(text.parse::<Nth>().is_err(), "{text}");
        }
    }

    #[test]
    fn paths_are_compared_without_superfluous_slashes() {
        assert_eq!(normal(b"/a//b/./c/"), b"/a/b/c");
        assert_eq!(normal(b"/"), b"/");
    }
}
