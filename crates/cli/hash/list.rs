//! Prints the checksum list of `ftk hash`, in path order.

use std::io::Write as _;

use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{FileNo, Inventory};
use ftk_process::Rows;
use ftk_record::{End, SfvNameError, Style, SumFormat, check_sfv_name, sanitize, write_path, write_sfv_line};

use crate::find::json::push_name;
use crate::list::List;

/// The format of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format<'a> {
    /// The algorithms of the digests, in their order.
    pub(crate) algorithms: &'a [Algorithm],
    pub(crate) style: Style,
    pub(crate) end: End,
    /// Whether digests in checksum lines are in base64.
    pub(crate) base64: bool,
    /// Whether a record is a JSON object instead of a checksum line for each digest.
    pub(crate) json: bool,
    /// Whether a record is a line of an SFV list. The algorithm is CRC-32.
    pub(crate) sfv: bool,
    /// Whether the output goes to a terminal, so control characters are escaped.
    pub(crate) is_shown: bool,
    /// The directory that names are relative to.
    pub(crate) root: Option<&'a [u8]>,
}

/// Returns the part of a path below a directory. `None` if it is not written as a path below it.
pub(crate) fn below<'p>(root: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    let is_here = root == b"." && !path.starts_with(b"./") && !path.starts_with(b"/");
    if is_here && path != b"." {
        return Some(path).filter(|path| *path != b".." && !path.starts_with(b"../"));
    }
    let rest = path.strip_prefix(root)?;
    let rest = if root.ends_with(b"/") { rest } else { rest.strip_prefix(b"/")? };
    let start = rest.iter().take_while(|byte| **byte == b'/').count();
    Some(&rest[start..]).filter(|rest| !rest.is_empty())
}

impl Format<'_> {
    fn push<'d>(self, out: &mut Vec<u8>, digests: impl Iterator<Item = &'d [u8]>, path: &[u8]) {
        let path = self.name(path);
        if self.json {
            return self.record(out, |out| push_object(out, self.algorithms, digests, path));
        }
        for (algorithm, digest) in self.algorithms.iter().zip(digests) {
            if self.sfv {
                self.record(out, |out| write_sfv_line(out, digest, path));
                continue;
            }
            let format = SumFormat::new(algorithm.tag(), self.style, self.end).base64(self.base64);
            self.record(out, |out| format.write_line(out, digest, path));
        }
    }

    /// Returns the name of a path in the list.
    fn name<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        self.root.and_then(|root| below(root, path)).unwrap_or(path)
    }

    fn record(self, out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
        show(out, self.is_shown, push);
    }
}

/// Appends the record that `push` appends. On a terminal (`is_shown`), control characters are escaped.
pub(crate) fn show(out: &mut Vec<u8>, is_shown: bool, push: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    push(out);
    if is_shown {
        let end = out.pop().expect("a record is ended");
        let shown = sanitize(&out[start..]).into_owned();
        out.truncate(start);
        out.extend_from_slice(shown.as_bytes());
        out.push(end);
    }
}

/// Appends `{"path":"d/a.c","name":"a.c","extension":"c","algorithm":"md5","digest":"..."}`. With several algorithms,
/// the last members are `"digests":{"md5":"...","sha1":"..."}`.
fn push_object<'d>(
    out: &mut Vec<u8>,
    algorithms: &[Algorithm],
    digests: impl Iterator<Item = &'d [u8]>,
    path: &[u8],
) {
    out.push(b'{');
    write_path(out, "path", path);
    push_name(out, path);
    for (nth, (algorithm, digest)) in algorithms.iter().zip(digests).enumerate() {
        let digest = Digest::from_bytes(digest);
        let _ = match (algorithms.len(), nth) {
            (1, _) => write!(out, ",\"algorithm\":\"{algorithm}\",\"digest\":\"{digest}\""),
            (_, 0) => write!(out, ",\"digests\":{{\"{algorithm}\":\"{digest}\""),
            (..) => write!(out, ",\"{algorithm}\":\"{digest}\""),
        };
    }
    out.extend_from_slice(if algorithms.len() == 1 { b"}\n" } else { b"}}\n" });
}

/// Writes a record for every file that was hashed, and for every stream, in path order. `streams` must be
/// sorted by path. Passes names that the format cannot represent to `refuse`.
pub(crate) fn emit(
    list: &mut List<'_>,
    inventory: &Inventory,
    rows: &Rows,
    streams: Vec<(Vec<u8>, Vec<Digest>)>,
    format: Format<'_>,
    mut refuse: impl FnMut(&[u8], SfvNameError),
) {
    if format.sfv {
        // By this comment readers recognise the format.
        list.line(|out| out.extend_from_slice(b"; CRC-32 of each file, by ftk\n"));
    }
    let mut is_refused = |path: &[u8]| match check_sfv_name(format.name(path)) {
        Err(why) if format.sfv => {
            refuse(path, why);
            true
        }
        _ => false,
    };
    let mut order = inventory.in_path_order();
    let mut streams = streams.into_iter().peekable();
    while let Some(item) = order.next() {
        let FileNo(file) = item.file.expect("only regular files were kept");
        while let Some((path, digests)) = streams.next_if(|(path, _)| **path < *item.path) {
            if !is_refused(&path) {
                list.line(|out| format.push(out, digests.iter().map(Digest::as_bytes), &path));
            }
        }
        if let Some(digests) = rows.digests(file)
            && !is_refused(item.path)
        {
            list.line(|out| format.push(out, digests, item.path));
        }
    }
    for (path, digests) in streams.filter(|(path, _)| !is_refused(path)) {
        list.line(|out| format.push(out, digests.iter().map(Digest::as_bytes), &path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_the_root() {
        for (root, path, name) in [
            ("d", "d/a", Some("a")),
            ("d", "d//a/b", Some("a/b")),
            ("d", "d", None),
            ("d", "dd/a", None),
            ("d", "./d/a", None),
            ("/", "/a", Some("a")),
            (".", "./a", Some("a")),
            (".", "a/b", Some("a/b")),
            (".", "...", Some("...")),
            (".", "../a", None),
            (".", "..", None),
            (".", ".", None),
            (".", "/a", None),
        ] {
            let found = below(root.as_bytes(), path.as_bytes());
            assert_eq!(found, name.map(str::as_bytes), "{path} below {root}");
        }
    }
}
