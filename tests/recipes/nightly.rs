//! The nightly check, run as cron and systemd run it.

use std::fs;

use crate::harness::{Run, needs};

use super::page::RECIPES;
use super::scene::Scene;
use super::session::run;

/// The heading of the recipe.
pub(super) const HEADING: &str = "Check every night, with mail about damage and changes";

/// What the check prints about the damaged film.
const DAMAGE: &str = "corrupted\tfilm/reel-03.mov\tcontent changed, size and mtime did not, sha256 ";

/// Runs the job that the recipe gave to `crontab`, in the environment that crontab(5) describes.
fn as_cron(scene: &Scene) -> Run {
    let jobs = scene.fake("jobs").expect("the recipe installs a job");
    let command = jobs.trim_end().splitn(6, ' ').nth(5).expect("five times and a command");
    let variables = ["LOGNAME=ann", "SHELL=/bin/sh", "PATH=/usr/bin:/bin"];
    scene.with(&variables, &["/bin/sh", "-c", command]).run()
}

/// Runs what the unit file starts.
fn as_systemd(scene: &Scene) -> Run {
    let fake = scene.aside("fake");
    let systemctl = fake.join("systemctl");
    let command = [systemctl.to_str().expect("UTF-8"), "--user", "start", "check-archive.service"];
    let fake = format!("FAKE={}", fake.display());
    scene.with(&[&fake, "PATH=/usr/bin:/bin"], &command).run()
}

#[test]
fn recipe_nightly_check() {
    needs!("script");
    let scene = Scene::with_archive();
    run(&scene, RECIPES, HEADING);

    // cron mails whatever a job prints, so an intact archive must print nothing.
    as_cron(&scene).status(0).stdout("").stderr("");
    as_systemd(&scene).status(0).stdout("").stderr("");
    assert_eq!(scene.fake("sent"), None, "an intact archive sends no mail");

    // The accepted record, which may be signed, stays as it is until a review.
    let accepted = fs::read(scene.path("archive.jsonl")).unwrap();
    fs::remove_file(scene.path("archive/film/reel-02.mov")).unwrap();
    scene.file("archive/new.txt", b"new files need no review\n");
    for _ in 0..2 {
        as_cron(&scene).status(1).stdout("removed\tfilm/reel-02.mov\tsize 250000\n").stderr("");
    }
    as_systemd(&scene).status(1);
    assert!(scene.fake("sent").is_some_and(|mail| mail.contains("removed\tfilm/reel-02.mov")));
    assert_eq!(fs::read(scene.path("archive.jsonl")).unwrap(), accepted);
    fs::copy(scene.path("nightly.jsonl"), scene.path("archive.jsonl")).unwrap();
    as_cron(&scene).status(0).stdout("").stderr("");

    scene.damage("archive");
    let run = as_cron(&scene).status(1).stderr("");
    run.check(run.text().starts_with(DAMAGE) && run.text().lines().count() == 1, "damage is reported once");
    as_systemd(&scene).status(1);
    let mail = scene.fake("sent").expect("damage is mailed");
    assert!(mail.contains(DAMAGE) && mail.contains("bin/check-archive failed on "), "{mail}");

    // An error wins over damage, whichever command it comes from.
    fs::write(scene.path("nightly.jsonl"), "no manifest\n").unwrap();
    as_cron(&scene).status(2);
}
