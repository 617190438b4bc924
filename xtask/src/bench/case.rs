//! A command to measure.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::answer::{Answer, Format};

/// Makes the words of a command from strings and paths.
macro_rules! words {
    ($($word:expr),* $(,)?) => { vec![$(std::ffi::OsStr::new($word).to_owned()),*] };
}
pub(crate) use words;

/// One tool and its command.
pub(crate) struct Case {
    /// The name in the tables.
    pub(crate) tool: String,
    pub(crate) timed: Pipeline,
    /// Gives the result instead, if parallel processes that share a pipe would mix their lines. It differs from the
    /// timed command only in its parallelism.
    pub(crate) serial: Option<Pipeline>,
    /// Runs before each run, untimed.
    pub(crate) before: Option<Pipeline>,
    /// Whether it does other work, as a lower bound. Its result is not compared.
    pub(crate) is_bound: bool,
    pub(crate) format: Format,
}

impl Case {
    pub(crate) fn new(tool: &str, format: Format, timed: Pipeline) -> Self {
        let tool = tool.to_owned();
        Self { tool, timed, serial: None, before: None, is_bound: false, format }
    }

    /// Runs what must come before each run.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.before.as_ref().map_or(Ok(()), |before| before.output().map(drop))
    }

    /// Starts every process from a shell that forks and waits, as most commands are started. A direct start may pass on
    /// a large descriptor table, which hides the cost of growing a small one.
    pub(crate) fn forked(self) -> Self {
        Self { timed: self.timed.forked(), serial: self.serial.map(Pipeline::forked), ..self }
    }

    /// Whether this is ftk, with any options.
    pub(crate) fn is_ftk(&self) -> bool {
        is_ftk(&self.tool)
    }

    /// Returns the same command with the program `earlier` in the place of `ftk`.
    pub(crate) fn with_earlier(&self, ftk: &Path, earlier: &Path) -> Self {
        Self {
            tool: format!("{EARLIER}{}", self.tool),
            timed: self.timed.replaced(ftk, earlier),
            serial: self.serial.as_ref().map(|it| it.replaced(ftk, earlier)),
            before: self.before.clone(),
            ..*self
        }
    }

    /// Whether this is the command of an [earlier program](Self::with_earlier).
    pub(crate) fn is_earlier(&self) -> bool {
        self.tool.starts_with(EARLIER)
    }

    /// Runs the command and returns its result.
    pub(crate) fn answer(&self) -> Result<Answer> {
        self.prepare()?;
        let output = self.serial.as_ref().unwrap_or(&self.timed).output()?;
        Ok(Answer::new(&output, self.format))
    }
}

/// The names of the rows of an earlier ftk begin with this.
pub(crate) const EARLIER: &str = "earlier: ";

/// Whether a row of a table belongs to ftk: `ftk`, or `ftk` with options.
pub(crate) fn is_ftk(tool: &str) -> bool {
    tool.split(' ').next() == Some("ftk")
}

/// Processes joined by pipes, each a program and its arguments; no shell is involved.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    pub(crate) stages: Vec<Vec<OsString>>,
    /// The exit status of the last process for success. Some tools report differences with 1.
    pub(crate) status: i32,
}

impl Pipeline {
    pub(crate) fn new(first: Vec<OsString>) -> Self {
        Self { stages: vec![first], status: 0 }
    }

    /// Expects this exit status of the last process.
    pub(crate) fn ending_with(self, status: i32) -> Self {
        Self { status, ..self }
    }

    /// Starts every process from a shell that forks because it has more work after its command.
    fn forked(self) -> Self {
        let shell = words!["sh", "-c", r#""$@"; exit $?"#, "sh"];
        Self { stages: self.stages.into_iter().map(|stage| [&shell[..], &stage].concat()).collect(), ..self }
    }

    /// Replaces every word that is the path `from`.
    fn replaced(&self, from: &Path, to: &Path) -> Self {
        let word = |word: &OsString| if word == from.as_os_str() { to.into() } else { word.clone() };
        let stages = self.stages.iter().map(|stage| stage.iter().map(word).collect()).collect();
        Self { stages, ..*self }
    }

    /// Adds a process that reads the output of the last one.
    pub(crate) fn pipe(mut self, next: Vec<OsString>) -> Self {
        self.stages.push(next);
        self
    }

    /// Returns the time from the first start to the last end, with output to `/dev/null`.
    pub(crate) fn time(&self) -> Result<Duration> {
        let start = Instant::now();
        let children = self.spawn(Stdio::null())?;
        self.wait(children)?;
        Ok(start.elapsed())
    }

    /// Returns the output of the last process.
    pub(crate) fn output(&self) -> Result<Vec<u8>> {
        let mut children = self.spawn(Stdio::piped())?;
        let mut output = Vec::new();
        let last = children.last_mut().context("a pipeline has processes")?;
        last.stdout.take().context("stdout is a pipe")?.read_to_end(&mut output)?;
        self.wait(children)?;
        Ok(output)
    }

    fn spawn(&self, out: Stdio) -> Result<Vec<Child>> {
        let mut out = Some(out);
        let mut input = Stdio::null();
        let mut children: Vec<Child> = Vec::new();
        for (nth, words) in self.stages.iter().enumerate() {
            let is_last = nth + 1 == self.stages.len();
            let (program, args) = words.split_first().context("a stage has a program")?;
            let child = Command::new(program)
                .args(args)
                .env("LC_ALL", "C")
                .stdin(std::mem::replace(&mut input, Stdio::null()))
                .stdout(out.take_if(|_| is_last).unwrap_or_else(Stdio::piped))
                .stderr(Stdio::null())
                .spawn();
            match child {
                Ok(mut child) => {
                    input = child.stdout.take_if(|_| !is_last).map_or_else(Stdio::null, Stdio::from);
                    children.push(child);
                }
                Err(error) => {
                    drop(input); // the process before must not wait forever for a reader of its pipe
                    for mut child in children {
                        child.wait()?;
                    }
                    return Err(error).with_context(|| format!("cannot start {}", program.display()));
                }
            }
        }
        Ok(children)
    }

    /// Waits for all processes, and fails if one failed.
    fn wait(&self, children: Vec<Child>) -> Result<()> {
        let mut failed = None;
        for (nth, (mut child, words)) in children.into_iter().zip(&self.stages).enumerate() {
            let status = child.wait()?;
            let is_last = nth + 1 == self.stages.len();
            if status.code() != Some(if is_last { self.status } else { 0 }) {
                failed = Some((words, status));
            }
        }
        if let Some((words, status)) = failed {
            bail!("{} ended with {status}", words[0].display());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_joined() {
        let pipeline =
            Pipeline::new(words!["printf", "b\\na\\n"]).pipe(words!["sort"]).pipe(words!["head", "-n1"]);
        assert_eq!(pipeline.output().unwrap(), b"a\n");
        assert!(pipeline.time().unwrap() > Duration::ZERO);
    }

    #[test]
    fn a_failure_in_any_stage_is_an_error() {
        let first = Pipeline::new(words!["false"]).pipe(words!["cat"]);
        assert!(first.output().unwrap_err().to_string().starts_with("false ended with"));
        let last = Pipeline::new(words!["true"]).pipe(words!["false"]);
        assert!(last.time().is_err());
        assert!(last.ending_with(1).time().is_ok());
        assert!(Pipeline::new(words!["true"]).ending_with(1).time().is_err());
        let absent = Pipeline::new(words!["yes"]).pipe(words!["no-such-program"]);
        assert_eq!(absent.time().unwrap_err().to_string(), "cannot start no-such-program");
    }

    #[test]
    fn the_serial_form_gives_the_result() {
        let mut case = Case::new("x", Format::Lines, Pipeline::new(words!["echo", "timed"]));
        case.serial = Some(Pipeline::new(words!["printf", "1\\n2\\n"]));
        assert_eq!(case.answer().unwrap().lines(), 2);
    }

    #[test]
    fn every_run_is_prepared() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        // It fails if the mark is there already.
        let mut case = Case::new("x", Format::Status, Pipeline::new(words!["mkdir", &mark]));
        case.before = Some(Pipeline::new(words!["rm", "-rf", &mark]));
        assert!(case.answer().is_ok() && case.answer().is_ok());
        assert!(case.timed.time().is_err());
        case.prepare().unwrap();
        assert!(case.timed.time().is_ok());
    }

    #[test]
    fn a_shell_that_forks_changes_nothing_else() {
        let case = Case::new(
            "x",
            Format::Lines,
            Pipeline::new(words!["printf", "a b\\n%s\\n", "$1 'c'"]).pipe(words!["cat"]),
        );
        let case = case.forked();
        assert_eq!(case.timed.output().unwrap(), b"a b\n$1 'c'\n");
        assert!(Pipeline::new(words!["false"]).forked().ending_with(1).time().is_ok());
        // The parent must be the shell, not this process.
        let parent = Pipeline::new(words!["sh", "-c", "echo $PPID"]).forked().output().unwrap();
        assert_ne!(String::from_utf8(parent).unwrap().trim(), std::process::id().to_string());
    }

    #[test]
    fn an_earlier_program_replaces_this_one() {
        let case = Case::new("ftk --io sync", Format::Lines, Pipeline::new(words!["/no/ftk", "a /no/ftk b"]));
        let case = case.with_earlier(Path::new("/no/ftk"), Path::new("echo"));
        assert_eq!(case.timed.output().unwrap(), b"a /no/ftk b\n");
        assert!(case.is_earlier() && !case.is_ftk());
        assert_eq!(case.tool, "earlier: ftk --io sync");
    }

    #[test]
    fn ftk_is_recognised_by_its_first_word() {
        assert!(is_ftk("ftk") && is_ftk("ftk --io sync"));
        assert!(!is_ftk("find") && !is_ftk("ftkx"));
    }
}
