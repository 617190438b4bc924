//! Lists of hashdeep, SFV lists and manifests of BagIt bags: lines are read as regular expressions read them, and are the
//! same when written and read again.

use std::io::BufReader;
use std::sync::LazyLock;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use ftk_record::{
    BagReader, HashdeepReader, SfvReader, check_bag_name, check_sfv_name, decode_bag_path, write_bag_line,
    write_hashdeep_header, write_hashdeep_line, write_sfv_line,
};
use regex::bytes::Regex;

/// The header of a list of hashdeep; its only group is the names of the algorithms.
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    let names = "[!-+\\--~]+(?:,[!-+\\--~]+)*";
    let form = format!(r"(?-u)^%%%% HASHDEEP-1\.0\r*\n%%%% (?i:size),({names}),(?i:filename)\r*(?:\n|$)");
    Regex::new(&form).expect("an expression")
});

/// Uses the input as a list of hashdeep.
pub fn hashdeep_lists(data: &[u8]) {
    // The smallest buffer, so that every line crosses its end.
    let read = HashdeepReader::new(BufReader::with_capacity(1, data)).expect("memory can be read");
    let Ok(mut reader) = read else {
        let columns = HEADER.captures(data).map(|found| found[1].split(|byte| *byte == b',').count());
        assert!(columns.is_none_or(|n| n > 64), "a header that was refused");
        return;
    };
    let header = HEADER.captures(data).expect("a header");
    let algorithms: Vec<_> = reader.algorithms().to_vec();
    let names = str::from_utf8(&header[1]).expect("ASCII").to_ascii_lowercase();
    assert_eq!(algorithms, names.split(',').collect::<Vec<_>>());
    let form = format!(r"(?s-u)^([0-9]+),((?:(?:[0-9A-Fa-f]{{2}})+,){{{}}})([^\x00]+)$", algorithms.len());
    let form = Regex::new(&form).expect("an expression");
    for (nth, line) in data.split_inclusive(|byte| *byte == b'\n').enumerate().skip(2) {
        let (line, is_ended) = line.strip_suffix(b"\n").map_or((line, false), |line| (line, true));
        let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
        let line = &line[..end];
        if line.is_empty() || line[0] == b'#' {
            continue;
        }
        let record = reader.next().expect("memory can be read").expect("as many lines");
        assert_eq!((record.number, record.is_ended), (nth as u64 + 1, is_ended));
        let expected = form.captures(line).and_then(|found| {
            let size: u64 = str::from_utf8(&found[1]).expect("ASCII").parse().ok()?;
            Some((size, found[2].to_vec(), found[3].to_vec()))
        });
        let found = record.line.ok().map(|line| {
            let hex: Vec<u8> = line.hex().flat_map(|hex| [hex, b","].concat()).collect();
            (line.size, hex, line.name.to_vec())
        });
        assert_eq!(found, expected, "{}", line.escape_ascii());
        let Some((size, hex, name)) = found else { continue };
        let digests: Vec<_> = hex
            .split(|byte| *byte == b',')
            .filter(|hex| !hex.is_empty())
            .map(|hex| HEXLOWER_PERMISSIVE.decode(hex).expect("digits"))
            .collect();
        let mut again = Vec::new();
        write_hashdeep_header(&mut again, &algorithms.iter().map(|name| &**name).collect::<Vec<_>>());
        write_hashdeep_line(&mut again, size, digests.iter().map(|digest| &**digest), &name).expect("a name");
        let mut reader = HashdeepReader::new(&again[..]).expect("memory can be read").expect("a header");
        let line = reader.next().expect("memory can be read").expect("a line").line.expect("a valid line");
        assert_eq!((line.size, line.name), (size, &*name));
        assert_eq!(
            line.hex().collect::<Vec<_>>(),
            digests.iter().map(|it| HEXLOWER.encode(it).into_bytes()).collect::<Vec<_>>()
        );
    }
    assert!(reader.next().expect("memory can be read").is_none());
}

/// A line of an SFV list.
static SFV_LINE: LazyLock<Regex> = LazyLock::new(|| {
    let blank = r"[ \t\r\x0c]";
    let form = format!(r"(?s-u)^{blank}*([^\x00]*[^\x00 \t\r\x0c]){blank}+([0-9A-Fa-f]{{8}}){blank}*$");
    Regex::new(&form).expect("an expression")
});

/// Uses the input as an SFV list.
pub fn sfv_lists(data: &[u8]) {
    let mut reader = SfvReader::new(BufReader::with_capacity(1, data));
    for (nth, line) in data.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let (line, is_ended) = line.strip_suffix(b"\n").map_or((line, false), |line| (line, true));
        if line.trim_ascii().is_empty() || line.trim_ascii().starts_with(b";") {
            continue;
        }
        let record = reader.next().expect("memory can be read").expect("as many lines");
        assert_eq!((record.number, record.is_ended), (nth as u64 + 1, is_ended));
        let expected = SFV_LINE.captures(line).map(|found| (found[1].to_vec(), found[2].to_vec()));
        let found = record.line.ok().map(|line| (line.name.to_vec(), line.hex.to_vec()));
        assert_eq!(found, expected, "{}", line.escape_ascii());
        let Some((name, hex)) = found else { continue };
        if check_sfv_name(&name).is_err() {
            assert!(name.contains(&b'\r'), "only a line end can be read and not be written");
            continue;
        }
        let mut again = Vec::new();
        write_sfv_line(&mut again, &HEXLOWER_PERMISSIVE.decode(&hex).expect("digits"), &name);
        let mut reader = SfvReader::new(&again[..]);
        let line = reader.next().expect("memory can be read").expect("a line").line.expect("a valid line");
        assert_eq!((line.name, line.hex), (&*name, &*hex.to_ascii_uppercase()));
    }
    assert!(reader.next().expect("memory can be read").is_none());
}

/// A line of a BagIt manifest. After a single space, an asterisk does not belong to the path.
static BAG_LINE: LazyLock<Regex> = LazyLock::new(|| {
    let path = r"([^ \t\x00][^\x00]*)";
    let form = format!(
        r"(?s-u)^((?:[0-9A-Fa-f]{{2}})+)(?: \*([^\x00]+)|(?:\t[ \t]*| [ \t]+){path}| ([^ \t*\x00][^\x00]*))$"
    );
    Regex::new(&form).expect("an expression")
});

/// Uses the input as a BagIt manifest.
pub fn bag_manifests(data: &[u8]) {
    if data.starts_with(b"\xef\xbb\xbf") {
        return;
    }
    let text = String::from_utf8_lossy(data);
    // A carriage return and a newline are one end.
    let ends = Regex::new(r"\r\n|\r|\n").expect("an expression");
    let mut lines: Vec<&[u8]> = ends.split(data).collect();
    let is_ended = lines.pop_if(|last| last.is_empty()).is_some();
    let last = lines.len();
    let mut reader = BagReader::new(BufReader::with_capacity(1, data));
    for (nth, line) in lines.into_iter().enumerate() {
        if line.trim_ascii().is_empty() || line.trim_ascii().starts_with(b"#") {
            continue;
        }
        let record = reader.next().expect("memory can be read").expect("as many lines");
        assert_eq!((record.number, record.is_ended), (nth as u64 + 1, is_ended || nth + 1 < last));
        let expected = BAG_LINE.captures(line).and_then(|found| {
            let path = found.get(2).or(found.get(3)).or(found.get(4)).expect("one of them").as_bytes();
            str::from_utf8(path).is_ok().then(|| (found[1].to_vec(), path))
        });
        let found = record.line.ok();
        assert_eq!(found.map(|line| line.hex), expected.as_ref().map(|(hex, _)| &**hex), "{text}");
        let (Some(found), Some((hex, encoded))) = (found, expected) else { continue };
        assert_eq!(found.path(), decode_bag_path(encoded));
        let mut again = Vec::new();
        let digest = HEXLOWER_PERMISSIVE.decode(&hex).expect("digits");
        let path = found.path();
        if write_bag_line(&mut again, &digest, &path).is_err() {
            assert!(str::from_utf8(&path).is_ok_and(|path| check_bag_name(path).is_err()));
            continue;
        }
        let mut reader = BagReader::new(&again[..]);
        let line = reader.next().expect("memory can be read").expect("a line").line.expect("a valid line");
        assert_eq!((line.hex, line.path()), (HEXLOWER.encode(&digest).as_bytes(), path));
    }
    assert!(reader.next().expect("memory can be read").is_none());
}
