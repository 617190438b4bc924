//! Writes one JSON object per entry. `docs/json.md` documents the members.

use std::io::Write as _;

use ftk_record::{type_name, write_path, write_string};
use ftk_walk::{Entry, Fields, WalkError};

use super::fields::Owners;
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
    // Writing to a Vec cannot fail.
    let _ = write!(
        out,
        ",\"type\":\"{}\",\"size_bytes\":{},\"mtime_ns\":{},\"mode\":\"{:04o}\",\"uid\":{},\"gid\":{},\"owner\":",
        type_name(metadata.file_type),
        metadata.size,
        metadata.mtime_ns,
        metadata.mode,
        metadata.uid,
        metadata.gid,
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
