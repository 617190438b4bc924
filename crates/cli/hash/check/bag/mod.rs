//! `ftk hash --bag DIR`: validates a BagIt bag (RFC 8493).
//!
//! The manifests are read into one table ([`manifests`]), sorted by path, so that a file which several of them
//! list is read once. The files are checked like those of a checksum list. Besides, the payload is compared with
//! the manifests ([`payload`]), and the other files of the bag with both ([`tags`]).

mod findings;
mod manifests;
mod payload;
mod tags;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use ftk_inventory::PathList;
use ftk_record::{End, quote};
use ftk_select::Roots;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::hash::HashArgs;
use crate::hash::check::bag::findings::Findings;
use crate::hash::check::bag::manifests::Listed;
use crate::hash::check::bag::payload::Payload;
use crate::hash::check::bag::tags::Declaration;
use crate::hash::check::files::Files;
use crate::hash::check::lists::Tables;
use crate::hash::check::verdict::CheckResult;
use crate::hash::check::verdicts::{Manner, Verdicts};
use crate::list::{List, named};
use crate::run::Run;
use crate::stdout::Stdout;

pub(in crate::hash) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let [dir] = &*args.paths else { bail!("--bag validates one bag: name its directory") };
    let bag = Path::new(dir);
    let name = quote(dir.as_bytes());
    let metadata = bag.metadata().with_context(|| format!("cannot open {name}"))?;
    ensure!(metadata.is_dir(), "{name} is not a directory: a bag is one");
    let run = Run::new(globals, console)?;
    let stdout = Stdout::default();
    let out = List::create(named(args.output.as_deref()), &stdout)?;
    let selection = args.selection.compile(&Roots::none(), &out.own(), console)?;

    let mut findings = Findings::new(bag, console);
    let declaration = Declaration::read(bag, &mut findings)?;
    let listed = Listed::read(bag, globals.memory() / 2, &mut findings)?;
    let payload = Payload::walk(bag, &selection, &run, &mut findings)?;
    let unlisted = payload.unlisted(&listed);
    tags::check_fetch(bag, &declaration, &listed, &mut findings);
    tags::check_oxum(&declaration, &payload, &mut findings);
    listed.check(&declaration, &mut findings);
    let root = CString::new(dir.as_bytes())?;
    let mut tables = Tables::new(PathList::confined(root).within(&run.budget), Some("--bag"), false);
    let links = listed.fill(&payload, &mut tables, &run)?;

    let Tables { lines, paths, .. } = tables;
    let files = Files::read(&lines, paths, &run)?;
    let end = if args.zero { End::Nul } else { End::Newline };
    let manner = Manner { args: &args.check, is_quiet: globals.quiet, json: globals.json, end };
    let mut verdicts = Verdicts::new(manner, out, console);
    verdicts.of_files(&lines, &files, &links);
    verdicts.without_digest(CheckResult::New, unlisted.iter().map(AsRef::as_ref));
    let outcome = findings.outcome();
    let outcome = outcome.max(verdicts.finish(&lines, &files, &run)?);
    console.summary(match outcome {
        Outcome::Success => format!("{name} is a valid bag"),
        Outcome::Negative | Outcome::Corrupted(_) => format!("{name} is NOT a valid bag   (status 1)"),
        Outcome::Error => {
            format!("{name} is NOT known to be a valid bag: not all could be checked   (status 2)")
        }
    });
    Ok(outcome)
}
