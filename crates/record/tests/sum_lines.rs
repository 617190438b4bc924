//! Checksum lines: everything that is written can be read back, and the real `sha256sum` agrees.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use ftk_hash::Algorithm;
use ftk_record::{End, ListFormat, ListReader, Style, SumFormat, SumLine, SumReader};
use proptest::prelude::*;

const STYLES: [Style; 2] = [Style::Untagged, Style::Tagged];
const ENDS: [End; 2] = [End::Newline, End::Nul];

fn end_byte(end: End) -> u8 {
    match end {
        End::Newline => b'\n',
        End::Nul => 0,
    }
}

/// Names in which the bytes with a special meaning are frequent.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![2 => 1_u8.., 3 => proptest::sample::select(&b"\n\r\\nr*() \t=/aF0\xff"[..])];
    proptest::collection::vec(byte, 1..24)
}

fn tag() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&["SHA256", "BLAKE2b", "XXH3", "XXH64", "MD5", "ADD"][..])
}

/// Parts of checksum lines, usually in a wrong order.
fn nearly_a_line() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] = &[
        b"\\",
        b"00fa",
        b"00fa00fa00fa00fa",
        b"f",
        b" ",
        b"\t",
        b"  ",
        b" *",
        b" (",
        b"(",
        b")",
        b"=",
        b") = ",
        b"SHA256",
        b"XXH3_",
        b"a",
        b"\r",
        b"\0",
    ];
    let piece = proptest::sample::select(PIECES);
    proptest::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_name_comes_back(
        names in proptest::collection::vec(name(), 1..4),
        tag in tag(),
        digest in proptest::collection::vec(any::<u8>(), 1..65),
    ) {
        for (style, end) in STYLES.iter().flat_map(|&style| ENDS.map(|end| (style, end))) {
            let mut list = Vec::new();
            for name in &names {
                SumFormat::new(tag, style, end).write_line(&mut list, &digest, name);
            }
            let list = list.strip_suffix(&[end_byte(end)]).expect("the last line is ended too");
            let lines: Vec<_> = list.split(|&byte| byte == end_byte(end)).collect();
            prop_assert_eq!(lines.len(), names.len());
            for (line, name) in lines.into_iter().zip(&names) {
                let line = SumLine::parse(line, end)?;
                prop_assert_eq!(line.name.as_ref(), &name[..]);
                prop_assert_eq!(line.tag, (style == Style::Tagged || tag == "XXH3").then_some(tag));
                prop_assert_eq!(str::from_utf8(line.digest).unwrap(), hex(&digest));
            }
        }
    }

    /// A written list is never mistaken for one of another tool.
    #[test]
    fn every_list_is_read_back(
        names in proptest::collection::vec(name(), 1..4),
        digest in proptest::collection::vec(any::<u8>(), 8..65),
    ) {
        for (style, end) in STYLES.iter().flat_map(|&style| ENDS.map(|end| (style, end))) {
            let mut list = Vec::new();
            for name in &names {
                SumFormat::new("SHA256", style, end).write_line(&mut list, &digest, name);
            }
            let mut reader = SumReader::new(&list[..], end);
            for name in &names {
                let record = reader.next().unwrap().expect("as many lines");
                prop_assert_eq!(&*record.line?.name, &name[..]);
            }
            prop_assert!(reader.next().unwrap().is_none() && !reader.has_dos_ends());
        }
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        for end in ENDS {
            let _ = SumLine::parse(&bytes, end);
        }
    }

    #[test]
    fn parsed_lines_have_one_meaning(line in nearly_a_line()) {
        for end in ENDS {
            if let Ok(read) = SumLine::parse(&line, end) {
                prop_assert!(!read.name.is_empty() && !read.name.contains(&0));
                let mut digest = Vec::new();
                read.push_digest(&mut digest);
                prop_assert_eq!(digest.len(), read.digest_len());
                let style = if read.tag.is_some() { Style::Tagged } else { Style::Untagged };
                let mut again = Vec::new();
                SumFormat::new(read.tag.unwrap_or(""), style, end).write_line(&mut again, &digest, &read.name);
                again.pop();
                let again = SumLine::parse(&again, end)?;
                let mut same = Vec::new();
                again.push_digest(&mut same);
                prop_assert_eq!((again.tag, again.name, same), (read.tag, read.name, digest));
            }
        }
    }
}

/// The longest run of hexadecimal digits.
fn longest_run(line: &[u8]) -> usize {
    line.split(|byte| !byte.is_ascii_hexdigit()).map(<[u8]>::len).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// A line of a list that is changed is still read, or is an error, or holds no digest any more.
    #[test]
    fn h102_a_changed_line_does_not_pass_as_other_text(
        algorithm in proptest::sample::select(&[Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512][..]),
        form in 0..4_usize,
        names in proptest::collection::vec(name(), 3),
        byte in any::<u8>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), 0..3_usize, any::<u8>()), 1..3),
    ) {
        let digest = vec![byte; algorithm.digest_len()];
        let (format, lines): (ListFormat, Vec<Vec<u8>>) = if form == 3 {
            let lines = names.iter().map(|name| {
                let name: Vec<u8> = name.iter().copied().filter(|byte| !b"\r\n".contains(byte)).collect();
                [b"1,", hex(&digest).as_bytes(), b",n", &name, b"\n"].concat()
            });
            (ListFormat::Hashdeep, lines.collect())
        } else {
            let style = [Style::Untagged, Style::Tagged, Style::Untagged][form];
            let lines = names.iter().map(|name| {
                let mut line = Vec::new();
                SumFormat::new(algorithm.tag(), style, End::Newline).write_line(&mut line, &digest, name);
                line
            });
            (ListFormat::Sums, lines.collect())
        };
        let mut lines = lines;
        let changed = &mut lines[1];
        changed.pop();
        for (at, what, with) in changes {
            let at = at.index(changed.len());
            match what {
                0 => changed[at] = with,
                1 => changed.insert(at, with),
                _ => _ = changed.remove(at),
            }
        }
        // What is then two lines is another change.
        prop_assume!(!changed.contains(&b'\n'));
        let changed = lines[1].clone();
        lines[1].push(b'\n');
        let header = format!("%%%% HASHDEEP-1.0\n%%%% size,{},filename\n", algorithm.name());
        let header = if format == ListFormat::Hashdeep { header.into_bytes() } else { Vec::new() };
        let list = [header, lines.concat()].concat();
        let mut reader = ListReader::open(&list[..], format, End::Newline, &[]).unwrap();
        let (mut usable, mut refused) = (0, 0);
        while let Some(record) = reader.next().unwrap() {
            match record.line {
                Ok(_) => usable += 1,
                Err(unusable) if unusable.why.has_digest() => refused += 1,
                Err(_) => prop_assert!(longest_run(&changed) < 32, "{}", changed.escape_ascii()),
            }
        }
        // The others are read.
        prop_assert!(usable >= 2 && usable + refused <= 3);
        let is_text = changed.is_empty() || changed[0] == b'#' || longest_run(&changed) < 32;
        prop_assert!(is_text || usable + refused == 3, "{}", changed.escape_ascii());
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 of the empty file; all files of these tests are empty.
const EMPTY: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
    0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// Names that have broken the lists of some tools.
fn hostile_names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        &b"plain"[..],
        b" leading and trailing ",
        b"*star",
        b"-dash",
        b"#comment",
        b"new\nline",
        b"\n",
        b"carriage\rreturn",
        b"ends in return\r",
        b"back\\slash",
        b"\\",
        b"\\n",
        b"mixed\\\n\r\\r",
        b"tab\t",
        b"\x1b[2J",
        b"not\xffutf8\xfe",
        b"caf\xc3\xa9",
        b"a) = e3b0",
        b"SHA256 (x) = 00",
        b"x\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  victim",
        b"\xef\xbb\xbfmark",
        b"$(touch X); `'\"",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    names.push(vec![b'n'; 255]);
    names.push(vec![b'\\'; 255]);
    names.extend((1..=255).filter(|byte| !b"/.".contains(byte)).map(|byte| vec![b'b', byte]));
    names.sort();
    names.dedup();
    names
}

fn sha256sum(dir: &Path, flags: &[&str], names: &[Vec<u8>]) -> Vec<u8> {
    let output = Command::new("sha256sum")
        .args(flags)
        .arg("--")
        .args(names.iter().map(|name| OsStr::from_bytes(name)))
        .current_dir(dir)
        .stderr(Stdio::inherit())
        .output()
        .expect("sha256sum is installed");
    assert!(output.status.success());
    output.stdout
}

#[test]
fn sha256sum_writes_the_same_lines() {
    let dir = tempfile::tempdir().unwrap();
    let names = hostile_names();
    for name in &names {
        fs::write(dir.path().join(OsStr::from_bytes(name)), b"").unwrap();
    }
    for (flags, style, end) in [
        (&[][..], Style::Untagged, End::Newline),
        (&["--tag"], Style::Tagged, End::Newline),
        (&["-z"], Style::Untagged, End::Nul),
        (&["-z", "--tag"], Style::Tagged, End::Nul),
    ] {
        let theirs = sha256sum(dir.path(), flags, &names);
        let mut ours = Vec::new();
        for name in &names {
            SumFormat::new("SHA256", style, end).write_line(&mut ours, &EMPTY, name);
        }
        assert_eq!(ours.escape_ascii().to_string(), theirs.escape_ascii().to_string(), "{flags:?}");

        let lines = theirs.split(|&byte| byte == end_byte(end)).filter(|line| !line.is_empty());
        let read: Vec<Vec<u8>> =
            lines.map(|line| SumLine::parse(line, end).map(|line| line.name.into_owned()).unwrap()).collect();
        assert_eq!(read, names, "{flags:?}");
    }
}

#[test]
fn sha256sum_accepts_our_lists() {
    let dir = tempfile::tempdir().unwrap();
    let names = hostile_names();
    for style in STYLES {
        let mut list = Vec::new();
        for name in &names {
            fs::write(dir.path().join(OsStr::from_bytes(name)), b"").unwrap();
            SumFormat::new("SHA256", style, End::Newline).write_line(&mut list, &EMPTY, name);
        }
        let list_file = tempfile::NamedTempFile::new().unwrap();
        fs::write(list_file.path(), &list).unwrap();
        let check = Command::new("sha256sum")
            .args(["--check", "--strict"])
            .arg(list_file.path())
            .current_dir(dir.path())
            .output()
            .expect("sha256sum is installed");
        let said = String::from_utf8_lossy(&check.stderr);
        assert!(check.status.success(), "{style:?}: {said}");
        assert_eq!(check.stdout.iter().filter(|&&byte| byte == b'\n').count(), names.len(), "{style:?}");
    }
}

#[test]
fn ordinary_names_are_not_copied() {
    let line = SumLine::parse(b"00fa  name", End::Newline).unwrap();
    assert!(matches!(line.name, Cow::Borrowed(b"name")));
}

#[test]
fn digests_written_in_base64_are_read_back() {
    for algorithm in Algorithm::ALL {
        for style in [Style::Untagged, Style::Tagged] {
            let digest = algorithm.hash_one(b"content");
            let mut line = Vec::new();
            let format = SumFormat::new(algorithm.tag(), style, End::Newline).base64(true);
            format.write_line(&mut line, digest.as_bytes(), b"a b");
            let read = SumLine::parse(line.strip_suffix(b"\n").unwrap(), End::Newline).unwrap();
            let mut bytes = Vec::new();
            read.push_digest(&mut bytes);
            assert_eq!((&*bytes, &*read.name), (digest.as_bytes(), &b"a b"[..]), "{}", line.escape_ascii());
        }
    }
}
