//! Rules for the repository as a whole.

use super::tree::{Finding, Tree};

/// Passages from the beginning and the end of each licence.
const LICENCE_PASSAGES: &[&str] = &[
    "Permission is hereby granted, free of charge",
    "OUT OF OR IN CONNECTION WITH THE SOFTWARE",
    "Version 2.0, January 2004",
    "END OF TERMS AND CONDITIONS",
];

/// Top-level folders that exist on one machine only. They are written without slashes, because this file is checked
/// too.
const MACHINE_FOLDERS: &[&str] = &["root", "work", "bench"];

/// `LICENSE` contains both licences that the manifests name.
pub(crate) fn licences(tree: &Tree) -> Vec<Finding> {
    let text = tree.get("LICENSE").unwrap_or_default();
    LICENCE_PASSAGES
        .iter()
        .filter(|passage| !text.contains(**passage))
        .map(|passage| Finding::file("LICENSE", format!("lacks {passage:?}")))
        .collect()
}

/// Every crate has the text of `LICENSE`, usually as a symbolic link: its package contains only files below its folder.
pub(crate) fn licences_of_crates(tree: &Tree) -> Vec<Finding> {
    let folders = tree.ending("/Cargo.toml").filter_map(|(path, _)| path.strip_suffix("Cargo.toml"));
    let licences =
        folders.filter(|path| path.starts_with("crates/")).map(|folder| format!("{folder}LICENSE"));
    licences
        .filter(|path| tree.get(path).is_none_or(|text| Some(text) != tree.get("LICENSE")))
        .map(|path| Finding::file(&path, "is not a link to the LICENSE of the repository"))
        .collect()
}

/// The changelog begins with a section for unreleased changes.
pub(crate) fn changelog(tree: &Tree) -> Vec<Finding> {
    let text = tree.get("CHANGELOG.md").unwrap_or_default();
    let newest = text.lines().find(|line| line.starts_with("## "));
    if newest == Some("## Unreleased") {
        return Vec::new();
    }
    vec![Finding::file("CHANGELOG.md", "the first heading is not \"## Unreleased\"")]
}

/// No file contains a path that exists on one machine only.
pub(crate) fn machine_paths(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending("") {
        for (line, number) in text.lines().zip(1..) {
            for folder in MACHINE_FOLDERS.iter().filter(|folder| has_top_level(line, folder)) {
                findings.push(Finding::line(
                    path,
                    number,
                    format!("the path below /{folder} exists on one machine only"),
                ));
            }
        }
    }
    findings
}

/// Whether `line` contains an absolute path into the folder. `target/bench/` is not one.
fn has_top_level(line: &str, folder: &str) -> bool {
    line.match_indices(&format!("/{folder}/"))
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-})*".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_licence_is_found() {
        assert_eq!(licences(&Tree::default()).len(), LICENCE_PASSAGES.len());
        let whole = LICENCE_PASSAGES.join("\n");
        assert_eq!(licences(&Tree::of(&[("LICENSE", &whole)])), []);
        for passage in LICENCE_PASSAGES {
            let found = licences(&Tree::of(&[("LICENSE", &whole.replace(passage, ""))]));
            assert_eq!(found.len(), 1, "{passage}");
        }
    }

    #[test]
    fn a_crate_without_its_licence_is_found() {
        let tree = |files: &[(&str, &str)]| {
            let same = [("LICENSE", "text"), ("crates/a/Cargo.toml", ""), ("xtask/Cargo.toml", "")];
            licences_of_crates(&Tree::of(&[&same, files].concat()))
        };
        assert_eq!(tree(&[("crates/a/LICENSE", "text")]), []);
        for bad in [&[][..], &[("crates/a/LICENSE", "other")], &[("crates/b/LICENSE", "text")]] {
            let found = tree(bad);
            assert_eq!(found.len(), 1, "{bad:?}");
            assert!(found[0].to_string().starts_with("crates/a/LICENSE: "), "{found:?}");
        }
    }

    #[test]
    fn a_changelog_without_unreleased_section_is_found() {
        assert_eq!(
            changelog(&Tree::of(&[("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 0.1.0\n")])),
            []
        );
        assert_eq!(
            changelog(&Tree::of(&[("CHANGELOG.md", "# Changelog\n\n## 0.1.0\n## Unreleased\n")])).len(),
            1
        );
        assert_eq!(changelog(&Tree::default()).len(), 1);
    }

    #[test]
    fn a_path_that_exists_on_one_machine_is_found() {
        for folder in MACHINE_FOLDERS {
            let bad = [format!("see /{folder}/x"), format!("\"/{folder}/\""), format!("=/{folder}/a")];
            for text in bad {
                let found = machine_paths(&Tree::of(&[("docs/a.md", &format!("first\n{text}\n"))]));
                assert_eq!(found.len(), 1, "{text}");
                assert!(found[0].to_string().starts_with("docs/a.md:2: "));
            }
            for text in [format!("target/{folder}/x"), format!("../{folder}/x"), format!("/{folder}s/x")] {
                assert_eq!(machine_paths(&Tree::of(&[("docs/a.md", &text)])), [], "{text}");
            }
        }
    }
}
