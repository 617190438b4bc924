//! How entries are to be written, the same for all workers.

use std::ffi::CString;

use super::OutputArgs;
use super::colours::Colours;
use super::fields::Fields;
use super::format::Format;
use super::render::Render;
use crate::args::Globals;
use crate::stdout::Stdout;

/// What a record looks like.
pub(super) enum Style<'s> {
    /// The bytes of the path, and what ends them.
    Plain { end: u8 },
    /// More than that.
    Rendered(Rendered<'s>),
}

/// What a record that is more than the path looks like.
pub(super) enum Rendered<'s> {
    /// The path for a person.
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
        // Who asks for records ended by NUL gets bytes, wherever they go.
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
    /// For one worker; `roots` are the starting points.
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
