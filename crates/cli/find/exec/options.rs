//! The options `--exec` and `--exec-batch`. Their value is a whole command up to a `;`.

use std::ffi::OsString;

use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use crate::rules::AllowUnusedArg;

/// The commands as given, each with its arguments.
#[derive(Clone, Debug)]
pub(in crate::find) struct Commands {
    pub(super) each: Vec<Vec<OsString>>,
    pub(super) batch: Vec<Vec<OsString>>,
    pub(in crate::find) allow_unused: AllowUnusedArg,
}

impl Commands {
    pub(in crate::find) fn is_empty(&self) -> bool {
        self.each.is_empty() && self.batch.is_empty()
    }
}

const HEADING: &str = "Running commands";

const EXEC: &str = "Run CMD for each entry; `\\;` ends CMD";

const EXEC_LONG: &str = "\
Run CMD for each entry; `\\;` ends CMD

In its arguments, `{}` stands for the path, `{/}` for the name, `{//}` for the directory, `{.}` for the path without \
the extension, and `{/.}` for the name without the extension. If none of them is given, the path is appended. No shell \
is involved. A path never looks like an option: where it would begin with a dash, `./` is put before it.

Commands start during the search, as many at a time as -j says (`auto`: one per CPU), and the output of each one \
appears in one piece when it ends, in any order. With `-j mono`, and with --sort unless -j is a number, they run one \
after another and can use standard input and the terminal. With several --exec, the later ones run for entries for which the earlier ones succeeded.

If a command fails, its path and status are printed, the others still run, and the exit status of ftk is 2. A command \
that ends with status 255 stops the run: no other one is started, as in xargs. Write PATHs before --exec: what follows \
it belongs to CMD.";

const BATCH: &str = "Run CMD for all entries, in as few runs as possible; `\\;` or `{} +` ends it";

const BATCH_LONG: &str = "\
Run CMD for all entries, in as few runs as possible; `\\;` or `{} +` ends it

Like --exec, but each run gets many paths: an argument that contains `{}` or one of the other placeholders is repeated \
for each path. The runs follow one another and can use standard input and the terminal. If nothing matches, the command \
is not run.";

impl Args for Commands {
    fn augment_args(command: Command) -> Command {
        let option = |name: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name("CMD")
                .num_args(1..)
                .allow_hyphen_values(true)
                .value_terminator(";")
                .value_parser(value_parser!(OsString))
                .action(ArgAction::Append)
                .help_heading(HEADING)
        };
        let command = command
            .arg(option("exec").help(EXEC).long_help(EXEC_LONG).conflicts_with("exec-batch"))
            .arg(option("exec-batch").help(BATCH).long_help(BATCH_LONG));
        AllowUnusedArg::augment_args(command).mut_arg(AllowUnusedArg::ID, |arg| arg.help_heading(HEADING))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Commands {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let commands = |name| {
            let commands = matches.get_occurrences::<OsString>(name).into_iter().flatten();
            commands.map(|command| command.cloned().collect()).collect()
        };
        let allow_unused = AllowUnusedArg { allow_unused_rules: matches.get_flag(AllowUnusedArg::ID) };
        Ok(Self { each: commands("exec"), batch: commands("exec-batch"), allow_unused })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        commands: Commands,
        #[arg(short)]
        j: Option<u8>,
        paths: Vec<OsString>,
    }

    #[test]
    fn a_command_ends_at_a_semicolon_or_the_last_word() {
        let line = [
            "alone", "--exec", "a", "-j", "--", "{}", ";", "-j", "1", "x", "--exec", "b", ";", "y", "--exec",
            "c",
        ];
        let args = Alone::try_parse_from(line).unwrap();
        assert_eq!(args.commands.each, [&["a", "-j", "--", "{}"][..], &["b"], &["c"]]);
        assert_eq!((args.j, &args.paths[..]), (Some(1), &["x".into(), "y".into()][..]));
        let args =
            Alone::try_parse_from(["alone", "--exec-batch", "a", ";", "--exec-batch", "b", "c"]).unwrap();
        assert_eq!(args.commands.batch, [&["a"][..], &["b", "c"]]);
        assert!(Alone::try_parse_from(["alone", "x"]).unwrap().commands.is_empty());
    }

    #[test]
    fn arguments_may_be_any_bytes() {
        let odd = OsString::from_vec(b"\xff\n".to_vec());
        let args = Alone::try_parse_from(["alone".into(), "--exec".into(), odd.clone()]).unwrap();
        assert_eq!(args.commands.each, [[odd]]);
    }

    #[test]
    fn empty_commands_and_both_options_together_are_refused() {
        for line in [
            &["--exec"][..],
            &["--exec", ";"],
            &["--exec-batch", ";"],
            &["--exec", "a", ";", "--exec-batch", "b"],
        ] {
            assert!(Alone::try_parse_from([&["alone"], line].concat()).is_err(), "{line:?}");
        }
    }
}
