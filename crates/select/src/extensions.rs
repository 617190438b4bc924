//! The test for file name extensions.

/// Extensions, one of which must match.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extensions(Vec<Box<[u8]>>);

impl Extensions {
    /// Adds an extension, with or without its dot.
    pub(crate) fn push(&mut self, extension: &[u8]) {
        self.0.push(extension.strip_prefix(b".").unwrap_or(extension).into());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a name has one of the extensions, ignoring ASCII case. `.bashrc` has no extension.
    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        self.0.iter().any(|extension| has(name, extension))
    }

    /// Calls `visit` with the number of each extension that the name has, in the order in which they were added.
    pub(crate) fn each_match(&self, name: &[u8], visit: &mut dyn FnMut(usize)) {
        let matching = self.0.iter().enumerate().filter(|(_, extension)| has(name, extension));
        matching.for_each(|(number, _)| visit(number));
    }
}

fn has(name: &[u8], extension: &[u8]) -> bool {
    let Some(dot) = name.len().checked_sub(extension.len() + 1) else { return false };
    dot > 0 && name[dot] == b'.' && name[dot + 1..].eq_ignore_ascii_case(extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(extension: &str, name: &[u8]) -> bool {
        let mut extensions = Extensions::default();
        extensions.push(extension.as_bytes());
        extensions.matches(name)
    }

    #[test]
    fn the_last_extension_counts_whatever_its_case() {
        for name in [&b"a.jpg"[..], b"a.JPG", b"\xff.jPg", b"a.tar.jpg", b".a.jpg", b"..jpg"] {
            assert!(is_match("jpg", name) && is_match(".jpg", name) && is_match("JPG", name), "{name:?}");
        }
        for name in [&b"jpg"[..], b".jpg", b"ajpg", b"a.jpg.gz", b"a.jpg~", b"a.jp", b"", b"a."] {
            assert!(!is_match("jpg", name), "{name:?}");
        }
    }

    #[test]
    fn an_extension_of_several_parts_is_the_end_of_the_name() {
        assert!(is_match("tar.gz", b"a.tar.GZ"));
        assert!(!is_match("tar.gz", b".tar.gz") && !is_match("tar.gz", b"a.gz"));
    }

    #[test]
    fn several_extensions_are_alternatives() {
        let mut extensions = Extensions::default();
        extensions.push(b"c");
        extensions.push(b"h");
        assert!(extensions.matches(b"a.c") && extensions.matches(b"a.h") && !extensions.matches(b"a.o"));
    }
}
