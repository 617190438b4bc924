//! Sidecars: files with settings, subtitles or previews of another file, which go only together with it.
//!
//! A sidecar has the name of its file, or that name without the extension, and an extension of its own: `IMG_1.CR3.xmp` and
//! `IMG_1.xmp` are sidecars of `IMG_1.CR3`. It may belong to several files, such as `IMG_1.CR3` and `IMG_1.JPG`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::read_dir;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::rc::Rc;
use std::sync::Arc;

use super::gain::{Blocks, contributions};
use super::{Copies, Decision, Item, Need};
use crate::Member;
use crate::report::Group;

/// The sidecars of a run.
#[derive(Debug)]
pub struct Sidecars {
    /// The extensions, in lower case and without the dot.
    extensions: BTreeSet<Vec<u8>>,
    /// The sidecars that have copies, by their paths, with the number of their group.
    known: HashMap<Vec<u8>, (usize, Member)>,
    groups: usize,
}

/// The names in a directory.
type Names = Rc<[Vec<u8>]>;

/// Returns the names in a directory, whose path ends with a slash or is empty.
type List<'l> = dyn FnMut(&[u8]) -> io::Result<Vec<Vec<u8>>> + 'l;

/// Lists directories, each one once.
struct Listings<'l> {
    list: &'l mut List<'l>,
    known: HashMap<Vec<u8>, Option<Names>>,
}

/// A sidecar that goes with its files.
struct Follower {
    item: Item,
    /// The numbers of the items of its files.
    owners: Vec<usize>,
}

impl Sidecars {
    /// Creates a set without sidecars. `extensions` may be in any case.
    pub fn new<E: AsRef<[u8]>>(extensions: impl IntoIterator<Item = E>) -> Self {
        let extensions = extensions.into_iter().map(|it| it.as_ref().to_ascii_lowercase()).collect();
        Self { extensions, known: HashMap::new(), groups: 0 }
    }

    /// Takes the sidecars out of a group: no rule chooses among them, only among their files.
    pub fn take(&mut self, mut group: Group) -> Group {
        let number = self.groups;
        self.groups += 1;
        let (sidecars, members) =
            group.members.into_iter().partition(|member| self.base(split(&member.path).1).is_some());
        group.members = members;
        let sidecars: Vec<Member> = sidecars;
        self.known.extend(sidecars.into_iter().map(|member| (member.path.clone(), (number, member))));
        group
    }

    /// Adds the sidecars to a plan. A file whose sidecar has no copy that is a sidecar of its keeper stays. `protects`
    /// returns whether a sidecar may not be removed.
    pub(super) fn bind(&self, items: Vec<Item>, protects: impl Fn(&Member) -> bool) -> Vec<Item> {
        self.bind_listed(items, protects, &mut |dir| {
            let dir = if dir.is_empty() { b"." } else { dir };
            read_dir(OsStr::from_bytes(dir))?.map(|entry| Ok(entry?.file_name().into_vec())).collect()
        })
    }

    fn bind_listed<'l>(
        &self,
        mut items: Vec<Item>,
        protects: impl Fn(&Member) -> bool,
        list: &'l mut List<'l>,
    ) -> Vec<Item> {
        let mut listings = Listings { list, known: HashMap::new() };
        let mut going: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, usize>> = BTreeMap::new();
        for (nth, item) in items.iter().enumerate() {
            if let (Decision::Go { .. }, false) = (&item.decision, item.is_directory) {
                let (dir, name) = split(&item.member.path);
                going.entry(dir.to_vec()).or_default().insert(name.to_vec(), nth);
            }
        }
        let mut followers = Vec::new();
        for (dir, mut going) in going {
            let Some(names) = listings.names(&dir) else {
                for nth in going.into_values() {
                    items[nth].decision = Decision::Refuse(io::Error::other("cannot list its directory"));
                }
                continue;
            };
            let owners = self.owners(&names);
            let mut of_dir = Vec::new();
            for name in names.iter() {
                let Some(owners) = self.base(name).and_then(|base| owners.get(base)) else { continue };
                // The sidecar of a file that stays stays with it.
                let numbers = owners.iter().map(|owner| going.get(*owner).copied());
                let Some(numbers) = numbers.collect::<Option<Vec<_>>>() else { continue };
                let path = [&dir, &name[..]].concat();
                match self.follower(&path, &items, numbers.clone(), &protects, &mut listings) {
                    Some(follower) => of_dir.push(follower),
                    None => {
                        owners.iter().for_each(|owner| _ = going.remove(*owner));
                        for nth in numbers {
                            items[nth].decision = Decision::Apart(path.clone());
                        }
                    }
                }
            }
            // One of its files may have been found to stay after the sidecar.
            let goes = |nth: &usize| matches!(items[*nth].decision, Decision::Go { .. });
            of_dir.retain(|follower| follower.owners.iter().all(goes));
            followers.append(&mut of_dir);
        }
        chained(items, followers)
    }

    /// Returns the sidecar at a path with the decision that it goes, or `None` if it may not go with its files.
    fn follower(
        &self,
        path: &[u8],
        items: &[Item],
        owners: Vec<usize>,
        protects: &impl Fn(&Member) -> bool,
        listings: &mut Listings<'_>,
    ) -> Option<Follower> {
        let (group, member) = self.known.get(path)?;
        if member.via_link || member.standing.stays() || protects(member) {
            return None;
        }
        let mut keeper = None;
        let (mut files, mut needs) = (Vec::new(), Vec::new());
        for &owner in &owners {
            let Decision::Go { keeper: kept, copies, .. } = &items[owner].decision else { return None };
            let has_whole_name = self.base(split(path).1) == Some(split(&items[owner].member.path).1);
            let mut twin = |kept: &Member| self.twin(kept, has_whole_name, *group, member, listings);
            let of_keeper = twin(kept)?;
            if keeper.is_none() {
                keeper = Some(of_keeper);
            } else {
                needs.push(Need { count: 1, among: vec![files.len()] });
                files.push(of_keeper);
            }
            for need in copies.iter().flat_map(|copies| &copies.needs) {
                let copies = copies.as_ref()?;
                let mut among = Vec::new();
                for twin in need.among.iter().filter_map(|&nth| twin(&copies.files[nth])) {
                    among.push(files.len());
                    files.push(twin);
                }
                if among.len() < need.count {
                    return None;
                }
                needs.push(Need { count: need.count, among });
            }
        }
        let copies = (!needs.is_empty()).then(|| Arc::new(Copies { files, needs }));
        let is_last = member.nlink == 1;
        let frees_blocks = matches!(&items[owners[0]].decision, Decision::Go { gain, .. } if gain.most() > 0);
        let goes = is_last && frees_blocks;
        let blocks = Blocks { allocated: member.allocated(), shared: &member.shared, goes };
        let gain = contributions(&[blocks]).into_iter().map(|it| it.gain).sum();
        let decision = Decision::Go { keeper: keeper?, copies, gain, files: 1 };
        let item = Item { member: member.clone(), is_directory: false, decision, with_next: true };
        Some(Follower { item, owners })
    }

    /// Returns the sidecar of a kept file that is another file with the content of this group, and whose name is formed in
    /// the same way.
    fn twin(
        &self,
        kept: &Member,
        has_whole_name: bool,
        group: usize,
        sidecar: &Member,
        listings: &mut Listings<'_>,
    ) -> Option<Member> {
        let (dir, name) = split(&kept.path);
        let base = if has_whole_name { name } else { stem(name) };
        let extension = extension(&sidecar.path)?.to_ascii_lowercase();
        let names = listings.names(dir)?;
        names.iter().find_map(|name| {
            let is_named = self.base(name) == Some(base)
                && extension_of(name).is_some_and(|it| it.eq_ignore_ascii_case(&extension));
            let (of, member) = self.known.get(&[dir, name].concat()).filter(|_| is_named)?;
            let is_copy = *of == group && member.version.identity() != sidecar.version.identity();
            (is_copy && !member.via_link).then(|| member.clone())
        })
    }

    /// Returns the name of a sidecar without its extension, or `None` for another file.
    fn base<'n>(&self, name: &'n [u8]) -> Option<&'n [u8]> {
        let extension = extension_of(name)?;
        let is_sidecar = self.extensions.contains(&extension.to_ascii_lowercase());
        is_sidecar.then(|| &name[..name.len() - extension.len() - 1])
    }

    /// Returns the files in a directory that sidecars may belong to, by their names with and without extension.
    fn owners<'n>(&self, names: &'n [Vec<u8>]) -> HashMap<&'n [u8], Vec<&'n [u8]>> {
        let mut owners: HashMap<_, Vec<&[u8]>> = HashMap::new();
        for name in names.iter().filter(|name| self.base(name).is_none()) {
            owners.entry(&name[..]).or_default().push(name);
            if stem(name) != name {
                owners.entry(stem(name)).or_default().push(name);
            }
        }
        owners
    }
}

impl Listings<'_> {
    fn names(&mut self, dir: &[u8]) -> Option<Names> {
        if let Some(names) = self.known.get(dir) {
            return names.clone();
        }
        let names: Option<Names> = (self.list)(dir).ok().map(|mut names| {
            names.sort_unstable();
            names.into()
        });
        self.known.insert(dir.to_vec(), names.clone());
        names
    }
}

/// Puts sidecars and their files next to each other, the sidecars first: if a step fails, no sidecar is left alone.
fn chained(items: Vec<Item>, followers: Vec<Follower>) -> Vec<Item> {
    // The first item of the set that each item goes with.
    let mut first: Vec<_> = (0..items.len()).collect();
    let root = |first: &[usize], mut nth: usize| {
        while first[nth] != nth {
            nth = first[nth];
        }
        nth
    };
    for Follower { owners, .. } in &followers {
        for pair in owners.windows(2) {
            let (a, b) = (root(&first, pair[0]), root(&first, pair[1]));
            first[a.max(b)] = a.min(b);
        }
    }
    let mut sets: BTreeMap<usize, (Vec<Item>, Vec<Item>)> = BTreeMap::new();
    for Follower { item, owners } in followers {
        sets.entry(root(&first, owners[0])).or_default().0.push(item);
    }
    for (nth, item) in items.into_iter().enumerate() {
        sets.entry(root(&first, nth)).or_default().1.push(item);
    }
    let chain = |(sidecars, mut files): (Vec<Item>, Vec<Item>)| {
        let last = files.len() - 1;
        files[..last].iter_mut().for_each(|item| item.with_next = true);
        sidecars.into_iter().chain(files)
    };
    sets.into_values().flat_map(chain).collect()
}

/// Splits a path into the directory with its slash, and the name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    path.split_at(path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1))
}

fn extension(path: &[u8]) -> Option<&[u8]> {
    extension_of(split(path).1)
}

/// Returns the part of a name after the last dot. A name that only begins with a dot has none.
fn extension_of(name: &[u8]) -> Option<&[u8]> {
    let dot = name.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0)?;
    Some(&name[dot + 1..])
}

fn stem(name: &[u8]) -> &[u8] {
    extension_of(name).map_or(name, |extension| &name[..name.len() - extension.len() - 1])
}

#[cfg(test)]
mod tests {
    use ftk_file::Version;
    use ftk_hash::Digest;

    use super::*;
    use crate::prune::Gain;

    fn member(path: &str, ino: u64) -> Member {
        let version = Version { dev: 1, ino, size: 100, mtime_ns: 0, ctime_ns: 0 };
        Member { blocks: 8, ..Member::new(0, path.into(), version) }
    }

    fn goes(path: &str, keeper: &str) -> Item {
        let (member, keeper) = (member(path, 1000), member(keeper, 1001));
        let decision =
            Decision::Go { keeper, copies: None, gain: Gain { certain: 4096, ..Gain::default() }, files: 1 };
        Item { member, is_directory: false, decision, with_next: false }
    }

    /// Binds the sidecars of groups to the items, in a tree of the files of both and of some others. Returns a word for
    /// each item: `+` for one that goes with the next.
    fn bound(items: Vec<Item>, groups: &[&[&str]], others: &[&str]) -> Vec<String> {
        let mut sidecars = Sidecars::new(["xmp", "THM"]);
        let mut tree: Vec<String> = others.iter().map(|&path| path.into()).collect();
        let (mut ino, digest) = (0, Digest::from_bytes(&[7; 32]));
        for paths in groups {
            tree.extend(paths.iter().map(|&path| path.to_owned()));
            let members = paths.iter().map(|path| {
                ino += 1;
                member(path, ino)
            });
            let rest = sidecars.take(Group { size: 100, digest, members: members.collect() });
            assert!(rest.members.is_empty(), "all are sidecars");
        }
        for item in &items {
            tree.push(String::from_utf8(item.member.path.clone()).unwrap());
            let Decision::Go { keeper, .. } = &item.decision else { unreachable!("all go") };
            tree.push(String::from_utf8(keeper.path.clone()).unwrap());
        }
        let bound = sidecars.bind_listed(items, |_| false, &mut |dir| {
            let names = tree.iter().filter_map(|path| path.as_bytes().strip_prefix(dir));
            Ok(names.filter(|name| !name.contains(&b'/')).map(<[u8]>::to_vec).collect())
        });
        let word = |item: Item| {
            let path = String::from_utf8(item.member.path).unwrap();
            match item.decision {
                Decision::Go { keeper, .. } => {
                    let keeper = String::from_utf8(keeper.path).unwrap();
                    format!("{path} > {keeper}{}", if item.with_next { " +" } else { "" })
                }
                Decision::Apart(sidecar) => format!("{path} has {}", String::from_utf8(sidecar).unwrap()),
                other => format!("{other:?}"),
            }
        };
        bound.into_iter().map(word).collect()
    }

    #[test]
    fn a_sidecar_goes_before_its_file() {
        let raw = || vec![goes("a/1.CR3", "k/1.CR3")];
        assert_eq!(
            bound(raw(), &[&["a/1.CR3.xmp", "k/1.CR3.xmp"]], &[]),
            ["a/1.CR3.xmp > k/1.CR3.xmp +", "a/1.CR3 > k/1.CR3"]
        );
        // The kept file may have another name, and an extension another case.
        assert_eq!(
            bound(vec![goes("a/1.CR3", "k/9.raw")], &[&["a/1.xmp", "k/9.XMP"], &["a/1.thm", "k/9.THM"]], &[]),
            ["a/1.thm > k/9.THM +", "a/1.xmp > k/9.XMP +", "a/1.CR3 > k/9.raw"]
        );
        // No sidecar, or files of other names and extensions.
        assert_eq!(bound(raw(), &[], &["a/10.xmp", "a/1.txt", "a/1x.CR3.xmp"]), ["a/1.CR3 > k/1.CR3"]);
    }

    #[test]
    fn a_file_with_a_sidecar_that_has_no_copy_stays() {
        let raw = || vec![goes("a/1.CR3", "k/1.CR3")];
        let cases: [(&[&[&str]], &[&str]); 7] = [
            (&[], &["a/1.CR3.xmp"]),
            (&[], &["a/1.XMP", "k/1.CR3.xmp"]),
            // A copy elsewhere, and one whose name is formed in the other way, is not that of the keeper.
            (&[&["a/1.CR3.xmp", "b/1.CR3.xmp"]], &[]),
            (&[&["a/1.CR3.xmp", "k/1.xmp"]], &[]),
            (&[&["a/1.CR3.xmp", "b/2.xmp"], &["k/1.CR3.xmp", "b/3.xmp"]], &[]),
            (&[&["a/1.xmp", "k/1.thm"]], &[]),
            (&[&["a/1.xmp", "k/1.xmp"]], &["a/1.CR3.thm"]),
        ];
        for (groups, others) in cases {
            let bound = bound(raw(), groups, others);
            assert_eq!(bound.len(), 1, "{bound:?}");
            assert!(bound[0].starts_with("a/1.CR3 has a/1."), "{bound:?}");
        }
    }

    #[test]
    fn a_sidecar_of_several_files_goes_with_the_last() {
        let both =
            || vec![goes("a/1.CR3", "k/1.CR3"), goes("a/2.CR3", "k/2.CR3"), goes("a/1.JPG", "k/1.JPG")];
        let group: &[&str] = &["a/1.xmp", "k/1.xmp"];
        assert_eq!(
            bound(both(), &[group], &[]),
            ["a/1.xmp > k/1.xmp +", "a/1.CR3 > k/1.CR3 +", "a/1.JPG > k/1.JPG", "a/2.CR3 > k/2.CR3"]
        );
        // Another file of this name stays, and so does the sidecar.
        assert_eq!(bound(vec![goes("a/1.CR3", "k/1.CR3")], &[group], &["a/1.JPG"]), ["a/1.CR3 > k/1.CR3"]);
        assert_eq!(
            bound(both(), &[group], &["a/1.JPG.xmp"]),
            ["a/1.CR3 > k/1.CR3", "a/2.CR3 > k/2.CR3", "a/1.JPG has a/1.JPG.xmp"]
        );
    }
}
