//! Intents: the journal records of steps that are about to be performed, with everything that undo needs.

use std::ffi::CString;
use std::fmt::Write as _;

use data_encoding::BASE64;
use ftk_file::{Version, is_temp_name};
use ftk_record::{Object, read_base64, read_path, write_path, write_string};
use serde::Deserialize;

use crate::action::ActionKind;
use crate::metadata::{Attribute, Metadata};
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
    pub(crate) made: Option<Version>,
}

/// The path of a file in a directory that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct To {
    pub(crate) path: Vec<u8>,
    /// Length of the start of `path` that is the directory the user named.
    pub(crate) root_len: usize,
}

impl Intent {
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
        out.extend_from_slice(b"}\n");
    }
}

/// Appends the record of a new file that is complete and is about to get its name.
pub(crate) fn write_made(out: &mut Vec<u8>, step: u64, made: &Version) {
    out.extend_from_slice(format!("{{\"step\":{step},\"made\":{{").as_bytes());
    write_version(out, made);
    out.extend_from_slice(b"}}\n");
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
}

/// The record of a new file as it is stored in the file.
#[derive(Debug, Deserialize)]
pub(crate) struct MadeRecord {
    pub(crate) step: u64,
    made: Object<VersionRecord>,
}

impl MadeRecord {
    pub(crate) fn version(&self) -> Version {
        let &VersionRecord { dev, ino, size_bytes: size, mtime_ns, ctime_ns } = &self.made.0;
        Version { dev, ino, size, mtime_ns, ctime_ns }
    }
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
        let Object(MetadataRecord { mode, uid, gid, atime_ns, xattrs }) = self.metadata;
        let metadata = Metadata {
            mode: octal(&mode)?,
            uid,
            gid,
            atime_ns,
            mtime_ns: self.victim.0.mtime_ns,
            attributes: xattrs.iter().map(|Object(record)| record.read()).collect::<Option<_>>()?,
        };
        let target = match (&self.target, &self.target_b64) {
            (None, None) => None,
            (text, b64) => Some(bytes(text, b64)?),
        };
        let below = |to: Option<Object<ToRecord>>| match to {
            None => Some(None),
            Some(Object(to)) => {
                Some(Some(To { path: bytes(&to.path, &to.path_b64)?, root_len: to.root_len }))
            }
        };
        let (to, saved) = (below(self.to)?, below(self.saved)?);
        let is_link = kind == ActionKind::RemoveLink;
        let is_whole = (is_link || kind == ActionKind::Symlink) == target.is_some()
            && (is_link || (kind == ActionKind::Move) == to.is_some())
            && (kind == ActionKind::Replace || saved.is_none());
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
        })
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
    use proptest::prelude::*;

    use super::*;

    fn read_back(line: &[u8]) -> Option<Intent> {
        serde_json::from_slice::<IntentRecord>(line).ok()?.into_intent()
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
                to: (kind == ActionKind::Move || kind == ActionKind::RemoveLink && id % 2 == 0)
                    .then(|| To { path: keeper.path.clone(), root_len: 3 }),
                saved: (kind == ActionKind::Replace).then(|| To { path: keeper.path.clone(), root_len: 4 }),
                made: None,
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
            write_made(&mut line, intent.step, &intent.victim.version);
            let made: MadeRecord = serde_json::from_slice(&line).unwrap();
            prop_assert_eq!((made.step, made.version()), (intent.step, intent.victim.version));
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
