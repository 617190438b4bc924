//! Manifests and verdicts, parsed with a JSON parser only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use serde_json::Value;

use crate::harness::{Dir, Run, sha256};

/// A manifest.
pub(crate) struct Manifest {
    pub(crate) header: Value,
    /// In the order of the file.
    pub(crate) paths: Vec<Vec<u8>>,
    pub(crate) entries: BTreeMap<Vec<u8>, Value>,
}

impl Manifest {
    /// Parses the manifest and checks its header and footer.
    #[track_caller]
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let body = bytes.strip_suffix(b"\n").expect("the last line is ended");
        let lines: Vec<&[u8]> = body.split(|&byte| byte == b'\n').collect();
        let value = |line: &&[u8]| serde_json::from_slice::<Value>(line).expect("every line is JSON");
        let [header, entries @ .., footer] = &*lines else { panic!("a manifest has two lines at least") };
        let (header, footer) = (value(header), &value(footer)["footer"]);
        let version = if header["failed"].is_null() { 2 } else { 3 };
        assert_eq!((&header["ftk"], &header["version"]), (&"manifest".into(), &version.into()));
        let sealed = &bytes[..bytes.len() - lines.last().unwrap().len() - 1];
        assert_eq!(footer["sha256"], sha256(sealed));
        let entries: Vec<_> = entries.iter().map(value).map(|entry| (name(&entry, "path"), entry)).collect();
        let paths = entries.iter().map(|(path, _)| path.clone()).collect();
        Self { header, paths, entries: entries.into_iter().collect() }
    }

    #[track_caller]
    pub(crate) fn read(path: &Path) -> Self {
        Self::parse(&fs::read(path).unwrap())
    }

    /// Removes the times of verification, which depend on what a run reads.
    pub(crate) fn untimed(mut self) -> Self {
        for entry in self.entries.values_mut() {
            entry.as_object_mut().expect("an entry is an object").remove("verified_ns");
        }
        self
    }

    pub(crate) fn entry(&self, path: &str) -> &Value {
        &self.entries[path.as_bytes()]
    }
}

/// Returns a member that is a name, byte for byte.
#[track_caller]
pub(crate) fn name(record: &Value, member: &str) -> Vec<u8> {
    match (&record[member], &record[format!("{member}_b64")]) {
        (Value::String(text), Value::Null) => text.clone().into_bytes(),
        (Value::Null, Value::String(text)) => BASE64.decode(text.as_bytes()).unwrap(),
        _ => panic!("no {member} in {record}"),
    }
}

/// Writes a manifest of the whole tree next to it.
#[track_caller]
pub(crate) fn create(dir: &Dir, args: &[&str]) -> PathBuf {
    let path = dir.aside("manifest");
    let run = dir.ftk(["manifest", "create", ".", "--force", "-o"]).arg(&path).args(args).run();
    run.status(0).stdout("");
    path
}

/// Verifies the tree against the manifest that [`create`] made.
pub(crate) fn verify(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["manifest", "verify", "."]).arg(dir.aside("manifest")).args(args).run()
}

/// Returns the lines as a manifest with a matching footer.
pub(crate) fn seal<L: AsRef<str>>(lines: &[L]) -> String {
    let body: String = lines.iter().map(|line| format!("{}\n", line.as_ref())).collect();
    let digest = sha256(body.as_bytes());
    format!("{body}{{\"footer\":{{\"records\":{},\"sha256\":\"{digest}\"}}}}\n", lines.len())
}

/// Returns the lines of a manifest without the footer. Directories have no tree digests, so that a test can change
/// entries below them.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    lines_with_trees(path).iter().map(|line| without_tree(line)).collect()
}

/// Returns the lines of a manifest without the footer.
pub(crate) fn lines_with_trees(path: &Path) -> Vec<String> {
    let mut lines: Vec<_> = fs::read_to_string(path).unwrap().lines().map(ToOwned::to_owned).collect();
    lines.pop();
    lines
}

fn without_tree(line: &str) -> String {
    match line.split_once(",\"tree\":{") {
        Some((before, after)) => format!("{before}{}", after.split_once('}').unwrap().1),
        None => line.to_owned(),
    }
}

/// Returns the records of `--json`.
#[track_caller]
pub(crate) fn json(run: &Run) -> Vec<Value> {
    run.text().lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
}

/// Returns the verdicts as lines such as `modified a: size_bytes, mtime_ns`, and checks the status.
#[track_caller]
pub(crate) fn verdicts(dir: &Dir, args: &[&str]) -> Vec<String> {
    let run = verify(dir, &[&["--json"], args].concat());
    let records = json(&run);
    let said: Vec<_> = records.iter().map(said).collect();
    let worst = records.iter().map(|record| status_of(record["verdict"].as_str().unwrap())).max();
    run.status(worst.unwrap_or_default());
    said
}

fn said(record: &Value) -> String {
    let text = |member: &str| String::from_utf8_lossy(&name(record, member)).into_owned();
    let mut said = format!("{} {}", record["verdict"].as_str().unwrap(), text("path"));
    if record.get("new_path").is_some() {
        said += &format!(" -> {}", text("new_path"));
    }
    let changes = record["changes"].as_array().map_or(&[][..], |changes| changes);
    let fields: Vec<_> = changes.iter().map(|change| change["field"].as_str().unwrap()).collect();
    if !fields.is_empty() {
        said += &format!(": {}", fields.join(", "));
    }
    said
}

fn status_of(verdict: &str) -> i32 {
    match verdict {
        "ok" => 0,
        "unreadable" | "unknown" => 2,
        _ => 1,
    }
}
