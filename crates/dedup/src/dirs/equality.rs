//! Digests of directories, and the comparison that decides.

use ftk_file::FileType;
use ftk_hash::Algorithm;
use ftk_inventory::{DirNo, FileNo};

use crate::dirs::table::DirTable;
use crate::dirs::{Class, Names};

/// The digest of a directory. Equal directories have equal digests.
pub(crate) type DirDigest = u128;

/// Returns the digest of each directory that may be equal to another one, with its number.
pub(crate) fn digests(table: &DirTable<'_>, names: Names) -> Vec<(DirDigest, u32)> {
    let mut digests = vec![0; table.inventory.dirs() as usize];
    let mut digester = Digester { bytes: Vec::new() };
    for dir in table.dirs().rev().filter(|&dir| table.facts(dir).may_be_equal()) {
        digests[dir.0 as usize] = match names {
            Names::Compared => digester.with_names(table, dir, &digests),
            Names::Ignored => digester.without_names(table, dir, &digests),
        };
    }
    let known = table.dirs().filter(|&dir| table.facts(dir).may_be_equal());
    known.map(|dir| (digests[dir.0 as usize], dir.0)).collect()
}

struct Digester {
    bytes: Vec<u8>,
}

impl Digester {
    /// The digest of all names with what they lead to.
    fn with_names(&mut self, table: &DirTable<'_>, dir: DirNo, below: &[DirDigest]) -> DirDigest {
        self.bytes.clear();
        for file in table.inventory.files_of(dir).map(FileNo) {
            self.name(table.inventory.name(dir, file).to_bytes());
            self.bytes.extend_from_slice(&number(table, file).to_le_bytes());
        }
        for other in leaves(table, dir) {
            self.name(other.0);
            self.bytes.push(other.1 as u8);
            self.name(other.2);
        }
        for child in table.children(dir) {
            self.name(table.inventory.name_of_dir(child));
            self.bytes.extend_from_slice(&below[child.0 as usize].to_le_bytes());
        }
        self.digest()
    }

    /// The sum of the digests of all contents below, which does not depend on their order.
    fn without_names(&mut self, table: &DirTable<'_>, dir: DirNo, below: &[DirDigest]) -> DirDigest {
        let children = table.children(dir).map(|child| below[child.0 as usize]);
        let mut sum = children.fold(0, DirDigest::wrapping_add);
        for_each_content(table, dir, |kind, content| {
            self.bytes.clear();
            self.bytes.push(kind);
            self.bytes.extend_from_slice(content);
            sum = sum.wrapping_add(self.digest());
        });
        sum
    }

    /// Appends a name and a byte that no name contains.
    fn name(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
    }

    fn digest(&self) -> DirDigest {
        let digest = Algorithm::Xxh128.hash_one(&self.bytes);
        DirDigest::from_be_bytes(*digest.as_bytes().first_chunk().expect("a digest of 16 bytes"))
    }
}

/// Returns the number of a file's content, which must be shared.
fn number(table: &DirTable<'_>, file: FileNo) -> u32 {
    match table.contents.class(file) {
        Class::Shared(first) => first.0,
        class => unreachable!("a directory with a file of {class:?} content is not compared"),
    }
}

/// Returns name, type and content of each entry that is neither a regular file nor a directory.
fn leaves<'t>(table: &'t DirTable<'_>, dir: DirNo) -> impl Iterator<Item = (&'t [u8], FileType, &'t [u8])> {
    let others = table.inventory.others_of(dir).filter(|other| other.file_type != FileType::Directory);
    others.map(|other| (other.name, other.file_type, other.content))
}

/// Calls `each` for every content that is directly in a directory: files, links, special files, and the directory
/// itself if it is empty. The byte tells kinds of contents apart.
fn for_each_content(table: &DirTable<'_>, dir: DirNo, mut each: impl FnMut(u8, &[u8])) {
    const FILE: u8 = u8::MAX;
    if table.facts(dir).entries == 0 {
        each(FileType::Directory as u8, b"");
    }
    for file in table.inventory.files_of(dir).map(FileNo) {
        each(FILE, &number(table, file).to_le_bytes());
    }
    leaves(table, dir).for_each(|(_, file_type, content)| each(file_type as u8, content));
}

/// Groups directories with the same digest by what they contain. The order is kept.
pub(crate) fn split(table: &DirTable<'_>, names: Names, dirs: &[DirNo]) -> Vec<Vec<DirNo>> {
    let mut groups: Vec<Vec<DirNo>> = Vec::new();
    for &dir in dirs {
        let is_equal = |group: &&mut Vec<DirNo>| match names {
            Names::Compared => is_same_tree(table, group[0], dir),
            Names::Ignored => sorted_contents(table, group[0]) == sorted_contents(table, dir),
        };
        match groups.iter_mut().find(is_equal) {
            Some(group) => group.push(dir),
            None => groups.push(vec![dir]),
        }
    }
    groups
}

/// Returns whether two directories have the same names with the same contents. The subdirectories of both have
/// consecutive numbers in the same order, so no recursion is needed.
fn is_same_tree(table: &DirTable<'_>, a: DirNo, b: DirNo) -> bool {
    let n_dirs = table.end(a) - a.0;
    n_dirs == table.end(b) - b.0
        && (0..n_dirs).all(|nth| {
            let (in_a, in_b) = (DirNo(a.0 + nth), DirNo(b.0 + nth));
            (nth == 0 || is_same_name(table, (a, in_a), (b, in_b))) && is_same_listing(table, in_a, in_b)
        })
}

/// Returns whether two directories have the same name, and the same place below `a` and `b`.
fn is_same_name(table: &DirTable<'_>, (a, in_a): (DirNo, DirNo), (b, in_b): (DirNo, DirNo)) -> bool {
    let inventory = table.inventory;
    let above = |top: DirNo, dir| inventory.parent(dir).map(|parent| parent.0 - top.0);
    inventory.name_of_dir(in_a) == inventory.name_of_dir(in_b) && above(a, in_a) == above(b, in_b)
}

/// Returns whether two directories have the same entries. Subdirectories are compared only by number.
fn is_same_listing(table: &DirTable<'_>, a: DirNo, b: DirNo) -> bool {
    let files = |dir| {
        let files = table.inventory.files_of(dir).map(FileNo);
        files.map(move |file| (table.inventory.name(dir, file), number(table, file)))
    };
    files(a).eq(files(b))
        && leaves(table, a).eq(leaves(table, b))
        && table.children(a).count() == table.children(b).count()
}

/// Returns all contents below a directory, sorted.
fn sorted_contents(table: &DirTable<'_>, top: DirNo) -> Vec<(u8, Vec<u8>)> {
    let mut contents = Vec::new();
    for dir in (top.0..table.end(top)).map(DirNo) {
        for_each_content(table, dir, |kind, content| contents.push((kind, content.to_vec())));
    }
    contents.sort_unstable();
    contents
}
