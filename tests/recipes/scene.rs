//! The home directory that the pages are about, with an archive in it, and stand-ins for programs of the system.

use std::fs::{self, FileTimes};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, Ftk, bytes, install};

/// 2025-06-01 12:00 UTC: when the files of the archive were written.
const WRITTEN: u64 = 1_748_779_200;

/// Programs that would act on the machine, and scripts that do the same to files in `$FAKE` instead.
const STAND_INS: &[(&str, &str)] = &[
    ("crontab", "case $1 in -l) cat \"$FAKE/jobs\" ;; -) cat > \"$FAKE/jobs\" ;; *) exit 64 ;; esac\n"),
    ("loginctl", "[ \"$*\" = enable-linger ]\n"),
    ("mail", "{ printf '%s\\n' \"$@\"; cat; } > \"$FAKE/sent\"\n"),
    // The other machine is a folder.
    ("ssh", "cd \"$HOME/$1\" && shift && exec sh -c \"$*\"\n"),
    (
        "systemctl",
        "units=$HOME/.config/systemd/user\n\
         case $* in\n\
         '--user daemon-reload') ;;\n\
         '--user --quiet enable --now '*.timer) [ -f \"$units/$5\" ] && [ -f \"$units/${5%.timer}.service\" ] ;;\n\
         '--user start '*.service)\n\
             command=$(sed -n \"s|%h|$HOME|g; s/^ExecStart=//p\" \"$units/$3\")\n\
             # The environment of a service, and where `mail` is found.\n\
             exec env -i HOME=\"$HOME\" FAKE=\"$FAKE\" PATH=\"$FAKE:/usr/local/bin:/usr/bin:/bin\" $command ;;\n\
         *) exit 64 ;;\n\
         esac\n",
    ),
];

/// The program that is installed: the one of this build, or one of a release.
fn program() -> PathBuf {
    std::env::var_os("FTK_TEST_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_ftk").into()).into()
}

/// A home directory.
pub(super) struct Scene(Dir);

impl Scene {
    /// An empty one in which `ftk` is installed.
    pub(super) fn new(dir: Dir) -> Self {
        let scene = Self(dir);
        fs::create_dir(scene.aside("fake")).unwrap();
        for (name, text) in STAND_INS {
            scene.stand_in(name, &format!("#!/bin/sh\n{text}"));
        }
        scene.0.dir(".cargo/bin");
        symlink(program(), scene.0.path(".cargo/bin/ftk")).unwrap();
        scene
    }

    /// The archive that the pages show: three films, a note and two photos.
    pub(super) fn with_archive() -> Self {
        let scene = Self::new(Dir::new());
        scene.files("archive");
        scene
    }

    /// The same files once more, in another folder.
    pub(super) fn files(&self, folder: &str) -> &Self {
        for (path, len) in [
            ("film/reel-01.mov", 300_000),
            ("film/reel-02.mov", 250_000),
            ("film/reel-03.mov", 400_000),
            ("photos/2025/IMG_0001.jpg", 40_000),
            ("photos/2025/IMG_0002.jpg", 50_000),
        ] {
            self.file(&format!("{folder}/{path}"), &bytes(len, len as usize));
        }
        self.file(&format!("{folder}/notes/todo.txt"), b"buy film\n")
    }

    /// A file that was written when those of the archive were.
    pub(super) fn file(&self, path: &str, content: &[u8]) -> &Self {
        self.0.file(path, content);
        let path = self.0.path(path);
        let file = fs::File::options().write(true).open(&path).unwrap();
        let written = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(WRITTEN));
        file.set_times(written).unwrap();
        // rsync lists directories whose times differ, even by the fraction of a second between two of these calls.
        fs::File::open(path.parent().unwrap()).unwrap().set_times(written).unwrap();
        self
    }

    /// An empty folder.
    pub(super) fn folder(&self, path: &str) -> &Self {
        self.0.dir(path);
        self
    }

    /// A file of this size without blocks.
    pub(super) fn hole(&self, path: &str, len: u64) -> &Self {
        self.0.hole(path, len);
        self
    }

    /// One byte of a film is another. Size and time of the change of content are as before.
    pub(super) fn damage(&self, folder: &str) -> &Self {
        let path = format!("{folder}/film/reel-03.mov");
        let mut content = fs::read(self.0.path(&path)).unwrap();
        content[1000] ^= 1;
        self.file(&path, &content)
    }

    /// A program that is found before those of the system.
    pub(super) fn stand_in(&self, name: &str, text: &str) {
        install(&self.aside("fake").join(name), text);
    }

    /// A file that the page shows.
    pub(super) fn save(&self, path: &str, text: &str, is_script: bool) {
        self.0.file(path, text.as_bytes());
        if is_script {
            install(&self.0.path(path), text);
        }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.0.path(path)
    }

    pub(super) fn home(&self) -> String {
        let home = self.0.path("");
        home.to_str().expect("the temporary directory is UTF-8").trim_end_matches('/').to_owned()
    }

    /// What the stand-ins have written.
    pub(super) fn fake(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.aside("fake").join(name)).ok()
    }

    pub(super) fn aside(&self, name: &str) -> PathBuf {
        self.0.aside(name)
    }

    /// The words as a command on a terminal, in the environment of a user who has logged in.
    pub(super) fn on_a_terminal(&self, command: &str) -> Ftk {
        let (home, fake) = (self.home(), self.aside("fake"));
        let path = format!("{home}/.cargo/bin:{}:/usr/local/bin:/usr/bin:/bin", fake.display());
        // Where CI has modules of Python.
        let modules = format!("PYTHONPATH={}", std::env::var("PYTHONPATH").unwrap_or_default());
        self.with(
            &[
                &format!("PATH={path}"),
                &format!("FAKE={}", fake.display()),
                &modules,
                "NO_COLOR=1",
                "TERM=dumb",
            ],
            &["script", "-qec", command, "/dev/null"],
        )
    }

    /// A command with nothing in its environment but these variables and the home directory.
    pub(super) fn with(&self, variables: &[&str], command: &[&str]) -> Ftk {
        let home = format!("HOME={}", self.home());
        let fixed = ["env", "-i", &home, "LC_ALL=C", "TZ=UTC"];
        let words = fixed.iter().chain(variables).chain(command);
        self.0.ftk([] as [&str; 0]).instead(&self.0, words)
    }
}
