//! Writes one JSON object per entry. `docs/json.md` documents the members.

use std::io::Write as _;

use ftk_record::write_path;
use ftk_walk::{Entry, FileType, WalkError};

use super::render::target;

/// Appends the object, without a newline. On an error, nothing is appended.
pub(super) fn push(out: &mut Vec<u8>, path: &[u8], entry: &mut Entry<'_>) -> Result<(), WalkError> {
    let metadata = *entry.metadata()?;
    let target = target(path, entry)?;
    out.push(b'{');
    write_path(out, "path", path);
    // Writing to a Vec cannot fail.
    let _ = write!(
        out,
        ",\"type\":\"{}\",\"size_bytes\":{},\"mtime_ns\":{},\"mode\":\"{:04o}\",\"uid\":{},\"gid\":{},\"dev\":{},\
         \"ino\":{},\"nlink\":{}",
        type_name(metadata.file_type),
        metadata.size,
        metadata.mtime_ns,
        metadata.mode,
        metadata.uid,
        metadata.gid,
        metadata.dev,
        metadata.ino,
        metadata.nlink,
    );
    if let Some(target) = target {
        out.push(b',');
        write_path(out, "target", target.to_bytes());
    }
    out.push(b'}');
    Ok(())
}

/// Returns the value of the member `type`.
pub(crate) fn type_name(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Regular => "file",
        FileType::Directory => "directory",
        FileType::Symlink => "symlink",
        FileType::Fifo => "fifo",
        FileType::Socket => "socket",
        FileType::Block => "block_device",
        FileType::Char => "char_device",
    }
}
