//! Tables made from lists of paths.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use ftk_inventory::{DirNo, FileNo, Inventory, Opener, PathList};
use rustix::fs::{AtFlags, CWD, FileType, Mode, mknodat, statat};
use rustix::io::Errno;

fn confined(root: &Path, paths: &[&str]) -> (Inventory, Vec<FileNo>) {
    let mut list = PathList::confined(CString::new(root.as_os_str().as_bytes()).unwrap());
    paths.iter().for_each(|path| list.push(path.as_bytes()).unwrap());
    Inventory::from_list(list).unwrap()
}

/// Returns the inode number of each path and whether it may be opened, or the error of its directory.
fn reach(inventory: &Inventory, files: &[FileNo]) -> Vec<Result<(u64, bool), Errno>> {
    let mut opener = Opener::new(inventory);
    let reach = |&file: &FileNo| {
        let dir = inventory.dir_of(file);
        let fd = opener.open(dir).map_err(|error| Errno::from_io_error(&error).unwrap())?;
        let stat = statat(&fd, inventory.name(dir, file), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((stat.st_ino, opener.may_open(&fd, dir, file)))
    };
    files.iter().map(reach).collect()
}

fn tree() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("root");
    fs::create_dir_all(root.join("d/e")).unwrap();
    for file in ["root/x", "root/d/x", "root/d/e/x", "outside"] {
        File::create(temp.path().join(file)).unwrap();
    }
    for (to, link) in [("..", "root/up"), ("../outside", "root/out"), ("d", "root/in"), ("x", "root/same")] {
        symlink(to, temp.path().join(link)).unwrap();
    }
    mknodat(CWD, root.join("d/fifo"), FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    temp
}

#[test]
fn files_are_found_by_every_spelling_of_their_path() {
    let temp = tree();
    let root = temp.path().join("root");
    let spellings = ["d/e/x", "d//e/x", "./d/e/x", "d/e//x", "d/../d/e/x", "in/e/x", "up/root/d/e/x"];
    let paths = spellings.map(|path| root.join(path).into_os_string());
    let mut list = PathList::new();
    paths.iter().for_each(|path| list.push(path.as_bytes()).unwrap());
    let (inventory, files) = Inventory::from_list(list).unwrap();
    assert_eq!(inventory.files() as usize, spellings.len());
    let ino = statat(CWD, root.join("d/e/x"), AtFlags::empty()).unwrap().st_ino;
    assert_eq!(reach(&inventory, &files), vec![Ok((ino, true)); spellings.len()]);
    assert!(files.iter().all(|&file| inventory.via_link(inventory.dir_of(file), file)));
}

#[test]
fn paths_cannot_lead_out_of_a_confined_list() {
    let temp = tree();
    let root = temp.path().join("root");
    let ino = |path: &str| statat(CWD, root.join(path), AtFlags::SYMLINK_NOFOLLOW).unwrap().st_ino;
    let (inventory, files) = confined(
        &root,
        &[
            "x",
            "./x",
            "d/x",
            "d/e/x",
            "up/outside",
            "up/root/x",
            "in/x",
            "out",
            "same",
            "no",
            "x/y",
            "d/fifo",
            "d",
        ],
    );
    let expected = [
        Ok((ino("x"), true)),
        Ok((ino("x"), true)),
        Ok((ino("d/x"), true)),
        Ok((ino("d/e/x"), true)),
        Err(Errno::LOOP),
        Err(Errno::LOOP),
        Err(Errno::LOOP),
        Ok((ino("out"), false)),
        Ok((ino("same"), false)),
        Err(Errno::NOENT),
        Err(Errno::NOTDIR),
        Ok((ino("d/fifo"), false)),
        Ok((ino("d"), false)),
    ];
    assert_eq!(reach(&inventory, &files), expected);
    assert!(files.iter().all(|&file| !inventory.via_link(inventory.dir_of(file), file)));
    // The directory becomes a link after it was opened.
    let mut opener = Opener::new(&inventory);
    let dir = inventory.dir_of(files[3]);
    opener.open(dir).unwrap();
    fs::rename(root.join("d"), root.join("was")).unwrap();
    symlink("was", root.join("d")).unwrap();
    opener.open(DirNo(0)).unwrap();
    assert_eq!(opener.open(dir).unwrap_err().raw_os_error(), Some(Errno::LOOP.raw_os_error()));
}

#[test]
fn a_root_that_is_a_link_is_followed_and_a_missing_one_is_an_error() {
    let temp = tree();
    symlink("root", temp.path().join("link")).unwrap();
    let (inventory, files) = confined(&temp.path().join("link"), &["x", "d/x"]);
    assert!(reach(&inventory, &files).iter().all(Result::is_ok));
    let (inventory, files) = confined(&temp.path().join("missing"), &["x", "d/x"]);
    assert_eq!(reach(&inventory, &files), [Err(Errno::NOENT), Err(Errno::NOENT)]);
}

/// The paths of these directories are longer than a system call accepts.
#[test]
fn paths_longer_than_path_max_are_opened() {
    let temp = tempfile::tempdir().unwrap();
    let name = "n".repeat(200);
    let mut dir: std::os::fd::OwnedFd = File::open(temp.path()).unwrap().into();
    let depth = 60;
    for _ in 0..depth {
        rustix::fs::mkdirat(&dir, name.as_str(), Mode::from_raw_mode(0o755)).unwrap();
        dir = rustix::fs::openat(&dir, name.as_str(), rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let file = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    rustix::fs::openat(&dir, "x", file, Mode::from_raw_mode(0o644)).unwrap();
    let path = format!("{}x", format!("{name}/").repeat(depth));
    let (inventory, files) = confined(temp.path(), &[&path]);
    assert!(reach(&inventory, &files)[0].is_ok());
    let mut list = PathList::new();
    list.push(temp.path().join(&path).as_os_str().as_bytes()).unwrap();
    let (inventory, files) = Inventory::from_list(list).unwrap();
    assert!(reach(&inventory, &files)[0].is_ok());
}
