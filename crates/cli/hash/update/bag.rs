//! The files of a bag that must fit its payload manifests: the tag manifests, and `bag-info.txt`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use ftk_hash::Digest;
use ftk_record::{BagFile, Edits, End, quote, replace_payload_oxum};

use crate::console::Console;
use crate::hash::update::target::{Target, parse};

/// The name of the file with `Payload-Oxum`.
const INFO: &str = "bag-info.txt";

/// The files of a bag that are replaced.
#[derive(Default)]
pub(super) struct BagFiles {
    pub(super) payload: Vec<PathBuf>,
    tag_manifests: Vec<PathBuf>,
    info: Option<PathBuf>,
}

impl BagFiles {
    /// Finds the files of the bag `dir`.
    ///
    /// # Errors
    /// If the bag has files to fetch, or a manifest that ftk cannot write.
    pub(super) fn find(dir: &Path) -> anyhow::Result<Self> {
        let shown = quote(dir.as_os_str().as_bytes());
        let mut names = Vec::new();
        for entry in fs::read_dir(dir).with_context(|| format!("cannot list {shown}"))? {
            names.push(entry?.file_name());
        }
        ensure!(
            !names.iter().any(|name| name == "fetch.txt"),
            "{shown} has a fetch.txt: complete the bag first"
        );
        names.sort();
        let mut files = Self::default();
        for name in names {
            let Some(file) = BagFile::of(name.as_bytes()) else { continue };
            if file.algorithm.parse::<ftk_hash::Algorithm>().is_err() {
                bail!("cannot update {}: unsupported algorithm", quote(name.as_bytes()));
            }
            let list = if file.is_tag { &mut files.tag_manifests } else { &mut files.payload };
            list.push(dir.join(name));
        }
        files.info = Some(dir.join(INFO)).filter(|path| path.exists());
        Ok(files)
    }

    /// Returns the files other than payload manifests.
    pub(super) fn tags(&self) -> impl Iterator<Item = &PathBuf> {
        self.info.iter().chain(&self.tag_manifests)
    }
}

/// Returns the new bytes of each tag file: `bag-info.txt` if it has `Payload-Oxum`, and the tag manifests. `tags` are
/// these files, `manifests` the payload manifests with their new bytes.
///
/// # Errors
/// If a tag manifest has not the digest of a present file, unless `accepts`.
pub(super) fn tag_files(
    tags: &[Target<'_>],
    manifests: &[(&Target<'_>, Vec<u8>)],
    (bytes, files): (u64, u64),
    accepts: bool,
    memory: u64,
    console: &Console,
) -> anyhow::Result<Vec<Vec<u8>>> {
    let name_of = |target: &Target<'_>| target.path.file_name().unwrap_or_default().to_owned();
    let mut changed: Vec<(OsString, &[u8], Vec<u8>)> =
        manifests.iter().map(|(target, new)| (name_of(target), &*target.bytes, new.clone())).collect();
    let mut all = Vec::with_capacity(tags.len());
    for tag in tags {
        let name = name_of(tag);
        let shown = || quote(tag.path.as_os_str().as_bytes());
        if name == INFO {
            let new = replace_payload_oxum(&tag.bytes, bytes, files);
            let new = new.map_err(|why| anyhow::anyhow!("{}: {why}", shown()))?;
            let new = new.unwrap_or_else(|| tag.bytes.clone());
            changed.push((name, &tag.bytes, new.clone()));
            all.push(new);
            continue;
        }
        let list = parse(tag, End::Newline, &[], memory)?;
        let mut edits = Edits::default();
        for (nth, line) in list.lines().iter().enumerate() {
            let is_listed = |it: &&(OsString, &[u8], Vec<u8>)| it.0.as_bytes() == line.name;
            let Some((_, old, new)) = changed.iter().find(is_listed) else { continue };
            let digests = |bytes: &[u8]| -> Vec<(_, Digest)> {
                line.digests.iter().map(|(algorithm, _)| (*algorithm, algorithm.hash_one(bytes))).collect()
            };
            if digests(old) != line.digests {
                let (tag, file) = (shown(), quote(&line.name));
                ensure!(
                    accepts,
                    "{tag} has another digest of {file}: check the bag with --bag (--rehash accepts the file as it is)"
                );
                console
                    .warning(format_args!("{tag} had another digest of {file}, which is accepted as it is"));
            }
            edits.replaced.insert(nth, (new.len() as u64, digests(new)));
        }
        all.push(list.edit(&edits).with_context(shown)?);
    }
    Ok(all)
}
