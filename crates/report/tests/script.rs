//! Runs the tests of the page's script in Node.js, which has its own test runner, and checks its style.

use std::process::Command;

#[test]
fn the_script_passes_its_tests() {
    let node = Command::new("node")
        .arg("--test")
        .args(
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/script"))
                .unwrap()
                .map(|it| it.unwrap().path()),
        )
        .output();
    let output = match node {
        Ok(output) => output,
        // Without CI the test is skipped where Node.js is missing.
        Err(_) if std::env::var_os("CI").is_none() => return,
        Err(error) => panic!("node is needed: {error}"),
    };
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    assert!(shown.contains("# pass ") && !shown.contains("# pass 0\n"), "{shown}");
}

#[test]
fn script_and_style_are_formatted_and_without_warnings() {
    let root = env!("CARGO_MANIFEST_DIR");
    let biome = format!("{root}/../../target/web/node_modules/.bin/biome");
    let output = match Command::new(biome).args(["ci", "--error-on-warnings", "--colors=off", root]).output()
    {
        Ok(output) => output,
        Err(_) if std::env::var_os("CI").is_none() => return,
        Err(error) => panic!("biome is needed: {error}"),
    };
    let shown = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&shown));
}
