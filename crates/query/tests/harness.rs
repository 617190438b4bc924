//! A directory for each test, and both programs.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Where a test runs.
pub(crate) struct Dir(tempfile::TempDir);

/// What a run printed.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Dir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Creates a file, and the directories above it.
    pub(crate) fn file(&self, name: impl AsRef<[u8]>, content: &[u8]) -> &Self {
        let path = self.0.path().join(OsStr::from_bytes(name.as_ref()));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Runs ftk-query.
    pub(crate) fn query(&self, args: &[&str]) -> Printed {
        self.run(Path::new(env!("CARGO_BIN_EXE_ftk-query")), args)
    }

    /// Runs ftk-query, which must succeed, and returns its output.
    pub(crate) fn ask(&self, args: &[&str]) -> String {
        let printed = self.query(args);
        assert_eq!(printed.status, 0, "{args:?}: {printed:?}");
        printed.out
    }

    /// Runs ftk-query, which must fail, and returns its message.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let printed = self.query(args);
        assert_eq!(printed.status, 2, "{args:?}: {printed:?}");
        assert_eq!(printed.err.lines().count(), 1, "{printed:?}");
        printed.err
    }

    /// Runs ftk.
    pub(crate) fn ftk(&self, args: &[&str]) -> Printed {
        self.run(ftk(), args)
    }

    /// Makes a manifest of a tree and converts it to the set of the same name.
    pub(crate) fn set(&self, tree: &str, options: &[&str]) -> String {
        let (manifest, set) = (format!("{tree}.jsonl"), format!("{tree}.set"));
        let made = self.ftk(&["manifest", "create", tree, "-o", &manifest]);
        assert_eq!(made.status, 0, "{made:?}");
        self.ask(&[&["convert", &manifest, "-o", &set], options].concat());
        set
    }

    fn run(&self, program: &Path, args: &[&str]) -> Printed {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.0.path()).env("TZ", "UTC").env("HOME", self.0.path());
        command.env_remove("XDG_STATE_HOME");
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Printed { status: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
    }
}

/// Returns ftk, which this package does not depend on and which is therefore built here.
fn ftk() -> &'static Path {
    static FTK: OnceLock<PathBuf> = OnceLock::new();
    FTK.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--locked", "--bin", "ftk"]).current_dir(root);
        assert!(build.status().unwrap().success(), "ftk cannot be built");
        Path::new(env!("CARGO_BIN_EXE_ftk-query")).with_file_name("ftk")
    })
}
