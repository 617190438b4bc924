//! Data of pages.

use fastrand::Rng;
use ftk_inventory::Budget;
use ftk_report::{
    Change, ChangesBuilder, Data, DuplicateCopy, DuplicateGroup, DuplicateKind, Duplicates, GrownDir,
    HealthBuilder, Problems, SignedCount, SpaceBuilder, Usage,
};

/// Names that would do something if they were markup, or change how others look, as the page shows them.
pub(crate) const HOSTILE: [&str; 5] = [
    "<img src=x onerror=\"window.pwned=1\">",
    "</script><script>window.pwned=1</script>",
    "evil\\u{202e}gpj.exe",
    "bell\\u{7}",
    "latin-\\xff.txt",
];

/// The same names as bytes.
const RAW: [&[u8]; 5] = [
    b"<img src=x onerror=\"window.pwned=1\">",
    b"<\x2fscript><script>window.pwned=1<\x2fscript>",
    "evil\u{202e}gpj.exe".as_bytes(),
    b"bell\x07",
    b"latin-\xff.txt",
];

const DAY_S: i64 = 86_400;
const NOW_S: i64 = 1_790_000_000;

fn usage(random: &mut Rng) -> Usage {
    let apparent = random.u64(..1000) * random.u64(..1000) * random.u64(..200) + 1;
    Usage {
        allocated: apparent.next_multiple_of(4096),
        apparent,
        mtime_s: NOW_S - random.u64(..4000) as i64 * DAY_S,
        uid: Some([0, 1000, 33][random.usize(..3)]),
        waste: if random.u64(..5) == 0 { apparent } else { 0 },
    }
}

const EXTENSIONS: [&str; 8] = ["jpg", "mov", "rs", "txt", "pdf", "tar", "zip", "o"];

/// Returns a page with all views.
pub(crate) fn data() -> Data {
    let mut random = Rng::with_seed(1);
    let mut space = SpaceBuilder::new(b"/home/ann", 20_000, &Budget::new(u64::MAX));
    let mut paths: Vec<Vec<u8>> =
        RAW.iter().map(|name| [b"odd/", name.to_vec().leak() as &[u8]].concat()).collect();
    // A name with a slash would be two names.
    paths.retain(|path| path.iter().filter(|byte| **byte == b'/').count() == 1);
    for n in 0..24 * 40 {
        let extension = EXTENSIONS[n / 40 % 8];
        paths.push(format!("dir{}/sub{:02}/file{:02}.{extension}", n / 240, n / 40, n % 40).into_bytes());
    }
    paths.sort();
    for path in &paths {
        space.file(path, &usage(&mut random)).unwrap();
    }
    let copy = |name| DuplicateCopy { names: vec![name], mtime_s: NOW_S };
    let groups = (0..120_u64).map(|n| {
        let name = |number| format!("/home/ann/pictures{number}/album{}/img{n}.jpg", n % 7);
        let mut copies: Vec<_> = (0..3).map(name).map(copy).collect();
        if let Some(hostile) = HOSTILE.get(n as usize) {
            copies[0].names.push((*hostile).into());
        }
        let size = (130 - n) * 100_000;
        let line = format!("{{\"group\":{},\"size_bytes\":{size}}}", n + 1);
        DuplicateGroup {
            kind: DuplicateKind::File,
            size_bytes: size.into(),
            waste_bytes: (2 * size).into(),
            files: 1_u64.into(),
            same_names: true,
            copies,
            line,
        }
    });
    let albums = (0..2_u64).map(|n| DuplicateGroup {
        kind: DuplicateKind::Directory,
        size_bytes: 40_000_000_u64.into(),
        waste_bytes: 40_000_000_u64.into(),
        files: 52_u64.into(),
        same_names: n == 0,
        copies: [format!("/home/ann/albums/{n}"), format!("/home/ann/backup/albums/{n}")].map(copy).into(),
        line: format!("{{\"directories\":{}}}", n + 1),
    });
    let mut changes = ChangesBuilder::new(&Budget::new(u64::MAX));
    changes.add(Change::Corrupted, b"film/a.mov", None, [Some(100), Some(100)]).unwrap();
    for (n, name) in RAW.iter().enumerate() {
        changes.add(Change::Moved, name, Some(b"before"), [Some(n as u64); 2]).unwrap();
        changes.add(Change::Added, &[b"new/", *name].concat(), None, [None, Some(5)]).unwrap();
    }
    let grown = HOSTILE.iter().zip(-3..).map(|(name, n)| GrownDir {
        path: (*name).into(),
        depth: 1,
        allocated_bytes_change: (n % 2 == 0).then_some(SignedCount(n << 60)),
        apparent_bytes_change: SignedCount(n * 1000),
        files_change: SignedCount(n),
    });
    let grown = grown.collect();
    let mut health = HealthBuilder::new(NOW_S, &Budget::new(u64::MAX));
    for (n, path) in paths.iter().enumerate() {
        let verified_s = (n % 9 != 0).then(|| NOW_S - n as i64 * DAY_S / 4);
        health.file(path, 1000, verified_s, (n % 200 == 5).then_some(NOW_S - DAY_S)).unwrap();
    }
    Data {
        program: "0.1.0".into(),
        title: "/home/ann".into(),
        made_s: NOW_S,
        inputs: vec!["/home/ann".into()],
        problems: Problems {
            unreadable: 1_u64.into(),
            excluded: 0_u64.into(),
            messages: HOSTILE.iter().map(|name| format!("cannot open {name}")).collect(),
        },
        space: Some(space.finish(|uid| if uid == 0 { "root".into() } else { format!("user {uid}") })),
        duplicates: Some(Duplicates {
            freed_bytes: None,
            is_upper_bound: false,
            header: r#"{"ftk":"dup-decisions"}"#.into(),
            groups: albums.chain(groups).collect(),
            total_groups: 300_u64.into(),
            total_waste_bytes: 3_000_000_000_u64.into(),
            omitted_groups: 178_u64.into(),
            omitted_waste_bytes: 1_213_000_000_u64.into(),
        }),
        changes: Some(changes.finish(Some(grown))),
        health: Some(health.finish()),
    }
}

/// Returns a page with as many nodes as any page has.
pub(crate) fn large() -> Data {
    let mut random = Rng::with_seed(1);
    let mut space = SpaceBuilder::new(b"/srv", ftk_report::MAX_NODES, &Budget::new(u64::MAX));
    for n in 0..300_000 {
        let path = format!("a{:02}/b{:03}/file-{:06}.{}", n / 30_000, n / 300, n, EXTENSIONS[n % 8]);
        space.file(path.as_bytes(), &usage(&mut random)).unwrap();
    }
    let space = Some(space.finish(|uid| uid.to_string()));
    Data { program: "0.1.0".into(), title: "/srv".into(), made_s: NOW_S, space, ..Data::default() }
}
