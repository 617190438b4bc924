//! The entries of a manifest whose paths another manifest or a tree spells in another Unicode normal form.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;

use ftk_inventory::{Budget, Candidates, Full, Relocated, RelocatedMerge, Spellings};

use crate::entry::{key, path_of_key};
use crate::merge::Side;
use crate::pairs::{Pass, merge_manifests};
use crate::parse::Owned;
use crate::write::push_entry;
use crate::{Entries, Entry, Error, Manifest, Which};

/// The entries of a manifest, the newer of two, whose paths the other side spells differently.
///
/// Their lines are in an unnamed temporary file. Their paths are in memory.
#[derive(Debug)]
pub(crate) struct Respelled {
    lines: File,
    entries: Relocated<Line>,
}

/// Where the line of an entry is in the file.
#[derive(Clone, Copy, Debug)]
struct Line {
    offset: u64,
    len: usize,
}

impl Respelled {
    /// Finds the entries. `None` if there are none.
    pub(crate) fn find(
        manifests: (&Manifest, &Manifest),
        candidates: Candidates,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let candidates = RefCell::new(candidates);
        let add = |old: Option<&Entry<'_>>, new: Option<&Entry<'_>>| -> Result<(), Full> {
            let path = old.or(new).map_or(&[][..], |entry| key(entry.path));
            candidates.borrow_mut().add([old.is_some(), new.is_some()], path)
        };
        let mut added = Ok(());
        let same = |_, entry: Option<&Entry<'_>>| {
            added = added.and_then(|()| entry.map_or(Ok(()), |entry| add(Some(entry), Some(entry))));
        };
        merge_manifests(manifests, Pass::First, None, None, None, false, same, |old, new, _| {
            add(old.as_ref(), new.as_ref())?;
            Ok(ControlFlow::Continue(()))
        })?;
        added?;
        let spellings = candidates.into_inner().pair()?;
        match spellings.is_empty() {
            true => Ok(None),
            false => Self::new(manifests.1, Some(Which::Second), &spellings, budget).map(Some),
        }
    }

    /// Finds the entries of a manifest that get another spelling. An earlier pass must have read all of it. `which` is for
    /// errors.
    pub(crate) fn new(
        manifest: &Manifest,
        which: Option<Which>,
        spellings: &Spellings,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let (mut entries, mut aligner) = (Relocated::new(budget), spellings.aligner(budget));
        let (mut file, mut offset, mut line) = (BufWriter::new(tempfile::tempfile()?), 0, Vec::new());
        let mut all = manifest.entries_of(which)?;
        all.trust_trees();
        let mut position = 0;
        while all.advance()? {
            let entry = all.entry();
            if let Some(aligned) = aligner.align(key(entry.path))? {
                line.clear();
                push_entry(&mut line, &entry, &manifest.header().algorithms);
                line.truncate(line.len() - 1); // the newline
                file.write_all(&line)?;
                entries.add(
                    position,
                    aligned.path,
                    aligned.is_respelled,
                    Line { offset, len: line.len() },
                )?;
                offset += line.len() as u64;
            }
            position += 1;
        }
        entries.sort();
        let lines = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        Ok(Self { lines, entries })
    }

    /// Returns the number of names that are spelled differently.
    pub(crate) fn names(&self) -> u64 {
        self.entries.respelled()
    }
}

/// The spelling of a path in its own manifest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelled<'s> {
    /// The path.
    pub(crate) own_path: &'s [u8],
    /// Whether the name itself is spelled differently.
    pub(crate) is_respelled: bool,
}

/// The entries of a manifest in the order of their paths on the other side.
#[derive(Debug)]
pub(crate) struct AlignedEntries<'m> {
    own: Entries<'m>,
    has_own: bool,
    /// The entries that get another spelling, and the file with their lines.
    others: Option<(RelocatedMerge<'m, Line>, &'m File)>,
    line: Vec<u8>,
    /// The current entry, if it is spelled differently.
    current: Owned,
    own_path: Vec<u8>,
    respelled: Option<bool>,
    manifest: &'m Manifest,
}

impl<'m> AlignedEntries<'m> {
    /// Gives entries of the manifest the spelling of `respelled`, if there is one: then an earlier pass has read them all.
    pub(crate) fn new(
        mut own: Entries<'m>,
        manifest: &'m Manifest,
        respelled: Option<&'m Respelled>,
    ) -> Self {
        if respelled.is_some() {
            own.trust_trees();
        }
        Self {
            own,
            has_own: true,
            others: respelled.map(|respelled| (respelled.entries.merge(), &respelled.lines)),
            line: Vec::new(),
            current: Owned::new(),
            own_path: Vec::new(),
            respelled: None,
            manifest,
        }
    }

    /// Returns the current entry, with its path in the other manifest.
    pub(crate) fn entry(&self) -> Entry<'_> {
        if self.respelled.is_none() {
            return self.own.entry();
        }
        let entry = self.current.entry();
        Entry { is_unsettled: self.manifest.is_unsettled(&entry), ..entry }
    }

    /// Returns the entries of the manifest, if none gets another spelling.
    pub(crate) fn unchanged(&mut self) -> Option<&mut Entries<'m>> {
        self.others.is_none().then_some(&mut self.own)
    }

    /// Returns the line of the current entry, if ftk would write the same line for [`entry`](Self::entry).
    pub(crate) fn written_line(&self) -> Option<&[u8]> {
        if self.respelled.is_some() { None } else { self.own.written_line() }
    }

    /// Returns how the current entry is spelled in its own manifest, if that is different.
    pub(crate) fn spelled(&self) -> Option<Spelled<'_>> {
        Some(Spelled { own_path: &self.own_path, is_respelled: self.respelled? })
    }
}

impl Side for AlignedEntries<'_> {
    fn advance(&mut self) -> Result<bool, Error> {
        let Some((merge, lines)) = &mut self.others else { return self.own.advance() };
        if merge.needs_advance() {
            self.has_own = self.own.advance()?;
            while self.has_own && merge.passes_relocated() {
                self.has_own = self.own.advance()?;
            }
        }
        let own = self.has_own.then(|| key(self.own.path()));
        let Some((path, is_respelled, line)) = merge.next(own) else {
            self.respelled = None;
            return Ok(self.has_own);
        };
        self.line.resize(line.len, 0);
        lines.read_exact_at(&mut self.line, line.offset)?;
        let read = self.current.read(&self.line, self.manifest.header());
        read.map_err(|what| Error::Line { number: 0, what })?;
        self.current.swap_path(&mut self.own_path);
        self.current.set_path(path_of_key(path));
        self.respelled = Some(is_respelled);
        Ok(true)
    }

    fn path(&self) -> &[u8] {
        if self.respelled.is_some() { self.current.entry().path } else { self.own.path() }
    }
}
