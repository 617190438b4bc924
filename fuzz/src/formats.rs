//! The text of `ftk find --format`.

use std::sync::LazyLock;

use regex::Regex;

use format::{Format, Part};

// It is part of a program, which has no library.
#[path = "../../crates/cli/find/format.rs"]
#[expect(dead_code, reason = "whether dates are printed is not asked here")]
mod format;

/// What a format is made of: doubled braces, escapes, fields, and any other character.
static PIECE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:\{\{|\}\}|\\[ntr0\\]|\{(?<field>[a-z_]+)\}|[^{}\\])").expect("an expression")
});

/// Takes the input for a format: it is made of the pieces that an expression finds in it, up to where it is refused.
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
    match Format::parse(text) {
        Ok(format) => {
            assert_eq!(at, text.len(), "{text:?}");
            let parts = format.parts.into_iter().map(|part| match part {
                Part::Text(text) => Ok(text),
                Part::Field(field) => Err(name(&format!("{field:?}"))),
            });
            assert!(parts.eq(expected), "{text:?}");
        }
        Err(error) => assert!(error.ends_with(&format!("(at byte {})", at + 1)), "{text:?}: {error}"),
    }
}

fn is_field(name: &str) -> bool {
    Format::parse(&format!("{{{name}}}")).is_ok()
}

/// How a field that is called `MtimeNs` is written.
fn name(field: &str) -> String {
    let small = |c: char| [if c.is_uppercase() { "_" } else { "" }, &c.to_lowercase().to_string()].concat();
    field.chars().map(small).collect::<String>().trim_start_matches('_').to_owned()
}
