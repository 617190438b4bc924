//! The outputs made from the definition of the command line: completions, manual pages, and `--describe`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::harness::Dir;

#[test]
fn every_shell_has_its_script() {
    let dir = Dir::new();
    for (shell, name) in [("bash", "ftk"), ("zsh", "_ftk"), ("fish", "ftk.fish")] {
        let script = fs::read(format!("docs/completions/{name}")).unwrap();
        dir.ftk(["completions", shell]).run().status(0).stderr("").stdout(script);
    }
    for shell in ["elvish", "powershell"] {
        let run = dir.ftk(["completions", shell]).run().status(0).stderr("");
        run.check(run.text().contains("algorithm"), shell);
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let dir = Dir::new();
    dir.ftk(["man", "--install", "made/pages"])
        .run()
        .status(0)
        .stdout("")
        .stderr("  34 pages in 'made/pages'\n");
    let mut names: Vec<_> =
        fs::read_dir(dir.path("made/pages")).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    let commands = "cache cache-clear cache-forget cache-stats cache-trim calibrate cmp completions du dup dup-apply dup-prune dup-undo find hash help man manifest \
                    manifest-create manifest-diff manifest-export manifest-import manifest-merge manifest-plan manifest-protect manifest-repair manifest-scrub manifest-unique manifest-update manifest-verify query report undo";
    let pages = commands.split(' ').map(|command| format!("ftk-{command}.1"));
    let mut expected: Vec<_> = pages.chain(["ftk.1".to_owned()]).collect();
    expected.sort();
    let names: Vec<_> = names.iter().map(|name| name.to_str().unwrap()).collect();
    assert_eq!(names, expected);
    for name in names {
        let page = fs::read_to_string(dir.path("made/pages").join(name)).unwrap();
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "\"EXIT STATUS\"", "ENVIRONMENT"] {
            assert!(page.lines().any(|line| line == format!(".SH {section}")), "{name:?} lacks {section}");
        }
    }
    dir.file("file", b"")
        .ftk(["man", "--install", "file"])
        .run()
        .status(2)
        .stderr_has("ftk: cannot make 'file'");
    assert!(!dir.path("find").exists());
    dir.ftk(["man", "pages"])
        .run()
        .status(2)
        .stderr_has("ftk: there is no command 'pages'; to write all pages: ftk man --install DIR");
    // `man` itself ignores a full disk.
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    dir.ftk(["man", "find"]).stdout(full).run().status(2).stderr_has("cannot write to standard output");
    // Without the program `man`, the help is shown.
    let help = dir.ftk(["dup", "prune", "--help"]).run().text().to_owned();
    dir.ftk(["man", "dup", "prune"]).under(&dir, ["env", "PATH="]).run().status(0).stdout(help);
}

/// Returns all long options that the help of a command shows.
fn long_options(help: &str) -> BTreeSet<String> {
    let options = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let long = options.filter_map(|line| line.split([' ', ',', '[']).find(|word| word.starts_with("--")));
    long.map(Into::into).collect()
}

fn described(options: &Value) -> BTreeSet<String> {
    options.as_array().unwrap().iter().map(|it| format!("--{}", it["long"].as_str().unwrap())).collect()
}

#[test]
fn the_description_is_complete() {
    let dir = Dir::new();
    let run = dir.ftk(["--describe"]).run().status(0).stderr("");
    let all: Value = serde_json::from_str(run.text()).unwrap();
    let global = described(&all["options"]);
    let mut left: Vec<(Vec<&str>, &Value)> = Vec::new();
    let commands = all["commands"].as_array().unwrap();
    left.extend(commands.iter().map(|command| (Vec::new(), command)));
    let mut seen = 0;
    while let Some((mut words, command)) = left.pop() {
        words.push(command["name"].as_str().unwrap());
        // The help of an installed ftk-query is its own.
        let help = match words[..] {
            ["query"] => dir.ftk(["help", "query"]).run().status(0),
            _ => dir.ftk(words.iter().copied().chain(["--help"])).run().status(0),
        };
        let own = command.get("options").map(described).unwrap_or_default();
        let shown = long_options(help.text());
        // The help of a command does not show global options that have no effect on it.
        assert!(own.is_subset(&shown), "{words:?}");
        let known = &own | &BTreeSet::from(["--help".to_owned()]);
        assert!(shown.is_subset(&(&known | &global)), "{words:?}");
        let below = command.get("commands").and_then(Value::as_array);
        left.extend(below.into_iter().flatten().map(|command| (words.clone(), command)));
        seen += 1;
    }
    assert_eq!((commands.len(), seen), (14, 33));
    let hash = commands.iter().find(|it| it["name"] == "hash").unwrap();
    let option =
        |long: &str| hash["options"].as_array().unwrap().iter().find(|it| it["long"] == long).unwrap();
    assert_eq!(option("algorithm")["short"], "a");
    assert_eq!(option("algorithm")["possible_values"].as_array().unwrap().len(), 17);
    assert!(option("check").get("value").is_none());
    // `ftk describe` prints the same.
    dir.ftk(["describe"]).run().status(0).stdout(&run.out);
}
