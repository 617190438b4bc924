//! Exclusions from lists of patterns and by tags: their options, and the lists.

use std::ffi::{CString, OsString};
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::builder::{OsStringValueParser, TypedValueParser};
use ftk_record::quote;
use ftk_select::{IgnoreFile, SelectionBuilder};

use crate::input;

/// The option that the words of a manifest have instead of `--exclude-from`: they record lines, not names of lists.
pub(crate) const EXCLUDE_LINE: &str = "--exclude-line";

/// More bytes are not a list that someone wrote. A parsed list needs up to 20 times its size.
const MOST: u64 = 1 << 20;

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Selection by place")]
pub(crate) struct ExclusionArgs {
    /// Skip what FILE excludes, as .gitignore does
    ///
    /// Repeatable; the last line that matches decides. `-`: standard input. FILE has the syntax of .gitignore, and
    /// applies in each starting point: `/a` is in the starting point itself, `a` anywhere, `a/` a directory, and `!a`
    /// keeps what a line before excluded. This is not the syntax of `rsync --exclude-from`, `du -X` and `diff -X`. The
    /// summary counts lines that matched nothing.
    #[arg(long, value_name = "FILE", value_parser = ListFile::parser(), hide_short_help = true)]
    exclude_from: Vec<ListFile>,

    /// A line of a list, as manifests record it
    #[arg(long, value_name = "LINE", hide = true, allow_hyphen_values = true)]
    exclude_line: Vec<OsString>,

    /// Skip the contents of directories tagged as caches
    ///
    /// Such a directory has a file CACHEDIR.TAG that begins with the signature of <https://bford.info/cachedir/>. The
    /// directory itself is not skipped. Starting points can be tagged too.
    #[arg(long, hide_short_help = true)]
    exclude_caches: bool,

    /// Skip what is in directories that contain NAME
    ///
    /// Repeatable. NAME is the name of an entry of any type. The directory itself is not skipped, but everything in it
    /// is, including NAME. Starting points are no exception.
    #[arg(long, value_name = "NAME", value_parser = TagName::parser(), hide_short_help = true)]
    exclude_if_present: Vec<TagName>,
}

impl ExclusionArgs {
    /// Returns the long option of the first exclusion that was given.
    pub(crate) fn filter(&self) -> Option<&'static str> {
        [
            (!self.exclude_from.is_empty(), "--exclude-from"),
            (!self.exclude_line.is_empty(), EXCLUDE_LINE),
            (self.exclude_caches, "--exclude-caches"),
            (!self.exclude_if_present.is_empty(), "--exclude-if-present"),
        ]
        .into_iter()
        .find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Returns the lines of the list that `--exclude-from` gives this name.
    ///
    /// # Errors
    /// If the list cannot be read, or a line of it is malformed.
    pub(crate) fn lines_of(&self, name: &[u8]) -> anyhow::Result<Vec<Vec<u8>>> {
        let mut lists = self.exclude_from.iter();
        let list = lists.find(|list| list.name.as_bytes() == name).context("no list has this name")?;
        let lines = patterns(list.content()?).map(|line| line.map(<[u8]>::to_vec));
        lines.collect::<Result<_, _>>().map_err(|number| list.malformed(number))
    }

    /// Adds the exclusions to a selection.
    ///
    /// # Errors
    /// If a list cannot be read, or a line of it is malformed.
    pub(crate) fn add_to(&self, builder: SelectionBuilder) -> anyhow::Result<SelectionBuilder> {
        let mut builder = builder.exclude_caches(self.exclude_caches);
        for list in &self.exclude_from {
            let file = list.parsed()?;
            builder = builder.exclude_list("--exclude-from", list.name.as_bytes().to_vec(), file);
        }
        if !self.exclude_line.is_empty() {
            let lines = self.exclude_line.iter().map(|line| line.as_bytes());
            if let Some(line) = lines.clone().find(|line| !is_one_pattern(line)) {
                bail!("{EXCLUDE_LINE}: {} is not a pattern", quote(line));
            }
            let file = IgnoreFile::parse(lines.collect::<Vec<_>>().join(&b'\n')).context(EXCLUDE_LINE)?;
            builder = builder.exclude_list(EXCLUDE_LINE, Vec::new(), Arc::new(file));
        }
        let tags = self.exclude_if_present.iter();
        Ok(tags.fold(builder, |builder, TagName(name)| builder.exclude_if_present(name.clone())))
    }
}

/// Returns the lines with patterns, or the number of a line that is malformed.
fn patterns(content: &[u8]) -> impl Iterator<Item = Result<&[u8], usize>> {
    IgnoreFile::patterns(content).map(|(number, line)| line.ok_or(number))
}

fn is_one_pattern(line: &[u8]) -> bool {
    patterns(line).eq([Ok(line)])
}

/// A list that is read once, when it is needed first. Clones share it, since standard input cannot be read twice.
#[derive(Clone)]
pub(crate) struct ListFile {
    pub(crate) name: OsString,
    content: Arc<OnceLock<Vec<u8>>>,
}

impl ListFile {
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().map(|name| Self { name, content: Arc::default() })
    }

    /// Returns the content, which was read at most once.
    ///
    /// # Errors
    /// If the list cannot be read, or is larger than 1 MiB.
    pub(crate) fn content(&self) -> anyhow::Result<&[u8]> {
        let shown = quote(self.name.as_bytes());
        if self.content.get().is_none() {
            let file = if self.name == "-" {
                input::stdin_as_list().and_then(|fd| fd.try_clone_to_owned()).map(File::from)
            } else {
                input::open_file(&self.name)
            };
            let mut content = Vec::new();
            let file = file.with_context(|| format!("cannot open {shown}"))?;
            file.take(MOST + 1).read_to_end(&mut content).with_context(|| format!("cannot read {shown}"))?;
            ensure!(content.len() as u64 <= MOST, "cannot use {shown}: it is larger than 1 MiB");
            _ = self.content.set(content);
        }
        Ok(self.content.get().expect("it was just set"))
    }

    fn parsed(&self) -> anyhow::Result<Arc<IgnoreFile>> {
        let content = self.content()?;
        let file = IgnoreFile::parse(content);
        let file = file.with_context(|| format!("cannot use {}", quote(self.name.as_bytes())))?;
        match patterns(content).find_map(Result::err) {
            Some(number) => Err(self.malformed(number)),
            None => Ok(Arc::new(file)),
        }
    }

    fn malformed(&self, number: usize) -> anyhow::Error {
        anyhow!("{}: line {number} is not a pattern of .gitignore", quote(self.name.as_bytes()))
    }
}

/// The name of an entry that marks its directory.
#[derive(Clone, Debug)]
struct TagName(CString);

impl TagName {
    /// No file system has longer names.
    const LONGEST: usize = 255;

    fn parse(name: OsString) -> Result<Self, &'static str> {
        match name.as_bytes() {
            b"" | b"." | b".." => Err("it is not the name of an entry"),
            bytes if bytes.contains(&b'/') => Err("a name cannot contain `/`"),
            bytes if bytes.len() > Self::LONGEST => Err("no name is longer than 255 bytes"),
            _ => CString::new(name.into_vec()).map(Self).map_err(|_| "a name cannot contain NUL"),
        }
    }

    fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(Self::parse)
    }
}

impl fmt::Debug for ListFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListFile").field(&self.name).finish()
    }
}
