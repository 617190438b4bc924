//! The whole way in a real browser: a tree, its page, decisions by clicks, a download, `ftk dup apply`, and `ftk undo`.

#[path = "../../crates/report/tests/browser/chrome.rs"]
#[expect(dead_code, reason = "the tests of the page use the rest")]
mod chrome;

use std::fs;
use std::path::{Path, PathBuf};

use fantoccini::Locator;

use self::chrome::{Chrome, open_file};
use super::decisions::known;
use crate::harness::{Dir, Run};

/// Makes a page of `t`, ticks the copies with these names, and returns the file that the browser saves. `None` where
/// Chromium is missing, except under CI.
fn decided(dir: &Dir, options: &[&str], ticks: &[&str]) -> Option<PathBuf> {
    let (page, downloads) = (dir.aside("page.html"), dir.aside("downloads"));
    fs::create_dir(&downloads).unwrap();
    dir.ftk(["report", "--dup", "t", "-o"]).arg(&page).args(options).run().status(0).stderr_lacks("error");
    let mut saved = None;
    open_file(&page, &downloads, async |chrome: &Chrome| {
        chrome.click(Locator::Id("tab-duplicates")).await;
        for name in ticks {
            let path = format!("//label[span[text()='{name}']]/input");
            chrome.click(Locator::XPath(&path)).await;
        }
        chrome.click(Locator::Css("[data-part=save]")).await;
        saved = Some(chrome.saved("t.decisions.jsonl").await);
    });
    saved
}

/// Runs `ftk dup apply` with the saved file.
fn apply(dir: &Dir, saved: &Path, options: &[&str]) -> Run {
    dir.ftk(["dup", "apply", "--action", "delete", "--quarantine", "away"]).args(options).arg(saved).run()
}

fn undo(dir: &Dir) {
    dir.ftk(["undo", "--last"]).run().status(0);
}

#[test]
fn files_are_decided_in_the_browser_applied_and_undone() {
    let dir = super::decisions::tree();
    let before = known(&dir);
    let Some(saved) = decided(&dir, &[], &["t/b/film.mov = t/b/linked.mov"]) else { return };
    apply(&dir, &saved, &[]).status(0);
    assert_eq!(known(&dir), before, "without --yes there is only a plan");
    apply(&dir, &saved, &["--yes"]).status(0);
    for (name, stays) in
        [("a/film.mov", false), ("b/film.mov", true), ("b/linked.mov", true), ("c/film.mov", false)]
    {
        assert_eq!(dir.path("t").join(name).exists(), stays, "{name}");
    }
    assert_eq!(known(&dir).len(), before.len() - 2);
    undo(&dir);
    assert_eq!(known(&dir), before);
}

#[test]
fn directories_are_decided_in_the_browser_applied_and_undone() {
    let dir = super::decisions::albums();
    let before = known(&dir);
    let ticks = ["t/backup/album/", "t/loose/one.jpg"];
    let Some(saved) = decided(&dir, &["--dirs"], &ticks) else { return };
    apply(&dir, &saved, &[]).status(0);
    assert_eq!(known(&dir), before, "without --yes there is only a plan");
    apply(&dir, &saved, &["--yes"]).status(0);
    assert!(!dir.path("t/album").exists() && dir.path("t/backup/album/<b>.jpg").exists());
    assert!(dir.path("t/loose/one.jpg").exists() && !dir.path("t/loose/two.jpg").exists());
    undo(&dir);
    assert_eq!(known(&dir), before);
}
