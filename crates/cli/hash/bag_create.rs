//! `ftk hash --bag --create DIR`: turns a directory into a BagIt bag in place.
//!
//! All files are read first. Then the tag files are written aside, the entries move by renames only, and before the bag
//! is complete, every file must still be as it was read.

use std::ffi::{CString, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path};

use anyhow::{Context as _, bail, ensure};
use ftk_apply::{ASIDE, Bagging, bag_path};
use ftk_file::{FileType, Stat};
use ftk_hash::{Algorithm, Hasher};
use ftk_inventory::{FileNo, Keep};
use ftk_process::Rows;
use ftk_record::{quote, write_bag_line};
use ftk_select::Roots;
use ftk_walk::Follow;
use indicatif::DecimalBytes;

use crate::console::{Console, Outcome, say_failed};
use crate::globals::Globals;
use crate::hash::HashArgs;
use crate::human::{self, ARROW, shown};
use crate::list::List;
use crate::manifest::{DECLARATION, bag_info, payload_manifest};
use crate::run::{Hashed, Run};
use crate::scan::{Scan, too_large};
use crate::stdout::Stdout;

/// The algorithms of bagit-python.
const USUAL: [Algorithm; 2] = [Algorithm::Sha256, Algorithm::Sha512];

/// The algorithms that other programs for bags know.
const KNOWN: [Algorithm; 4] = [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512];

/// The number of entries that are named if they cannot be in a bag.
const NAMED: usize = 10;

/// Refuses options of a list.
///
/// # Errors
/// If there is one.
pub(super) fn refuse_unused(args: &HashArgs, globals: &Globals) -> anyhow::Result<()> {
    ensure!(
        args.output.is_none() && !args.zero && !globals.json,
        "--create prints no list: it cannot be used with --output, --zero or --json"
    );
    Ok(())
}

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let [dir] = &*args.paths else { bail!("--create makes one bag: name its directory") };
    let leads_back = Path::new(dir).components().any(|it| it == Component::ParentDir);
    ensure!(!leads_back, "--create moves what is in the directory: name it without '..'");
    let given = args.algorithms();
    let algorithms = if given.is_empty() { &USUAL[..] } else { &given };
    if let Some(other) = algorithms.iter().find(|it| !KNOWN.contains(it)) {
        bail!("--create cannot be used with {other}: bags have md5, sha1, sha256 or sha512");
    }
    let name = quote(dir.as_bytes());
    let cannot = || format!("cannot make a bag of {name}");
    let unchanged = || format!("{}; nothing was changed", cannot());
    let mut bagging = Bagging::open(Path::new(dir)).with_context(cannot)?;
    if args.dry_run {
        return plan(dir, &bagging, args, algorithms, &Run::new(globals, console)?).with_context(unchanged);
    }
    if bagging.is_filled() {
        bagging.finish().with_context(cannot)?;
        console.summary(format_args!("{name} is a bag: what a killed run had prepared is in place"));
        return Ok(Outcome::Success);
    }
    let run = Run::new(globals, console)?;
    let before = Payload::list(dir, args, &run).with_context(unchanged)?;
    let work = run.whole(&before.scan.inventory, None, algorithms);
    let rows = run.rows(&work, true).with_context(|| too_large(&run.budget))?;
    let Hashed { rows, failed, .. } = run.read(&work, rows)?;
    say_failed(work.inventory, &failed, "not hashed", console);
    ensure!(failed.is_empty(), unchanged());
    bagging.begin().with_context(cannot)?;
    write_tags(&bagging, &before, &rows, algorithms).with_context(cannot)?;
    bagging.fill().with_context(cannot)?;
    before.ensure_unchanged(&Payload::list(dir, args, &run)?, &rows, &bagging, dir).with_context(|| {
        format!("{}: repeat this command to complete it, or move the entries of {ASIDE}/data back", cannot())
    })?;
    bagging.finish().with_context(cannot)?;
    if before.empty > 0 {
        let empty = human::directories(before.empty).replacen(' ', " empty ", 1);
        console.summary(format_args!("{empty} not recorded: manifests list only files"));
    }
    before.say_percent(console);
    // A killed run may have left tag files, which were read too and are written anew.
    let files = human::count(before.files.len() as u64, "file");
    let bytes = before.stats.iter().map(|stat| stat.size).sum();
    run.say_done(&format!("{name} is a bag of {files}"), bytes, algorithms);
    Ok(Outcome::Success)
}

/// Prints what would be moved and written.
fn plan(
    dir: &OsString,
    bagging: &Bagging,
    args: &HashArgs,
    algorithms: &[Algorithm],
    run: &Run<'_>,
) -> anyhow::Result<Outcome> {
    const UNCHANGED: &str = "Nothing was changed: omit --dry-run to do it.";
    let name = quote(dir.as_bytes());
    if bagging.is_filled() {
        run.console
            .summary(format_args!("would complete {name}, which a killed run had prepared. {UNCHANGED}"));
        return Ok(Outcome::Success);
    }
    let payload = Payload::list(dir, args, run)?;
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
        entries.push((entry.file_name(), slash));
    }
    entries.retain(|(name, _)| name != ASIDE);
    entries.sort();
    let stdout = Stdout::default();
    let mut list = List::create(None, &stdout)?;
    for (entry, slash) in &entries {
        let entry = shown(entry.as_bytes());
        // Writing to a Vec cannot fail.
        list.line(|out| _ = writeln!(out, "move   {entry}{slash} {ARROW} data/{entry}{slash}"));
    }
    let manifests = algorithms.iter().map(|it| payload_manifest(*it));
    let manifests = manifests.flat_map(|manifest| [format!("tag{manifest}"), manifest]);
    let mut files: Vec<_> = manifests.chain(["bag-info.txt", "bagit.txt"].map(str::to_owned)).collect();
    files.sort();
    for file in files {
        list.line(|out| _ = writeln!(out, "write  {file}"));
    }
    list.finish()?;
    let bytes = DecimalBytes(payload.stats.iter().map(|stat| stat.size).sum());
    let files = human::count(payload.files.len() as u64, "file");
    run.console.summary(format_args!("would make {name} a bag of {files}, {bytes}. {UNCHANGED}"));
    Ok(Outcome::Success)
}

/// The files of a directory that becomes a bag.
struct Payload {
    scan: Scan,
    /// The path of each file below `data`, in byte order, and its number.
    files: Vec<(Vec<u8>, FileNo)>,
    /// The metadata of the files, in the same order.
    stats: Vec<Stat>,
    /// The number of empty directories.
    empty: u64,
}

impl Payload {
    /// Lists the files. Whatever cannot be in a bag is an error.
    fn list(dir: &OsString, args: &HashArgs, run: &Run<'_>) -> anyhow::Result<Self> {
        let selection = args.selection.compile(&Roots::none(), &[], run.console)?;
        let root = vec![CString::new(dir.as_bytes())?];
        let scan = run.walk(root, Follow::Roots, &selection, Keep::Stats { files: true }, "")?;
        ensure!(scan.outcome == Outcome::Success, "it was not listed completely");
        let console = run.console;
        let (mut files, mut wrong, mut empty) = (Vec::new(), 0, 0);
        let (mut device, mut latest_dir) = (None, None::<Vec<u8>>);
        let mut order = scan.inventory.in_path_order();
        while let Some(item) = order.next() {
            let stat = item.metadata.context("internal error: an entry without metadata")?;
            let device = *device.get_or_insert(stat.dev);
            let below = item.path.get(dir.len()..).unwrap_or_default();
            let below = &below[below.iter().take_while(|&&byte| byte == b'/').count()..];
            let is_inside =
                |dir: &Vec<u8>| item.path.starts_with(dir) && item.path.get(dir.len()) == Some(&b'/');
            empty += u64::from(latest_dir.take().is_some_and(|dir| !is_inside(&dir)));
            let Some(below) = bag_path(below) else { continue };
            let why = match item.file_type {
                FileType::Directory if !item.is_whole => Some("it was not listed completely".to_owned()),
                FileType::Directory | FileType::Regular if stat.dev != device => {
                    Some("it is on another file system".to_owned())
                }
                FileType::Directory => {
                    latest_dir = (!below.is_empty()).then(|| item.path.to_vec());
                    None
                }
                FileType::Regular => {
                    let file = item.file.context("internal error: a file without a number")?;
                    files.push((below.to_vec(), file, stat));
                    write_bag_line(&mut Vec::new(), b"", &data_path(below)).err().map(|why| why.to_string())
                }
                FileType::Symlink => Some("it is a symbolic link".to_owned()),
                // Any future type, too.
                _ => Some("it is not a regular file".to_owned()),
            };
            if let Some(why) = why {
                wrong += 1;
                if wrong <= NAMED {
                    console.error(format_args!("{} cannot be in a bag: {why}", quote(item.path)));
                }
            }
        }
        empty += u64::from(latest_dir.is_some());
        drop(order);
        ensure!(wrong == 0, "{} cannot be in a bag", human::entries(wrong as u64));
        files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        if let Some(twice) = files.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            bail!("{} is there twice, here and in {ASIDE}/data: remove one", quote(&twice[0].0));
        }
        let stats = files.iter().map(|(.., stat)| *stat).collect();
        let files = files.into_iter().map(|(path, file, _)| (path, file)).collect();
        Ok(Self { scan, files, stats, empty })
    }

    /// Says that bagit-python does not decode `%25`, if a name has `%`.
    fn say_percent(&self, console: &Console) {
        let names = self.files.iter().filter(|(path, _)| path.contains(&b'%')).count() as u64;
        if names > 0 {
            let names = human::count(names, "name");
            console.summary(format_args!(
                "{names} with `%`, which is `%25` in manifests (RFC 8493): bagit-python takes the bag for invalid"
            ));
        }
    }

    /// Compares the files with the present ones.
    fn ensure_unchanged(
        &self,
        now: &Self,
        rows: &Rows,
        bagging: &Bagging,
        dir: &OsString,
    ) -> anyhow::Result<()> {
        let (was, is) = (bagging.stat()?, fs::metadata(dir)?);
        ensure!(was.identity() == identity(&is), "the directory was replaced");
        let mut now_files = now.files.iter().zip(&now.stats);
        for (path, file) in &self.files {
            let read = rows.stat(file.0).context("internal error: a file without metadata")?;
            let known = |it: &Stat| (it.dev, it.ino, it.size, it.mtime_ns);
            let is_same =
                now_files.next().is_some_and(|(it, stat)| it.0 == *path && known(stat) == known(&read));
            ensure!(is_same, "{} has changed", quote(path));
        }
        ensure!(now_files.next().is_none(), "a file has appeared");
        Ok(())
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn data_path(below: &[u8]) -> Vec<u8> {
    [b"data/", below].concat()
}

/// Writes the tag files.
fn write_tags(
    bagging: &Bagging,
    payload: &Payload,
    rows: &Rows,
    algorithms: &[Algorithm],
) -> anyhow::Result<()> {
    let mut tags = Vec::new();
    let mut write = |name: &str, text: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>| {
        let hashers = algorithms.iter().map(|&algorithm| Hasher::new(algorithm)).collect();
        let mut hashed = Vec::new();
        bagging.write(name, |out| {
            let mut tee = Tee { out, hashers };
            text(&mut tee)?;
            hashed = tee.hashers.into_iter().map(Hasher::finalize).collect();
            Ok(())
        })?;
        tags.push((name.to_owned(), hashed));
        anyhow::Ok(())
    };
    let line = |out: &mut dyn Write, digest: &[u8], path: &[u8]| {
        let mut line = Vec::new();
        write_bag_line(&mut line, digest, path).map_err(io::Error::other)?;
        out.write_all(&line)
    };
    for (nth, &algorithm) in algorithms.iter().enumerate() {
        write(&payload_manifest(algorithm), &mut |out| {
            payload.files.iter().try_for_each(|(path, file)| {
                let digest =
                    rows.digest(file.0, nth).ok_or_else(|| io::Error::other("a file was not hashed"))?;
                line(out, digest, &data_path(path))
            })
        })?;
    }
    let bytes = payload.stats.iter().map(|stat| u128::from(stat.size)).sum();
    let info = bag_info(Some(bytes), payload.files.len() as u64);
    write("bag-info.txt", &mut |out| out.write_all(info.as_bytes()))?;
    write("bagit.txt", &mut |out| out.write_all(DECLARATION.as_bytes()))?;
    tags.sort_by(|a, b| a.0.cmp(&b.0));
    for (nth, &algorithm) in algorithms.iter().enumerate() {
        bagging.write(&format!("tag{}", payload_manifest(algorithm)), |out| {
            tags.iter().try_for_each(|(name, digests)| line(out, digests[nth].as_bytes(), name.as_bytes()))
        })?;
    }
    Ok(())
}

/// Writes and hashes.
struct Tee<'o> {
    out: &'o mut dyn Write,
    hashers: Vec<Hasher>,
}

impl Write for Tee<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.hashers.iter_mut().for_each(|hasher| hasher.update(&bytes[..n]));
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
