//! The licences of the packages in a program, whose notices it must bring.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::graph::Package;

/// The name of the file with all texts. It is next to the program, where `Cargo.toml` finds it for packages.
pub(super) const FILE: &str = "LICENSES-third-party.txt";

/// The licence of the C library in static programs, in the folder of zig.
const MUSL: &str = "lib/libc/musl/COPYRIGHT";

/// How the names of files with licences begin.
const NAMES: &[&str] = &["COPYING", "COPYRIGHT", "LICENCE", "LICENSE", "NOTICE", "UNLICENSE"];

/// Returns the licences of all packages, each text once, after the names of the packages that have it.
///
/// # Errors
/// If a package names no licence.
pub(super) fn texts(packages: &[Package], zig: &Path) -> Result<String> {
    let mut owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut all = String::from("ftk contains these packages. The texts of their licences follow.\n\n");
    for package in packages.iter().filter(|it| it.sha256.is_some()) {
        ensure!(!package.licence.is_empty(), "{} names no licence", package.name);
        let name = format!("{} {}", package.name, package.version);
        writeln!(all, "{name}: {}", package.licence)?;
        for text in found(&package.folder)? {
            owners.entry(text).or_default().push(name.clone());
        }
    }
    all += "musl: MIT\nthe standard library of Rust: MIT OR Apache-2.0\n";
    let musl = zig.join(MUSL);
    let text = fs::read_to_string(&musl).with_context(|| format!("cannot read {}", musl.display()))?;
    owners.entry(text).or_default().push("musl".to_owned());
    let mut texts: Vec<_> = owners.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort_unstable();
    for (names, text) in texts {
        write!(all, "\n{}\n{}\n\n{}\n", "=".repeat(80), names.join(", "), text.trim_end())?;
    }
    Ok(all)
}

/// Returns the texts of the files with licences in a folder, in the order of their names.
fn found(folder: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for file in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let file = file?;
        let name = file.file_name().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|start| name.starts_with(start)) && file.path().is_file() {
            paths.push(file.path());
        }
    }
    paths.sort_unstable();
    let text = |path| Ok(String::from_utf8_lossy(&fs::read(path)?).replace("\r\n", "\n"));
    paths.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let package = |name: &str, licence: &str| {
            fs::create_dir_all(at(name)).unwrap();
            fs::write(at(name).join("License-MIT"), "mit\r\n").unwrap();
            Package {
                name: name.to_owned(),
                version: "1.0.0".to_owned(),
                licence: licence.to_owned(),
                repository: None,
                sha256: Some("ab".to_owned()),
                folder: at(name),
                uses: Vec::new(),
            }
        };
        fs::create_dir_all(at("zig/lib/libc/musl")).unwrap();
        fs::write(at("zig").join(MUSL), "the text of musl\n").unwrap();
        let all = texts(&[package("a", "MIT"), package("b", "MIT")], &at("zig")).unwrap();
        assert!(all.contains("\na 1.0.0: MIT\nb 1.0.0: MIT\n"), "{all}");
        assert!(all.contains("=\na 1.0.0, b 1.0.0\n\nmit\n"), "{all}");
        assert_eq!((all.matches("\nmit\n").count(), all.matches("the text of musl").count()), (1, 1));
        assert!(texts(&[package("a", "")], &at("zig")).is_err());
    }
}
