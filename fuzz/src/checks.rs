//! Files with rules by path must not panic, and each rule must mean what its line says.

use ftk_select::{Check, Checks, PathGlob, Roots};
use ftk_walk::FileType;

/// Entries that the rules are asked about.
const PATHS: [(&str, FileType); 8] = [
    ("a", FileType::Regular),
    ("a", FileType::Directory),
    ("a/b", FileType::Directory),
    ("a/b/c.o", FileType::Regular),
    ("log/x.log", FileType::Regular),
    ("*", FileType::Symlink),
    ("a b", FileType::Fifo),
    (".x/\u{e9}", FileType::Regular),
];

/// Parses a file of rules. It is refused, or has the same rules when they are recorded and read again, and each entry is
/// checked as the rules say one by one.
pub fn checks(data: &[u8]) {
    let checks = match Checks::parse(data) {
        Ok(checks) => checks,
        Err(error) => {
            assert!(error.line <= data.split(|byte| *byte == b'\n').count());
            return assert!(!error.to_string().is_empty());
        }
    };
    let lines: Vec<_> =
        checks.lines().iter().map(|line| str::from_utf8(line).expect("a rule is UTF-8")).collect();
    assert_eq!(Checks::of_lines(lines.iter().map(|line| line.as_bytes())).as_ref(), Ok(&checks));
    let rules = lines.iter().map(|line| {
        let (word, glob) = line.split_once(' ').expect("a check and a glob");
        let check = Check::ALL.into_iter().find(|check| check.name() == word);
        (check.expect("a known check"), PathGlob::new(glob, &Roots::none()).expect("a valid glob"))
    });
    let rules: Vec<_> = rules.collect();
    for (path, file_type) in PATHS {
        assert_eq!(checks.of(path.as_bytes(), file_type), model(&rules, path, file_type), "{path} {lines:?}");
        let above = checks.clone().starting_at(path.split_once('/').map(|(dir, _)| dir.as_bytes()));
        let below = path.split_once('/').map_or(path, |(_, below)| below);
        assert_eq!(above.of(below.as_bytes(), file_type), checks.of(path.as_bytes(), file_type));
    }
}

/// The last rule for an entry or a directory above it, unless one of these directories is ignored.
fn model(rules: &[(Check, PathGlob)], path: &str, file_type: FileType) -> Check {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let ends: Vec<_> = ends.collect();
    let (mut last, mut check) = (0, Check::All);
    for end in ends {
        let (path, is_dir) = (&path[..end], end < path.len() || file_type == FileType::Directory);
        for (nth, (rule, glob)) in (1..).zip(rules) {
            let text = if glob.is_name() { path.rsplit('/').next().unwrap_or(path) } else { path };
            if nth >= last && glob.is_match(0, text.as_bytes(), is_dir) {
                (last, check) = (nth, *rule);
            }
        }
        if check == Check::Ignore {
            break;
        }
    }
    check
}
