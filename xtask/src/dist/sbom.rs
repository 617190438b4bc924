//! The list of what is in a program, for scanners: a file of CycloneDX.

use anyhow::Result;
use serde_json::{Value, json};

use super::graph::Package;
use super::source::Source;
use super::target::Target;

/// Returns the list for the program of a target. `packages` has it and all that it consists of.
pub(super) fn list(packages: &[Package], target: Target, source: &Source) -> Result<String> {
    let (program, components): (Vec<_>, Vec<_>) = packages.iter().partition(|it| it.name == "ftk");
    let components: Vec<Value> = components.iter().map(|it| component(it, "library")).collect();
    let depends = |package: &Package| {
        let uses: Vec<_> = package.uses.iter().map(|&used| reference(&packages[used])).collect();
        json!({"ref": reference(package), "dependsOn": uses})
    };
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": program.first().map(|it| component(it, "application")),
            "properties": [
                {"name": "ftk:commit", "value": source.commit},
                {"name": "ftk:target", "value": target.triple()},
            ],
        },
        "components": components,
        "dependencies": packages.iter().map(depends).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

fn component(package: &Package, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
        "licenses": [{"expression": package.licence}],
        "purl": reference(package),
    });
    if let Some(digest) = &package.sha256 {
        component["hashes"] = json!([{"alg": "SHA-256", "content": digest}]);
    }
    if let Some(url) = &package.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": url}]);
    }
    component
}

/// Returns the package URL.
fn reference(package: &Package) -> String {
    // The only character of versions that has a meaning there.
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_packages_and_their_uses() {
        let package = |name: &str, sha256: Option<&str>, uses| Package {
            name: name.to_owned(),
            version: "1.0.0+b".to_owned(),
            licence: "MIT".to_owned(),
            repository: None,
            sha256: sha256.map(str::to_owned),
            folder: "/r".into(),
            uses,
        };
        let source = Source { version: "1.0.0".into(), commit: "0123".into(), time: "0".into() };
        let packages = [package("ftk", None, vec![1]), package("libc", Some("ab"), vec![])];
        let list: Value = serde_json::from_str(&list(&packages, Target::X86_64, &source).unwrap()).unwrap();
        assert_eq!(list["metadata"]["component"]["name"], "ftk");
        assert_eq!(list["components"][0]["hashes"][0]["content"], "ab");
        assert_eq!(list["components"].as_array().unwrap().len(), 1);
        assert_eq!(list["dependencies"][0]["dependsOn"][0], "pkg:cargo/libc@1.0.0%2Bb");
    }
}
