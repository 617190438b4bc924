//! Manifests compressed with Zstandard, compared with the `zstd` command.

use std::fs;
use std::path::Path;

use super::records::{Manifest, create};
use crate::harness::{Dir, bytes, needs};

/// Returns the output of `zstd` for this input.
fn zstd(dir: &Dir, args: &[&str], input: &[u8]) -> Vec<u8> {
    let words = ["zstd", "-q", "-c"].iter().chain(args);
    dir.ftk([] as [&str; 0]).instead(dir, words).stdin(input).run().status(0).out
}

fn tree() -> Dir {
    let dir = Dir::new();
    for nth in 0..2_000 {
        dir.file(format!("t/{nth}"), &bytes(nth, 5));
    }
    dir.raw_file(b"t/new\nline \xff", b"odd");
    dir
}

#[test]
fn names_that_end_in_zst_are_written_compressed() {
    needs!("zstd");
    let dir = tree();
    dir.ftk(["manifest", "create", "t", "-o", "m.jsonl.zst"]).run().status(0).stdout("");
    dir.ftk(["manifest", "create", "t", "-o", "m.jsonl"]).run().status(0);
    let [compressed, plain] = ["m.jsonl.zst", "m.jsonl"].map(|name| fs::read(dir.path(name)).unwrap());
    assert!(compressed.starts_with(b"\x28\xb5\x2f\xfd") && compressed.len() < plain.len() / 2);
    let lines = zstd(&dir, &["-d"], &compressed);
    assert_eq!(Manifest::parse(&lines).entries, Manifest::parse(&plain).entries);
    zstd(&dir, &["-t", "m.jsonl.zst"], b"");
    dir.ftk(["manifest", "diff", "m.jsonl", "m.jsonl.zst"]).run().status(0).stdout("");
    dir.ftk(["manifest", "unique", "m.jsonl.zst", "m.jsonl"]).run().status(0).stdout("");

    // An update keeps the compression of the name that it writes.
    dir.file("t/5", b"edited");
    for new in ["m.jsonl.zst", "other.zst"] {
        dir.ftk(["manifest", "update", "t", "m.jsonl.zst", "-o", new]).run().status(0);
        let updated = fs::read(dir.path(new)).unwrap();
        assert_eq!(Manifest::parse(&zstd(&dir, &["-d"], &updated)).entry("5")["size_bytes"], 6);
        dir.ftk(["manifest", "verify", "t", new]).run().status(0).stdout("");
    }
    let run = dir.ftk(["manifest", "update", "t", "m.jsonl.zst"]).run().status(0);
    Manifest::parse(&run.out);
}

/// The bytes of a file decide how it is read, not its name.
#[test]
fn compressed_input_is_recognised_by_its_bytes() {
    needs!("zstd");
    let dir = tree();
    let plain = fs::read(create(&dir, &[])).unwrap();
    let half = plain.len() / 2;
    let frames = [zstd(&dir, &[], &plain[..half]), zstd(&dir, &["-19"], &plain[half..])].concat();
    let skippable = [&b"\x50\x2a\x4d\x18\x03\0\0\0abc"[..], &zstd(&dir, &[], &plain)].concat();
    for compressed in [zstd(&dir, &[], &plain), zstd(&dir, &["--ultra", "-22", "--no-check"], &plain), frames]
    {
        let path = dir.aside("no-name");
        fs::write(&path, &compressed).unwrap();
        dir.ftk(["manifest", "verify", "."]).arg(&path).run().status(0).stdout("");
        dir.ftk(["manifest", "verify", ".", "-"]).stdin(&compressed).run().status(0).stdout("");
    }
    fs::write(dir.aside("plain.zst"), &plain).unwrap();
    dir.ftk(["manifest", "verify", "."]).arg(dir.aside("plain.zst")).run().status(0);
    // A skippable frame comes first only in files that other programs make.
    dir.ftk(["manifest", "verify", ".", "-"]).stdin(&skippable).run().status(2).stdout("");
}

#[test]
fn damaged_compression_is_an_error() {
    needs!("zstd");
    let dir = tree();
    let plain = fs::read(create(&dir, &[])).unwrap();
    let good = zstd(&dir, &[], &plain);
    let end = good.len();
    let mut flipped = good.clone();
    flipped[end / 2] ^= 1;
    let lines = plain.iter().filter(|byte| **byte == b'\n').count();
    let first = plain.split_inclusive(|byte| *byte == b'\n').take(lines / 2).collect::<Vec<_>>().concat();
    for (what, bytes) in [
        ("its Zstandard compression is cut off", good[..end - 1].to_vec()),
        ("its Zstandard compression is cut off", good[..end / 2].to_vec()),
        ("its Zstandard compression is cut off", good[..5].to_vec()),
        ("its Zstandard compression is damaged: ", flipped),
        ("its Zstandard compression is damaged: ", [&*good, b"garbage"].concat()),
        ("damaged: something follows the footer", [&*good, &zstd(&dir, &[], b"more\n")].concat()),
        ("incomplete: it ends without a footer", zstd(&dir, &[], &first)),
        ("not a manifest of ftk: it is empty", zstd(&dir, &[], b"")),
        ("not a manifest of ftk: it is plain text", zstd(&dir, &[], b"hello\n")),
        ("not a manifest of ftk: it is compressed with zstd", zstd(&dir, &[], &good)),
    ] {
        fs::write(dir.aside("bad.zst"), &bytes).unwrap();
        for command in ["verify", "update"] {
            let run = dir.ftk(["manifest", command, "."]).arg(dir.aside("bad.zst")).run();
            run.status(2).stdout("").stderr_has("bad.zst': ").stderr_has(what);
        }
        dir.ftk(["manifest", "diff", "-"])
            .arg(dir.aside("manifest"))
            .stdin(&bytes)
            .run()
            .status(2)
            .stdout("");
    }
}

/// A few bytes that expand to one line without an end, and a window of 2 GiB, use bounded memory.
#[test]
fn a_little_input_cannot_claim_much_memory() {
    needs!("zstd");
    let dir = Dir::on_disk();
    let header = b"{\"ftk\":\"manifest\",\"version\":2,\"root\":\"/\",\"algorithms\":[],\"xattrs\":false,\"options\":[],\"start_ns\":0}\n";
    dir.zeros("bomb", 400 << 20);
    let bomb = dir.ftk([] as [&str; 0]).instead(&dir, ["zstd", "-q", "-c", "bomb"]).run().status(0).out;
    fs::remove_file(dir.path("bomb")).unwrap();
    assert!(bomb.len() < 100_000);
    let bomb = [zstd(&dir, &[], header), bomb].concat();
    let ftk = || dir.ftk(["manifest", "verify", ".", "-", "-j", "1"]).limit(&dir, "-v 400000");
    ftk().stdin(&bomb).run().status(2).stdout("").stderr_has("a line is too long");
    // Frame header with a window of 2 GiB.
    let wide = b"\x28\xb5\x2f\xfd\0\xa8\x01\0\0";
    ftk().stdin(wide).run().status(2).stdout("").stderr_has("too much memory");
}

#[test]
fn compressed_manifests_are_not_overwritten() {
    let dir = tree();
    let create = |name: &str| dir.ftk(["manifest", "create", "t", "-o", name]).run();
    create("m.zst").status(0);
    create("m.zst").status(2).stderr_has("'m.zst' is a manifest: use `ftk manifest update`");
    dir.ftk(["manifest", "create", "t", "--force", "-o", "m.zst"]).run().status(0);
    create("/dev/full").status(2).stderr_has("cannot write '/dev/full'");
    dir.symlink("/dev/full", "full.zst");
    create("full.zst").status(2).stdout("").stderr_has("cannot write 'full.zst': no space left on device");
    assert!(fs::symlink_metadata(dir.path("full.zst")).unwrap().is_symlink());
    create("no/such.zst").status(2);
    assert!(!Path::new(&dir.path("no")).exists());
}
