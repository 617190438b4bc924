//! The selection options, shared by every command that searches trees.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ArgAction;
use clap::builder::{OsStringValueParser, TypedValueParser};
use ftk_record::quote;
use ftk_select::{Links, NamedFile, Owner, ParseError, Perm, Roots, Selection, Size, Time, Types};
use ftk_walk::{FileType, Follow};
use jiff::Zoned;

use crate::console::{Console, cause};
use crate::exclusions::{EXCLUDE_LINE, ExclusionArgs};
use crate::expression::ExpressionArgs;
use crate::number::at_least;
use crate::starts::StartArgs;

/// Lists where the system looks for users. A static program does not use it.
const NAME_SERVICES: &str = "/etc/nsswitch.conf";

/// Every selection option. An entry must match every option that is given. If an option is repeated, one match is
/// enough; but repeated sizes, link counts, times and negated owners must all match.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    names: NameArgs,

    #[command(flatten)]
    inode: InodeArgs,

    #[command(flatten)]
    expressions: ExpressionArgs,

    #[command(flatten)]
    walk: WalkArgs,

    #[command(flatten)]
    exclusions: ExclusionArgs,

    #[command(flatten)]
    pub(crate) starts: StartArgs,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Selection by name and type")]
pub(crate) struct NameArgs {
    /// Match names with this extension, ignoring case
    ///
    /// Repeatable.
    #[arg(short, long, value_name = "EXT", action = ArgAction::Append, value_parser = extension())]
    extension: Vec<OsString>,

    /// Match names against this glob
    ///
    /// Repeatable.
    #[arg(short, long, value_name = "GLOB", allow_hyphen_values = true)]
    name: Vec<OsString>,

    /// Like --name, ignoring case
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    iname: Vec<OsString>,

    /// Match paths against this glob
    ///
    /// Repeatable. The glob must match the whole path below the starting point, or that path after the starting point
    /// as it was typed or its absolute path. `*` also matches `/`, and `*/` at the beginning also matches nothing. A
    /// slash at the end matches directories only.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    path: Vec<OsString>,

    /// Match paths against this regular expression
    ///
    /// Repeatable. It may match anywhere in the path below the starting point. `^` matches at the beginning of that
    /// path, so `^src/` matches everything in the directory `src` of the starting point. Matching works on bytes: `.`
    /// matches any byte; classes such as `\w` are ASCII.
    #[arg(long, value_name = "RE", allow_hyphen_values = true)]
    regex: Vec<String>,

    /// Match entries of these types
    ///
    /// Repeatable. f: file, d: directory, l: symbolic link, p: FIFO (pipe), s: socket, b: block device, c: character
    /// device.
    #[arg(short = 't', long = "type", value_name = "f,d,l,p,s,b,c")]
    types: Vec<Types>,
}

/// Parses an extension. In hashdeep and other tools, `-re DIR` has no extension, and DIR would be taken for one.
fn extension() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|extension| match extension.as_bytes().contains(&b'/') {
        true => Err("an extension has no slash: is it a PATH?"),
        false => Ok(extension),
    })
}

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Selection by metadata")]
struct InodeArgs {
    /// Match sizes: `+N` larger, `-N` smaller, `N` exact
    ///
    /// Repeat it for a range. Examples: +10M, 1.5GB. K, M, G, T, P and KiB, MiB, GiB, TiB, PiB are powers of 1,024; kB,
    /// MB, GB, TB, PB are powers of 1,000; a number without a unit counts bytes. Decimals are exact.
    #[arg(short = 'S', long, value_name = "[+-]N", allow_hyphen_values = true)]
    size: Vec<Size>,

    /// Match entries modified more recently than FILE
    #[arg(long, value_name = "FILE")]
    newer: Option<PathBuf>,

    /// Match entries modified within this period, or since a date
    ///
    /// A period, such as 2d, 3h or 1week; `today` or `yesterday`; or a date. The dates 2024-01-31 and 2024-01-31T12:00
    /// are in the local time zone; 2024-01-31T12:00Z and @SECONDS (since 1970) are the same everywhere. `3d` is the
    /// same time of day three days ago. The time that counts is that of the last content change (mtime).
    #[arg(long, value_name = "TIME", value_parser = time)]
    changed_within: Option<Time>,

    /// Match entries modified longer ago than this, or before a date
    ///
    /// The values are those of --changed-within.
    #[arg(long, value_name = "TIME", value_parser = time)]
    changed_before: Option<Time>,

    /// Match the owner, by name or id; `!` negates
    ///
    /// Repeatable: one must match, and all with a `!`. USER, :GROUP or USER:GROUP. `!root:!root` matches entries whose
    /// user is not root and whose group is not root.
    #[arg(long, value_name = "[!]USER:GROUP")]
    owner: Vec<Owner>,

    /// Match entries whose user id has no name
    #[arg(long, hide_short_help = true)]
    nouser: bool,

    /// Match entries whose group id has no name
    #[arg(long, hide_short_help = true)]
    nogroup: bool,

    /// Match permission bits, such as 644 or -o+w
    ///
    /// Repeatable. `644` matches exactly these bits, `-111` at least all of these, `/222` at least one of these. A mode
    /// may be symbolic, as for chmod, and then begins with no bits: `u=rw,go=r` is `644`, `-o+w` is `-002` (others may
    /// write), and `/u+s,g+s` is `/6000`.
    #[arg(long, value_name = "[-/]MODE", allow_hyphen_values = true)]
    perm: Vec<Perm>,

    /// Match the number of hard links
    ///
    /// `+N` more, `-N` fewer, `N` exact; repeat it for a range.
    #[arg(long, value_name = "[+-]N", allow_hyphen_values = true)]
    links: Vec<Links>,

    /// Match the hard links of FILE
    ///
    /// Repeatable.
    #[arg(long, value_name = "FILE")]
    samefile: Vec<PathBuf>,

    /// Match empty files and empty directories
    #[arg(long)]
    empty: bool,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Selection by place")]
pub(crate) struct WalkArgs {
    /// Skip what matches this glob, and all below it
    ///
    /// Repeatable. A glob that contains a `/` is matched against the path below the starting point, any other against
    /// the name. `*` also matches `/`, and `*/` at the beginning also matches nothing. A slash at the end matches
    /// directories only. A glob may begin with the starting point, as it was typed or absolute: then what follows is
    /// matched below it. A directory given as a starting point is never skipped; a file given as one is, if its name or
    /// the path as it was typed matches. The summary names globs that matched nothing.
    #[arg(short = 'E', long, value_name = "GLOB", allow_hyphen_values = true)]
    exclude: Vec<OsString>,

    /// Skip what .gitignore and .ignore files exclude
    ///
    /// ftk reads these files in every directory. If a starting point is inside a git repository, ftk also reads those
    /// in the directories above it, up to the top of the repository, and .git/info/exclude. A .gitignore works outside
    /// of a repository too. The user's own ignore file and git's index are not consulted, so that every user gets the
    /// same result. The summary counts the skipped entries.
    #[arg(long)]
    ignore_files: bool,

    /// Skip names that begin with a dot, and all below
    #[arg(long)]
    no_hidden: bool,

    /// Skip entries above depth N
    ///
    /// Starting points are depth 0.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = at_least(0_u32))]
    min_depth: u32,

    /// Skip entries deeper than N
    #[arg(long, value_name = "N", value_parser = at_least(0_u32))]
    max_depth: Option<u32>,

    /// Stay on the file system of each starting point
    #[arg(short = 'x', long)]
    one_file_system: bool,

    /// Follow symbolic links
    ///
    /// A directory that several paths lead to is entered once, under the first of these paths in byte order.
    #[arg(short = 'L', long)]
    follow: bool,
}

/// `-r`, which users of diff, fdupes and hashdeep type out of habit.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Selection by place")]
pub(crate) struct RecursiveArg {
    /// Accepted and ignored: ftk always recurses into directories
    #[arg(short, long, hide_short_help = true)]
    recursive: bool,
}

impl RecursiveArg {
    /// Whether it was given.
    pub(crate) fn is_given(self) -> bool {
        self.recursive
    }
}

impl SelectionArgs {
    /// Returns a selection by name and place alone: both stay the same when a file changes.
    ///
    /// Terms of the expressions that may change are errors when the selection is compiled.
    pub(crate) fn by_place(
        names: NameArgs,
        expressions: ExpressionArgs,
        walk: WalkArgs,
        exclusions: ExclusionArgs,
    ) -> Self {
        let expressions = expressions.by_place();
        Self {
            names,
            inode: InodeArgs::default(),
            expressions,
            walk,
            exclusions,
            starts: StartArgs::default(),
        }
    }

    /// Returns an option of a manifest, such as `--exclude=GLOB`, as options that mean the same without knowing the
    /// root, whose paths are relative to it.
    ///
    /// # Errors
    /// If its value is wrong.
    pub(crate) fn relative_words(&self, word: &[u8], roots: &Roots<'_>) -> anyhow::Result<Vec<Vec<u8>>> {
        let Some(at) = word.iter().position(|&byte| byte == b'=') else { return Ok(vec![word.to_vec()]) };
        let (option, value) = (&word[..at], &word[at + 1..]);
        let values = match str::from_utf8(option) {
            Ok("--exclude" | "--path") => roots.relative(value)?,
            Ok(option @ ("--where" | "--exclude-where")) => {
                vec![self.expressions.relative(option, OsStr::from_bytes(value), roots)?]
            }
            Ok("--exclude-from") => {
                let lines = self.exclusions.lines_of(value)?.into_iter();
                return Ok(lines.map(|line| [EXCLUDE_LINE.as_bytes(), b"=", &line].concat()).collect());
            }
            _ => vec![value.to_vec()],
        };
        Ok(values.iter().map(|value| [option, b"=", value].concat()).collect())
    }

    /// Returns whether `--type` was given without directories.
    pub(crate) fn excludes_directories(&self) -> bool {
        let types = &self.names.types;
        !types.is_empty() && !types.iter().any(|types| types.matches(FileType::Directory))
    }

    /// Returns the long option of the first filter that was given. `--follow` is not a filter: it skips
    /// nothing.
    pub(crate) fn filter(&self) -> Option<&'static str> {
        let Self { names, inode, walk, .. } = self;
        [
            (!names.extension.is_empty(), "--extension"),
            (!names.name.is_empty(), "--name"),
            (!names.iname.is_empty(), "--iname"),
            (!names.path.is_empty(), "--path"),
            (!names.regex.is_empty(), "--regex"),
            (!names.types.is_empty(), "--type"),
            (!inode.size.is_empty(), "--size"),
            (inode.newer.is_some(), "--newer"),
            (inode.changed_within.is_some(), "--changed-within"),
            (inode.changed_before.is_some(), "--changed-before"),
            (!inode.owner.is_empty(), "--owner"),
            (inode.nouser, "--nouser"),
            (inode.nogroup, "--nogroup"),
            (!inode.perm.is_empty(), "--perm"),
            (!inode.links.is_empty(), "--links"),
            (!inode.samefile.is_empty(), "--samefile"),
            (inode.empty, "--empty"),
            (!walk.exclude.is_empty(), "--exclude"),
            (self.exclusions.filter().is_some(), self.exclusions.filter().unwrap_or_default()),
            (walk.ignore_files, "--ignore-files"),
            (walk.no_hidden, "--no-hidden"),
            (walk.min_depth > 0, "--min-depth"),
            (walk.max_depth.is_some(), "--max-depth"),
            (walk.one_file_system, "--one-file-system"),
        ]
        .into_iter()
        .find_map(|(is_given, name)| is_given.then_some(name))
        .or_else(|| self.expressions.filter())
    }

    /// Whether only empty entries are selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.inode.empty
    }

    /// Returns the value of `--max-depth`.
    pub(crate) fn max_depth(&self) -> Option<u32> {
        self.walk.max_depth
    }

    /// Returns the selection without `--one-file-system`.
    pub(crate) fn without_one_file_system(mut self) -> Self {
        self.walk.one_file_system = false;
        self
    }

    /// Returns the selection without `--max-depth`, for a command that uses this option for its output.
    pub(crate) fn without_max_depth(mut self) -> Self {
        self.walk.max_depth = None;
        self
    }

    /// Whether `--one-file-system` was given.
    pub(crate) fn one_file_system(&self) -> bool {
        self.walk.one_file_system
    }

    /// Returns the values of `--name`.
    pub(crate) fn names(&self) -> &[OsString] {
        &self.names.name
    }

    /// Compiles the selection for a walk with these starting points. `own`: device and inode of files that this run
    /// writes, which are skipped.
    ///
    /// # Errors
    /// If a pattern is malformed, or a FILE that entries are compared with does not exist.
    pub(crate) fn compile(
        &self,
        roots: &Roots<'_>,
        own: &[(u64, u64)],
        console: &Console,
    ) -> anyhow::Result<Selection> {
        let Self { names, inode, walk, .. } = self;
        let mut builder = Selection::builder()
            .min_depth(walk.min_depth)
            .one_file_system(walk.one_file_system)
            .no_hidden(walk.no_hidden)
            .ignore_files(walk.ignore_files)
            .empty(inode.empty)
            .no_user(inode.nouser)
            .no_group(inode.nogroup);
        if let Some(depth) = walk.max_depth {
            builder = builder.max_depth(depth);
        }
        let bytes = |glob: &OsString| glob.clone().into_vec();
        builder = names.types.iter().fold(builder, |builder, &types| builder.types(types));
        builder = names.extension.iter().fold(builder, |builder, ext| builder.extension(ext.as_bytes()));
        builder = names.name.iter().fold(builder, |builder, glob| builder.name(bytes(glob)));
        builder = names.iname.iter().fold(builder, |builder, glob| builder.iname(bytes(glob)));
        builder = names.path.iter().fold(builder, |builder, glob| builder.path(bytes(glob)));
        builder = names.regex.iter().fold(builder, |builder, regex| builder.regex(regex));
        builder = walk.exclude.iter().fold(builder, |builder, glob| builder.exclude(bytes(glob)));
        builder = self.exclusions.add_to(builder)?;
        builder = inode.size.iter().fold(builder, |builder, &size| builder.size(size));
        builder = inode.owner.iter().fold(builder, |builder, &owner| builder.owner(owner));
        builder = inode.perm.iter().fold(builder, |builder, &perm| builder.perm(perm));
        builder = inode.links.iter().fold(builder, |builder, &links| builder.links(links));
        builder = inode.changed_within.iter().fold(builder, |builder, &time| builder.changed_since(time));
        builder = inode.changed_before.iter().fold(builder, |builder, &time| builder.changed_before(time));
        if let Some(file) = &inode.newer {
            let than = self.metadata(file).map_err(|error| {
                let is_time = file.to_str().is_some_and(|text| time(text).is_ok());
                if is_time {
                    error.context("--newer needs a file; for a time use --changed-within")
                } else {
                    error
                }
            })?;
            let mtime = i128::from(than.mtime()) * 1_000_000_000 + i128::from(than.mtime_nsec());
            builder = builder.changed_since(Time(mtime + 1));
        }
        for file in &inode.samefile {
            let as_this = self.metadata(file)?;
            builder = builder.same_file(as_this.dev(), as_this.ino());
        }
        builder = self.expressions.add_to(builder, &|path| {
            let of = self.stat(Path::new(OsStr::from_bytes(path))).map_err(|error| cause(&error))?;
            let mtime_ns = i128::from(of.mtime()) * 1_000_000_000 + i128::from(of.mtime_nsec());
            Ok(NamedFile { dev: of.dev(), ino: of.ino(), mtime_ns })
        })?;
        builder =
            own.iter().chain(&console.own).fold(builder, |builder, &(dev, ino)| builder.skip_file(dev, ino));
        let selection = builder.build_for(roots)?;
        if cfg!(target_env = "musl") && selection.asks_for_names() && Path::new(NAME_SERVICES).exists() {
            console.summary(
                "only /etc/passwd and /etc/group count: this static program does not ask LDAP or NIS",
            );
        }
        Ok(selection)
    }

    /// Returns which links are followed. `roots`: the answer without `-L`.
    pub(crate) fn follow(&self, roots: Follow) -> Follow {
        if self.walk.follow { Follow::Always } else { roots }
    }

    /// Returns the metadata of a FILE named by an option; a link is followed only with `-L`, as in the walk.
    fn metadata(&self, file: &Path) -> anyhow::Result<fs::Metadata> {
        self.stat(file).with_context(|| format!("cannot stat {}", quote(file.as_os_str().as_bytes())))
    }

    fn stat(&self, file: &Path) -> io::Result<fs::Metadata> {
        if self.walk.follow { file.metadata() } else { file.symlink_metadata() }
    }
}

/// Parses a period or date. This is the only place that reads the clock and the time zone.
fn time(text: &str) -> Result<Time, ParseError> {
    Time::parse(text, &Zoned::now())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        selection: SelectionArgs,
    }

    fn parse(line: &[&str]) -> Result<SelectionArgs, clap::Error> {
        Alone::try_parse_from([&["alone"], line].concat()).map(|alone| alone.selection)
    }

    #[test]
    fn names_and_types() {
        let args = parse(&[
            "-e",
            "c",
            "--extension",
            "h",
            "-n",
            "a*",
            "--name",
            "b",
            "--iname",
            "C",
            "--path",
            "d/*",
            "--regex",
            "^e",
            "--regex",
            "f$",
            "-t",
            "f,d",
            "--type",
            "l",
        ]);
        let names = args.unwrap().names;
        assert_eq!(names.extension, ["c", "h"]);
        assert_eq!((&names.name[..], &names.iname[..]), (&["a*".into(), "b".into()][..], &["C".into()][..]));
        assert_eq!(
            (&names.path[..], &names.regex[..]),
            (&["d/*".into()][..], &["^e".into(), "f$".into()][..])
        );
        assert_eq!(names.types, ["f,d".parse().unwrap(), "l".parse().unwrap()]);
    }

    #[test]
    fn patterns_may_begin_with_a_dash() {
        let args =
            parse(&["-n", "-*", "--iname", "-X", "--path", "-d/*", "--regex", "-$", "-E", "-t"]).unwrap();
        let names = args.names;
        assert_eq!((&names.name[..], &names.iname[..]), (&["-*".into()][..], &["-X".into()][..]));
        assert_eq!((&names.path[..], &names.regex[..]), (&["-d/*".into()][..], &["-$".into()][..]));
        assert_eq!(args.walk.exclude, ["-t"]);
    }

    #[test]
    fn metadata_options_are_parsed() {
        let args = parse(&[
            "-S",
            "-1K",
            "--size",
            "+0",
            "--newer",
            "x",
            "--changed-within",
            "@1",
            "--changed-before",
            "@2.5",
            "--owner",
            "!0:0",
            "--perm",
            "-111",
            "--perm",
            "/222",
            "--links",
            "-3",
            "--samefile",
            "y",
            "--empty",
        ]);
        let inode = args.unwrap().inode;
        assert_eq!(inode.size, ["-1K".parse().unwrap(), "+0".parse().unwrap()]);
        assert_eq!((inode.newer, &inode.samefile[..]), (Some("x".into()), &["y".into()][..]));
        assert_eq!(inode.changed_within, Some(Time(1_000_000_000)));
        assert_eq!(inode.changed_before, Some(Time(2_500_000_000)));
        assert_eq!(inode.owner, ["!0:0".parse().unwrap()]);
        assert_eq!(inode.perm, ["-111".parse().unwrap(), "/222".parse().unwrap()]);
        assert_eq!((inode.links, inode.empty), (vec!["-3".parse().unwrap()], true));
    }

    #[test]
    fn place_filters() {
        let line = ["-E", "a", "--exclude", "b/", "--ignore-files", "--no-hidden", "--min-depth", "1"];
        let line = [&line[..], &["--max-depth", "2", "-x", "-L"]].concat();
        let walk = parse(&line).unwrap().walk;
        assert_eq!(walk.exclude, ["a", "b/"]);
        assert!(walk.ignore_files && walk.no_hidden && walk.one_file_system && walk.follow);
        assert_eq!((walk.min_depth, walk.max_depth), (1, Some(2)));
        let walk = parse(&["--one-file-system", "--follow"]).unwrap().walk;
        assert!(walk.one_file_system && walk.follow && !walk.ignore_files && !walk.no_hidden);
    }

    #[test]
    fn every_filter_is_reported() {
        use clap::CommandFactory as _;

        assert_eq!(parse(&["-L", "--files-from", "x"]).unwrap().filter(), None);
        let command = Alone::command();
        let other = ["follow", "files-from", "files0-from"];
        let longs = command.get_arguments().filter(|arg| !arg.is_positional());
        let longs = longs.filter_map(|arg| Some((arg.get_long()?, arg.get_action().takes_values())));
        let longs: Vec<_> = longs.filter(|(long, _)| !other.contains(long)).collect();
        assert!(longs.len() >= 20, "{longs:?}");
        for (long, takes_value) in longs {
            let option = format!("--{long}");
            let value = match long {
                "type" => "f",
                "changed-within" | "changed-before" => "2d",
                "owner" => "0",
                _ => "1",
            };
            let line = [&option[..], value];
            let args = parse(if takes_value { &line } else { &line[..1] }).unwrap();
            assert_eq!(args.filter(), Some(&*option));
        }
    }

    #[test]
    fn parse_errors_name_the_option_and_the_position() {
        for (line, message) in [
            (
                ["-S", "12Q"],
                "invalid value '12Q' for '--size <[+-]N>': `Q` is not a unit: use K, M, G, T or P (powers of 1,024), or kB, MB, GB, TB or PB (at byte 3)",
            ),
            (["-t", "f,x"], "`x` is not a type: use f, d, l, p, s, b or c (at byte 3)"),
            (["--links", "x"], "`x` is not a number of links (at byte 1)"),
            (["--perm", "79"], "`9` is not an octal digit (at byte 2)"),
            (["--owner", "0:"], ""),
            (["--owner", "0:!"], "a group is missing (at byte 4)"),
            (["--changed-within", "2x"], "invalid value '2x' for '--changed-within <TIME>'"),
            (["--changed-before", "2024-02-30"], "`2024-02-30` is not a date"),
        ] {
            match parse(&line) {
                Ok(_) => assert_eq!(message, "", "{line:?}"),
                Err(error) => assert!(!message.is_empty() && error.to_string().contains(message), "{error}"),
            }
        }
    }
}
