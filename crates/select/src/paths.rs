//! Tests on the path below the starting point.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use ftk_walk::FileType;
use regex::bytes::{RegexSet, RegexSetBuilder};
use regex_syntax::{Error as SyntaxError, ParserBuilder};

use crate::glob::{Glob, Globs, Pattern};
use crate::roots::{PerRoot, Readings, Roots};
use crate::selection::last_part;
use crate::spelling::{Spelling, divisions, expand, normalise_path};
use crate::{ParseError, PatternError};

/// Compiles regular expressions, one of which must match.
pub(crate) fn compile_regexes(regexes: &[&str]) -> Result<RegexSet, PatternError> {
    // Parse each by itself to get the position of an error.
    for regex in regexes {
        let mut parser = ParserBuilder::new().unicode(false).utf8(false).dot_matches_new_line(true).build();
        parser.parse(regex).map_err(|error| PatternError::regex(regex, syntax(&error)))?;
    }
    RegexSetBuilder::new(regexes)
        .unicode(false)
        .dot_matches_new_line(true)
        .build()
        .map_err(|error| PatternError::regex(&regexes.join("|"), ParseError::new(0, error.to_string())))
}

fn syntax(error: &SyntaxError) -> ParseError {
    match error {
        SyntaxError::Parse(error) => ParseError::new(error.span().start.offset, error.kind().to_string()),
        SyntaxError::Translate(error) => ParseError::new(error.span().start.offset, error.kind().to_string()),
        other => ParseError::new(0, other.to_string()),
    }
}

/// Globs for paths below starting points, one of which must match.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    /// For what is below starting points.
    below: AnyAndDirs,
    /// For the last names of starting points, which are below nothing.
    names: AnyAndDirs,
    /// The patterns that name the starting point itself.
    itself: Vec<usize>,
}

/// Globs for entries of any type, and for directories. Their numbers are those of the patterns.
#[derive(Clone, Debug)]
struct AnyAndDirs {
    any: Numbered,
    dirs: Numbered,
}

impl Paths {
    /// Compiles globs, which are numbered in their order.
    ///
    /// # Errors
    /// If one is invalid, or they are too large together.
    pub(crate) fn new(patterns: &[&Pattern], roots: &Roots<'_>) -> Result<PerRoot<Self>, PatternError> {
        let readings = patterns.iter().map(|it| roots.read(&it.glob)).collect::<Result<Vec<_>, _>>()?;
        per_root(&readings, |spellings| {
            let itself = |it: &(usize, &Spelling)| it.1.is_path && it.1.glob.is_empty();
            let (itself, others): (Vec<_>, Vec<_>) = spellings.into_iter().partition(itself);
            let itself = itself.into_iter().map(|(number, _)| number).collect();
            let names = others.iter().filter(|(_, it)| !it.is_below()).copied().collect();
            Ok(Self { below: AnyAndDirs::new(others)?, names: AnyAndDirs::new(names)?, itself })
        })
    }
}

impl AnyAndDirs {
    fn new(spellings: Vec<(usize, &Spelling)>) -> Result<Self, PatternError> {
        let (dirs, any): (Vec<_>, Vec<_>) = spellings.into_iter().partition(|(_, it)| it.only_dirs);
        Ok(Self { any: Numbered::new(&any)?, dirs: Numbered::new(&dirs)? })
    }

    fn match_path(&self, path: &[u8], file_type: FileType) -> bool {
        self.any.globs.matches(path) || (file_type == FileType::Directory && self.dirs.globs.matches(path))
    }

    fn each_match_of_path(&self, path: &[u8], file_type: FileType, visit: &mut dyn FnMut(usize)) {
        self.any.each_match(path, visit);
        if file_type == FileType::Directory {
            self.dirs.each_match(path, visit);
        }
    }
}

impl PerRoot<Paths> {
    /// Returns whether a glob matches this entry of starting point number `root`.
    ///
    /// `path` is its path below the starting point. At depth 0 it is the last name of the starting point, which only the
    /// globs match that apply below every one.
    pub(crate) fn matches(&self, root: usize, path: &[u8], file_type: FileType, depth: u32) -> bool {
        match depth {
            0 => self.common().names.match_path(path, file_type) || !self.of(root).itself.is_empty(),
            _ => self.of(root).below.match_path(path, file_type),
        }
    }

    /// Calls `visit` with the number of each glob that matches.
    pub(crate) fn each_match(
        &self,
        root: usize,
        path: &[u8],
        file_type: FileType,
        depth: u32,
        visit: &mut dyn FnMut(usize),
    ) {
        match depth {
            0 => {
                self.common().names.each_match_of_path(path, file_type, visit);
                self.of(root).itself.iter().copied().for_each(visit);
            }
            _ => self.of(root).below.each_match_of_path(path, file_type, visit),
        }
    }
}

/// Checks a glob for paths without knowing the starting points. A glob that is valid only below one of them is not
/// refused, since its beginning may be a name.
pub(crate) fn check_glob(pattern: &Pattern) -> Result<(), PatternError> {
    let is_valid = |glob: &[u8]| Globs::check(&Pattern { glob: glob.into(), ..pattern.clone() });
    let slashes = pattern.glob.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let mut rests = slashes.map(|(at, _)| &pattern.glob[at + 1..]).filter(|rest| !rest.is_empty());
    match is_valid(&Spelling::of(&pattern.glob).glob) {
        Err(error) if !rests.any(|rest| is_valid(&Spelling::of(rest).glob).is_ok()) => {
            Err(is_valid(&pattern.glob).err().unwrap_or(error))
        }
        _ => Ok(()),
    }
}

/// Globs of entries to skip with everything below them. A glob matches names, or paths if it contains a
/// slash.
#[derive(Clone, Debug)]
pub(crate) struct Excluded {
    any: NamesAndPaths,
    dirs: NamesAndPaths,
    places: Vec<Place>,
    /// The globs for paths, without braces.
    paths: Vec<Vec<u8>>,
    /// The globs that name the starting point itself.
    itself: Vec<usize>,
    /// The globs for paths that its last name can match.
    start_names: Numbered,
    /// Each division of these globs, made when it is needed.
    divided: OnceLock<Vec<(Glob, Rest)>>,
}

/// What a glob for paths means below a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The glob for paths below this directory.
    pub glob: Vec<u8>,
    /// The path below this directory at which everything is that the glob matches. Empty if that is the directory.
    pub place: Vec<u8>,
    /// The glob for paths below the place. Empty if the place is all that the glob matches.
    pub inside: Vec<u8>,
}

impl Rest {
    fn new(glob: &[u8]) -> Self {
        let spelling = Spelling::of(glob);
        let ((place, _), inside) = (spelling.place(), spelling.after_place());
        Self { glob: spelling.glob, place, inside }
    }
}

#[derive(Clone, Debug)]
struct NamesAndPaths {
    names: Numbered,
    paths: Numbered,
}

/// Where everything is that a glob for paths matches.
#[derive(Clone, Debug)]
struct Place {
    glob: usize,
    path: Vec<u8>,
    /// Whether the glob matches only this path. Otherwise it matches paths below it.
    is_whole: bool,
}

impl Excluded {
    /// Compiles the globs, which are numbered in their order. A slash at the end of a glob restricts it to directories.
    ///
    /// # Errors
    /// If one is invalid, or they are too large together.
    pub(crate) fn new(globs: &[Vec<u8>], roots: &Roots<'_>) -> Result<PerRoot<Self>, PatternError> {
        let readings = globs.iter().map(|glob| roots.read(glob)).collect::<Result<Vec<_>, _>>()?;
        per_root(&readings, |mut spellings| {
            let itself = spellings.iter().filter(|(_, it)| it.glob.is_empty()).map(|(number, _)| *number);
            let itself = itself.filter(|&number| !Spelling::of(&globs[number]).only_dirs).collect();
            spellings.retain(|(_, spelling)| !spelling.glob.is_empty());
            let place = |&(glob, spelling): &(usize, &Spelling)| {
                let (path, is_whole) = spelling.place();
                Place { glob, path, is_whole }
            };
            let places = spellings.iter().filter(|(_, it)| it.is_path).map(place);
            let places = places.filter(|place| !place.path.is_empty()).collect();
            let paths =
                spellings.iter().filter(|(_, it)| it.is_path).flat_map(|(_, it)| expand(&it.glob)).collect();
            let (dirs, any): (Vec<_>, Vec<_>) = spellings.into_iter().partition(|(_, it)| it.only_dirs);
            let start_names: Vec<_> =
                any.iter().filter(|(_, it)| it.is_path && !it.is_below()).copied().collect();
            Ok(Self {
                start_names: Numbered::new(&start_names)?,
                any: NamesAndPaths::new(any)?,
                dirs: NamesAndPaths::new(dirs)?,
                places,
                paths,
                itself,
                divided: OnceLock::new(),
            })
        })
    }

    /// Returns whether a glob matches this entry. `path` is its path below the starting point.
    pub(crate) fn matches(&self, name: &[u8], path: &[u8], file_type: FileType) -> bool {
        let by = |globs: &NamesAndPaths| globs.names.globs.matches(name) || globs.paths.globs.matches(path);
        by(&self.any) || (file_type == FileType::Directory && by(&self.dirs))
    }

    /// Calls `visit` with the number of each glob that matches.
    pub(crate) fn each_match(
        &self,
        name: &[u8],
        path: &[u8],
        file_type: FileType,
        visit: &mut dyn FnMut(usize),
    ) {
        self.any.each_match(name, path, visit);
        if file_type == FileType::Directory {
            self.dirs.each_match(name, path, visit);
        }
    }

    /// Calls `visit` for each glob that matches only what is in this directory, which is not entered: with its number,
    /// and with the path below the directory that must exist so that it can match anything.
    pub(crate) fn each_inside(&self, dir: &[u8], visit: &mut dyn FnMut(usize, &[u8])) {
        for Place { glob, path, is_whole } in &self.places {
            match path.strip_prefix(dir) {
                Some([]) if !is_whole => visit(*glob, b""),
                Some([b'/', below @ ..]) => visit(*glob, below),
                _ => {}
            }
        }
    }

    /// Returns what the globs for paths mean below this directory.
    pub(crate) fn below(&self, dir: &[u8]) -> Vec<Rest> {
        if dir.is_empty() {
            return self.paths.iter().map(|glob| Rest::new(glob)).collect();
        }
        let divided = self.divided.get_or_init(|| {
            let divisions =
                self.paths.iter().flat_map(|glob| divisions(glob)).filter(|(_, rest)| !rest.is_empty());
            divisions.filter_map(|(first, rest)| Some((Glob::new(first).ok()?, Rest::new(&rest)))).collect()
        });
        divided.iter().filter(|(first, _)| first.is_match(dir)).map(|(_, rest)| rest.clone()).collect()
    }

    /// Returns whether no glob can match anything: all name a starting point.
    pub(crate) fn is_empty(&self) -> bool {
        let is_empty = |it: &NamesAndPaths| it.names.globs.is_empty() && it.paths.globs.is_empty();
        is_empty(&self.any) && is_empty(&self.dirs)
    }

    pub(crate) fn needs_paths(&self) -> bool {
        !self.any.paths.globs.is_empty() || !self.dirs.paths.globs.is_empty()
    }
}

impl PerRoot<Excluded> {
    /// Calls `visit` with the number of each glob that matches starting point number `root`, which is no directory: its
    /// last name, or its path as it was given. A directory is never skipped.
    pub(crate) fn each_match_of_start(&self, root: usize, start: &[u8], visit: &mut dyn FnMut(usize)) {
        let (common, name) = (self.common(), last_part(start));
        common.any.names.each_match(name, visit);
        common.start_names.each_match(name, visit);
        if start.contains(&b'/') {
            let path = normalise_path(start);
            common.any.paths.each_match(path.strip_prefix(b"/").unwrap_or(&path), visit);
        }
        self.of(root).itself.iter().copied().for_each(visit);
    }
}

impl NamesAndPaths {
    fn new(spellings: Vec<(usize, &Spelling)>) -> Result<Self, PatternError> {
        let (paths, names): (Vec<_>, Vec<_>) = spellings.into_iter().partition(|(_, it)| it.is_path);
        Ok(Self { names: Numbered::new(&names)?, paths: Numbered::new(&paths)? })
    }

    fn each_match(&self, name: &[u8], path: &[u8], visit: &mut dyn FnMut(usize)) {
        self.names.each_match(name, visit);
        self.paths.each_match(path, visit);
    }
}

/// Globs that belong to numbered rules.
#[derive(Clone, Debug)]
struct Numbered {
    globs: Globs,
    /// The number of the rule of each glob.
    numbers: Vec<usize>,
}

impl Numbered {
    fn new(spellings: &[(usize, &Spelling)]) -> Result<Self, PatternError> {
        let pattern = |(_, it): &(usize, &Spelling)| Pattern { glob: it.glob.clone(), ignore_case: false };
        let patterns: Vec<_> = spellings.iter().map(pattern).collect();
        let numbers = spellings.iter().map(|(number, _)| *number).collect();
        Ok(Self { globs: Globs::new(&patterns)?, numbers })
    }

    fn each_match(&self, text: &[u8], visit: &mut dyn FnMut(usize)) {
        self.globs.each_match(text, &mut |nth| visit(self.numbers[nth]));
    }
}

/// Makes a value of the meanings of all globs, for each starting point that has its own. The meanings have the number of
/// their glob.
fn per_root<T>(
    readings: &[Readings],
    make: impl Fn(Vec<(usize, &Spelling)>) -> Result<T, PatternError>,
) -> Result<PerRoot<T>, PatternError> {
    let roots: BTreeSet<_> = readings.iter().flat_map(|reading| reading.below.keys().copied()).collect();
    PerRoot::new(roots, |root| {
        let mut spellings = Vec::new();
        for (number, reading) in readings.iter().enumerate() {
            let below = root.and_then(|root| reading.below.get(&root)).into_iter().flatten();
            spellings.extend(reading.everywhere.iter().chain(below).map(|spelling| (number, spelling)));
        }
        make(spellings)
    })
}

/// A glob for paths below starting points, for use without a walk.
///
/// `./`, `//`, `/.` and a slash at the end make no difference, except that a glob that ends in `/` or `/.` matches only
/// directories. If the first names of the glob lead to a starting point, it also means the path below it.
///
/// ```
/// use ftk_select::{PathGlob, Roots};
///
/// let glob = PathGlob::new("./photos//raw/*", &Roots::new(&[c"photos".into(), c"films".into()]))?;
/// assert!(glob.is_match(0, b"raw/1.cr3", false) && !glob.is_match(1, b"raw/1.cr3", false));
/// assert!(glob.is_match(1, b"photos/raw/1.cr3", false));
/// # Ok::<(), ftk_select::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PathGlob {
    paths: PerRoot<Paths>,
    is_name: bool,
}

impl PathGlob {
    /// Compiles a glob.
    ///
    /// # Errors
    /// If the glob is invalid.
    pub fn new(glob: impl Into<Vec<u8>>, roots: &Roots<'_>) -> Result<Self, PatternError> {
        let pattern = Pattern { glob: glob.into(), ignore_case: false };
        let is_name = !Spelling::of(&pattern.glob).is_path;
        Ok(Self { paths: Paths::new(&[&pattern], roots)?, is_name })
    }

    /// Returns whether the glob matches the entry with the path `below` starting point number `root`. An empty path is
    /// the starting point itself.
    pub fn is_match(&self, root: usize, below: &[u8], is_directory: bool) -> bool {
        let file_type = if is_directory { FileType::Directory } else { FileType::Regular };
        if below.is_empty() {
            return !self.paths.of(root).itself.is_empty();
        }
        self.paths.matches(root, below, file_type, 1)
    }

    /// Whether the glob has no slash, apart from one at its end: then it can be a name at any depth.
    pub fn is_name(&self) -> bool {
        self.is_name
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    fn excludes(glob: &str, path: &str, file_type: FileType) -> bool {
        let name = path.rsplit('/').next().unwrap();
        let excluded = Excluded::new(&[glob.into()], &Roots::none()).unwrap();
        excluded.of(0).matches(name.as_bytes(), path.as_bytes(), file_type)
    }

    /// In `find`, too, `*/a` needs a slash, which a starting point that is a single name does not have.
    #[test]
    fn what_is_below_something_is_no_starting_point() {
        for (glob, expected) in [("*/a", false), ("**/a", false), ("*/*", false), ("a", true), ("*", true)] {
            let pattern = Pattern { glob: glob.into(), ignore_case: false };
            let paths = Paths::new(&[&pattern], &Roots::none()).unwrap();
            let is_match = |depth| paths.matches(0, b"a", FileType::Directory, depth);
            assert_eq!((is_match(0), is_match(1)), (expected, true), "{glob}");
            let excluded = Excluded::new(&[glob.into()], &Roots::none()).unwrap();
            let of_start = |start: &[u8]| {
                let mut is_match = false;
                excluded.each_match_of_start(0, start, &mut |_| is_match = true);
                is_match
            };
            assert_eq!(
                (of_start(b"a"), of_start(b"./a"), of_start(b"b/a")),
                (expected, true, true),
                "{glob}"
            );
        }
    }

    #[test]
    fn exclusions_match_names_unless_they_contain_a_slash() {
        let file = FileType::Regular;
        assert!(excludes("*.o", "a/b.o", file) && !excludes("*.o", "a.o/b", file));
        assert!(excludes("a/*.o", "a/b/c.o", file) && !excludes("a/*.o", "b/a/c.o", file));
        assert!(excludes("/b", "b", file) && !excludes("/b", "a/b", file));
        assert!(excludes("./b", "b", file) && !excludes("./b", "a/b", file));
        assert!(excludes("**/b", "b", file) && excludes("**/b", "a/b", file));
    }

    #[test]
    fn a_slash_at_the_end_matches_only_directories() {
        let (file, dir) = (FileType::Regular, FileType::Directory);
        assert!(excludes("b/", "a/b", dir) && !excludes("b/", "a/b", file));
        assert!(
            excludes("a/b/", "a/b", dir) && !excludes("a/b/", "a/b", file) && !excludes("a/b/", "c/a/b", dir)
        );
    }

    fn is_match(globs: &[&str], regexes: &[&str], path: &[u8]) -> bool {
        let globs: Vec<_> =
            globs.iter().map(|glob| Pattern { glob: (*glob).into(), ignore_case: false }).collect();
        let paths = Paths::new(&globs.iter().collect::<Vec<_>>(), &Roots::none()).unwrap();
        (globs.is_empty() || paths.matches(0, path, FileType::Regular, 1))
            && (regexes.is_empty() || compile_regexes(regexes).unwrap().is_match(path))
    }

    #[test]
    fn globs_match_whole_paths_and_regular_expressions_match_parts() {
        assert!(is_match(&["a/*.c"], &[], b"a/b/x.c") && !is_match(&["a/*.c"], &[], b"b/a/x.c"));
        assert!(
            is_match(&["/a"], &[], b"a") && is_match(&["./a"], &[], b"a") && !is_match(&["a"], &[], b"b/a")
        );
        assert!(is_match(&[], &["b/.*c$"], b"a/b/x.c") && !is_match(&[], &["^b"], b"a/b"));
        assert!(is_match(&["x", "a*"], &["q", "b"], b"a/b") && !is_match(&["x", "a*"], &["q"], b"a/b"));
    }

    #[test]
    fn a_path_with_a_slash_at_its_end_is_a_directory() {
        let glob = PathGlob::new("./a//b/.", &Roots::none()).unwrap();
        assert!(glob.is_match(0, b"a/b", true) && !glob.is_match(0, b"a/b", false));
        assert!(PathGlob::new("a/", &Roots::none()).unwrap().is_name() && !glob.is_name());
    }

    #[test]
    fn a_glob_that_begins_with_a_starting_point_means_what_is_below_it() {
        let roots = [c"p".into(), c"./q/".into(), c"a[1".into(), c"{b,c}".into()];
        let below = |glob: &str, path: &str| {
            let glob = PathGlob::new(glob, &Roots::new(&roots)).unwrap();
            [0, 1, 2, 3].map(|root| glob.is_match(root, path.as_bytes(), false))
        };
        for glob in ["p/keep", "./p//keep", "p/./keep"] {
            assert_eq!(below(glob, "keep"), [true, false, false, false], "{glob}");
            // What it means without starting points stays.
            assert_eq!(below(glob, "p/keep"), [true; 4], "{glob}");
        }
        assert_eq!(below("q/*.c", "x/y.c"), [false, true, false, false]);
        // A starting point is a name, whatever is in it.
        assert_eq!(below("a[1/keep", "keep"), [false, false, true, false]);
        assert_eq!(below("a\\[1/keep", "keep"), [false, false, true, false]);
        assert_eq!(below("{b,c}/keep", "keep"), [false, false, false, true]);
        assert_eq!(below("{b,c}/keep", "c/keep"), [true; 4]);
        // A glob for the starting point itself means nothing below it.
        assert_eq!(below("./p", "x"), [false; 4]);
        assert_eq!(below("./p", ""), [true, false, false, false]);
        let shared = PathGlob::new("q/keep", &Roots::new(&roots).shared()).unwrap();
        assert!((0..4).all(|root| shared.is_match(root, b"keep", false)));
        assert!(PathGlob::new("b[1/keep", &Roots::new(&roots)).is_err());
    }

    /// Only the names of the roots of records count, whatever they lead to here.
    #[test]
    fn roots_of_records_are_names() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().join(path);
        std::fs::create_dir_all(at("home/a")).unwrap();
        std::os::unix::fs::symlink(at("home"), at("link")).unwrap();
        let here = std::ffi::CString::new(at("home/a").into_os_string().into_vec()).unwrap();
        let roots = [c"p/q".into(), c"/nowhere/./a/".into(), c".".into(), here];
        let below = |glob: Vec<u8>, path: &str| {
            let glob = PathGlob::new(glob, &Roots::recorded(&roots)).unwrap();
            [0, 1, 2, 3].map(|root| glob.is_match(root, path.as_bytes(), true))
        };
        for (glob, expected) in [
            ("./p//q/keep", [true, false, false, false]),
            ("p/*/keep", [true, false, false, false]),
            ("/nowhere/a/keep", [false, true, false, false]),
            ("/nowhere/[a]/keep", [false, true, false, false]),
            ("{p/q,x}/keep", [true, false, false, false]),
            ("p/r/../q/keep", [false; 4]),
            ("./keep", [true; 4]),
        ] {
            assert_eq!(below(glob.into(), "keep"), expected, "{glob}");
        }
        let glob = |path: &str| at(path).into_os_string().into_vec();
        assert_eq!(below(glob("home/*/keep"), "keep"), [false, false, false, true]);
        assert_eq!(below(glob("link/a/keep"), "keep"), [false; 4]);
    }

    #[test]
    fn a_glob_that_matches_a_starting_point_means_what_is_below_it() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().join(path);
        ["home/a/x", "home/b/c", "other"].iter().for_each(|path| std::fs::create_dir_all(at(path)).unwrap());
        std::os::unix::fs::symlink(at("home"), at("link")).unwrap();
        let root = |path: &str| std::ffi::CString::new(at(path).into_os_string().into_vec()).unwrap();
        let roots = ["home/a", "link/b/c", "other"].map(root);
        let below = |glob: &str, path: &str| {
            let glob = at("").join(glob).into_os_string().into_vec();
            let glob = PathGlob::new(glob, &Roots::new(&roots)).unwrap();
            [0, 1, 2].map(|root| glob.is_match(root, path.as_bytes(), true))
        };
        for (glob, path, expected) in [
            ("home/*/cache", "cache", [true, true, false]),
            ("home/*/cache", "x/cache", [true, true, false]),
            ("home/*/cache", "x/cach", [false; 3]),
            ("home/?/cache/", "cache", [true, false, false]),
            ("home/[b]/?/*.c", "y.c", [false, true, false]),
            ("home/{a,z}/*", "cache", [true, false, false]),
            ("{home/*,x}/cache", "cache", [true, true, false]),
            ("link/*/cache", "cache", [true, true, false]),
            // All that the glob matches is above the starting points, or elsewhere.
            ("home/?", "cache", [false; 3]),
            ("hom/*/cache", "cache", [false; 3]),
            ("home/b/?/d/*", "cache", [false; 3]),
            // A starting point itself.
            ("home/?", "", [true, false, false]),
        ] {
            assert_eq!(below(glob, path), expected, "{glob} {path}");
        }
        // Without a name before its first special character, it is a glob for what is below each starting point.
        let glob = PathGlob::new("/*/cache", &Roots::new(&roots)).unwrap();
        assert!(!glob.is_match(0, b"cache", true) && glob.is_match(0, b"x/cache", true));
    }

    #[test]
    fn each_glob_that_matches_is_named() {
        let globs = ["*.o", "a/", "/a", "x/*", "a/b/c", "[ab]"].map(|glob| glob.as_bytes().to_vec());
        let excluded = Excluded::new(&globs, &Roots::none()).unwrap();
        let matches = |name: &str, path: &str, file_type| {
            let mut numbers = Vec::new();
            let excluded = excluded.of(0);
            excluded.each_match(name.as_bytes(), path.as_bytes(), file_type, &mut |it| numbers.push(it));
            numbers.sort_unstable();
            assert_eq!(!numbers.is_empty(), excluded.matches(name.as_bytes(), path.as_bytes(), file_type));
            numbers
        };
        assert_eq!(matches("a", "a", FileType::Directory), [1, 2, 5]);
        assert_eq!(matches("a", "a", FileType::Regular), [2, 5]);
        assert_eq!(matches("b.o", "x/b.o", FileType::Regular), [0, 3]);
        assert_eq!(matches("y", "y", FileType::Regular), []);
        let mut inside = Vec::new();
        excluded.of(0).each_inside(b"a", &mut |glob, below| inside.push((glob, below.to_vec())));
        assert_eq!(inside, [(4, b"b/c".to_vec())]);
        inside.clear();
        excluded.of(0).each_inside(b"x", &mut |glob, below| inside.push((glob, below.to_vec())));
        assert_eq!(inside, [(3, b"".to_vec())]);
    }

    #[test]
    fn regular_expressions_match_bytes() {
        assert!(is_match(&[], &["^a.b$"], b"a\xffb") && is_match(&[], &["^a.b$"], b"a\nb"));
        assert!(is_match(&[], &["(?i)^A"], b"a") && !is_match(&[], &["(?i)\u{e9}"], "\u{c9}".as_bytes()));
        assert!(is_match(&[], &[r"\xff"], b"\xff") && is_match(&[], &["\u{e9}"], "\u{e9}".as_bytes()));
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (regex, message) in [
            ("a(b", "unclosed group (at byte 2)"),
            ("\u{e9}[", "unclosed character class (at byte 3)"),
            ("*", "repetition operator missing expression (at byte 1)"),
            (r"a\p{Greek}", "Unicode not allowed here (at byte 2)"),
        ] {
            let error = compile_regexes(&["ok", regex]).unwrap_err();
            assert_eq!((error.kind, &*error.pattern), ("regular expression", regex.as_bytes()));
            assert_eq!(error.source.to_string(), message);
        }
        let huge = compile_regexes(&["(a{1000}){1000}"]).unwrap_err();
        assert!(huge.source.problem.contains("size limit"), "{}", huge.source);
    }
}
