//! Journals: understood as a second reader does or refused, and taken back without a step out of their tree.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use ftk_apply::{JournalError, undo};
use ftk_sched::Stop;
use tempfile::TempDir;

use crate::json::{Json, Members, base64, mode};

/// Takes the input for a journal. It is read as it is, and taken back in a tree of files that its steps can be
/// about: `@T` in the input stands for the directory of that tree, `@D` for its device, `@0` to `@5` for the inode
/// numbers of its files, and `@9` for that of a file that is gone.
pub fn journals(data: &[u8]) {
    read(data);
    TREE.with_borrow_mut(|tree| {
        let tree = tree.get_or_insert_with(Tree::new);
        let journal = tree.journal(data);
        // Whoever names an absolute path, or trusts part of one, may mean any file of this machine.
        let is_beneath = |(path, root_len): &(Vec<u8>, usize)| *root_len == 0 && !path.starts_with(b"/");
        if let Some(steps) = read(&journal)
            && steps.iter().flat_map(|step| &step.paths).all(is_beneath)
        {
            tree.take_back(&journal, &steps);
        }
    });
}

thread_local! {
    static TREE: RefCell<Option<Tree>> = const { RefCell::new(None) };
}

/// Reads a journal without acting on it, and says what it tells.
fn read(journal: &[u8]) -> Option<Vec<Step>> {
    let stop = Stop::new();
    stop.raise();
    let mut found = Vec::new();
    let read = undo(journal, &stop, |step, outcome| {
        assert!(outcome.is_err(), "it was to stop");
        found.insert(0, (step.path.clone(), step.action.to_string()));
    });
    let steps = by_hand(journal);
    // Nobody reads what is not UTF-8 where no member of ours is.
    if str::from_utf8(journal).is_err() {
        return steps.filter(|_| read.is_ok());
    }
    match (&read, &steps) {
        (Ok(()), Some(steps)) => {
            let expected = steps.iter().filter(|step| step.is_taken);
            assert!(
                expected.map(|step| (&step.paths[0].0, &step.action)).eq(found.iter().map(|(p, a)| (p, a)))
            );
        }
        (Err(JournalError::WorkingDirectory(..)), Some(_)) => return None,
        (Err(_), None) => {}
        _ => panic!("{read:?}, {steps:?}"),
    }
    steps
}

#[derive(Debug)]
struct Step {
    action: String,
    /// Of the victim, of the keeper and where it was moved: the path, and how much of it is trusted.
    paths: Vec<(Vec<u8>, usize)>,
    /// Unless it was refused.
    is_taken: bool,
}

/// What a journal tells, if it is one.
fn by_hand(journal: &[u8]) -> Option<Vec<Step>> {
    let mut lines =
        journal.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    let header = Json::read(lines.next()?)?.members()?;
    let is_journal = header.text("ftk")? == "journal" && header.integer::<u64>("version")? == 1;
    header.bytes("cwd")?;
    let mut steps = Vec::new();
    for line in lines {
        let line = Json::read(line)?.members()?;
        if is_intent(&line).is_some() {
            (line.integer("step") == Some(steps.len())).then_some(())?;
            steps.push(intent(&line)?);
        } else {
            let step: &mut Step = steps.get_mut(line.integer::<usize>("step")?)?;
            match line.text("outcome")?.as_str() {
                "refused" | "stopped" => step.is_taken = false,
                "done" | "failed" => {}
                _ => return None,
            }
        }
    }
    is_journal.then_some(steps)
}

/// Whether all members of an intent are there, whatever they say.
fn is_intent(line: &Members<'_>) -> Option<()> {
    let strings = |members: &Members<'_>, name: &str| {
        [name.to_owned(), format!("{name}_b64")].iter().try_for_each(|name| match members.optional(name)? {
            Some(value) => value.text().map(drop),
            None => Some(()),
        })
    };
    line.integer::<u64>("step")?;
    line.text("action")?;
    line.text("temp")?;
    for side in ["victim", "keeper"] {
        let seen = line.get(side)?.members()?;
        strings(&seen, "path")?;
        seen.integer::<usize>("root_len")?;
        ["dev", "ino", "size_bytes"].into_iter().try_for_each(|name| seen.integer::<u64>(name).map(drop))?;
        ["mtime_ns", "ctime_ns"].into_iter().try_for_each(|name| seen.integer::<i128>(name).map(drop))?;
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
    if let Some(to) = line.optional("to")? {
        let to = to.members()?;
        strings(&to, "path")?;
        to.integer::<usize>("root_len")?;
    }
    Some(())
}

/// The step that an intent announces, if what its members say makes sense.
fn intent(line: &Members<'_>) -> Option<Step> {
    let action = line.text("action")?;
    let temp = line.text("temp")?;
    let digits = temp.strip_prefix(".ftk-")?;
    let is_ours = digits.len() == 16 && digits.bytes().all(|digit| b"0123456789abcdef".contains(&digit));
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
    let to = line.optional("to")?;
    if let Some(to) = to {
        paths.push(path(&to.members()?)?);
    }
    let is_known = ["hardlink", "reflink", "symlink", "delete", "move"].contains(&&*action);
    let is_whole = (action == "symlink") == has_target && (action == "move") == to.is_some();
    (is_ours && is_known && is_whole).then_some(Step { action, paths, is_taken: true })
}

/// A tree as runs leave it that were killed or came to their end, and one beside it that no path leads to.
struct Tree {
    dir: TempDir,
    /// What `@0` and so on stand for.
    inodes: Vec<u64>,
}

/// Files of the tree, and what is in them.
const FILES: [(&str, &str); 6] = [
    ("in/keeper", "same content"),
    ("in/sub/alone", "same content"),
    ("in/sub/.ftk-0123456789abcdef", "same content"),
    ("in/moved/away", "other content"),
    ("out/sub/file", "same content"),
    ("out/.ftk-0123456789abcdef", "same content"),
];

/// Names of the keeper, and of what a killed run was about to put in a victim's place.
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

    /// A journal of this tree with the steps of the input.
    fn journal(&self, data: &[u8]) -> Vec<u8> {
        let root = self.dir.path().join("in");
        let root = root.to_str().expect("the name of a temporary directory");
        let mut journal = format!("{{\"ftk\":\"journal\",\"version\":1,\"cwd\":\"{root}\"}}\n").into_bytes();
        let is_header = data.starts_with(b"{\"ftk\":");
        let skipped =
            data.iter().position(|byte| *byte == b'\n').filter(|_| is_header).map_or(0, |at| at + 1);
        let mut rest = &data[skipped..];
        while let Some(at) = rest.iter().position(|byte| *byte == b'@') {
            journal.extend_from_slice(&rest[..at]);
            let text = match rest.get(at + 1) {
                Some(b'T') => root.to_owned(),
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

    /// Takes the steps back, after which only names that they are about may have changed.
    fn take_back(&mut self, journal: &[u8], steps: &[Step]) {
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

    /// What has each name: inode, length, permissions, time, content or target.
    fn names(&self) -> BTreeMap<String, (u64, u32, i64, Vec<u8>)> {
        let mut names = BTreeMap::new();
        list(self.dir.path(), "", &mut names);
        names
    }
}

fn list(dir: &Path, below: &str, names: &mut BTreeMap<String, (u64, u32, i64, Vec<u8>)>) {
    for entry in fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("nobody else is here");
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
