//! Lists and names: what is written is read back, and what is read was written so.

use ftk_record::{End, Style, SumFormat, SumLine, SumReader, quote, read_path, sanitize, write_path};

/// Takes the input for a list: each line that is understood must mean the same when it is written again.
pub fn sum_lists(data: &[u8]) {
    for end in [End::Newline, End::Nul] {
        let mut reader = SumReader::new(data, end);
        let mut last = 0;
        while let Some(record) = reader.next().expect("memory can be read") {
            assert!(record.number > last, "line numbers grow");
            last = record.number;
            let Ok(line) = record.line else { continue };
            assert!(!line.name.is_empty() && !line.name.contains(&0));
            let digest = data_encoding::HEXLOWER_PERMISSIVE.decode(line.hex).expect("hexadecimal digits");
            let style = if line.tag.is_some() { Style::Tagged } else { Style::Untagged };
            rewrite(SumFormat::new(line.tag.unwrap_or("SHA256"), style, end), end, &digest, &line.name);
        }
    }
}

/// Takes the input for a name: it survives every format, and no format lets it act on a terminal.
pub fn names(data: &[u8]) {
    for shown in [sanitize(data).into_owned(), quote(data)] {
        let acts = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!shown.chars().any(acts), "{shown:?}");
    }
    if data.is_empty() || data.contains(&0) {
        return;
    }
    for end in [End::Newline, End::Nul] {
        for style in [Style::Untagged, Style::Tagged] {
            for tag in ["SHA256", "XXH3"] {
                rewrite(SumFormat::new(tag, style, end), end, &[0x12, 0xab], data);
            }
        }
    }
    let mut json = b"{".to_vec();
    write_path(&mut json, "path", data);
    json.push(b'}');
    let json: serde_json::Value = serde_json::from_slice(&json).expect("valid JSON");
    let member = |name| json.get(name).and_then(|value| value.as_str());
    assert_eq!(read_path(member("path"), member("path_b64")).expect("a name"), data);
}

/// Takes the input for the value of a `path_b64`.
pub fn json_paths(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(name) = read_path(None, Some(text)) {
        assert!(!name.contains(&0));
        assert_eq!(data_encoding::BASE64.encode(&name), text, "one spelling a name");
    }
    if let Ok(name) = read_path(Some(text), None) {
        assert_eq!(&*name, data);
    }
}

/// One line, written and read, is one line with this digest and name.
fn rewrite(format: SumFormat<'_>, end: End, digest: &[u8], name: &[u8]) {
    let mut line = Vec::new();
    format.write_line(&mut line, digest, name);
    let ended = line.pop();
    let end_byte = if end == End::Newline { b'\n' } else { 0 };
    assert_eq!(ended, Some(end_byte));
    assert!(!line.contains(&end_byte), "one line");
    let again = SumLine::parse(&line, end).expect("what is written is read");
    assert_eq!((again.hex, &*again.name), (data_encoding::HEXLOWER.encode(digest).as_bytes(), name));
}
