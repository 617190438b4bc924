//! Steps that are carried out only together.

use std::fs;

use ftk_apply::{ActError, Action, Refusal, Step};

use crate::harness::Tree;

/// Returns a tree with three pairs of files, and the steps for them. The first two are carried out only together, or all
/// three.
fn chain(tree: &Tree, len: usize) -> Vec<Step> {
    let step = |nth: usize| {
        tree.file(&format!("v{nth}"), format!("content {nth}"));
        tree.file(&format!("k{nth}"), format!("content {nth}"));
        Step { with_next: nth + 1 < len, ..tree.step(&format!("v{nth}"), &format!("k{nth}")) }
    };
    (0..3).map(step).collect()
}

#[test]
fn all_are_done_or_none() {
    for len in [1, 2, 3] {
        for spoilt in [None, Some("v0"), Some("v1"), Some("v2"), Some("k0"), Some("k1"), Some("k2")] {
            for moves in [false, true] {
                let tree = Tree::new();
                let steps = chain(&tree, len);
                let action = if moves { Action::Move(tree.path("to")) } else { Action::Delete };
                if let Some(name) = spoilt {
                    fs::write(tree.path(name), "different").unwrap();
                }
                let nth = spoilt.map(|name| name[1..].parse::<usize>().unwrap());
                let outcomes = tree.run(action, steps);
                for (step, outcome) in outcomes.iter().enumerate() {
                    let is_refused = nth == Some(step) || nth.is_some_and(|nth| nth < len && step < len);
                    assert_eq!(outcome.is_err(), is_refused, "{len} {spoilt:?} {step}: {outcome:?}");
                    assert_eq!(
                        tree.path(&format!("v{step}")).exists(),
                        is_refused,
                        "{len} {spoilt:?} {step}"
                    );
                    let is_together = matches!(outcome, Err(ActError::Refused(Refusal::Together)));
                    assert_eq!(is_together, is_refused && nth != Some(step), "{outcome:?}");
                }
                if moves {
                    tree.undo().into_iter().for_each(|outcome| _ = outcome.unwrap());
                    assert!((0..3).all(|nth| tree.path(&format!("v{nth}")).exists()));
                }
            }
        }
    }
}

/// A step that fails when it is carried out ends those after it.
#[test]
fn a_failure_ends_the_rest() {
    let tree = Tree::new();
    let steps = chain(&tree, 3);
    // The new name of the second file is taken.
    let to = tree.path("to");
    let taken = to.join(tree.path("v1").strip_prefix("/").unwrap());
    fs::create_dir_all(taken.parent().unwrap()).unwrap();
    fs::write(taken, "").unwrap();
    let outcomes = tree.run(Action::Move(to), steps);
    assert!(outcomes[0].is_ok() && outcomes[1].is_err(), "{outcomes:?}");
    assert!(matches!(outcomes[2], Err(ActError::Refused(Refusal::Together))), "{outcomes:?}");
    assert!(tree.path("v2").exists());
}
