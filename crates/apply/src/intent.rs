//! Intents: the journal records of steps that are about to be performed, with everything that undo needs.

use std::ffi::CString;
use std::fmt::Write as _;

use data_encoding::BASE64;
use ftk_file::{Attribute, FileType, Identity, Stat, Version, is_temp_name};
use ftk_record::{Object, read_base64, read_path, write_path, write_string};
use serde::Deserialize;

use crate::action::ActionKind;
use crate::identity_record::{IdentityRecord, write_identity};
use crate::journal::MAX_RECORD;
use crate::metadata::{Access, KeeperAccess, Metadata};
use crate::reach::Place;
use crate::refusal::{Refusal, Side};
use crate::seen::Seen;

/// A proven step that is about to be performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Intent {
    /// Number of the step in its journal, from 0.
    pub(crate) step: u64,
    pub(crate) kind: ActionKind,
    /// A private name in the victim's directory: first for the replacement, then for the old file.
    pub(crate) temp: CString,
    pub(crate) victim: Seen,
    /// The metadata of the victim.
    pub(crate) metadata: Metadata,
    pub(crate) keeper: Seen,
    /// The target of the symbolic link that is made or removed.
    pub(crate) target: Option<Vec<u8>>,
    /// The new path of a moved victim.
    pub(crate) to: Option<To>,
    /// Where the content of a damaged file is saved.
    pub(crate) saved: Option<To>,
    /// The new file of a restore, which a later record of the journal describes. `None` until it is complete.
    pub(crate) made: Option<Made>,
    /// The metadata that the victim gets. `None` if the step does something else.
    pub(crate) set: Option<Metadata>,
    /// What undo compares and checks. `None` in a journal of version 1.
    pub(crate) proof: Option<Proof>,
}

/// The new file of a restore when it was about to get its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) version: Version,
    /// When it was created. `None` if the file system does not tell.
    pub(crate) birth_ns: Option<i128>,
    /// Who may do what with it. `None` in a journal of an earlier ftk.
    pub(crate) access: Option<Access>,
}

/// What undo compares and checks before it changes anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    /// The directory of the victim.
    pub(crate) directory: Identity,
    /// The victim. `None` if it did not exist.
    pub(crate) victim: Option<Identity>,
    /// The number of hard links of the victim.
    pub(crate) nlink: u64,
    /// The permissions of the keeper.
    pub(crate) keeper_mode: u32,
    /// Who else may use it than the victim.
    pub(crate) keeper_access: KeeperAccess,
    /// When the keeper was created. `None` if the file system does not tell.
    pub(crate) keeper_birth_ns: Option<i128>,
    /// The digest of the content that undo brings back. `None` if it brings back none, or if the content was saved after
    /// the intent was written.
    pub(crate) digest: Option<blake3::Hash>,
    /// The number of the list of further copies from which a deleted file can be restored.
    pub(crate) copies: Option<u64>,
}

/// A directory that a restore is about to make inside a private directory, which undo removes after a kill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Making {
    /// The path of the new directory.
    pub(crate) path: Vec<u8>,
    /// Length of the start of `path` that is the starting point.
    pub(crate) root_len: usize,
    /// The name of the private directory, next to the new one.
    pub(crate) temp: CString,
}

/// The path of a file in a directory that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct To {
    pub(crate) path: Vec<u8>,
    /// Length of the start of `path` that is the directory the user named.
    pub(crate) root_len: usize,
}

impl Proof {
    /// Returns the proof for a victim that is removed under its name, and whose content undo does not bring back.
    pub(crate) fn of_removed(place: &Place, side: Side, nlink: u64) -> Result<Self, Refusal> {
        let (directory, victim) = (place.directory(side)?, Some(place.identity(side)?));
        Ok(Self {
            directory,
            victim,
            nlink,
            keeper_mode: 0,
            keeper_access: KeeperAccess::default(),
            keeper_birth_ns: None,
            digest: None,
            copies: None,
        })
    }
}

impl Intent {
    /// Returns whether undo can do something about the step. A reflink needs no undo, and a journal of version 1 has no
    /// digest of what would have to be copied back.
    pub(crate) fn can_be_undone(&self) -> bool {
        !matches!(self.kind, ActionKind::Reflink | ActionKind::DeleteEntry)
            && (self.proof.is_some() || !self.kind.copies_back())
    }

    /// Returns whether the entry at a place is the victim, and unchanged except for its ctime. The content of a directory may
    /// have changed. `now`: the state of the entry, whose identity is queried only if needed.
    ///
    /// Inode numbers are used again, so the whole recorded identity counts. The owner of a file can give it any size and
    /// mtime, so its digest counts as well before it gets another name.
    pub(crate) fn is_victim(
        &self,
        now: &Stat,
        identity: impl FnOnce() -> Result<Identity, Refusal>,
    ) -> Result<bool, Refusal> {
        let version = &self.victim.version;
        let is_alike = match self.kind {
            ActionKind::RemoveDirectory | ActionKind::MoveEntry | ActionKind::DeleteEntry
                if now.file_type == FileType::Directory =>
            {
                version.identity() == now.identity()
            }
            ActionKind::RemoveDirectory => false,
            _ => version.is_same_except_ctime(now),
        };
        Ok(is_alike
            && match self.proof.as_ref().and_then(|proof| proof.victim) {
                Some(recorded) => recorded.is_same(&identity()?),
                None => true,
            })
    }

    /// Returns about how many bytes of memory its paths and attributes need.
    pub(crate) fn memory(&self) -> u64 {
        let attributes = self.metadata.attributes.iter().map(|(name, value)| name.len() + value.len());
        let to = self.to.as_ref().map_or(0, |to| to.path.len());
        (attributes.sum::<usize>() + self.victim.path.len() + self.keeper.path.len() + to) as u64
    }

    /// Appends the record as one line of JSON.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{{\"step\":{},\"action\":\"{}\",", self.step, self.kind).as_bytes());
        write_path(out, "temp", self.temp.to_bytes());
        out.extend_from_slice(b",\"victim\":{");
        write_seen(out, &self.victim);
        out.extend_from_slice(b"},\"keeper\":{");
        write_seen(out, &self.keeper);
        out.extend_from_slice(b"},\"metadata\":{");
        write_metadata(out, &self.metadata);
        out.push(b'}');
        if let Some(target) = &self.target {
            out.push(b',');
            write_path(out, "target", target);
        }
        for (name, to) in [("to", &self.to), ("saved", &self.saved)] {
            if let Some(to) = to {
                out.extend_from_slice(format!(",\"{name}\":{{").as_bytes());
                write_path(out, "path", &to.path);
                out.extend_from_slice(format!(",\"root_len\":{}}}", to.root_len).as_bytes());
            }
        }
        if let Some(set) = &self.set {
            out.extend_from_slice(format!(",\"set\":{{\"mtime_ns\":{},", set.mtime_ns).as_bytes());
            write_metadata(out, set);
            out.push(b'}');
        }
        if let Some(proof) = &self.proof {
            write_proof(out, proof);
        }
        out.extend_from_slice(b"}\n");
    }
}

fn write_proof(out: &mut Vec<u8>, proof: &Proof) {
    let Proof { directory, victim, nlink, keeper_mode, keeper_access, keeper_birth_ns, digest, copies } =
        proof;
    out.extend_from_slice(b",\"directory\":{");
    write_identity(out, directory);
    if let Some(victim) = victim {
        out.extend_from_slice(b"},\"identity\":{");
        write_identity(out, victim);
    }
    out.extend_from_slice(format!("}},\"nlink\":{nlink},\"keeper_mode\":\"{keeper_mode:04o}\"").as_bytes());
    let KeeperAccess { uid, gid, acl } = keeper_access;
    for (name, id) in [("keeper_uid", uid), ("keeper_gid", gid)] {
        if let Some(id) = id {
            out.extend_from_slice(format!(",\"{name}\":{id}").as_bytes());
        }
    }
    if let Some(acl) = acl {
        out.extend_from_slice(b",\"keeper_acl_b64\":");
        write_string(out, &BASE64.encode(acl));
    }
    if let Some(birth_ns) = keeper_birth_ns {
        out.extend_from_slice(format!(",\"keeper_birth_ns\":{birth_ns}").as_bytes());
    }
    if let Some(digest) = digest {
        write_digest(out, digest);
    }
    if let Some(copies) = copies {
        out.extend_from_slice(format!(",\"copies\":{copies}").as_bytes());
    }
}

/// Appends the record of a list of copies, of which it names as many as fit into the [length](MAX_RECORD) of a record.
pub(crate) fn write_copies(out: &mut Vec<u8>, number: u64, copies: &[Seen]) {
    let start = out.len();
    out.extend_from_slice(format!("{{\"copies\":{number},\"files\":[").as_bytes());
    let mut comma = &b"{"[..];
    for Seen { path, root_len, .. } in copies {
        let before = out.len();
        out.extend_from_slice(comma);
        write_path(out, "path", path);
        out.extend_from_slice(format!(",\"root_len\":{root_len}}}").as_bytes());
        if out.len() - start + b"]}\n".len() > MAX_RECORD {
            out.truncate(before);
            break;
        }
        comma = b",{";
    }
    out.extend_from_slice(b"]}\n");
}

fn write_digest(out: &mut Vec<u8>, digest: &blake3::Hash) {
    out.extend_from_slice(format!(",\"blake3\":\"{}\"", digest.to_hex()).as_bytes());
}

/// Appends the record of a new file that is complete and is about to get its name, with the digest of the content that
/// was saved before.
pub(crate) fn write_made(out: &mut Vec<u8>, step: u64, made: &Made, saved: Option<&blake3::Hash>) {
    let Made { version, birth_ns, access } = made;
    out.extend_from_slice(format!("{{\"step\":{step},\"made\":{{").as_bytes());
    write_version(out, version);
    out.push(b'}');
    if let Some(birth_ns) = birth_ns {
        out.extend_from_slice(format!(",\"birth_ns\":{birth_ns}").as_bytes());
    }
    if let Some(Access { mode, uid, gid, acl }) = access {
        let text = format!(",\"access\":{{\"mode\":\"{mode:04o}\",\"uid\":{uid},\"gid\":{gid},\"acl_b64\":");
        out.extend_from_slice(text.as_bytes());
        write_string(out, &BASE64.encode(acl));
        out.push(b'}');
    }
    if let Some(digest) = saved {
        write_digest(out, digest);
    }
    out.extend_from_slice(b"}\n");
}

/// Appends the record of a starting point or another directory that paths start with.
pub(crate) fn write_start(out: &mut Vec<u8>, path: &[u8], identity: &Identity) {
    out.extend_from_slice(b"{\"start\":{");
    write_path(out, "path", path);
    out.extend_from_slice(b",\"identity\":{");
    write_identity(out, identity);
    out.extend_from_slice(b"}}}\n");
}

/// Appends the record of a directory that is about to be made.
pub(crate) fn write_making(out: &mut Vec<u8>, Making { path, root_len, temp }: &Making) {
    out.extend_from_slice(b"{\"making\":{");
    write_path(out, "path", path);
    out.extend_from_slice(format!(",\"root_len\":{root_len},").as_bytes());
    write_path(out, "temp", temp.to_bytes());
    out.extend_from_slice(b"}}\n");
}

/// Appends the record of a file or directory that undo has made in place of the victim of a step.
pub(crate) fn write_remade(out: &mut Vec<u8>, step: u64, identity: &Identity) {
    out.extend_from_slice(format!("{{\"step\":{step},\"remade\":{{").as_bytes());
    write_identity(out, identity);
    out.extend_from_slice(b"}}\n");
}

/// Appends the record of a step that is undone. `lacks_rights`: whether the restored file has not all of its set-ID bits and
/// capabilities.
pub(crate) fn write_undone(out: &mut Vec<u8>, step: u64, lacks_rights: bool) {
    let lacks_rights = if lacks_rights { ",\"lacks_rights\":true" } else { "" };
    out.extend_from_slice(format!("{{\"step\":{step},\"undone\":true{lacks_rights}}}\n").as_bytes());
}

fn write_seen(out: &mut Vec<u8>, seen: &Seen) {
    write_path(out, "path", &seen.path);
    out.extend_from_slice(format!(",\"root_len\":{},", seen.root_len).as_bytes());
    write_version(out, &seen.version);
}

fn write_version(out: &mut Vec<u8>, version: &Version) {
    let &Version { dev, ino, size, mtime_ns, ctime_ns } = version;
    let mut text = String::new();
    write!(
        text,
        "\"dev\":{dev},\"ino\":{ino},\"size_bytes\":{size},\"mtime_ns\":{mtime_ns},\"ctime_ns\":{ctime_ns}"
    )
    .expect("writing to a String cannot fail");
    out.extend_from_slice(text.as_bytes());
}

fn write_metadata(out: &mut Vec<u8>, metadata: &Metadata) {
    let Metadata { mode, uid, gid, atime_ns, mtime_ns: _, attributes } = metadata;
    let text = format!("\"mode\":\"{mode:04o}\",\"uid\":{uid},\"gid\":{gid},\"atime_ns\":{atime_ns}");
    out.extend_from_slice(text.as_bytes());
    if attributes.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"xattrs\":[");
    for (nth, (name, value)) in attributes.iter().enumerate() {
        out.extend_from_slice(if nth == 0 { b"{" } else { b",{" });
        write_path(out, "name", name);
        out.extend_from_slice(b",\"value_b64\":");
        write_string(out, &BASE64.encode(value));
        out.push(b'}');
    }
    out.push(b']');
}

/// An intent as it is stored in the file.
#[derive(Debug, Deserialize)]
pub(crate) struct IntentRecord {
    step: u64,
    action: String,
    temp: String,
    victim: Object<SeenRecord>,
    keeper: Object<SeenRecord>,
    metadata: Object<MetadataRecord>,
    target: Option<String>,
    target_b64: Option<String>,
    to: Option<Object<ToRecord>>,
    saved: Option<Object<ToRecord>>,
    set: Option<Object<SetRecord>>,
    directory: Option<Object<IdentityRecord>>,
    identity: Option<Object<IdentityRecord>>,
    nlink: Option<u64>,
    keeper_mode: Option<String>,
    keeper_uid: Option<u32>,
    keeper_gid: Option<u32>,
    keeper_acl_b64: Option<String>,
    keeper_birth_ns: Option<i128>,
    blake3: Option<String>,
    copies: Option<u64>,
}

/// The record of a list of copies as it is stored in the file.
#[derive(Debug, Deserialize)]
pub(crate) struct CopiesRecord {
    pub(crate) copies: u64,
    files: Vec<Object<ToRecord>>,
}

impl CopiesRecord {
    /// Returns the copies. `None`: the record is malformed.
    pub(crate) fn files(&self) -> Option<Vec<To>> {
        self.files.iter().map(|Object(file)| file.read()).collect()
    }
}

impl ToRecord {
    fn read(&self) -> Option<To> {
        Some(To { path: bytes(&self.path, &self.path_b64)?, root_len: self.root_len })
    }
}

/// The record of a new file as it is stored in the file.
#[derive(Debug, Deserialize)]
pub(crate) struct MadeRecord {
    pub(crate) step: u64,
    made: Object<VersionRecord>,
    birth_ns: Option<i128>,
    access: Option<Object<AccessRecord>>,
    blake3: Option<String>,
}

#[derive(Debug, Deserialize)]
struct AccessRecord {
    mode: String,
    uid: u32,
    gid: u32,
    acl_b64: String,
}

impl MadeRecord {
    /// Returns the new file. `None`: the record is malformed.
    pub(crate) fn made(&self) -> Option<Made> {
        let &VersionRecord { dev, ino, size_bytes: size, mtime_ns, ctime_ns } = &self.made.0;
        let access = match &self.access {
            None => None,
            Some(Object(AccessRecord { mode, uid, gid, acl_b64 })) => {
                Some(Access { mode: octal(mode)?, uid: *uid, gid: *gid, acl: read_base64(acl_b64)? })
            }
        };
        let version = Version { dev, ino, size, mtime_ns, ctime_ns };
        Some(Made { version, birth_ns: self.birth_ns, access })
    }

    /// Returns the digest of the saved content, if there is any. `None`: the record is malformed.
    pub(crate) fn digest(&self) -> Option<Option<blake3::Hash>> {
        read_digest(self.blake3.as_deref())
    }
}

/// The record of a starting point as it is stored in the file.
#[derive(Debug, Deserialize)]
pub(crate) struct StartRecord {
    start: Object<StartMembers>,
}

#[derive(Debug, Deserialize)]
struct StartMembers {
    path: Option<String>,
    path_b64: Option<String>,
    identity: Object<IdentityRecord>,
}

impl StartRecord {
    /// Returns the path and the identity. `None`: the record is malformed.
    pub(crate) fn start(&self) -> Option<(Vec<u8>, Identity)> {
        let StartMembers { path, path_b64, identity } = &self.start.0;
        Some((bytes(path, path_b64)?, identity.0.identity()?))
    }
}

/// The record of a directory that is about to be made, as it is stored in the file.
#[derive(Debug, Deserialize)]
pub(crate) struct MakingRecord {
    making: Object<MakingMembers>,
}

#[derive(Debug, Deserialize)]
struct MakingMembers {
    path: Option<String>,
    path_b64: Option<String>,
    root_len: usize,
    temp: String,
}

impl MakingRecord {
    /// Returns the directory. `None`: the record is malformed.
    pub(crate) fn making(&self) -> Option<Making> {
        let MakingMembers { path, path_b64, root_len, temp } = &self.making.0;
        let temp = CString::new(&**temp).ok().filter(|_| is_temp_name(temp.as_bytes()))?;
        Some(Making { path: bytes(path, path_b64)?, root_len: *root_len, temp })
    }
}

/// The record of a file or directory that undo has made, as it is stored in the file.
#[derive(Debug, Deserialize)]
pub(crate) struct RemadeRecord {
    pub(crate) step: u64,
    remade: Object<IdentityRecord>,
}

impl RemadeRecord {
    /// Returns the identity. `None`: the record is malformed.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.remade.0.identity()
    }
}

/// The record of an undone step as it is stored in the file.
#[derive(Debug, Deserialize)]
pub(crate) struct UndoneRecord {
    pub(crate) step: u64,
    pub(crate) undone: bool,
    #[serde(default)]
    pub(crate) lacks_rights: bool,
}

#[derive(Debug, Deserialize)]
struct VersionRecord {
    dev: u64,
    ino: u64,
    size_bytes: u64,
    mtime_ns: i128,
    ctime_ns: i128,
}

#[derive(Debug, Deserialize)]
struct SeenRecord {
    path: Option<String>,
    path_b64: Option<String>,
    root_len: usize,
    dev: u64,
    ino: u64,
    size_bytes: u64,
    mtime_ns: i128,
    ctime_ns: i128,
}

#[derive(Debug, Deserialize)]
struct MetadataRecord {
    mode: String,
    uid: u32,
    gid: u32,
    atime_ns: i128,
    #[serde(default)]
    xattrs: Vec<Object<AttributeRecord>>,
}

/// The metadata that a victim gets, as it is stored in the file.
#[derive(Debug, Deserialize)]
struct SetRecord {
    mtime_ns: i128,
    mode: String,
    uid: u32,
    gid: u32,
    atime_ns: i128,
    #[serde(default)]
    xattrs: Vec<Object<AttributeRecord>>,
}

#[derive(Debug, Deserialize)]
struct AttributeRecord {
    name: Option<String>,
    name_b64: Option<String>,
    value_b64: String,
}

#[derive(Debug, Deserialize)]
struct ToRecord {
    path: Option<String>,
    path_b64: Option<String>,
    root_len: usize,
}

impl IntentRecord {
    /// Converts a record that [`Intent::write`] could have written. Returns `None` for any other.
    pub(crate) fn into_intent(self) -> Option<Intent> {
        let kind = ActionKind::from_name(&self.action)?;
        if !is_temp_name(self.temp.as_bytes()) {
            return None;
        }
        let Object(metadata) = self.metadata;
        let metadata = metadata.read(self.victim.0.mtime_ns)?;
        let set = match self.set {
            None => None,
            Some(Object(SetRecord { mtime_ns, mode, uid, gid, atime_ns, xattrs })) => {
                Some(MetadataRecord { mode, uid, gid, atime_ns, xattrs }.read(mtime_ns)?)
            }
        };
        let target = match (&self.target, &self.target_b64) {
            (None, None) => None,
            (text, b64) => Some(bytes(text, b64)?),
        };
        let below = |to: Option<Object<ToRecord>>| match to {
            None => Some(None),
            Some(Object(to)) => Some(Some(to.read()?)),
        };
        let (to, saved) = (below(self.to)?, below(self.saved)?);
        let proof = match (self.directory, self.nlink, &self.keeper_mode) {
            (None, None, None) => None,
            (directory, nlink, keeper_mode) => Some(Proof {
                directory: directory?.0.identity()?,
                victim: match self.identity {
                    Some(Object(identity)) => Some(identity.identity()?),
                    None => None,
                },
                nlink: nlink?,
                keeper_mode: octal(keeper_mode.as_ref()?)?,
                keeper_access: KeeperAccess {
                    uid: self.keeper_uid,
                    gid: self.keeper_gid,
                    acl: match &self.keeper_acl_b64 {
                        Some(acl) => Some(read_base64(acl)?),
                        None => None,
                    },
                },
                keeper_birth_ns: self.keeper_birth_ns,
                digest: read_digest(self.blake3.as_deref())?,
                copies: self.copies,
            }),
        };
        let is_link = kind == ActionKind::RemoveLink;
        let is_whole = (is_link || kind == ActionKind::Symlink) == target.is_some()
            && (is_link || kind.moves() == to.is_some())
            && (kind == ActionKind::Replace || saved.is_none())
            && (kind == ActionKind::SetMetadata) == set.is_some();
        is_whole.then_some(())?;
        Some(Intent {
            step: self.step,
            kind,
            temp: CString::new(self.temp).ok()?,
            victim: self.victim.0.seen()?,
            metadata,
            keeper: self.keeper.0.seen()?,
            target,
            to,
            saved,
            made: None,
            set,
            proof,
        })
    }
}

impl MetadataRecord {
    fn read(&self, mtime_ns: i128) -> Option<Metadata> {
        let &Self { ref mode, uid, gid, atime_ns, ref xattrs } = self;
        let attributes = xattrs.iter().map(|Object(record)| record.read()).collect::<Option<_>>()?;
        Some(Metadata { mode: octal(mode)?, uid, gid, atime_ns, mtime_ns, attributes })
    }
}

impl SeenRecord {
    fn seen(&self) -> Option<Seen> {
        let &Self { root_len, dev, ino, size_bytes: size, mtime_ns, ctime_ns, .. } = self;
        let version = Version { dev, ino, size, mtime_ns, ctime_ns };
        Some(Seen { path: bytes(&self.path, &self.path_b64)?, root_len, version })
    }
}

impl AttributeRecord {
    fn read(&self) -> Option<Attribute> {
        Some((bytes(&self.name, &self.name_b64)?, read_base64(&self.value_b64)?))
    }
}

/// Parses a digest in lower-case digits, if there is one. Returns `None` for anything else.
fn read_digest(hex: Option<&str>) -> Option<Option<blake3::Hash>> {
    let Some(hex) = hex else { return Some(None) };
    let digest = blake3::Hash::from_hex(hex).ok()?;
    (*digest.to_hex() == *hex).then_some(Some(digest))
}

/// Parses a mode of four octal digits.
fn octal(text: &str) -> Option<u32> {
    let is_mode = text.len() == 4 && text.bytes().all(|digit| matches!(digit, b'0'..=b'7'));
    u32::from_str_radix(text, 8).ok().filter(|_| is_mode)
}

fn bytes(text: &Option<String>, b64: &Option<String>) -> Option<Vec<u8>> {
    read_path(text.as_deref(), b64.as_deref()).ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use ftk_file::FileType;
    use proptest::prelude::*;

    use super::*;

    fn read_back(line: &[u8]) -> Option<Intent> {
        serde_json::from_slice::<IntentRecord>(line).ok()?.into_intent()
    }

    #[test]
    fn a_list_of_copies_has_as_many_as_fit_into_a_record() {
        let seen = |len| Seen { path: vec![1; len], root_len: 0, version: Version::default() };
        for (lens, expected) in [
            (vec![1, 2, 3], 3),
            (vec![MAX_RECORD], 0),
            (vec![9, MAX_RECORD / 6, 9], 1),
            (vec![1000; 1000], 174), // each needs 6 KB and 24 bytes
        ] {
            let copies: Vec<_> = lens.iter().copied().map(seen).collect();
            let mut line = Vec::new();
            write_copies(&mut line, 7, &copies);
            assert!(line.len() <= MAX_RECORD);
            let record: CopiesRecord = serde_json::from_slice(&line).unwrap();
            let files = record.files().unwrap();
            assert_eq!((record.copies, files.len()), (7, expected));
            assert!(files.iter().zip(&copies).all(|(file, copy)| file.path == copy.path));
        }
    }

    fn identity(ino: u64, file_type: FileType) -> Identity {
        let birth_ns = ino.is_multiple_of(2).then_some(7);
        Identity { fs: None, dev: 8, ino, birth_ns, file_type, uid: 9 }
    }

    fn seen() -> impl Strategy<Value = Seen> {
        let path = proptest::collection::vec(1_u8.., 0..30);
        (path, any::<usize>(), any::<[u64; 3]>(), any::<i64>(), any::<i64>()).prop_map(
            |(path, root_len, ids, m, c)| {
                let [dev, ino, size] = ids;
                let version = Version { dev, ino, size, mtime_ns: i128::from(m) * 9, ctime_ns: c.into() };
                Seen { path, root_len, version }
            },
        )
    }

    fn intent() -> impl Strategy<Value = Intent> {
        let attribute =
            (proptest::collection::vec(1_u8.., 1..9), proptest::collection::vec(any::<u8>(), 0..9));
        let attributes = proptest::collection::vec(attribute, 0..3);
        let numbers = (any::<u64>(), 0..ActionKind::ALL.len(), 0..=0o7777_u32, any::<u32>(), any::<i64>());
        (seen(), seen(), attributes, numbers).prop_map(|(victim, keeper, attributes, numbers)| {
            let (step, kind, mode, id, atime) = numbers;
            let kind = ActionKind::ALL[kind];
            let metadata = Metadata {
                mode,
                uid: id,
                gid: !id,
                atime_ns: atime.into(),
                mtime_ns: victim.version.mtime_ns,
                attributes,
            };
            Intent {
                step,
                kind,
                temp: ftk_file::temp_name(),
                target: matches!(kind, ActionKind::Symlink | ActionKind::RemoveLink)
                    .then(|| keeper.path.clone()),
                to: (kind.moves() || kind == ActionKind::RemoveLink && id % 2 == 0)
                    .then(|| To { path: keeper.path.clone(), root_len: 3 }),
                saved: (kind == ActionKind::Replace).then(|| To { path: keeper.path.clone(), root_len: 4 }),
                made: None,
                set: (kind == ActionKind::SetMetadata).then(|| Metadata {
                    mode: !mode & 0o7777,
                    mtime_ns: atime.into(),
                    ..metadata.clone()
                }),
                proof: (id % 3 > 0).then(|| Proof {
                    directory: identity(id.into(), FileType::Directory),
                    victim: (id % 3 == 2).then(|| identity(step, FileType::Regular)),
                    nlink: step,
                    keeper_mode: mode,
                    keeper_access: KeeperAccess {
                        uid: (id % 2 > 0).then_some(id),
                        gid: (id % 4 > 1).then_some(id),
                        acl: (id % 8 > 3).then(|| keeper.path.clone()),
                    },
                    keeper_birth_ns: (id % 11 > 5).then_some(i128::from(atime) - 1),
                    digest: (id % 5 > 0).then(|| blake3::hash(&keeper.path)),
                    copies: (id % 7 > 0).then_some(step),
                }),
                victim,
                metadata,
                keeper,
            }
        })
    }

    proptest! {
        #[test]
        fn written_intents_are_read_back(intent in intent()) {
            let mut line = Vec::new();
            intent.write(&mut line);
            prop_assert_eq!(line.iter().position(|&byte| byte == b'\n'), Some(line.len() - 1));
            prop_assert_eq!(read_back(&line), Some(intent.clone()));
            line.clear();
            let digest = intent.proof.as_ref().and_then(|proof| proof.digest);
            let birth_ns = intent.proof.as_ref().and_then(|proof| proof.keeper_birth_ns);
            let access = birth_ns.map(|_| Access::in_metadata(&intent.metadata));
            let made = Made { version: intent.victim.version, birth_ns, access };
            write_made(&mut line, intent.step, &made, digest.as_ref());
            let read: MadeRecord = serde_json::from_slice(&line).unwrap();
            prop_assert_eq!((read.step, read.made()), (intent.step, Some(made)));
            prop_assert_eq!(read.digest(), Some(digest));
            line.clear();
            let Seen { path, root_len, .. } = intent.victim.clone();
            let making = Making { path, root_len, temp: intent.temp.clone() };
            write_making(&mut line, &making);
            let read: MakingRecord = serde_json::from_slice(&line).unwrap();
            prop_assert_eq!(read.making(), Some(making));
            if let Some(Proof { directory, .. }) = intent.proof {
                line.clear();
                write_start(&mut line, &intent.victim.path, &directory);
                let start: StartRecord = serde_json::from_slice(&line).unwrap();
                prop_assert_eq!(start.start(), Some((intent.victim.path, directory)));
                line.clear();
                write_remade(&mut line, intent.step, &directory);
                let remade: RemadeRecord = serde_json::from_slice(&line).unwrap();
                prop_assert_eq!((remade.step, remade.identity()), (intent.step, Some(directory)));
                line.clear();
                write_copies(&mut line, intent.step, &[intent.keeper.clone(), intent.keeper.clone()]);
                let copies: CopiesRecord = serde_json::from_slice(&line).unwrap();
                let Seen { path, root_len, .. } = intent.keeper;
                let copy = To { path, root_len };
                prop_assert_eq!((copies.copies, copies.files()), (intent.step, Some(vec![copy.clone(), copy])));
                line.clear();
                write_undone(&mut line, intent.step, intent.metadata.mode > 0);
                let undone: UndoneRecord = serde_json::from_slice(&line).unwrap();
                prop_assert_eq!((undone.step, undone.undone), (intent.step, true));
                prop_assert_eq!(undone.lacks_rights, intent.metadata.mode > 0);
            }
        }
    }

    #[test]
    fn records_that_were_never_written_are_refused() {
        let seen = r#"{"path":"a","root_len":0,"dev":1,"ino":2,"size_bytes":3,"mtime_ns":4,"ctime_ns":5}"#;
        let line = |changed: &str, to: &str| {
            let good = format!(
                r#"{{"step":0,"action":"hardlink","temp":".ftk-0123456789abcdef","victim":{seen},"keeper":{seen},"metadata":{{"mode":"0644","uid":0,"gid":0,"atime_ns":0}}}}"#
            );
            assert!(changed.is_empty() || good.contains(changed), "{changed}");
            if changed.is_empty() { good } else { good.replacen(changed, to, 1) }
        };
        assert!(read_back(line("", "").as_bytes()).is_some());
        for (changed, to) in [
            (".ftk-0123456789abcdef", "precious"),
            (".ftk-0123456789abcdef", "../ftk-012345678"),
            ("hardlink", "chmod"),
            ("hardlink", "symlink"),
            ("hardlink", "move"),
            (r#""0644""#, r#""0644"},"saved":{"path":"x","root_len":0"#),
            (r#"{"step":0"#, r#"{"nlink":1,"step":0"#),
            (r#"{"step":0"#, r#"{"keeper_mode":"0644","nlink":1,"directory":{},"step":0"#),
            ("0644", "10644"),
            ("0644", "rw-"),
            (r#""path":"a""#, r#""path":"a\u0000""#),
            (r#""path":"a","#, ""),
            (r#""uid":0"#, r#""uid":-1"#),
            (r#""ino":2"#, r#""ino":"2""#),
        ] {
            assert_eq!(read_back(line(changed, to).as_bytes()), None, "{changed} {to}");
        }
    }
}
