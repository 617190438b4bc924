//! A tree that lives for a year: files come, change, move and go, and every week something rots, in the tree, in the
//! parity file and in the manifest. All of it heals without a copy, and the parity file is only updated.

use std::collections::BTreeMap;
use std::fs;

use fastrand::Rng;

use super::super::records::{create, verify};
use super::parity::{flip, protect};
use super::repair_from;
use super::reprotect::reprotect;
use crate::harness::Dir;

/// The files, as they must be.
type Model = BTreeMap<String, Vec<u8>>;

fn content(random: &mut Rng) -> Vec<u8> {
    let len = match random.u8(..12) {
        0 => 0,
        11 => random.usize(65_536..300_000),
        1..8 => random.usize(1..3_000),
        _ => random.usize(3_000..60_000),
    };
    std::iter::repeat_with(|| random.u8(..)).take(len).collect()
}

fn any(random: &mut Rng, model: &Model) -> String {
    model.keys().nth(random.usize(..model.len())).unwrap().clone()
}

/// The edits of a week.
fn edit(random: &mut Rng, dir: &Dir, model: &mut Model, week: usize) {
    for nth in 0..random.usize(1..5) {
        let name = format!("{}/{week}-{nth}", random.u8(..4));
        let content = content(random);
        dir.file(&name, &content);
        model.insert(name, content);
    }
    for _ in 0..random.usize(..4) {
        let name = any(random, model);
        let content = content(random);
        // Another file, whose time differs.
        fs::remove_file(dir.path(&name)).unwrap();
        dir.file(&name, &content);
        model.insert(name, content);
    }
    for nth in 0..random.usize(..4) {
        let (old, new) = (any(random, model), format!("{}/{week}-moved-{nth}", random.u8(..4)));
        fs::create_dir_all(dir.path(&new).parent().unwrap()).unwrap();
        fs::rename(dir.path(&old), dir.path(&new)).unwrap();
        let content = model.remove(&old).unwrap();
        model.insert(new, content);
    }
    while model.len() > 40 || random.u8(..3) == 0 {
        let name = any(random, model);
        fs::remove_file(dir.path(&name)).unwrap();
        model.remove(&name);
    }
}

/// What rots in a week: bytes of a few files, and of the parity file, and of the manifest or all of it.
fn rot(random: &mut Rng, dir: &Dir, model: &Model) {
    for _ in 0..random.usize(1..4) {
        let name = any(random, model);
        let len = model[&name].len() as u64;
        for _ in 0..random.usize(1..3) {
            if len > 0 {
                flip(&dir.path(&name), random.u64(..len));
            }
        }
    }
    let len = fs::metadata(dir.aside("parity")).unwrap().len();
    for _ in 0..random.usize(..3) {
        flip(&dir.aside("parity"), random.u64(..len));
    }
    let manifest = dir.aside("manifest");
    let len = fs::metadata(&manifest).unwrap().len();
    match random.u8(..4) {
        0 => fs::remove_file(manifest).unwrap(),
        // The first line would no longer say that it is a manifest.
        1 => flip(&manifest, random.u64(len / 4..len)),
        _ => {}
    }
}

/// Lets a tree live for so many weeks.
fn live(weeks: usize, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let (dir, mut model) = (Dir::new(), Model::new());
    for nth in 0..25 {
        let (name, content) = (format!("{}/{nth}", nth % 4), content(&mut random));
        dir.file(&name, &content);
        model.insert(name, content);
    }
    create(&dir, &[]);
    protect(&dir, &["--redundancy", "80%"]).status(0);
    let mut rotten = 0;
    for week in 1..=weeks {
        rot(&mut random, &dir, &model);
        let is_rotten = |(name, content): (&String, &Vec<u8>)| fs::read(dir.path(name)).unwrap() != *content;
        rotten += model.iter().filter(|&it| is_rotten(it)).count();
        let run = repair_from(&dir, &["parity"], &["--yes"]);
        run.check(run.code() == 0, &format!("week {week} of the year {seed} heals"));
        for (name, content) in &model {
            assert!(
                fs::read(dir.path(name)).unwrap() == *content,
                "{name} in week {week} of the year {seed}"
            );
        }
        verify(&dir, &[]).status(0).stdout("");
        _ = fs::remove_file(dir.aside("manifest.damaged"));
        edit(&mut random, &dir, &mut model, week);
        reprotect(&dir, &[]).status(0);
    }
    assert!(rotten >= weeks, "{rotten}");
}

#[test]
fn a_month_of_rot_heals_without_a_copy() {
    live(5, 49);
}

#[test]
#[ignore = "takes minutes: years of 52 weeks, which a nightly run lives"]
fn years_of_rot_heal_without_a_copy() {
    (1..=3).for_each(|seed| live(52, seed));
}
