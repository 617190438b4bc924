//! A history and those nested in it, as one list of files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::Path;

use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{Budget, Full, Reservation};
use ftk_record::{MhlItem, MhlKind, MhlUnusable};

use super::directories::Directories;
use super::generation::{HistoryDir, open_root};
use super::{CHAIN, HistoryError, below};
use crate::entry::ROOT;
use crate::parse::check_path;

/// A file that a history records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryFile {
    /// The path below the root.
    pub path: Vec<u8>,
    /// The size, if the history has it.
    pub size: Option<u64>,
    /// The first digest by each algorithm that no failed check found. Empty if there is none.
    pub digests: Vec<(Algorithm, Digest)>,
}

/// Whether a generation is as the chain file, or another history that refers to it, says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerationState {
    /// It is.
    Intact,
    /// Its bytes have another digest. What it records is not used.
    Edited,
    /// There is no such file.
    Missing,
    /// The chain file does not list it. What it records is not used.
    Unlisted,
}

/// A generation that a chain file lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainLink {
    /// The number in the chain file, or else its place there; the first is 1.
    pub number: u64,
    /// The name of the file.
    pub name: String,
    /// The digest of the file by the algorithm of the chain file, SHA-512 as a rule.
    pub digest: (Algorithm, Digest),
}

/// The chain of one history, and what its last generation ignores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The directory that the history is about, below the root: empty, or with a slash at the end.
    pub prefix: Vec<u8>,
    /// The generations, in their order.
    pub links: Vec<ChainLink>,
    /// The patterns of the last generation, in the syntax of `.gitignore`.
    pub ignored: Vec<String>,
}

/// Directory hashes that do not follow from the files of the same generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    /// The generation, as a path below the root.
    pub generation: Vec<u8>,
    /// What is wrong.
    pub what: String,
}

/// An item of a generation that cannot be used.
#[derive(Debug)]
pub struct UnusableItem {
    /// The generation, as a path below the root.
    pub generation: Vec<u8>,
    /// The line in it.
    pub line: u64,
    /// The file and the reason.
    pub item: MhlUnusable,
}

/// A history of ASC MHL 2.0 with those nested in it. No file that it records was read.
#[derive(Debug)]
pub struct History {
    /// The files in the order in which they were first recorded. A renamed file has its last path.
    pub files: Vec<HistoryFile>,
    /// All generations and their states, by their paths below the root.
    pub generations: BTreeMap<Vec<u8>, GenerationState>,
    /// The chains: that of the root, and then those of nested histories, the outer ones first.
    pub chains: Vec<Chain>,
    /// Directory hashes, and gaps in a chain, that cannot be right.
    pub inconsistencies: Vec<Inconsistency>,
    /// Items that cannot be used.
    pub unusable: Vec<UnusableItem>,
    /// The number of directory hashes that follow from the files, two of each directory by each algorithm.
    pub directory_hashes: u64,
    /// The number of directory hashes that were not compared, since some files lack a digest by the algorithm.
    pub unknown_directory_hashes: u64,
}

impl History {
    /// Reads the history of the directory `root`, which has a directory `ascmhl`. No link below `root` is followed.
    ///
    /// Nested histories are found by what the outer ones record. `known` are the paths below `root` of directories that
    /// have one in any case, each with a slash at the end.
    ///
    /// # Errors
    /// If there is none, if an intact file of it cannot be read or is malformed, or if it does not fit into the budget.
    pub fn read(root: &Path, known: &[Vec<u8>], budget: &Budget) -> Result<Self, HistoryError> {
        let mut loader = Loader {
            root: open_root(root)?,
            budget,
            reserved: Reservation::new(budget),
            history: Self {
                files: Vec::new(),
                generations: BTreeMap::new(),
                chains: Vec::new(),
                inconsistencies: Vec::new(),
                unusable: Vec::new(),
                directory_hashes: 0,
                unknown_directory_hashes: 0,
            },
            index: HashMap::new(),
            found: HashMap::new(),
            references: Vec::new(),
        };
        let mut open = vec![Vec::new()];
        let mut seen = BTreeSet::from([Vec::new()]);
        let mut known = known.iter();
        loop {
            let next = open.pop().or_else(|| known.find(|prefix| seen.insert((*prefix).clone())).cloned());
            let Some(prefix) = next else { break };
            let mut nested = loader.one(&prefix)?;
            nested.retain(|prefix| seen.insert(prefix.clone()));
            open.extend(nested);
        }
        Ok(loader.finish())
    }
}

/// A history while it is read.
struct Loader<'b> {
    root: OwnedFd,
    budget: &'b Budget,
    reserved: Reservation,
    history: History,
    /// The number of the file with each path; `None` for the former path of a renamed one.
    index: HashMap<Vec<u8>, usize>,
    /// The digests of the generations that were read.
    found: HashMap<Vec<u8>, (Algorithm, Digest)>,
    /// Generations of nested histories that others refer to, and their digests.
    references: Vec<(Vec<u8>, (Algorithm, Digest))>,
}

impl Loader<'_> {
    /// Reads the history of the directory `prefix`. Returns the directories that may have nested histories.
    fn one(&mut self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, HistoryError> {
        let is_root = prefix.is_empty();
        let dir = match HistoryDir::open(&self.root, prefix)? {
            Some(dir) => dir,
            None if !is_root => return Ok(Vec::new()),
            None => {
                let what = "there is no directory of this name, which has the history".into();
                return Err(HistoryError::Invalid { path: b"ascmhl".to_vec(), what });
            }
        };
        let mut chain = Chain { prefix: prefix.to_vec(), links: self.chain(&dir)?, ignored: Vec::new() };
        let mut nested = BTreeSet::new();
        for link in &chain.links {
            let path = dir.path_of(link.name.as_bytes());
            let read = match dir.read(link.name.as_bytes(), link.digest.0, self.budget) {
                Ok(read) => read,
                Err(HistoryError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                    self.history.generations.insert(path, GenerationState::Missing);
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.found.insert(path.clone(), (link.digest.0, read.digest));
            if read.digest != link.digest.1 {
                self.history.generations.insert(path, GenerationState::Edited);
                continue;
            }
            if let Some(what) = read.malformed {
                return Err(HistoryError::Invalid { path, what });
            }
            self.history.generations.insert(path.clone(), GenerationState::Intact);
            chain.ignored = self.generation(&path, prefix, read.items, &mut nested)?;
            read.reserved.release();
        }
        for name in dir.generations()? {
            let path = dir.path_of(&name);
            self.history.generations.entry(path).or_insert(GenerationState::Unlisted);
        }
        self.history.chains.push(chain);
        Ok(nested.into_iter().collect())
    }

    /// Reads the chain file.
    fn chain(&mut self, dir: &HistoryDir) -> Result<Vec<ChainLink>, HistoryError> {
        let path = dir.path_of(CHAIN.as_bytes());
        let invalid = |what: String| HistoryError::Invalid { path: path.clone(), what };
        let read = dir.read(CHAIN.as_bytes(), Algorithm::Sha512, self.budget)?;
        if let Some(what) = read.malformed {
            return Err(invalid(what));
        }
        let mut links = Vec::new();
        for (line, item) in read.items {
            let item = item.map_err(|unusable| invalid(format!("line {line}: {}", unusable.why)))?;
            let is_name = !item.path.contains('/') && !matches!(&*item.path, "." | "..");
            let Some(digest) = item.usable().next().filter(|_| is_name && item.kind == MhlKind::Generation)
            else {
                return Err(invalid(format!("line {line}: it is no generation in this directory")));
            };
            let expected = links.len() as u64 + 1;
            let number = item.number.unwrap_or(expected);
            if number != links.last().map_or(1, |last: &ChainLink| last.number + 1) {
                self.history.inconsistencies.push(Inconsistency {
                    generation: path.clone(),
                    what: format!("generation {number} is in place {expected}: the chain file has a gap"),
                });
            }
            self.reserved.consume((2 * size_of::<ChainLink>() + 4 * item.path.len()) as u64)?;
            links.push(ChainLink { number, name: item.path, digest });
        }
        read.reserved.release();
        Ok(links)
    }

    /// Adds what an intact generation records. Returns the patterns that it ignores.
    fn generation(
        &mut self,
        generation: &[u8],
        prefix: &[u8],
        items: Vec<(u64, Result<MhlItem, MhlUnusable>)>,
        nested: &mut BTreeSet<Vec<u8>>,
    ) -> Result<Vec<String>, HistoryError> {
        let mut directories = Directories::new(self.budget);
        let mut ignored = Vec::new();
        for (line, item) in items {
            let item = match item {
                Ok(item) => item,
                Err(item) => {
                    self.history.unusable.push(UnusableItem { generation: generation.to_vec(), line, item });
                    continue;
                }
            };
            if item.kind == MhlKind::Ignored {
                ignored.push(item.path);
                continue;
            }
            for path in [Some(&item.path), item.previous_path.as_ref()].into_iter().flatten() {
                check_path(path.as_bytes()).map_err(|error| HistoryError::Invalid {
                    path: generation.to_vec(),
                    what: format!("line {line}: {error}"),
                })?;
            }
            directories.add(&item)?;
            let path = below(prefix, item.path.as_bytes());
            match item.kind {
                MhlKind::File => self.file(path, prefix, &item)?,
                MhlKind::Directory if item.path.as_bytes() != ROOT => {
                    self.reserved.consume(2 * path.len() as u64 + 64)?;
                    nested.insert(below(&path, b"/"));
                }
                MhlKind::Directory | MhlKind::Ignored => {}
                MhlKind::Generation => {
                    // It is `DIR/ascmhl/NAME`.
                    let mut up = path.rsplitn(3, |byte| *byte == b'/').skip(2);
                    nested.extend(up.next().map(|dir| below(dir, b"/")));
                    self.reserved.consume(4 * path.len() as u64 + 256)?;
                    self.references.extend(item.usable().map(|digest| (path.clone(), digest)));
                }
            }
        }
        let compared = directories.compare();
        self.history.directory_hashes += compared.right;
        self.history.unknown_directory_hashes += compared.unknown;
        let wrong = compared.wrong.into_iter().map(|(path, what)| Inconsistency {
            generation: generation.to_vec(),
            what: format!(
                "the {what} of {} does not follow from the digests of its files",
                ftk_record::quote(&path)
            ),
        });
        self.history.inconsistencies.extend(wrong);
        Ok(ignored)
    }

    /// Adds what a generation says about a file.
    fn file(&mut self, path: Vec<u8>, prefix: &[u8], item: &MhlItem) -> Result<(), Full> {
        let digests = item.digests.len() * size_of::<(Algorithm, Digest)>();
        let previous = item.previous_path.as_ref().map(|previous| below(prefix, previous.as_bytes()));
        let files = &mut self.history.files;
        if let Some(at) = previous.and_then(|previous| self.index.remove(&previous)) {
            match self.index.contains_key(&path) {
                // Two files became one of this name; the later name has its own digests.
                true => files[at].path.clear(),
                false => {
                    self.reserved.consume(3 * path.len() as u64)?;
                    files[at].path.clone_from(&path);
                    self.index.insert(path.clone(), at);
                }
            }
        }
        let at = match self.index.get(&path) {
            Some(at) => *at,
            None => {
                let len = 4 * path.len() + 2 * size_of::<HistoryFile>() + 4 * size_of::<(Vec<u8>, usize)>();
                self.reserved.consume(len as u64)?;
                files.push(HistoryFile { path: path.clone(), size: None, digests: Vec::new() });
                self.index.insert(path, files.len() - 1);
                files.len() - 1
            }
        };
        self.reserved.consume(2 * digests as u64)?;
        let file = &mut files[at];
        // The size of a file with other content is not the right one.
        if item.digests.iter().all(|it| !it.is_failed) {
            file.size = file.size.or(item.size);
        }
        for (algorithm, digest) in item.usable() {
            if file.digests.iter().all(|(it, _)| *it != algorithm) {
                file.digests.push((algorithm, digest));
            }
        }
        Ok(())
    }

    fn finish(self) -> History {
        let Self { mut history, found, references, .. } = self;
        // A path that was given up stands for no file.
        history.files.retain(|file| !file.path.is_empty());
        for (path, digest) in references {
            let state = match found.get(&path) {
                None => GenerationState::Missing,
                Some(found) if found.0 == digest.0 && found.1 != digest.1 => GenerationState::Edited,
                Some(_) => continue,
            };
            let known = history.generations.entry(path).or_insert(state);
            if *known == GenerationState::Intact {
                *known = state;
            }
        }
        history.chains.sort_by(|a, b| a.prefix.cmp(&b.prefix));
        history
    }
}
