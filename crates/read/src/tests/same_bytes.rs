//! Whole files are read correctly, whatever their length.

use std::fs;

use super::harness::{BUF, Tree, content, open_dir, read_all, readers};

#[test]
fn lengths_around_the_buffer_size_are_read_correctly() {
    let lengths = [0, 1, 100, BUF - 1, BUF, BUF + 1, 2 * BUF, 3 * BUF + 7];
    let tree = Tree::new();
    let names: Vec<String> = (0..40).map(|i| format!("{i}")).collect();
    for (i, name) in names.iter().enumerate() {
        tree.file(name, &content(lengths[i % lengths.len()], i as u64));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (which, mut reader) in readers() {
        for (name, outcome) in names.iter().zip(read_all(&mut *reader, &tree.open(), &names)) {
            let (bytes, stat) = outcome.unwrap_or_else(|e| panic!("{which}: {name}: {e:?}"));
            assert!(bytes == fs::read(tree.path(name)).unwrap(), "{which}: {name}");
            assert_eq!(stat.size, bytes.len() as u64, "{which}: {name}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_with_a_wrong_size_are_read_whole() {
    for (dir, file) in [("/proc", "version"), ("/proc", "filesystems"), ("/sys/devices/system/cpu", "online")]
    {
        let expected = fs::read(std::path::Path::new(dir).join(file)).unwrap();
        assert!(!expected.is_empty());
        for (which, mut reader) in readers() {
            let outcome = read_all(&mut *reader, &open_dir(dir.as_ref()), &[file]).remove(0);
            let (bytes, stat) = outcome.unwrap_or_else(|e| panic!("{which}: {file}: {e:?}"));
            assert_ne!(stat.size, bytes.len() as u64, "{file} reports its real size");
            assert!(bytes == expected, "{which}: {file}");
        }
    }
}
