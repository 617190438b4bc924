//! The output format of entries, shared by all workers.

use std::ffi::CString;

use super::OutputArgs;
use super::colours::Colours;
use super::fields::Fields;
use super::format::Format;
use super::render::Render;
use crate::args::Globals;
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
    /// The path for people.
    Shown {
        colours: Option<Colours>,
        escape: bool,
    },
    Json,
    Format {
        format: &'s Format,
        end: u8,
        escape: bool,
    },
}

impl<'s> Style<'s> {
    pub(super) fn new(args: &'s OutputArgs, globals: &Globals) -> Self {
        let end = if args.null { 0 } else { b'\n' };
        // With --null, names are raw bytes even on a terminal.
        let escape = !args.null && Stdout::is_terminal();
        Self::Rendered(match &args.format {
            _ if globals.json => Rendered::Json,
            Some(format) => Rendered::Format { format, end, escape },
            None if args.null => return Self::Plain { end },
            None => match Colours::wanted() {
                None if !escape => return Self::Plain { end },
                colours => Rendered::Shown { colours, escape },
            },
        })
    }
}

impl Rendered<'_> {
    /// Creates the writer for one worker. `roots` are the starting points.
    pub(super) fn render<'r>(&'r self, roots: &'r [CString]) -> Render<'r> {
        match self {
            Self::Shown { colours, escape } => Render::Shown { colours: colours.as_ref(), escape: *escape },
            Self::Json => Render::Json,
            Self::Format { format, end, escape } => {
                Render::Fields { fields: Box::new(Fields::new(format, roots, *escape)), end: *end }
            }
        }
    }
}
