//! Ten thousand parts, and few descriptors.

use std::fs;
use std::io::Write as _;

use ftk_hash::Algorithm;
use ftk_record::ZstdWriter;
use serde_json::Value;

use super::entries;
use crate::harness::{Dir, is_too_slow};
use crate::manifest::records::{lines, seal};

const PARTS: usize = 10_000;

/// The lines of the part of each shard, without the header.
type Lines = Vec<Vec<String>>;

/// A tree of as many entries as parts, its manifest, and a plan.
fn recorded() -> Dir {
    let dir = Dir::on_disk();
    for nth in 0..PARTS - 101 {
        dir.file(format!("real/{}/{nth}", nth % 100), format!("{nth}").as_bytes());
    }
    dir.dir("parts");
    dir.ftk(["manifest", "create", "-q", "real", "-o", "whole.jsonl"]).run().status(0);
    let plan = ["manifest", "plan", "-q", "--shards", &PARTS.to_string(), "whole.jsonl", "-o", "plan"];
    dir.ftk(plan).run().status(0);
    dir
}

/// Writes the parts of all shards, with the header of the first one.
fn write(dir: &Dir, plan: &[&str], shards: &[String], of_shards: &Lines, is_compressed: bool) {
    let first = [
        "manifest",
        "create",
        "-q",
        "--shard",
        &format!("1/{PARTS}"),
        "real",
        "-o",
        "first.jsonl",
        "--force",
    ];
    dir.ftk(first).args(plan).run().status(0);
    let first = fs::read_to_string(dir.path("first.jsonl")).unwrap();
    let (header, _) = first.lines().next().unwrap().split_once(",\"shard\":{").unwrap();
    for ((shard, lines), number) in shards.iter().zip(of_shards).zip(1..) {
        let header = format!("{header},\"shard\":{{\"number\":{number},\"of\":{PARTS}{shard}}}}}");
        let part = seal(&[&[header], &**lines].concat());
        let path = dir.path(format!("parts/{number:05}.jsonl"));
        if is_compressed {
            let mut file = ZstdWriter::new(fs::File::create(path).unwrap()).unwrap();
            file.write_all(part.as_bytes()).unwrap();
            file.finish().unwrap();
        } else {
            fs::write(path, part).unwrap();
        }
    }
}

/// Merges the parts with 100 descriptors, and compares the result with the manifest of a single run.
fn merged(dir: &Dir, memory: &str) {
    let mut merge = ["manifest", "merge", "-q", "--memory", memory, "-o", "merged.jsonl", "--force"]
        .map(str::to_owned)
        .to_vec();
    merge.extend((1..=PARTS).map(|number| format!("parts/{number:05}.jsonl")));
    dir.ftk(merge).limit(dir, "-n 100").run().status(0);
    let [whole, merged] = ["whole.jsonl", "merged.jsonl"].map(|name| fs::read(dir.path(name)).unwrap());
    assert_eq!(entries(&merged), entries(&whole));
}

#[test]
fn ten_thousand_parts_are_merged_with_100_descriptors() {
    if is_too_slow("tests with 10,000 parts") {
        return;
    }
    let dir = recorded();
    let all = lines(&dir.path("whole.jsonl"));
    let plan = fs::read_to_string(dir.path("plan")).unwrap();
    let digest = plan.lines().last().unwrap().split('"').rev().nth(1).unwrap();
    let (mut shards, mut of_shards, mut rest) = (Vec::new(), Lines::new(), &all[1..]);
    for line in plan.lines().skip(1).take(PARTS) {
        let shard: Value = serde_json::from_str(line).unwrap();
        let bound = |name: &str| shard.get(name).map_or(String::new(), |path| format!(",\"{name}\":{path}"));
        shards.push(format!(",\"plan\":\"{digest}\"{}{}", bound("from"), bound("to")));
        let (own, others) = rest.split_at(shard["entries"].as_u64().unwrap() as usize);
        of_shards.push(own.to_vec());
        rest = others;
    }
    write(&dir, &["--plan", "plan"], &shards, &of_shards, false);
    merged(&dir, "10M");

    let mut of_shards = vec![Vec::new(); PARTS];
    for line in &all[1..] {
        let path = serde_json::from_str::<Value>(line).unwrap()["path"].as_str().unwrap().to_owned();
        let shard = path.rsplit_once('/').map_or(0, |(dir, _)| {
            let digest = Algorithm::Xxh3.hash_one(dir.as_bytes());
            u64::from_be_bytes(digest.as_bytes().try_into().unwrap()) % PARTS as u64
        });
        of_shards[shard as usize].push(line.clone());
    }
    let shards = vec![String::new(); PARTS];
    write(&dir, &[], &shards, &of_shards, false);
    merged(&dir, "1G");
    // 4 MiB for each compressed part would be 42 GB.
    write(&dir, &[], &shards, &of_shards, true);
    merged(&dir, "1G");
    dir.ftk(["manifest", "verify", "real", "parts", "--memory", "1G"]).limit(&dir, "-n 100").run().status(0);
}
