//! What a comparison of two trees covers, and what it does not.

use ftk_compare::trees::TreeCriteria;
use ftk_record::RecordWriter;
use ftk_select::Skipped;

use crate::human;

/// What was compared, so that "no differences" is not taken for more than it is.
#[derive(Debug)]
pub(super) struct Scope {
    compared: Vec<&'static str>,
    not_compared: Vec<&'static str>,
    /// Pairs of FIFOs or sockets.
    by_type: u64,
    /// Entries of both trees that options skipped. A directory counts as one.
    skipped: u64,
    /// Entries below this depth were not listed.
    max_depth: Option<u32>,
}

/// What is compared in any case.
const ALWAYS: [&str; 5] = ["name", "type", "size", "target", "device"];

/// The times of directories, which even an exact copy changes.
const DIRECTORY_TIMES: &str = "mtime of directories";

impl Scope {
    /// `skipped`: what both walks skipped.
    pub(super) fn new(
        criteria: &TreeCriteria,
        by_type: u64,
        skipped: Skipped,
        max_depth: Option<u32>,
    ) -> Self {
        let TreeCriteria { metadata, ignored, quick, .. } = *criteria;
        let some = [
            ("content", !quick),
            ("mode", metadata && !ignored.mode),
            ("uid", metadata && !ignored.uid),
            ("gid", metadata && !ignored.gid),
            ("mtime", quick || metadata && !ignored.mtime),
            ("xattrs", metadata && !ignored.xattrs),
            ("links", metadata && !ignored.links),
        ];
        let (compared, not_compared): (Vec<_>, Vec<_>) =
            some.into_iter().partition(|(_, is_compared)| *is_compared);
        let words = |list: Vec<(&'static str, bool)>| list.into_iter().map(|(word, _)| word);
        let compared: Vec<_> = ALWAYS.into_iter().chain(words(compared)).collect();
        let has_times = compared.contains(&"mtime");
        let not_compared = words(not_compared).chain(has_times.then_some(DIRECTORY_TIMES)).collect();
        let skipped = skipped.by_options() + skipped.other_file_systems + skipped.pseudo_file_systems;
        Self { compared, not_compared, by_type, skipped, max_depth }
    }

    /// Returns a line of the summary.
    pub(super) fn text(&self) -> String {
        let Self { compared, not_compared, by_type, skipped, max_depth } = self;
        let mut line =
            format!("compared: {}; not compared: {}", compared.join(", "), not_compared.join(", "));
        if !compared.contains(&"mode") {
            line += " (see --metadata)";
        }
        if *by_type > 0 {
            line += &format!("; {} of FIFOs or sockets by type only", human::count(*by_type, "pair"));
        }
        if *skipped > 0 {
            line += &format!("; {} skipped by options", human::entries(*skipped));
        }
        if let Some(depth) = max_depth {
            line += &format!("; nothing below depth {depth}");
        }
        line
    }

    /// Adds the members to the last object.
    pub(super) fn write(&self, record: &mut RecordWriter<'_, '_>) {
        let Self { compared, not_compared, by_type, skipped, max_depth } = self;
        record.member("compared", compared).member("not_compared", not_compared);
        record.member("pairs_by_type", by_type).member("skipped", skipped);
        if let Some(depth) = max_depth {
            record.member("max_depth", depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use ftk_compare::trees::Ignored;

    use super::*;

    /// Whatever the options are, each property is in one of the two lists.
    #[test]
    fn nothing_is_left_unsaid() {
        let all = [
            "name", "type", "size", "target", "device", "content", "mode", "uid", "gid", "mtime", "xattrs",
            "links",
        ];
        for bits in 0..256_u32 {
            let bit = |nth: u32| bits & 1 << nth != 0;
            let [mode, uid, gid, mtime, xattrs, links] = std::array::from_fn(|nth| bit(nth as u32 + 2));
            let ignored = Ignored { mode, uid, gid, mtime, xattrs, links };
            let (metadata, quick) = (bit(0), bit(1));
            let criteria = TreeCriteria { metadata, quick, ignored, ..TreeCriteria::default() };
            let scope = Scope::new(&criteria, 0, Skipped::default(), None);
            for property in all {
                let is_in = [&scope.compared, &scope.not_compared].map(|list| list.contains(&property));
                assert_ne!(is_in[0], is_in[1], "{property} {criteria:?}");
            }
            assert_eq!(scope.compared.contains(&"content"), !quick);
            assert_eq!(scope.compared.contains(&"mode"), metadata && !mode);
            assert_eq!(scope.compared.contains(&"mtime"), quick || metadata && !mtime);
        }
    }

    #[test]
    fn the_line_names_what_options_hide() {
        let skipped = Skipped { filtered_files: 1, ..Skipped::default() };
        let text = |criteria, by_type, skipped, depth| Scope::new(&criteria, by_type, skipped, depth).text();
        let plain = TreeCriteria::default();
        let line = "compared: name, type, size, target, device, content; \
                    not compared: mode, uid, gid, mtime, xattrs, links (see --metadata)";
        assert_eq!(text(plain, 0, Skipped::default(), None), line);
        let more =
            "; 2 pairs of FIFOs or sockets by type only; 1 entry skipped by options; nothing below depth 3";
        assert_eq!(text(plain, 2, skipped, Some(3)), format!("{line}{more}"));
        let all = TreeCriteria { metadata: true, ..plain };
        assert!(
            text(all, 0, Skipped::default(), None).ends_with("links; not compared: mtime of directories")
        );
    }
}
