//! Ready-made forms of a walk, on top of the visitor.

use std::cmp::Ordering;

mod collect;
mod fold;
mod fold_dirs;
mod stream;

pub use stream::Stream;

/// The number of a directory. A directory has a larger number than the one that contains it.
type Number = usize;

/// Compares paths component by component.
fn path_order(a: &[u8], b: &[u8]) -> Ordering {
    // No name contains a NUL, so it can stand for the end of a component.
    let key = |&byte: &u8| if byte == b'/' { 0 } else { byte };
    a.iter().map(key).cmp(b.iter().map(key))
}

/// Compares paths component by component, but a directory comes after everything below it.
fn post_order(a: &[u8], b: &[u8]) -> Ordering {
    fn key(path: &[u8]) -> impl Iterator<Item = u16> {
        // Only a starting point can end in slashes.
        let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        path[..end].iter().map(|&byte| if byte == b'/' { 0 } else { u16::from(byte) + 1 }).chain([1])
    }
    key(a).cmp(key(b))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const PATHS: [&str; 12] =
        ["a", "a-b", "a/b", "a/b/c", "a/b-c", "a0", "a\u{1}", "b/a", "c/", "c/a", "/", "/a"];

    #[test]
    fn paths_are_ordered_as_the_standard_library_orders_them() {
        for a in PATHS {
            for b in PATHS {
                assert_eq!(path_order(a.as_bytes(), b.as_bytes()), Path::new(a).cmp(Path::new(b)), "{a} {b}");
            }
        }
    }

    #[test]
    fn in_post_order_a_directory_comes_after_its_contents() {
        for a in PATHS.map(Path::new) {
            for b in PATHS.map(Path::new) {
                let expected = match (a.starts_with(b), b.starts_with(a)) {
                    (true, false) => Ordering::Less,
                    (false, true) => Ordering::Greater,
                    _ => a.cmp(b),
                };
                let bytes = |path: &'static Path| path.as_os_str().as_encoded_bytes();
                assert_eq!(post_order(bytes(a), bytes(b)), expected, "{a:?} {b:?}");
            }
        }
    }
}
