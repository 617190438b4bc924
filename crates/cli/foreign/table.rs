//! The table of options of other tools and their equivalents in ftk.
//!
//! Each option between backquotes in [`Row::here`] belongs to the row's commands, or to the command named
//! with it. A test checks that each of them exists.

/// One option or word of another tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) tool: &'static str,
    /// The text in the other tool: the option, then its values.
    pub(super) there: &'static str,
    /// The commands of ftk for which users type it.
    pub(super) commands: &'static [&'static str],
    /// What to type in ftk.
    pub(super) here: &'static str,
    /// The different option that has this letter in ftk, if any.
    pub(super) differs: Option<&'static str>,
}

impl Row {
    /// Returns the option without its values.
    pub(super) fn key(&self) -> &'static str {
        self.there.split(' ').next().unwrap_or_default()
    }

    /// Returns the names of the tools for a sentence.
    pub(super) fn tools(&self) -> String {
        let and = self.tool.rfind(", ").map(|at| (&self.tool[..at], &self.tool[at + 2..]));
        and.map_or_else(|| self.tool.to_owned(), |(others, last)| format!("{others} and {last}"))
    }

    /// Returns the letter of a short option.
    pub(super) fn letter(&self) -> char {
        self.key().chars().nth(1).unwrap_or_default()
    }

    /// Whether the letter is an option without a value in ftk, and one with a value in the other tool.
    pub(super) fn is_flag_here(&self) -> bool {
        self.differs == Some("--one-file-system")
    }

    /// Whether the letter stands for this option in ftk.
    pub(super) fn is_short_of(&self, long: &str) -> bool {
        self.differs == Some(long)
    }
}

pub(super) const FIND: &str = "GNU find";
pub(super) const RDFIND: &str = "rdfind";

/// Why `ftk find` deletes nothing, and what to use instead.
pub(super) const NO_DELETE: &str = "ftk find never deletes, because a wrong filter would delete the wrong files at \
    once: check the list, then use `--exec-batch rm --`; for copies use `ftk dup prune`";

const IMMEDIATE: &str =
    "it deletes at once: look at the plan of `ftk dup prune --action delete`, then add --yes";
const ISOLATE: &str = "use `ftk dup prune --isolate`, which keeps all copies under the PATH of the kept file";
const PERMISSIONS: &str = "omit it: `ftk dup` compares only contents; `ftk dup prune --action hardlink` leaves files whose metadata differ";
/// How to compare files with a list by content, as md5deep does, whatever their names are.
const BY_CONTENT: &str = "by content: `ftk manifest import FILE -o k.jsonl` (with --root DIR if its names begin with \
    DIR/), then `ftk manifest unique PATH k.jsonl`, which lists the files whose content FILE does not have; by name: \
    `--check FILE`, with `--new` for files that FILE does not name";
const DELETE_METHOD: &str =
    "use `ftk dup prune --action delete --keep oldest`; AEN is --keep newest, and HARD --action hardlink";

/// The sections of the page, in order.
pub(crate) const TOOLS: [&str; 23] = [
    "find",
    "fd",
    "du",
    "ncdu",
    "dust",
    "fdupes",
    "jdupes",
    "rdfind",
    "czkawka",
    "fclones",
    "rmlint",
    "hashdeep",
    "sha256sum",
    "diff",
    "cmp",
    "AIDE",
    "CIS",
    "ascmhl",
    "par2",
    "SnapRAID",
    "BagIt",
    "rg",
    "rsync",
];

/// Other names of tools, and the sections about them.
pub(super) const ALIASES: &[(&[&str], &str)] = &[
    (&["md5deep", "sha1deep", "sha256deep", "tigerdeep", "whirlpooldeep"], "hashdeep"),
    (
        &[
            "md5sum",
            "sha1sum",
            "sha224sum",
            "sha384sum",
            "sha512sum",
            "shasum",
            "b2sum",
            "b3sum",
            "cksum",
            "openssl",
        ],
        "sha256sum",
    ),
    (&["bagit.py", "bag"], "BagIt"),
    (&["par2create", "par2verify", "par2repair", "par2cmdline"], "par2"),
    (&["gdu", "dua"], "ncdu"),
    (&["mhl", "ascmhl-debug"], "ascmhl"),
    (&["ripgrep"], "rg"),
];

type Commands = &'static [&'static str];

/// Commands with filters by name and place.
const BY_NAME: Commands = &["find", "du", "hash", "dup", "dup prune", "cmp", "manifest create"];
/// The commands of `BY_NAME` in which every operand is a path. `cmp` has numbers after its two paths.
const WITH_PATHS: Commands = &["find", "du", "hash", "dup", "dup prune", "manifest create"];
/// Commands with all filters.
const WALKERS: Commands = &["find", "du", "hash", "dup", "dup prune", "cmp"];
/// The commands of `WALKERS` that do not follow links given as arguments.
const LISTERS: Commands = &["find", "du"];
/// The commands of `WALKERS` that follow links given as arguments.
const READERS: Commands = &["hash", "dup", "dup prune", "cmp"];
const F: Commands = &["find"];
const DU: Commands = &["du"];
const HASH: Commands = &["hash"];
const DUP: Commands = &["dup", "dup prune"];
const REPORT: Commands = &["dup"];
const UNDO: Commands = &["undo", "dup undo"];
const CMP: Commands = &["cmp"];
const MANIFEST: Commands = &["manifest"];

const fn row(tool: &'static str, there: &'static str, commands: Commands, here: &'static str) -> Row {
    Row { tool, there, commands, here, differs: None }
}

const fn find(there: &'static str, commands: Commands, here: &'static str) -> Row {
    row(FIND, there, commands, here)
}

/// A row for a letter that stands for another option in ftk.
const fn differs(
    tool: &'static str,
    there: &'static str,
    commands: Commands,
    ours: &'static str,
    here: &'static str,
) -> Row {
    Row { tool, there, commands, here, differs: Some(ours) }
}

/// Words that users of other tools type in place of a command, and what to type in ftk.
pub(super) const COMMANDS: &[(&[&str], &str)] = &[
    (&["ls", "list", "search", "locate", "fd", "files"], "use `ftk find`"),
    (&["tree", "size", "sizes", "usage", "dust"], "use `ftk du`"),
    (&["ncdu", "gdu", "dua"], "use `ftk du --interactive`"),
    (&["df", "free"], "use `ftk du`, which shows what uses the space"),
    (
        &["checksum", "checksums", "sum", "md5", "md5sum", "sha1sum", "sha256", "sha256sum", "b3sum"],
        "use `ftk hash`, with `-a` for another algorithm",
    ),
    (
        &["hashdeep", "md5deep", "sha1deep", "sha256deep"],
        "use `ftk hash`, with `-a` for another algorithm; `ftk help coming-from hashdeep` has its options",
    ),
    (
        &["bagit", "bagit.py", "bag"],
        "use `ftk hash --bag DIR`, with --create to make a bag; see `ftk help coming-from BagIt`",
    ),
    (
        &["par2", "par2create", "par2verify", "par2repair", "protect"],
        "use `ftk manifest create`, then `protect` and `repair`; see `ftk help coming-from par2`",
    ),
    (&["snapraid"], "use `ftk manifest`; see `ftk help coming-from SnapRAID`"),
    (&["aide"], "use `ftk manifest create` and `verify`; see `ftk help coming-from AIDE`"),
    (&["ascmhl", "mhl"], "use `ftk hash --check`, or --format mhl; see `ftk help coming-from ascmhl`"),
    (&["check", "audit"], "use `ftk hash --check` for a list, or `ftk manifest verify` for a manifest"),
    (&["verify", "scan"], "use `ftk manifest verify`, or `ftk hash --check` for a list"),
    (&["scrub", "repair", "create", "snapshot"], "it belongs to `ftk manifest`"),
    (&["diff", "compare"], "use `ftk cmp` for files and trees, or `ftk manifest diff`"),
    (&["dedup", "dedupe", "dupes", "duplicates", "fdupes", "jdupes", "rdfind", "czkawka"], "use `ftk dup`"),
    (&["prune"], "use `ftk dup prune`"),
    (&["unique", "uniq", "missing"], "use `ftk manifest unique A B` for what B lacks"),
    (&["restore", "revert"], "use `ftk undo` after a run of `dup`, or `ftk manifest repair`"),
    (&["rm", "remove", "delete"], "use `ftk dup prune` for copies, or `ftk find --exec-batch`"),
];

/// Words that users of other tools type after a command of ftk, where they are paths: the command, the words, and what
/// to type in ftk.
pub(super) const VERBS: &[(&str, &[&str], &str)] = &[
    ("hash", &["check", "verify", "audit", "validate"], "to check a list: `ftk hash --check LIST`"),
    ("hash", &["diff", "compare"], "to compare two lists: `ftk hash --diff OLD NEW`"),
    ("hash", &["create", "compute", "sum", "generate"], "omit it: `ftk hash` only needs paths"),
    ("dup", &["scan", "find", "search", "group", "list", "report"], "omit it: `ftk dup` only needs paths"),
    (
        "dup",
        &["remove", "delete", "dedupe", "link", "clean", "rm"],
        "to act on duplicates: `ftk dup prune --action delete`, or `hardlink`",
    ),
];

/// Options that users guess, the commands for which they do, and what to type in ftk.
pub(super) const OPTIONS: &[(&[&str], Commands, &str)] = &[
    (
        &["--gitignore", "--respect-gitignore", "--git-ignore", "--vcs-ignore"],
        BY_NAME,
        "use `--ignore-files`",
    ),
    (
        &["--newer-than", "--modified-within", "--modified-since", "--since", "--after"],
        WALKERS,
        "use `--changed-within`",
    ),
    (&["--older-than", "--modified-before", "--before", "--until"], WALKERS, "use `--changed-before`"),
    (&["--min-size", "--minsize", "--larger"], &["find", "du", "hash", "cmp"], "use `--size +10M`"),
    (&["--max-size", "--maxsize", "--smaller"], &["find", "du", "hash", "cmp"], "use `--size -10M`"),
    (&["--pattern", "--filename"], BY_NAME, "use `--name`"),
    (&["--include"], BY_NAME, "use `--name` or `--path`"),
    (&["--skip"], CMP, "use `--exclude`, or `--ignore` for metadata"),
    (
        &["--ignore", "--skip"],
        &["find", "du", "hash", "dup", "dup prune"],
        "use `--exclude`, or `--ignore-files` for the rules of .gitignore",
    ),
    (
        &["--ignore-from", "--exclude-file", "--exclude-list"],
        BY_NAME,
        "use `--exclude-from FILE`, whose patterns are those of .gitignore",
    ),
    (
        &["--exclude-tag", "--exclude-tag-under", "--ignore-if-present"],
        BY_NAME,
        "use `--exclude-if-present NAME`",
    ),
    (&["--exclude-caches-under", "--exclude-caches-all", "--skip-caches"], BY_NAME, "use `--exclude-caches`"),
    (
        &["--halt", "--halt-on-error", "--fail-fast", "--stop-on-error", "--keep-going"],
        F,
        "a command that ends with status 255 stops the run, as in xargs: `--exec` sh -c 'CMD \"$1\" || exit 255' sh {}",
    ),
    (&["--fields", "--columns", "--print-format"], F, "use `--format`, such as --format '{size} {path}'"),
    (
        &["--similar", "--similar-images", "--similar-music"],
        DUP,
        "`ftk dup` finds only identical files, not similar ones",
    ),
    (&["--sort-by", "--order-by"], F, "use `--sort=size`"),
    (
        &["-r"],
        F,
        "to reverse the order of `--sort` use `--reverse`; to search directories, omit it: all are searched",
    ),
    (
        &["--sort", "--order"],
        &["du", "hash", "dup"],
        "`ftk find --sort` sorts; other commands have one order",
    ),
    (&["--human", "--readable-sizes"], F, "use `--long` and `--human-readable`"),
    (&["--sha1", "--sha224", "--sha256", "--sha384", "--sha512", "--md5", "--blake3"], HASH, "use `-a ALGO`"),
    (&["--verify", "--validate", "--test"], HASH, "use `--check`"),
    (&["--hash", "--checksum"], &["dup", "dup prune", "manifest create"], "use `--algorithm`"),
    (&["--link", "--hardlink"], DUP, "use `ftk dup prune --action hardlink`"),
    (
        &["--keep", "--yes", "--action", "--quarantine"],
        REPORT,
        "`ftk dup` only reports; `ftk dup prune` acts",
    ),
    (
        &["--dry-run", "-n"],
        &["dup prune", "dup apply", "manifest repair"],
        "omit it: without `--yes` nothing is changed",
    ),
    (&["-n"], UNDO, "use `--dry-run`"),
    (&["--yes", "-y"], UNDO, "omit it: undo acts at once; `--dry-run` only prints what it would do"),
];

pub(super) const TABLE: &[Row] = &[
    find("-name GLOB", BY_NAME, "use `--name`"),
    find("-iname GLOB", BY_NAME, "use `--iname`"),
    find("-path GLOB", BY_NAME, "use `--path`, which matches the path below the starting point"),
    find("-wholename GLOB", BY_NAME, "use `--path`, which matches the path below the starting point"),
    find("-ipath GLOB", BY_NAME, "use `--regex '(?i)...'`"),
    find("-iwholename GLOB", BY_NAME, "use `--regex '(?i)...'`"),
    find("-regex RE", BY_NAME, "use `--regex`, which matches anywhere in the path below the starting point"),
    find("-iregex RE", BY_NAME, "use `--regex '(?i)...'`"),
    find("-lname GLOB", WALKERS, "use `--where 'target = \"GLOB\"'`"),
    find("-type f", BY_NAME, "use `--type`"),
    find("-xtype f", WALKERS, "use `--follow` and `--type`, or `--where broken` for links that lead nowhere"),
    find("-empty", WALKERS, "use `--empty`"),
    find("-size +10M", WALKERS, "use `--size`, which does not round"),
    find("-newer FILE", WALKERS, "use `--newer`"),
    find("-anewer FILE", WALKERS, "ftk compares only mtime with a file: `--newer`"),
    find("-cnewer FILE", WALKERS, "ftk compares only mtime with a file: `--newer`"),
    find("-newermt 2024-01-31", WALKERS, "use `--changed-within`"),
    find("-newermm FILE", WALKERS, "use `--newer`"),
    find("-neweraa FILE", WALKERS, "ftk compares only mtime with a file: `--newer`"),
    find("-neweram FILE", WALKERS, "ftk compares only mtime with a file: `--newer`"),
    find("-newercm FILE", WALKERS, "ftk compares only mtime with a file: `--newer`"),
    find("-newercc FILE", WALKERS, "ftk compares only mtime with a file: `--newer`"),
    find("-newerma FILE", WALKERS, "ftk compares only mtime with a file: `--newer`"),
    find("-newermc FILE", WALKERS, "ftk compares only mtime with a file: `--newer`"),
    find("-used 2", WALKERS, "ftk has no such test"),
    find("-ilname GLOB", WALKERS, "use `--where 'target = \"GLOB\"'`, which does not ignore case"),
    find("-sparse", WALKERS, "ftk has no such test"),
    find("-context X", WALKERS, "ftk has no such test"),
    find("-nowarn", BY_NAME, "omit it"),
    find("-warn", BY_NAME, "omit it"),
    find(
        "-ignore_readdir_race",
        LISTERS,
        "omit it: entries that vanish are no errors unless `--strict-races`",
    ),
    find("-noignore_readdir_race", LISTERS, "use `--strict-races`"),
    find("-mtime -2", WALKERS, "use `--changed-within 2d`, or `--changed-before 3d` for +2"),
    find("-mmin -10", WALKERS, "use `--changed-within 10min`, or `--changed-before 10min` for +10"),
    find("-atime -2", WALKERS, "use `--where 'atime < 2d'`"),
    find("-amin -10", WALKERS, "use `--where 'atime < 10min'`"),
    find("-ctime -2", WALKERS, "use `--where 'ctime < 2d'`"),
    find("-cmin -10", WALKERS, "use `--where 'ctime < 10min'`"),
    find("-daystart", WALKERS, "use `--changed-within today`"),
    find("-perm 644", WALKERS, "use `--perm`"),
    find("-readable", WALKERS, "use `--where readable`"),
    find("-writable", WALKERS, "use `--where writable`"),
    find("-executable", WALKERS, "use `--where executable`"),
    find("-user root", WALKERS, "use `--owner root`"),
    find("-uid 0", WALKERS, "use `--owner 0`"),
    find("-group root", WALKERS, "use `--owner :root`"),
    find("-gid 0", WALKERS, "use `--owner :0`"),
    find("-nouser", WALKERS, "use `--nouser`"),
    find("-nogroup", WALKERS, "use `--nogroup`"),
    find("-links 2", WALKERS, "use `--links`"),
    find("-samefile FILE", WALKERS, "use `--samefile`"),
    find("-inum 7", WALKERS, "use `--where 'inode = 7'`"),
    find("-fstype ext4", WALKERS, "use `--where 'fstype = ext4'`"),
    find("-maxdepth 2", BY_NAME, "use `--max-depth`"),
    find("-mindepth 2", BY_NAME, "use `--min-depth`"),
    find("-depth", BY_NAME, "omit it"),
    find("-xdev", BY_NAME, "use `--one-file-system`"),
    find(
        "-mount",
        BY_NAME,
        "use `--one-file-system`, which lists the mount points themselves, like GNU find; -mount of POSIX does not",
    ),
    find("-follow", WALKERS, "use `--follow`"),
    find("-prune", BY_NAME, "use `--exclude GLOB` or `--exclude-where EXPR`"),
    find("-not", BY_NAME, "use `--where 'not ...'`"),
    find("!", WITH_PATHS, "use `--where 'not ...'`"),
    find("-or", BY_NAME, "use `--where '... or ...'`; filters of one kind are alternatives"),
    find("-o", F, "use `--where '... or ...'`; filters of one kind are alternatives"),
    find("-and", BY_NAME, "omit it: an entry must pass every kind of filter"),
    find("-a", F, "omit it: an entry must pass every kind of filter"),
    find("(", WITH_PATHS, "use `--where` for an expression with parentheses"),
    find(")", WITH_PATHS, "use `--where` for an expression with parentheses"),
    find("-true", BY_NAME, "omit it"),
    find("-false", BY_NAME, "ftk has no such test"),
    find("-exec CMD {} ;", F, "use `--exec`, or `--exec-batch` for `{} +`"),
    find("-exec CMD {} ;", &["hash", "dup", "dup prune", "cmp"], "use `ftk find --exec`"),
    find("-execdir CMD {} ;", F, "use `--exec` with {//} for the directory and {/} for the name"),
    find("-ok CMD {} ;", F, "use `--exec`, which does not ask"),
    find("-okdir CMD {} ;", F, "use `--exec`, which does not ask"),
    find("-delete", F, NO_DELETE),
    find("-delete", DUP, "use `ftk dup prune --action delete`"),
    find("-print", F, "omit it: every match is printed"),
    find("-print0", &["find", "hash", "dup", "manifest unique"], "use `--null`"),
    find("-printf FORMAT", F, "use `--format`"),
    find("-fprint FILE", F, "redirect standard output"),
    find("-fprint0 FILE", F, "use `--null`, and redirect standard output"),
    find("-fprintf FILE FORMAT", F, "use `--format`, and redirect standard output"),
    find("-ls", F, "use `--long`"),
    find("-fls FILE", F, "use `--format`, and redirect standard output"),
    find("-quit", F, "use `--max-results 1`"),
    find("-noleaf", BY_NAME, "omit it"),
    find("-files0-from FILE", WALKERS, "use `--files0-from`"),
    find("-H", LISTERS, "write a slash after a link, such as link/"),
    find("-H", READERS, "omit it: links given as arguments are followed"),
    find("-P", WALKERS, "omit it: links are followed only with `--follow`"),
    row("fd", "--hidden", BY_NAME, "omit it: hidden files are included unless `--no-hidden`"),
    row("fd", "-H", F, "omit it: hidden files are included unless `--no-hidden`"),
    row("fd", "--no-ignore", BY_NAME, "omit it: ignore files are used only with `--ignore-files`"),
    row("fd", "--no-ignore-vcs", BY_NAME, "omit it: ignore files are used only with `--ignore-files`"),
    row("fd", "-I", F, "omit it: ignore files are used only with `--ignore-files`"),
    row("fd", "--unrestricted", F, "omit it: everything is included"),
    row("fd", "-u", F, "omit it: everything is included"),
    row("fd", "--ignore-file FILE", BY_NAME, "use `--exclude-from FILE`"),
    row("fd", "--ignore-contain NAME", BY_NAME, "use `--exclude-if-present NAME`"),
    row("fd", "PATTERN", F, "use `--regex PATTERN`, or `--name GLOB`"),
    row("fd", "--glob", F, "use `--name GLOB`"),
    row("fd", "-g", F, "use `--name GLOB`"),
    row("fd", "--fixed-strings", F, "use `--name GLOB`"),
    row("fd", "-F", F, "use `--name GLOB`"),
    row("fd", "--ignore-case", F, "use `--iname GLOB`"),
    row("fd", "-i", F, "use `--iname GLOB`"),
    row("fd", "--case-sensitive", F, "omit it: `--name` and `--regex` compare exactly"),
    row("fd", "-s", F, "omit it: `--name` and `--regex` compare exactly"),
    row("fd", "--full-path", F, "use `--path GLOB` or `--regex`"),
    row("fd", "-p", F, "use `--path GLOB` or `--regex`"),
    row("fd", "--list-details", F, "use `--long`"),
    row("fd", "--absolute-path", F, "give an absolute starting point, such as \"$PWD\""),
    row("fd", "-d 2", F, "use `--max-depth`"),
    row("fd", "--maxdepth 2", BY_NAME, "use `--max-depth`"),
    row("fd", "--depth 2", BY_NAME, "use `--max-depth`"),
    row("fd", "--mindepth 2", BY_NAME, "use `--min-depth`"),
    row("fd", "--exact-depth 2", F, "use `--min-depth 2` and `--max-depth 2`"),
    row("fd", "--xdev", BY_NAME, "use `--one-file-system`"),
    row("fd", "--mount", BY_NAME, "use `--one-file-system`"),
    row("fd", "--changed-after 2d", WALKERS, "use `--changed-within`"),
    row("fd", "--change-newer-than 2d", WALKERS, "use `--changed-within`"),
    row("fd", "--older 2d", WALKERS, "use `--changed-before`"),
    row("fd", "--change-older-than 2d", WALKERS, "use `--changed-before`"),
    row("fd", "--search-path d", F, "omit it: every PATH is a starting point"),
    row("fd", "--base-directory d", F, "give it as the PATH; `--format '{relative}'` prints paths below it"),
    row("fd", "--strip-cwd-prefix", F, "use `--format '{relative}'`"),
    row("fd", "--max-one-result", F, "use `--max-results 1`"),
    row("fd", "-1", F, "use `--max-results 1`"),
    row("fd", "--print0", &["find", "hash", "dup", "manifest unique"], "use `--null`"),
    row("fd", "--show-errors", F, "omit it: errors are always shown"),
    differs("fd", "-q", F, "--quiet", "use `--status`"),
    differs("fd", "-x CMD", F, "--one-file-system", "use `--exec`"),
    row("fd", "-X CMD", F, "use `--exec-batch`"),
    row(
        "GNU du",
        "--block-size 1K",
        DU,
        "use `--kibibytes` or `--mebibytes`; without them, sizes are in bytes",
    ),
    row("GNU du", "-B 1K", DU, "use `--kibibytes` or `--mebibytes`; without them, sizes are in bytes"),
    row("GNU du, ncdu", "--si", DU, "omit it: a terminal shows powers of 1,000"),
    row("GNU du", "--count-links", DU, "ftk counts an inode with several links once"),
    row("GNU du", "-l", DU, "ftk counts an inode with several links once"),
    row("GNU du", "--separate-dirs", DU, "use `ftk find --group-by directory`"),
    differs("GNU du", "-S DIR", DU, "--size", "use `ftk find --group-by directory`"),
    row("GNU du", "--threshold 1M", DU, "use `--top`, or `--json` and a filter"),
    row("GNU du", "--time", DU, "use `ftk find --long`"),
    row("GNU du", "--dereference", DU, "use `--follow`"),
    row("GNU du", "--dereference-args", DU, "write a slash after a link, such as link/"),
    row("GNU du", "-D", DU, "write a slash after a link, such as link/"),
    row("GNU du", "-H", DU, "write a slash after a link, such as link/"),
    row("GNU du", "--no-dereference", DU, "omit it: links are followed only with `--follow`"),
    row("GNU du", "-P", DU, "omit it: links are followed only with `--follow`"),
    row("GNU du, ncdu", "-X FILE", DU, "use `--exclude-from FILE`, whose patterns are those of .gitignore"),
    row("ncdu", "-o FILE", DU, "use `--format ncdu`"),
    row("ncdu", "-f FILE", DU, "use `--from FILE`"),
    row("ncdu", "--exclude-kernfs", DU, "omit it: file systems such as proc are skipped below other ones"),
    row("dust", "--number-of-lines 30", DU, "use `--top`"),
    row("dust", "--only-dir", DU, "omit it: files are listed only with `--all`"),
    row("dust", "--only-file", DU, "use `--all` and `--type f`"),
    row("dust", "--ignore-directory d", DU, "use `--exclude`"),
    row("dust", "--ignore-all-in-file FILE", DU, "use `--exclude`"),
    row("dust", "--ignore_hidden", DU, "use `--no-hidden`"),
    row("dust", "--limit-filesystem", DU, "use `--one-file-system`"),
    row("fdupes, jdupes", "--recurse: DIR", DUP, "omit it: all directories are searched"),
    row("fdupes, jdupes", "--recurse", DUP, "omit it: directories are always searched, and `-r` is accepted"),
    row(
        "fdupes, jdupes",
        "--noempty",
        DUP,
        "omit it: empty files are skipped unless `--min-size 0`; `ftk dup --empty` lists them",
    ),
    differs(
        "fdupes",
        "-n DIR",
        DUP,
        "--name",
        "omit it: empty files are skipped unless `--min-size 0`; `ftk dup --empty` lists them",
    ),
    row("jdupes", "--zeromatch", DUP, "use `--min-size 0`; `ftk dup --empty` lists only empty files"),
    row("jdupes", "-z", DUP, "use `--min-size 0`"),
    row("fdupes, jdupes", "--omitfirst", DUP, "use `ftk dup prune --action delete --list`"),
    row("fdupes, jdupes", "-f", DUP, "use `ftk dup prune --action delete --list`"),
    row("fdupes", "--sameline", REPORT, "use `--format csv` or `--json`"),
    row(
        "fdupes, jdupes",
        "-1",
        REPORT,
        "use `--format csv` or `--json`; to stay on one file system, `--one-file-system`",
    ),
    row("fdupes, jdupes", "--summarize", REPORT, "use `--summary`"),
    row("fdupes, jdupes", "-m", REPORT, "use `--summary`"),
    row("jdupes", "--print-summarize", REPORT, "use `--summary`"),
    row("jdupes", "--print-null", REPORT, "use `--null`"),
    row("fdupes, jdupes", "--delete", DUP, "use `ftk dup prune --action delete`"),
    row("fdupes, jdupes", "-d", DUP, "use `ftk dup prune --action delete`"),
    row("fdupes, jdupes", "--noprompt", DUP, "look at the plan, then use `ftk dup prune --yes`"),
    row("fdupes, jdupes", "--no-prompt", DUP, "look at the plan, then use `ftk dup prune --yes`"),
    row("fdupes, jdupes", "-N", DUP, "look at the plan, then use `ftk dup prune --yes`"),
    row("fdupes", "--immediate", DUP, IMMEDIATE),
    row("fdupes", "-I", DUP, IMMEDIATE),
    row("jdupes", "-I", DUP, ISOLATE),
    row("jdupes", "--isolate", REPORT, ISOLATE),
    row("fdupes, jdupes", "--permissions", DUP, PERMISSIONS),
    row("fdupes, jdupes", "-p", DUP, PERMISSIONS),
    row("fdupes, jdupes", "--reverse", DUP, "omit it: paths are always sorted"),
    row("fdupes, jdupes", "-i", DUP, "omit it: paths are always sorted"),
    row("fdupes", "--plain", DUP, "use `ftk dup prune --ask`"),
    row("fdupes", "-P", DUP, "use `ftk dup prune --ask`"),
    row("fdupes", "--deferconfirmation", DUP, "omit it: `ftk dup prune` compares bytes when it acts"),
    row("fdupes", "-D", DUP, "omit it: `ftk dup prune` compares bytes when it acts"),
    row("fdupes", "-l LOG", DUP, "omit it: `ftk dup prune --yes` always writes a journal"),
    row("fdupes, jdupes", "--hardlinks", DUP, "omit it: hard links are one file, and `--json` lists them"),
    row(
        "fdupes, jdupes",
        "-H",
        DUP,
        "omit it: hard links are one file; `ftk find --links +1 -t f` lists them",
    ),
    row("jdupes", "--link-hard", DUP, "use `ftk dup prune --action hardlink`"),
    row("jdupes", "--linkhard", DUP, "use `ftk dup prune --action hardlink`"),
    differs("jdupes", "-L", DUP, "--follow", "use `ftk dup prune --action hardlink`"),
    row("jdupes", "--link-soft", DUP, "use `ftk dup prune --action symlink`"),
    row("jdupes", "--linksoft", DUP, "use `ftk dup prune --action symlink`"),
    row("jdupes", "-l", DUP, "use `ftk dup prune --action symlink`"),
    row("jdupes", "--dedupe", DUP, "use `ftk dup prune --action reflink`"),
    row("jdupes", "-B", DUP, "use `ftk dup prune --action reflink`"),
    row("fdupes, jdupes", "--nohidden", DUP, "use `--no-hidden`"),
    row("fdupes, jdupes", "-A", DUP, "use `--no-hidden`"),
    row("fdupes", "--minsize 9", DUP, "use `--min-size`"),
    row("fdupes", "-G 9", DUP, "use `--min-size`"),
    row("fdupes", "--maxsize 9", DUP, "use `--max-size`"),
    row("fdupes, jdupes", "--symlinks", DUP, "use `--follow`"),
    row("fdupes, jdupes", "-s", DUP, "use `--follow`"),
    differs(
        "fdupes, jdupes",
        "-S d",
        REPORT,
        "--size",
        "omit it: `--format screen` and `--json` print sizes",
    ),
    differs("fdupes", "-t DIR", DUP, "--type", "omit it: `--json` has the times"),
    row("fdupes", "--order name", DUP, "omit it: the largest waste comes first, and paths are sorted"),
    differs(
        "fdupes, jdupes",
        "-o name",
        REPORT,
        "--output",
        "omit it: the largest waste comes first, and paths are sorted",
    ),
    row("jdupes", "--ext-filter FILTER", DUP, "use `--size`, `--extension` or `--exclude`"),
    row("jdupes", "-X FILTER", DUP, "use `--size`, `--extension` or `--exclude`"),
    row("jdupes", "--param-order", DUP, "use `ftk dup prune --keep argument`"),
    row("jdupes", "-O", DUP, "use `ftk dup prune --keep argument`"),
    row("jdupes", "--print-unique", REPORT, "use `ftk manifest unique A B` for what B lacks"),
    row("jdupes", "-u", REPORT, "use `ftk manifest unique A B` for what B lacks"),
    row("jdupes", "--quick", DUP, "omit it: bytes are compared only with `--verify`"),
    row("jdupes", "-Q", DUP, "omit it: bytes are compared only with `--verify`"),
    differs("jdupes", "-j DIR", DUP, "--threads", "use `--json`"),
    row(RDFIND, "-dryrun true", DUP, "omit it: without `ftk dup prune --yes` nothing is changed"),
    row(RDFIND, "-deleteduplicates true", DUP, "use `ftk dup prune --action delete --keep argument`"),
    row(RDFIND, "-makehardlinks true", DUP, "use `ftk dup prune --action hardlink --keep argument`"),
    row(RDFIND, "-makesymlinks true", DUP, "use `ftk dup prune --action symlink --keep argument`"),
    row(RDFIND, "-ignoreempty true", DUP, "omit it: empty files are skipped unless `--min-size 0`"),
    row(RDFIND, "-minsize 9", DUP, "use `--min-size`"),
    row(RDFIND, "-maxsize 9", DUP, "use `--max-size 8`: rdfind skips files of this size too"),
    row(RDFIND, "-followsymlinks true", DUP, "use `--follow`"),
    row(RDFIND, "-removeidentinode true", DUP, "omit it: hard links are one file"),
    row(RDFIND, "-checksum sha256", DUP, "use `--algorithm`"),
    row(RDFIND, "-outputname FILE", DUP, "use `ftk dup --output FILE`"),
    row(RDFIND, "-makeresultsfile true", DUP, "use `ftk dup --output FILE`"),
    row("czkawka", "-d DIR", DUP, "omit it: the directories are the PATHs"),
    row("czkawka", "--directories DIR", DUP, "omit it: the directories are the PATHs"),
    differs("czkawka", "-r DIR", DUP, "--recursive", "use `ftk dup prune --reference DIR`"),
    row("czkawka", "--reference-directories DIR", DUP, "use `ftk dup prune --reference DIR`"),
    row("czkawka", "--excluded-directories DIR", DUP, "use `--exclude`"),
    row("czkawka", "--excluded-items GLOB", DUP, "use `--exclude`"),
    differs("czkawka", "-x jpg", DUP, "--one-file-system", "use `--extension`"),
    row("czkawka", "--allowed-extensions jpg", DUP, "use `--extension`"),
    row("czkawka", "-m 9", DUP, "use `--min-size`"),
    row("czkawka", "--minimal-file-size 9", DUP, "use `--min-size`"),
    row("czkawka", "-i 9", DUP, "use `--max-size`"),
    row("czkawka", "--maximal-file-size 9", DUP, "use `--max-size`"),
    row("czkawka", "-D AEO", DUP, DELETE_METHOD),
    row("czkawka", "--delete-method AEO", DUP, DELETE_METHOD),
    row("czkawka", "-f FILE", DUP, "use `ftk dup --output FILE`"),
    row("czkawka", "--file-to-save FILE", DUP, "use `ftk dup --output FILE`"),
    row("fclones", "group", REPORT, "omit it: `ftk dup` reports groups"),
    row(
        "fclones",
        "remove",
        REPORT,
        "use `ftk dup prune --action delete`, or `ftk dup apply --action delete` for a report",
    ),
    row(
        "fclones",
        "link",
        REPORT,
        "use `ftk dup prune --action hardlink`, or `ftk dup apply --action hardlink` for a report",
    ),
    row(
        "fclones",
        "dedupe",
        REPORT,
        "use `ftk dup prune --action reflink`, or `ftk dup apply --action reflink` for a report",
    ),
    row("fclones", "--min 9", DUP, "use `--min-size`"),
    row("fclones", "--max 9", DUP, "use `--max-size`"),
    row("fclones", "--hash-fn blake3", DUP, "use `--algorithm`"),
    row(
        "fclones",
        "--match-links",
        DUP,
        "omit it: hard links are one file; `ftk find --links +1 -t f` lists them",
    ),
    row(
        "fclones",
        "--dry-run",
        &["dup", "dup prune", "dup apply"],
        "omit it: without `ftk dup prune --yes` nothing is changed",
    ),
    row("fclones", "--unique", REPORT, "use `ftk manifest unique A B` for what B lacks"),
    row("fclones", "--one-fs", DUP, "use `--one-file-system`"),
    row("fclones", "--stdin", DUP, "use `--files-from -`"),
    row("fclones", "--follow-links", DUP, "use `--follow`"),
    row("fclones", "--priority oldest", &["dup prune", "dup apply"], "use `--keep`"),
    row("fclones", "--keep-path GLOB", &["dup prune", "dup apply"], "use `--keep path=GLOB`"),
    row("fclones", "--soft", &["dup prune", "dup apply"], "use `--action symlink`"),
    row("rmlint", "//", REPORT, "use `ftk dup prune --reference DIR` for the directories after it"),
    row("rmlint", "--keep-all-tagged", DUP, "use `ftk dup prune --reference DIR`"),
    row("rmlint", "--must-match-tagged", DUP, "use `ftk dup prune --reference DIR --isolate`"),
    row(
        "rmlint",
        "--merge-directories",
        DUP,
        "use `--dirs`; `ftk dup --ignore-names` compares only contents",
    ),
    row("rmlint", "-D", DUP, "use `--dirs`; `ftk dup --ignore-names` compares only contents"),
    row("rmlint", "--honour-dir-layout", DUP, "use `--dirs`, which compares names and layout"),
    row("rmlint", "--types df", DUP, "omit it: `ftk dup` finds only duplicate files"),
    row("rmlint", "-T df", DUP, "omit it: `ftk dup` finds only duplicate files"),
    row("rmlint", "--paranoid", DUP, "use `--verify`"),
    row("rmlint", "-p", DUP, "use `--verify`; permissions are ignored"),
    row("rmlint", "-g", DUP, "use `--progress always`"),
    row("rmlint", "--no-crossdev", DUP, "use `--one-file-system`"),
    row("rmlint", "--followlinks", DUP, "use `--follow`"),
    row("rmlint", "--no-with-hidden", DUP, "use `--no-hidden`"),
    row(
        "rmlint",
        "-R",
        DUP,
        "in rmlint it excludes hidden files: use `--no-hidden`; in fdupes it recurses: omit it",
    ),
    row("rmlint", "--rank-by a", &["dup prune", "dup apply"], "use `--keep`"),
    row("rmlint", "--replay FILE", DUP, "use `ftk dup apply`"),
    differs(
        "rmlint",
        "-o sh:FILE",
        REPORT,
        "--output",
        "use `ftk dup prune --script`, or `--format` and `--output`",
    ),
    row("hashdeep", "-k FILE", HASH, BY_CONTENT),
    differs(
        "hashdeep",
        "-a -k FILE",
        HASH,
        "--algorithm",
        "use `--check --new FILE`; to find moved files too: `ftk manifest import FILE`, then `ftk manifest verify`",
    ),
    differs("hashdeep", "-c md5,sha1", HASH, "--check", "use `-a md5,sha1`"),
    differs("hashdeep", "-o f", HASH, "--output", "use `--type f`"),
    differs("md5deep, hashdeep", "-x LIST", HASH, "--one-file-system", BY_CONTENT),
    row("hashdeep", "-l", HASH, "omit it: paths are printed as they are given"),
    row("hashdeep", "-b", HASH, "omit it: paths are printed as they are given"),
    row("hashdeep", "-s", HASH, "use `--quiet`; errors are always shown"),
    row("md5deep, hashdeep", "-m FILE", HASH, BY_CONTENT),
    row("md5deep, hashdeep", "-M FILE", HASH, BY_CONTENT),
    row("md5deep, hashdeep", "-X FILE", HASH, BY_CONTENT),
    row("hashdeep", "-f FILE", HASH, "use `--files-from FILE`"),
    row("hashdeep", "-p 1M", HASH, "ftk cannot hash pieces of files"),
    row("sha256sum", "-b", HASH, "omit it: files are always read as they are"),
    row("sha256sum", "--binary", HASH, "omit it: files are always read as they are"),
    row("sha256sum", "--text", HASH, "omit it: files are always read as they are"),
    differs("sha256sum", "-t FILE", HASH, "--type", "omit it: files are always read as they are"),
    differs("shasum, cksum, sha256sum", "-a 256", HASH, "--algorithm", "use `-a sha256`"),
    row("b2sum, sha256sum", "-l 256", HASH, "ftk computes BLAKE2b only with 512 bits: omit it"),
    row("b2sum, sha256sum", "--length 256", HASH, "ftk computes BLAKE2b only with 512 bits: omit it"),
    row("openssl, sha256sum", "--digest sha256", HASH, "use `--algorithm`"),
    row("cksum, sha256sum", "--untagged", HASH, "omit it: lines have no tag unless `--tag`"),
    row(
        "diff",
        "--brief",
        CMP,
        "omit it: ftk cmp prints one line for each difference, and nothing with `--status`",
    ),
    row("diff", "--report-identical-files", CMP, "ftk cmp lists only differences"),
    differs("diff", "-s", CMP, "--status", "ftk cmp lists only differences"),
    row("diff", "--new-file", CMP, "omit it: a file that is in one tree only is one line"),
    row("diff", "-N", CMP, "omit it: a file that is in one tree only is one line"),
    row("diff", "--no-dereference", CMP, "omit it: links are followed only with `--follow`"),
    differs("diff", "-x GLOB", CMP, "--one-file-system", "use `--exclude GLOB`"),
    row("diff", "-X FILE", CMP, "use `--exclude-from FILE`, whose patterns are those of .gitignore"),
    row("diff", "--text", CMP, "omit it: files are compared byte by byte"),
    row("diff", "--unified", CMP, "ftk cmp compares bytes, not lines: use diff"),
    row("diff", "-u", CMP, "ftk cmp compares bytes, not lines: use diff"),
    row("diff", "-y", CMP, "ftk cmp compares bytes, not lines: use diff"),
    row("diff", "-w", CMP, "ftk cmp compares bytes, not lines: use diff"),
    row("diff", "-B", CMP, "ftk cmp compares bytes, not lines: use diff"),
    differs("GNU cmp", "--verbose", CMP, "--verbose", "use `--list`"),
    row("AIDE", "--init", MANIFEST, "use `ftk manifest create ROOT -o FILE`"),
    row("AIDE", "-i", MANIFEST, "use `ftk manifest create ROOT -o FILE`"),
    row("AIDE", "--check", MANIFEST, "use `ftk manifest verify ROOT FILE`"),
    row("AIDE", "-C", MANIFEST, "use `ftk manifest verify ROOT FILE`"),
    row("AIDE", "--update", MANIFEST, "use `ftk manifest update ROOT FILE -o FILE`"),
    row("AIDE", "-u", MANIFEST, "use `ftk manifest update ROOT FILE -o FILE`"),
    row("AIDE", "--compare", MANIFEST, "use `ftk manifest diff OLD NEW`"),
    row("AIDE", "-E", MANIFEST, "use `ftk manifest diff OLD NEW`"),
    row(
        "AIDE",
        "--limit RE",
        &["manifest", "manifest verify"],
        "use `ftk manifest verify --path GLOB`, or a ROOT below the recorded one",
    ),
];
