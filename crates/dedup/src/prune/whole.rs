//! Directories that are never taken apart.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use ftk_inventory::{DirNo, FileNo, Inventory};
use ftk_select::{PatternError, Roots, SpelledGlob};

use crate::UnitPlace;

/// Globs for directories that are never taken apart, and which of them matched one. Remembers the places of directories.
#[derive(Debug)]
pub struct Units {
    units: Vec<Unit>,
    roots: Vec<CString>,
    places: RefCell<HashMap<DirNo, UnitPlace>>,
}

#[derive(Debug)]
struct Unit {
    glob: SpelledGlob,
    is_used: Cell<bool>,
}

impl Unit {
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

impl Units {
    /// Compiles globs for these starting points, and notes which of them match a directory of the walk, or one above a
    /// starting point.
    ///
    /// # Errors
    /// If one is no valid glob.
    pub fn new<'g>(
        globs: impl IntoIterator<Item = &'g [u8]>,
        inventory: &Inventory,
        roots: &[CString],
    ) -> Result<Self, PatternError> {
        let places = Roots::new(roots);
        let unit = |glob| Ok(Unit { glob: SpelledGlob::new(glob, &places)?, is_used: Cell::new(false) });
        let units = globs.into_iter().map(unit).collect::<Result<_, _>>()?;
        let units = Self { units, roots: roots.to_vec(), places: RefCell::default() };
        if !units.units.is_empty() {
            (0..inventory.dirs()).for_each(|dir| _ = units.place(inventory, DirNo(dir)));
        }
        for root in roots {
            if units.are_used().all(|is_used| is_used) {
                break;
            }
            let resolved = fs::canonicalize(OsStr::from_bytes(root.as_bytes())).unwrap_or_default();
            resolved.ancestors().skip(1).for_each(|dir| _ = units.is_above(dir));
        }
        Ok(units)
    }

    /// Returns where a directory of the walk is that is not inside another unit of it.
    pub fn place(&self, inventory: &Inventory, dir: DirNo) -> UnitPlace {
        if self.units.is_empty() || inventory.has_starting_points(dir) {
            return UnitPlace::Outside;
        }
        let (path, root) = (inventory.dir_path(dir), &self.roots[inventory.root_of_dir(dir)]);
        let is_unit = self.any(|unit| unit.is_unit(inventory, dir, &path, root.as_bytes()));
        match inventory.parent(dir).is_none() && self.is_inside(root) {
            true => UnitPlace::Inside,
            false if is_unit => UnitPlace::Unit,
            false => UnitPlace::Outside,
        }
    }

    /// Returns whether a directory above a starting point is a unit. Its path has no links.
    pub fn is_above(&self, path: &Path) -> bool {
        path.components().any(|it| matches!(it, Component::Normal(_)))
            && self.any(|unit| unit.glob.is_match_above(path))
    }

    /// Returns whether a file of the walk is in a unit.
    pub fn contain(&self, inventory: &Inventory, dir: DirNo, file: FileNo) -> bool {
        if self.units.is_empty() {
            return false;
        }
        if inventory.has_starting_points(dir) {
            return self.is_inside(&self.roots[inventory.root_of(dir, file)]);
        }
        let mut known = self.places.borrow_mut();
        let above = std::iter::successors(Some(dir), |&dir| inventory.parent(dir));
        let place = |dir| *known.entry(dir).or_insert_with(|| self.place(inventory, dir));
        above.map(place).any(|place| place != UnitPlace::Outside)
    }

    /// Returns whether a starting point is inside a unit.
    fn is_inside(&self, root: &CString) -> bool {
        let root = fs::canonicalize(OsStr::from_bytes(root.as_bytes()));
        root.is_ok_and(|root| root.ancestors().skip(1).any(|dir| self.is_above(dir)))
    }

    fn any(&self, mut is_match: impl FnMut(&Unit) -> bool) -> bool {
        let matching = self.units.iter().filter(|unit| is_match(unit));
        matching.fold(false, |_, unit| {
            unit.is_used.set(true);
            true
        })
    }

    /// Returns for each glob whether it has matched a directory.
    pub fn are_used(&self) -> impl Iterator<Item = bool> {
        self.units.iter().map(|unit| unit.is_used.get())
    }
}
