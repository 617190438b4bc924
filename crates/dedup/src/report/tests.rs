//! Reports survive a round trip, and invalid ones are refused.

use ftk_file::{FsId, Version};
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{Budget, Full};
use ftk_record::{Seal, SealError};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Group, Header, RecordError, ReportError, Writer, decisions_header, read};
use crate::prune::{Protection, Standing};
use crate::{Member, RecordedGroup, RecordedMember};

fn header(roots: Vec<Vec<u8>>) -> Header<'static> {
    Header {
        program: "1.0",
        algorithm: Algorithm::Sha256,
        is_verified: true,
        min_size: 0,
        max_size: Some(7),
        start_ns: 1,
        directory: Some(b"/\xff".to_vec()),
        roots,
        manifests: Vec::new(),
        unused_rules: Vec::new(),
        arguments: vec![b"dup".to_vec(), b"--json".to_vec(), b"\xff\n".to_vec()],
    }
}

fn written(header: &Header<'_>, groups: &[Group]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(header, &mut file).unwrap();
    groups.iter().for_each(|group| writer.group(group, &mut file));
    writer.finish(&mut file);
    file
}

/// A member below the first or second starting point. Its number makes its path unique.
fn member() -> impl Strategy<Value = Member> {
    let name = vec(prop_oneof![1..=b'.' - 1, b'0'..=255], 1..9);
    let numbers = (any::<u64>(), any::<u64>(), any::<u64>(), 0..u64::MAX / 512, any::<u64>());
    let times = (any::<i128>(), any::<i128>());
    let flags = any::<[bool; 2]>();
    (0..2_usize, name, numbers, times, flags).prop_map(|(root, name, numbers, times, [via_link, stays])| {
        let (dev, ino, size, blocks, nlink) = numbers;
        let (mtime_ns, ctime_ns) = times;
        let version = Version { dev, ino, size, mtime_ns, ctime_ns };
        let protection = if stays { Protection::InKept } else { Protection::Free };
        let standing = Standing { protection, ..Standing::default() };
        Member { blocks, nlink, via_link, standing, ..Member::new(root, name, version) }
    })
}

/// A member with these values.
fn member_at(path: &str, ino: u64, size: u64) -> Member {
    let version = Version { dev: 1, ino, size, mtime_ns: -5, ctime_ns: 6 };
    Member { blocks: size.min(1) * 8, ..Member::new(0, path.into(), version) }
}

fn groups() -> impl Strategy<Value = Vec<Group>> {
    let group = (any::<u64>(), any::<[u8; 32]>(), vec(member(), 0..6));
    vec(group, 0..6).prop_map(|groups| {
        let groups = groups.into_iter().enumerate().map(|(nth, (size, digest, mut members))| {
            for (number, member) in members.iter_mut().enumerate() {
                member.version.size = size;
                let root: &[u8] = if member.root == 0 { b"a" } else { b"/\xff/" };
                let unique = format!("/{nth}-{number}");
                member.path = [root, unique.as_bytes(), &member.path].concat();
            }
            Group { size, digest: Digest::from_bytes(&digest), members }
        });
        groups.collect()
    })
}

proptest! {
    #[test]
    fn reports_survive_a_round_trip(groups in groups()) {
        let roots = vec![b"a".to_vec(), b"/\xff/".to_vec()];
        let report = read(&written(&header(roots.clone()), &groups)[..], false, &budget()).unwrap();
        prop_assert_eq!(report.directory, header(Vec::new()).directory);
        prop_assert_eq!(report.roots, roots);
        prop_assert_eq!(report.groups, groups);
    }
}

/// Reads a report of one group after `change` was applied to its lines. The footer is made to match.
fn changed(change: impl Fn(&str) -> String) -> Result<super::Report, ReportError> {
    let members = vec![member_at("a/x", 10, 3), member_at("a/y", 11, 3)];
    let group = Group { size: 3, digest: Digest::from_bytes(&[7; 32]), members };
    let file = String::from_utf8(written(&header(vec![b"a".to_vec()]), &[group])).unwrap();
    let lines: Vec<&str> = file.lines().collect();
    let (mut seal, mut new) = (Seal::new(), Vec::new());
    for line in change(&lines[..2].join("\n")).split('\n') {
        let line = format!("{line}\n");
        seal.line(line.as_bytes());
        new.extend_from_slice(line.as_bytes());
    }
    seal.footer(&mut new);
    read(&new[..], false, &budget())
}

#[test]
fn invalid_records_are_refused() {
    assert!(changed(str::to_owned).is_ok());
    assert!(changed(|lines| lines.replace("sha256", "\\u0073ha256")).is_ok());
    let digest = "07".repeat(32);
    for (number, from, to, why) in [
        (1, "dup-report", "manifest", "not a report"),
        (1, "\"version\":1", "\"version\":3", "version 3"),
        (1, "\"version\":1", "\"version\":2", "does not name a manifest for each root"),
        (1, "sha256", "md5", "algorithm"),
        (1, "\"roots\":", "\"starts\":", "not the header of a report"),
        (1, "{\"path\":\"a\"}", "[\"a\",null]", "not the header of a report"),
        (2, "\"members\":[{", "\"members\":[[\"a/z\",null,0,1,12,1,4096,0,0],{", "expected an object"),
        (2, &*digest, &digest[2..], "the digest is not a sha256 digest"),
        (2, &digest, "", "the digest is not a sha256 digest"),
        (2, "\"digest\":", "\"other\":", "missing field `digest`"),
        (2, "\"ino\":11", "\"in\":11", "missing field `ino`"),
        (2, "\"ino\":11", "\"ino\":10,\"ino\":11", "duplicate field `ino`"),
        (2, "a/y", "a/x", "twice"),
        (2, "a/y", "ay", "not below"),
        (2, "a/y", "a/../y", "not below"),
        (2, "a/y", "", "not below"),
        (2, "\"root\":0", "\"root\":1", "starting point"),
        (2, "\"group\":1", "\"group\":0", "does not follow"),
    ] {
        match changed(|lines| lines.replace(from, to)) {
            Err(ReportError::Line { number: at, problem }) => {
                assert_eq!(at, number, "{from} {to}");
                assert!(problem.to_string().contains(why), "{from} {to}: {problem}");
            }
            other => panic!("{from} {to}: {other:?}"),
        }
    }
}

/// Makes the lines of [`changed`] decisions that keep these files.
fn decided(lines: &str, keep: &str) -> String {
    let (header, group) = lines.split_once('\n').unwrap();
    format!("{}\n{{\"keep\":{keep},{}", decisions_header(header).unwrap(), &group[1..])
}

#[test]
fn decisions_name_the_files_to_keep() {
    for (keep, paths) in [("[0]", &["a/x"][..]), ("[1]", &["a/y"]), ("[1,0]", &["a/x", "a/y"])] {
        let report = changed(|lines| decided(lines, keep)).unwrap();
        let kept = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        assert_eq!(report.kept, Some(kept));
        assert_eq!(report.groups, changed(str::to_owned).unwrap().groups);
    }
    assert_eq!(changed(str::to_owned).unwrap().kept, None);
    // The numbers are those of the line, and names of one number are one file.
    let swapped = |lines: &str| decided(lines, "[7]").replace("\"cluster\":0", "\"cluster\":7");
    assert_eq!(changed(swapped).unwrap().kept, Some([b"a/x".to_vec()].into()));
}

#[test]
fn wrong_decisions_are_refused() {
    for (keep, from, to, why) in [
        ("[]", "", "", "the decision about group 1 keeps nothing"),
        ("null", "", "", "the decision about group 1 keeps nothing"),
        ("[2]", "", "", "group 1 has no number 2"),
        ("[0,1,18446744073709551615]", "", "", "group 1 has no number 18446744073709551615"),
        ("[-1]", "", "", "not a group"),
        ("[0.0]", "", "", "not a group"),
        ("0", "", "", "not a group"),
        ("[0]", "\"keep\"", "\"kept\"", "the decision about group 1 keeps nothing"),
        ("[0],\"keep\":[0]", "", "", "duplicate field `keep`"),
        ("[0]", "\"cluster\":0", "\"clusters\":0", "group 1 has no number 0"),
        ("[0]", "\"ctime_ns\":6", "\"ctime_ns\":6,\"via_link\":true", "keeps nothing"),
        ("[0]", "dup-decisions", "dup-report", "only a file of decisions"),
        ("[0]", "\"version\":1", "\"version\":2", "only be about files and directories of trees"),
        ("[0]", "\"group\":1", "\"contained\":1", "only be about files and directories of trees"),
    ] {
        match changed(|lines| decided(lines, keep).replace(from, to)) {
            Err(ReportError::Line { problem, .. }) => {
                assert!(problem.to_string().contains(why), "{keep} {to}: {problem}");
            }
            other => panic!("{keep} {to}: {other:?}"),
        }
    }
    // A second line of the group would have other numbers.
    let continued = |lines: &str| {
        let lines = decided(lines, "[0]");
        let group = lines.lines().last().unwrap().replace("a/x", "a/v").replace("a/y", "a/w");
        format!("{lines}\n{group}")
    };
    assert!(matches!(
        changed(continued),
        Err(ReportError::Line { number: 3, problem: RecordError::Order { .. } })
    ));
}

/// Reads decisions about two groups of directories and one of files, with these members `keep`.
fn decided_directories(keep: [&str; 3]) -> Result<super::Report, ReportError> {
    let member = |path: &str, ino| member_at(&format!("a/{path}"), ino, 0);
    let directories = |members| super::DirectoryGroup {
        size: 3,
        files: 1,
        entries: 2,
        wasted: 3,
        names: crate::Names::Compared,
        members,
    };
    let mut file = Vec::new();
    let mut writer = Writer::new(&header(vec![b"a".to_vec()]), &mut file).unwrap();
    writer.directories(&directories(vec![member("b", 1), member("c/", 2)]), &mut file);
    writer.directories(&directories(vec![member("c/d", 3), member("e", 4)]), &mut file);
    let members = vec![member("b/x", 10), member("b-x", 11)];
    writer.group(&Group { size: 3, digest: Digest::from_bytes(&[7; 32]), members }, &mut file);
    let file = String::from_utf8(file).unwrap();
    let mut lines = file.lines();
    let head = decisions_header(lines.next().unwrap()).unwrap();
    let decided = lines.zip(keep).map(|(line, keep)| format!("{{\"keep\":{keep},{}", &line[1..]));
    let lines: Vec<_> = std::iter::once(head).chain(decided).collect();
    let report = read_sealed(&lines);
    // Older reports have another name of one member.
    let older: Vec<_> =
        lines.iter().map(|line| line.replace("\"waste_bytes\"", "\"wasted_bytes\"")).collect();
    assert!(older != lines);
    let directories =
        |report: &Result<super::Report, _>| report.as_ref().map(|it| format!("{:?}", it.directories)).ok();
    assert_eq!(directories(&read_sealed(&older)), directories(&report));
    report
}

/// Six bytes of JSON for each byte of a path.
#[test]
fn names_that_are_too_long_for_a_line_are_left_out() {
    let long = |len: usize| "\u{1}".repeat(len);
    let (short, longest, longer) = (long(1), long(4 << 20), long(11 << 20));
    let mut file = Vec::new();
    let mut writer = Writer::new(&header(vec![b"a".to_vec()]), &mut file).unwrap();
    let members = |kind: &str, names: [&str; 3]| -> Vec<_> {
        names.iter().zip(1..).map(|(name, ino)| member_at(&format!("a/{kind}{ino}{name}"), ino, 0)).collect()
    };
    // 4 MiB less what belongs to the record besides the path.
    let almost = &longest[..longest.len() - 100];
    let names = [almost, &longer, &short];
    let (size, digest) = (3, Digest::from_bytes(&[7; 32]));
    writer.group(&Group { size, digest, members: members("f", names) }, &mut file);
    let (names, members) = (crate::Names::Compared, members("d", names));
    writer.directories(
        &super::DirectoryGroup { size, files: 1, entries: 2, wasted: 3, names, members },
        &mut file,
    );
    assert_eq!(writer.left_out(), 2);
    let holders: Vec<_> = [longer.as_str(), &short].iter().map(|it| (it.as_bytes().to_vec(), 1, 1)).collect();
    let record = |path| super::ContainedDirectory {
        path,
        root: 0,
        all: (1, 1),
        found: (1, 1),
        is_whole: true,
        holders: &holders,
    };
    let missing = || holders.iter().map(|(path, ..)| path.clone());
    writer.contained(&record(almost.as_bytes()), missing(), &mut file);
    writer.contained(&record(longer.as_bytes()), missing(), &mut file);
    assert_eq!(writer.left_out(), 2 + 2 + 1);
    writer.finish(&mut file);
    let report = read(&file[..], false, &Budget::new(u64::MAX)).unwrap();
    assert_eq!((report.groups[0].members.len(), report.directories[0].members.len()), (2, 2));
}

#[test]
fn directories_to_keep_are_named_by_their_positions() {
    let report = decided_directories(["[1]", "[0,1]", "[1]"]).unwrap();
    let kept = ["a/c/", "a/c/d", "a/e", "a/b-x"].map(|path| path.as_bytes().to_vec());
    assert_eq!(report.kept, Some(kept.into()));
    assert_eq!((report.directories.len(), report.groups.len()), (2, 1));
    for (keep, why) in [
        (["[]", "[0]", "[1]"], "group 1 keeps nothing"),
        (["[0]", "null", "[1]"], "group 2 keeps nothing"),
        (["[2]", "[0]", "[1]"], "group 1 has no number 2"),
        (["[18446744073709551615]", "[0]", "[1]"], "has no number"),
        (["[0]", "[0]", "[1]"], "'a/c/d' is to be kept, and 'a/c' around it is not"),
        (["[1]", "[1]", "[0]"], "'a/b/x' is to be kept, and 'a/b' around it is not"),
    ] {
        let error = decided_directories(keep).unwrap_err();
        assert!(error.to_string().contains(why), "{keep:?}: {error}");
    }
}

#[test]
fn a_broken_seal_is_accepted_only_on_request() {
    let file = written(&header(vec![b"a".to_vec()]), &[]);
    let edited =
        String::from_utf8(file.clone()).unwrap().replace("\"program\":\"1.0\"", "\"program\":\"2.0\"");
    assert!(matches!(
        read(edited.as_bytes(), false, &budget()),
        Err(ReportError::Seal(SealError::WrongDigest))
    ));
    assert_eq!(read(edited.as_bytes(), true, &budget()).unwrap().roots, [b"a"]);
    let cut = &file[..file.iter().position(|&byte| byte == b'\n').unwrap() + 1];
    for is_edited in [false, true] {
        assert!(matches!(read(cut, is_edited, &budget()), Err(ReportError::Seal(SealError::Incomplete))));
    }
}

fn budget() -> Budget {
    Budget::new(16 << 20)
}

#[test]
fn members_count_towards_the_budget() {
    let members: Vec<_> = (0..1000).map(|nth| member_at(&format!("a/{nth}"), nth, 3)).collect();
    let group = Group { size: 3, digest: Digest::from_bytes(&[7; 32]), members };
    let file = written(&header(vec![b"a".to_vec()]), &[group]);
    let read = |bytes| read(&file[..], false, &Budget::new(bytes));
    assert!(read(2 << 20).is_ok());
    let problem = RecordError::Full(Full::Memory);
    assert_eq!(read(512 << 10).map(drop).unwrap_err().to_string(), format!("line 2: {problem}"));
}

/// A report that was cut off is refused, wherever it was cut. An edited one too, although its footer need not match.
#[test]
fn truncated_reports_are_refused() {
    let member = |ino| member_at(&format!("a/{ino}"), ino, 3);
    let group = |nth| Group {
        size: 3,
        digest: Digest::from_bytes(&[7; 32]),
        members: vec![member(nth), member(nth + 1)],
    };
    let whole = written(&header(vec![b"a".to_vec()]), &[group(1), group(3)]);
    assert_eq!(read(&whole[..], false, &budget()).unwrap().groups.len(), 2);
    for len in 0..whole.len() {
        assert!(read(&whole[..len], false, &budget()).is_err(), "{len} bytes");
        // An editor may remove the last newline.
        assert!(
            len == whole.len() - 1 || read(&whole[..len], true, &budget()).is_err(),
            "{len} bytes, edited"
        );
    }
}

#[test]
fn a_report_without_header_is_an_error() {
    let mut empty = Vec::new();
    Seal::new().footer(&mut empty);
    assert!(matches!(read(&empty[..], true, &budget()), Err(ReportError::Empty)));
}

/// A group that is too long for one line is split over several lines, and read back as one.
#[test]
fn a_group_split_over_lines_is_read_back_as_one_group() {
    let member = |nth: usize| {
        let path = [b"a/".as_slice(), &vec![1; 4000], nth.to_string().as_bytes()].concat();
        Member { path, nlink: 2, ..member_at("", nth as u64 / 2, 3) }
    };
    let group =
        Group { size: 3, digest: Digest::from_bytes(&[7; 32]), members: (0..1000).map(member).collect() };
    let file = written(&header(vec![b"a".to_vec()]), std::slice::from_ref(&group));
    assert!(file.split(|&byte| byte == b'\n').count() > 4);
    assert_eq!(read(&file[..], false, &budget()).unwrap().groups, [group]);
}

/// Reads a report of manifests after a change to its lines. The footer is made to match.
fn changed_recorded(from: &str, to: &str) -> Result<super::Report, ReportError> {
    let member = |manifest, name: &str| RecordedMember {
        manifest,
        path: format!("/disk/{name}").into_bytes(),
        fs: (manifest == 0).then(|| FsId::from_bytes([0xab; 16])),
        ino: Some(7),
        nlink: None,
        allocated: Some(u64::MAX),
        mtime_ns: Some(-1),
        ctime_ns: None,
    };
    let members = vec![member(0, "x"), member(1, "x"), member(1, "y")];
    let group = RecordedGroup { size: 3, digest: Digest::from_bytes(&[7; 20]), members };
    let header = Header {
        algorithm: Algorithm::Sha1,
        manifests: vec![b"a.jsonl".to_vec(), b"\xff".to_vec()],
        ..header(vec![b"/disk".to_vec(), b"/".to_vec()])
    };
    let mut file = Vec::new();
    let mut writer = Writer::new(&header, &mut file).unwrap();
    for _ in 0..2 {
        writer.begin_group(group.size, &group.digest);
        for (cluster, member) in (0..).zip(&group.members) {
            writer.recorded_member(member, cluster, &mut file);
        }
        writer.end_group(&mut file);
    }
    let file = String::from_utf8(file).unwrap();
    // The second group lists the same paths, which is an error of its own.
    let mut lines: Vec<String> = file.lines().take(2).map(str::to_owned).collect();
    if from.is_empty() {
        let report = read_sealed(&lines);
        let recorded = report.as_ref().unwrap().recorded.as_ref().unwrap();
        assert_eq!((&recorded.manifests, &recorded.groups), (&header.manifests, &vec![group]));
        return report;
    }
    lines.iter_mut().for_each(|line| *line = line.replace(from, to));
    read_sealed(&lines)
}

fn read_sealed(lines: &[String]) -> Result<super::Report, ReportError> {
    let (mut seal, mut file) = (Seal::new(), Vec::new());
    for line in lines {
        let line = format!("{line}\n");
        seal.line(line.as_bytes());
        file.extend_from_slice(line.as_bytes());
    }
    seal.footer(&mut file);
    read(&file[..], false, &budget())
}

#[test]
fn a_report_of_manifests_has_other_members() {
    assert!(changed_recorded("", "").is_ok());
    for (from, to, why) in [
        ("{\"path\":\"a.jsonl\"},", "", "a manifest for each root"),
        ("sha1", "crc32", "algorithm"),
        ("abab", "xbab", "file system"),
        ("abab", "", "file system"),
        ("\"root\":0", "\"root\":1", "twice"),
        ("\"root\":1", "\"root\":2", "starting point"),
        ("\"root\":1,", "", "missing field `root`"),
        ("/disk/y", "/disk/../y", "not below"),
        ("0707", "07", "the digest is not a sha1 digest"),
    ] {
        match changed_recorded(from, to) {
            Err(ReportError::Line { problem, .. }) => {
                assert!(problem.to_string().contains(why), "{from} {to}: {problem}");
            }
            other => panic!("{from} {to}: {other:?}"),
        }
    }
}
