//! The image: its program runs in a system that has nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::dist::target::Target;
use crate::dist::tools::{output, succeed};

/// Runs programs for the other processor.
const EMULATOR: &str = "/usr/bin/qemu-aarch64-static";

/// Unpacks the image of each processor, as a runtime of containers does, and lets its program hash a file.
pub(super) fn runs(image: &Path, scratch: &Path) -> Result<()> {
    let layout = scratch.join("layout");
    unpack(image, &layout)?;
    let index = json(&layout.join("index.json"))?;
    let index = json(&blob(&layout, &index["manifests"][0])?)?;
    let manifests = index["manifests"].as_array().context("the index lists manifests")?;
    ensure!(!manifests.is_empty(), "the image is for no processor");
    for descriptor in manifests {
        let processor = descriptor["platform"]["architecture"].as_str().context("a processor")?;
        let root = scratch.join(processor);
        let manifest = json(&blob(&layout, descriptor)?)?;
        let config = json(&blob(&layout, &manifest["config"])?)?;
        for layer in manifest["layers"].as_array().context("an image has layers")? {
            unpack(&blob(&layout, layer)?, &root)?;
        }
        let program = config["config"]["Entrypoint"][0].as_str().context("an image has a program")?;
        let text = root.join("tmp/text");
        fs::write(&text, "text\n")?;
        let mut chroot = Command::new("chroot");
        chroot.arg(&root);
        if processor != Target::native()?.debian() {
            if !Path::new(EMULATOR).exists() || processor != Target::Aarch64.debian() {
                println!("SKIPPED: no emulator for the image of {processor}");
                continue;
            }
            fs::copy(EMULATOR, root.join("emulator"))?;
            chroot.arg("/emulator");
        }
        // The only variable of a container.
        chroot.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let said = output(chroot.args([program, "hash", "/tmp/text"]))?;
        let expected = output(Command::new("sha256sum").arg(&text))?;
        let digest = expected.split(' ').next().unwrap_or_default();
        ensure!(said == format!("{digest}  /tmp/text\n"), "ftk in the image of {processor} says {said:?}");
        println!("the image of {processor} runs");
    }
    Ok(())
}

/// Unpacks an archive into a new folder.
fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    succeed(Command::new("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(folder))
}

fn json(path: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

/// Returns the path of a part of the image, after comparing its size and digest with those in its descriptor.
fn blob(layout: &Path, descriptor: &Value) -> Result<PathBuf> {
    let digest = descriptor["digest"].as_str().context("a descriptor has a digest")?;
    let digest = digest.strip_prefix("sha256:").context("of SHA-256")?;
    let path = layout.join("blobs/sha256").join(digest);
    let found = output(Command::new("sha256sum").arg(&path))?;
    ensure!(found.starts_with(&format!("{digest} ")), "{} has another digest", path.display());
    ensure!(
        Some(fs::metadata(&path)?.len()) == descriptor["size"].as_u64(),
        "another size than {descriptor}"
    );
    Ok(path)
}
