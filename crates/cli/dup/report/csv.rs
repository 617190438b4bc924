//! Prints groups as comma-separated values (RFC 4180): a header, one row per member, CR LF line ends.

use std::io::Write as _;

use data_encoding::BASE64;
use ftk_dedup::Member;
use ftk_file::Version;
use ftk_hash::Digest;
use ftk_record::sanitize;

use crate::dup::report::groups::{Fate, Found, Name};
use crate::human;

/// The header row. A path is in the column `path` if it is UTF-8, and otherwise in `path_b64` as base64. The
/// other column of the two is empty.
pub(super) const HEADER: &[u8] =
    b"group,size_bytes,digest,path,path_b64,root,cluster,dev,ino,nlink,allocated_bytes,mtime_ns,ctime_ns,mtime,prune\r\n";

/// The header row of a report of manifests. An unknown value is an empty field.
pub(in crate::dup) const RECORDED_HEADER: &[u8] =
    b"group,size_bytes,digest,path,path_b64,root,cluster,fs,ino,nlink,allocated_bytes,mtime_ns,ctime_ns,mtime,prune,manifest,manifest_b64\r\n";

/// Appends the row of a name in a group with this number, size and digest. `fate`: what `prune` does with it by its
/// default rules, if that is known. `is_shown`: the output goes to a terminal,
/// so control characters are escaped.
pub(super) fn push_row(
    out: &mut Vec<u8>,
    (number, size, digest): (u64, u64, &Digest),
    name: &Name,
    fate: Option<Fate>,
    manifests: &[Vec<u8>],
    is_shown: bool,
) {
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{number},{size},{digest},");
    push_path(out, name.path(), is_shown);
    match &name.member {
        Found::Here(member) => {
            let Member { root, version, nlink, .. } = member;
            let Version { dev, ino, mtime_ns, ctime_ns, .. } = version;
            let (cluster, allocated) = (name.cluster, member.allocated());
            let _ = write!(out, ",{root},{cluster},{dev},{ino},{nlink},{allocated},{mtime_ns},{ctime_ns}");
            push_summary(out, Some(*mtime_ns), fate);
        }
        Found::Recorded(member) => {
            let _ = write!(out, ",{},{},", member.manifest, name.cluster);
            member.fs.iter().for_each(|fs| _ = write!(out, "{}", Digest::from_bytes(fs.as_bytes())));
            let numbers = [member.ino, member.nlink, member.allocated].map(|it| it.map(i128::from));
            for value in numbers.into_iter().chain([member.mtime_ns, member.ctime_ns]) {
                out.push(b',');
                value.iter().for_each(|value| _ = write!(out, "{value}"));
            }
            push_summary(out, member.mtime_ns, fate);
            out.push(b',');
            push_path(out, &manifests[member.manifest], is_shown);
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends the columns `mtime` and `prune`.
fn push_summary(out: &mut Vec<u8>, mtime_ns: Option<i128>, fate: Option<Fate>) {
    let time = mtime_ns.map(human::utc).unwrap_or_default();
    let fate = match fate {
        Some(Fate::Kept) => "keep",
        Some(Fate::Removed) => "remove",
        None => "",
    };
    let _ = write!(out, ",{time},{fate}"); // Writing to a Vec cannot fail.
}

/// Appends the columns `path` and `path_b64`.
fn push_path(out: &mut Vec<u8>, path: &[u8], is_shown: bool) {
    match str::from_utf8(path) {
        Ok(text) => {
            let shown = is_shown.then(|| sanitize(path));
            push_field(out, shown.as_deref().unwrap_or(text));
            out.push(b',');
        }
        Err(_) => {
            out.push(b',');
            out.extend_from_slice(BASE64.encode(path).as_bytes());
        }
    }
}

/// Appends a field, quoted if necessary, with quotes in it doubled.
fn push_field(out: &mut Vec<u8>, text: &str) {
    if !text.contains([',', '"', '\r', '\n']) {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_if_necessary() {
        for (text, field) in
            [("a b'", "a b'"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\r\nb", "\"a\r\nb\"")]
        {
            let mut out = Vec::new();
            push_field(&mut out, text);
            assert_eq!(out, field.as_bytes());
        }
    }
}
