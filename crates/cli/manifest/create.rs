//! `ftk manifest create ROOT`: records every entry of a tree.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use clap::{Args, ValueHint};
use ftk_file::xattr::HAS_ATTRIBUTES;
use ftk_file::{now_ns, sees_trusted};
use ftk_hash::Algorithm;
use ftk_inventory::Keep;
use ftk_manifest::{Contents, Error, Failed, Header, Plan, WalkedTree, Writer, create};
use ftk_record::quote;
use indicatif::HumanCount;

use crate::algorithm::{AlgorithmName, wanted};
use crate::cache::CacheArgs;
use crate::console::{Console, Outcome, cause};
use crate::globals::Globals;
use crate::list::{List, cannot_write, named};
use crate::manifest::archive;
use crate::manifest::body::Body;
use crate::manifest::output::OutputArgs;
use crate::manifest::reading;
use crate::manifest::root::Root;
use crate::manifest::scope::ScopeArgs;
use crate::manifest::shard::ShardArgs;
use crate::run::Run;
use crate::stdout::Stdout;

/// Record every entry of a tree
///
/// Prints a header, a line for each entry, sorted by path, and a footer that seals them; docs/manifest-format.md
/// describes every field. Paths are relative to ROOT. Links in the tree are recorded and not followed. Entries that
/// cannot be read, or that change while being read, are errors and get no line. The new manifest itself is skipped.
///
/// The selection options are stored in the manifest, so that verify selects the same entries.
///
/// The footer detects damage, not an attacker: a user who can change the file can also write a new footer. Sign the
/// file, and check the signature before you verify, or keep its digest elsewhere. `ftk help recipes sign` shows how,
/// and `ftk help recipes night` a nightly check.
///
/// With --shard, only a part of the tree is recorded. `merge` joins the parts of all shards. An earlier part of the
/// same shard is replaced.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CreateArgs {
    /// The directory to record; a symbolic link is followed
    #[arg(value_name = "ROOT", required_unless_present = "tar", value_hint = ValueHint::DirPath)]
    root: Option<OsString>,

    #[command(flatten)]
    output: OutputArgs,

    /// Digest algorithm [default: sha256]
    ///
    /// Several algorithms, separated by commas, are computed in one read. crc32, crc32c and crc64nvme need another one,
    /// since a CRC does not identify contents.
    #[arg(
        short,
        long = "algorithm",
        value_name = "ALGO",
        value_parser = AlgorithmName,
        value_delimiter = ',',
        help_heading = "Contents",
    )]
    algorithms: Vec<Algorithm>,

    /// Record no extended attributes
    ///
    /// By default they are recorded: access control lists, capabilities, SELinux labels and attributes of users. An
    /// entry whose attributes cannot be read is an error and gets no line.
    #[arg(long, help_heading = "Contents")]
    no_xattrs: bool,

    /// Accepted: attributes are recorded by default
    #[arg(long, hide = true, overrides_with = "no_xattrs")]
    xattrs: bool,

    /// Record no digests, and read no files
    #[arg(long, conflicts_with = "algorithms", help_heading = "Contents")]
    no_content: bool,

    /// Record the members of a tar archive instead; `-`: standard input
    ///
    /// The archive is read once and not extracted. It may be compressed with gzip, xz or Zstandard. The last member of
    /// a path counts, as in an extraction, and a hard link has the content of its target. A member whose name is
    /// absolute or has `..`, or whose type is unknown, is an error and gets no line. If a member has extended
    /// attributes, those of all are recorded. An archive that is cut off is an error, and nothing is written.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["root", "shard", "plan", "no_content", "cache"],
        help_heading = "Contents",
    )]
    tar: Option<OsString>,

    #[command(flatten)]
    shard: ShardArgs,

    /// Accept a ROOT that is not the directory of the plan
    ///
    /// By default, a ROOT is refused if its file system or its inode differs from those in the plan, or if no file
    /// system, or another one, is mounted where the plan has one. On a file system without a lasting identity, such as
    /// NFS or Lustre, its type and the path are compared.
    #[arg(long, requires = "plan", help_heading = "Shards")]
    other_root: bool,

    /// Accept a shard with less than half of its planned entries
    ///
    /// A directory where nothing is mounted looks like an empty tree.
    #[arg(long, requires = "plan", help_heading = "Shards")]
    allow_empty: bool,

    #[command(flatten)]
    cache: CacheArgs,

    #[command(flatten)]
    scope: ScopeArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk manifest create . -o /backup/today.jsonl     keep it on another disk
  ftk manifest create -E '*.tmp' -x / -o /mnt/root.jsonl.zst
                                                   compressed
  ftk manifest create --no-content /etc            permissions; reads no file
  ftk manifest create -a sha256,blake3 /archive -o archive.jsonl
                                                   two digests per file
  zcat tape.tar.gz | ftk manifest create --tar - -o tape.jsonl
                                                   the members of an archive
  ssh-keygen -Y sign -f KEY -n ftk-manifest archive.jsonl
                                                   sign it
  ftk manifest create --shard 3/16 --plan plan.json /lustre -o part-3.jsonl
                                                   a part, on one of 16 hosts";

pub(super) fn run(args: &CreateArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    if let Some(tar) = &args.tar {
        let is_selected = !args.scope.words(OsStr::new("."))?.is_empty();
        ensure!(
            !is_selected,
            "--tar records all members: options that select entries cannot be used with it"
        );
        refuse_only_crc(&args.algorithms)?;
        return archive::create(tar, &args.algorithms, &args.output, &Run::new(globals, console)?);
    }
    let given = args.root();
    let options = args.scope.words(given)?;
    let root = Root::open(given)?;
    let asked = args.shard.resolve(&root, &options, args.other_root)?;
    let (shard, plan) = asked.map_or((None, None), |asked| (Some(asked.shard), asked.plan));
    let algorithms = if args.no_content { Vec::new() } else { wanted(&args.algorithms) };
    refuse_only_crc(&algorithms)?;
    ensure!(args.no_xattrs || HAS_ATTRIBUTES, "ftk cannot read extended attributes here: use --no-xattrs");
    let mut header = Header {
        version: Header::VERSION,
        root: given.as_bytes().to_vec(),
        algorithms,
        xattrs: !args.no_xattrs,
        trusted_xattrs: args.no_xattrs || sees_trusted(),
        options,
        start_ns: now_ns(),
        root_identity: Some(root.identity().clone()),
        mounts: Vec::new(),
        failed: Failed::default(),
        shard,
        is_tar: false,
        provenance: root.provenance(),
    };
    let output = named(args.output.output.as_deref());
    if !ShardArgs::is_earlier(output, &header) {
        args.output.check()?;
    }
    let mut run = Run::new(globals, console)?;
    let stdout = Stdout::default();
    let list = List::create(output, &stdout)?;
    let mut own = list.own();
    if !args.no_content {
        own.extend(run.reuse(args.cache)?);
    }
    let keep = Keep::Stats { files: args.no_content };
    let check_mounts = || match (&plan, &header.shard) {
        (Some(plan), Some(shard)) if !args.other_root => {
            root.check_mounts(&plan.mounts, Some(shard), "or add --other-root")
        }
        _ => Ok(()),
    };
    check_mounts()?;
    let scan = reading::walk(&run, &root, &args.scope, keep, &own, header.shard.as_ref())?;
    // The walk may have mounted one, and one may have vanished meanwhile.
    check_mounts()?;
    let inventory = &scan.inventory;
    let tree = WalkedTree { inventory, root: given.as_bytes(), failed: &scan.failed };
    if let Some(shard) = &mut header.shard {
        scan.listed.record(shard);
        if let Some(plan) = &plan {
            args.check_entries(plan, shard.number, &tree, console)?;
        }
    }
    header.start_ns = reading::start_ns(inventory, &list, header.start_ns);
    let read = match args.no_content {
        true => None,
        false => Some(reading::read(&run, inventory, None, &header.algorithms, header.xattrs, NOT_RECORDED)?),
    };
    let contents = read.as_ref().map_or_else(Contents::none, |read| Contents::read(None, &read.rows));
    let mut without_xattrs = 0;
    let mut on_error = |path: &[u8], error: io::Error| {
        without_xattrs += 1;
        say_no_xattrs(tree.root, path, &error, console);
    };
    let entries = write(&header, list, output, |writer| {
        create(&tree, &contents, header.xattrs, writer, &run.budget, &mut on_error)
    })?;

    if without_xattrs > 0 {
        console.summary("--no-xattrs records entries without their attributes");
    }
    let (done, failed) = read.map_or_else(Default::default, |read| (read.done, read.failed.len() as u64));
    let reused = run.close_cache();
    reading::say_done(&run, entries, done, failed, reused, &header.algorithms);
    Ok(scan.outcome.max(run.say_unread_with(failed + without_xattrs, scan.unlisted, NOT_RECORDED)))
}

/// Refuses algorithms none of which identifies contents. None at all are fine.
fn refuse_only_crc(algorithms: &[Algorithm]) -> anyhow::Result<()> {
    ensure!(
        algorithms.is_empty() || algorithms.iter().any(|algorithm| algorithm.identifies_content()),
        "a manifest needs an algorithm that identifies contents besides {}, such as xxh3",
        algorithms[0],
    );
    Ok(())
}

impl CreateArgs {
    /// Returns the directory to record, or nothing if it is an archive.
    fn root(&self) -> &OsStr {
        self.root.as_deref().unwrap_or_default()
    }

    /// Compares the number of entries of a shard with the plan. Says if the shard has become much larger.
    ///
    /// # Errors
    /// If less than half of them are there, and nothing shows why.
    fn check_entries(
        &self,
        plan: &Plan,
        number: u32,
        tree: &WalkedTree<'_>,
        console: &Console,
    ) -> anyhow::Result<()> {
        let planned = plan.shards[number as usize - 1].entries;
        let found = tree.entries();
        // Planned entries may be below a directory that could not be listed. Then the part says so.
        let is_explained = self.allow_empty || !tree.failed.is_empty();
        ensure!(
            is_explained || found.saturating_mul(2) >= planned,
            "{}: {} of {} planned entries of shard {number} are there: is the file system mounted? (if they were \
             deleted or moved, make a new plan, or add --allow-empty)",
            quote(self.root().as_bytes()),
            HumanCount(found),
            HumanCount(planned),
        );
        let mean = plan.shards.iter().map(|shard| shard.entries).sum::<u64>() / plan.shards.len() as u64;
        let most = planned.max(mean);
        if found > most.saturating_mul(AGED) && found - most >= AGED_BY {
            console.warning(format_args!(
                "shard {number} has {} entries, and the plan has {}: `ftk manifest plan --from-parts` makes a new plan",
                HumanCount(found),
                HumanCount(planned),
            ));
        }
        Ok(())
    }
}

/// A plan is old if a shard has this many times the planned entries, and at least so many more.
const AGED: u64 = 3;
const AGED_BY: u64 = 1_000;

/// Receives whole lines of a manifest.
pub(super) type Sink<'s> = &'s mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Writes a whole manifest to `output`: the header, the entries that `fill` writes, and the footer. It is compressed if
/// `output` ends in `.zst`.
pub(super) fn write<T>(
    header: &Header,
    list: List<'_>,
    output: Option<&Path>,
    fill: impl FnOnce(&mut Writer<Sink<'_>>) -> Result<T, Error>,
) -> anyhow::Result<T> {
    write_with(header, list, output, |writer| {
        // An I/O error is returned without the manifest's wording.
        let filled = fill(writer).map_err(|error| match error {
            Error::Io(error) => anyhow::Error::from(error),
            error => error.into(),
        });
        filled.with_context(|| cannot_write(output))
    })
}

/// Writes like [`write()`]. The errors of `fill` say what failed.
pub(super) fn write_with<T>(
    header: &Header,
    mut list: List<'_>,
    output: Option<&Path>,
    fill: impl FnOnce(&mut Writer<Sink<'_>>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let unwritten = || cannot_write(output);
    let mut body = Body::new(&mut list, output).with_context(unwritten)?;
    let mut sink = |line: &[u8]| body.line(line);
    let mut writer = Writer::new(header, &mut sink as Sink<'_>);
    let filled = fill(&mut writer)?;
    writer.finish().with_context(unwritten)?;
    body.finish().with_context(unwritten)?;
    list.finish()?;
    Ok(filled)
}

/// Reports that the extended attributes of an entry cannot be read.
pub(super) fn say_no_xattrs(root: &[u8], path: &[u8], error: &io::Error, console: &Console) {
    console.path_error("read the attributes of", &join(root, path), cause(error));
}

/// Joins the root and the path of an entry, as in other messages about the tree.
pub(crate) fn join(root: &[u8], below: &[u8]) -> Vec<u8> {
    let gap: &[u8] = if root.ends_with(b"/") { b"" } else { b"/" };
    if below == b"." { root.to_vec() } else { [root, gap, below].concat() }
}

/// The consequence for files that could not be read.
pub(super) const NOT_RECORDED: &str = "not recorded";
