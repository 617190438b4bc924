//! Journals must be read as another reader reads them, or refused, and undo must change nothing outside their
//! tree.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use ftk_apply::{JournalError, open_journal_to_undo};
use ftk_sched::Stop;
use tempfile::TempDir;

use crate::json::{Json, Members, base64, mode};

/// Uses the input as a journal. It is read as it is, and undone in a tree with files that its steps can name.
/// In the input `@T` stands for the directory of that tree, `@D` for its device, `@0` to `@5` for the inode
/// numbers of its files, and `@9` for that of a missing file. `@I` and `@S` stand for the identities of that directory and of
/// `sub` in it.
pub fn journals(data: &[u8]) {
    read(data);
    TREE.with_borrow_mut(|tree| {
        let tree = tree.get_or_insert_with(Tree::new);
        let journal = tree.journal(data);
        // A journal with an absolute path, or one that trusts a part of a path, may name any file of this
        // machine.
        let is_beneath = |(path, root_len): &(Vec<u8>, usize)| *root_len == 0 && !path.starts_with(b"/");
        if let Some(steps) = read(&journal)
            && steps.iter().flat_map(|step| &step.paths).all(is_beneath)
        {
            tree.undo_steps(&journal, &steps);
        }
    });
}

/// Undoes a journal, which is written to a file for that.
fn undo(
    journal: &[u8],
    stop: &Stop,
    report: impl FnMut(&ftk_apply::Undo, Result<ftk_apply::Undone, ftk_apply::ActError>),
) -> Result<(), JournalError> {
    let file = tempfile::NamedTempFile::new().expect("a file for the journal");
    fs::write(file.path(), journal).expect("the journal is written");
    ftk_apply::undo(open_journal_to_undo(file.path())?, stop, report)
}

thread_local! {
    static TREE: RefCell<Option<Tree>> = const { RefCell::new(None) };
}

/// Reads a journal without acting on it, and returns its steps.
fn read(journal: &[u8]) -> Option<Vec<Step>> {
    let stop = Stop::new();
    stop.raise();
    let mut found = Vec::new();
    let read = undo(journal, &stop, |step, outcome| {
        assert!(outcome.is_err(), "the run was stopped");
        found.insert(0, (step.path.clone(), step.action.to_string()));
    });
    let steps = by_hand(journal);
    // Only one reader may accept bytes that are not UTF-8 in members unknown to ftk.
    if str::from_utf8(journal).is_err() {
        return steps.filter(|_| read.is_ok());
    }
    match (&read, &steps) {
        (Ok(()), Some(steps)) => {
            let expected = steps.iter().filter(|step| step.is_done);
            assert!(
                expected.map(|step| (&step.paths[0].0, &step.action)).eq(found.iter().map(|(p, a)| (p, a)))
            );
        }
        (Err(JournalError::WorkingDirectory(..) | JournalError::OtherDirectory(..)), Some(_)) => return None,
        (Err(_), None) => {}
        _ => panic!("{read:?}, {steps:?}"),
    }
    steps
}

#[derive(Debug)]
struct Step {
    action: String,
    /// The paths of the removed file, of the kept file and of the place it was moved to, each with the length
    /// of its trusted part.
    paths: Vec<(Vec<u8>, usize)>,
    /// Whether it was done: not refused and not stopped.
    is_done: bool,
}

/// Returns the steps of a journal, or `None` if it is invalid.
fn by_hand(journal: &[u8]) -> Option<Vec<Step>> {
    let mut lines =
        journal.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    let header = Json::read(lines.next()?)?.members()?;
    let version = header.integer::<u64>("version")?;
    let is_new = version == 2;
    let is_journal = header.text("ftk")? == "journal" && (version == 1 || is_new);
    header.bytes("cwd")?;
    // One member with two names, the second in older journals.
    if header.get("start_ns").is_some() && header.get("started_ns").is_some() {
        return None;
    }
    let identity = header.optional("cwd_identity")?;
    (identity.is_some() == is_new).then_some(())?;
    identity.map_or(Some(()), is_right_identity)?;
    let mut steps = Vec::new();
    for line in lines {
        let line = Json::read(line)?.members()?;
        if is_intent(&line).is_some() {
            (line.integer("step") == Some(steps.len())).then_some(())?;
            (has_proof(&line)? == is_new).then_some(())?;
            steps.push(intent(&line)?);
        } else if is_made(&line).is_some() {
            let step: &Step = steps.get(line.integer::<usize>("step")?)?;
            (step.is_done && ["replace", "create"].contains(&&*step.action)).then_some(())?;
            is_right_digest(&line)?;
        } else if let Some(start) = line.get("start").and_then(is_start) {
            start.bytes("path")?;
            is_right_identity(start.get("identity")?)?;
        } else if let Some(making) = line.get("making").and_then(is_making) {
            making.bytes("path")?;
            is_temp_name(&making.text("temp")?).then_some(())?;
        } else if let Some(files) = is_copies(&line) {
            files.iter().try_for_each(|file| file.bytes("path").map(drop))?;
        } else if line.integer::<u64>("step").is_some() && line.get("remade").and_then(is_identity).is_some()
        {
            (line.integer::<u64>("step")? < steps.len() as u64).then_some(())?;
            is_right_identity(line.get("remade")?)?;
        } else if line.integer::<u64>("step").is_some()
            && line.get("undone").and_then(Json::boolean).is_some()
        {
            let is_step = line.integer::<u64>("step")? < steps.len() as u64;
            (is_step && line.get("undone")?.boolean()?).then_some(())?;
        } else {
            let step: &mut Step = steps.get_mut(line.integer::<usize>("step")?)?;
            match line.text("outcome")?.as_str() {
                "refused" | "stopped" => step.is_done = false,
                "done" | "failed" => {}
                _ => return None,
            }
        }
    }
    is_journal.then_some(steps)
}

/// Returns whether a line is the record of a new file.
fn is_made(line: &Members<'_>) -> Option<()> {
    line.integer::<u64>("step")?;
    line.optional_as("blake3", Json::text)?;
    is_version(&line.get("made")?.members()?)
}

/// Returns the members of a value that has all members of an identity, with any values.
fn is_identity(value: Json<'_>) -> Option<Members<'_>> {
    let members = value.members()?;
    members.optional_as("fs", Json::text)?;
    ["dev", "ino"].into_iter().try_for_each(|name| members.integer::<u64>(name).map(drop))?;
    members.optional_as("birth_ns", Json::integer::<i128>)?;
    members.text("type")?;
    members.integer::<u32>("uid")?;
    Some(members)
}

fn is_right_identity(value: Json<'_>) -> Option<()> {
    let members = is_identity(value)?;
    members.optional_as("fs", |fs| is_hex(&fs.text()?, 32).then_some(()))?;
    ["file", "directory", "symlink"].contains(&&*members.text("type")?).then_some(())
}

fn is_start(value: Json<'_>) -> Option<Members<'_>> {
    let start = value.members()?;
    strings(&start, "path")?;
    is_identity(start.get("identity")?)?;
    Some(start)
}

/// Returns the members of a value that has those of a place.
fn is_place(value: Json<'_>) -> Option<Members<'_>> {
    let place = value.members()?;
    strings(&place, "path")?;
    place.integer::<usize>("root_len")?;
    Some(place)
}

fn is_making(value: Json<'_>) -> Option<Members<'_>> {
    let making = is_place(value)?;
    making.text("temp")?;
    Some(making)
}

fn is_copies<'j>(line: &Members<'j>) -> Option<Vec<Members<'j>>> {
    line.integer::<u64>("copies")?;
    line.get("files")?.items()?.into_iter().map(is_place).collect()
}

/// Checks the members `name` and `name_b64`, which are strings if they exist.
fn strings(members: &Members<'_>, name: &str) -> Option<()> {
    members.optional_as(name, Json::text)?;
    members.optional_as(&format!("{name}_b64"), Json::text).map(drop)
}

fn is_right_digest(members: &Members<'_>) -> Option<()> {
    members.optional_as("blake3", |digest| is_hex(&digest.text()?, 64).then_some(())).map(drop)
}

fn is_temp_name(name: &str) -> bool {
    name.strip_prefix(".ftk-").is_some_and(|digits| is_hex(digits, 16))
}

fn is_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|it| b"0123456789abcdef".contains(&it))
}

/// Returns whether an intent has what a journal of version 2 adds, or `None` if only a part of it.
fn has_proof(line: &Members<'_>) -> Option<bool> {
    let (directory, nlink, mode_of_keeper) =
        (line.optional("directory")?, line.optional("nlink")?, line.optional("keeper_mode")?);
    if directory.is_none() && nlink.is_none() && mode_of_keeper.is_none() {
        return Some(false);
    }
    is_right_identity(directory?)?;
    nlink?;
    mode(&mode_of_keeper?.text()?)?;
    line.optional_as("keeper_acl_b64", |acl| base64(&acl.text()?))?;
    line.optional_as("identity", is_right_identity)?;
    is_right_digest(line)?;
    Some(true)
}

/// Returns whether an object has all members that identify the version of a file.
fn is_version(members: &Members<'_>) -> Option<()> {
    ["dev", "ino", "size_bytes"].into_iter().try_for_each(|name| members.integer::<u64>(name).map(drop))?;
    ["mtime_ns", "ctime_ns"].into_iter().try_for_each(|name| members.integer::<i128>(name).map(drop))
}

/// Returns whether an intent has all members, with any values.
fn is_intent(line: &Members<'_>) -> Option<()> {
    line.integer::<u64>("step")?;
    line.text("action")?;
    line.text("temp")?;
    for side in ["victim", "keeper"] {
        is_version(&is_place(line.get(side)?)?)?;
    }
    let metadata = line.get("metadata")?.members()?;
    metadata.text("mode")?;
    metadata.integer::<u32>("uid")?;
    metadata.integer::<u32>("gid")?;
    metadata.integer::<i128>("atime_ns")?;
    if metadata.0.iter().any(|(name, _)| name == "xattrs") {
        for xattr in metadata.get("xattrs")?.items()? {
            let xattr = xattr.members()?;
            strings(&xattr, "name")?;
            xattr.text("value_b64")?;
        }
    }
    strings(line, "target")?;
    for name in ["to", "saved"] {
        line.optional_as(name, is_place)?;
    }
    for name in ["directory", "identity"] {
        line.optional_as(name, is_identity)?;
    }
    for name in ["nlink", "copies"] {
        line.optional_as(name, Json::integer::<u64>)?;
    }
    for name in ["keeper_mode", "keeper_acl_b64"] {
        line.optional_as(name, Json::text)?;
    }
    for name in ["keeper_uid", "keeper_gid"] {
        line.optional_as(name, Json::integer::<u32>)?;
    }
    line.optional_as("blake3", Json::text).map(drop)
}

/// Returns the step that an intent announces, or `None` if its members are invalid.
fn intent(line: &Members<'_>) -> Option<Step> {
    let action = line.text("action")?;
    let temp = line.text("temp")?;
    let is_ours = is_temp_name(&temp);
    let metadata = line.get("metadata")?.members()?;
    mode(&metadata.text("mode")?)?;
    let attributes = metadata.get("xattrs").and_then(Json::items).unwrap_or_default();
    let mut attributes = attributes.into_iter().map(|xattr| {
        let xattr = xattr.members()?;
        xattr.bytes("name")?;
        base64(&xattr.text("value_b64")?)
    });
    attributes.all(|attribute| attribute.is_some()).then_some(())?;
    let path = |members: &Members<'_>| Some((members.bytes("path")?, members.integer("root_len")?));
    let mut paths = vec![path(&line.get("victim")?.members()?)?, path(&line.get("keeper")?.members()?)?];
    let has_target = line.optional_bytes("target")?.is_some();
    let (to, saved) = (line.optional("to")?, line.optional("saved")?);
    for to in [to, saved].into_iter().flatten() {
        paths.push(path(&to.members()?)?);
    }
    let is_known = [
        "hardlink",
        "reflink",
        "symlink",
        "delete",
        "move",
        "replace",
        "create",
        "remove-link",
        "remove-directory",
    ]
    .contains(&&*action);
    let is_link = action == "remove-link";
    let is_whole = (is_link || action == "symlink") == has_target
        && (is_link || (action == "move") == to.is_some())
        && (action == "replace" || saved.is_none());
    (is_ours && is_known && is_whole).then_some(Step { action, paths, is_done: true })
}

/// A tree as complete and killed runs leave it, and a directory `out` next to it that undo must not change.
struct Tree {
    dir: TempDir,
    /// The inode numbers for `@0` and so on.
    inodes: Vec<u64>,
}

/// Files of the tree, and their contents.
const FILES: [(&str, &str); 6] = [
    ("in/keeper", "same content"),
    ("in/sub/alone", "same content"),
    ("in/sub/.ftk-0123456789abcdef", "same content"),
    ("in/moved/away", "other content"),
    ("out/sub/file", "same content"),
    ("out/.ftk-0123456789abcdef", "same content"),
];

/// Hard links of the kept file, one of them with the temporary name of a killed run.
const LINKS: [&str; 3] = ["in/linked", "in/sub/linked", "in/.ftk-0123456789abcdef"];

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory for the tree");
        let at = |path: &str| dir.path().join(path);
        for (path, content) in FILES {
            fs::create_dir_all(at(path).parent().expect("it lies in the tree")).expect("a directory");
            fs::write(at(path), content).expect("a file");
            let file = fs::File::options().write(true).open(at(path)).expect("it was just written");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)).expect("a time");
        }
        LINKS.iter().for_each(|link| fs::hard_link(at("in/keeper"), at(link)).expect("a hard link"));
        symlink("keeper", at("in/symbolic")).expect("a symbolic link");
        symlink("../out", at("in/way")).expect("a symbolic link");
        let inodes = FILES.map(|(path, _)| fs::metadata(at(path)).expect("it is there").ino());
        Self { inodes: inodes.into(), dir }
    }

    /// Returns the identity of a directory of the tree, as a journal records it.
    fn identity(&self, path: &str) -> String {
        let it = fs::metadata(self.dir.path().join(path)).expect("it is there");
        format!("{{\"dev\":{},\"ino\":{},\"type\":\"directory\",\"uid\":{}}}", it.dev(), it.ino(), it.uid())
    }

    /// Returns a journal of this tree with the steps of the input.
    fn journal(&self, data: &[u8]) -> Vec<u8> {
        let root = self.dir.path().join("in");
        let root = root.to_str().expect("the name of a temporary directory");
        let of_version = |version: u8| format!("{{\"ftk\":\"journal\",\"version\":{version}");
        let mut journal = format!("{},\"cwd\":\"{root}\"}}\n", of_version(1)).into_bytes();
        let is_header = data.starts_with(b"{\"ftk\":");
        if data.starts_with(of_version(2).as_bytes()) {
            let top = self.identity("in");
            journal = format!(
                "{},\"cwd\":\"{root}\",\"cwd_identity\":{top}}}\n{{\"start\":{{\"path\":\"\",\"identity\":{top}}}}}\n",
                of_version(2)
            )
            .into_bytes();
        }
        let skipped =
            data.iter().position(|byte| *byte == b'\n').filter(|_| is_header).map_or(0, |at| at + 1);
        let mut rest = &data[skipped..];
        while let Some(at) = rest.iter().position(|byte| *byte == b'@') {
            journal.extend_from_slice(&rest[..at]);
            let text = match rest.get(at + 1) {
                Some(b'T') => root.to_owned(),
                Some(b'I') => self.identity("in"),
                Some(b'S') => self.identity("in/sub"),
                Some(b'D') => fs::metadata(self.dir.path()).expect("it is there").dev().to_string(),
                Some(nth @ b'0'..=b'9') => {
                    self.inodes.get(usize::from(nth - b'0')).unwrap_or(&u64::MAX).to_string()
                }
                _ => "@".to_owned(),
            };
            journal.extend_from_slice(text.as_bytes());
            rest = &rest[at + if text == "@" { 1 } else { 2 }..];
        }
        journal.extend_from_slice(rest);
        journal
    }

    /// Undoes the steps, and checks that only names in their paths have changed.
    fn undo_steps(&mut self, journal: &[u8], steps: &[Step]) {
        let before = self.names();
        undo(journal, &Stop::new(), |_, _| {}).expect("a journal that was read");
        let after = self.names();
        if before == after {
            return;
        }
        let is_meant = |path: &str| {
            let (directory, name) = path.rsplit_once('/').expect("it lies in a directory");
            let meant = steps.iter().flat_map(|step| &step.paths);
            let is_left = name == ".ftk-0123456789abcdef";
            !directory.starts_with("out")
                && meant.into_iter().any(|(path, _)| is_left || String::from_utf8_lossy(path).ends_with(name))
        };
        for path in before.keys().chain(after.keys()) {
            let (old, new) = (before.get(path), after.get(path));
            assert!(old == new || is_meant(path), "{path}: {old:?} has become {new:?}");
        }
        *self = Self::new();
    }

    /// Returns the inode, permissions, mtime, and content or target of each name.
    fn names(&self) -> BTreeMap<String, (u64, u32, i64, Vec<u8>)> {
        let mut names = BTreeMap::new();
        list(self.dir.path(), "", &mut names);
        names
    }
}

fn list(dir: &Path, below: &str, names: &mut BTreeMap<String, (u64, u32, i64, Vec<u8>)>) {
    for entry in fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("no other process changes it");
        let path = format!("{below}/{}", entry.file_name().to_string_lossy());
        let metadata = entry.metadata().expect("it is there");
        let content = match metadata.file_type() {
            it if it.is_dir() => {
                list(&entry.path(), &path, names);
                continue;
            }
            it if it.is_symlink() => {
                let target = fs::read_link(entry.path()).expect("it is there");
                target.as_os_str().as_bytes().to_vec()
            }
            _ => fs::read(entry.path()).expect("it is there"),
        };
        names.insert(path, (metadata.ino(), metadata.mode(), metadata.mtime(), content));
    }
}
