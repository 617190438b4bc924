//! Compressed streams, as the programs of their formats write them.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use ftk_record::Decompressed;

/// Returns what `tool` makes of `content`, or nothing if the tool is missing.
fn compressed(tool: &[&str], content: &[u8]) -> Option<Vec<u8>> {
    let mut child =
        Command::new(tool[0]).args(&tool[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut stdin = child.stdin.take().unwrap();
    let content = content.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&content).unwrap());
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(out.status.success(), "{tool:?}");
    Some(out.stdout)
}

fn read(stream: &[u8]) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let read = Decompressed::new(stream).and_then(|mut stream| stream.read_to_end(&mut content));
    read.map(|_| content).map_err(|error| error.to_string())
}

#[test]
fn streams_are_read_whole_or_not_at_all() {
    let content: Vec<u8> = (0..40_000_u32).flat_map(|it| (it / 7 * it).to_le_bytes()).collect();
    assert_eq!(read(&content), Ok(content.clone()));
    for tool in [
        &["gzip", "-c"][..],
        &["xz", "-c"],
        &["xz", "-9", "--check=sha256", "-c"],
        &["xz", "--block-size=8192", "-c"],
        &["zstd", "-qc"],
        &["zstd", "-qc", "--check"],
    ] {
        let Some(stream) = compressed(tool, &content) else { continue };
        assert_eq!(read(&stream), Ok(content.clone()), "{tool:?}");
        assert_eq!(
            read(&[&*stream, &*stream].concat()),
            Ok([&*content, &*content].concat()),
            "{tool:?} twice"
        );
        let ends = (stream.len() - 40..stream.len()).chain((20..stream.len()).step_by(stream.len() / 50));
        for end in ends {
            let error = read(&stream[..end]).unwrap_err();
            assert!(error.starts_with("its ") && error.contains("compression is"), "{tool:?} {end}: {error}");
        }
        let mut damaged = stream.clone();
        damaged[stream.len() / 2] ^= 1;
        if !tool.contains(&"-qc") || tool.contains(&"--check") {
            assert!(read(&damaged).is_err(), "{tool:?}");
        }
    }
    // The window of a preset is no more than the limit, and a larger one is refused.
    if let Some(stream) = compressed(&["xz", "--lzma2=dict=1GiB", "-c"], b"abc") {
        assert_eq!(read(&stream).unwrap_err(), "its xz compression needs too much memory");
    }
    assert!(read(b"BZh91AY&SY").unwrap_err().contains("compressed with bzip2"));
}
