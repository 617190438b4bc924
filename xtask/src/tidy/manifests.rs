//! Rules for `Cargo.toml` files.

use toml::{Table, Value};

use super::sources::{has_code, is_test};
use super::tree::{Finding, Tree, joined};

/// Fields that every package inherits from the workspace. Unpublished packages need not inherit the version.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];

/// The manifest of the workspace, which is also that of the package `ftk`.
const ROOT: &str = "Cargo.toml";

/// The folders with the sources of the package `ftk`.
const ROOT_FOLDERS: &[&str] = &["crates/cli/", "tests/"];

/// The program that needs a newer compiler than the others.
pub(super) const QUERY: &str = "ftk-query";

/// Packages with a `rust-version` of their own. The libraries for other programs need an older one.
const OWN_RUST_VERSION: &[&str] = &[QUERY, "ftk-ignore", "ftk-walk"];

/// Dependencies that only a program may have.
const FOR_PROGRAMS: &[&str] = &["anstream", "anyhow", "clap", "indicatif"];

/// Packages inherit fields, lints and versions of dependencies from the root manifest.
pub(crate) fn inherited_fields(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending("Cargo.toml") {
        let manifest = match parsed(path, text) {
            Ok(manifest) => manifest,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        let in_package = |field: &str| manifest.get("package").and_then(|package| package.get(field));
        let is_unpublished = in_package("publish") == Some(&Value::Boolean(false));
        for field in INHERITED.iter().filter(|field| !(is_unpublished && **field == "version")) {
            let name = in_package("name").and_then(Value::as_str).unwrap_or_default();
            let is_own = *field == "rust-version" && OWN_RUST_VERSION.contains(&name);
            if !is_own && !in_package(field).is_some_and(is_inherited) {
                findings.push(Finding::file(path, format!("`{field}` is not inherited from the workspace")));
            }
        }
        if !manifest.get("lints").is_some_and(is_inherited) {
            findings.push(Finding::file(path, "the lints are not inherited from the workspace"));
        }
        for Dependency { name, .. } in dependencies(&manifest).filter(|it| !is_inherited(it.value)) {
            let what = format!("`{name}` does not inherit its version from the workspace");
            findings.push(Finding::line(path, line_of(text, name), what));
        }
    }
    findings
}

/// Libraries do without packages for programs.
pub(crate) fn library_dependencies(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending("/Cargo.toml").filter(|(path, _)| path.starts_with("crates/")) {
        let is_program = text.contains(&format!("name = \"{QUERY}\""));
        for used in built_with(text).iter().filter(|used| FOR_PROGRAMS.contains(&&***used) && !is_program) {
            findings.push(Finding::line(path, line_of(text, used), format!("`{used}` is for programs")));
        }
    }
    findings
}

/// `cargo test` selects the program and all libraries: `default-members` lists the root, every folder in `crates/` except
/// that of [`QUERY`], and the scenarios that the tests of the program run, in order.
pub(crate) fn default_members(tree: &Tree) -> Vec<Finding> {
    let manifest = match parsed(ROOT, tree.get(ROOT).unwrap_or_default()) {
        Ok(manifest) => manifest,
        Err(finding) => return vec![finding],
    };
    let listed = manifest.get("workspace").and_then(|workspace| workspace.get("default-members")?.as_array());
    let listed: Vec<_> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    let crates = tree.ending("/Cargo.toml").filter(|(path, text)| {
        let name = parsed(path, text)
            .ok()
            .and_then(|it| it.get("package")?.get("name")?.as_str().map(str::to_owned));
        let is_library = path.starts_with("crates/") || path.starts_with("xtask/horrors/");
        is_library && name.as_deref() != Some(QUERY)
    });
    let mut expected: Vec<_> = crates.filter_map(|(path, _)| path.strip_suffix("/Cargo.toml")).collect();
    expected.push(".");
    expected.sort_unstable();
    if listed == expected {
        return Vec::new();
    }
    let line = line_of(tree.get(ROOT).unwrap_or_default(), "default-members");
    vec![Finding::line(ROOT, line, format!("`default-members` is not {expected:?}"))]
}

/// Packages whose library does not have the name of the package, and that name.
const LIBRARY_NAMES: &[(&str, &str)] = &[("md-5", "md5")];

/// The sources of a package use all of its dependencies, and packages use all dependencies of the workspace.
pub(crate) fn unused_dependencies(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut used = Vec::new();
    for (path, text) in tree.ending("Cargo.toml") {
        let Ok(manifest) = parsed(path, text) else { continue };
        let sources = sources(tree, path);
        for Dependency { section, name, .. } in dependencies(&manifest) {
            used.push(name.to_owned());
            let library = LIBRARY_NAMES.iter().find(|(package, _)| *package == name);
            let library =
                library.map_or_else(|| name.replace('-', "_"), |(_, library)| (*library).to_owned());
            let is_for_tests = section == "dev-dependencies";
            if !sources
                .iter()
                .any(|(path, text)| (is_for_tests || !is_test(path)) && has_code(text, &library))
            {
                findings.push(Finding::line(path, line_of(text, name), format!("nothing uses `{name}`")));
            }
        }
    }
    let root = parsed(ROOT, tree.get(ROOT).unwrap_or_default()).unwrap_or_default();
    let common = root.get("workspace").and_then(|workspace| workspace.get("dependencies")?.as_table());
    for name in common.into_iter().flatten().map(|(name, _)| name).filter(|name| !used.contains(name)) {
        let line = line_of(tree.get(ROOT).unwrap_or_default(), name);
        findings.push(Finding::line(ROOT, line, format!("no package depends on `{name}`")));
    }
    findings
}

/// Returns the sources of a package: those in its folder, and those of other packages that it includes by path.
fn sources<'t>(tree: &'t Tree, manifest: &str) -> Vec<(&'t str, &'t str)> {
    let folder = manifest.strip_suffix("Cargo.toml").unwrap_or_default();
    let folders = if folder.is_empty() { ROOT_FOLDERS } else { &[folder] };
    let is_inside = |path: &str| folders.iter().any(|folder| path.starts_with(folder));
    let own: Vec<_> = tree.ending(".rs").filter(|(path, _)| is_inside(path)).collect();
    let included = own.iter().flat_map(|(path, text)| {
        let attributes = text.split("#[path = \"").skip(1).filter_map(|rest| rest.split('"').next());
        attributes.map(|to| joined(path, to))
    });
    let included: Vec<_> = included.collect();
    let foreign = tree.ending(".rs").filter(|(path, _)| included.iter().any(|it| it == path));
    own.iter().copied().chain(foreign).collect()
}

/// Returns the packages that a manifest needs to build the library or program itself, on any platform: all but those
/// of its tests.
pub(super) fn built_with(text: &str) -> Vec<String> {
    let manifest: Table = text.parse().unwrap_or_default();
    let built = dependencies(&manifest).filter(|it| it.section != "dev-dependencies");
    built.map(|it| it.name.to_owned()).collect()
}

fn parsed(path: &str, text: &str) -> Result<Table, Finding> {
    text.parse().map_err(|error| Finding::file(path, format!("is not TOML: {error}")))
}

/// Whether a field, the lints or a dependency has `workspace = true`.
fn is_inherited(value: &Value) -> bool {
    value.get("workspace") == Some(&Value::Boolean(true))
}

/// A dependency of a package.
struct Dependency<'m> {
    /// `dependencies`, `dev-dependencies` or `build-dependencies`.
    section: &'m str,
    name: &'m str,
    value: &'m Value,
}

/// Returns the dependencies of a package on any platform.
fn dependencies(manifest: &Table) -> impl Iterator<Item = Dependency<'_>> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = std::iter::once(manifest).chain(targets.filter_map(Value::as_table)).flatten();
    let sections = tables.filter(|(section, _)| section.ends_with("dependencies"));
    sections.filter_map(|(section, table)| Some((section, table.as_table()?))).flat_map(|(section, table)| {
        table.iter().map(move |(name, value)| Dependency { section, name, value })
    })
}

/// Returns the number of the first line that begins with the key `name`, or 0.
fn line_of(text: &str, name: &str) -> usize {
    let is_key = |line: &str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
    text.lines().position(is_key).map_or(0, |at| at + 1)
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
        let found = inherited_fields(&tree).into_iter().chain(library_dependencies(&tree));
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
    fn default_members_are_all_packages_but_one() {
        let found = |members: &str| {
            let root = format!("[workspace]\ndefault-members = [{members}]\n");
            let query = "[package]\nname = \"ftk-query\"\n";
            default_members(&Tree::of(&[
                ("Cargo.toml", &root),
                ("crates/inventory/Cargo.toml", GOOD),
                ("crates/query/Cargo.toml", query),
                ("xtask/Cargo.toml", GOOD),
                ("xtask/horrors/Cargo.toml", GOOD),
            ]))
        };
        assert_eq!(found("\".\", \"crates/inventory\", \"xtask/horrors\""), []);
        for bad in ["", "\".\"", "\"crates/inventory\"", "\".\", \"crates/inventory\", \"crates/query\""] {
            let expected =
                "Cargo.toml:2: `default-members` is not [\".\", \"crates/inventory\", \"xtask/horrors\"]";
            assert_eq!(found(bad)[0].to_string(), expected, "{bad}");
        }
        assert_eq!(default_members(&Tree::default()).len(), 1);
    }

    #[test]
    fn a_package_is_built_without_the_dependencies_of_its_tests() {
        assert_eq!(built_with(GOOD), ["ftk-walk", "rustix", "io-uring"]);
        assert_eq!(built_with("[workspace.dependencies]\nserde = \"1\"\n").len(), 0);
    }

    #[test]
    fn a_good_manifest_passes() {
        assert_eq!(both(GOOD), [""; 0]);
        assert!(both("[package")[0].starts_with("crates/inventory/Cargo.toml: is not TOML"));
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
        assert!(changed("[lints]", "[dependencies.serde]\nversion = \"1\"\n\n[lints]").contains("`serde`"));
    }

    #[test]
    fn a_package_for_programs_is_found() {
        for program in FOR_PROGRAMS {
            let found = changed("rustix.workspace = true", &format!("{program}.workspace = true"));
            let expected = format!("crates/inventory/Cargo.toml:10: `{program}` is for programs");
            assert_eq!(found, expected);
            let query = GOOD.replace("ftk-inventory", QUERY).replace("rustix.", &format!("{program}."));
            assert_eq!(both(&query), [""; 0]);
        }
    }

    #[test]
    fn an_unused_dependency_is_found() {
        let manifest = "[dependencies]\nio-uring.workspace = true\nmd-5 = { workspace = true }\n\n\
            [dev-dependencies]\nproptest.workspace = true\n";
        let found = |lib: &str, test: &str| {
            let tree = Tree::of(&[
                (
                    "Cargo.toml",
                    "[workspace.dependencies]\nio-uring = \"1\"\nmd-5 = \"1\"\nproptest = \"1\"\n",
                ),
                ("crates/a/Cargo.toml", manifest),
                ("crates/a/src/lib.rs", lib),
                ("crates/a/tests/it.rs", test),
                ("crates/b/src/shared.rs", "use md5::Md5;\n"),
            ]);
            unused_dependencies(&tree).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let (lib, test) = ("use io_uring::IoUring;\nuse md5::Md5;\n", "use proptest::any;\n");
        assert_eq!(found(lib, test), [""; 0]);
        assert_eq!(found(&format!("{lib}{test}"), ""), [""; 0]);
        let included = "use io_uring::IoUring;\n#[path = \"../../b/src/shared.rs\"]\nmod shared;\n";
        assert_eq!(found(included, test), [""; 0]);
        assert_eq!(found(lib, "// proptest\n"), ["crates/a/Cargo.toml:6: nothing uses `proptest`"]);
        let only_in_tests = found("// md5, io_uring\n", &format!("{lib}{test}"));
        assert_eq!(only_in_tests.len(), 2, "{only_in_tests:?}");
        assert_eq!(only_in_tests[0], "crates/a/Cargo.toml:2: nothing uses `io-uring`");
    }

    #[test]
    fn a_dependency_of_the_workspace_that_no_package_has_is_found() {
        let root = "[workspace.dependencies]\nserde = \"1\"\nnix = \"1\"\n\n[dependencies]\nserde.workspace = true\n";
        let found = unused_dependencies(&Tree::of(&[
            ("Cargo.toml", root),
            ("tests/a.rs", ""),
            ("crates/cli/a.rs", "use serde::X;"),
        ]));
        assert_eq!(found, [Finding::line("Cargo.toml", 3, "no package depends on `nix`")]);
    }
}
