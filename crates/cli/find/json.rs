//! Writes one JSON object per entry. `docs/json.md` documents the members.

use std::io::Write as _;

use ftk_record::{type_name, write_path, write_string};
use ftk_walk::{Entry, Fields, WalkError};
use jiff::Timestamp;

use super::fields::Owners;
use super::parts::{name, split_extension};
use super::render::{all_of, facts, target};

/// The metadata of the object.
const MEMBERS: [Fields; 7] =
    [Fields::SIZE, Fields::MTIME, Fields::MODE, Fields::UID, Fields::GID, Fields::INO, Fields::NLINK];

/// Appends the object, without a newline. On an error, nothing is appended.
pub(super) fn push(
    out: &mut Vec<u8>,
    path: &[u8],
    entry: &mut Entry<'_>,
    owners: &mut Owners,
) -> Result<(), WalkError> {
    let metadata = *facts(entry, all_of(&MEMBERS))?;
    let target = target(path, entry)?;
    out.push(b'{');
    write_path(out, "path", path);
    push_name(out, path);
    // Writing to a Vec cannot fail.
    let _ = write!(
        out,
        ",\"type\":\"{}\",\"size_bytes\":{},\"mtime_ns\":{},\"mtime\":",
        type_name(metadata.file_type),
        metadata.size,
        metadata.mtime_ns,
    );
    // With nine digits of the fraction, dates sort as text.
    let _ = match Timestamp::from_nanosecond(metadata.mtime_ns) {
        Ok(time) => write!(out, "\"{time:.9}\""),
        Err(_) => write!(out, "null"),
    };
    let _ = write!(
        out,
        ",\"mode\":\"{:04o}\",\"uid\":{},\"gid\":{},\"owner\":",
        metadata.mode, metadata.uid, metadata.gid,
    );
    write_string(out, owners.user(metadata.uid));
    let _ = write!(out, ",\"dev\":{},\"ino\":{},\"nlink\":{}", metadata.dev, metadata.ino, metadata.nlink,);
    if let Some(target) = target {
        out.push(b',');
        write_path(out, "target", target.to_bytes());
    }
    out.push(b'}');
    Ok(())
}

/// Appends the members `name` and `extension` of a path.
pub(crate) fn push_name(out: &mut Vec<u8>, path: &[u8]) {
    let name = name(path);
    out.push(b',');
    write_path(out, "name", name);
    out.push(b',');
    match split_extension(name).1 {
        b"" => out.extend_from_slice(b"\"extension\":null"),
        extension => write_path(out, "extension", extension),
    }
}
