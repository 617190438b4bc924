//! The formats of `ftk find --format`.

use std::sync::LazyLock;

use regex::Regex;

use format::{TextFormat, TextPart};

// Included by path, because the program has no library.
#[path = "../../crates/cli/find/format.rs"]
#[expect(dead_code, reason = "whether a format has dates is not tested here")]
mod format;

/// The parts of a format: doubled braces, escapes, fields, and any other character.
static PIECE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:\{\{|\}\}|\\[ntr0\\]|\{(?<field>[a-z_]+)\}|[^{}\\])").expect("an expression")
});

/// Parses the input as a format. The parts must be those that a regular expression finds, up to the first
/// error.
pub fn formats(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (mut expected, mut at) = (Vec::new(), 0);
    while let Some(piece) = PIECE.captures(&text[at..]) {
        let literal = match (piece.name("field"), &piece[0]) {
            (Some(field), _) if is_field(field.as_str()) => {
                expected.push(Err(field.as_str().to_owned()));
                at += piece[0].len();
                continue;
            }
            (Some(_), _) => break,
            (None, r"\n") => "\n",
            (None, r"\t") => "\t",
            (None, r"\r") => "\r",
            (None, r"\0") => "\0",
            (None, "{{") => "{",
            (None, "}}") => "}",
            (None, r"\\") => r"\",
            (None, plain) => plain,
        };
        at += piece[0].len();
        match expected.last_mut() {
            Some(Ok(text)) => Vec::extend_from_slice(text, literal.as_bytes()),
            _ => expected.push(Ok(literal.as_bytes().to_vec())),
        }
    }
    match TextFormat::parse(text) {
        Ok(format) => {
            assert_eq!(at, text.len(), "{text:?}");
            let parts = format.parts.into_iter().map(|part| match part {
                TextPart::Text(text) => Ok(text),
                TextPart::Field(field) => Err(name(&format!("{field:?}"))),
            });
            assert!(parts.eq(expected), "{text:?}");
        }
        Err(error) => assert!(error.ends_with(&format!("(at byte {})", at + 1)), "{text:?}: {error}"),
    }
}

fn is_field(name: &str) -> bool {
    TextFormat::parse(&format!("{{{name}}}")).is_ok()
}

/// Returns how a field called `MtimeNs` is written.
fn name(field: &str) -> String {
    let small = |c: char| [if c.is_uppercase() { "_" } else { "" }, &c.to_lowercase().to_string()].concat();
    field.chars().map(small).collect::<String>().trim_start_matches('_').to_owned()
}
