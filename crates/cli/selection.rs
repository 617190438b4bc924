//! The options that say which entries of a tree are meant, the same for every command that takes trees.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ArgAction;
use ftk_record::quote;
use ftk_select::{Links, Owner, ParseError, Perm, Selection, Size, Time, Types};
use ftk_walk::Follow;
use jiff::Zoned;

use crate::console::Console;
use crate::number::at_least;
use crate::starts::StartArgs;

/// Tests of one kind are alternatives; an entry must pass every kind that is given.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    names: NameArgs,

    #[command(flatten)]
    inode: InodeArgs,

    #[command(flatten)]
    walk: WalkArgs,

    #[command(flatten)]
    pub(crate) starts: StartArgs,
}

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Which entries, by name and type")]
pub(crate) struct NameArgs {
    /// Names with this extension, in either case; repeatable
    #[arg(short, long, value_name = "EXT", action = ArgAction::Append)]
    extension: Vec<OsString>,

    /// Names that match this glob; repeatable
    #[arg(short, long, value_name = "GLOB", allow_hyphen_values = true)]
    name: Vec<OsString>,

    /// As --name, in either case
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    iname: Vec<OsString>,

    /// Paths below the start that match this glob as a whole, where `*` takes a `/` too; repeatable
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    path: Vec<OsString>,

    /// Paths below the start in which this regular expression matches somewhere; repeatable
    ///
    /// It is matched against bytes: `.` is any byte, classes such as `\w` are those of ASCII. `^` is where the
    /// path below the starting point begins, so `^src/` is what lies in its `src`.
    #[arg(long, value_name = "RE", allow_hyphen_values = true)]
    regex: Vec<String>,

    /// Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)
    #[arg(short = 't', long = "type", value_name = "f,d,l,p,s,b,c")]
    types: Vec<Types>,
}

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Which entries, by what is known of them")]
struct InodeArgs {
    /// Size: `+N` larger, `-N` smaller, `N` exact, such as +10M or 1.5GB; repeat for a range
    ///
    /// K, M, G, T, P and KiB, MiB, GiB, TiB, PiB are powers of 1,024; kB, MB, GB, TB, PB are powers of 1,000; a number
    /// without a unit counts bytes. Decimals are exact.
    #[arg(short = 'S', long, value_name = "[+-]N", allow_hyphen_values = true)]
    size: Vec<Size>,

    /// Changed later than this file
    #[arg(long, value_name = "FILE")]
    newer: Option<PathBuf>,

    /// Modified within this time, such as 2d, 3h or 1week, or since today, yesterday or a date
    ///
    /// A date, such as 2024-01-31 or 2024-01-31T12:00, is one of the local time zone; 2024-01-31T12:00Z and
    /// @SECONDS since 1970 are the same everywhere. A day is a day of the calendar. What matters is when the
    /// content was changed (mtime).
    #[arg(long, value_name = "TIME", value_parser = time)]
    changed_within: Option<Time>,

    /// Modified longer ago than this, or before today, yesterday or a date: as --changed-within
    #[arg(long, value_name = "TIME", value_parser = time)]
    changed_before: Option<Time>,

    /// Of this user and group, by name or number; `!` before either takes all others; repeatable
    ///
    /// USER, :GROUP and USER:GROUP; `!root:!root` is what belongs neither to the user nor to the group root.
    #[arg(long, value_name = "[!]USER:GROUP")]
    owner: Vec<Owner>,

    /// Permission bits in octal: 644 exactly these, -111 at least all of these, /222 at least one; repeatable
    #[arg(long, value_name = "[-/]OCTAL", allow_hyphen_values = true)]
    perm: Vec<Perm>,

    /// Number of hard links: `+` more, `-` less, neither exactly; two make a range
    #[arg(long, value_name = "[+-]N", allow_hyphen_values = true)]
    links: Vec<Links>,

    /// Names of this very file; repeatable
    #[arg(long, value_name = "FILE")]
    samefile: Vec<PathBuf>,

    /// Files of no bytes and directories without entries
    #[arg(long)]
    empty: bool,
}

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Where to look")]
pub(crate) struct WalkArgs {
    /// Leave out what matches, and all below it: by name, or by path below the start if it holds a `/`
    #[arg(short = 'E', long, value_name = "GLOB", allow_hyphen_values = true)]
    exclude: Vec<OsString>,

    /// Leave out what .gitignore and .ignore files say, and all below it
    ///
    /// They are read in every directory, and where a starting point lies in a git repository, from the
    /// beginning of that one on, its .git/info/exclude included. A .gitignore needs no repository. The user's
    /// own ignore file and git's index are not looked at, so everybody gets the same. How many were left out is
    /// said at the end.
    #[arg(long)]
    ignore_files: bool,

    /// Leave out names that begin with a dot, and all below them
    #[arg(long)]
    no_hidden: bool,

    /// Nothing above this depth; a starting point is at 0
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = at_least(0_u32))]
    min_depth: u32,

    /// Nothing below this depth
    #[arg(long, value_name = "N", value_parser = at_least(0_u32))]
    max_depth: Option<u32>,

    /// Stay on the file system of each starting point
    #[arg(short = 'x', long)]
    one_file_system: bool,

    /// Follow symbolic links; a directory is entered once, under the first of its paths in byte order
    #[arg(short = 'L', long)]
    follow: bool,
}

/// `-r`, which users of diff, fdupes and hashdeep type.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Where to look")]
pub(crate) struct RecursiveArg {
    /// Accepted and ignored: ftk always recurses into directories
    #[arg(short, long, hide_short_help = true, overrides_with = "recursive")]
    recursive: bool,
}

impl SelectionArgs {
    /// One that names and places alone decide, which stay what they are when a file changes.
    pub(crate) fn by_place(names: NameArgs, walk: WalkArgs) -> Self {
        Self { names, inode: InodeArgs::default(), walk, starts: StartArgs::default() }
    }

    /// The long option of the first filter that was given. `--follow` is none: it leaves nothing out.
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
            (!inode.perm.is_empty(), "--perm"),
            (!inode.links.is_empty(), "--links"),
            (!inode.samefile.is_empty(), "--samefile"),
            (inode.empty, "--empty"),
            (!walk.exclude.is_empty(), "--exclude"),
            (walk.ignore_files, "--ignore-files"),
            (walk.no_hidden, "--no-hidden"),
            (walk.min_depth > 0, "--min-depth"),
            (walk.max_depth.is_some(), "--max-depth"),
            (walk.one_file_system, "--one-file-system"),
        ]
        .into_iter()
        .find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// The values of `--name`.
    pub(crate) fn names(&self) -> &[OsString] {
        &self.names.name
    }

    /// The tests, compiled. `own`: device and inode of files that this run writes, which are left out.
    ///
    /// # Errors
    /// When a pattern cannot be understood, or a file that others are compared with is not there.
    pub(crate) fn compile(&self, own: &[(u64, u64)], console: &Console) -> anyhow::Result<Selection> {
        let Self { names, inode, walk, .. } = self;
        let mut builder = Selection::builder()
            .min_depth(walk.min_depth)
            .one_file_system(walk.one_file_system)
            .no_hidden(walk.no_hidden)
            .ignore_files(walk.ignore_files)
            .empty(inode.empty);
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
        builder = inode.size.iter().fold(builder, |builder, &size| builder.size(size));
        builder = inode.owner.iter().fold(builder, |builder, &owner| builder.owner(owner));
        builder = inode.perm.iter().fold(builder, |builder, &perm| builder.perm(perm));
        builder = inode.links.iter().fold(builder, |builder, &links| builder.links(links));
        builder = inode.changed_within.iter().fold(builder, |builder, &time| builder.changed_since(time));
        builder = inode.changed_before.iter().fold(builder, |builder, &time| builder.changed_before(time));
        if let Some(file) = &inode.newer {
            let than = self.metadata(file)?;
            let mtime = i128::from(than.mtime()) * 1_000_000_000 + i128::from(than.mtime_nsec());
            builder = builder.changed_since(Time(mtime + 1));
        }
        for file in &inode.samefile {
            let as_this = self.metadata(file)?;
            builder = builder.same_file(as_this.dev(), as_this.ino());
        }
        builder =
            own.iter().chain(&console.own).fold(builder, |builder, &(dev, ino)| builder.skip_file(dev, ino));
        Ok(builder.build()?)
    }

    /// Which links are followed; `roots`: those given as arguments, without `-L`.
    pub(crate) fn follow(&self, roots: Follow) -> Follow {
        if self.walk.follow { Follow::Always } else { roots }
    }

    /// That of a file named as an option; a link stands for its target with `-L` only, as in the walk.
    fn metadata(&self, file: &Path) -> anyhow::Result<fs::Metadata> {
        let metadata = if self.walk.follow { file.metadata() } else { file.symlink_metadata() };
        metadata.with_context(|| format!("cannot stat {}", quote(file.as_os_str().as_bytes())))
    }
}

/// The one place where the clock and the time zone are asked for.
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
    fn what_is_known_of_an_entry() {
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
    fn where_to_look() {
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
    fn every_filter_is_told() {
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
    fn what_does_not_parse_is_named_and_marked() {
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
