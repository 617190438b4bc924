//! A directory for each test, and both programs.

use std::ops::Deref;
use std::path::Path;
use std::process::Command;
use std::sync::Once;

use ftk_harness::Run;

/// Where a test runs.
pub(crate) struct Dir(ftk_harness::Dir);

impl Deref for Dir {
    type Target = ftk_harness::Dir;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Dir {
    pub(crate) fn new() -> Self {
        build_ftk();
        Self(ftk_harness::Dir::on_disk())
    }

    /// Runs ftk-query.
    pub(crate) fn query(&self, args: &[&str]) -> Run {
        let program = [env!("CARGO_BIN_EXE_ftk-query")];
        self.0.ftk([""; 0]).instead(self, program.iter().chain(args)).run()
    }

    /// Runs ftk-query, which must succeed, and returns its output.
    pub(crate) fn ask(&self, args: &[&str]) -> String {
        self.query(args).status(0).text().to_owned()
    }

    /// Runs ftk-query, which must fail, and returns its message.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let run = self.query(args).status(2);
        run.check(run.err.lines().count() == 1, "there is one message");
        run.err
    }

    /// Runs ftk.
    pub(crate) fn ftk(&self, args: &[&str]) -> Run {
        self.0.ftk(args).run()
    }

    /// Runs ftk-query, and returns the rows that it prints as CSV, without the names of the columns.
    pub(crate) fn rows(&self, args: &[&str]) -> Vec<String> {
        let rows = self.ask(&[args, &["--format", "csv"]].concat());
        rows.split("\r\n").skip(1).filter(|row| !row.is_empty()).map(str::to_owned).collect()
    }

    /// Makes a manifest of a tree and converts it to the set of the same name.
    pub(crate) fn set(&self, tree: &str, options: &[&str]) -> String {
        let (manifest, set) = (format!("{tree}.jsonl"), format!("{tree}.set"));
        self.ftk(&["manifest", "create", tree, "-o", &manifest]).status(0);
        self.ask(&[&["convert", &manifest, "-o", &set], options].concat());
        set
    }
}

/// Builds ftk, which this package does not depend on.
fn build_ftk() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--locked", "--bin", "ftk"]).current_dir(root);
        assert!(build.status().unwrap().success(), "ftk cannot be built");
    });
}
