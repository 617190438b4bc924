//! Colours of words on standard output, the same in all commands.

use std::io;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// What a coloured word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    /// Something was added, removed or moved, and no content is wrong.
    Notable,
    /// Content differs, or something failed.
    Wrong,
    /// Metadata, or a remark.
    Minor,
}

/// Whether lines for people on standard output have colours. `--color` decides. With `auto`, they have
/// colours on a terminal, unless an environment variable such as `NO_COLOR` or `CLICOLOR_FORCE` decides
/// otherwise.
pub(crate) fn wanted() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

impl Tone {
    /// Returns the colour, or no colour unless `is_coloured`.
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
