//! One file with two device numbers, since it is visible through two file systems.

use std::fs;
use std::path::Path;

use ftk_apply::{Action, ActionOptions, Step};

use crate::harness::{Mounted, Tree, ino, seen};

#[test]
fn h02_the_keeper_is_never_its_own_victim() {
    let tree = Tree::new();
    let Some(overlay) = Mounted::overlay(&tree.path("")) else { return };
    let upper = tree.file("upper/x", "the only one");
    let merged = overlay.path("x");
    let root_len = tree.path("").as_os_str().len();
    let (upper_seen, merged_seen) = (seen(&upper, root_len), seen(&merged, root_len));
    assert_ne!(upper_seen.version.dev, merged_seen.version.dev);
    let inode = ino(&upper);
    let moves = [Action::Move(tree.path("upper/to")), Action::Move(tree.path("merged/to"))];
    for action in [Action::Delete, Action::Symlink, Action::Hardlink].into_iter().chain(moves) {
        for (victim, keeper) in [(&merged_seen, &upper_seen), (&upper_seen, &merged_seen)] {
            // Each try renames the file and back, which changes its ctime, so it is scanned again.
            let step = Step {
                copies: None,
                with_next: false,
                victim: seen(Path::new(std::str::from_utf8(&victim.path).unwrap()), root_len),
                keeper: seen(Path::new(std::str::from_utf8(&keeper.path).unwrap()), root_len),
            };
            let outcome = tree.run_by(action.clone(), ActionOptions::default(), vec![step]).remove(0);
            assert!(outcome.is_err(), "{action:?}");
            assert_eq!(ino(&upper), inode, "{action:?}");
            assert_eq!(fs::read(&merged).unwrap(), b"the only one", "{action:?}");
            assert_eq!(fs::read(&upper).unwrap(), b"the only one", "{action:?}");
            assert!(tree.names().iter().all(|name| !name.contains(".ftk-")), "{action:?}");
        }
    }
}
