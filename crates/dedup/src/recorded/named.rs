//! Finds manifests of a report by the names that users give them.

/// The paths of the manifests of a report.
#[derive(Clone, Copy, Debug)]
pub struct ManifestNames<'m>(pub &'m [Vec<u8>]);

impl ManifestNames<'_> {
    /// Returns the number of the manifest with this name: its path, or the last part of it if no other manifest has the
    /// same.
    pub fn find(self, name: &[u8]) -> Option<usize> {
        let base = |path: &[u8]| path.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_vec();
        let mut whole = (0..self.0.len()).filter(|&nth| self.0[nth] == name);
        let mut last = (0..self.0.len()).filter(|&nth| base(&self.0[nth]) == name);
        whole.next().or_else(|| last.next().filter(|_| last.next().is_none()))
    }

    /// Splits `NAME=VALUE` into the number of a manifest and the value. A name may contain `=`.
    pub fn split(self, text: &[u8]) -> Option<(usize, &[u8])> {
        let mut splits = (0..text.len()).filter(|&at| text[at] == b'=');
        splits.find_map(|at| Some((self.find(&text[..at])?, &text[at + 1..])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_named_by_path_or_by_a_unique_last_part() {
        let manifests =
            ["lists/a.jsonl", "b=c.jsonl", "x/same", "y/same"].map(|name| name.as_bytes().to_vec());
        let names = ManifestNames(&manifests);
        for (name, nth) in [
            ("lists/a.jsonl", Some(0)),
            ("a.jsonl", Some(0)),
            ("b=c.jsonl", Some(1)),
            ("x/same", Some(2)),
            ("same", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(names.find(name.as_bytes()), nth, "{name}");
        }
        assert_eq!(names.split(b"b=c.jsonl=/mnt/x=y"), Some((1, &b"/mnt/x=y"[..])));
        assert_eq!(names.split(b"a.jsonl="), Some((0, &b""[..])));
        for bad in ["a.jsonl", "same=/mnt", "=/mnt", "0=/mnt"] {
            assert_eq!(names.split(bad.as_bytes()), None, "{bad}");
        }
    }
}
