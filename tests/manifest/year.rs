//! A year of a tree that is edited and rots, is watched by `update` and `scrub`, and restored by `repair`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::damage::rot;
use super::records::{Manifest, create, json as objects};
use crate::harness::{Dir, bytes, sha256};

const FILES: u64 = 400;
const WEEKS: u64 = 52;
/// A quarter of the tree is read every week.
const ROUND: u64 = 4;
/// Files that rot every week: many more than on real disks, so that they are found in a small tree.
const ROTTING: usize = 2;

/// What a tree should contain.
struct Year {
    dir: Dir,
    /// The content that users gave each file: its seed and length.
    contents: BTreeMap<String, (u64, usize)>,
    /// When each damaged file rotted.
    rotten: BTreeMap<String, u64>,
    /// Damaged files that were reported.
    found: BTreeSet<String>,
    draws: u64,
}

impl Year {
    fn new() -> Self {
        let mut year = Self {
            dir: Dir::new(),
            contents: BTreeMap::new(),
            rotten: BTreeMap::new(),
            found: BTreeSet::new(),
            draws: 0,
        };
        (0..FILES).for_each(|nth| year.write(format!("d{}/f{nth}", nth % 9)));
        create(&year.dir, &[]);
        year
    }

    /// Returns an arbitrary number below `n`.
    fn draw(&mut self, n: usize) -> usize {
        self.draws += 1;
        usize::from_le_bytes(bytes(self.draws, 8).try_into().unwrap()) % n
    }

    /// Returns an intact file.
    fn intact(&mut self) -> String {
        loop {
            let nth = self.draw(self.contents.len());
            let path = self.contents.keys().nth(nth).unwrap().clone();
            if !self.rotten.contains_key(&path) {
                return path;
            }
        }
    }

    fn write(&mut self, path: String) {
        let (seed, len) = (self.draw(usize::MAX) as u64, 1 + self.draw(5000));
        self.dir.file(&path, &bytes(seed, len));
        let copy = self.dir.aside("copy").join(&path);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(copy, bytes(seed, len)).unwrap();
        self.contents.insert(path, (seed, len));
    }

    /// Users edit, create, remove and rename files.
    fn edit(&mut self, week: u64) {
        for _ in 0..5 {
            let path = self.intact();
            self.write(path);
        }
        self.write(format!("d3/new{week}"));
        let removed = self.intact();
        fs::remove_file(self.dir.path(&removed)).unwrap();
        self.contents.remove(&removed);
        let (from, to) = (self.intact(), format!("d4/renamed{week}"));
        fs::rename(self.dir.path(&from), self.dir.path(&to)).unwrap();
        let content = self.contents.remove(&from).unwrap();
        self.contents.insert(to, content);
    }

    fn rot(&mut self, week: u64) {
        let mut paths = BTreeSet::new();
        while paths.len() < ROTTING {
            paths.insert(self.intact());
        }
        let paths: Vec<_> = paths.into_iter().collect();
        rot(&self.dir.path(""), &self.dir.aside("manifest"), &paths);
        self.rotten.extend(paths.into_iter().map(|path| (path, week)));
    }

    /// Runs a command, and notes the damaged files that it reports.
    fn run(&mut self, args: &[&str]) {
        let run = self.dir.ftk(["manifest"]).args(args).run();
        let is_scrub = args[0] == "scrub";
        let said: BTreeSet<_> = match is_scrub {
            true => objects(&run).iter().filter_map(|it| Some(it["path"].as_str()?.to_owned())).collect(),
            false => run
                .err
                .lines()
                .filter_map(|line| Some(line.split_once("' is corrupted")?.0[6..].into()))
                .collect(),
        };
        run.check(said.iter().all(|path| self.rotten.contains_key(path)), "only damage is reported");
        // What was found once is reported again until it is repaired.
        run.check(said.is_superset(&self.found), "no damage is forgotten");
        run.check(run.code() == i32::from(!said.is_empty()), "the status tells");
        self.found.extend(said);
    }

    /// Restores the files whose damage was reported, from a copy in which removed files and old names still exist.
    fn repair(&mut self, week: u64) {
        let journal = format!("../journal{week}");
        let args = ["repair", ".", "../manifest", "--from", "../copy", "--yes", "--journal", &journal];
        let run = self.dir.ftk(["manifest"]).args(args).run().status(0);
        let repaired = std::mem::take(&mut self.found);
        run.check(repaired.iter().all(|path| run.text().contains(&**path)), "all damage is repaired");
        for path in &repaired {
            let (seed, len) = self.contents[path];
            assert!(fs::read(self.dir.path(path)).unwrap() == bytes(seed, len), "{path}");
            self.rotten.remove(path);
        }
        self.check();
    }

    /// The manifest records every file as its users left it.
    fn check(&self) {
        let manifest = Manifest::read(&self.dir.aside("manifest"));
        let files = manifest.entries.iter().filter(|(_, entry)| entry["type"] == "file");
        let recorded: BTreeMap<_, _> = files
            .map(|(path, entry)| {
                (str::from_utf8(path).unwrap().to_owned(), entry["digests"]["sha256"].clone())
            })
            .collect();
        let expected: BTreeMap<_, _> = self
            .contents
            .iter()
            .map(|(path, &(seed, len))| (path.clone(), sha256(&bytes(seed, len)).into()))
            .collect();
        assert!(recorded == expected, "the manifest is complete, and damage is not recorded as correct");
    }
}

#[test]
fn a_year_of_weekly_scrubs_finds_all_damage_within_four_weeks() {
    let mut year = Year::new();
    let (mut found, part) = (0, format!("1/{ROUND}"));
    for week in 1..=WEEKS {
        year.edit(week);
        year.run(&["update", ".", "../manifest", "-o", "../manifest"]);
        year.check();
        year.rot(week);
        year.run(&["scrub", "--json", "--part", &part, ".", "../manifest"]);
        year.check();
        let late: Vec<_> = year
            .rotten
            .iter()
            .filter(|(path, since)| !year.found.contains(*path) && week - **since + 1 >= ROUND)
            .collect();
        assert!(late.is_empty(), "week {week}: not found: {late:?}");
        // Every other week, so that damage is also reported by later runs.
        if week % 2 == 0 {
            found += year.found.len();
            year.repair(week);
        }
    }
    assert!(found >= (WEEKS as usize - ROUND as usize) * ROTTING, "{found}");
    year.run(&["scrub", "--json", ".", "../manifest"]);
    assert_eq!(year.found.len() + found, WEEKS as usize * ROTTING);
    year.repair(WEEKS + 1);
    year.run(&["scrub", "--json", ".", "../manifest"]);
    assert!(year.rotten.is_empty() && year.found.is_empty(), "nothing is left");
}
