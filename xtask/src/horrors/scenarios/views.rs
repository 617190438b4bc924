//! Duplicates in a directory and in another file system that shows the same directory.

use super::super::scenario::{Family, Scenario};
use super::super::seen::{Seen, shown};
use super::super::verdict::{Verdict, kept};

pub(super) const FAMILY: Family = Family {
    title: "Pruning a directory and a view of it",
    peers: &["jdupes", "fdupes", "rdfind", "rmlint", "fclones", "czkawka_cli"],
    mount: Some("bindfs -o allow_other real view"),
    scenarios: SCENARIOS,
};

/// Makes the only copy, with a time that is too old for tools to treat it as just written.
const SETUP: &str = "mkdir real view; printf only > real/x; touch -d '3 days ago' real/x";

const SCENARIOS: &[Scenario] = &[
    Scenario {
        number: 58,
        title: "the directory and its view, copies deleted",
        setup: SETUP,
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete real view"),
            ("jdupes", "jdupes -r -d -N real view"),
            ("fdupes", "fdupes -r -d -N real view"),
            ("rdfind", "rdfind -deleteduplicates true real view"),
            ("rmlint", "rmlint -o sh:r.sh real view\nsh r.sh -d"),
            ("fclones", "fclones group real view > r\nfclones remove < r"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/real\" -d \"$PWD/view\" -D AEO"),
        ],
        judge: the_only_copy,
    },
    Scenario {
        number: 58,
        title: "the same in the other order",
        setup: SETUP,
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete view real"),
            ("jdupes", "jdupes -r -d -N view real"),
            ("fdupes", "fdupes -r -d -N view real"),
            ("rdfind", "rdfind -deleteduplicates true view real"),
            ("rmlint", "rmlint -o sh:r.sh view real\nsh r.sh -d"),
            ("fclones", "fclones group view real > r\nfclones remove < r"),
        ],
        judge: the_only_copy,
    },
    Scenario {
        number: 58,
        title: "copies replaced by symbolic links",
        setup: SETUP,
        tools: &[
            ("ftk", "ftk dup prune --yes --action symlink real view"),
            ("jdupes", "jdupes -r -l real view"),
            ("rdfind", "rdfind -makesymlinks true real view"),
            ("rmlint", "rmlint -o sh:r.sh -c sh:symlink real view\nsh r.sh -d"),
            ("fclones", "fclones group real view > r\nfclones link --soft < r"),
        ],
        judge: the_only_copy,
    },
    Scenario {
        number: 58,
        title: "the directory must be kept unchanged",
        setup: SETUP,
        tools: &[
            ("ftk", "ftk dup prune --yes --action delete --reference real view"),
            ("rmlint", "rmlint -k -m -o sh:r.sh view // real\nsh r.sh -d"),
            ("fclones", "fclones group real view > r\nfclones remove --keep-path \"$PWD/real/**\" < r"),
            ("czkawka_cli", "czkawka_cli dup -m 1 -W -d \"$PWD/view\" -r \"$PWD/real\" -D AEO"),
        ],
        judge: the_only_copy,
    },
];

fn the_only_copy(seen: &Seen) -> Verdict {
    kept!(seen.holds("real/x", b"only"), "the only copy is lost; remaining: {}", shown(&seen.names("real")));
    Verdict::Passes
}
