//! Symbolic links: left alone, followed as roots, followed everywhere.

use ftk_walk::{FileType, Follow, Op};

use crate::support::{below, tree, walk};

#[test]
fn are_left_alone_by_default() {
    let dir = tree(&["d/", "d/f", "l -> d"]);
    let record = walk(&[dir.path()], Follow::Never, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d", "d/f", "l"]);
    assert_eq!(record.seen[3].1, FileType::Symlink);
}

#[test]
fn as_roots_lead_to_what_they_name() {
    let dir = tree(&["d/", "d/f", "d/inner -> .", "l -> d"]);
    let link = dir.path().join("l");
    assert_eq!(walk(&[&link], Follow::Never, 1).seen.len(), 1);
    for follow in [Follow::Roots, Follow::Always] {
        let record = walk(&[&link], follow, 1);
        assert_eq!(record.seen[0].1, FileType::Directory);
        let expected: &[&str] = if follow == Follow::Roots { &["f", "inner"] } else { &["f"] };
        assert_eq!(below(&link, &record.paths()), expected);
    }
}

#[test]
fn leading_nowhere_are_listed_as_links() {
    let dir = tree(&["f", "gone -> nowhere", "through -> f/x"]);
    let record = walk(&[dir.path()], Follow::Always, 1);
    assert!(record.errors.is_empty());
    assert_eq!(below(dir.path(), &record.paths()), ["f", "gone", "through"]);
    assert!(record.seen[2..].iter().all(|seen| seen.1 == FileType::Symlink));
}

#[test]
fn leading_nowhere_are_errors_as_followed_roots() {
    let dir = tree(&["gone -> nowhere"]);
    let link = dir.path().join("gone");
    let record = walk(&[&link], Follow::Roots, 1);
    assert!(record.seen.is_empty());
    assert_eq!(record.errors[0].op, Op::Stat);
    assert_eq!(walk(&[&link], Follow::Always, 1).seen[0].1, FileType::Symlink);
}

#[test]
fn leading_back_are_errors_and_not_entered() {
    let dir = tree(&["d/e/", "d/e/up -> ../..", "d/e/self -> self"]);
    for threads in [1, 4] {
        let mut record = walk(&[dir.path()], Follow::Always, threads);
        assert_eq!(below(dir.path(), &record.paths()), ["d", "d/e"]);
        record.errors.sort_by(|a, b| a.path.cmp(&b.path));
        let [itself, up] = &record.errors[..] else { panic!("{:?}", record.errors) };
        assert!(itself.op == Op::Loop && up.op == Op::Loop);
        assert_eq!(up.path, dir.path().join("d/e/up").as_os_str().as_encoded_bytes());
        assert!(up.source.to_string().ends_with(&format!("{:?}", dir.path())), "{}", up.source);
    }
}

#[test]
fn re_entering_by_ordinary_names_end_there() {
    // The link leads beside the root, and from there an ordinary name leads to the root itself.
    let dir = tree(&["outer/root/", "outer/root/f", "outer/root/out -> .."]);
    let root = dir.path().join("outer/root");
    let record = walk(&[&root], Follow::Always, 1);
    assert_eq!(below(&root, &record.paths()), ["f", "out"]);
    assert_eq!(record.errors.len(), 1);
    assert_eq!(record.errors[0].path, root.join("out/root").as_os_str().as_encoded_bytes());
}

#[test]
fn to_one_directory_are_both_followed() {
    let dir = tree(&["d/", "d/f", "one -> d", "two -> d"]);
    let record = walk(&[dir.path()], Follow::Always, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d", "d/f", "one", "one/f", "two", "two/f"]);
}
