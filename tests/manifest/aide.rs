//! The usual day of someone who comes from AIDE: both report the same paths, apart from what the documents say.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, Run, needs, set_mode};

/// What AIDE is told, and the rules that `docs/coming-from.md` gives for it.
const CONFIG: &str = "database_in=file:DIR/db\ndatabase_out=file:DIR/db.new\ngzip_dbout=no\n\
    DIR/t/log growing+p+ftype+u+g+s+n+sha256\n!DIR/t/cache\nDIR/t/sockets p+ftype+u+g\n\
    DIR/t d p+ftype+u+g\nDIR/t p+ftype+l+u+g+n+s+m+sha256\n";
const RULES: &str = "growing log   # growing+p+ftype+u+g+s+n+sha256\nignore cache  # !\n";

struct Day(Dir);

impl Day {
    fn new() -> Self {
        let dir = Dir::new();
        for name in ["etc/conf", "etc/other", "etc/gone", "log/app", "log/sys", "cache/x"] {
            dir.file(format!("t/{name}"), name.as_bytes());
        }
        let root = fs::canonicalize(dir.path("t")).unwrap();
        let above = root.parent().unwrap().to_str().unwrap();
        dir.file("aide.conf", CONFIG.replace("DIR", above).as_bytes()).file("rules", RULES.as_bytes());
        let day = Self(dir);
        assert_eq!(day.aide(&["--init"]).0, 0);
        fs::rename(day.0.path("db.new"), day.0.path("db")).unwrap();
        day.ftk(&["create", "t", "--rules", "rules", "-o", "m"]).status(0);
        day
    }

    fn ftk(&self, args: &[&str]) -> Run {
        self.0.ftk(["manifest"]).args(args).run()
    }

    /// The status of AIDE, and the paths of its report, below the root.
    fn aide(&self, args: &[&str]) -> (i32, BTreeSet<String>) {
        let mut command = Command::new("aide");
        command.arg("-c").arg(self.0.path("aide.conf")).args(args).args(["-B", "report_level=list_entries"]);
        let output = command.env("LC_ALL", "C").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let root = fs::canonicalize(self.0.path("t")).unwrap();
        let root = format!(": {}/", root.display());
        let lines = text.lines().filter(|line| !line.starts_with("Limit: "));
        let paths = lines.filter_map(|line| Some(line.split_once(&root)?.1.to_owned())).collect();
        (output.status.code().unwrap(), paths)
    }

    /// Both check the tree. AIDE reports `only_aide` too.
    #[track_caller]
    fn report(&self, expected: &[&str], only_aide: &[&str]) {
        let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>();
        let (status, aide) = self.aide(&["--check"]);
        let run = self.ftk(&["verify", "t", "m"]);
        let ftk = run.text().lines().map(|line| line.split('\t').nth(1).unwrap().to_owned()).collect();
        assert_eq!(set(expected), ftk, "ftk");
        assert_eq!(set(&[expected, only_aide].concat()), aide, "aide");
        assert_eq!((status != 0, run.code()), (!aide.is_empty(), i32::from(!ftk.is_empty())));
    }

    /// Both accept what they have reported. `named`: what ftk accepts only by name.
    fn accept(&self, named: &[&str]) {
        self.aide(&["--update"]);
        fs::rename(self.0.path("db.new"), self.0.path("db")).unwrap();
        let accept = named.iter().flat_map(|path| ["--accept", path]);
        let update: Vec<_> = ["update", "t", "m", "-o", "m"].into_iter().chain(accept).collect();
        self.ftk(&update).status(0);
        self.report(&[], &[]);
    }

    fn append(&self, path: &str) {
        let mut file = File::options().append(true).open(self.0.path(path)).unwrap();
        file.write_all(b"more\n").unwrap();
    }
}

#[test]
fn the_usual_day_of_an_aide_user() {
    needs!("aide");
    let day = Day::new();
    let path = |name: &str| day.0.path(format!("t/{name}"));
    day.report(&[], &[]);

    // What the rules permit.
    day.append("t/log/app");
    day.0.file("t/cache/y", b"new").file("t/cache/x", b"edited");
    day.report(&[], &[]);
    day.accept(&[]);
    day.append("t/log/app");
    day.report(&[], &[]);

    // An edit, a new and a removed file, other permissions, another time.
    day.append("t/etc/conf");
    day.report(&["etc/conf"], &[]);
    day.0.file("t/etc/new", b"new");
    fs::remove_file(path("etc/gone")).unwrap();
    day.report(&["etc/conf", "etc/gone", "etc/new"], &[]);
    day.accept(&[]);
    set_mode(&path("etc/conf"), 0o600);
    set_mode(&path("log/app"), 0o600);
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().write(true).open(path("etc/other")).unwrap().set_modified(time).unwrap();
    File::options().write(true).open(path("log/sys")).unwrap().set_modified(time).unwrap();
    day.report(&["etc/conf", "etc/other", "log/app"], &[]);
    let root = fs::canonicalize(path("etc")).unwrap();
    let (_, limited) = day.aide(&["--check", "--limit", root.to_str().unwrap()]);
    let run = day.ftk(&["verify", "t/etc", "m"]).status(1);
    assert_eq!((limited.len(), run.text().lines().count()), (2, 2));
    let run = day.ftk(&["verify", "--path", "etc/*", "t", "m"]).status(1);
    assert_eq!(run.text().lines().count(), 2);
    day.accept(&[]);

    // A new hard link changes the number of links. ftk reports the new name only.
    day.0.hard_link("t/etc/conf", "t/etc/hard");
    day.report(&["etc/hard"], &["etc/conf"]);
    day.accept(&[]);

    // The log is rotated: what was recorded of it is now elsewhere.
    fs::rename(path("log/sys"), path("log/sys.1")).unwrap();
    day.0.file("t/log/sys", b"-");
    day.report(&["log/sys", "log/sys.1"], &[]);
    day.ftk(&["update", "t", "m", "-o", "m"]).status(1).stderr_has("'log/sys': it is shorter than recorded");
    day.accept(&["log/sys"]);
    // Its beginning is rewritten, and it is longer than before.
    day.0.file("t/log/sys", b"+ and more");
    day.report(&["log/sys"], &[]);
}
