//! Commands that only read: the output is right, or an error says that it is incomplete.

use std::fs;

use super::scene::{Extent, Scene};
use super::trace::can_inject;
use crate::harness::Dir;

/// Adds nothing to the tree.
const BARE: fn(&Dir) = |_| ();

/// The name of the list, manifest or report of the tree.
const LIST: &str = "list";

/// Writes the output of a command to a file next to the tree.
fn save(dir: &Dir, args: &[&str], name: &str) {
    let run = dir.ftk(args).run().status(0);
    fs::write(dir.aside(name), run.out).unwrap();
}

/// Adds checksum lists of the tree and of an older state.
const SUMS: fn(&Dir) = |dir| {
    save(dir, &["hash", "."], LIST);
    let list = fs::read_to_string(dir.aside(LIST)).unwrap();
    fs::write(dir.aside("other"), list.replace("./z", "./zz").replace("./y2", "./b/y3")).unwrap();
};

/// Adds manifests of the tree and of an older state.
const MANIFESTS: fn(&Dir) = |dir| {
    dir.file("b/old", b"old");
    save(dir, &["manifest", "create", "."], "other");
    fs::remove_file(dir.path("b/old")).unwrap();
    dir.file("b/new", b"new");
    save(dir, &["manifest", "create", "."], LIST);
};

const REPORT: fn(&Dir) = |dir| save(dir, &["dup", "--json", "."], LIST);

/// Adds another tree that differs in one file.
const TWIN: fn(&Dir) = |dir| {
    for name in ["a/x1", "a/x2", "b/x3", "b/y1", "z", "b/empty"] {
        let mut content = fs::read(dir.path(name)).unwrap();
        if name == "b/y1" {
            content[250_000] ^= 1;
        }
        dir.file(format!("../twin/{name}"), &content);
    }
};

macro_rules! scenes {
    ($($name:ident: $args:expr, $plant:expr, $says:expr $(, $young:ident)?;)*) => {
        mod some {
            $(#[test] fn $name() { super::play(&super::$name, super::Extent::Some); })*
        }

        mod all {
            $(
                #[test]
                #[ignore = "takes minutes: every call and every error, which a soak runs"]
                fn $name() { super::play(&super::$name, super::Extent::All); }
            )*
        }

        $(
            #[expect(non_upper_case_globals, reason = "it is named as its tests are")]
            const $name: Scene = Scene {
                args: &$args, plant: $plant, says: &$says, is_young: false $(|| $young)?
            };
        )*
    };
}

fn play(scene: &Scene, extent: Extent) {
    if !can_inject() {
        return;
    }
    scene.play(extent);
}

/// The files are created anew for each run: files younger than two seconds get another check for changes.
const YOUNG: bool = true;

scenes! {
    find: ["find"], BARE, [], YOUNG;
    find_formatted: ["find", "--sort", "--format", "{path} {size}"], BARE, [], YOUNG;
    find_following: ["find", "-L", "--newer", "../other", "--ignore-files"], SUMS, [];
    find_counting: ["find", "-c"], BARE, [""], YOUNG;
    hash: ["hash", "."], BARE, [], YOUNG;
    hash_to_a_file: ["hash", ".", "-o", "../out"], BARE, [], YOUNG;
    hash_by_several: ["hash", "-a", "blake3", "-a", "md5", "--json", "."], BARE, [], YOUNG;
    hash_of_lines: ["hash", "--lines", "z"], BARE, [], YOUNG;
    hash_check: ["hash", "--check", "../list", "--new"], SUMS, ["./"];
    hash_diff: ["hash", "--diff", "../other", "../list"], SUMS, [];
    dup: ["dup", "."], BARE, [], YOUNG;
    dup_verified: ["dup", "--verify"], BARE, [], YOUNG;
    dup_report: ["dup", "--json", "-o", "../out"], BARE, ["{\"group\""];
    dup_plan: ["dup", "prune", ".", "--keep", "first", "--action", "hardlink"], BARE, ["  keep "], YOUNG;
    dup_script: ["dup", "prune", ".", "--keep", "first", "--action", "delete", "--script"], BARE, [""];
    dup_apply_plan: ["dup", "apply", "../list", "--keep", "first", "--action", "symlink"], REPORT, ["  keep "];
    manifest_create: ["manifest", "create", ".", "-o", "../out"], BARE, [];
    manifest_create_without_xattrs: ["manifest", "create", ".", "--no-xattrs"], BARE, [];
    manifest_verify: ["manifest", "verify", ".", "../list"], MANIFESTS, ["unreadable\t"];
    manifest_verify_old: ["manifest", "verify", ".", "../other"], MANIFESTS, ["unreadable\t"];
    manifest_verify_metadata: ["manifest", "verify", ".", "../list", "--mode", "metadata"], MANIFESTS, ["unreadable\t"];
    manifest_update: ["manifest", "update", ".", "../other", "-o", "../out"], MANIFESTS, [];
    manifest_diff: ["manifest", "diff", "../other", "../list"], MANIFESTS, [];
    manifest_unique: ["manifest", "unique", "../other", "../list"], MANIFESTS, [];
    cmp_equal: ["cmp", "y2", "b/y1"], BARE, [], YOUNG;
    cmp_different: ["cmp", "b/y1", "../twin/b/y1"], TWIN, [], YOUNG;
    cmp_streamed: ["cmp", "-l", "--method", "stream", "b/y1", "../twin/b/y1"], TWIN, [], YOUNG;
    cmp_mapped: ["cmp", "--method", "mapped", "b/y1", "../twin/b/y1"], TWIN, [], YOUNG;
    cmp_trees: ["cmp", ".", "../twin"], TWIN, ["unreadable\t"], YOUNG;
    completions: ["completions", "bash"], BARE, [], YOUNG;
    calibrate_show: ["calibrate", "--show"], BARE, [], YOUNG;
}
