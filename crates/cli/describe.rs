//! `ftk --describe`: prints the definition of the command line as JSON, for tools.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Args, Command};
use serde::Serialize;

use crate::args;
use crate::console::Outcome;
use crate::globals::Globals;
use crate::help::End;
use crate::stdout::Stdout;

/// Print all commands and options as JSON, for tools
#[derive(Debug, Args)]
pub(crate) struct DescribeArgs;

pub(crate) fn run() -> anyhow::Result<Outcome> {
    let command = args::definition();
    let mut json = serde_json::to_vec_pretty(&Described::from(&command))?;
    json.push(b'\n');
    Stdout::print(&json)?;
    Ok(Outcome::Success)
}

/// A command. Empty members are omitted.
#[derive(Serialize)]
struct Described {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    about: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    usage: String,
    /// The positional arguments, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<Argument>,
    /// The global options are listed only at the top.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<Argument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    examples: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<Self>,
}

impl From<&Command> for Described {
    fn from(command: &Command) -> Self {
        let is_top = command.get_version().is_some();
        let globals = Globals::augment_args(Command::new(""));
        let is_global = |arg: &Arg| globals.get_arguments().any(|global| global.get_id() == arg.get_id());
        let own = |arg: &&Arg| !arg.is_hide_set() && (is_top || !is_global(arg));
        let end = End::of(command);
        Self {
            name: command.get_name().into(),
            version: is_top.then_some(env!("CARGO_PKG_VERSION")),
            about: plain(command.get_about()).unwrap_or_default(),
            description: plain(command.get_long_about()),
            usage: command.clone().render_usage().to_string().trim_start_matches("Usage: ").into(),
            arguments: command.get_positionals().filter(own).map(Argument::from).collect(),
            options: command.get_opts().chain(flags(command)).filter(own).map(Argument::from).collect(),
            exit_status: end.status,
            examples: end.examples,
            commands: command.get_subcommands().filter(|it| !it.is_hide_set()).map(Self::from).collect(),
        }
    }
}

/// Returns the options without a value.
fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !arg.is_positional() && !arg.get_action().takes_values())
}

/// An option or a positional argument.
#[derive(Serialize)]
struct Argument {
    #[serde(skip_serializing_if = "Option::is_none")]
    short: Option<char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    long: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    /// The placeholder for its value; flags have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    possible_values: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    repeatable: bool,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    help: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl From<&Arg> for Argument {
    fn from(arg: &Arg) -> Self {
        let takes_value = arg.get_action().takes_values();
        let values = arg.get_possible_values();
        Self {
            short: arg.get_short(),
            long: arg.get_long().map(Into::into),
            aliases: arg.get_all_aliases().unwrap_or_default().iter().map(ToString::to_string).collect(),
            value: arg.get_value_names().filter(|_| takes_value).map(|names| names.join(" ")),
            possible_values: match takes_value {
                true => values.iter().map(|value| value.get_name().into()).collect(),
                false => Vec::new(),
            },
            default: arg
                .get_default_values()
                .first()
                .filter(|_| takes_value)
                .map(|it| it.to_string_lossy().into()),
            repeatable: matches!(arg.get_action(), ArgAction::Append | ArgAction::Count),
            required: arg.is_required_set(),
            group: arg.get_help_heading().map(Into::into),
            help: plain(arg.get_help()).unwrap_or_default(),
            description: plain(arg.get_long_help()),
        }
    }
}

/// Returns the text without colours.
fn plain(text: Option<&StyledStr>) -> Option<String> {
    text.map(ToString::to_string)
}
