//! `ftk hash --tree DIR...`: prints the digest of each directory as a whole.

use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, bail, ensure};
use clap::ValueEnum;
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::Keep;
use ftk_manifest::{Contents, TreeDigest, TreeForm, WalkedTree, git_blob, tree_digest, tree_digest_files};
use ftk_process::{Prefix, Progress, Work};
use ftk_record::{End, Style, SumFormat, quote, write_path};
use ftk_select::{Roots, Selection};
use ftk_walk::Follow;

use crate::algorithm::wanted;
use crate::cache;
use crate::console::{Console, Outcome, cause, say_failed};
use crate::globals::Globals;
use crate::hash::HashArgs;
use crate::hash::list::show;
use crate::human;
use crate::list::{List, named};
use crate::rules::Rules;
use crate::run::{Hashed, Run};
use crate::scan::too_large;
use crate::stdout::Stdout;

/// What `--tree` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TreeArg {
    /// The tree digest that docs/tree-digest.md specifies.
    #[value(name = "ftk")]
    Ftk,
    /// The id that `git write-tree` prints.
    #[value(name = "git")]
    Git,
}

pub(super) fn run(
    tree: TreeArg,
    args: &HashArgs,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let lists = &args.selection.starts;
    let is_stdin = |path: &OsStr| path == "-";
    ensure!(
        !args.paths.iter().any(|path| is_stdin(path)) && (!args.paths.is_empty() || lists.has_list()),
        "--tree needs directories"
    );
    let (form, algorithms) = match tree {
        TreeArg::Ftk => (TreeForm::Ftk, wanted(&args.algorithms())),
        TreeArg::Git => (TreeForm::Git, git_algorithm(args)?),
    };
    let mut run = Run::new(globals, console)?;
    let stdout = Stdout::default();
    let mut list = List::create(named(args.output.as_deref()), &stdout)?;
    let mut own = list.own_records();
    if form == TreeForm::Ftk {
        own.extend(run.reuse(args.cache)?);
    }
    let starts = lists.read(&args.paths, &[])?;
    let selection = args.selection.compile(&Roots::new(&starts), &own, console)?;
    let format = Format {
        form,
        algorithms: &algorithms,
        style: if args.tag || algorithms.len() > 1 { Style::Tagged } else { Style::Untagged },
        end: if args.zero { End::Nul } else { End::Newline },
        json: globals.json,
        is_shown: list.is_shown(),
    };
    let (mut outcome, mut done, mut failed, mut records) = (Outcome::Success, Progress::default(), 0, 0);
    let dirs = starts.len() as u64;
    let mut rules: Option<Rules> = None;
    for (number, start) in starts.into_iter().enumerate() {
        let path = start.to_bytes().to_vec();
        let read = read(&run, start, &selection.numbered_from(number), &format, args.selection.filter())?;
        match (&mut rules, read.rules) {
            (Some(rules), Some(of_walk)) => rules.merge(&of_walk),
            (rules, of_walk) => *rules = rules.take().or(of_walk),
        }
        if let Some(digests) = read.digests {
            list.line(|out| format.push(out, &digests, &path));
            records += 1;
        }
        outcome = outcome.max(read.outcome);
        done.files += read.done.files;
        done.bytes += read.done.bytes;
        failed += read.failed;
    }
    outcome = list.finish_records(outcome, records, console)?;
    rules.unwrap_or_default().say(console);
    let reused = cache::reused(run.close_cache());
    let (dirs, read) = (human::directories(dirs), human::count(done.files - failed, "file"));
    run.say_done(&format!("{dirs}, {read}{reused}"), done.bytes, &algorithms);
    Ok(outcome.max(run.say_unread(failed, NOT_HASHED)))
}

/// The consequence for files that could not be read.
const NOT_HASHED: &str = "not hashed";

/// Refuses options that a tree digest does not use.
///
/// # Errors
/// If there is one.
pub(super) fn refuse_unused(tree: TreeArg, args: &HashArgs) -> anyhow::Result<()> {
    ensure!(
        args.selection.follow(Follow::Roots) == Follow::Roots,
        "--tree hashes the targets of links and does not follow them: drop --follow"
    );
    if tree == TreeArg::Git {
        ensure!(!args.tag, "--tag cannot be used with --tree=git: there is no such tag");
        ensure!(!args.cache.is_given(), "--cache cannot be used with --tree=git: it stores no ids of git");
        git_algorithm(args)?;
    }
    Ok(())
}

/// Returns the algorithm of the ids of git.
fn git_algorithm(args: &HashArgs) -> anyhow::Result<Vec<Algorithm>> {
    match args.algorithms()[..] {
        [] => Ok(vec![Algorithm::Sha1]),
        [algorithm @ (Algorithm::Sha1 | Algorithm::Sha256)] => Ok(vec![algorithm]),
        _ => bail!("--tree=git accepts one algorithm: sha1 or sha256"),
    }
}

/// What was found about a directory.
struct Read {
    /// The digests, if there are any. If not, the reason was reported.
    digests: Option<Vec<u8>>,
    /// The rules of the selection, if the directory was walked.
    rules: Option<Rules>,
    outcome: Outcome,
    done: Progress,
    failed: u64,
}

/// Walks and reads a directory. `filter` is an option that may skip entries.
fn read(
    run: &Run<'_>,
    start: CString,
    selection: &Selection,
    format: &Format<'_>,
    filter: Option<&str>,
) -> anyhow::Result<Read> {
    let path = start.to_bytes().to_vec();
    let mut read =
        Read { digests: None, rules: None, outcome: Outcome::Error, done: Progress::default(), failed: 0 };
    let cannot = |why: &str| run.console.path_error("compute the tree digest of", &path, why);
    match fs::metadata(OsStr::from_bytes(&path)) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => {
            cannot("it is not a directory");
            return Ok(read);
        }
        Err(error) => {
            run.console.path_error("open", &path, cause(&error));
            return Ok(read);
        }
    }
    let scan = run.walk(vec![start], Follow::Roots, selection, Keep::Stats { files: false }, "")?;
    read.rules = Some(scan.rules);
    let inventory = &scan.inventory;
    let tree = WalkedTree { inventory, root: &path, failed: &scan.failed };
    let files = tree_digest_files(&tree, format.form)?;
    let prefix = (format.form == TreeForm::Git).then_some(git_blob as Prefix);
    let work = Work { prefix, ..run.whole(inventory, Some(&files), format.algorithms) };
    let mut rows = run.rows(&work, true).with_context(|| too_large(&run.budget))?;
    if work.files() > 0 {
        let hashed = run.read(&work, rows)?;
        say_failed(inventory, &hashed.failed, NOT_HASHED, run.console);
        let Hashed { rows: hashed_rows, done, failed } = hashed;
        (rows, read.done, read.failed) = (hashed_rows, done, failed.len() as u64);
    }
    let contents = Contents::read(Some(&files), &rows);
    let below = |below: &[u8]| match below {
        b"." => quote(&path),
        below => quote(&[&path, &b"/"[..], below].concat()),
    };
    match tree_digest(&tree, &contents, format.algorithms, format.form)? {
        TreeDigest::Known(digests) => (read.digests, read.outcome) = (Some(digests), scan.outcome),
        TreeDigest::Partial(dir) if scan.failed.is_empty() && filter.is_some() => {
            let option = filter.unwrap_or_default();
            let why = "the digest covers all: omit the option, or hash a copy without them";
            cannot(&format!("{option} skips entries of {}, and {why}", below(&dir)));
        }
        TreeDigest::Partial(dir) => {
            cannot(&format!("entries of {} were skipped or could not be read", below(&dir)));
        }
        TreeDigest::Unread(file) => cannot(&format!("{} could not be read", below(&file))),
    }
    Ok(read)
}

/// The format of a line.
struct Format<'a> {
    form: TreeForm,
    algorithms: &'a [Algorithm],
    style: Style,
    end: End,
    json: bool,
    /// Whether the output goes to a terminal.
    is_shown: bool,
}

impl Format<'_> {
    /// Appends the line of a directory, or with tags a line for each algorithm.
    fn push(&self, out: &mut Vec<u8>, digests: &[u8], path: &[u8]) {
        let mut rest = digests;
        let digests = self.algorithms.iter().map(|algorithm| {
            let digest = rest.split_off(..algorithm.digest_len()).expect("a digest by every algorithm");
            (algorithm, digest)
        });
        if self.json {
            out.push(b'{');
            write_path(out, "path", path);
            let member = if self.form == TreeForm::Git { "git_tree" } else { "tree" };
            let digests = digests
                .map(|(algorithm, digest)| format!("\"{algorithm}\":\"{}\"", Digest::from_bytes(digest)));
            let digests = digests.collect::<Vec<_>>().join(",");
            out.extend_from_slice(format!(",\"{member}\":{{{digests}}}}}\n").as_bytes());
            return;
        }
        for (algorithm, digest) in digests {
            // The tag is one that no reader of checksum lists takes for the digest of a file.
            let tag = format!("TREE-{}", algorithm.tag());
            let line = SumFormat::new(&tag, self.style, self.end);
            show(out, self.is_shown, |out| line.write_line(out, digest, path));
        }
    }
}
