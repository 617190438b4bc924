//! Parses the text of `--format`.

/// Text with fields in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextFormat {
    pub(super) parts: Vec<TextPart>,
}

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextPart {
    Text(Vec<u8>),
    Field(Field),
}

/// A field of an entry. The comments name the equivalent directive of `find -printf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Path,        // %p
    Name,        // %f
    Dir,         // %h
    Stem,        // the name without its extension
    Ext,         // the extension without its dot
    Relative,    // %P
    Root,        // %H
    Depth,       // %d
    Type,        // %y
    Target,      // %l
    Size,        // %s
    Blocks,      // %b
    Mode,        // %m
    Permissions, // %M
    Uid,         // %U
    Gid,         // %G
    User,        // %u
    Group,       // %g
    Links,       // %n
    Inode,       // %i
    Device,      // %D
    Mtime,       // %t
    Ctime,       // %c
    Atime,       // %a
    MtimeNs,     // %T@
    CtimeNs,     // %C@
    AtimeNs,     // %A@
}

/// The names of the fields, as written between braces.
const NAMES: [(&str, Field); 27] = [
    ("path", Field::Path),
    ("name", Field::Name),
    ("dir", Field::Dir),
    ("stem", Field::Stem),
    ("ext", Field::Ext),
    ("relative", Field::Relative),
    ("root", Field::Root),
    ("depth", Field::Depth),
    ("type", Field::Type),
    ("target", Field::Target),
    ("size", Field::Size),
    ("blocks", Field::Blocks),
    ("mode", Field::Mode),
    ("permissions", Field::Permissions),
    ("uid", Field::Uid),
    ("gid", Field::Gid),
    ("user", Field::User),
    ("group", Field::Group),
    ("links", Field::Links),
    ("inode", Field::Inode),
    ("device", Field::Device),
    ("mtime", Field::Mtime),
    ("ctime", Field::Ctime),
    ("atime", Field::Atime),
    ("mtime_ns", Field::MtimeNs),
    ("ctime_ns", Field::CtimeNs),
    ("atime_ns", Field::AtimeNs),
];

/// Names of members of `find --json` that differ from those of the fields.
const ALIASES: [(&str, Field); 5] = [
    ("size_bytes", Field::Size),
    ("owner", Field::User),
    ("nlink", Field::Links),
    ("ino", Field::Inode),
    ("dev", Field::Device),
];

impl TextFormat {
    /// Parses `text`: fields in braces, `{{` and `}}` for braces, and the escapes `\n \t \r \0 \\`.
    ///
    /// # Errors
    /// A message with the problem and the position of its first byte, counted from 1.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "help" {
            return Err(format!(
                "write fields in braces, such as '{{size}} {{path}}'; the fields are {}",
                names()
            ));
        }
        let mut parts = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        while let Some(special) = rest.find(['{', '}', '\\']) {
            literal.extend_from_slice(&rest.as_bytes()[..special]);
            let at = text.len() - rest.len() + special;
            rest = &rest[special..];
            let wrong = |problem: String| Err(format!("{problem} (at byte {})", at + 1));
            let (used, byte) = match rest.as_bytes() {
                [b'{', b'{', ..] => (2, b'{'),
                [b'}', b'}', ..] => (2, b'}'),
                [b'}', ..] => return wrong("unmatched `}`: write `}}` for a literal brace".into()),
                [b'\\', after @ ..] => match after.first().and_then(|escaped| escape(*escaped)) {
                    Some(byte) => (2, byte),
                    None => return wrong(r"unknown escape: use \n, \t, \r, \0 or \\".into()),
                },
                _ => {
                    let Some(end) = rest.find('}') else {
                        return wrong("unclosed `{`: write `{{` for a literal brace".into());
                    };
                    let name = &rest[1..end];
                    let Some((_, field)) = NAMES.iter().chain(&ALIASES).find(|(known, _)| *known == name)
                    else {
                        return wrong(format!(
                            "unknown field `{}`, expected one of {}",
                            name.escape_debug(),
                            names()
                        ));
                    };
                    if !literal.is_empty() {
                        parts.push(TextPart::Text(std::mem::take(&mut literal)));
                    }
                    parts.push(TextPart::Field(*field));
                    rest = &rest[end + 1..];
                    continue;
                }
            };
            literal.push(byte);
            rest = &rest[used..];
        }
        literal.extend_from_slice(rest.as_bytes());
        if !literal.is_empty() {
            parts.push(TextPart::Text(literal));
        }
        if text.contains('%') && !parts.iter().any(|part| matches!(part, TextPart::Field(_))) {
            return Err(
                "no field: as in find -printf '%s %p\\n', write '{size} {path}'; a newline is added".into()
            );
        }
        Ok(Self { parts })
    }

    /// Whether any field is a date.
    pub(super) fn has_dates(&self) -> bool {
        let is_date =
            |part: &TextPart| matches!(part, TextPart::Field(Field::Mtime | Field::Ctime | Field::Atime));
        self.parts.iter().any(is_date)
    }
}

fn escape(byte: u8) -> Option<u8> {
    Some(match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'0' => 0,
        b'\\' => b'\\',
        _ => return None,
    })
}

fn names() -> String {
    NAMES.map(|(name, _)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(bytes: &[u8]) -> TextPart {
        TextPart::Text(bytes.to_vec())
    }

    #[test]
    fn fields_text_and_escapes() {
        let parts = |format| TextFormat::parse(format).unwrap().parts;
        assert_eq!(parts(""), []);
        assert_eq!(parts("{path}"), [TextPart::Field(Field::Path)]);
        assert_eq!(
            parts(r"{size}\t{path}\0"),
            [TextPart::Field(Field::Size), text(b"\t"), TextPart::Field(Field::Path), text(b"\0")]
        );
        assert_eq!(parts(r"\\n{{path}}"), [text(b"\\n{path}")]);
        assert_eq!(parts("{{{name}}}"), [text(b"{"), TextPart::Field(Field::Name), text(b"}")]);
        assert_eq!(parts("gr\u{f6}\u{df}e"), [text("gr\u{f6}\u{df}e".as_bytes())]);
        assert_eq!(parts("{size}%"), [TextPart::Field(Field::Size), text(b"%")]);
        assert!(TextFormat::parse("%s %p\\n").is_err());
    }

    #[test]
    fn every_field_has_one_name() {
        for (nth, (name, field)) in NAMES.iter().enumerate() {
            assert_eq!(TextFormat::parse(&format!("{{{name}}}")).unwrap().parts, [TextPart::Field(*field)]);
            assert!(NAMES[..nth].iter().all(|other| other.0 != *name && other.1 != *field), "{name}");
        }
    }

    #[test]
    fn errors_name_the_problem_and_its_position() {
        for (format, problem, at) in [
            ("{sise}", "unknown field `sise`, expected one of path, name", 1),
            ("{path} {}", "unknown field ``", 8),
            ("{path:>9}", "unknown field `path:>9`", 1),
            ("{ path}", "unknown field ` path`", 1),
            ("{path", "unclosed `{`", 1),
            ("\u{e4}{", "unclosed `{`", 3),
            ("{path}}", "unmatched `}`", 7),
            (r"a\b", "unknown escape", 2),
            ("\\", "unknown escape", 1),
        ] {
            let error = TextFormat::parse(format).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
            assert!(error.ends_with(&format!("(at byte {at})")), "{error}");
        }
    }

    proptest! {
        /// Any text can be escaped, and the parser never panics.
        #[test]
        fn any_text_can_be_escaped(plain in ".*", noise in "[{}\\\\a-z0]*") {
            let _ = TextFormat::parse(&noise);
            let escaped = plain.replace('\\', r"\\").replace('{', "{{").replace('}', "}}");
            // Text without a field may have no `%`.
            let parts = TextFormat::parse(&format!("{{name}}{escaped}")).unwrap().parts;
            let rest = if plain.is_empty() { None } else { Some(text(plain.as_bytes())) };
            prop_assert_eq!(parts, [TextPart::Field(Field::Name)].into_iter().chain(rest).collect::<Vec<_>>());
        }
    }
}
