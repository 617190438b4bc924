//! The parts of all shards, read as one manifest.

use ftk_hash::Algorithm;
use ftk_manifest::{Error, Header, Manifest};
use proptest::prelude::*;
use proptest::sample::subsequence;

use crate::model::{
    Entries, PATHS, Path, by_hash, by_ranges, entries, file, header, joined, manifest, named, of_parts, part,
    read, seal,
};

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

proptest! {
    #[test]
    fn parts_have_the_entries_of_the_whole(
        entries in entries(8),
        cuts in subsequence(PATHS[1..].to_vec(), 0..5),
        of in 1..5_u32,
    ) {
        let mut cuts: Vec<&[u8]> = cuts.iter().map(|cut| cut.as_bytes()).collect();
        cuts.sort_unstable();
        for shards in [by_ranges(&cuts), by_hash(of)] {
            let header = header(XXH3, false);
            let whole = of_parts(&header, &entries, &shards);
            prop_assert_eq!(whole.header(), &header);
            // The second pass reads the same.
            for _ in 0..2 {
                prop_assert_eq!(read(&whole).unwrap(), entries.clone());
            }
        }
    }

    #[test]
    fn a_manifest_that_is_restricted_to_a_shard_has_the_entries_of_its_part(
        entries in entries(8),
        number in 0..3_usize,
    ) {
        for shards in [by_ranges(&[b"a", b"a/b"]), by_hash(3)] {
            let (shard, header) = (&shards[number], header(XXH3, false));
            let part = Manifest::open_any(file(&part(&header, &entries, shard))).unwrap();
            let mut whole = manifest(&header, &entries);
            whole.restrict(shard.clone()).unwrap();
            prop_assert_eq!(whole.header(), part.header());
            prop_assert_eq!(read(&whole).unwrap(), read(&part).unwrap());
        }
    }
}

fn some() -> (Header, Entries) {
    let stat = ftk_file::Stat { mode: 0o644, nlink: 1, ..ftk_file::Stat::EMPTY };
    let entry = crate::model::Owned::new(stat, vec![7; 8]);
    (header(XXH3, false), PATHS[1..].iter().map(|path| (Path::new(path), entry.clone())).collect())
}

#[test]
fn only_its_own_part_can_be_restricted_to_a_shard() {
    let ((header, entries), shards) = (some(), by_hash(3));
    let mut part = Manifest::open_any(file(&part(&header, &entries, &shards[0]))).unwrap();
    part.restrict(shards[0].clone()).unwrap();
    let error = part.restrict(shards[1].clone()).unwrap_err();
    assert!(matches!(error, Error::OtherShard { number: 1, of: 3 }), "{error}");
    part.restrict(by_hash(4)[0].clone()).unwrap_err();
}

#[test]
fn entries_of_another_shard_are_refused() {
    let (header, entries) = some();
    for shards in [by_ranges(&[b"a", b"b"]), by_hash(3)] {
        for shard in &shards {
            let Some((other, _)) = entries.iter().find(|(path, _)| !shard.contains(&path.0)) else {
                continue;
            };
            let bytes = String::from_utf8(part(&header, &entries, shard)).unwrap();
            let mut lines: Vec<_> = bytes.lines().filter(|line| !line.starts_with("{\"footer\"")).collect();
            let whole = crate::model::written(&header, &entries);
            let whole = String::from_utf8(whole).unwrap();
            let member = format!(
                "{{\"path\":{}",
                serde_json::to_string(std::str::from_utf8(&other.0).unwrap()).unwrap()
            );
            lines.truncate(1);
            lines.push(whole.lines().find(|line| line.starts_with(&member)).unwrap());
            let wrong = Manifest::open_any(file(&seal(&lines))).unwrap();
            let error = read(&wrong).unwrap_err().to_string();
            assert!(error.starts_with("line 2: ") && error.ends_with("belongs to another shard"), "{error}");
            let empty = Entries::new();
            let whole = joined(shards.iter().map(|it| {
                let bytes = if it == shard { seal(&lines) } else { part(&header, &empty, it) };
                (named(it), file(&bytes))
            }));
            let error = whole.group(0).and_then(|whole| read(&whole)).unwrap_err().to_string();
            let of_part = format!("'part-{}': line 2: ", shard.number);
            assert!(error.starts_with(&of_part) && error.ends_with("belongs to another shard"), "{error}");
        }
    }
}

/// The name and the line of the part are in the message.
#[test]
fn errors_name_the_part_and_its_line() {
    let (header, entries) = some();
    for shards in [by_ranges(&[b"a", b"b"]), by_hash(3)] {
        for broken in 0..3 {
            let parts = shards.iter().enumerate().map(|(at, shard)| {
                let bytes = String::from_utf8(part(&header, &entries, shard)).unwrap();
                let mut lines: Vec<_> = bytes
                    .lines()
                    .filter(|line| !line.starts_with("{\"footer\""))
                    .map(ToOwned::to_owned)
                    .collect();
                let last = lines.len() - 1;
                if at == broken {
                    lines[last] = lines[last].replace("\"type\":\"file\"", "\"type\":\"pile\"");
                }
                (named(shard), lines)
            });
            let parts: Vec<_> = parts.collect();
            let expected =
                format!("'part-{}': line {}: unknown type \"pile\"", broken + 1, parts[broken].1.len());
            for memory in [0, u64::MAX] {
                let files = parts.iter().map(|(name, lines)| (name.clone(), file(&seal(lines))));
                let error = joined(files).group(memory).and_then(|whole| read(&whole)).unwrap_err();
                assert_eq!(error.to_string(), expected);
            }
        }
    }
}

#[test]
fn a_part_that_changes_is_refused() {
    use std::os::unix::fs::FileExt as _;

    let (header, entries) = some();
    for shards in [by_ranges(&[b"a", b"b"]), by_hash(3)] {
        for (at, memory) in [(2, u64::MAX), (2, 0), (1, 0)] {
            let mut files: Vec<_> =
                shards.iter().map(|shard| (named(shard), file(&part(&header, &entries, shard)))).collect();
            let changed = files[at].1.try_clone().unwrap();
            let whole = joined(files.drain(..));
            changed.write_all_at(b"!", 100).unwrap();
            let error = whole.group(memory).and_then(|whole| read(&whole)).unwrap_err().to_string();
            assert_eq!(error, format!("'part-{}': changed while being read", at + 1));
        }
    }
}
