//! A shell on a terminal that runs the commands of a section, one after another.

use std::fs;

use crate::harness::{Dir, Page, Step};

use super::filters::stable;
use super::scene::Scene;

/// Ends the output of each command, before its number and status.
const MARK: char = '\u{1e}';

/// What a command did.
#[derive(Debug, PartialEq, Eq)]
struct Done {
    output: String,
    status: i32,
}

/// Runs the section below `heading`, and compares each output and status with the page.
///
/// # Panics
/// If one differs, or a command was not run. With `FTK_UPDATE_DOCS` set, different outputs go into the page instead.
pub(super) fn run(scene: &Scene, page: Page, heading: &str) {
    let section = page.section(heading);
    assert!(!section.steps.is_empty(), "{heading:?} has no commands");
    for file in &section.files {
        scene.save(&file.path, &file.text, file.is_script);
    }
    let done = execute(scene, &section.steps);
    let same = |(step, done): (&Step, &Done)| stable(&step.output) == stable(&done.output);
    if std::env::var_os("FTK_UPDATE_DOCS").is_some() {
        let outputs: Vec<String> = section
            .steps
            .iter()
            .zip(&done)
            .map(|(step, done)| if same((step, done)) { step.output.clone() } else { done.output.clone() })
            .collect();
        page.update(heading, &outputs);
        return;
    }
    for (nth, (step, done)) in section.steps.iter().zip(&done).enumerate() {
        assert!(
            same((step, done)),
            "{page:?}, {heading:?}: another output than in the page\n$ {}\n--- the page\n{}--- the command\n{}",
            step.command,
            step.output,
            done.output,
        );
        assert!(
            is_shown(done, section.steps.get(nth + 1)),
            "{page:?}, {heading:?}: the page does not show the status {}\n$ {}\n{}",
            done.status,
            step.command,
            done.output,
        );
    }
}

/// Whether the page shows the status: any but 0 must be in the output, or printed by the next command.
fn is_shown(done: &Done, next: Option<&Step>) -> bool {
    done.status == 0
        || done.output.contains(&format!("(status {})", done.status))
        || next.is_some_and(|next| next.command == "echo $?")
}

/// Runs all commands in one shell.
fn execute(scene: &Scene, steps: &[Step]) -> Vec<Done> {
    let script = scene.aside("session");
    fs::write(&script, self::script(steps)).unwrap();
    let run = scene.on_a_terminal(&format!("sh '{}'", script.display())).run();
    let done = parse(&run.text().replace(&scene.home(), "/home/ann"));
    run.check(done.len() == steps.len(), "not all commands were run");
    done
}

/// The commands, each followed by a mark and its status, which the next command still finds in `$?`.
fn script(steps: &[Step]) -> String {
    let mut script = String::from("stty cols 100\n");
    for (nth, step) in steps.iter().enumerate() {
        script +=
            &format!("{}\nstatus=$?; printf '\\036{nth} %d\\n' $status; (exit $status)\n", step.command);
    }
    script
}

/// The outputs and statuses, as far as they came in order.
fn parse(text: &str) -> Vec<Done> {
    let mut rest = &*text.replace("\r\n", "\n");
    let mut all = Vec::new();
    while let Some((output, after)) = rest.split_once(MARK) {
        let (mark, after) = after.split_once('\n').unwrap_or((after, ""));
        let Some(status) = mark.strip_prefix(&format!("{} ", all.len())).and_then(|it| it.parse().ok())
        else {
            break;
        };
        all.push(Done { output: lines(output), status });
        rest = after;
    }
    all
}

/// The lines as they are in the end: a progress line that was drawn and removed is gone, as are blanks at the end.
fn lines(output: &str) -> String {
    const REMOVED: &str = "\r\u{1b}[2K";
    let seen = |line: &str| line.rsplit(REMOVED).next().unwrap_or_default().trim_end().to_owned() + "\n";
    output.lines().map(seen).collect()
}

fn step(command: &str, output: &str) -> Step {
    Step { command: command.into(), output: output.into() }
}

#[test]
fn every_command_has_its_output_and_status() {
    let scene = Scene::new(Dir::new());
    let steps = [
        step("printf 'a\\nb\\n'; false", ""),
        step("echo $?", ""),
        step("cd /; x=1", ""),
        step("echo $x; pwd", ""),
    ];
    let done = execute(&scene, &steps);
    let expected = [("a\nb\n", 1), ("1\n", 0), ("", 0), ("1\n/\n", 0)];
    assert_eq!(done, expected.map(|(output, status)| Done { output: output.into(), status }));
}

#[test]
#[should_panic(expected = "not all commands were run")]
fn a_session_that_ends_early_is_found() {
    execute(&Scene::new(Dir::new()), &[step("exit 0", ""), step("echo", "")]);
}

#[test]
fn a_status_must_be_shown() {
    let done = |output: &str, status| Done { output: output.into(), status };
    assert!(is_shown(&done("", 0), None));
    assert!(is_shown(&done("  1 corrupted   (status 1)\n", 1), None));
    assert!(!is_shown(&done("  1 corrupted   (status 1)\n", 2), None));
    assert!(is_shown(&done("", 2), Some(&step("echo $?", "2\n"))));
    assert!(!is_shown(&done("", 1), Some(&step("true", ""))));
}

#[test]
fn removed_progress_is_no_output() {
    assert_eq!(lines("\r\u{1b}[2K1,000 files\r\u{1b}[2K  11 entries  \n"), "  11 entries\n");
}
