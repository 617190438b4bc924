//! `ftk manifest unique A B`: lists files of one tree whose content is nowhere in another.

use std::ffi::OsString;
use std::ops::ControlFlow;

use anyhow::bail;
use clap::Args;
use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Entry, Field, unique};
use ftk_record::{sanitize, write_path};
use indicatif::DecimalBytes;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::hash::diff::both;
use crate::human;
use crate::list::List;
use crate::manifest::input::{Input, in_either};
use crate::stdout::Stdout;

/// List the files of A whose content is not in B
///
/// Only contents are compared, not names or metadata, and no file is read. Both manifests must have an algorithm in
/// common. If a manifest lacks what could not be read when it was made, the answer is unknown, with status 2.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct UniqueArgs {
    /// The manifest whose files are listed; `-`: standard input
    #[arg(value_name = "A")]
    a: OsString,

    /// The manifest that is searched for their content
    #[arg(value_name = "B")]
    b: OsString,

    /// End each path with NUL instead of newline
    #[arg(short = '0', long = "null", conflicts_with = "json", help_heading = "Output")]
    zero: bool,
}

const EXAMPLES: &str = "\
Exit status: 0: no such file; 1: files found; 2: any error

Examples:
  ftk manifest unique old-disk.jsonl archive.jsonl
                        files that only the old disk has
  ftk manifest unique -0 old-disk.jsonl archive.jsonl |
      rsync -0 --files-from=- /mnt/old /archive
                        copy them to the archive";

pub(super) fn run(args: &UniqueArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    if args.a == "-" && args.b == "-" {
        bail!("standard input can be read only once");
    }
    let [a, b] = both([&args.a, &args.b], globals, |path| Ok(Input::open(path, globals)?.manifest))?;
    let stdout = Stdout::default();
    let mut list = List::create(None, &stdout)?;
    let is_shown = list.is_shown();
    let algorithms = &a.header().algorithms;
    let has_failed = [&a, &b].map(|manifest| !manifest.header().failed.is_empty());
    let mut bytes = 0;
    let files = unique(&a, &b, &Budget::new(globals.memory()), &mut |entry: &Entry<'_>| {
        bytes = u64::saturating_add(bytes, entry.size().unwrap_or_default()); // a manifest may contain any size
        list.line(|out| match (globals.json, is_shown) {
            (true, _) => push_json(out, entry, algorithms, has_failed[1]),
            (_, true) if !args.zero => {
                out.extend_from_slice(sanitize(entry.path).as_bytes());
                out.push(b'\n');
            }
            _ => {
                out.extend_from_slice(entry.path);
                out.push(if args.zero { 0 } else { b'\n' });
            }
        });
        ControlFlow::Continue(())
    });
    let files = files.map_err(|error| in_either(error, [&args.a, &args.b]))?;
    list.finish()?;
    let outcome = match has_failed {
        [false, _] if files == 0 => Outcome::Success,
        [false, false] => Outcome::Negative,
        _ => Outcome::Error,
    };
    let (found, status) = (human::count(files, "file"), outcome.status());
    let bytes = DecimalBytes(bytes);
    console.summary(match has_failed {
        [false, _] if files == 0 => "all content of A is in B".to_owned(),
        [true, false] => {
            format!("{found}, {bytes}, only in A, whose record is not complete   (status {status})")
        }
        [_, true] => format!("{found}, {bytes}, not in B as far as it is known   (status {status})"),
        _ => format!("{found}, {bytes}, only in A   (status {status})"),
    });
    Ok(outcome)
}

/// Appends `{"path":"a","size_bytes":3,"digests":{"sha256":"..."}}`, and `"verdict":"unknown"` for a content that B
/// may have.
fn push_json(out: &mut Vec<u8>, entry: &Entry<'_>, algorithms: &[Algorithm], is_unknown: bool) {
    out.push(b'{');
    write_path(out, "path", entry.path);
    out.push(b',');
    Field::Size.write_member(out, "size_bytes", entry, algorithms);
    out.push(b',');
    Field::Digests.write_member(out, "digests", entry, algorithms);
    if is_unknown {
        out.extend_from_slice(b",\"verdict\":\"unknown\"");
    }
    out.extend_from_slice(b"}\n");
}
