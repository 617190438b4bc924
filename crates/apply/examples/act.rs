//! Performs one action on a pair of files, or undoes a journal: `cargo run -p ftk-apply --example act --
//! hardlink KEEPER VICTIM JOURNAL`, `act replace SOURCE FILE JOURNAL`, `act create SOURCE FILE JOURNAL`, `act
//! metadata SOURCE FILE JOURNAL`, which gives FILE the metadata of SOURCE, `act chosen delete|DIRECTORY ENTRY JOURNAL`, `act
//! undo JOURNAL`. KEEPER and VICTIM may both be directories. Several pairs of files are handled only together.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program prints its results")]

use std::collections::BTreeMap;
use std::error::Error;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_apply::{
    Action, ActionOptions, Chosen, Engine, Journal, NearestDirectory, PutBack, RecordedMetadata, Restore,
    RestoreName, Restorer, Seen, Step, open_journal_to_undo, undo,
};
use ftk_file::{File, FileType, Identity, Seal, Sealer, Stat, Symlinks};
use ftk_sched::Stop;
use rustix::fs::{CWD, fgetxattr};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let mut failed = None;
    match *args {
        ["undo", journal] => {
            undo(open_journal_to_undo(journal.as_ref())?, &Stop::new(), |_, outcome| match outcome {
                Ok(undone) => println!("{undone:?}"),
                Err(error) => failed = Some(error),
            })?;
        }
        [action @ ("replace" | "create"), source, file, journal] => {
            let content = std::fs::read(source)?;
            let damaged = if action == "replace" { Some(seen(file)?.version) } else { None };
            let directory = directory_of(file).ok();
            let name = RestoreName { path: file.into(), root_len: 0, damaged, directory };
            let mode = Some(0o640);
            let mtime_ns = Some(seen(source)?.version.mtime_ns);
            let recorded = RecordedMetadata { mode, mtime_ns, ..RecordedMetadata::default() };
            let restore = Restore {
                source: seen(source)?,
                links: false,
                names: vec![name],
                recorded,
                changes: RecordedMetadata::default(),
            };
            let mut restorer = Restorer::new(Some("saved".as_ref()), BTreeMap::new());
            let mut has_content = |_: usize, found: &File| {
                let mut bytes = vec![0; content.len()];
                found.read_exact_at(&mut bytes, 0)?;
                found.verify_always(bytes.len() as u64)?;
                Ok(bytes == content)
            };
            let mut journal = Journal::create(journal.as_ref())?;
            restorer.run([restore], &mut journal, &Stop::new(), &mut has_content, |_, _, outcome| {
                match outcome {
                    Ok(restored) => println!("done, {restored:?}"),
                    Err(error) => failed = Some(error),
                }
            })?;
            restorer.finish_directories()?;
            journal.finish()?;
        }
        ["metadata", source, file, journal] => {
            let stat = Stat::at(CWD, source, Symlinks::NoFollow)?;
            let note = std::fs::File::open(source)?;
            let mut value = [0; 4];
            let recorded = RecordedMetadata {
                mode: Some(stat.mode),
                uid: Some(stat.uid),
                gid: Some(stat.gid),
                mtime_ns: Some(stat.mtime_ns),
                attributes: fgetxattr(note, "user.note", &mut value[..])
                    .is_ok()
                    .then(|| vec![(b"user.note".to_vec(), value.to_vec())]),
                keeps_trusted: false,
            };
            let file_type = Stat::at(CWD, file, Symlinks::NoFollow)?.file_type;
            let put_back = PutBack { entry: seen(file)?, file_type, recorded };
            let mut restorer = Restorer::new(None, BTreeMap::new());
            let mut journal = Journal::create(journal.as_ref())?;
            restorer.set_metadata(&[put_back], &mut journal, &Stop::new(), |_, outcome| match outcome {
                Ok(_) => println!("done"),
                Err(error) => failed = Some(error),
            })?;
            journal.finish()?;
        }
        ["chosen", action, path, journal] => {
            let sealer = Sealer::default();
            let chosen = Chosen {
                seen: seen(path)?,
                file_type: Stat::at(CWD, path, Symlinks::NoFollow)?.file_type,
                below: seal(&sealer, path.as_ref())?,
            };
            let action = if action == "delete" { Action::Delete } else { Action::Move(action.into()) };
            let mut journal = Journal::create(journal.as_ref())?;
            let mut engine = Engine::new(action, ActionOptions::default())?;
            match engine.run_chosen(&chosen, &sealer, &mut journal, &Stop::new())? {
                Ok(freed) => println!("done, {} bytes are free", freed.0),
                Err(error) => failed = Some(error),
            }
            journal.finish()?;
        }
        [action, ref pairs @ .., journal] if !pairs.is_empty() && pairs.len() % 2 == 0 => {
            let action = match action {
                "hardlink" => Action::Hardlink,
                "reflink" => Action::Reflink,
                "symlink" => Action::Symlink,
                "delete" => Action::Delete,
                "trash" => Action::Trash("home".into()),
                directory => Action::Move(directory.into()),
            };
            let step = |(nth, pair): (usize, &[&str])| {
                let step = Step::new(seen(pair[1])?, seen(pair[0])?);
                Ok(Step { with_next: 2 * nth + 2 < pairs.len(), ..step })
            };
            let steps = pairs.chunks(2).enumerate().map(step).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
            let mut journal = Journal::create(journal.as_ref())?;
            let mut engine = Engine::new(action, ActionOptions::default())?;
            if std::path::Path::new(pairs[1]).is_dir() {
                let (done, ended) = engine.run_tree(&steps[0], &mut journal, &Stop::new(), |_, _| ())?;
                journal.finish()?;
                println!("{} files", done.files);
                ended?;
                println!("done");
                return Ok(());
            }
            engine.run(steps, &mut journal, &Stop::new(), |_, outcome| match outcome {
                Ok(freed) => println!("done, {} bytes are free", freed.0),
                Err(error) => failed = Some(error),
            })?;
            journal.finish()?;
        }
        _ => {
            return Err(
                "act hardlink|reflink|symlink|delete|trash|DIRECTORY KEEPER VICTIM [KEEPER VICTIM...] JOURNAL, act replace|create|metadata SOURCE FILE JOURNAL, act chosen delete|DIRECTORY ENTRY JOURNAL, act undo JOURNAL"
                    .into(),
            );
        }
    }
    if let Some(error) = failed {
        let cause = error.source().map(|cause| format!(": {cause}"));
        eprintln!("{error}{}", cause.unwrap_or_default());
        std::process::exit(1);
    }
    Ok(())
}

/// Returns the directory of a file as a walk would record it.
fn directory_of(path: &str) -> std::io::Result<NearestDirectory> {
    let len = path.rfind('/').unwrap_or(0);
    let directory = if len == 0 { "." } else { &path[..len] };
    Ok(NearestDirectory { len, identity: Identity::of(std::fs::File::open(directory)?)? })
}

/// Returns the seal of everything below a directory; that of nothing for another entry.
fn seal(sealer: &Sealer, path: &Path) -> std::io::Result<Seal> {
    let mut sum = Seal::default();
    let stat = Stat::at(CWD, path, Symlinks::NoFollow)?;
    if stat.file_type == FileType::Directory {
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let below = Stat::at(CWD, entry.path(), Symlinks::NoFollow)?;
            sum += sealer.entry(stat.identity(), entry.file_name().as_bytes(), &below);
            sum += seal(sealer, &entry.path())?;
        }
    }
    Ok(sum)
}

/// Returns the state of a file as a scan would record it. The directory of the file is trusted.
fn seen(path: &str) -> Result<Seen, Box<dyn Error>> {
    let version = Stat::at(CWD, path, Symlinks::NoFollow)?.version();
    Ok(Seen { path: path.into(), root_len: path.len(), version })
}
