//! Rules about what is published.

use toml::{Table, Value};

use super::manifests::QUERY;
use super::tree::{Finding, Tree};
use crate::semver::LIBRARIES;

/// How the description of any other package ends.
const INTERNAL: &str = "(internal to ftk)";

/// A package that is only there for ftk says so, where people look for libraries.
pub(crate) fn internal_packages(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.ending("/Cargo.toml").filter(|(path, _)| path.starts_with("crates/"));
    let described = manifests.filter_map(|(path, text)| {
        let manifest: Table = text.parse().ok()?;
        let text = |key| manifest.get("package")?.get(key)?.as_str().map(str::to_owned);
        Some((path, text("name")?, text("description").unwrap_or_default()))
    });
    let is_internal = |name: &str| !LIBRARIES.contains(&name) && name != QUERY;
    let is_wrong = |(_, name, description): &(&str, String, String)| {
        is_internal(name) != description.ends_with(INTERNAL)
    };
    let what = |(path, name, _): (&str, String, String)| {
        let rule = if is_internal(&name) { "does not end" } else { "must not end" };
        Finding::file(path, format!("the description of `{name}` {rule} with {INTERNAL:?}"))
    };
    described.filter(is_wrong).map(what).collect()
}

/// All packages have one version, and need each other in this version.
pub(crate) fn versions(tree: &Tree) -> Vec<Finding> {
    let manifest: Table = tree.get("Cargo.toml").unwrap_or_default().parse().unwrap_or_default();
    let workspace = manifest.get("workspace");
    let version = workspace.and_then(|it| it.get("package")?.get("version")?.as_str());
    let dependencies = workspace.and_then(|it| it.get("dependencies")?.as_table()).into_iter().flatten();
    let other = dependencies.filter_map(|(name, value)| {
        let needed = value.get("path").and(value.get("version")).and_then(Value::as_str)?;
        (Some(needed) != version).then_some((name, needed))
    });
    other
        .map(|(name, needed)| Finding::file("Cargo.toml", format!("`{name}` is needed in version {needed}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_says_whether_it_is_internal() {
        let found = |name: &str, description: &str| {
            let text = format!("[package]\nname = \"{name}\"\ndescription = \"{description}\"\n");
            internal_packages(&Tree::of(&[("crates/a/Cargo.toml", &text)])).len()
        };
        assert_eq!(found("ftk-file", "Opens files (internal to ftk)"), 0);
        assert_eq!(found("ftk-walk", "Walks"), 0);
        assert_eq!(found("ftk-file", "Opens files"), 1);
        assert_eq!(found("ftk-walk", "Walks (internal to ftk)"), 1);
    }

    #[test]
    fn packages_need_each_other_in_one_version() {
        let found = |dependency: &str| {
            let text = format!(
                "[workspace.package]\nversion = \"0.2.0\"\n[workspace.dependencies]\nserde = \"1\"\nftk-a = {dependency}\n"
            );
            versions(&Tree::of(&[("Cargo.toml", &text)])).len()
        };
        assert_eq!(found("{ path = \"crates/a\", version = \"0.2.0\" }"), 0);
        assert_eq!(found("{ path = \"tests/harness\" }"), 0);
        assert_eq!(found("{ path = \"crates/a\", version = \"0.1.0\" }"), 1);
    }
}
