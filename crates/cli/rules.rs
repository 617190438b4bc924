//! The rules of a run, and whether they matched anything.
//!
//! A rule without effect often has a typing error. So every command names the rules that matched nothing, and a command
//! that changes files stops before its first change if one of them was to protect files.

use std::collections::BTreeMap;

use anyhow::ensure;
use ftk_record::{RecordWriter, path_member, quote};
use ftk_select::{Selection, Skipped, Used};

use crate::console::Console;
use crate::human;

/// A rule of the command line, or of a manifest.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    option: &'static str,
    /// `None` for an option without a value.
    value: Option<Vec<u8>>,
    protects: bool,
    /// `None` if this is not known.
    is_used: Option<bool>,
    hint: Option<&'static str>,
    /// Whether each line of a list matched anything. Empty if this is not known.
    lines: Vec<bool>,
}

/// Rules, in the order of the messages about them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Vec<Rule>);

/// The JSON of unused rules, for a member `unused_rules`.
pub(crate) type UnusedRules = Vec<BTreeMap<String, String>>;

/// The option for a command that changes files.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct AllowUnusedArg {
    /// Go on if a rule that protects files matches nothing
    ///
    /// Without this option, ftk changes nothing if such a rule matches nothing. The rule may have a typing error, and
    /// then ftk would change the files that it should protect.
    #[arg(long, hide_short_help = true)]
    pub(crate) allow_unused_rules: bool,
}

impl AllowUnusedArg {
    /// The id of the option.
    pub(crate) const ID: &str = "allow_unused_rules";
}

impl Rule {
    /// A rule with a long option and its value as it was given. `protects`: whether it keeps the command away from
    /// files. `is_used`: whether it matched anything; `None` if this is not known.
    pub(crate) fn new(
        option: &'static str,
        value: Option<Vec<u8>>,
        protects: bool,
        is_used: Option<bool>,
    ) -> Self {
        Self { option, value, protects, is_used, hint: None, lines: Vec::new() }
    }

    /// Adds what may be meant, for the message about an unused rule.
    pub(crate) fn with_hint(self, hint: Option<&'static str>) -> Self {
        Self { hint, ..self }
    }

    /// Returns `--exclude 'p/keep'`.
    fn shown(&self) -> String {
        let option = self.option;
        self.value.as_ref().map_or_else(|| option.into(), |value| format!("{option} {}", quote(value)))
    }

    /// Returns the option and its value in one word: `--exclude=p/keep`.
    fn word(&self) -> Vec<u8> {
        let option = self.option.as_bytes();
        self.value.as_ref().map_or_else(|| option.into(), |value| [option, b"=", value].concat())
    }
}

impl Rules {
    /// These rules.
    pub(crate) fn of(rules: Vec<Rule>) -> Self {
        Self(rules)
    }

    /// The rules of a selection after one or more walks with it, which have matched `used`.
    ///
    /// After a walk that was stopped, no rule counts as unused, since it may match what was not seen. If nothing was
    /// selected, the message that the filters match nothing says enough of those that select.
    pub(crate) fn of_selection(selection: &Selection, used: &Used, skipped: Skipped) -> Self {
        let rule = |(number, rule): (usize, &ftk_select::Rule)| {
            let hint = match rule.option {
                _ if rule.names_root => Some("a directory given as a starting point is never skipped"),
                "--exclude-from" => Some("a list has the syntax of .gitignore"),
                _ if !rule.is_like_a_list() => None,
                "--exclude" => Some("a glob is not a list: repeat --exclude, or write {a,b}"),
                "--extension" => Some("an extension is not a list: repeat --extension"),
                _ => None,
            };
            let is_judged = rule.protects || skipped.matched > 0 || hint.is_some();
            let is_known = used.is_used(number) || (is_judged && !used.is_partial());
            let is_used = is_known.then(|| used.is_used(number));
            // Recorded lines have no name.
            let value = (!rule.value.is_empty() || rule.lines.is_none()).then(|| rule.value.clone());
            let lines = if used.is_partial() { Vec::new() } else { used.lines(number).to_vec() };
            Rule { lines, ..Rule::new(rule.option, value, rule.protects, is_used).with_hint(hint) }
        };
        Self(selection.rules().iter().enumerate().map(rule).collect())
    }

    /// Notes what another walk with the same selection has used.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (rule, other) in self.0.iter_mut().zip(&other.0) {
            // Unknown is less than unused, and unused less than used.
            rule.is_used = rule.is_used.max(other.is_used);
            rule.lines.truncate(other.lines.len());
            rule.lines.iter_mut().zip(&other.lines).for_each(|(is_used, other)| *is_used |= other);
        }
    }

    /// Replaces the rules `words` of a walk, such as `--exclude=p/keep`, by those that they stand for: the first of
    /// `given` that skip entries. Notes in these what the walk has used, and adds all of them.
    pub(crate) fn replace(&mut self, given: &mut Self, words: &[Vec<u8>]) {
        let (own, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.0).into_iter().partition(|rule| words.contains(&rule.word()));
        for (rule, word) in given.0.iter_mut().filter(|rule| rule.protects).zip(words) {
            let found = own.iter().find(|walked| walked.word() == *word);
            rule.is_used = rule.is_used.max(found.and_then(|walked| walked.is_used));
        }
        self.0 = others;
        self.0.extend(given.0.iter().cloned());
    }

    /// Adds rules.
    pub(crate) fn extend(&mut self, rules: Vec<Rule>) {
        self.0.extend(rules);
    }

    /// Returns whether a rule is among them that matched nothing.
    pub(crate) fn has_unused(&self, option: &str, value: &[u8]) -> bool {
        self.unused().any(|rule| rule.option == option && rule.value.as_deref() == Some(value))
    }

    fn unused(&self) -> impl Iterator<Item = &Rule> {
        self.0.iter().filter(|rule| rule.is_used == Some(false))
    }

    /// Returns the unused rules that were to protect files, each as one word such as `--exclude=p/keep`.
    pub(crate) fn unused_protection(&self) -> Vec<Vec<u8>> {
        self.unused().filter(|rule| rule.protects).map(Rule::word).collect()
    }

    /// Returns the unused rules as JSON: objects with one member `rule`, such as `--exclude=p/keep`.
    pub(crate) fn unused_json(&self) -> UnusedRules {
        let json = |rule: &Rule| {
            let word = rule.word();
            let (name, value) = path_member("rule", &word);
            BTreeMap::from([(name.into_owned(), value.into_owned())])
        };
        self.unused().map(json).collect()
    }

    /// Adds the member `unused_rules` to a JSON object, if there are any.
    pub(crate) fn write(&self, record: &mut RecordWriter<'_, '_>) {
        let unused = self.unused_json();
        if !unused.is_empty() {
            record.member("unused_rules", unused);
        }
    }

    /// Prints a line of the summary for each unused rule, and records it for `--stats`. A default is for many trees, so
    /// it is not named.
    pub(crate) fn say(&self, console: &Console) {
        self.say_in("", console);
    }

    /// Like `say`, if only a part of the tree was walked. `part` follows `matched nothing`.
    pub(crate) fn say_in(&self, part: &str, console: &Console) {
        for rule in self.unused().filter(|rule| !console.is_default(&rule.word())) {
            let hint = rule.hint.map_or_else(String::new, |hint| format!(": {hint}"));
            console.summary(format_args!("{} matched nothing{part}{hint}", rule.shown()));
        }
        for (_, line) in self.partly_used(console) {
            console.summary(format_args!("{line}{part}"));
        }
        console.stats.unused_rules(self.unused_json());
    }

    /// Returns the lists of which lines matched nothing, with a message about each.
    fn partly_used(&self, console: &Console) -> impl Iterator<Item = (&Rule, String)> {
        let used = |rule: &&Rule| rule.is_used == Some(true) && !console.is_default(&rule.word());
        self.0.iter().filter(used).filter_map(|rule| {
            let unused = rule.lines.iter().filter(|is_used| !**is_used).count();
            let lines = human::count(rule.lines.len() as u64, "line");
            (unused > 0).then(|| (rule, format!("{}: {unused} of {lines} matched nothing", rule.shown())))
        })
    }

    /// For a command that changes files: names the lists of which only some lines matched even with `-q`. They do not
    /// stop it, but one of the other lines may be mistyped.
    pub(crate) fn warn_partly_used(&self, console: &Console) {
        if console.is_quiet() {
            let lists = self.partly_used(console).filter(|(rule, _)| rule.protects);
            lists.for_each(|(_, line)| console.warning(line));
        }
    }

    /// Stops a command before its first change.
    ///
    /// # Errors
    /// If a rule that protects files matched nothing, and this is not allowed.
    pub(crate) fn ensure_used(&self, args: AllowUnusedArg) -> anyhow::Result<()> {
        let unused: Vec<_> = self.unused().filter(|rule| rule.protects).map(Rule::shown).collect();
        ensure!(
            unused.is_empty() || args.allow_unused_rules,
            "{} matched nothing, so nothing was changed (--allow-unused-rules permits it)",
            unused.join(", ")
        );
        Ok(())
    }
}
