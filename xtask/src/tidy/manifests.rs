//! Rules for `Cargo.toml` files.

use super::tree::{Finding, Tree};

/// Fields that every package inherits from the workspace. Unpublished packages need not inherit the version.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];

/// The workspace crates that each library crate may depend on. Every library crate must be listed.
const MAY_USE: &[(&str, &[&str])] = &[
    ("ftk-apply", &["ftk-compare", "ftk-inventory", "ftk-read", "ftk-record", "ftk-sched"]),
    ("ftk-compare", &["ftk-inventory", "ftk-read", "ftk-sched", "ftk-walk"]),
    (
        "ftk-dedup",
        &["ftk-compare", "ftk-hash", "ftk-inventory", "ftk-process", "ftk-read", "ftk-record", "ftk-sched"],
    ),
    ("ftk-hash", &[]),
    ("ftk-inventory", &["ftk-walk"]),
    (
        "ftk-manifest",
        &["ftk-hash", "ftk-inventory", "ftk-process", "ftk-read", "ftk-record", "ftk-sched", "ftk-walk"],
    ),
    ("ftk-process", &["ftk-hash", "ftk-inventory", "ftk-read", "ftk-sched"]),
    ("ftk-read", &[]),
    ("ftk-record", &[]),
    ("ftk-sched", &[]),
    ("ftk-select", &["ftk-walk"]),
    ("ftk-walk", &[]),
];

/// Dependencies that only a program may have.
const FOR_PROGRAMS: &[&str] = &["anstream", "anyhow", "clap", "indicatif"];

/// Packages inherit fields, lints and versions of dependencies from the root manifest.
pub(crate) fn inherited_fields(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending("Cargo.toml") {
        let unpublished = entries(text).any(|e| (e.section, e.line) == ("package", "publish = false"));
        for field in INHERITED.iter().filter(|field| !(unpublished && **field == "version")) {
            let inherits =
                |e: Entry<'_>| e.section == "package" && e.line == format!("{field}.workspace = true");
            if !entries(text).any(inherits) {
                findings.push(Finding::file(path, format!("`{field}` is not inherited from the workspace")));
            }
        }
        if !entries(text).any(|e| (e.section, e.line) == ("lints", "workspace = true")) {
            findings.push(Finding::file(path, "the lints are not inherited from the workspace"));
        }
        for entry in
            entries(text).filter(|e| is_dependencies(e.section) && e.section != WORKSPACE_DEPENDENCIES)
        {
            if !["workspace = true", "workspace=true"].iter().any(|inherits| entry.line.contains(inherits)) {
                let what = format!("`{}` does not inherit its version from the workspace", entry.name());
                findings.push(Finding::line(path, entry.number, what));
            }
        }
    }
    findings
}

/// Crates depend on each other only as listed in [`MAY_USE`].
pub(crate) fn crate_dependencies(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending("/Cargo.toml").filter(|(path, _)| path.starts_with("crates/")) {
        let name = entries(text)
            .find_map(|e| (e.section == "package").then(|| e.line.strip_prefix("name = "))?)
            .map_or("", |name| name.trim_matches('"'));
        let Some((_, allowed)) = MAY_USE.iter().find(|(crate_name, _)| *crate_name == name) else {
            findings.push(Finding::file(
                path,
                format!("xtask does not list the crates that `{name}` may depend on"),
            ));
            continue;
        };
        for entry in
            entries(text).filter(|e| is_dependencies(e.section) && !e.section.ends_with("dev-dependencies"))
        {
            let used = entry.name();
            if used.starts_with("ftk-") && !allowed.contains(&used) {
                findings.push(Finding::line(
                    path,
                    entry.number,
                    format!("`{name}` may not depend on `{used}`"),
                ));
            }
            if FOR_PROGRAMS.contains(&used) {
                findings.push(Finding::line(path, entry.number, format!("`{used}` is for programs")));
            }
        }
    }
    findings
}

/// The packages that a manifest needs to build the library or program itself, on any platform: all but those of its
/// tests and build scripts.
pub(super) fn normal_dependencies(text: &str) -> impl Iterator<Item = &str> {
    let is_normal = |section: &str| {
        section == "dependencies" || (section.starts_with("target.") && section.ends_with(".dependencies"))
    };
    entries(text).filter(move |entry| is_normal(entry.section)).map(|entry| entry.name())
}

/// The section with the versions of all dependencies.
const WORKSPACE_DEPENDENCIES: &str = "workspace.dependencies";

/// Whether the section lists dependencies. The lines of a section `[dependencies.name]` are then treated as packages
/// and reported, because that form is not allowed.
fn is_dependencies(section: &str) -> bool {
    section.ends_with("dependencies") || section.contains("dependencies.")
}

/// A line of a manifest.
struct Entry<'t> {
    section: &'t str,
    /// The line without its comment.
    line: &'t str,
    number: usize,
}

impl<'t> Entry<'t> {
    /// Returns the key: `serde` in `serde.workspace = true`.
    fn name(&self) -> &'t str {
        self.line.split(['.', ' ', '=']).next().unwrap_or_default()
    }
}

/// Returns the lines of a manifest except comments and headers. It parses only the simple TOML used here.
fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut section = "";
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let line = line.split(" #").next().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = header;
            return None;
        }
        Some(Entry { section, line, number })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
[package]
name = \"ftk-inventory\" # the table
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true

[dependencies]
ftk-walk.workspace = true
rustix.workspace = true

[target.'cfg(target_os = \"linux\")'.dependencies]
io-uring = { workspace = true, features = [\"x\"] }

[dev-dependencies]
ftk-record.workspace = true

[lints]
workspace = true
";

    fn both(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/inventory/Cargo.toml", text)]);
        let found = inherited_fields(&tree).into_iter().chain(crate_dependencies(&tree));
        found.map(|finding| finding.to_string()).collect()
    }

    /// Returns the only finding after `from` is replaced in the good manifest.
    fn changed(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from));
        let found = both(&GOOD.replacen(from, to, 1));
        assert_eq!(found.len(), 1, "{found:?}");
        found.into_iter().next().unwrap()
    }

    #[test]
    fn dependencies_of_tests_are_not_normal_ones() {
        assert_eq!(normal_dependencies(GOOD).collect::<Vec<_>>(), ["ftk-walk", "rustix", "io-uring"]);
        assert_eq!(normal_dependencies("[workspace.dependencies]\nserde = \"1\"\n").count(), 0);
    }

    #[test]
    fn a_good_manifest_passes() {
        assert_eq!(both(GOOD), [""; 0]);
    }

    #[test]
    fn a_field_that_is_not_inherited_is_found() {
        for field in INHERITED {
            let found = changed(&format!("{field}.workspace = true"), &format!("{field} = \"1\""));
            assert!(found.contains(&format!("`{field}` is not inherited")), "{found}");
        }
        assert!(changed("[lints]\nworkspace = true", "").contains("lints"));
    }

    #[test]
    fn an_unpublished_package_may_have_its_own_version() {
        let found = changed("version.workspace = true", "version = \"0.0.0\"");
        assert!(found.contains("`version`"), "{found}");
        assert_eq!(both(&GOOD.replacen("version.workspace = true", "publish = false", 1)), [""; 0]);
    }

    #[test]
    fn a_version_that_is_not_inherited_is_found() {
        let found = changed("rustix.workspace = true", "rustix = \"1.1\"");
        assert_eq!(
            found,
            "crates/inventory/Cargo.toml:10: `rustix` does not inherit its version from the workspace"
        );
        assert!(changed("{ workspace = true, ", "{ version = \"0.7\", ").contains("`io-uring`"));
        assert!(changed("[lints]", "[dependencies.serde]\nversion = \"1\"\n\n[lints]").contains("`version`"));
    }

    #[test]
    fn a_forbidden_crate_is_found() {
        let found = changed("rustix.workspace = true", "ftk-hash.workspace = true");
        assert_eq!(found, "crates/inventory/Cargo.toml:10: `ftk-inventory` may not depend on `ftk-hash`");
        let found = changed("io-uring = { workspace = true", "ftk-read = { workspace = true");
        assert!(found.contains("`ftk-read`"), "{found}");
        for program in FOR_PROGRAMS {
            let found = changed("rustix.workspace = true", &format!("{program}.workspace = true"));
            assert!(found.contains("is for programs"), "{found}");
        }
    }

    #[test]
    fn an_unlisted_crate_is_found() {
        let found = changed("name = \"ftk-inventory\"", "name = \"ftk-core\"");
        assert!(found.ends_with("xtask does not list the crates that `ftk-core` may depend on"), "{found}");
    }
}
