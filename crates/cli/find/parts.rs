//! Splits paths, as bytes.

/// Returns the last component of a path, without slashes at its end. For a path of slashes alone, returns
/// `/`.
pub(super) fn name(path: &[u8]) -> &[u8] {
    let path = trimmed(path);
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) if path.len() > 1 => &path[slash + 1..],
        _ => path,
    }
}

/// Returns the path without its last component, and without a slash at the end. For a path of one component,
/// returns `.`. For `/` and for paths directly below it, returns `/`.
pub(super) fn parent(path: &[u8]) -> &[u8] {
    let path = trimmed(path);
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => trimmed(&path[..=slash]),
        None => b".",
    }
}

/// Splits a name or a path at the dot of its extension. Without a dot, the extension is empty. A dot at the
/// beginning of a name does not start an extension.
pub(super) fn split_extension(path: &[u8]) -> (&[u8], &[u8]) {
    let path = trimmed(path);
    let start = path.len() - name(path).len();
    match path[start..].iter().rposition(|&byte| byte == b'.') {
        Some(dot) if dot > 0 && path[start..] != *b".." => (&path[..start + dot], &path[start + dot + 1..]),
        _ => (path, b""),
    }
}

/// Removes slashes at the end. A path of slashes alone becomes `/`.
fn trimmed(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|&byte| byte != b'/') {
        Some(last) => &path[..=last],
        None => &path[..path.len().min(1)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_parents() {
        for (path, parent_of, name_of) in [
            ("a", ".", "a"),
            ("./a", ".", "a"),
            ("a/b", "a", "b"),
            ("a/b//", "a", "b"),
            ("a//b", "a", "b"),
            ("/a", "/", "a"),
            ("//a", "/", "a"),
            ("/", "/", "/"),
            ("//", "/", "/"),
            (".", ".", "."),
            ("..", ".", ".."),
            ("", ".", ""),
        ] {
            assert_eq!(
                (parent(path.as_bytes()), name(path.as_bytes())),
                (parent_of.as_bytes(), name_of.as_bytes())
            );
        }
    }

    #[test]
    fn extensions() {
        for (path, before, extension) in [
            ("a.b", "a", "b"),
            ("d.d/a", "d.d/a", ""),
            ("d.d/a.tar.gz", "d.d/a.tar", "gz"),
            ("./.hidden", "./.hidden", ""),
            (".hidden.x/", ".hidden", "x"),
            ("a.", "a", ""),
            ("..", "..", ""),
            ("a/..", "a/..", ""),
            (".", ".", ""),
            ("/", "/", ""),
            ("", "", ""),
        ] {
            let (before, extension) = (before.as_bytes(), extension.as_bytes());
            assert_eq!(split_extension(path.as_bytes()), (before, extension), "{path}");
        }
    }
}
