//! The terminal after a panic. `script` provides one.

use std::process::{Command, Stdio};

use ftk_browse::{Browser, Plan, Row, Source, Total, run};

/// Panics when it is drawn.
struct Broken;

impl Source for Broken {
    fn rows(&mut self, _: Option<u64>) -> Result<Vec<Row>, String> {
        Ok(vec![Row::default()])
    }

    fn is_marked(&self, _: u64) -> bool {
        panic!("broken on purpose")
    }

    fn mark(&mut self, _: u64) -> Result<(), String> {
        Ok(())
    }

    fn marked(&self) -> Total {
        Total::default()
    }

    fn plan(&mut self) -> Plan {
        Plan::default()
    }
}

#[test]
#[ignore = "panics: the test below runs it in a terminal of its own"]
fn panics_in_a_terminal() {
    _ = run(&mut Browser::new(Broken, String::new()), false, || true);
}

#[test]
fn a_panic_restores_the_terminal_before_its_message() {
    let this = std::env::current_exe().unwrap();
    let line = format!(
        "stty rows 24 cols 80; '{}' --exact panics_in_a_terminal --ignored --nocapture; stty -a",
        this.display()
    );
    let script = Command::new("script").args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output();
    let Ok(output) = script else { return };
    let shown = String::from_utf8_lossy(&output.stdout);
    let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text:?} in {shown:?}"));
    assert!(place("\x1b[?1049h") < place("\x1b[?1049l"), "{shown:?}");
    assert!(place("\x1b[?1049l") < place("broken on purpose"), "{shown:?}");
    // The terminal reads whole lines again, and shows what is typed.
    assert!(shown.contains(" icanon") && shown.contains(" echo "), "{shown:?}");
}
