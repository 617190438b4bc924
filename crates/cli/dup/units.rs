//! Directories that are never taken apart: `--unit`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use ftk_dedup::UnitPlace;
use ftk_inventory::{DirNo, FileNo, Inventory};
use ftk_select::{PatternError, Roots, SpelledGlob};

use crate::rules::Rule;

/// The directories of `--unit`, and which of these options matched one. Remembers the places of directories.
#[derive(Debug)]
pub(super) struct Units(Vec<Unit>, RefCell<HashMap<DirNo, UnitPlace>>);

#[derive(Debug)]
struct Unit {
    text: OsString,
    glob: SpelledGlob,
    is_used: Cell<bool>,
}

impl Unit {
    fn new(text: &OsStr, roots: &Roots<'_>) -> Result<Self, PatternError> {
        let glob = SpelledGlob::new(text.as_bytes(), roots)?;
        Ok(Self { text: text.to_owned(), glob, is_used: Cell::new(false) })
    }

    /// Returns whether a directory of the walk is a unit.
    fn is_unit(&self, inventory: &Inventory, dir: DirNo, path: &[u8], root: &[u8]) -> bool {
        if inventory.parent(dir).is_none() {
            let path = Path::new(OsStr::from_bytes(path));
            return self.glob.is_match_above(path)
                || fs::canonicalize(path).is_ok_and(|path| self.glob.is_match_above(&path));
        }
        match self.glob.is_name() {
            true => self.glob.is_match_of_name(inventory.name_of_dir(dir)),
            false => self.glob.is_match_below(inventory.root_of_dir(dir), path, root.len(), true),
        }
    }
}

/// Checks a value of `--unit`.
pub(super) fn parse(value: OsString) -> Result<OsString, String> {
    match Unit::new(&value, &Roots::none()) {
        Ok(_) => Ok(value),
        Err(error) => Err(match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        }),
    }
}

impl Units {
    /// Compiles the values of `--unit` for these starting points, and notes which of them match a directory of the walk, or
    /// one above a starting point.
    pub(super) fn new(
        values: &[OsString],
        inventory: &Inventory,
        roots: &[CString],
    ) -> Result<Self, PatternError> {
        let globs = Roots::new(roots);
        let units: Vec<_> = values.iter().map(|value| Unit::new(value, &globs)).collect::<Result<_, _>>()?;
        let units = Self(units, RefCell::default());
        if !units.0.is_empty() {
            (0..inventory.dirs()).for_each(|dir| _ = units.place(inventory, DirNo(dir), roots));
        }
        for root in roots {
            if units.0.iter().all(|unit| unit.is_used.get()) {
                break;
            }
            let resolved = fs::canonicalize(OsStr::from_bytes(root.as_bytes())).unwrap_or_default();
            resolved.ancestors().skip(1).for_each(|dir| _ = units.is_above(dir));
        }
        Ok(units)
    }

    /// Returns where a directory of the walk is that is not inside another unit of it.
    pub(super) fn place(&self, inventory: &Inventory, dir: DirNo, roots: &[CString]) -> UnitPlace {
        if self.0.is_empty() || inventory.has_starting_points(dir) {
            return UnitPlace::Outside;
        }
        let mut path = Vec::new();
        inventory.push_dir_path(dir, &mut path);
        let root = roots[inventory.root_of_dir(dir)].as_bytes();
        let is_unit = self.any(|unit| unit.is_unit(inventory, dir, &path, root));
        match inventory.parent(dir).is_none() && self.is_inside(&roots[inventory.root_of_dir(dir)]) {
            true => UnitPlace::Inside,
            false if is_unit => UnitPlace::Unit,
            false => UnitPlace::Outside,
        }
    }

    /// Returns whether a directory above a starting point is a unit. Its path has no links.
    pub(super) fn is_above(&self, path: &Path) -> bool {
        path.components().any(|it| matches!(it, Component::Normal(_)))
            && self.any(|unit| unit.glob.is_match_above(path))
    }

    /// Returns whether a file of the walk is in a unit.
    pub(super) fn contain(&self, inventory: &Inventory, dir: DirNo, file: FileNo, roots: &[CString]) -> bool {
        if self.0.is_empty() {
            return false;
        }
        if inventory.has_starting_points(dir) {
            return self.is_inside(&roots[inventory.root_of(dir, file)]);
        }
        let mut known = self.1.borrow_mut();
        let above = std::iter::successors(Some(dir), |&dir| inventory.parent(dir));
        let place = |dir| *known.entry(dir).or_insert_with(|| self.place(inventory, dir, roots));
        above.map(place).any(|place| place != UnitPlace::Outside)
    }

    /// Returns whether a starting point is inside a unit.
    fn is_inside(&self, root: &CString) -> bool {
        let root = fs::canonicalize(OsStr::from_bytes(root.as_bytes()));
        root.is_ok_and(|root| root.ancestors().skip(1).any(|dir| self.is_above(dir)))
    }

    fn any(&self, mut is_match: impl FnMut(&Unit) -> bool) -> bool {
        let matching = self.0.iter().filter(|unit| is_match(unit));
        matching.fold(false, |_, unit| {
            unit.is_used.set(true);
            true
        })
    }

    /// Returns the options as rules.
    pub(super) fn rules(&self) -> Vec<Rule> {
        let rule = |unit: &Unit| {
            let value = unit.text.as_bytes().to_vec();
            Rule::new("--unit", Some(value), true, Some(unit.is_used.get()))
        };
        self.0.iter().map(rule).collect()
    }
}
