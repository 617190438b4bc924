//! `ftk manifest export --format ascmhl`: adds a generation to the history of a directory.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use ftk_hash::{Algorithm, Digest, Hasher};
use ftk_inventory::Budget;
use ftk_manifest::{ASCMHL, CHAIN, ChainLink, History, Manifest, NewGeneration};
use ftk_record::{ASC_MHL, push_mhl_digest, push_xml, quote, xml_name};
use ftk_walk::FileType;
use jiff::Timestamp;

use crate::console::{Console, Outcome};
use crate::film::{DEFAULT_IGNORED, Ignored, intact_history};
use crate::human;
use crate::list::List;
use crate::stdout::Stdout;

/// Adds a generation with the digests of `manifest` to the history of the directory `card`.
///
/// The generation gets its name first, and then the chain file lists it.
pub(super) fn append(
    manifest: &Manifest,
    card: &Path,
    budget: &Budget,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let shown = quote(card.as_os_str().as_bytes());
    let name = card.canonicalize().with_context(|| format!("cannot open {shown}"))?;
    ensure!(name.is_dir(), "{shown} is not a directory: a history is about one");
    let header = manifest.header();
    ensure!(
        header.options.is_empty() && header.failed.paths().is_empty() && header.shard.is_none(),
        "it does not have all entries of a tree, and a generation would lack the others"
    );
    let history_dir = card.join(ASCMHL);
    let is_new = match fs::read_dir(&history_dir) {
        // A run that could not write leaves it empty.
        Ok(mut names) => names.next().is_none(),
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => bail!(anyhow::Error::new(error).context(format!("cannot open {shown}"))),
    };
    let history = match is_new {
        true => None,
        false => Some(intact_history(card, budget).with_context(|| shown.clone())?),
    };
    let ignored = history.as_ref().map(Ignored::of).transpose()?;
    let is_ignored = |path: &[u8], is_dir| match &ignored {
        Some(ignored) => ignored.has(path, is_dir),
        None => path
            .split(|byte| *byte == b'/')
            .any(|name| DEFAULT_IGNORED.iter().any(|ignored| name == ignored.as_bytes())),
    };
    let recorded = history.as_ref().and_then(|history| history.chains.get(1)).map(|it| it.prefix.clone());
    let nested = match recorded {
        None => nested(manifest, card, &is_ignored)?,
        recorded => recorded,
    };
    if let Some(nested) = nested {
        bail!("{shown} has the nested history {}: only `ascmhl create` adds to several ones", quote(&nested));
    }
    let links = history.as_ref().map_or(&[][..], |history| &history.chains[0].links);
    let number = links.last().map_or(1, |last| last.number + 1);
    let folder = xml_name(name.file_name().unwrap_or(OsStr::new("root")).as_bytes())
        .with_context(|| format!("the name of {shown}"))?;
    let now = Timestamp::now();
    let file_name = format!("{number:04}_{folder}_{}.mhl", now.strftime("%Y-%m-%d_%H%M%SZ"));
    let path = history_dir.join(&file_name);

    let [start, middle] = around_root(history.as_ref(), now);
    let generation = NewGeneration {
        manifest,
        history: history.as_ref(),
        is_ignored: &is_ignored,
        date: &|ns| Timestamp::from_nanosecond(ns).unwrap_or_default().strftime(DATE).to_string(),
        start,
        middle,
    };
    if is_new {
        // What a generation cannot hold is refused before there is a directory.
        generation.write(budget, &mut |_| Ok(()))?;
    }
    if is_new
        && let Err(error) = fs::create_dir(&history_dir)
        && error.kind() != ErrorKind::AlreadyExists
    {
        let name = quote(history_dir.as_os_str().as_bytes());
        bail!(anyhow::Error::new(error).context(format!("cannot create {name}")));
    }
    let stdout = Stdout::default();
    let written = List::create_new(&path).and_then(|mut list| {
        let mut hasher = Hasher::new(Algorithm::Sha512);
        let counts = generation.write(budget, &mut |bytes| {
            hasher.update(bytes);
            list.write(bytes);
            Ok(())
        })?;
        list.finish()?;
        Ok((counts, hasher.finalize()))
    });
    let (counts, digest) = written?;
    let chain_path = history_dir.join(CHAIN);
    let mut chain = List::create(Some(&chain_path), &stdout)?;
    chain.line(|out| {
        push_chain(out, links, &ChainLink { number, name: file_name, digest: (Algorithm::Sha512, digest) })
    });
    chain.finish()?;

    let mut said = format!("generation {number} of {shown}: {}", human::count(counts.files, "file"));
    for (count, what) in [(counts.failed, "failed"), (counts.missing, "missing")] {
        if count > 0 {
            said += &format!(", {count} {what}");
        }
    }
    console.summary(said);
    Ok(if counts.failed + counts.missing > 0 { Outcome::Negative } else { Outcome::Success })
}

/// Returns a directory below `card` that has a history of its own, which no generation needs to record, with a slash at
/// the end.
fn nested(
    manifest: &Manifest,
    card: &Path,
    is_ignored: &dyn Fn(&[u8], bool) -> bool,
) -> anyhow::Result<Option<Vec<u8>>> {
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        if entry.stat.file_type == FileType::Directory && entry.path != b"." && !is_ignored(entry.path, true)
        {
            let chain = card.join(OsStr::from_bytes(entry.path)).join(ASCMHL).join(CHAIN);
            if chain.symlink_metadata().is_ok() {
                return Ok(Some([entry.path, b"/"].concat()));
            }
        }
    }
    Ok(None)
}

/// A time as XML Schema writes it.
const DATE: &str = "%Y-%m-%dT%H:%M:%S+00:00";

/// Returns what precedes and follows the hash of the root in a generation.
fn around_root(history: Option<&History>, now: Timestamp) -> [Vec<u8>; 2] {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    let mut start = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<hashlist version=\"2.0\" \
                      xmlns=\"urn:ASC:MHL:v2.0\">\n  <creatorinfo>\n    <creationdate>"
        .to_vec();
    start.extend_from_slice(now.strftime(DATE).to_string().as_bytes());
    start.extend_from_slice(b"</creationdate>\n    <hostname>");
    push_xml(&mut start, xml_name(host.as_bytes()).unwrap_or_default());
    let version = env!("CARGO_PKG_VERSION");
    start.extend_from_slice(
        format!(
            "</hostname>\n    <tool version=\"{version}\">ftk</tool>\n  </creatorinfo>\n  <processinfo>\n    \
             <process>in-place</process>\n"
        )
        .as_bytes(),
    );
    let mut middle = b"    <ignore>\n".to_vec();
    let own = history.map_or(&[][..], |history| &history.chains[0].ignored).iter().map(String::as_str);
    let mut patterns = DEFAULT_IGNORED.to_vec();
    patterns.extend(own.filter(|pattern| !DEFAULT_IGNORED.contains(pattern)));
    for pattern in patterns {
        middle.extend_from_slice(b"      <pattern>");
        push_xml(&mut middle, pattern);
        middle.extend_from_slice(b"</pattern>\n");
    }
    middle.extend_from_slice(b"    </ignore>\n  </processinfo>\n  <hashes>\n");
    [start, middle]
}

/// Appends the whole chain file.
fn push_chain(out: &mut Vec<u8>, links: &[ChainLink], new: &ChainLink) {
    out.extend_from_slice(
        b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ascmhldirectory xmlns=\"urn:ASC:MHL:DIRECTORY:v2.0\">\n",
    );
    for ChainLink { number, name, digest: (algorithm, digest) } in links.iter().chain([new]) {
        let digest: &Digest = digest;
        let element = ASC_MHL.iter().find(|(it, _)| it == algorithm).map_or("c4", |(_, element)| element);
        out.extend_from_slice(format!("  <hashlist sequencenr=\"{number}\">\n    <path>").as_bytes());
        push_xml(out, name);
        out.extend_from_slice(format!("</path>\n    <{element}>").as_bytes());
        push_mhl_digest(out, *algorithm, digest);
        out.extend_from_slice(format!("</{element}>\n  </hashlist>\n").as_bytes());
    }
    out.extend_from_slice(b"</ascmhldirectory>\n");
}
