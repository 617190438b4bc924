//! Files that are almost identical, with realistic sizes.

use std::os::unix::fs::symlink;

use fastrand::Rng;
use ftk_hash::Algorithm;
use ftk_sched::{Backend, Threads};
use ftk_walk::Follow;

use super::tree::{SMALL, Settings, Tree, groups, listed, run};
use crate::Pass;
use crate::pass::Thresholds;

/// The default thresholds, except that files of 1 MiB are already huge.
const HUGE_AT_1_MIB: Thresholds = Thresholds { whole: 128 << 10, piece: 16 << 10, pieces: 16, huge: 1 << 20 };

fn noise(len: usize) -> Vec<u8> {
    let mut random = Rng::with_seed(1);
    std::iter::repeat_with(|| random.u8(..)).take(len).collect()
}

/// Returns the content itself, and variants that other tools have mistaken for it.
fn variants(len: usize) -> Vec<(String, Vec<u8>)> {
    let base = noise(len);
    let mut variants = vec![("same".to_owned(), base.clone())];
    for at in [0, 4096, 16_384, len / 2, len - 4096, len - 1] {
        let mut bytes = base.clone();
        bytes[at] ^= 1;
        variants.push((format!("byte-{at}"), bytes));
    }
    let (head, rest) = base.split_at(4096);
    let (middle, tail) = rest.split_at(len - 8192);
    variants.push(("ends-swapped".into(), [tail, middle, head].concat()));
    variants.push(("equal-ends".into(), [head, middle, head].concat()));
    variants.push(("equal-ends-of-the-tail".into(), [tail, middle, tail].concat()));
    let (one, two) = middle.split_at(middle.len() / 2);
    variants.push(("halves-swapped".into(), [head, two, one, tail].concat()));
    variants.push(("zeros-inside".into(), [head, &vec![0; middle.len()][..], tail].concat()));
    variants
}

#[test]
fn one_byte_or_swapped_blocks_are_a_different_content() {
    for (len, thresholds) in [
        (100 << 10, Thresholds::default()),
        (128 << 10, Thresholds::default()),
        ((128 << 10) + 1, Thresholds::default()),
        (300 << 10, Thresholds::default()),
        ((1 << 20) + 4097, HUGE_AT_1_MIB),
    ] {
        let tree = Tree::new();
        for (name, bytes) in variants(len) {
            tree.write(&format!("one/{name}"), &bytes);
            tree.write(&format!("two/{name}"), &bytes);
        }
        let inventory = tree.inventory();
        let (mut found, passes) = groups(tree.0.path(), &inventory, &thresholds);
        found.sort();
        let mut expected: Vec<_> = variants(len)
            .iter()
            .map(|(name, _)| vec![format!("one/{name}"), format!("two/{name}")])
            .collect();
        expected.sort();
        assert_eq!(found, expected, "{len} bytes");
        let passes: Vec<_> = passes.iter().map(|(pass, _)| *pass).collect();
        let expected: &[Pass] = match len {
            ..=131_072 => &[Pass::Ends],
            131_073..1_048_576 => &[Pass::Ends, Pass::Whole],
            _ => &[Pass::Ends, Pass::Inside, Pass::Whole],
        };
        assert_eq!(passes, expected, "{len} bytes");
    }
}

#[test]
fn images_that_differ_inside_are_not_read_whole() {
    let tree = Tree::new();
    for nth in 0..10 {
        let mut image = vec![0; 2 << 20];
        image[1 << 20..(1 << 20) + (64 << 10)].fill(nth);
        tree.write(&format!("{nth}.img"), image);
    }
    let inventory = tree.inventory();
    let (found, passes) = groups(tree.0.path(), &inventory, &HUGE_AT_1_MIB);
    assert!(found.is_empty());
    assert_eq!(passes, [(Pass::Ends, 10), (Pass::Inside, 10)]);
}

#[test]
fn hard_links_are_read_once_and_stay_together() {
    let tree = Tree::new();
    tree.write("b/file", noise(1000));
    ["a", "b/other", "z/third"].iter().for_each(|name| tree.link("b/file", name));
    tree.write("b-copy", noise(1000));
    tree.write("alone", noise(77));
    tree.link("alone", "alone-too");
    let inventory = tree.inventory();
    let (_, passes) = groups(tree.0.path(), &inventory, &Thresholds::default());
    assert_eq!(passes, [(Pass::Ends, 2)]);
    let found = run(&inventory, Settings::default(), 1, &Thresholds::default(), |stage| {
        assert_eq!(stage.bytes, 2000);
        assert!(stage.memory() >= 2 * 17);
    });
    let groups = found.into_groups();
    let paths = |names: &[&str]| names.iter().map(|name| tree.path(name)).collect();
    let expected = vec![(1000, vec![paths(&["a", "b/file", "b/other", "z/third"]), paths(&["b-copy"])])];
    assert_eq!(listed(&inventory, &groups), expected);
    let group = groups.iter().next().unwrap();
    assert_eq!((group.wasted(), group.shared(), group.files().len()), (1000, 3000, 5));
    assert_eq!(group.digest, Algorithm::Xxh128.hash_one(&noise(1000)).as_bytes());
}

/// A symbolic link that is followed is not a hard link, but leads to the same inode.
#[test]
fn a_file_is_not_a_duplicate_of_itself() {
    let tree = Tree::new();
    ["twin/a", "twin/b", "alone/c"].iter().for_each(|name| tree.write(name, noise(500 + name.len() % 2)));
    symlink("a", tree.path("twin/link-to-a")).unwrap();
    symlink("alone/c", tree.path("alone-by-link")).unwrap();
    let inventory = tree.walked(Follow::Always);
    assert_eq!(inventory.files(), 5);
    let groups = run(&inventory, Settings::default(), 1, &SMALL, |_| ()).into_groups();
    let paths = |names: &[&str]| names.iter().map(|name| tree.path(name)).collect();
    let expected = vec![(500, vec![paths(&["twin/a", "twin/link-to-a"]), paths(&["twin/b"])])];
    assert_eq!(listed(&inventory, &groups), expected);
}

#[test]
fn groups_are_sorted_by_waste_then_by_path() {
    let tree = Tree::new();
    // The inventory lists the files of a directory before its subdirectories; in path order, `a/b` comes
    // before `b`.
    for (name, len) in [("a/b/x", 10), ("z", 10), ("b", 20), ("m/n", 20), ("a/c", 5), ("c", 5), ("d", 5)] {
        tree.write(name, noise(len));
    }
    ["e", "f", "g/h"].iter().for_each(|name| tree.write(name, [7; 10]));
    let (found, _) = groups(tree.0.path(), &tree.inventory(), &SMALL);
    assert_eq!(found, [&["b", "m/n"][..], &["e", "f", "g/h"], &["a/b/x", "z"], &["a/c", "c", "d"]]);
}

#[test]
fn empty_files_are_reported_only_on_request() {
    let tree = Tree::new();
    ["a", "b"].iter().for_each(|name| tree.write(name, ""));
    let inventory = tree.inventory();
    let count = |min_size| {
        run(&inventory, Settings::default(), min_size, &Thresholds::default(), |_| ())
            .into_groups()
            .totals()
            .files
    };
    assert_eq!((count(0), count(1)), (2, 0));
}

/// The numbers of files are below and above the size of the sample. Above it, more workers may start.
#[test]
fn threads_and_reader_do_not_change_the_result() {
    for files in [2, 31, 33, 200] {
        let tree = Tree::new();
        for nth in 0..files {
            let mut bytes = noise(140 << 10);
            bytes[70 << 10] = (nth / 2) as u8;
            tree.write(&format!("{}/{nth}", nth % 7), bytes);
        }
        let (inventory, expected) = (tree.inventory(), tree.really_equal(1));
        assert_eq!(expected.len(), files / 2);
        for threads in [Threads::Auto, Threads::Fixed(1), Threads::Fixed(2), Threads::Fixed(4)] {
            for backend in [Backend::Sync, Backend::Uring] {
                let settings = Settings { threads, backend, ..Settings::default() };
                let groups = run(&inventory, settings, 1, &Thresholds::default(), |_| ()).into_groups();
                assert_eq!(listed(&inventory, &groups), expected, "{settings:?} of {files} files");
            }
        }
    }
}
