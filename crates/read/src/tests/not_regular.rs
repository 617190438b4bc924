//! Everything except regular files is refused, without blocking.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::harness::{Tree, bytes_of, name, open_dir, read_all, readers};
use ftk_file::Symlinks;

use crate::{Buf, How, Open, Ready, Span};

#[test]
fn only_regular_files_are_read() {
    let tree = Tree::new();
    assert!(Command::new("mkfifo").arg(tree.path("fifo")).status().unwrap().success());
    tree.file("target", b"content");
    symlink("target", tree.path("link")).unwrap();
    symlink("circle", tree.path("circle")).unwrap();
    let _socket = UnixListener::bind(tree.path("socket")).unwrap();
    std::fs::create_dir(tree.path("dir")).unwrap();
    let names = ["fifo", "link", "circle", "socket", "dir", "target"];
    for (which, mut reader) in readers() {
        let outcomes = read_all(&mut *reader, &tree.open(), &names);
        for (name, outcome) in names.iter().zip(outcomes) {
            let expected = match *name {
                "target" => Ok(b"content".to_vec()),
                _ => Err("not regular".to_owned()),
            };
            assert_eq!(bytes_of(outcome), expected, "{which}: {name}");
        }
        for device in ["zero", "null", "tty"] {
            let outcome = read_all(&mut *reader, &open_dir("/dev".as_ref()), &[device]).remove(0);
            assert_eq!(bytes_of(outcome), Err("not regular".to_owned()), "{which}: {device}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn reading_kmsg_does_not_block() {
    for (which, mut reader) in readers() {
        let outcome = bytes_of(read_all(&mut *reader, &open_dir("/proc".as_ref()), &["kmsg"]).remove(0));
        // Without permission to open the file, only that error shows.
        let expected = ["read: WouldBlock", "open: PermissionDenied", "open: NotFound"];
        assert!(outcome.as_ref().is_err_and(|e| expected.contains(&e.as_str())), "{which}: {outcome:?}");
    }
}

#[test]
fn links_are_followed_on_request() {
    let tree = Tree::new();
    symlink("target", tree.path("link")).unwrap();
    tree.file("target", b"content");
    let (dir, name) = (tree.open(), name("link"));
    for (which, mut reader) in readers() {
        let buf = Buf::new(reader.buf_len());
        reader.start(0, Open { dir: &dir, name: &name, how: How::new(Symlinks::Follow, Span::Whole) }, buf);
        let Some(Ready::Data(chunk)) = reader.poll(true) else { panic!("{which}") };
        assert_eq!(chunk.as_ref(), b"content", "{which}");
        reader.finish(0).unwrap();
    }
}

#[test]
fn missing_files_fail_to_open() {
    let tree = Tree::new();
    for (which, mut reader) in readers() {
        let outcome = read_all(&mut *reader, &tree.open(), &["gone"]).remove(0);
        assert_eq!(bytes_of(outcome), Err("open: NotFound".to_owned()), "{which}");
    }
}
