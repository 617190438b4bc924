//! `ftk dup --interactive`: shows the groups in a browser, and removes the copies that the user has marked, as `prune`
//! does.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::ensure;
use ftk_apply::Action;
use ftk_browse::{Browser, Plan, Row, Source, Total, Word};
use ftk_dedup::Member;
use ftk_dedup::prune::{MemberDecision, References, UnitTest, Units};
use ftk_dedup::report::Group;
use ftk_file::{Stat, Symlinks};
use ftk_record::{quote, sanitize};
use rustix::fs::CWD;

use crate::browser::{DELETE, QUARANTINE, browse, quarantine_of_run, quarantine_word, require_terminal};
use crate::console::{Console, Outcome};
use crate::dup::act::Job;
use crate::dup::action::ActionArgs;
use crate::dup::keep::KeepArgs;
use crate::dup::options::SearchArgs;
use crate::dup::search::{SearchContext, search};
use crate::dup::step_printer::{date, kept_because};
use crate::globals::Globals;
use crate::human;
use crate::journal;
use crate::rules::{AllowUnusedArg, Rules};
use crate::size::Unit;

pub(super) fn run(
    args: &SearchArgs,
    quarantine: Option<&Path>,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    require_terminal(globals)?;
    ensure!(!args.dirs.is_used(), "--interactive works on single files only, not on directories");
    let allow = AllowUnusedArg::default();
    let context = SearchContext { needs_used_rules: Some(allow), ..SearchContext::default() };
    let mut search = search(args, context, globals, console, |_, _, _| Ok(()))?;
    search.say_scanned(console);
    let rules = std::mem::take(&mut search.rules);
    let mut examined = search.examine(Some(console));
    let groups: Vec<_> = examined.groups().collect();
    let outcome = Outcome::error_if(examined.has_failed()).max(search.outcome);
    let start = search.roots.first().map_or(&b"."[..], |root| root.as_bytes());
    let quarantine = quarantine_of_run(quarantine, start);
    let (roots, units) = (search.roots.clone(), Some(search.units.clone()));
    let copies = Copies::new(groups, Removal { roots, units, rules, quarantine })?;
    let title = human::count(copies.groups.len() as u64, "group");
    let browser = Browser::new(copies, title);
    let done = browse(browser, console, |copies, word, _| copies.act(word, console))?;
    Ok(outcome.max(done))
}

/// What the removal of copies needs.
struct Removal {
    roots: Vec<CString>,
    /// The directories that are never taken apart.
    units: Option<Rc<Units>>,
    rules: Rules,
    /// The directory for moved copies.
    quarantine: PathBuf,
}

impl Removal {
    /// Calls `run` with the job that removes all copies but those with these paths. `most`: how many, for progress.
    fn with_job<T>(
        &self,
        word: &str,
        kept: BTreeSet<Vec<u8>>,
        most: u64,
        run: impl FnOnce(&Job<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let act = ActionArgs::removing((word == QUARANTINE).then(|| self.quarantine.clone()));
        let keep = KeepArgs::default();
        let action = if word == QUARANTINE { Action::Move(self.quarantine.clone()) } else { Action::Delete };
        let is_unit =
            self.units.clone().map(|units| -> UnitTest { Box::new(move |path| units.is_above(path)) });
        let (roots, none) = (self.roots.clone(), References::default());
        let mut job = Job::new(action, &act, &keep, roots, none, is_unit, false)?;
        job.pruning.rules.chosen = kept.into_iter().collect();
        job.rules = self.rules.clone();
        job.most = most;
        run(&job)
    }
}

/// The groups, and what the user has marked in them.
struct Copies {
    groups: Vec<Group>,
    /// What the default rules decide about each member.
    decisions: Vec<Vec<MemberDecision>>,
    /// The number of the row of the first member of each group. Rows of groups come first.
    first: Vec<u64>,
    marked: BTreeSet<u64>,
    gone: BTreeSet<u64>,
    removal: Removal,
}

impl Copies {
    fn new(mut groups: Vec<Group>, removal: Removal) -> anyhow::Result<Self> {
        let decisions = removal.with_job(DELETE, BTreeSet::new(), 0, |job| {
            Ok(groups.iter_mut().map(|group| job.pruning.decide(&mut group.members).decisions).collect())
        })?;
        let mut next = groups.len() as u64;
        let mut start = |group: &Group| {
            let start = next;
            next += group.members.len() as u64;
            start
        };
        let first = groups.iter().map(&mut start).collect();
        Ok(Self { groups, decisions, first, marked: BTreeSet::new(), gone: BTreeSet::new(), removal })
    }

    /// Returns the rows of the members of a group that are still there, with the members.
    fn members(&self, group: usize) -> impl Iterator<Item = (u64, &Member)> {
        let members = (self.first[group]..).zip(&self.groups[group].members);
        members.filter(|(id, _)| !self.gone.contains(id))
    }

    /// Returns the group of the row of a member.
    fn group_of(&self, id: u64) -> usize {
        self.first.partition_point(|first| *first <= id) - 1
    }

    fn member(&self, id: u64) -> &Member {
        let group = self.group_of(id);
        &self.groups[group].members[(id - self.first[group]) as usize]
    }

    fn decision(&self, id: u64) -> MemberDecision {
        let group = self.group_of(id);
        self.decisions[group][(id - self.first[group]) as usize]
    }

    /// Returns the number of different files among members that are real files and not marked.
    fn unmarked(&self, group: usize, marked: &BTreeSet<u64>) -> usize {
        let kept = self.members(group).filter(|(id, member)| !marked.contains(id) && !member.via_link);
        kept.map(|(_, member)| member.version.identity()).collect::<BTreeSet<_>>().len()
    }

    fn group_row(&self, group: usize) -> Option<Row> {
        let members: BTreeMap<_, _> =
            self.members(group).map(|(id, member)| (member.version.identity(), (id, member))).collect();
        let surplus = members.len().checked_sub(1).filter(|surplus| *surplus > 0)?;
        let is_kept = |id: u64| matches!(self.decision(id), MemberDecision::Stays(_));
        let first =
            self.members(group).find(|(id, _)| is_kept(*id)).or_else(|| self.members(group).next())?;
        let bytes = u128::from(self.groups[group].size) * surplus as u128;
        Some(Row {
            id: group as u64,
            name: sanitize(&first.1.path).into_owned(),
            bytes,
            size: Unit::Decimal.format(bytes),
            note: human::count(members.len() as u64, "file"),
            opens: true,
        })
    }

    fn member_row(&self, id: u64, member: &Member) -> Row {
        let (size, why) = match self.decision(id) {
            MemberDecision::Stays(why) => ("kept", Some(kept_because(why, member))),
            MemberDecision::Goes { .. } => ("", None),
            MemberDecision::Skipped(why) => ("", Some(why.to_string())),
        };
        Row {
            id,
            name: sanitize(&member.path).into_owned(),
            bytes: 0,
            size: size.into(),
            note: why.or_else(|| date(member)).unwrap_or_default(),
            opens: false,
        }
    }

    /// Returns the groups with marked members, and the paths of those that are not marked.
    fn chosen(&self) -> (Vec<Group>, BTreeSet<Vec<u8>>) {
        let (mut groups, mut kept) = (Vec::new(), BTreeSet::new());
        for number in self.marked.iter().map(|id| self.group_of(*id)).collect::<BTreeSet<_>>() {
            let members: Vec<_> = self.members(number).collect();
            let stays = members.iter().filter(|(id, member)| !self.marked.contains(id) && !member.via_link);
            kept.extend(stays.map(|(_, member)| member.path.clone()));
            let members = members.into_iter().map(|(_, member)| member.clone()).collect();
            groups.push(Group { members, ..self.groups[number].clone() });
        }
        (groups, kept)
    }

    /// Carries out the plan, and notes which members are gone.
    fn act(&mut self, word: &str, console: &Console) -> anyhow::Result<Outcome> {
        let (groups, kept) = self.chosen();
        let (journal, path) = journal::create("dup", None)?;
        console.summary(format_args!("journal: {}", quote(path.as_os_str().as_bytes())));
        let outcome = self.removal.with_job(word, kept, self.marked.len() as u64, |job| {
            job.run(Vec::new(), &mut groups.into_iter(), Some((journal, path)), console)
        });
        let is_gone = |id: &u64| {
            let Member { path, version, .. } = self.member(*id);
            let now = Stat::at(CWD, OsStr::from_bytes(path), Symlinks::NoFollow);
            !now.is_ok_and(|now| now.identity() == version.identity())
        };
        let gone: Vec<_> = self.marked.iter().copied().filter(is_gone).collect();
        self.gone.extend(gone);
        self.marked.clear();
        outcome
    }
}

impl Source for Copies {
    fn rows(&mut self, of: Option<u64>) -> Result<Vec<Row>, String> {
        Ok(match of {
            None => (0..self.groups.len()).filter_map(|group| self.group_row(group)).collect(),
            Some(group) => {
                self.members(group as usize).map(|(id, member)| self.member_row(id, member)).collect()
            }
        })
    }

    fn is_marked(&self, id: u64) -> bool {
        match usize::try_from(id).ok().filter(|id| *id < self.groups.len()) {
            Some(group) => self.members(group).any(|(id, _)| self.marked.contains(&id)),
            None => self.marked.contains(&id),
        }
    }

    fn mark(&mut self, id: u64) -> Result<(), String> {
        if self.marked.remove(&id) {
            return Ok(());
        }
        let mut marked = self.marked.clone();
        let group = match usize::try_from(id).ok().filter(|id| *id < self.groups.len()) {
            Some(group) => {
                let members: Vec<_> = self.members(group).map(|(id, _)| id).collect();
                if self.is_marked(id) {
                    members.iter().for_each(|id| _ = self.marked.remove(id));
                    return Ok(());
                }
                let goes = |id: &u64| matches!(self.decision(*id), MemberDecision::Goes { .. });
                let before = marked.len();
                marked.extend(members.into_iter().filter(goes));
                if marked.len() == before {
                    return Err("the rules keep all of these files".into());
                }
                group
            }
            None if self.member(id).via_link => return Err("it is a symbolic link, not a copy".into()),
            None => {
                marked.insert(id);
                self.group_of(id)
            }
        };
        if self.unmarked(group, &marked) == 0 {
            return Err("one copy has to stay".into());
        }
        self.marked = marked;
        Ok(())
    }

    fn marked(&self) -> Total {
        let bytes = self.marked.iter().map(|id| u128::from(self.member(*id).version.size)).sum();
        Total { rows: self.marked.len() as u64, size: Unit::Decimal.format(bytes) }
    }

    fn plan(&mut self) -> Plan {
        let (groups, kept) = self.chosen();
        match self.removal.with_job(DELETE, kept, 0, |job| job.preview(&mut groups.into_iter())) {
            Err(error) => Plan { lines: vec![format!("{error:#}")], words: Vec::new() },
            Ok(lines) => {
                let to = sanitize(self.removal.quarantine.as_os_str().as_bytes());
                let delete = "deletes; `ftk undo` copies back while a kept copy is unchanged".into();
                Plan { lines, words: vec![quarantine_word(&to), Word { word: DELETE, what: delete }] }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ftk_browse::{Key, Request};
    use ftk_hash::Digest;
    use proptest::prelude::*;

    use super::*;

    fn copies(top: &Path, sizes: &[u8]) -> Copies {
        let group = |(nth, count): (usize, &u8)| {
            let content = vec![nth as u8; 100 - nth];
            let member = |copy: u8| {
                let path = top.join(format!("{nth}-{copy}"));
                fs::write(&path, &content).unwrap();
                let version = Stat::at(CWD, &path, Symlinks::NoFollow).unwrap().version();
                Member::new(0, path.as_os_str().as_bytes().to_vec(), version)
            };
            let members = (0..*count).map(member).collect();
            Group { size: content.len() as u64, digest: Digest::from_bytes(&content[..16]), members }
        };
        let groups = sizes.iter().enumerate().map(group).collect();
        let roots = vec![CString::new(top.as_os_str().as_bytes()).unwrap()];
        let quarantine = top.join("q");
        Copies::new(groups, Removal { roots, units: None, rules: Rules::default(), quarantine }).unwrap()
    }

    fn keys() -> impl Strategy<Value = Vec<Key>> {
        let typed = |word: &'static str| word.chars().map(Key::Char).chain([Key::Enter]).collect::<Vec<_>>();
        let one = prop::sample::select(vec![
            Key::Up,
            Key::Down,
            Key::Down,
            Key::Left,
            Key::Enter,
            Key::Escape,
            Key::End,
            Key::Char(' '),
            Key::Char(' '),
            Key::Char('d'),
            Key::Char('n'),
        ]);
        let words = ["dquarantine", "ddelete", "ddelet", "delete"].map(typed).to_vec();
        let some = prop_oneof![6 => one.prop_map(|key| vec![key]), 1 => prop::sample::select(words)];
        prop::collection::vec(some, 0..60).prop_map(|keys| keys.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        /// The plan of `prune` removes exactly the marked copies, and keeps one of each group.
        #[test]
        fn one_copy_always_stays(sizes in prop::collection::vec(2_u8..5, 1..4), keys in keys()) {
            let temp = tempfile::tempdir().unwrap();
            let mut browser = Browser::new(copies(temp.path(), &sizes), "groups".into());
            let mut marked = BTreeSet::new();
            for key in keys {
                let row = browser.current().map(|row| row.id).filter(|_| !browser.is_asking());
                let request = browser.press(key);
                let copies = browser.source();
                if let (Key::Char(' '), Some(row)) = (key, row) {
                    match usize::try_from(row).ok().filter(|row| *row < sizes.len()) {
                        Some(group) => {
                            let all: Vec<_> = copies.members(group).map(|(id, _)| id).collect();
                            if all.iter().any(|id| marked.contains(id)) {
                                all.iter().for_each(|id| _ = marked.remove(id));
                            } else {
                                // The first is as old as any other, and has the first path.
                                marked.extend(&all[1..]);
                            }
                        }
                        None if marked.remove(&row) => {}
                        None => {
                            let all = copies.members(copies.group_of(row)).map(|(id, _)| id);
                            if all.filter(|id| *id != row && !marked.contains(id)).count() > 0 {
                                marked.insert(row);
                            }
                        }
                    }
                }
                prop_assert_eq!(&copies.marked, &marked);
                let plan = copies.plan();
                let of = |word: &str| plan.lines.iter().filter(|line| line.starts_with(word)).count();
                prop_assert_eq!((of("delete"), of("refuse")), (marked.len(), 0), "{:?}", plan.lines);
                for id in &marked {
                    let line = format!("delete   {}", sanitize(&copies.member(*id).path));
                    prop_assert!(plan.lines.contains(&line), "{:?}", plan.lines);
                }
                if let Request::Act(_) = request {
                    prop_assert!(!marked.is_empty());
                }
            }
        }
    }
}
