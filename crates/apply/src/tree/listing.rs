//! Lists a directory, and finds the counterpart of each entry.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use ftk_file::{FileType, Stat, Version, is_temp_name, is_trusted};
use ftk_record::quote;
use rustix::fs::{Dir, Mode, OFlags, fstat, openat, readlinkat};
use rustix::io::Errno;

use crate::action::ActionKind;
use crate::copies::too_few;
use crate::metadata::{Metadata, attributes};
use crate::reach::{Place, READABLE, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::{Copies, Need, Seen, Step};

/// A directory as it is now, with the steps for its entries.
#[derive(Debug)]
pub struct Tree {
    /// The files, in the order of their paths.
    pub files: Vec<TreeFile>,
    /// The total size of the files, in bytes.
    pub bytes: u64,
    pub(crate) links: Vec<Link>,
    /// The directories, those above first. Empty if the action keeps them.
    pub(crate) directories: Vec<Directory>,
}

/// A file of a directory.
#[derive(Clone, Debug)]
pub struct TreeFile {
    /// The file and its counterpart.
    pub step: Step,
    /// Disk space, in units of 512 bytes.
    pub blocks: u64,
    /// The number of its hard links.
    pub nlink: u64,
}

/// A symbolic link with its counterpart.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) step: Step,
    pub(super) target: Vec<u8>,
    pub(super) metadata: Metadata,
}

/// A directory with its counterpart.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) step: Step,
    pub(super) metadata: Metadata,
}

/// Why a directory was refused, or where an action in it ended.
#[derive(Debug)]
pub struct TreeError {
    /// The path of the entry concerned.
    pub path: Vec<u8>,
    /// The reason.
    pub error: ActError,
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", quote(&self.path), self.error)
    }
}

impl Error for TreeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

impl Tree {
    /// Returns how many bytes the removal of each file frees, in the order of the files, provided that all files before
    /// it are removed. The last hard link of a file frees all of it.
    fn frees(&self) -> Vec<u64> {
        let mut left = HashMap::new();
        let freed = self.files.iter().map(|file| {
            let left = left.entry(file.step.victim.version.identity()).or_insert(file.nlink);
            *left = left.saturating_sub(1);
            if *left == 0 { file.blocks.saturating_mul(512) } else { 0 }
        });
        freed.collect()
    }

    /// Returns how many bytes an action on all files frees. What is moved keeps its blocks.
    pub fn freed_by(&self, kind: ActionKind) -> u64 {
        if kind.moves() { 0 } else { self.frees().into_iter().sum() }
    }

    /// Returns the steps for the files, with the bytes that each frees, provided that all steps before it are done. `None`: all
    /// steps for the names of this file free nothing.
    pub fn into_steps(self, kind: ActionKind) -> Vec<(Step, Option<u64>)> {
        let frees = match kind {
            ActionKind::Reflink => self.files.iter().map(|file| file.blocks.saturating_mul(512)).collect(),
            _ => self.frees(),
        };
        let identity = |file: &TreeFile| file.step.victim.version.identity();
        let mut of_files = HashMap::new();
        for (file, &frees) in self.files.iter().zip(&frees) {
            of_files.entry(identity(file)).and_modify(|of_file| *of_file |= frees > 0).or_insert(frees > 0);
        }
        let step = |(file, frees): (TreeFile, u64)| {
            let frees = of_files[&identity(&file)].then_some(frees);
            (file.step, frees)
        };
        self.files.into_iter().zip(frees).map(step).collect()
    }

    /// Lists the victim of a step and finds the counterparts of all entries in the keeper. Follows no links below the
    /// starting points. Changes nothing, and reads no content.
    ///
    /// Actions that keep the directories skip empty files, files that are hard links of their counterparts, and
    /// everything that is not a regular file.
    ///
    /// # Errors
    /// If an entry has no equal counterpart, or the action cannot be performed on an entry.
    pub fn list(reach: &mut Reach, kind: ActionKind, step: &Step) -> Result<Self, TreeError> {
        let removes = kind.removes();
        let mut tree = Self { files: Vec::new(), bytes: 0, links: Vec::new(), directories: Vec::new() };
        let mut lister =
            Lister { reach, removes, keeps_read_only: false, is_trusted: true, step, tree: &mut tree };
        // The paths of directories below the victim, the next one last.
        let mut waiting = vec![Vec::new()];
        let mut device = None;
        while let Some(below) = waiting.pop() {
            let listed = lister.directory(&below, &mut device, &mut waiting);
            listed.map_err(|(name, refusal)| TreeError {
                path: join(&join(&step.victim.path, &below), &name),
                error: refusal.into(),
            })?;
        }
        let is_trusted = lister.is_trusted;
        if removes && tree.files.is_empty() && !is_trusted {
            // Two paths of one directory can be told apart only by what happens to a file.
            let path = step.victim.path.clone();
            let error = Refusal::unproven("compare a file of each", Errno::OPNOTSUPP).into();
            return Err(TreeError { path, error });
        }
        tree.files.sort_unstable_by(|a, b| a.step.victim.path.cmp(&b.step.victim.path));
        Ok(tree)
    }
}

struct Lister<'l> {
    reach: &'l mut Reach,
    removes: bool,
    /// Whether the keeper itself is on a read-only file system.
    keeps_read_only: bool,
    /// Whether device and inode number identify all directories.
    is_trusted: bool,
    step: &'l Step,
    tree: &'l mut Tree,
}

/// A refusal, and the name of the entry in its directory. The name is empty for the directory itself.
type Refused = (Vec<u8>, Refusal);

impl Lister<'_> {
    /// Lists the directory at the path `below` the victim. Adds its subdirectories to `waiting`.
    fn directory(
        &mut self,
        below: &[u8],
        device: &mut Option<u64>,
        waiting: &mut Vec<Vec<u8>>,
    ) -> Result<(), Refused> {
        let own = |refusal| (Vec::new(), refusal);
        let seen = below_of(&self.step.victim, below);
        let place = self.reach.locate(Side::Victim, &seen.path, seen.root_len).map_err(own)?;
        let (fd, stat, metadata) = open(&place).map_err(own)?;
        let is_rounded =
            || Version { size: stat.size, ctime_ns: stat.ctime_ns, ..seen.version }.is_rounded(&stat);
        if below.is_empty() && is_rounded() {
            return Err(own(Refusal::Rounded(Side::Victim)));
        }
        if below.is_empty() && stat.identity() != seen.version.identity() {
            return Err(own(Refusal::Replaced(Side::Victim)));
        }
        if below.is_empty() && stat.mtime_ns != seen.version.mtime_ns {
            return Err(own(Refusal::Changed { side: Side::Victim, what: "its time of modification" }));
        }
        if *device.get_or_insert(stat.dev) != stat.dev && self.removes {
            return Err(own(Refusal::Mounted));
        }
        if self.removes {
            let victim = Seen { version: Version { size: 0, ..stat.version() }, ..seen };
            let (keeper, _, at) = self.counterpart(below, FileType::Directory).map_err(own)?;
            // The user may have named a directory on a read-only file system, but not one inside a kept directory.
            if !below.is_empty() && !self.keeps_read_only && at.is_read_only_directory() {
                return Err(own(Refusal::ReadOnly(Side::Keeper)));
            }
            self.keeps_read_only |= below.is_empty() && at.is_read_only_directory();
            let copies = self.copies(below, FileType::Directory, |_, _| Ok(())).map_err(own)?;
            let step = Step { copies, ..Step::new(victim, keeper) };
            self.tree.directories.push(Directory { step, metadata });
        }
        let (mut names, dir) = (Vec::new(), std::rc::Rc::new(fd));
        let failed = |errno: Errno| own(Refusal::unreadable(Side::Victim, "list", errno));
        let listing = openat(&dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        for entry in Dir::new(listing.map_err(failed)?).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_owned();
            if !matches!(name.to_bytes(), b"." | b"..") {
                names.push(name);
            }
        }
        names.sort_unstable();
        for name in names {
            let place = Place { dir: dir.clone(), name };
            let path = join(below, place.name.to_bytes());
            let entry = self.entry(&place, path, waiting);
            entry.map_err(|refusal| (place.name.to_bytes().to_vec(), refusal))?;
        }
        self.is_trusted &= is_trusted(&*dir);
        Ok(())
    }

    /// Adds one entry.
    fn entry(&mut self, place: &Place, path: Vec<u8>, waiting: &mut Vec<Vec<u8>>) -> Result<(), Refusal> {
        if is_temp_name(place.name.to_bytes()) {
            return Err(Refusal::TemporaryName(Side::Victim));
        }
        let stat = place.stat().map_err(|errno| Refusal::unreadable(Side::Victim, "stat", errno))?;
        match stat.file_type {
            FileType::Directory => waiting.push(path),
            FileType::Regular => return self.file(&path, &stat),
            _ if !self.removes => {}
            FileType::Symlink => self.link(place, &path, &stat)?,
            // Any future type is refused too.
            _ => return Err(Refusal::NotRegular(Side::Victim)),
        }
        Ok(())
    }

    fn file(&mut self, path: &[u8], stat: &Stat) -> Result<(), Refusal> {
        let (keeper, found, _) = self.counterpart(path, FileType::Regular)?;
        if found.size != stat.size {
            return Err(Refusal::ContentDiffers);
        }
        if !self.removes && (stat.size == 0 || found.identity() == stat.identity()) {
            return Ok(());
        }
        if found.identity() == stat.identity() {
            return Err(Refusal::SameFile);
        }
        let victim = Seen { version: stat.version(), ..below_of(&self.step.victim, path) };
        self.tree.bytes = self.tree.bytes.saturating_add(stat.size);
        let copies = self.copies(path, FileType::Regular, |found, _| match found.size == stat.size {
            true => Ok(()),
            false => Err(Refusal::ContentDiffers),
        })?;
        let step = Step { copies, ..Step::new(victim, keeper) };
        self.tree.files.push(TreeFile { step, blocks: stat.blocks, nlink: stat.nlink });
        Ok(())
    }

    fn link(&mut self, place: &Place, path: &[u8], stat: &Stat) -> Result<(), Refusal> {
        let (keeper, _, at) = self.counterpart(path, FileType::Symlink)?;
        let target = read_link(Side::Victim, place)?;
        if read_link(Side::Keeper, &at)? != target {
            return Err(Refusal::LinkDiffers);
        }
        let victim = Seen { version: stat.version(), ..below_of(&self.step.victim, path) };
        let metadata = Metadata {
            mode: stat.mode,
            uid: stat.uid,
            gid: stat.gid,
            atime_ns: stat.mtime_ns,
            mtime_ns: stat.mtime_ns,
            attributes: Vec::new(),
        };
        let copies =
            self.copies(path, FileType::Symlink, |_, at| match read_link(Side::Copy, at)? == target {
                true => Ok(()),
                false => Err(Refusal::LinkDiffers),
            })?;
        self.tree.links.push(Link { step: Step { copies, ..Step::new(victim, keeper) }, target, metadata });
        Ok(())
    }

    /// Finds the entry of the keeper at a path below it, which must have this type.
    fn counterpart(&mut self, below: &[u8], file_type: FileType) -> Result<(Seen, Stat, Place), Refusal> {
        self.entry_of(Side::Keeper, &self.step.keeper, below, file_type)
    }

    /// Finds the entries of this type at a path below the further directories that the step counts on, and omits those
    /// that `accept` refuses.
    fn copies(
        &mut self,
        below: &[u8],
        file_type: FileType,
        accept: impl Fn(&Stat, &Place) -> Result<(), Refusal>,
    ) -> Result<Option<Arc<Copies>>, Refusal> {
        let Some(copies) = &self.step.copies else { return Ok(None) };
        let (mut files, mut numbers) = (Vec::new(), vec![None; copies.files.len()]);
        let mut first_failed = None;
        for (number, directory) in numbers.iter_mut().zip(&copies.files) {
            let found = self.entry_of(Side::Copy, directory, below, file_type);
            match found.and_then(|(seen, stat, place)| accept(&stat, &place).map(|()| seen)) {
                Ok(seen) => {
                    *number = Some(files.len());
                    files.push(seen);
                }
                Err(refusal) => {
                    first_failed.get_or_insert((directory, refusal));
                }
            }
        }
        let mut needs = Vec::new();
        for &Need { count, ref among } in &copies.needs {
            let among: Vec<_> = among.iter().filter_map(|&nth| numbers[nth]).collect();
            if among.len() < count {
                return Err(too_few(count, among.len(), first_failed));
            }
            needs.push(Need { count, among });
        }
        Ok(Some(Arc::new(Copies { files, needs })))
    }

    /// Finds the entry at a path below a directory, which must have this type.
    fn entry_of(
        &mut self,
        side: Side,
        dir: &Seen,
        below: &[u8],
        file_type: FileType,
    ) -> Result<(Seen, Stat, Place), Refusal> {
        let seen = below_of(dir, below);
        let place = self.reach.locate(side, &seen.path, seen.root_len)?;
        let stat = match place.stat() {
            Err(Errno::NOENT | Errno::NOTDIR) => return Err(Refusal::NoCounterpart),
            stat => stat.map_err(|errno| Refusal::unreadable(side, "stat", errno))?,
        };
        if stat.file_type != file_type {
            return Err(Refusal::NoCounterpart);
        }
        let size = if file_type == FileType::Directory { 0 } else { stat.size };
        Ok((Seen { version: Version { size, ..stat.version() }, ..seen }, stat, place))
    }
}

/// Opens a directory for listing, and reads its metadata.
pub(crate) fn open(place: &Place) -> Result<(OwnedFd, Stat, Metadata), Refusal> {
    let unreadable = |op| move |errno: Errno| Refusal::unreadable(Side::Victim, op, errno);
    let fd = match openat(&place.dir, &place.name, READABLE, Mode::empty()) {
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(Refusal::Link(Side::Victim)),
        fd => fd.map_err(unreadable("open"))?,
    };
    let stat = Stat::of(&fd).map_err(unreadable("stat"))?;
    let raw = fstat(&fd).map_err(unreadable("stat"))?;
    let attributes = attributes(&fd)
        .map_err(|error| Refusal::unreadable(Side::Victim, "read the attributes of", error))?;
    let atime_ns = i128::from(raw.st_atime) * 1_000_000_000 + i128::from(raw.st_atime_nsec);
    let Stat { mode, uid, gid, mtime_ns, .. } = stat;
    Ok((fd, stat, Metadata { mode, uid, gid, atime_ns, mtime_ns, attributes }))
}

/// Returns the target of the symbolic link at a place.
pub(crate) fn read_link(side: Side, place: &Place) -> Result<Vec<u8>, Refusal> {
    let target = readlinkat(&place.dir, &place.name, Vec::new());
    Ok(target.map_err(|errno| Refusal::unreadable(side, "read the symbolic link", errno))?.into_bytes())
}

/// Returns the entry at a path below a directory. Its version is that of the directory.
fn below_of(dir: &Seen, below: &[u8]) -> Seen {
    Seen { path: join(&dir.path, below), ..dir.clone() }
}

fn join(path: &[u8], below: &[u8]) -> Vec<u8> {
    match (path, below) {
        (_, b"") => path.to_vec(),
        (b"", _) => below.to_vec(),
        _ if path.ends_with(b"/") => [path, below].concat(),
        _ => [path, b"/", below].concat(),
    }
}
