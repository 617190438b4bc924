//! Output files, created in both ways: without a name, and under a temporary name.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use rustix::io::Errno;
use tempfile::TempDir;

use super::*;

type Make = fn(OwnedFd, Mode) -> io::Result<(Temp, File)>;
const WAYS: [(&str, Make); 2] = [("unnamed", Temp::create), ("named", Temp::create_named)];

fn both_ways(test: impl Fn(&Path, &dyn Fn(&Path) -> io::Result<Output>)) {
    for (way, make) in WAYS {
        let dir = TempDir::with_prefix(format!("ftk-{way}-")).unwrap();
        test(dir.path(), &|path| Output::with(path, true, make));
    }
}

fn write_all(mut output: Output, bytes: &[u8]) -> io::Result<()> {
    output.write_all(bytes)?;
    output.commit()
}

fn identity(path: &Path) -> (u64, u64) {
    let metadata = path.metadata().unwrap();
    (metadata.dev(), metadata.ino())
}

fn listing(dir: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[cfg(target_os = "linux")]
#[test]
fn temporary_files_have_no_name_on_linux() {
    let dir = TempDir::new().unwrap();
    let output = Output::create(&dir.path().join("new")).unwrap();
    assert!(listing(dir.path()).is_empty());
    drop(output);
}

#[test]
fn a_file_that_must_be_new_replaces_none() {
    for (way, make) in WAYS {
        let dir = TempDir::with_prefix(format!("ftk-{way}-")).unwrap();
        let path = dir.path().join("new");
        let create = || Output::with(&path, false, make);
        write_all(create().unwrap(), b"first").unwrap();
        assert_eq!(create().unwrap_err().kind(), ErrorKind::AlreadyExists, "{way}");
        fs::remove_file(&path).unwrap();
        let output = create().unwrap();
        fs::write(&path, b"of another program").unwrap();
        assert_eq!(write_all(output, b"second").unwrap_err().kind(), ErrorKind::AlreadyExists, "{way}");
        assert_eq!(fs::read(&path).unwrap(), b"of another program", "{way}");
        assert_eq!(listing(dir.path()), ["new"], "{way}");
        fs::remove_file(&path).unwrap();
        symlink("nowhere", &path).unwrap();
        assert_eq!(create().unwrap_err().kind(), ErrorKind::AlreadyExists, "{way}");
    }
}

#[test]
fn a_new_file_appears_on_commit() {
    both_ways(|dir, create| {
        let (path, peer) = (dir.join("new"), dir.join("peer"));
        let mut output = create(&path).unwrap();
        output.write_all(b"line\n").unwrap();
        output.flush().unwrap();
        assert!(!path.exists());
        output.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"line\n");
        fs::write(&peer, b"").unwrap();
        assert_eq!(path.metadata().unwrap().mode(), peer.metadata().unwrap().mode(), "the umask applies");
        assert_eq!(listing(dir), ["new", "peer"]);
    });
}

#[test]
fn an_old_file_is_replaced_atomically() {
    both_ways(|dir, create| {
        let (path, other) = (dir.join("list"), dir.join("hard link"));
        fs::write(&path, b"a long old list").unwrap();
        fs::hard_link(&path, &other).unwrap();
        let mut open_before = File::open(&path).unwrap();
        write_all(create(&path).unwrap(), b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read(&other).unwrap(), b"a long old list");
        let mut seen = String::new();
        open_before.read_to_string(&mut seen).unwrap();
        assert_eq!(seen, "a long old list");
        assert_eq!(listing(dir), ["hard link", "list"]);
    });
}

#[test]
fn dropped_output_leaves_no_file() {
    both_ways(|dir, create| {
        let (old, new) = (dir.join("old"), dir.join("new"));
        fs::write(&old, b"old").unwrap();
        for path in [&old, &new] {
            let mut output = create(path).unwrap();
            output.write_all(&vec![b'x'; 3 * BUFFER]).unwrap();
        }
        assert_eq!(fs::read(&old).unwrap(), b"old");
        assert_eq!(listing(dir), ["old"]);
    });
}

#[test]
fn permissions_are_kept() {
    both_ways(|dir, create| {
        for mode in [0o600, 0o640, 0o666, 0o755, 0o200] {
            let path = dir.join(format!("{mode:o}"));
            fs::write(&path, b"old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            write_all(create(&path).unwrap(), b"new").unwrap();
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, mode);
        }
    });
}

/// The other user in tests that need two. These tests do nothing unless they run as root.
const OTHER: u32 = 65534;

fn is_root() -> bool {
    geteuid().is_root()
}

/// Runs `test` as `OTHER`, on a thread of its own: on Linux, user and group ids can be set per thread, and the other
/// tests keep theirs.
#[cfg(target_os = "linux")]
fn as_other<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    use rustix::process::{Gid, Uid};
    thread::scope(|scope| {
        let run = scope.spawn(|| {
            let (user, group) = (Uid::from_raw(OTHER), Gid::from_raw(OTHER));
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_res_gid(group, group, group).unwrap();
            rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            test()
        });
        run.join().unwrap()
    })
}

#[test]
fn the_group_is_kept() {
    both_ways(|dir, create| {
        let path = dir.join("list");
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
        if is_root() {
            chown(&path, None, Some(23456)).unwrap();
        }
        let before = path.metadata().unwrap();
        write_all(create(&path).unwrap(), b"new").unwrap();
        let after = path.metadata().unwrap();
        assert_ne!(before.ino(), after.ino());
        assert_eq!((before.uid(), before.gid(), before.mode()), (after.uid(), after.gid(), after.mode()));
    });
}

#[test]
fn the_new_file_belongs_to_the_caller() {
    if !is_root() {
        return;
    }
    both_ways(|dir, create| {
        fs::write(dir.join("peer"), b"").unwrap();
        let usual = dir.join("peer").metadata().unwrap().mode() & 0o777;
        for (old, new) in [(0o666, 0o666), (0o640, 0o600), (0o600, 0o600), (0o604, 0o604), (0o777, 0o666)] {
            let path = dir.join(format!("{old:o}"));
            fs::write(&path, b"old").unwrap();
            chown(&path, Some(OTHER), Some(OTHER)).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(old)).unwrap();
            write_all(create(&path).unwrap(), b"new").unwrap();
            let after = path.metadata().unwrap();
            assert_eq!((after.uid(), after.gid()), (0, 0));
            assert_eq!(after.mode() & 0o7777, new & usual, "{old:o}");
        }
    });
}

#[test]
fn a_new_group_does_not_widen_permissions() {
    assert_eq!(mode_for_new_group(0o640), 0o600);
    assert_eq!(mode_for_new_group(0o660), 0o600);
    assert_eq!(mode_for_new_group(0o604), 0o644);
    assert_eq!(mode_for_new_group(0o777), 0o777);
}

/// A directory with things that `OTHER` made: a link to a file of root, the same link as a directory, a link to a free
/// name, a file and a FIFO.
fn planted(mode: u32) -> TempDir {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("private")).unwrap();
    fs::write(path("private/passwd"), b"of root").unwrap();
    fs::create_dir(path("shared")).unwrap();
    for (target, name) in
        [("../private/passwd", "link"), ("../private", "dir"), ("../private/free", "dangling")]
    {
        symlink(target, path("shared").join(name)).unwrap();
    }
    fs::write(path("shared/file"), b"old").unwrap();
    fs::set_permissions(path("shared/file"), Permissions::from_mode(0o666)).unwrap();
    assert!(Command::new("mkfifo").arg(path("shared/fifo")).status().unwrap().success());
    for name in ["link", "dir", "dangling", "file", "fifo"] {
        std::os::unix::fs::lchown(path("shared").join(name), Some(OTHER), Some(OTHER)).unwrap();
    }
    fs::set_permissions(path("shared"), Permissions::from_mode(mode)).unwrap();
    dir
}

#[test]
fn what_another_user_planted_in_a_sticky_directory_is_refused() {
    if !is_root() {
        return;
    }
    for mode in [0o1777, 0o1775] {
        let dir = planted(mode);
        for name in ["link", "dir/passwd", "dir/new", "dangling", "file", "fifo"] {
            let path = dir.path().join("shared").join(name);
            let refused = Output::create(&path).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{name}: {refused}");
            assert_eq!(Output::id(&path).unwrap_err().kind(), ErrorKind::PermissionDenied, "{name}");
        }
        assert_eq!(fs::read(dir.path().join("private/passwd")).unwrap(), b"of root");
        assert_eq!(listing(&dir.path().join("private")), ["passwd"]);
        // What is the caller's own is written.
        fs::write(dir.path().join("shared/own"), b"").unwrap();
        symlink("own", dir.path().join("shared/own link")).unwrap();
        for name in ["own", "own link", "new"] {
            write_all(Output::create(&dir.path().join("shared").join(name)).unwrap(), b"x").unwrap();
        }
        assert_eq!(fs::read(dir.path().join("shared/own")).unwrap(), b"x");
    }
}

#[test]
fn elsewhere_only_a_fifo_of_another_user_is_refused() {
    if !is_root() {
        return;
    }
    for mode in [0o755, 0o1755] {
        let dir = planted(mode);
        let path = |name: &str| dir.path().join("shared").join(name);
        let refused = Output::create(&path("fifo")).unwrap_err();
        assert_eq!(refused.to_string(), "it is a FIFO of another user");
        for name in ["link", "dir/new", "dangling", "file"] {
            write_all(Output::create(&path(name)).unwrap(), b"x").unwrap();
        }
        assert_eq!(fs::read(dir.path().join("private/passwd")).unwrap(), b"x");
        assert_eq!(fs::read(dir.path().join("private/free")).unwrap(), b"x");
    }
}

/// Without the sticky bit, the kernel follows these links for everyone.
#[test]
fn root_follows_no_link_that_another_user_could_have_made() {
    if !is_root() {
        return;
    }
    for (mode, owner) in
        [(0o777, 0), (0o775, 0), (0o757, OTHER), (0o755, OTHER), (0o700, OTHER), (0o2775, OTHER)]
    {
        let dir = planted(mode);
        let path = |name: &str| dir.path().join("shared").join(name);
        chown(dir.path().join("shared"), Some(owner), Some(owner)).unwrap();
        for name in ["link", "dir/passwd", "dir/new", "dangling"] {
            let refused = Output::create(&path(name)).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{name}: {refused}");
            assert!(refused.to_string().starts_with("it leads through another user's link"), "{refused}");
            assert_eq!(Output::id(&path(name)).unwrap_err().kind(), ErrorKind::PermissionDenied, "{name}");
        }
        assert_eq!(fs::read(dir.path().join("private/passwd")).unwrap(), b"of root");
        assert_eq!(listing(&dir.path().join("private")), ["passwd"]);
        // Links of root are followed, and files of the user replaced.
        symlink("../private/passwd", path("root's link")).unwrap();
        for name in ["root's link", "file", "new"] {
            write_all(Output::create(&path(name)).unwrap(), b"x").unwrap();
        }
    }
}

/// Other callers follow the links of those whom they let in, but not where everyone can make links.
#[test]
fn a_user_follows_links_in_the_directory_of_a_group() {
    if !is_root() {
        return;
    }
    const COLLEAGUE: u32 = OTHER - 1;
    for (mode, is_followed) in [(0o775, true), (0o755, true), (0o777, false), (0o757, false), (0o1777, false)]
    {
        let dir = planted(mode);
        let path = |name: &str| dir.path().join(name);
        for name in ["", "private", "private/passwd"] {
            fs::set_permissions(path(name), Permissions::from_mode(0o777)).unwrap();
        }
        std::os::unix::fs::lchown(path("shared/link"), Some(COLLEAGUE), Some(OTHER)).unwrap();
        chown(path("shared"), Some(COLLEAGUE), Some(OTHER)).unwrap();
        as_other(|| {
            let created = Output::create(&path("shared/link"));
            assert_eq!(created.is_ok(), is_followed, "{mode:o} {created:?}");
        });
    }
}

/// As for other users, who cannot open it for writing.
#[test]
fn no_caller_replaces_a_file_without_permission_to_write() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("list");
    for (mode, is_replaced) in
        [(0o444, false), (0o400, false), (0o555, false), (0o000, false), (0o644, true), (0o200, true)]
    {
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        match Output::create(&path) {
            Ok(output) => write_all(output, b"new").unwrap(),
            Err(error) => assert_eq!(error.kind(), ErrorKind::PermissionDenied),
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), if is_replaced { b"new" } else { b"old" }, "{mode:o}");
        fs::remove_file(&path).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn links_of_root_are_followed_for_everyone() {
    if !is_root() {
        return;
    }
    let dir = planted(0o1777);
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("other's")).unwrap();
    chown(path("other's"), Some(OTHER), Some(OTHER)).unwrap();
    symlink("../other's/new", path("shared/root's link")).unwrap();
    fs::write(path("shared/root's file"), b"").unwrap();
    fs::set_permissions(path("shared/root's file"), Permissions::from_mode(0o666)).unwrap();
    as_other(|| {
        write_all(Output::create(&path("shared/root's link")).unwrap(), b"x").unwrap();
        write_all(Output::create(&path("shared/file")).unwrap(), b"own").unwrap();
        let refused = Output::create(&path("shared/root's file")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
    });
    assert_eq!(fs::read(path("other's/new")).unwrap(), b"x");
    assert_eq!(fs::read(path("shared/file")).unwrap(), b"own");
}

#[test]
fn ids_tell_whether_two_paths_lead_to_one_target() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("sub")).unwrap();
    fs::write(path("old"), b"").unwrap();
    fs::hard_link(path("old"), path("hard link")).unwrap();
    symlink("../old", path("sub/link")).unwrap();
    symlink("sub/new", path("dangling")).unwrap();
    let id = |name: &str| Output::id(&path(name)).unwrap();
    let old = path("old").metadata().unwrap();
    for name in ["old", "hard link", "sub/link", "sub/../old"] {
        assert_eq!(id(name), OutputId::Existing(old.dev(), old.ino()), "{name}");
    }
    assert_eq!(id("dangling"), id("sub/new"));
    assert_ne!(id("new"), id("sub/new"));
    assert_ne!(id("new"), id("New"));
    assert_eq!(Output::id(Path::new("/dev/null")).unwrap(), OutputId::Shared);
    assert!(!OutputId::Shared.is_same_file(&OutputId::Shared));
    assert!(id("dangling").is_same_file(&id("sub/new")) && !id("new").is_same_file(&id("sub/new")));

    // Descriptors lead to their files.
    let (pipe, _writer) = io::pipe().unwrap();
    let file = File::open(path("old")).unwrap();
    for directory in ["/dev/fd", "/proc/self/fd"] {
        let id = |fd: RawFd| Output::id(Path::new(&format!("{directory}/{fd}"))).unwrap();
        let number = file.as_raw_fd().to_string();
        assert_eq!(id(file.as_raw_fd()), OutputId::Descriptor(number.into(), (old.dev(), old.ino())));
        assert!(id(file.as_raw_fd()).is_same_file(&OutputId::Existing(old.dev(), old.ino())));
        assert_eq!(id(pipe.as_raw_fd()), OutputId::Shared);
    }
    assert_eq!(listing(dir.path()), ["dangling", "hard link", "old", "sub"]);
}

#[test]
fn output_names_may_have_the_maximal_length() {
    both_ways(|dir, create| {
        let path = dir.join("n".repeat(255));
        for text in [b"one", b"two"] {
            write_all(create(&path).unwrap(), text).unwrap();
            assert_eq!(fs::read(&path).unwrap(), text);
        }
        assert_eq!(listing(dir).len(), 1);
    });
}

#[test]
fn a_symbolic_link_stays_and_its_target_is_replaced() {
    both_ways(|dir, create| {
        fs::create_dir(dir.join("sub")).unwrap();
        symlink("sub/second", dir.join("first")).unwrap();
        symlink("../file", dir.join("sub/second")).unwrap();
        for text in ["the links dangle", "they exist now"] {
            write_all(create(&dir.join("first")).unwrap(), text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(dir.join("file")).unwrap(), text);
        }
        assert_eq!(listing(dir), ["file", "first", "sub"]);
        assert_eq!(fs::read_link(dir.join("first")).unwrap(), Path::new("sub/second"));
        assert_eq!(fs::read_link(dir.join("sub/second")).unwrap(), Path::new("../file"));
    });
}

#[test]
fn unwritable_paths_are_refused_at_once() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name);
    symlink("loop", path("loop")).unwrap();
    symlink("nowhere/", path("to a directory")).unwrap();
    let error = |path: PathBuf| Output::create(&path).unwrap_err();
    assert_eq!(error(dir.path().to_owned()).kind(), ErrorKind::IsADirectory);
    assert_eq!(error(path("new/")).kind(), ErrorKind::IsADirectory);
    assert_eq!(error(path("to a directory")).kind(), ErrorKind::IsADirectory);
    assert_eq!(error(path("absent/new")).kind(), ErrorKind::NotFound);
    assert_eq!(error(PathBuf::new()).kind(), ErrorKind::NotFound);
    assert_eq!(error(path("loop")).raw_os_error(), Some(Errno::LOOP.raw_os_error()));
    fs::write(path("file"), b"").unwrap();
    assert_eq!(error(path("file/below")).kind(), ErrorKind::NotADirectory);
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_file_is_not_replaced() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("list");
    fs::write(&path, b"old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
    let create = || Output::create(&path).unwrap_err();
    let error = if is_root() { as_other(create) } else { create() };
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
}

#[test]
fn a_full_device_is_an_error() {
    let output = Output::create(Path::new("/dev/full")).unwrap();
    assert_eq!(write_all(output, b"little").unwrap_err().kind(), ErrorKind::StorageFull);

    let mut output = Output::create(Path::new("/dev/full")).unwrap();
    assert_eq!(output.write_all(&vec![0; 2 * BUFFER]).unwrap_err().kind(), ErrorKind::StorageFull);
    assert!(output.commit().is_err(), "lost data is never committed");
}

#[test]
fn a_fifo_is_written_in_place() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    thread::scope(|scope| {
        let reader = scope.spawn(|| fs::read(&path).unwrap());
        write_all(Output::create(&path).unwrap(), b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
    });
    assert_eq!(listing(dir.path()), ["fifo"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_descriptor_under_proc_is_appended_to() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("log");
    fs::write(&path, b"old\n").unwrap();
    let inherited = OpenOptions::new().append(true).open(&path).unwrap();
    let ino = path.metadata().unwrap().ino();
    symlink(format!("/proc/self/fd/{}", inherited.as_raw_fd()), dir.path().join("link")).unwrap();
    write_all(Output::create(&dir.path().join("link")).unwrap(), b"new\n").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old\nnew\n");
    assert_eq!(path.metadata().unwrap().ino(), ino);
    assert_eq!(listing(dir.path()), ["link", "log"]);
}

#[test]
fn identities_are_those_of_the_new_and_old_file() {
    both_ways(|dir, create| {
        let path = dir.join("list");
        let mut seen = Vec::new();
        for text in [b"one", b"two"] {
            let output = create(&path).unwrap();
            let mut expected = seen.clone();
            let identities = output.identities().to_vec();
            write_all(output, text).unwrap();
            seen = vec![identity(&path)];
            expected.splice(0..0, seen.clone());
            assert_eq!(identities, expected);
        }
    });
    let output = Output::create(Path::new("/dev/null")).unwrap();
    assert_eq!(output.identities(), [identity(Path::new("/dev/null"))]);
}

#[test]
fn a_file_created_meanwhile_is_replaced() {
    both_ways(|dir, create| {
        let (file, directory) = (dir.join("file"), dir.join("directory"));
        let outputs = [create(&file).unwrap(), create(&directory).unwrap()];
        fs::write(&file, b"another writer's").unwrap();
        fs::create_dir(&directory).unwrap();
        let [to_file, on_directory] = outputs.map(|output| write_all(output, b"ours"));
        to_file.unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"ours");
        assert_eq!(on_directory.unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(listing(dir), ["directory", "file"]);
    });
}

/// The path that [`child`] writes; set by the tests that run it.
const CHILD_PATH: &str = "FTK_RECORD_TEST_PATH";

/// Not a test: writes a megabyte in a child process that can be killed or given a size limit.
#[test]
#[ignore = "run as a child process by the tests below"]
fn child() {
    let path = PathBuf::from(std::env::var_os(CHILD_PATH).expect("set by the parent"));
    let mut output = Output::create(&path).unwrap();
    output.write_all(&vec![b'x'; 1 << 20]).unwrap();
    output.flush().unwrap();
    writeln!(io::stdout(), "\nwritten").unwrap();
    let _ = std::io::stdin().read(&mut [0]); // until the parent closes the pipe
    output.commit().unwrap();
}

/// Returns the command that runs [`child`] from a shell that runs `limits` first.
fn child_command(path: &Path, limits: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{limits}\nexec \"$@\""), "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", "output::tests::child"])
        .env(CHILD_PATH, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Creates a directory with an old file. Returns it with the paths of the old file and of a new one.
fn old_and_new() -> (TempDir, [PathBuf; 2]) {
    let dir = TempDir::new().unwrap();
    let paths = ["old", "new"].map(|name| dir.path().join(name));
    fs::write(&paths[0], b"old").unwrap();
    (dir, paths)
}

#[test]
fn the_child_writes_if_it_is_not_disturbed() {
    let (dir, paths) = old_and_new();
    for path in &paths {
        assert!(child_command(path, "").output().unwrap().status.success());
        assert_eq!(path.metadata().unwrap().len(), 1 << 20);
    }
    assert_eq!(listing(dir.path()), ["new", "old"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_writer_leaves_no_file() {
    let (dir, paths) = old_and_new();
    for path in &paths {
        let mut child = child_command(path, "").spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == "written"), "the child got as far as its commit");
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        assert_eq!(fs::read(&paths[0]).unwrap(), b"old");
        assert_eq!(listing(dir.path()), ["old"]);
    }
}

#[test]
fn a_failed_writer_leaves_no_file() {
    let (dir, paths) = old_and_new();
    for path in &paths {
        // The limit counts blocks of 512 bytes. With the signal ignored, the write fails instead.
        let output = child_command(path, "trap '' XFSZ; ulimit -f 512").output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("FileTooLarge") || said.contains("File too large"), "{said}");
        assert_eq!(fs::read(&paths[0]).unwrap(), b"old");
        assert_eq!(listing(dir.path()), ["old"]);
    }
}
