//! The image for containers: the static program and an empty folder for temporary files, for both processors.
//!
//! It is an [image layout](https://github.com/opencontainers/image-spec/blob/main/image-layout.md) in an archive, as
//! podman, docker and skopeo read it. `Containerfile` describes the same image for one processor.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use super::archive::{copy, make_folder, permit, tar, tar_gz, write};
use super::source::Source;
use super::sums;
use super::target::Target;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

/// Returns the name under which runtimes load the image. It is no name of a registry.
fn name(version: &str) -> String {
    format!("localhost/ftk:{version}")
}

/// What images are made of.
pub(super) struct Images<'i> {
    /// The program for this machine, which computes the digests.
    pub(super) native: &'i Path,
    pub(super) source: &'i Source,
    /// An empty folder.
    pub(super) scratch: &'i Path,
}

impl Images<'_> {
    /// Makes the image for all targets.
    pub(super) fn make(&self, programs: &[(Target, PathBuf)], to: &Path) -> Result<()> {
        let layout = self.scratch.join("layout");
        for folder in ["", "blobs", "blobs/sha256"] {
            make_folder(&layout.join(folder))?;
        }
        let mut manifests = Vec::new();
        for (target, program) in programs {
            let layer = self.layer(&layout, *target, program)?;
            manifests.push(self.manifest(&layout, *target, &layer)?);
        }
        // A runtime chooses the processor in an index that is the only image here.
        let images = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests});
        let mut images = self.add_json(&layout, &images, INDEX)?;
        let name = name(&self.source.version);
        // podman reads either annotation, and docker the second one.
        images["annotations"] =
            json!({"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name});
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [images]});
        write(&layout.join("index.json"), &index.to_string())?;
        write(&layout.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#)?;
        tar_gz(&layout, &["blobs", "index.json", "oci-layout"], self.source, to)
    }

    /// Adds the files of a container, and returns their descriptor.
    fn layer(&self, layout: &Path, target: Target, program: &Path) -> Result<Value> {
        let root = self.scratch.join(target.machine());
        for folder in ["", "tmp", "usr", "usr/bin"] {
            make_folder(&root.join(folder))?;
        }
        permit(&root.join("tmp"), 0o1777)?;
        copy(program, &root.join("usr/bin/ftk"))?;
        let file = self.scratch.join("layer");
        tar(&root, &["tmp", "usr"], self.source, &file)?;
        self.add(layout, &file, LAYER)
    }

    /// Adds the image with a layer, and returns the descriptor of its manifest.
    fn manifest(&self, layout: &Path, target: Target, layer: &Value) -> Result<Value> {
        let platform = json!({"os": "linux", "architecture": target.debian()});
        let mut config = platform.clone();
        config["config"] = json!({
            "Entrypoint": ["/usr/bin/ftk"],
            "Labels": {
                "org.opencontainers.image.title": "ftk",
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
                "org.opencontainers.image.version": self.source.version,
            },
        });
        // The digest of the unpacked layer, which is not packed.
        config["rootfs"] = json!({"type": "layers", "diff_ids": [layer["digest"]]});
        let config = self.add_json(layout, &config, CONFIG)?;
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config,
            "layers": [layer],
        });
        let mut manifest = self.add_json(layout, &manifest, MANIFEST)?;
        manifest["platform"] = platform;
        Ok(manifest)
    }

    fn add_json(&self, layout: &Path, json: &Value, kind: &str) -> Result<Value> {
        let file = self.scratch.join("json");
        fs::write(&file, json.to_string())?;
        self.add(layout, &file, kind)
    }

    /// Moves a file to where its digest says, and returns its descriptor.
    fn add(&self, layout: &Path, file: &Path, kind: &str) -> Result<Value> {
        let size = fs::metadata(file)?.len();
        let digest = sums::sha256(self.native, file)?;
        let path = layout.join("blobs/sha256").join(&digest);
        fs::rename(file, &path)?;
        permit(&path, 0o644)?;
        Ok(json!({"mediaType": kind, "digest": format!("sha256:{digest}"), "size": size}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::source::version;

    #[test]
    fn readme_runs_the_image_under_its_name() {
        let version = version(include_str!("../../../Cargo.toml")).unwrap();
        let command = format!(" {} du /home\n", name(&version));
        assert!(include_str!("../../../README.md").contains(&command), "{command}");
    }
}
