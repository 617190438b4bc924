//! Duplicate reports as inputs: the files that have duplicates, without their directories.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use ftk_dedup::report::{Budget, Report, read};
use ftk_file::Stat;
use ftk_manifest::{Entry, Field, FieldSet};

use super::{Input, Kind};
use crate::convert::{Origin, Sink};

/// Returns whether a file begins like a report.
pub(super) fn is_report(start: &[u8]) -> bool {
    start.starts_with(b"{\"ftk\":\"dup-report\"")
}

/// Opens a report. Each starting point is an input of its own.
pub(super) fn open(file: File) -> Result<Vec<Input>> {
    // DataFusion's limit is for sorts and joins; a report is small compared with the tables that are made of it.
    let report =
        read(BufReader::new(file), false, &Budget::new(u64::MAX)).context("cannot use the report")?;
    ensure!(report.recorded.is_none(), "it is a report of manifests: convert the manifests");
    let report = Arc::new(report);
    let input = |(nth, root): (usize, &Vec<u8>)| {
        let root = match &report.directory {
            Some(directory) if !root.starts_with(b"/") => [&**directory, b"/", root].concat(),
            _ => root.clone(),
        };
        let source = String::from_utf8_lossy(&root).into_owned();
        let origin = Origin {
            source,
            shard: None,
            algorithms: vec![report.algorithm],
            start_ns: None,
            full_ns: None,
            snapshot: None,
        };
        Input {
            origin,
            root,
            failed: Arc::default(),
            kind: Kind::Report { report: Arc::clone(&report), root: nth },
        }
    };
    Ok(report.roots.iter().enumerate().map(input).collect())
}

/// Puts the members below a starting point into the sink.
pub(super) fn produce(report: &Report, root: usize, mut sink: Sink) -> Result<()> {
    let mut absent = FieldSet::default();
    for field in [Field::Mode, Field::Uid, Field::Gid, Field::Birth] {
        absent.insert(field);
    }
    let start = &report.roots[root];
    for group in &report.groups {
        for member in group.members.iter().filter(|member| member.root == root) {
            let version = &member.version;
            let stat = Stat {
                size: group.size,
                dev: version.dev,
                ino: version.ino,
                nlink: member.nlink,
                blocks: member.blocks,
                mtime_ns: version.mtime_ns,
                ctime_ns: version.ctime_ns,
                ..Stat::EMPTY
            };
            let below = member.path.strip_prefix(&**start).unwrap_or(&member.path);
            let below = below.strip_prefix(b"/").unwrap_or(below);
            let path = if below.is_empty() { b"." } else { below };
            sink.push(&Entry { absent, digests: group.digest.as_bytes(), ..Entry::new(path, stat) })?;
        }
    }
    sink.finish()
}
