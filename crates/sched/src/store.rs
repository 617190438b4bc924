//! The file that stores a calibration: one JSON object with the machine it is valid for and the constants.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Constants;
use crate::machine::machine;

/// The start of a file of the previous format, which had lines of text.
const OLD_HEADER: &str = "ftk constants ";

/// The read limit in bytes. A file of constants is always smaller.
pub(crate) const MAX_BYTES: u64 = 64 << 10;

/// The contents of the file. An object is complete only with its last brace, so no footer is needed.
#[derive(Deserialize, Serialize)]
struct Stored<C> {
    machine: String,
    constants: C,
}

/// The reason why a stored calibration is not used. The built-in constants are used instead.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotLoaded {
    /// The file does not exist.
    Missing,
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The file has the format of an earlier version of ftk.
    Outdated,
    /// The file is incomplete or does not have this format.
    NotConstants,
    /// The calibration was made with another CPU, kernel or version of ftk. The text names these three.
    OtherMachine(String),
    /// A constant is missing, unknown, not a number or implausible.
    Corrupt(Box<dyn Error + Send + Sync>),
}

impl Constants {
    /// Loads a calibration from a file.
    ///
    /// # Errors
    /// After any error the caller should use the built-in constants, and report the error at most with `-v`.
    pub fn load(path: &Path) -> Result<Self, NotLoaded> {
        let text = read_regular(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NotLoaded::Missing,
            _ => NotLoaded::Unreadable(error),
        })?;
        parse(&text, &machine())
    }

    /// Saves these constants to a file and replaces its old content atomically: readers see either the old
    /// file or the new one.
    ///
    /// Creates missing parent directories. A failure leaves no partial file.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if a constant is implausible; then nothing is written. Otherwise any
    /// error of the file system.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        self.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        replace(path, &print(self, machine()), File::sync_all)
    }
}

/// Replaces a file atomically, and creates missing parent directories. `sync` gets the new file before it has its name.
pub(crate) fn replace(path: &Path, text: &str, sync: fn(&File) -> io::Result<()>) -> io::Result<()> {
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent)?;
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    file.write_all(text.as_bytes())?;
    sync(file.as_file())?;
    file.persist(path)?;
    Ok(())
}

fn print(constants: &Constants, machine: String) -> String {
    let text = serde_json::to_string_pretty(&Stored { machine, constants });
    text.expect("strings and finite numbers are valid JSON") + "\n"
}

fn parse(text: &str, machine: &str) -> Result<Constants, NotLoaded> {
    if text.starts_with(OLD_HEADER) {
        return Err(NotLoaded::Outdated);
    }
    // The machine comes first: another version of ftk may have other constants.
    let stored: Stored<Value> = serde_json::from_str(text).map_err(|_| NotLoaded::NotConstants)?;
    if stored.machine != machine {
        return Err(NotLoaded::OtherMachine(stored.machine));
    }
    let constants: Constants =
        serde_json::from_value(stored.constants).map_err(|error| NotLoaded::Corrupt(error.into()))?;
    constants.check().map_err(|error| NotLoaded::Corrupt(error.into()))?;
    Ok(constants)
}

/// Reads the start of a regular file. Other files are refused, since opening a FIFO could block forever.
fn read_regular(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

impl fmt::Display for NotLoaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "this machine was not measured (ftk calibrate measures it)"),
            Self::Unreadable(_) => write!(f, "cannot read the calibration file"),
            Self::Outdated => write!(f, "the calibration file has the format of an earlier version"),
            Self::NotConstants => write!(f, "the calibration file is incomplete or has another format"),
            Self::OtherMachine(machine) => {
                write!(f, "the calibration is of another machine or version: {machine:?}")
            }
            Self::Corrupt(_) => write!(f, "the calibration file is damaged"),
        }
    }
}

impl Error for NotLoaded {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            Self::Corrupt(error) => Some(&**error),
            Self::Missing | Self::Outdated | Self::NotConstants | Self::OtherMachine(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    fn measured() -> Constants {
        Constants { file_ns: 4_321, contention: 0.125, ..Constants::default() }
    }

    #[test]
    fn saved_constants_can_be_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("not/there/yet/constants");
        assert!(matches!(Constants::load(&path), Err(NotLoaded::Missing)));
        Constants::default().save(&path).unwrap();
        measured().save(&path).unwrap();
        assert_eq!(Constants::load(&path).unwrap(), measured());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn h57_an_implausible_value_is_not_saved_and_the_old_file_remains() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("constants");
        measured().save(&path).unwrap();
        let outlier = Constants { thread_ns: 4_949_000, ..measured() };
        assert_eq!(outlier.save(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(Constants::load(&path).unwrap(), measured());
    }

    #[test]
    fn h57_saving_to_an_unwritable_path_fails_and_creates_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("directory");
        fs::create_dir(&directory).unwrap();
        assert!(measured().save(&directory).is_err());
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(measured().save(&dir.path().join("file/constants")).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn only_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(Constants::load(dir.path()), Err(NotLoaded::Unreadable(_))));
        let endless = dir.path().join("endless");
        symlink("/dev/zero", &endless).unwrap();
        assert!(matches!(Constants::load(&endless), Err(NotLoaded::Unreadable(_))));
    }

    #[test]
    fn the_error_for_another_machine_names_it() {
        let text = print(&measured(), "that one".into()).replace("team_ns", "other_ns");
        let Err(NotLoaded::OtherMachine(stored)) = parse(&text, "this one") else { panic!("{text}") };
        assert_eq!(stored, "that one");
    }

    #[test]
    fn a_file_of_the_previous_format_is_outdated() {
        let text = format!("ftk constants 1\nmachine = {}\n{}end\n", machine(), measured());
        assert!(matches!(parse(&text, &machine()), Err(NotLoaded::Outdated)));
    }

    #[test]
    fn damaged_constants_are_refused_with_their_name() {
        let text = print(&measured(), "this".into());
        for (old, new, name) in [
            ("\"team_ns\": 15000,", "", "team_ns"),
            ("\"team_ns\"", "\"teams_ns\"", "teams_ns"),
            ("\"thread_ns\": 24000", "\"thread_ns\": 4949000", "thread_ns"),
            ("\"thread_ns\": 24000", "\"thread_ns\": -1", "-1"),
            ("\"contention\": 0.125", "\"contention\": \"much\"", "much"),
        ] {
            assert!(text.contains(old), "{text}");
            let Err(NotLoaded::Corrupt(error)) = parse(&text.replace(old, new), "this") else {
                panic!("{new}")
            };
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn every_truncation_is_noticed() {
        let text = print(&measured(), "this".into());
        assert!(parse(&text, "this").is_ok());
        for len in 0..text.len() - 1 {
            assert!(parse(&text[..len], "this").is_err(), "{len}");
        }
    }

    proptest! {
        #[test]
        fn garbage_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("constants");
            fs::write(&path, bytes).unwrap();
            prop_assert!(Constants::load(&path).is_err());
        }
    }
}
