//! Prints the bytes that differ.

use std::io::Write as _;
use std::ops::ControlFlow;

use ftk_compare::Mismatch;

use crate::stdout::Lines;

/// Prints mismatches on standard output. Offsets are counted from 1, as in cmp.
pub(super) struct Listing<'o> {
    lines: Lines<'o>,
    style: Style,
    /// The offsets of the first and the last byte of the current run of differing bytes. The next mismatch
    /// may extend it.
    run: Option<(u64, u64)>,
}

/// The output format of a mismatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `5 0x61 0x62`, or `5 0x61 a    0x62 b`
    Hex { has_characters: bool },
    /// A line of `cmp -l`, such as `5 141 142`, or of `cmp -lb`, such as `5 141 a    142 b`. The first column
    /// is padded to `width`.
    Octal { width: usize, has_characters: bool },
    /// `5-14 10`
    Ranges,
    /// One object per mismatch.
    Json,
    /// One object per run.
    JsonRanges,
}

impl<'o> Listing<'o> {
    pub(super) fn new(lines: Lines<'o>, style: Style) -> Self {
        Self { lines, style, run: None }
    }

    /// Prints a line that is not a mismatch.
    pub(super) fn line(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        self.lines.line(push);
    }

    /// Prints a mismatch. Its offset must be larger than those of all mismatches before.
    pub(super) fn push(&mut self, found: Mismatch) -> ControlFlow<()> {
        let Mismatch { offset, a, b } = found;
        let byte = offset + 1;
        let goes_on = match self.style {
            // Writing to a Vec cannot fail.
            Style::Hex { has_characters: false } => {
                self.lines.line(|out| _ = writeln!(out, "{byte} {a:#04x} {b:#04x}"))
            }
            Style::Octal { width, has_characters: false } => {
                self.lines.line(|out| _ = writeln!(out, "{byte:width$} {a:3o} {b:3o}"))
            }
            Style::Hex { .. } => {
                let (as_a, as_b) = (character(a), character(b));
                self.lines.line(|out| _ = writeln!(out, "{byte} {a:#04x} {as_a:<4} {b:#04x} {as_b}"))
            }
            Style::Octal { width, .. } => {
                let (as_a, as_b) = (character(a), character(b));
                self.lines.line(|out| _ = writeln!(out, "{byte:width$} {a:3o} {as_a:<4} {b:3o} {as_b}"))
            }
            Style::Json => {
                self.lines.line(|out| _ = writeln!(out, "{{\"byte\":{byte},\"a\":{a},\"b\":{b}}}"))
            }
            Style::Ranges | Style::JsonRanges => match &mut self.run {
                Some((_, last)) if *last + 1 == byte => {
                    *last = byte;
                    true
                }
                run => {
                    let before = run.replace((byte, byte));
                    self.push_run(before)
                }
            },
        };
        // The next mismatch may be hours away, so a terminal shows this one at once.
        self.lines.flush_if_waiting();
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn push_run(&mut self, run: Option<(u64, u64)>) -> bool {
        let Some((first, last)) = run else { return true };
        let len = last - first + 1;
        let is_json = self.style == Style::JsonRanges;
        self.lines.line(|out| {
            _ = if is_json {
                let members =
                    format_args!("\"first_byte\":{first},\"last_byte\":{last},\"length_bytes\":{len}");
                writeln!(out, "{{{members}}}")
            } else {
                writeln!(out, "{first}-{last} {len}")
            }
        })
    }

    /// Prints the run that is still open, and flushes.
    pub(super) fn end(&mut self) {
        let run = self.run.take();
        self.push_run(run);
        self.lines.flush();
    }
}

/// Returns a byte as `cat -v` shows it: `a`, `^J`, `M-a`.
pub(super) fn character(byte: u8) -> String {
    let (meta, low) = if byte < 128 { ("", byte) } else { ("M-", byte - 128) };
    match low {
        0..32 => format!("{meta}^{}", char::from(low + 64)),
        127 => format!("{meta}^?"),
        _ => format!("{meta}{}", char::from(low)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_shown_as_by_cat() {
        for (byte, shown) in [(0, "^@"), (10, "^J"), (31, "^_"), (b' ', " "), (b'~', "~"), (127, "^?")] {
            assert_eq!(character(byte), shown);
            assert_eq!(character(byte + 128), format!("M-{shown}"));
        }
    }
}
