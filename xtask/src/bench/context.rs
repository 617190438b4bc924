//! What every table needs to be made.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::build::Programs;
use super::cache::Cache;
use super::case::Pipeline;
use super::measure::{Meter, Quantity};
use super::options::Options;
use super::peers::Peers;
use super::scratch::Scratch;
use super::shape::{self, Shape};
use super::{interrupt, machine};

/// Programs, trees and options of one run.
pub(crate) struct Context {
    pub(crate) options: Options,
    pub(crate) programs: Programs,
    pub(crate) peers: Peers,
    pub(crate) scratch: Scratch,
    pub(crate) roles: Roles,
    /// How many processes or threads peers are given where they do not decide: one a CPU.
    pub(crate) jobs: usize,
    /// The tree of real files, if there is one.
    pub(crate) tree: Option<Tree>,
}

/// A tree to measure on.
#[derive(Clone)]
pub(crate) struct Tree {
    pub(crate) title: String,
    pub(crate) path: PathBuf,
    pub(crate) files: u64,
    pub(crate) file_system: String,
    /// The most frequent extensions, the first the most.
    pub(crate) extensions: Vec<String>,
}

impl Context {
    pub(crate) fn new(options: Options, programs: Programs, peers: Peers) -> Result<Self> {
        let scratch = Scratch::new(&options.scratch, options.keep)?;
        let source = options.tree.clone().or_else(|| if options.is_quick { None } else { registry() });
        let tree = source.as_deref().map(Tree::survey).transpose()?;
        let mut roles = Roles::default();
        roles.add(&programs.ftk, "ftk");
        roles.add(&programs.helper, "xtask");
        for (name, path) in peers.iter() {
            roles.add(path, name);
        }
        for shape in [shape::SMALL, shape::MEDIUM, shape::LARGE, shape::DEEP, shape::WIDE] {
            roles.add(&scratch.path(shape.name), &format!("${}", shape.name.to_uppercase()));
        }
        roles.add(&scratch.path(""), "$SCRATCH");
        if let Some(tree) = &tree {
            roles.add(&tree.path, "$TREE");
        }
        let jobs = std::thread::available_parallelism()?.get();
        Ok(Self { options, programs, peers, scratch, roles, jobs, tree })
    }

    /// The tree of this shape, made if need be.
    pub(crate) fn shape(&self, shape: &Shape) -> Result<Tree> {
        let path = self.scratch.tree(shape)?;
        rustix::fs::sync(); // or the first runs share the disk with what is still being written
        Ok(Tree {
            title: format!("{}: {shape}, {} bytes each", shape.name, shape::FILE_BYTES),
            files: shape.files(),
            file_system: machine::file_system(&path),
            extensions: ["jpg", "txt", "py"].map(str::to_owned).to_vec(),
            path,
        })
    }

    /// A clock for warm runs.
    pub(crate) fn clock(&self) -> Meter<'_> {
        Meter { quantity: Quantity::Time, cache: Cache::Warm, runs: self.options.runs, roles: &self.roles }
    }
}

impl Tree {
    /// Looks at a tree of real files.
    fn survey(path: &Path) -> Result<Self> {
        println!("looking at the tree");
        let mut extensions: HashMap<OsString, u64> = HashMap::new();
        let mut files = 0;
        let mut dirs = vec![path.to_owned()];
        while let Some(dir) = dirs.pop() {
            interrupt::check()?;
            for entry in fs::read_dir(&dir)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    dirs.push(entry.path());
                } else if kind.is_file() {
                    files += 1;
                    if let Some(extension) = entry.path().extension() {
                        *extensions.entry(extension.to_ascii_lowercase()).or_default() += 1;
                    }
                }
            }
        }
        let mut extensions: Vec<_> = extensions
            .into_iter()
            .filter_map(|(name, count)| Some((count, name.into_string().ok()?)))
            .filter(|(_, name)| name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .collect();
        extensions.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let name = path.file_name().unwrap_or(OsStr::new("tree")).to_string_lossy();
        Ok(Self {
            title: format!("{name}: {files} files"),
            path: path.to_owned(),
            files,
            file_system: machine::file_system(path),
            extensions: extensions.into_iter().take(3).map(|(_, name)| name).collect(),
        })
    }
}

/// The sources of the crates that cargo has downloaded: a tree that every developer has.
fn registry() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let path = home.join("registry/src");
    path.is_dir().then_some(path)
}

/// Names for paths, so that a record holds none of this machine.
#[derive(Default)]
pub(crate) struct Roles(Vec<(PathBuf, String)>);

/// Arguments of a command that are shown; the middle of longer ones is left out.
const SHOWN_WORDS: usize = 24;

impl Roles {
    /// Shows `path` and what is below it by `role`. Of paths that hold each other, the inner come first.
    fn add(&mut self, path: &Path, role: &str) {
        self.0.push((path.to_owned(), role.to_owned()));
    }

    /// The pipeline as one would type it.
    pub(crate) fn show(&self, pipeline: &Pipeline) -> String {
        pipeline.stages.iter().map(|words| self.stage(words)).collect::<Vec<_>>().join(" | ")
    }

    /// The text with every path that has a role shown by it.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (path, role)| text.replace(&*path.to_string_lossy(), role))
    }

    fn stage(&self, words: &[OsString]) -> String {
        let mut shown: Vec<String> = words.iter().map(|word| self.word(word)).collect();
        if shown.len() > SHOWN_WORDS {
            let left_out = format!("...{} more...", shown.len() - SHOWN_WORDS / 2);
            shown.splice(SHOWN_WORDS / 4..words.len() - SHOWN_WORDS / 4, [left_out]);
        }
        shown.join(" ")
    }

    fn word(&self, word: &OsStr) -> String {
        let below = |(path, role): &(PathBuf, String)| {
            let rest = Path::new(word).strip_prefix(path).ok()?;
            Some(if rest.as_os_str().is_empty() {
                role.clone()
            } else {
                format!("{role}/{}", rest.display())
            })
        };
        self.0.iter().find_map(below).unwrap_or_else(|| quoted(word))
    }
}

/// The word in single quotes if a shell would make something else of it.
fn quoted(word: &OsStr) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=,:+%".contains(byte);
    let text = word.display().to_string();
    if word.as_bytes().iter().all(is_plain) && !word.is_empty() { text } else { format!("'{text}'") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::case::words;

    #[test]
    fn commands_name_no_paths_of_the_machine() {
        let mut roles = Roles::default();
        roles.add(Path::new("/m/tools/fd"), "fd");
        roles.add(Path::new("/m/trees/small"), "$SMALL");
        roles.add(Path::new("/m/trees"), "$SCRATCH");
        let pipeline =
            Pipeline::new(words!["/m/tools/fd", "-g", "*e*", "/m/trees/small", "/m/trees/small/d"])
                .pipe(words!["wc", "-l", "/m/trees/tiny"]);
        assert_eq!(roles.show(&pipeline), "fd -g '*e*' $SMALL $SMALL/d | wc -l $SCRATCH/tiny");
    }

    #[test]
    fn reasons_name_no_paths_of_the_machine() {
        let mut roles = Roles::default();
        roles.add(Path::new("/m/tools/rg"), "rg");
        roles.add(Path::new("/m/trees"), "$SCRATCH");
        assert_eq!(roles.hide("/m/tools/rg ended; only here: /m/trees/a"), "rg ended; only here: $SCRATCH/a");
    }

    #[test]
    fn long_commands_are_shortened() {
        let words: Vec<OsString> = (0..1_000).map(|n| n.to_string().into()).collect();
        let shown = Roles::default().show(&Pipeline::new(words));
        assert_eq!(shown, "0 1 2 3 4 5 ...988 more... 994 995 996 997 998 999");
    }

    #[test]
    fn a_survey_counts_files_and_extensions() {
        let tree = Tree::survey(Path::new("src/bench")).unwrap();
        assert!(tree.files > 20);
        assert_eq!(tree.extensions, ["rs"]);
        assert_eq!(tree.title, format!("bench: {} files", tree.files));
    }
}
