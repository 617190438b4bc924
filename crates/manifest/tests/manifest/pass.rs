//! One pass with several threads gives what reading a checked manifest gives, for every number of threads.

use std::io::Write as _;

use ftk_hash::Algorithm;
use ftk_manifest::{Error, Header, Manifest, Piece};
use ftk_record::ZstdWriter;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::model::{Entries, Owned, Path, entries, file, header, line, open, read, seal, unchecked};
use crate::trees::Dir;

const THREADS: [usize; 4] = [1, 2, 3, 8];

/// The entries of successive pieces, and the error of the pass.
type Passed = (Vec<Vec<(Path, Owned)>>, Option<String>);

/// Reads a manifest in one pass, in pieces of at most `most` lines.
fn passed(bytes: &[u8], header: &Header, most: usize, threads: usize) -> Passed {
    let make = |piece: &mut Piece<'_>| -> Result<_, Error> {
        let mut made = Vec::new();
        while let Some(entry) = piece.next()? {
            made.push((Path(entry.path.to_vec()), Owned::of(&entry)));
        }
        Ok(made)
    };
    let mut pieces = Vec::new();
    let each = |made| {
        pieces.push(made);
        Ok(())
    };
    let error = Manifest::pass(file(bytes), header, most, vec![make; threads], each).err();
    (pieces, error.map(|error| text(&error)))
}

fn text(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    format!("{error}: {cause:?}")
}

/// The lines of a manifest of a real tree with tree digests, whose names and types are odd.
fn recorded() -> Vec<String> {
    let dir = Dir::new();
    let algorithms = [Algorithm::Sha256];
    let recorded: Entries = dir.recorded(&algorithms);
    assert!(recorded.values().any(|entry| !entry.tree.is_empty()));
    recorded.iter().map(|(path, entry)| line(path, entry, &algorithms)).collect()
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut writer = ZstdWriter::new(Vec::new()).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// Damage to the lines of a manifest, whose footer is right afterwards.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Remove,
    Repeat,
    Swap,
    /// Another byte in the line.
    Edit(Index, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let byte = prop::sample::select(b"0x\"}{,:".to_vec());
    let edit = (any::<Index>(), byte).prop_map(|(at, byte)| Damage::Edit(at, byte));
    prop_oneof![Just(Damage::Remove), Just(Damage::Repeat), Just(Damage::Swap), edit]
}

fn damaged(mut lines: Vec<String>, damages: &[(Index, Damage)]) -> Vec<String> {
    for (at, damage) in damages {
        let at = at.index(lines.len());
        match damage {
            Damage::Remove => drop(lines.remove(at)),
            Damage::Repeat => lines.insert(at, lines[at].clone()),
            Damage::Swap => lines.swap(at, 0),
            Damage::Edit(within, byte) => {
                let mut bytes = lines[at].clone().into_bytes();
                let within = within.index(bytes.len());
                bytes[within] = *byte;
                lines[at] = String::from_utf8(bytes).unwrap_or_default();
            }
        }
    }
    lines
}

proptest! {
    #[test]
    fn a_pass_reads_what_a_checked_manifest_has(
        damages in prop::collection::vec((any::<Index>(), damage()), 0..3),
        most in 1..30_usize,
        is_compressed in any::<bool>(),
        has_footer in any::<bool>(),
    ) {
        let header = header(&[Algorithm::Sha256], false);
        let mut bytes = unchecked(&header, damaged(recorded(), &damages));
        let manifest = open(&bytes).unwrap();
        let mut expected = Vec::new();
        let read = (|| {
            let mut entries = manifest.entries()?;
            while let Some(entry) = entries.next()? {
                expected.push((Path(entry.path.to_vec()), Owned::of(&entry)));
            }
            Ok(())
        })();
        let mut errors = vec![read.err().map(|error: Error| text(&error))];
        if !has_footer {
            let at = bytes.len() - 5;
            bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
            // What is invalid is an error before the footer, except the last directories.
            errors.retain(Option::is_some);
            errors.push(open(&bytes).err().map(|error| text(&error)));
        }
        if is_compressed {
            bytes = compressed(&bytes);
        }
        let first = passed(&bytes, &header, most, 1);
        prop_assert!(errors.contains(&first.1), "{:?} {:?}", first.1, errors);
        // Only whole pieces are given. All are given if there is no error.
        let found: Vec<_> = first.0.concat();
        prop_assert!(first.0.iter().rev().skip(1).all(|piece| piece.len() == most));
        prop_assert_eq!(&found[..], &expected[..found.len()]);
        prop_assert!(first.1.is_some() || found.len() == expected.len());
        for threads in THREADS {
            prop_assert_eq!(&passed(&bytes, &header, most, threads), &first, "{} threads", threads);
        }
    }

    #[test]
    fn manifests_of_any_version_are_read_in_pieces(entries in entries(8), most in 1..5_usize, version in 1..3_u64) {
        let head = format!(
            "{{\"ftk\":\"manifest\",\"version\":{version},\"root\":\"/r\",\"algorithms\":[\"xxh3\"],\"xattrs\":false,\
             \"options\":[],\"start_ns\":7}}"
        );
        let lines = entries.iter().map(|(path, entry)| line(path, entry, &[Algorithm::Xxh3]));
        let bytes = seal(&[head].into_iter().chain(lines).collect::<Vec<_>>());
        let header = Manifest::peek(&file(&bytes)).unwrap();
        prop_assert_eq!(header.version, version);
        let expected = open(&bytes).and_then(|manifest| read(&manifest));
        for threads in THREADS {
            let (pieces, error) = passed(&bytes, &header, most, threads);
            match &expected {
                Ok(entries) => {
                    prop_assert_eq!(&Entries::from_iter(pieces.concat()), entries);
                    prop_assert_eq!(error, None);
                }
                Err(expected) => prop_assert_eq!(error, Some(text(expected))),
            }
        }
    }
}

/// A line can be longer than a piece.
#[test]
fn long_lines_end_a_piece() {
    let header = header(&[Algorithm::Xxh3], false);
    let like = |path: &str, target_len: usize| {
        format!(
            "{{\"path\":\"{path}\",\"type\":\"symlink\",\"size_bytes\":1,\"mtime_ns\":2,\"ctime_ns\":3,\"mode\":\"0777\",\
             \"uid\":4,\"gid\":5,\"dev\":6,\"ino\":7,\"nlink\":8,\"target\":\"{}\"}}",
            "x".repeat(target_len)
        )
    };
    let lines =
        [like("a", 1), like("b", 5 << 20), like("c", 1), like("d", (4 << 20) - 1000), like("e", 1 << 20)];
    let bytes = unchecked(&header, lines);
    for threads in THREADS {
        let (pieces, error) = passed(&bytes, &header, 100, threads);
        assert_eq!(error, None);
        assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3], "{threads}");
    }
}

#[test]
fn a_pass_ends_with_the_first_error() {
    let header = header(&[Algorithm::Sha256], false);
    let bytes = unchecked(&header, recorded());
    for threads in THREADS {
        // Of a maker, and of what gets the results.
        let fails = |piece: &mut Piece<'_>| match piece.next()? {
            Some(entry) if entry.path == b"a-b" => Err(Error::Unprocessed(7)),
            _ => Ok(()),
        };
        let error = Manifest::pass(file(&bytes), &header, 1, vec![fails; threads], |()| Ok(())).unwrap_err();
        assert!(matches!(error, Error::Unprocessed(7)), "{error}");
        let mut given = 0;
        let each = |()| {
            given += 1;
            if given < 3 { Ok(()) } else { Err(Error::Unprocessed(3)) }
        };
        let makers = vec![|_: &mut Piece<'_>| Ok(()); threads];
        let error = Manifest::pass(file(&bytes), &header, 1, makers, each).unwrap_err();
        assert!(matches!(error, Error::Unprocessed(3)) && given == 3, "{error}");
        // The header of another manifest, and a part.
        let other = Header { start_ns: 8, ..header.clone() };
        let (pieces, error) = passed(&bytes, &other, 1, threads);
        assert!(pieces.is_empty() && error == Some(text(&Error::Changed)), "{error:?}");
    }
    // Nothing is left of a manifest that is cut.
    let lines: Vec<_> = String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect();
    let cut = lines[..lines.len() - 1].join("\n") + "\n";
    assert_eq!(seal(&lines[..lines.len() - 1]).len(), cut.len() + lines[lines.len() - 1].len() + 1);
    for threads in THREADS {
        let (_, error) = passed(cut.as_bytes(), &header, 3, threads);
        assert!(error.is_some_and(|error| error.contains("incomplete")), "{threads}");
    }
}
