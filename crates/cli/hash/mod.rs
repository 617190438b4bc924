//! `ftk hash`: computes, checks and compares digests of files. Each mode has its own module.

mod assumed;
mod bag_create;
mod check;
pub(crate) mod diff;
mod etag;
mod lines;
mod list;
mod mhl;
pub(crate) mod reading;
mod sums;
pub(crate) mod table;
mod tree;
mod update;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{bail, ensure};
use clap::Args;
use ftk_hash::Algorithm;
use ftk_walk::Follow;

use crate::algorithm::{DigestKind, DigestName, S3_ETAG};
use crate::cache::CacheArgs;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::hash::check::CheckArgs;
use crate::hash::tree::TreeArg;
use crate::hash::update::UpdateArgs;
use crate::selection::{RecursiveArg, SelectionArgs};

/// Print the digest of every file; check and compare checksum lists
///
/// The output is sorted by path and has the format of sha256sum and similar tools, byte for byte. Directories are
/// searched recursively, and every regular file in them is read, hidden and ignored ones too. A file that cannot be
/// read, or that changes while being read, is an error and gets no line.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HashArgs {
    /// Files and directories; `-` or no PATH: standard input
    ///
    /// A file or directory reached through several PATHs is read once, under the first of them. The summary counts the
    /// paths that were skipped for this reason.
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,

    /// Digest algorithms, such as sha256,blake3
    #[arg(
        short,
        long = "algorithm",
        value_name = "ALGO",
        value_parser = DigestName,
        hide_possible_values = true,
        long_help = algorithms(),
        value_delimiter = ',',
        help_heading = "Output",
    )]
    algorithms: Vec<DigestKind>,

    /// The size of the parts of `-a s3-etag`
    ///
    /// It is that of the upload. The default is 8M, which the AWS command line uses.
    #[arg(long, value_name = "SIZE", value_parser = etag::part_size, hide_short_help = true, help_heading = "Output")]
    part_size: Option<u64>,

    /// Print lines like `SHA256 (name) = digest`
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    tag: bool,

    /// Print digests in base64
    ///
    /// As `cksum --base64` prints them, and as S3 stores its checksums.
    #[arg(long, conflicts_with_all = ["json", "sfv", "Mode"], hide_short_help = true, help_heading = "Output")]
    base64: bool,

    /// Print lines like `name CRC32`
    ///
    /// The format is that of Simple File Verification, and the algorithm CRC-32. It cannot represent some names:
    /// those with a line end, with a blank at the start or end, or with `;` at the start. Such a file is an error and
    /// gets no line.
    #[arg(long, conflicts_with_all = ["tag", "zero", "algorithms", "Mode"], help_heading = "Output")]
    sfv: bool,

    /// Write a list of another kind: mhl
    ///
    /// mhl is the film hash list of version 1.1, in XML, by xxh64, or by md5 and sha1. Names are relative to the
    /// directory of FILE or --root. Names that XML cannot hold are errors and get no entry. `ftk manifest export
    /// --format ascmhl` writes version 2.0.
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        hide_possible_values = true,
        hide_short_help = true,
        conflicts_with_all = ["tag", "zero", "sfv", "base64", "special", "Mode"],
        help_heading = "Output",
    )]
    format: Option<ListFormatArg>,

    /// End lines with NUL, unescaped
    ///
    /// A terminal shows control characters escaped nevertheless. With --check and --diff, the lists that are read have
    /// lines that end with NUL, too.
    #[arg(short, long, visible_short_alias = '0', visible_alias = "null", help_heading = "Output")]
    zero: bool,

    /// Read PATHs that are FIFOs or devices to their end
    ///
    /// The selection options do not apply to them. A pipe of `<(command)` is read without this option.
    #[arg(long, conflicts_with = "Mode")]
    special: bool,

    /// Write to FILE, which appears only when it is complete
    ///
    /// `-`: standard output. A new list of digests does not replace a FILE with content if something could not be read,
    /// or if no file was selected: then FILE stays as it is, and the status is 2. After errors, the new list is
    /// FILE.incomplete, or FILE.incomplete.2 if there is such a file.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    cache: CacheArgs,

    #[command(flatten)]
    mode: Mode,

    /// With --bag: turn directory PATH into a bag; try --dry-run
    ///
    /// This happens in place: reads all files, moves everything in PATH to PATH/data, and writes bagit.txt,
    /// bag-info.txt, manifests and tag manifests, by sha256 and sha512 or the algorithms of -a. A bag, links, special
    /// files, other file systems, and names that a manifest cannot represent are refused before anything changes.
    /// Manifests do not list empty directories. If the run is interrupted, the directory .ftk-bag in PATH has what was
    /// moved: the same command completes the bag.
    #[arg(long, help_heading = "Instead of printing digests")]
    create: bool,

    /// With --bag --create: only print what would be moved and written
    ///
    /// Reads no file, and changes nothing. What cannot be in a bag is reported, with status 2.
    #[arg(long, help_heading = "Instead of printing digests", hide_short_help = true)]
    dry_run: bool,

    #[command(flatten)]
    check: CheckArgs,

    #[command(flatten)]
    update: UpdateArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    recursive: RecursiveArg,
}

/// A format of new lists that are not lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ListFormatArg {
    /// The film hash list of version 1.1
    Mhl,
}

/// Modes other than printing digests.
#[derive(Debug, Args)]
#[group(multiple = false)]
#[command(next_help_heading = "Instead of printing digests")]
struct Mode {
    /// Read PATHs as checksum lists; check every file they name
    ///
    /// Prints `name: OK` or `name: FAILED` for each line, and with several algorithms `name: FAILED (MD5)`. The exit
    /// status is 1 if a file is missing or its content differs; it is 2 if a file cannot be read, a line with a digest
    /// cannot be checked, or a list contains no checksums.
    ///
    /// Accepts the lists of sha256sum and similar tools, b3sum, xxhsum, openssl, RHash, hashdeep and the BSDs, also
    /// with DOS line ends if every line has them, SFV lists, and BagIt manifests next to a bagit.txt. If neither a
    /// tag nor -a names the algorithm, the length of the digest decides. All digests of a file are checked, also by
    /// algorithms that -a does not name; if lists with names of algorithms lack one of -a, that is an error. With
    /// --zero, lists and verdicts end their lines with NUL. With --quiet, good files are not reported.
    ///
    /// Film hash lists are accepted, too: MHL 1.1, generations of ASC MHL 2.0, and whole histories, whose PATH is the
    /// directory that contains `ascmhl`. Their names are relative to the place of the list, and none leads out of it.
    ///
    /// In a directory, finds the lists by their names, hidden ones too: SHA256SUMS, x.md5, x.sfv, checksums.txt and so
    /// on, the manifests of bags, x.mhl and `ascmhl`. Each is checked in its own place, and has a line in the summary.
    /// The exit status is 2 if there is none, or if something else has such a name, unless it is a directory.
    #[arg(short, long, conflicts_with = "tag")]
    check: bool,

    /// Validate the BagIt bag in directory PATH (RFC 8493)
    ///
    /// Checks every file with all manifests and tag manifests, each in one read, and prints verdicts like --check.
    /// Files in data/ must be in every manifest. Payload-Oxum must be right, and nothing may be left to fetch. Paths
    /// that lead out of the bag are errors, and no link in it is followed. The exit status is 1 if the bag is not
    /// valid; it is 2 if something cannot be checked. See also --create.
    #[arg(long, conflicts_with_all = ["NameArgs", "InodeArgs", "ExpressionArgs", "WalkArgs", "ExclusionArgs", "StartArgs", "tag"])]
    bag: bool,

    /// Compare two checksum lists, the PATHs OLD and NEW
    ///
    /// Reads the same lists as --check. `./` at the start of names is ignored. No file named in the lists is read.
    #[arg(long, conflicts_with_all = ["NameArgs", "InodeArgs", "ExpressionArgs", "WalkArgs", "ExclusionArgs", "StartArgs", "tag"])]
    diff: bool,

    /// Print the digest of each line of one PATH, in input order
    ///
    /// Prints only the digests, one per line. A newline is not part of its line; a carriage return is. The last line
    /// may lack its newline. With --zero, lines and digests end with NUL. With --json, prints one object per line.
    #[arg(long, conflicts_with_all = ["NameArgs", "InodeArgs", "ExpressionArgs", "WalkArgs", "ExclusionArgs", "StartArgs", "tag"])]
    lines: bool,

    /// Print one digest of each directory; FORM: ftk, git
    ///
    /// It covers the names, types, contents, link targets and executable bits of everything below the directory, and is
    /// equal for equal directories: see `ftk help tree-digest`. A directory gets none, and the exit status is 2, if
    /// something below it cannot be read or is skipped by an option. With --tag or several algorithms, each line has
    /// a tag, such as `TREE-SHA256 (photos) = ...`.
    ///
    /// With --tree=git, prints the id that `git write-tree` gives to the directory: by SHA-1, or with `-a sha256` by
    /// SHA-256. `.git` and empty directories are skipped; no attributes or filters apply.
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "ftk",
        hide_possible_values = true,
        conflicts_with = "special",
    )]
    tree: Option<TreeArg>,

    /// Add the files to checksum list LIST that it lacks
    ///
    /// Searches the PATHs, or else the directory of LIST, and reads only files that LIST does not name or that are
    /// newer than LIST; names in it are relative to its directory, or absolute. Files that are missing or not as listed
    /// are reported and kept, with status 1, without --prune and --rehash. LIST gets the time at which the run began;
    /// while a file is not as listed, LIST stays older than it, and newer files are read in each run. All other lines,
    /// the format, algorithms, mode and owner of LIST stay, and it is replaced as a whole. New lines are sorted in if
    /// LIST is sorted by path, and else come last.
    ///
    /// Accepts the lists that --check does, if they have no other text. With the payload manifest of a bag, all its
    /// manifests, tag manifests and Payload-Oxum are updated.
    #[arg(
        long,
        value_name = "LIST",
        conflicts_with_all = ["tag", "output"],
    )]
    update: Option<PathBuf>,
}

/// The explanation of `--algorithm`. The short help has no room for all names.
fn algorithms() -> String {
    let names = Algorithm::ALL.map(Algorithm::name).join(", ");
    format!(
        "Digest algorithm [default: sha256]\n\nSeveral algorithms, separated by commas, are computed in one read and \
         printed as tagged lines. Algorithms: {names}.\n\n{} is the ETag of S3: the MD5 of a file that is smaller than \
         one part (see --part-size), and otherwise the MD5 of those of its parts, with their number after a dash. It is \
         only printed: neither checks nor manifests know the size of the parts.",
        S3_ETAG
    )
}

const EXAMPLES: &str = "\
Exit status: 0: success; 1: differences or failed checks; 2: any error

Examples:
  ftk hash -o SHA256SUMS ~/archive   write a list that `sha256sum -c` accepts
  ftk hash --root dist -o dist/SUMS  names without `dist/`, for a check in dist
  ftk hash --check -q SHA256SUMS     report only files that are not OK
  ftk hash --bag /srv/bags/1912      validate a BagIt bag; --create makes one
  ftk hash --tree photos             one digest of a whole directory";

pub(crate) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    args.refuse_conflicts_with(globals)?;
    let Mode { check, bag, diff, lines, tree, ref update } = args.mode;
    if args.algorithms.contains(&DigestKind::S3Etag) {
        return etag::run(args, globals, console);
    }
    if let Some(list) = update {
        return update::run(list, args, globals, console);
    }
    match (check, bag, diff, lines, tree) {
        (true, ..) => check::run(args, globals, console),
        (_, true, ..) if args.create => bag_create::run(args, globals, console),
        (_, true, ..) => check::bag::run(args, globals, console),
        (.., true, _, _) => diff::run(args, globals, console),
        (.., true, _) => lines::run(args, globals, console),
        (.., Some(tree)) => tree::run(tree, args, globals, console),
        _ => sums::run(args, globals, console),
    }
}

impl HashArgs {
    /// Returns the algorithms that were given.
    fn algorithms(&self) -> Vec<Algorithm> {
        self.algorithms.iter().filter_map(|kind| kind.algorithm()).collect()
    }

    /// Refuses options that the mode does not use, and conflicts that clap cannot declare here.
    ///
    /// # Errors
    /// If there is one.
    pub(crate) fn refuse_conflicts_with(&self, globals: &Globals) -> anyhow::Result<()> {
        let Mode { check, bag, diff, lines, tree, ref update } = self.mode;
        let updates = update.is_some();
        let is_new_list = !check && !bag && !diff && !lines && tree.is_none() && !updates;
        let modes =
            [(check, "--check"), (bag, "--bag"), (diff, "--diff"), (lines, "--lines"), (updates, "--update")];
        if let Some(mode) = modes.into_iter().find(|it| it.0) {
            ensure!(!self.cache.is_given(), "--cache cannot be used with {}: it always reads", mode.1);
        } else {
            ensure!(
                !(self.zero && globals.json),
                "--zero cannot be used with --json: each object is one line"
            );
            ensure!(!(self.sfv && globals.json), "--sfv cannot be used with --json");
            ensure!(!(self.format.is_some() && globals.json), "--format cannot be used with --json");
        }
        if self.format.is_some()
            && let Some(other) = self.algorithms().into_iter().find(|it| mhl::element(*it).is_none())
        {
            bail!("--format mhl has digests by md5, sha1 and xxh64, and not by {other}");
        }
        if self.algorithms.contains(&DigestKind::S3Etag) {
            ensure!(is_new_list, "--algorithm {} is only for printing digests", S3_ETAG);
            etag::refuse_unused(self)?;
        } else {
            ensure!(self.part_size.is_none(), "--part-size needs --algorithm {}", S3_ETAG);
        }
        match self.check.given(diff, is_new_list) {
            Some(option) if !check => bail!("{option} needs --check, which reads lists"),
            _ => {}
        }
        ensure!(bag || !self.create, "--create needs --bag: it makes a bag");
        ensure!(
            self.create || !self.dry_run,
            "--dry-run needs --bag --create: nothing else here changes files"
        );
        if is_new_list
            && self.paths.is_empty()
            && !self.selection.starts.has_list()
            && self.check.root.is_none()
        {
            self.refuse_filters_of_stdin()?;
        }
        if let Some(option) = self.update.given().filter(|_| !updates) {
            bail!("{option} needs --update");
        }
        if check {
            check::refuse_unused(self)?;
        }
        if self.create {
            bag_create::refuse_unused(self, globals)?;
        } else if bag {
            ensure!(
                self.algorithms.is_empty(),
                "--algorithm cannot be used with --bag: the manifests name the algorithms"
            );
        }
        tree.map_or(Ok(()), |form| tree::refuse_unused(form, self))
    }
}

impl HashArgs {
    /// Refuses options that select files below a PATH if there is none: then standard input would be hashed.
    ///
    /// # Errors
    /// If there is one.
    fn refuse_filters_of_stdin(&self) -> anyhow::Result<()> {
        let walks = [
            (self.selection.follow(Follow::Never) == Follow::Always, "--follow"),
            (self.recursive.is_given(), "--recursive"),
        ];
        let walks = walks.into_iter().find_map(|(is_given, option)| is_given.then_some(option));
        if let Some(option) = self.selection.filter().or(walks) {
            bail!(
                "{option} needs a PATH, since hash reads standard input without one; \
                 for this directory: ftk hash {option} ... ."
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use crate::args::{Args, Command};
    use crate::config::{FILTERS, INODES};

    /// Whether `ftk hash` accepts these words.
    fn is_accepted(words: &[&str]) -> bool {
        let words = [&["ftk", "hash"], words].concat();
        <Args as clap::Parser>::try_parse_from(&words).is_ok_and(|args| match &args.command {
            Command::Hash(hash) => hash.refuse_conflicts_with(&args.globals).is_ok(),
            _ => panic!("{words:?} is another command"),
        })
    }

    /// A value that the option accepts.
    fn value(long: &str) -> &'static str {
        match long {
            "algorithm" => "sha256",
            "type" => "f",
            "format" => "mhl",
            "changed-within" | "changed-before" => "2d",
            "owner" => "0",
            "perm" => "644",
            "where" | "exclude-where" => "empty",
            "part-size" => "8M",
            "size" | "links" | "min-depth" | "max-depth" | "max-missing" => "1",
            _ => "x",
        }
    }

    /// Every option is used or refused in every mode. `-r` is accepted everywhere: ftk always recurses.
    #[test]
    fn no_mode_ignores_an_option() {
        let common = ["output", "no-cache", "recursive"];
        let check =
            ["algorithm", "zero", "ignore-missing", "status", "strict", "warn", "root", "only", "new"];
        let filters = [FILTERS, INODES, &["newer", "samefile", "exclude-line"]].concat();
        let with_filters = |others: &[&'static str]| [&filters[..], others].concat();
        let modes: [(&[&str], Vec<&str>); 10] = [
            (
                &["--update=x"],
                with_filters(&[
                    "algorithm",
                    "zero",
                    "follow",
                    "files-from",
                    "files0-from",
                    "prune",
                    "rehash",
                    "no-cache",
                    "recursive",
                ]),
            ),
            (&["--check"], [&check[..], &common].concat()),
            (&["--check", "--new"], with_filters(&[&check[..7], &common, &["follow"]].concat())),
            (&["--check", "--only=a"], [&check[..8], &common].concat()),
            (&["--bag"], [&["zero", "create"][..], &common].concat()),
            (&["--bag", "--create"], ["algorithm", "dry-run", "no-cache", "recursive"].into()),
            (&["--diff"], [&["algorithm", "zero", "status"][..], &common].concat()),
            (&["--lines"], [&["algorithm", "zero"][..], &common].concat()),
            (
                &["--tree"],
                with_filters(
                    &[&["algorithm", "tag", "zero", "cache", "files-from", "files0-from"][..], &common]
                        .concat(),
                ),
            ),
            (
                &["--tree=git"],
                with_filters(&[&["algorithm", "zero", "files-from", "files0-from"][..], &common].concat()),
            ),
        ];
        let mut definition = Args::command();
        definition.build();
        let hash = definition.find_subcommand("hash").unwrap();
        let modes_of_hash = ["check", "bag", "diff", "lines", "tree", "update", "help"];
        let options = hash.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_positional());
        let (mut tried, mut wrong) = (0, Vec::new());
        for arg in options.filter(|arg| !modes_of_hash.contains(&arg.get_long().unwrap())) {
            let long = arg.get_long().unwrap();
            let word = match arg.get_action().takes_values() {
                true => format!("--{long}={}", value(long)),
                false => format!("--{long}"),
            };
            let needs_a_mode = long == "part-size"
                || (check[2..].contains(&long) && long != "root")
                || ["create", "dry-run", "prune", "rehash", "max-missing"].contains(&long);
            assert_eq!(is_accepted(&[&word, "."]), !needs_a_mode, "{word} without a mode");
            // Without PATH, standard input is hashed.
            let selects = filters.contains(&long) || ["follow", "recursive"].contains(&long);
            assert_eq!(is_accepted(&[&word]), !needs_a_mode && !selects, "{word} without a PATH");
            for (mode, used) in &modes {
                let is_given = mode.iter().any(|it| it.split('=').next() == word.split('=').next());
                if !is_given || long == "only" {
                    if is_accepted(&[mode, &[&*word][..]].concat()) != used.contains(&long) {
                        wrong.push(format!("{mode:?} {word}"));
                    }
                    tried += 1;
                }
            }
        }
        assert!(wrong.is_empty() && tried > 350, "{tried}: {wrong:#?}");
    }
}
