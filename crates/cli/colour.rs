//! Colours of what lines on standard output say, the same in all commands.

use std::io;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::stdout::Stdout;

/// What a coloured word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    /// Something is there or not, and no content is wrong.
    Notable,
    /// Content differs, or something failed.
    Wrong,
    /// Metadata, or a remark.
    Minor,
}

/// Whether lines for people on standard output have colours: on a terminal, unless `--color` or `NO_COLOR` says no.
pub(crate) fn wanted() -> bool {
    Stdout::is_terminal() && AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

impl Tone {
    /// The colour; none unless `is_coloured`.
    pub(crate) fn style(self, is_coloured: bool) -> Style {
        let colour = match self {
            Self::Good => AnsiColor::Green,
            Self::Notable => AnsiColor::Yellow,
            Self::Wrong => AnsiColor::Red,
            Self::Minor => AnsiColor::Cyan,
        };
        if is_coloured { Style::new().fg_color(Some(colour.into())) } else { Style::new() }
    }
}
