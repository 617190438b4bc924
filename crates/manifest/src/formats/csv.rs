//! Writes comma-separated values (RFC 4180): a header, one row per entry, CR LF line ends.

use data_encoding::BASE64;
use ftk_hash::{Algorithm, Digest};

use super::lists::Columns;
use crate::{Entry, Field, Header};

/// Writes the rows of a table. A path is in the column `path` if it is UTF-8, and otherwise in `path_b64` as base64. The
/// other column of the two is empty. So it is with `target` and `link_group`.
#[derive(Debug)]
pub(super) struct Csv {
    columns: Columns,
    fields: Vec<Field>,
    value: Vec<u8>,
}

impl Csv {
    /// Appends the header.
    pub(super) fn new(out: &mut Vec<u8>, header: &Header, columns: Columns) -> Self {
        let is_in = |field: &Field| match field {
            Field::Digests | Field::Damaged => !columns.is_empty(),
            Field::Xattrs => header.xattrs,
            _ => true,
        };
        let fields: Vec<_> = Field::ALL.into_iter().filter(is_in).collect();
        out.extend_from_slice(b"path,path_b64");
        for field in &fields {
            match field {
                Field::Target | Field::LinkGroup => {
                    out.extend_from_slice(format!(",{field},{field}_b64").as_bytes());
                }
                Field::Digests => {
                    for (algorithm, _) in &columns {
                        out.push(b',');
                        out.extend_from_slice(algorithm.name().as_bytes());
                    }
                }
                _ => {
                    out.push(b',');
                    out.extend_from_slice(field.name().as_bytes());
                }
            }
        }
        out.extend_from_slice(b"\r\n");
        Self { columns, fields, value: Vec::new() }
    }

    /// Appends a row.
    pub(super) fn entry(&mut self, out: &mut Vec<u8>, entry: &Entry<'_>, algorithms: &[Algorithm]) {
        push_name(out, entry.path);
        for &field in &self.fields {
            match field {
                Field::Target | Field::LinkGroup => {
                    out.push(b',');
                    match field.name_in(entry) {
                        Some(name) => push_name(out, name),
                        None => out.push(b','),
                    }
                }
                Field::Digests => {
                    for (_, range) in &self.columns {
                        out.push(b',');
                        if let Some(digest) = entry.digests.get(range.clone()) {
                            Digest::from_bytes(digest).write_hex(out);
                        }
                    }
                }
                _ => {
                    out.push(b',');
                    if field.is_of(entry) {
                        self.value.clear();
                        field.push_value(&mut self.value, entry, algorithms);
                        push_value(out, &self.value);
                    }
                }
            }
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// Appends two columns, of which one is empty.
fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    if str::from_utf8(name).is_ok() {
        push_text(out, name);
        out.push(b',');
    } else {
        out.push(b',');
        let start = out.len();
        out.resize(start + BASE64.encode_len(name.len()), 0);
        BASE64.encode_mut(name, &mut out[start..]);
    }
}

/// Appends a JSON value: the text of a string, and anything else as it is.
fn push_value(out: &mut Vec<u8>, value: &[u8]) {
    // Strings among the members contain no escapes.
    match value {
        [b'"', text @ .., b'"'] => push_text(out, text),
        value => push_text(out, value),
    }
}

/// Appends text, quoted if necessary, with quotes in it doubled.
fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    let is_special = |byte: u8| (byte == b',') | (byte == b'"') | (byte == b'\r') | (byte == b'\n');
    // Blanks at the ends are part of the text, but some readers remove them unless the text is quoted.
    let is_blank = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
    if !text.iter().fold(false, |found, byte| found | is_special(*byte))
        && !is_blank(text.first())
        && !is_blank(text.last())
    {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
