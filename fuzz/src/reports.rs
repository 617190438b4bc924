//! Reports of duplicates must be read as another reader reads them and preserved when written again, or be
//! refused.

use std::collections::{BTreeSet, HashSet};

use ftk_dedup::prune::{Protection, Standing};
use ftk_dedup::report::{self, DirectoryGroup, Group, Report};
use ftk_dedup::{Member, Names};
use ftk_file::Version;
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::Budget;

use crate::json::{Json, Members, hex};
use crate::sealed::{seal, texts};

/// Uses the lines of the input as those of a report.
pub fn reports(data: &[u8]) {
    let _ = report::read(data, true, &Budget::new(u64::MAX));
    let texts = texts(data);
    let read = report::read(&seal(&texts)[..], false, &Budget::new(u64::MAX));
    let is_recorded = read.as_ref().is_ok_and(|report| report.recorded.is_some());
    if !is_recorded && texts.iter().all(|line| str::from_utf8(line).is_ok()) {
        assert_eq!(read.as_ref().ok(), by_hand(&texts).as_ref(), "{read:?}");
    }
    let Ok(report) = read else { return };
    let header = report::Header {
        program: "",
        algorithm: report.algorithm,
        is_verified: false,
        min_size: 0,
        max_size: None,
        start_ns: 0,
        directory: report.directory.clone(),
        roots: report.roots.clone(),
        manifests: report.recorded.as_ref().map(|it| it.manifests.clone()).unwrap_or_default(),
        unused_rules: Vec::new(),
        arguments: Vec::new(),
    };
    let mut file = Vec::new();
    let mut writer = report::Writer::new(&header, &mut file).expect("it fitted before");
    // A group without members is not written.
    let mut report = report;
    report.directories.retain(|group| !group.members.is_empty());
    // What is written is always a report.
    report.kept = None;
    report.directories.iter().for_each(|group| writer.directories(group, &mut file));
    report.groups.iter().for_each(|group| writer.group(group, &mut file));
    for group in report.recorded.iter().flat_map(|recorded| &recorded.groups) {
        writer.begin_group(group.size, &group.digest);
        group.members.iter().for_each(|member| writer.recorded_member(member, 0, &mut file));
        writer.end_group(&mut file);
    }
    writer.finish(&mut file);
    // A report of no manifests is written as one of no trees.
    if report.recorded.as_ref().is_some_and(|recorded| recorded.manifests.is_empty()) {
        return;
    }
    assert_eq!(
        report::read(&file[..], false, &Budget::new(u64::MAX)).expect("what is written is a report"),
        report
    );
}

/// Returns the report that the lines contain, or `None` if they are invalid.
fn by_hand(lines: &[Vec<u8>]) -> Option<Report> {
    let (header, records) = lines.split_first()?;
    let header = Json::read(header)?.members()?;
    let kind = header.text("ftk")?;
    let is_report =
        matches!(&*kind, "dup-report" | "dup-decisions") && header.integer::<u32>("version")? == 1;
    let mut kept = (kind == "dup-decisions").then(HashSet::new);
    let algorithm = match header.text("algorithm")?.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "xxh128" | "xxh3128" => Algorithm::Xxh128,
        "blake3" => Algorithm::Blake3,
        "sha256" => Algorithm::Sha256,
        _ => return None,
    };
    let directory = header.optional_bytes("directory")?;
    let roots = header.get("roots")?.items()?.into_iter().map(|root| root.members()?.bytes("path"));
    let roots = roots.collect::<Option<Vec<_>>>()?;
    let rules = header.optional_as("unused_rules", Json::items)?.unwrap_or_default();
    let unused_rules = rules.into_iter().map(|rule| rule.members()?.bytes("rule")).collect::<Option<_>>()?;
    let mut groups: Vec<(u64, Group)> = Vec::new();
    let mut directories: Vec<(u64, DirectoryGroup)> = Vec::new();
    for record in records {
        let record = Json::read(record)?.members()?;
        let kinds = ["group", "directories", "contained"].map(|name| record.optional(name));
        if kept.is_some() && kinds[0].as_ref()?.is_none() {
            return None;
        }
        match kinds.map(|kind| kind.map(|value| value.is_some())) {
            [Some(false), Some(false), Some(true)] => continue,
            [Some(false), Some(true), Some(false)] => {
                let (number, group) = directory_group(&record, &roots)?;
                match directories.last_mut() {
                    Some((last, known)) if *last == number => {
                        let is_same = DirectoryGroup { members: Vec::new(), ..known.clone() }
                            == DirectoryGroup { members: Vec::new(), ..group.clone() };
                        is_same.then_some(())?;
                        known.members.extend(group.members);
                    }
                    last => {
                        (last.map_or(0, |(last, _)| *last) < number).then_some(())?;
                        directories.push((number, group));
                    }
                }
                continue;
            }
            _ => {}
        }
        let number = record.integer("group")?;
        let size = record.integer("size_bytes")?;
        let digest = hex(&record.text("digest")?).filter(|digest| digest.len() == algorithm.digest_len())?;
        let digest = Digest::from_bytes(&digest);
        let members =
            record.get("members")?.items()?.into_iter().map(|it| member(&it.members()?, size, &roots));
        let members = members.collect::<Option<Vec<_>>>()?;
        match (&mut kept, record.optional("keep")?) {
            (None, None) => {}
            (Some(kept), Some(keep)) => {
                (groups.last().map(|(last, _)| *last) != Some(number)).then_some(())?;
                kept.extend(kept_paths(&record, keep, &members)?);
            }
            _ => return None,
        }
        match groups.last_mut() {
            Some((last, group)) if *last == number => {
                group.members.extend(members);
                ((group.size, group.digest) == (size, digest)).then_some(())?;
            }
            last => {
                (last.map_or(0, |(last, _)| *last) < number).then_some(())?;
                groups.push((number, Group { size, digest, members }));
            }
        }
    }
    let groups: Vec<_> = groups.into_iter().map(|(_, group)| group).collect();
    let directories: Vec<_> = directories.into_iter().map(|(_, group)| group).collect();
    let in_directories = directories.iter().flat_map(|group| &group.members);
    let members = groups.iter().flat_map(|group| &group.members).chain(in_directories);
    let paths: Vec<_> = members.map(|member| &member.path).collect();
    let all_differ = paths.iter().collect::<BTreeSet<_>>().len() == paths.len();
    (is_report && all_differ).then_some(Report {
        algorithm,
        directory,
        roots,
        unused_rules,
        directories,
        groups,
        recorded: None,
        kept,
    })
}

/// Returns the paths that the decision `keep` keeps: those of the members with these numbers. Each number is that of a
/// member, and one member is not a symbolic link.
fn kept_paths(record: &Members<'_>, keep: Json<'_>, members: &[Member]) -> Option<Vec<Vec<u8>>> {
    let keep = keep.items()?.into_iter().map(|it| it.integer::<u64>()).collect::<Option<Vec<_>>>()?;
    let numbers = record.get("members")?.items()?.into_iter().map(|it| cluster(&it.members()?));
    let numbers = numbers.collect::<Option<Vec<_>>>()?;
    keep.iter().all(|file| numbers.contains(&Some(*file))).then_some(())?;
    let is_kept = |number: &Option<u64>| number.is_some_and(|number| keep.contains(&number));
    let kept: Vec<_> = members.iter().zip(&numbers).filter(|it| is_kept(it.1)).map(|it| it.0).collect();
    kept.iter().any(|member| !member.via_link).then(|| kept.iter().map(|it| it.path.clone()).collect())
}

/// Returns the number of the file of a member, if it has one.
fn cluster(record: &Members<'_>) -> Option<Option<u64>> {
    record.optional_as("cluster", Json::integer)
}

fn directory_group(record: &Members<'_>, roots: &[Vec<u8>]) -> Option<(u64, DirectoryGroup)> {
    let names = if record.get("same_names")?.boolean()? { Names::Compared } else { Names::Ignored };
    let directory = |record: &Members<'_>| {
        let (root, path) = place(record, roots)?;
        Some(Member::new(root, path, version(record, 0)?))
    };
    let members = record.get("members")?.items()?.into_iter().map(|it| directory(&it.members()?));
    // Older reports have the second name.
    let wasted = match (record.get("waste_bytes"), record.get("wasted_bytes")) {
        (Some(wasted), None) | (None, Some(wasted)) => wasted.integer()?,
        _ => return None,
    };
    let group = DirectoryGroup {
        size: record.integer("size_bytes")?,
        files: record.integer("files")?,
        entries: record.integer("entries")?,
        wasted,
        names,
        members: members.collect::<Option<_>>()?,
    };
    Some((record.integer("directories")?, group))
}

/// Returns the starting point and the path of a member, if the path is below it.
fn place(record: &Members<'_>, roots: &[Vec<u8>]) -> Option<(usize, Vec<u8>)> {
    let root: usize = record.integer("root")?;
    let path = record.bytes("path")?;
    let start = roots.get(root)?;
    let below = path.strip_prefix(&start[..])?;
    let is_apart = below.is_empty() || start.ends_with(b"/") || below.starts_with(b"/");
    let climbs = below.split(|byte| *byte == b'/').any(|name| name == b"..");
    (!path.is_empty() && is_apart && !climbs).then_some((root, path))
}

fn version(record: &Members<'_>, size: u64) -> Option<Version> {
    Some(Version {
        dev: record.integer("dev")?,
        ino: record.integer("ino")?,
        size,
        mtime_ns: record.integer("mtime_ns")?,
        ctime_ns: record.integer("ctime_ns")?,
    })
}

fn member(record: &Members<'_>, size: u64, roots: &[Vec<u8>]) -> Option<Member> {
    let (root, path) = place(record, roots)?;
    cluster(record)?;
    let flag = |name: &str| match record.0.iter().any(|(it, _)| it == name) {
        true => record.get(name)?.boolean(),
        false => Some(false),
    };
    let (via_link, stays) = (flag("via_link")?, flag("stays")?);
    let protection = if stays { Protection::InKept } else { Protection::Free };
    Some(Member {
        nlink: record.integer("nlink")?,
        blocks: record.integer::<u64>("allocated_bytes")? / 512,
        via_link,
        standing: Standing { protection, ..Standing::default() },
        ..Member::new(root, path, version(record, size)?)
    })
}
