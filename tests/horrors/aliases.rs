//! Aliases: one file under two names whose device and inode numbers differ (FUSE and overlay file systems).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, Mounted, Run, install, needs};

const CONTENT: &[u8] = b"the only copy there is";

/// The program that sshfs runs instead of ssh: the SFTP server, without a network.
const SERVER: &str = "#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n";

/// File systems that show `real` again at `view`, and the commands that mount them.
const VIEWS: [(&str, &str); 10] = [
    ("bindfs", "bindfs real view"),
    ("mergerfs", "mergerfs real view"),
    // New files are created in the other branch, which the keeper's directory does not show.
    ("mergerfs, two branches", "mergerfs -o category.create=ff,cache.attr=60,cache.entry=60 other:real view"),
    ("unionfs-fuse", "unionfs real=RW view"),
    ("unionfs-fuse, two branches", "unionfs other=RW:real=RW view"),
    ("fuse-overlayfs, above", "fuse-overlayfs -o lowerdir=other,upperdir=real,workdir=work view"),
    ("fuse-overlayfs, below", "fuse-overlayfs -o lowerdir=real,upperdir=other,workdir=work view"),
    ("sshfs", "sshfs -o ssh_command=PWD/server host:PWD/real view"),
    ("overlay, above", "mount -t overlay overlay -o lowerdir=other,upperdir=real,workdir=work view"),
    ("overlay, below", "mount -t overlay overlay -o lowerdir=real,upperdir=other,workdir=work view"),
];

/// Runs a command that mounts a file system. `PWD` stands for the path of the directory.
fn mount(dir: &Dir, command: &str, point: &str) -> Option<Mounted> {
    let here = dir.path("").canonicalize().unwrap();
    let here = here.to_str().unwrap().trim_end_matches('/');
    Mounted::by(dir, command.split(' ').map(|word| word.replace("PWD", here)), point)
}

/// Creates a directory `real` with one file, and mounts a file system at `view` that shows the same file. The mount comes
/// last, so that it is dropped first: the directory cannot be removed before.
fn view(command: &str) -> Option<(Dir, Mounted)> {
    let dir = Dir::new();
    dir.dir("real").dir("view").dir("other").dir("work");
    install(&dir.path("server"), SERVER);
    plant(&dir.path("real/x"));
    let mounted = mount(&dir, command, "view")?;
    Some((dir, mounted))
}

/// Creates a file with `CONTENT`, last modified days ago.
fn plant(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, CONTENT).unwrap();
    let days_ago = SystemTime::now() - Duration::from_secs(3 * 24 * 3600);
    fs::File::options().write(true).open(path).unwrap().set_modified(days_ago).unwrap();
}

/// Ways to name the tree and its view as arguments.
const WAYS: [&[&str]; 8] = [
    &["real", "view"],
    &["view", "real"],
    &["."],
    &["real", "--reference", "view"],
    &["view", "--reference", "real"],
    &["-L", "link", "real"],
    &["-L", "real", "link"],
    &["bind", "view"],
];

const ACTIONS: [&str; 4] = ["delete", "symlink", "hardlink", "move=away"];

fn prune(dir: &Dir, action: &str, way: &[&str], as_script: bool) -> Run {
    // On some views the file seems to have another time. Here the order of the arguments decides. On most views there is
    // no server to exclude.
    let args =
        ["dup", "prune", "-E", "server", "--allow-unused-rules", "--metadata-may-differ", "--keep", "first"];
    let ftk = dir.ftk(args).args(["--action", action]).args(way);
    if !as_script {
        return ftk.arg("--yes").run();
    }
    let script = ftk.arg("--script").run();
    fs::write(dir.aside("script"), &script.out).unwrap();
    let run = dir.ftk([""; 0]).instead(dir, ["sh".as_ref(), dir.aside("script").as_os_str()]).run();
    // What cannot work at all is refused before a script is written.
    if script.code() == 2 { script } else { run }
}

fn is_there(path: PathBuf) -> bool {
    fs::symlink_metadata(&path).is_ok_and(|it| it.is_file()) && fs::read(path).is_ok_and(|it| it == CONTENT)
}

/// Returns the names of temporary files that a run left over.
fn strays(dir: &Dir) -> Vec<String> {
    // `other` may contain whiteouts of an overlay.
    let names = ["real", "view"].into_iter().flat_map(|name| fs::read_dir(dir.path(name)).unwrap());
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".ftk-")).collect()
}

/// How many of the combinations of an action, arguments and a script are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// In turn, so that each action, each order of arguments and both forms occur with each file system.
    Some,
    All,
}

impl Extent {
    /// Returns the combinations for the `nth` file system.
    fn cases<'w>(self, nth: usize, ways: &[&'w [&'w str]]) -> Vec<(&'static str, &'w [&'w str], bool)> {
        let mut cases = Vec::new();
        for (a, action) in ACTIONS.into_iter().enumerate() {
            for (w, way) in ways.iter().enumerate() {
                for as_script in [false, true] {
                    let is_turn = (a + w + nth).is_multiple_of(ACTIONS.len())
                        && as_script == (a + nth).is_multiple_of(2);
                    if self == Self::All || is_turn {
                        cases.push((action, *way, as_script));
                    }
                }
            }
        }
        cases
    }
}

/// With every action and every order of arguments the file stays, and the run exits with status 2.
#[test]
fn h58_an_alias_is_not_treated_as_a_copy() {
    aliases(Extent::Some);
}

#[test]
#[ignore = "takes a minute: every action with every order of arguments, which the nightly run tries"]
fn h58_an_alias_is_not_treated_as_a_copy_in_any_way() {
    aliases(Extent::All);
}

fn aliases(extent: Extent) {
    for (nth, (name, command)) in VIEWS.into_iter().enumerate() {
        let Some((dir, _mounted)) = view(command) else { return };
        dir.dir("bind").symlink("view", "link");
        let Some(_bound) = Mounted::at(&dir.path("bind"), ["--bind".as_ref(), dir.path("real").as_os_str()])
        else {
            return;
        };
        // A lower layer is never written to: a file removed in the view stays in the layer.
        let is_layer = ["fuse-overlayfs, below", "overlay, below"].contains(&name);
        for (action, way, as_script) in extent.cases(nth, &WAYS) {
            let run = prune(&dir, action, way, as_script);
            let what = format!("{name}: {action} {way:?} script {as_script}");
            run.check(is_there(dir.path("real/x")), &format!("{what}: the file is there"));
            run.check(strays(&dir).is_empty(), &format!("{what}: nothing is left over"));
            if !is_layer {
                run.check(run.code() == 2, &format!("{what}: status 2"));
                run.check(is_there(dir.path("view/x")), &format!("{what}: the view has it"));
            }
        }
    }
}

/// A union file system may remove or rename a name in all of its branches at once.
#[test]
fn h58_a_name_in_two_branches_is_not_removed_twice() {
    two_branches(Extent::Some);
}

#[test]
#[ignore = "takes a minute: 200 mounts, which the nightly run makes"]
fn h58_a_name_in_two_branches_is_not_removed_twice_in_any_way() {
    two_branches(Extent::All);
}

fn two_branches(extent: Extent) {
    const UNIONS: [&str; 5] = [
        "mergerfs other:real view",
        "mergerfs -o func.rename=ff other:real view",
        "mergerfs -o func.rename=all,func.unlink=all real:other view",
        "unionfs other=RW:real=RW view",
        "unionfs -o cow other=RW:real=RO view",
    ];
    const WAYS: [&[&str]; 5] =
        [&["real", "view"], &["view", "real"], &["other", "view"], &["view", "other"], &["."]];
    for (nth, command) in UNIONS.into_iter().enumerate() {
        for (action, way, as_script) in extent.cases(nth, &WAYS) {
            let Some((dir, _mounted)) = view(command) else { return };
            plant(&dir.path("other/x"));
            let run = prune(&dir, action, way, as_script);
            let branches = ["real/x", "other/x"].into_iter().filter(|name| is_there(dir.path(name)));
            let what = format!("{command}: {action} {way:?} script {as_script}");
            let moved = ["away/view/x", "away/real/x", "away/other/x"];
            let n_moved = moved.iter().filter(|name| is_there(dir.path(name))).count();
            run.check(branches.count() + n_moved > 0, &format!("{what}: a file is there"));
        }
    }
}

/// mergerfs removes all files of a name, including those that it does not show.
#[test]
fn h58_other_content_in_another_branch_is_not_removed() {
    for action in ["delete", "symlink"] {
        let Some((dir, _mounted)) = view("mergerfs real:other view") else { return };
        fs::write(dir.path("other/x"), b"hidden, and the only one").unwrap();
        plant(&dir.path("kept/x"));
        let run = prune(&dir, action, &["view", "--reference", "kept"], false).status(2);
        let hidden = fs::read(dir.path("other/x")).is_ok_and(|it| it == b"hidden, and the only one");
        run.check(hidden, "the hidden file is there");
        run.check(is_there(dir.path("real/x")), "the visible file is there");
        run.check(run.says("several branches"), "the reason is printed");
    }
}

/// With metacopy the content of an overlay's file stays in a lower layer.
#[test]
fn h58_the_content_of_a_file_in_an_overlay_is_not_removed() {
    for action in ["delete", "symlink"] {
        let options = "lowerdir=real,upperdir=other,workdir=work,metacopy=on,redirect_dir=on";
        let command = format!("mount -t overlay overlay -o {options} view");
        let dir = Dir::new();
        dir.dir("view").dir("other").dir("work").dir("real/d");
        plant(&dir.path("real/e/x"));
        let Some(_mounted) = mount(&dir, &command, "view") else { return };
        fs::rename(dir.path("view/e/x"), dir.path("view/d/y")).unwrap();
        let run = prune(&dir, action, &["real", "--reference", "view"], false).status(2);
        run.check(is_there(dir.path("real/e/x")), "the content is there");
        run.check(is_there(dir.path("view/d/y")), "the file can be read");
    }
}

/// With `kernel_cache`, bindfs lets the kernel keep cached pages of a file that was rewritten since.
#[test]
fn h58_a_stale_cached_page_does_not_prove_a_copy() {
    let Some((dir, _mounted)) = view("bindfs -o kernel_cache real view") else { return };
    plant(&dir.path("copy/x"));
    assert!(is_there(dir.path("view/x")));
    fs::write(dir.path("real/x"), b"other bytes, as many..").unwrap();
    let days_ago = SystemTime::now() - Duration::from_secs(2 * 24 * 3600);
    fs::File::options().write(true).open(dir.path("real/x")).unwrap().set_modified(days_ago).unwrap();
    // The kernel caches attributes for one second, pages without a limit.
    std::thread::sleep(Duration::from_millis(1500));
    fs::metadata(dir.path("view/x")).unwrap();
    let run = prune(&dir, "delete", &["copy", "--reference", "view"], false);
    run.check(is_there(dir.path("copy/x")), "the copy is there");
}

/// Two mounts of one tree below one sshfs mount. There all files have one device number, and the client makes
/// up the inode numbers.
#[test]
fn h58_an_alias_inside_one_mount_is_not_treated_as_a_copy() {
    for inner in ["bindfs real all/view", "mount --bind real all/view"] {
        let dir = Dir::new();
        dir.dir("real").dir("all/view").dir("all/real").dir("seen");
        install(&dir.path("server"), SERVER);
        plant(&dir.path("real/x"));
        let Some(_real) = mount(&dir, "mount --bind real all/real", "all/real") else { return };
        let Some(_view) = mount(&dir, inner, "all/view") else { return };
        let seen = "sshfs -o ssh_command=PWD/server host:PWD/all seen";
        let Some(_seen) = mount(&dir, seen, "seen") else { return };
        let ways: [&[&str]; 3] =
            [&["seen"], &["seen/real", "seen/view"], &["seen/real", "--reference", "seen/view"]];
        for (action, way, as_script) in Extent::All.cases(0, &ways) {
            let run = prune(&dir, action, way, as_script);
            let what = format!("{inner}: {action} {way:?} script {as_script}");
            run.check(is_there(dir.path("real/x")), &format!("{what}: the file is there"));
            run.check(is_there(dir.path("seen/view/x")), &format!("{what}: the view has it"));
            run.check(run.code() == 2, &format!("{what}: status 2"));
            run.check(fs::read_dir(dir.path("real")).unwrap().count() == 1, &format!("{what}: alone"));
        }
    }
}

/// If the two copies are on two local file systems, the script proves each pair and prunes it.
#[test]
fn h58_a_script_prunes_on_another_disk() {
    needs!("bash", "busybox");
    for shell in [&["sh"][..], &["bash"], &["busybox", "sh"]] {
        for action in ["delete", "symlink"] {
            let (dir, Some(disk)) = (Dir::new(), Mounted::new("tmpfs")) else { return };
            plant(&dir.path("kept/odd * \n-name"));
            plant(&disk.path("x"));
            let ftk = dir.ftk(["dup", "prune", "--action", action, "--script", "--reference", "kept"]);
            let script = ftk.arg(disk.path("")).run().status(0);
            fs::write(dir.aside("script"), &script.out).unwrap();
            let script = dir.aside("script");
            let words = shell.iter().map(|word| word.as_ref()).chain([script.as_os_str()]);
            let run = dir.ftk([""; 0]).instead(&dir, words).run().status(0);
            run.check(is_there(dir.path("kept/odd * \n-name")), "the keeper is there");
            let names: Vec<_> =
                fs::read_dir(disk.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
            match action {
                "delete" => run.check(names.is_empty(), &format!("{names:?}")),
                _ => run.check(fs::read_link(disk.path("x")).is_ok(), &format!("{names:?}")),
            }
        }
    }
}

/// A true copy on such a file system is pruned.
#[test]
fn a_copy_seen_through_a_view_is_pruned() {
    for (name, command) in VIEWS {
        for action in ["delete", "symlink", "move=view/away"] {
            for as_script in [false, true] {
                let Some((dir, _mounted)) = view(command) else { return };
                dir.dir("kept");
                plant(&dir.path("kept/x"));
                let run = prune(&dir, action, &["view", "--reference", "kept"], as_script);
                let what = format!("{name}: {action} script {as_script}");
                run.check(is_there(dir.path("kept/x")), &format!("{what}: the keeper is there"));
                // An operation that the file system cannot do is refused, and then the file stays.
                let cannot = match (name, action) {
                    _ if as_script => true,                    // a script cannot prove anything there
                    ("unionfs-fuse, two branches", _) => true, // cannot rename a file of the second branch
                    (name, _) if name.contains("overlay") => false,
                    (_, "move=view/away") => true, // cannot rename without overwriting
                    _ => false,
                };
                let is_refused = run.code() == 2;
                run.check(is_refused == cannot, &format!("{what}: refused {is_refused}"));
                let is_file = fs::symlink_metadata(dir.path("view/x")).is_ok_and(|it| it.is_file());
                run.check(is_file == is_refused, &format!("{what}: the copy is gone"));
                if action.starts_with("move") && !is_refused {
                    run.check(is_there(dir.path("view/away/view/x")), &format!("{what}: it was moved"));
                }
            }
        }
    }
}
