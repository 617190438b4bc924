//! With random files and random orders of calls, every reader returns the same.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::harness::{BUF, Tree, bytes_of, content, name, readers, start};
use crate::{Chunk, Reader, Ready};

#[derive(Clone, Copy, Debug)]
enum Kind {
    File(usize),
    Missing,
    Link,
    Dir,
}

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let kind = prop_oneof![
        6 => (0..3 * BUF + 9).prop_map(Kind::File),
        2 => prop::sample::select(vec![0, 1, BUF - 1, BUF, BUF + 1, 2 * BUF]).prop_map(Kind::File),
        1 => Just(Kind::Missing),
        1 => Just(Kind::Link),
        1 => Just(Kind::Dir),
    ];
    prop::collection::vec(kind, 1..20)
}

/// The bytes, a failure, or `None` if the file was cancelled.
type Answer = Option<Result<Vec<u8>, String>>;

/// Performs the calls that `choices` select, where possible, and then everything that remains.
fn run(reader: &mut dyn Reader, tree: &Tree, n: usize, choices: &[u8]) -> Vec<Answer> {
    let dir = tree.open();
    let mut answers: Vec<Answer> = vec![None; n];
    let mut next = 0;
    let mut free: Vec<u32> = (0..reader.slots() as u32).collect();
    let mut files: HashMap<u32, (usize, Vec<u8>)> = HashMap::new();
    let mut out: Vec<Chunk> = Vec::new();
    let mut choices = choices.iter().copied();
    loop {
        let choice = choices.next();
        match choice.map_or(0, |c| c % 4) {
            0 | 1 if !free.is_empty() && next < n => {
                let slot = free.swap_remove(choice.map_or(0, usize::from) % free.len());
                start(reader, slot, &dir, &name(&next.to_string()));
                files.insert(slot, (next, Vec::new()));
                next += 1;
            }
            2 if !out.is_empty() => act(reader, &mut out, &mut files, &mut free, &mut answers, choice),
            which => {
                let must_come = files.len() > out.len();
                match reader.poll(which != 3) {
                    Some(Ready::Data(chunk)) => {
                        files.get_mut(&chunk.slot).unwrap().1.extend_from_slice(chunk.as_ref());
                        out.push(chunk);
                    }
                    Some(Ready::Failed { slot, failure, .. }) => {
                        let (file, _) = files.remove(&slot).unwrap();
                        answers[file] = Some(bytes_of(Err(failure)));
                        free.push(slot);
                    }
                    None => {
                        assert!(which == 3 || !must_come, "a file is in progress");
                        if choice.is_none() {
                            if out.is_empty() && next == n {
                                return answers;
                            }
                            if !out.is_empty() {
                                act(reader, &mut out, &mut files, &mut free, &mut answers, None);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Handles one chunk: requests the next bytes, finishes, or sometimes cancels.
fn act(
    reader: &mut dyn Reader,
    out: &mut Vec<Chunk>,
    files: &mut HashMap<u32, (usize, Vec<u8>)>,
    free: &mut Vec<u32>,
    answers: &mut [Answer],
    choice: Option<u8>,
) {
    let chunk = out.swap_remove(choice.map_or(0, usize::from) / 4 % out.len());
    let (slot, part) = (chunk.slot, chunk.part);
    if choice.is_some_and(|c| c >= 224) {
        reader.cancel(slot);
        files.remove(&slot);
        free.push(slot);
    } else if part.is_end() {
        let (file, bytes) = files.remove(&slot).unwrap();
        answers[file] = Some(bytes_of(reader.finish(slot).map(|stat| (bytes, stat))));
        free.push(slot);
    } else {
        reader.more(slot, chunk.into_buf());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_readers_return_the_same(
        kinds in kinds(),
        choices in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let tree = Tree::new();
        for (i, kind) in kinds.iter().enumerate() {
            let path = tree.path(&i.to_string());
            match kind {
                Kind::File(len) => fs::write(path, content(*len, i as u64)).unwrap(),
                Kind::Missing => {}
                Kind::Link => symlink("0", path).unwrap(),
                Kind::Dir => fs::create_dir(path).unwrap(),
            }
        }
        for (which, mut reader) in readers() {
            let answers = run(&mut *reader, &tree, kinds.len(), &choices);
            for (i, answers) in answers.into_iter().enumerate() {
                let expected = match kinds[i] {
                    Kind::File(len) => Ok(content(len, i as u64)),
                    Kind::Missing => Err("open: NotFound".to_owned()),
                    Kind::Link | Kind::Dir => Err("not regular".to_owned()),
                };
                if let Some(answers) = answers {
                    prop_assert!(answers == expected, "{which}: file {i}, {:?}", kinds[i]);
                }
            }
        }
    }
}
