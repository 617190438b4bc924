//! The packages in a program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::target::Target;
use crate::ci;

/// A package of a program.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) licence: String,
    pub(super) repository: Option<String>,
    /// The SHA-256 of the package in the registry; `None` for packages of the workspace.
    pub(super) sha256: Option<String>,
    /// Where its files are.
    pub(super) folder: PathBuf,
    /// The indices of the packages that it uses.
    pub(super) uses: Vec<usize>,
}

/// Returns the package `ftk` and all that its program consists of, or is generated with, sorted by name and version.
pub(super) fn packages(target: Target) -> Result<Vec<Package>> {
    let output = ci::cargo("metadata --locked --format-version 1 --filter-platform")
        .arg(target.triple())
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "cargo metadata failed");
    let lock: toml::Table = std::fs::read_to_string("Cargo.lock")?.parse()?;
    reachable(&serde_json::from_slice(&output.stdout)?, &checksums(&lock))
}

/// Returns the digests of packages by name and version.
fn checksums(lock: &toml::Table) -> BTreeMap<(String, String), String> {
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let entry = |package: &toml::Value| {
        let text = |key| Some(package.get(key)?.as_str()?.to_owned());
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    packages.filter_map(entry).collect()
}

fn reachable(metadata: &Value, sums: &BTreeMap<(String, String), String>) -> Result<Vec<Package>> {
    let all = metadata["packages"].as_array().context("cargo lists packages")?;
    let by_id: BTreeMap<_, _> = all.iter().filter_map(|it| Some((it["id"].as_str()?, it))).collect();
    let nodes = metadata["resolve"]["nodes"].as_array().context("cargo resolves")?;
    let used: BTreeMap<&str, Vec<&str>> =
        nodes.iter().filter_map(|node| Some((node["id"].as_str()?, used_by(node)))).collect();
    let root = all.iter().find(|it| it["name"] == "ftk").and_then(|it| it["id"].as_str());
    let mut found = BTreeSet::new();
    let mut open = vec![root.context("there is a package ftk")?];
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(used.get(id).into_iter().flatten());
        }
    }
    let mut order: Vec<(&str, &str, &str)> = Vec::new();
    for id in found {
        let package = by_id.get(id).context("a package that is used is listed")?;
        order.push((text(package, "name"), text(package, "version"), id));
    }
    order.sort_unstable(); // the ids of packages in the workspace contain its path
    let index: BTreeMap<&str, usize> = order.iter().enumerate().map(|(nth, it)| (it.2, nth)).collect();
    let packages = order.iter().map(|&(name, version, id)| {
        let package = by_id[id];
        let mut uses: Vec<usize> = used.get(id).into_iter().flatten().map(|id| index[id]).collect();
        uses.sort_unstable();
        let manifest = PathBuf::from(text(package, "manifest_path"));
        Ok(Package {
            name: name.to_owned(),
            version: version.to_owned(),
            // What old manifests write.
            licence: text(package, "license").replace('/', " OR "),
            repository: package["repository"].as_str().map(str::to_owned),
            sha256: sums.get(&(name.to_owned(), version.to_owned())).cloned(),
            folder: manifest.parent().context("a manifest is in a folder")?.to_owned(),
            uses,
        })
    });
    packages.collect()
}

/// Returns the ids of the packages that a package uses, except in tests and build scripts.
fn used_by(node: &Value) -> Vec<&str> {
    let uses = node["deps"].as_array().into_iter().flatten();
    let is_linked = |dep: &&Value| {
        dep["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
    };
    uses.filter(is_linked).filter_map(|dep| dep["pkg"].as_str()).collect()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn packages_for_tests_and_build_scripts_are_not_in_the_program() {
        let package = |name: &str| {
            json!({"id": format!("path+{name}"), "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0",
                "repository": null, "manifest_path": format!("/r/{name}/Cargo.toml")})
        };
        let dep = |name: &str, kind: Value| {
            let kinds = [json!({"kind": kind})];
            json!({"pkg": format!("path+{name}"), "dep_kinds": kinds})
        };
        let node = |name: &str, deps: Value| json!({"id": format!("path+{name}"), "deps": deps});
        let metadata = json!({
            "packages": [package("ftk"), package("zstd"), package("cc"), package("insta"), package("libc")],
            "resolve": {"nodes": [
                node("ftk", json!([dep("zstd", Value::Null), dep("insta", json!("dev"))])),
                node("zstd", json!([dep("libc", Value::Null), dep("cc", json!("build"))])),
                node("libc", json!([])), node("cc", json!([])), node("insta", json!([])),
            ]},
        });
        let sums = BTreeMap::from([(("libc".to_owned(), "1.0.0".to_owned()), "ab".to_owned())]);
        let found = reachable(&metadata, &sums).unwrap();
        let names: Vec<_> = found.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["ftk", "libc", "zstd"]);
        assert_eq!((&found[0].uses, &found[2].uses), (&vec![2], &vec![1]));
        assert_eq!((found[1].sha256.as_deref(), found[0].sha256.as_deref()), (Some("ab"), None));
        assert_eq!(found[0].licence, "MIT OR Apache-2.0");
        assert_eq!(found[2].folder, PathBuf::from("/r/zstd"));
    }

    #[test]
    fn digests_are_those_of_the_lock_file() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1\"\nchecksum = \"cd\"\n[[package]]\nname = \"ftk\"\nversion = \"1\"\n";
        let sums = checksums(&lock.parse().unwrap());
        assert_eq!(sums.into_values().collect::<Vec<_>>(), ["cd"]);
    }
}
