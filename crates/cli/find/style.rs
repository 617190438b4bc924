//! The output format of entries, shared by all workers.

use std::ffi::CString;

use super::OutputArgs;
use super::colours::Colours;
use super::fields::{Fields, Owners};
use super::format::TextFormat;
use super::hyperlink::Hyperlinks;
use super::long::{Columns, Long};
use super::render::{Render, ShownName};
use crate::globals::Globals;
use crate::stdout::Stdout;

/// The output format.
pub(super) enum Style<'s> {
    /// The bytes of the path, and a terminator.
    Plain { end: u8 },
    /// Any other format.
    Rendered(Rendered<'s>),
}

/// A format other than plain paths.
pub(super) enum Rendered<'s> {
    /// The path for people, after the metadata if `long`.
    Shown {
        colours: Option<Box<Colours>>,
        links: Option<Hyperlinks>,
        long: Option<Columns>,
        escape: bool,
        end: u8,
    },
    Json,
    Format {
        format: &'s TextFormat,
        end: u8,
        escape: bool,
    },
}

impl<'s> Style<'s> {
    pub(super) fn new(args: &'s OutputArgs, globals: &Globals) -> Self {
        let end = if args.null { 0 } else { b'\n' };
        // With --null, names are raw bytes even on a terminal.
        let escape = !args.null && Stdout::is_terminal();
        let links = args.hyperlink.filter(|_| !args.null).and_then(Hyperlinks::wanted);
        let long = args.long.then_some(Columns { human_readable: args.human_readable });
        Self::Rendered(match &args.format {
            _ if globals.json => Rendered::Json,
            Some(format) => Rendered::Format { format, end, escape },
            None if args.null && long.is_none() => return Self::Plain { end },
            None => match Colours::wanted().filter(|_| !args.null) {
                None if !escape && links.is_none() && long.is_none() => return Self::Plain { end },
                colours => Rendered::Shown { colours: colours.map(Box::new), links, long, escape, end },
            },
        })
    }
}

impl Rendered<'_> {
    /// Creates the writer for one worker. `roots` are the starting points.
    pub(super) fn render<'r>(&'r self, roots: &'r [CString]) -> Render<'r> {
        match self {
            Self::Shown { colours, links, long, escape, end } => {
                let name = ShownName { colours: colours.as_deref(), links: links.as_ref(), escape: *escape };
                match long {
                    Some(columns) => Render::Long(Box::new(Long::new(*columns, name, *end))),
                    None => Render::Shown { name, end: *end },
                }
            }
            Self::Json => Render::Json(Owners::default()),
            Self::Format { format, end, escape } => {
                Render::Fields { fields: Box::new(Fields::new(format, roots, *escape)), end: *end }
            }
        }
    }
}
