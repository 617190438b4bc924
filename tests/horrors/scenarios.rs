//! The scenarios in `xtask/horrors`, run with ftk. `cargo xtask horrors` runs them with its peers.

use std::fs;
use std::path::Path;

use horrors::{FAMILIES, Place, Verdict};

use crate::harness::{Dir, has, is_too_slow, skip};

/// Makes a test of each scenario. The tests of a file have the order of its scenarios.
macro_rules! scenarios {
    ($($file:ident: $($test:ident)+;)+) => {
        $(mod $file { $(#[test] fn $test() { super::run(stringify!($file), stringify!($test)); })+ })+
        const TESTS: &[(&str, &[&str])] = &[$((stringify!($file), &[$(stringify!($test)),+])),+];
    };
}

scenarios! {
    duplicates: h01 h02 h04 h05 h06_1 h06_2 h07 h08_1 h08_2 h11 h12 h13 h15 h16 h20_1 h20_2 h21 h22 h27_1
        h27_2 h32 h33 h35 h36 h39 h44 h47 h48 h49 h52 h64 h66 h67 h71 h72 h73 h79;
    views: h58_1 h58_2 h58_3 h58_4;
    sums: h17 h18 h19 h22 h26_1 h26_2 h26_3 h27 h29 h34 h35_1 h35_2 h36 h38 h39 h46 h47 h48 h49 h50 h51_1
        h51_2 h52 h53 h65 h66 h79 h84;
    manifests: h22 h26 h27 h28_1 h28_2 h28_3 h28_4 h28_5 h28_6 h28_7 h28_8 h28_9 h28_10 h28_11 h29 h35
        h36 h39 h47 h48 h49 h51 h52 h53 h60 h61 h63 h80 h82;
    compare: h20 h22 h27 h32_1 h32_2 h35_1 h35_2 h36_1 h36_2 h38 h39 h46 h47 h48 h49 h52 h67 h79;
    find: h20 h22 h27_1 h27_2 h36 h39 h45 h47 h48 h50 h52 h54_1 h54_2 h79 h83;
}

/// The number of the entry in the name of a test.
fn number(test: &str) -> u8 {
    test[1..3].parse().unwrap()
}

/// The tests are those of the scenarios that have commands of ftk.
#[test]
fn every_scenario_has_a_test() {
    for (family, (file, tests)) in FAMILIES.iter().zip(TESTS) {
        let scenarios = family.scenarios.iter().filter(|scenario| scenario.lines("ftk").is_some());
        assert_eq!(family.name, *file);
        assert!(
            scenarios.map(|scenario| scenario.number).eq(tests.iter().map(|test| number(test))),
            "{file}"
        );
    }
    assert_eq!(FAMILIES.len(), TESTS.len());
}

/// ftk must pass, except that it refuses `-empty`, and says what to use instead.
fn run(file: &str, test: &str) {
    let family = FAMILIES.iter().find(|family| family.name == file).unwrap();
    let tests = TESTS.iter().find(|(name, _)| *name == file).unwrap().1;
    let nth = tests.iter().position(|name| *name == test).unwrap();
    let mut scenarios = family.scenarios.iter().filter(|scenario| scenario.lines("ftk").is_some());
    let scenario = scenarios.nth(nth).unwrap();
    let lines = scenario.lines("ftk").unwrap();
    // `setfattr` is in the package of `getfattr`.
    let tools = [("strace ", "strace"), ("script -qec", "script"), ("setfattr ", "getfattr")];
    if tools.iter().any(|(part, tool)| lines.contains(part) && !has(tool))
        || (family.mount.is_some() && is_too_slow("mounts of FUSE"))
    {
        return;
    }
    let dir = Dir::on_disk();
    let (program, programs) = (Path::new(env!("CARGO_BIN_EXE_ftk")), dir.aside("bin"));
    fs::create_dir(&programs).unwrap();
    let copy = programs.join("ftk");
    fs::hard_link(program, &copy).or_else(|_| fs::copy(program, &copy).map(drop)).unwrap();
    let place = Place::new(dir.aside("place"), &programs, || Ok(())).unwrap();
    let Some((verdict, seen)) = family.run(scenario, &place, lines).unwrap() else {
        assert!(std::env::var_os("FTK_TEST_FUSE").is_none(), "a file system cannot be mounted");
        return skip("a file system cannot be mounted");
    };
    let runs: String = seen.runs.iter().map(ToString::to_string).collect();
    let is_expected = match (file, scenario.number) {
        ("find", 79) => matches!(verdict, Verdict::Refuses(_)),
        _ => verdict == Verdict::Passes,
    };
    assert!(is_expected, "{}: {verdict:?}\n{}\n{runs}", scenario.title, scenario.setup);
}
