//! Pages with commands: their sections, the commands and the files in them, and new outputs in place of old ones.

use std::fs;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A page whose commands are run, by its path.
#[derive(Clone, Copy, Debug)]
pub struct Page(pub &'static str);

impl Page {
    pub fn text(self) -> String {
        fs::read_to_string(self.0).unwrap()
    }

    /// The section below this heading.
    ///
    /// # Panics
    /// If the page has no such heading.
    pub fn section(self, heading: &str) -> Section {
        let text = self.text();
        let range = section(&text, heading);
        Section::parse(&text[range]).unwrap_or_else(|why| panic!("{self:?}, {heading:?}: {why}"))
    }

    /// Replaces the outputs in a section. Only one test at a time rewrites a page.
    pub fn update(self, heading: &str, outputs: &[String]) {
        static WRITING: Mutex<()> = Mutex::new(());
        let _lock = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = self.text();
        let range = section(&text, heading);
        let new = with_outputs(&text[range.clone()], outputs);
        text.replace_range(range, &new);
        fs::write(self.0, text).unwrap();
    }
}

/// The headings of the sections, in order.
pub fn headings(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("## ")).collect()
}

/// Where the text below a heading is.
fn section(text: &str, heading: &str) -> Range<usize> {
    let line = format!("\n## {heading}\n");
    let start = text.find(&line).unwrap_or_else(|| panic!("no heading {heading:?}")) + line.len();
    let end = text[start..].find("\n## ").map_or(text.len(), |at| start + at);
    start..end
}

/// A command, and what the page says that it prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub command: String,
    pub output: String,
}

/// A file that the page shows as a whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// Relative to the home directory.
    pub path: String,
    pub text: String,
    pub is_script: bool,
}

/// The commands and files of a section.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Section {
    pub steps: Vec<Step>,
    pub files: Vec<Shown>,
}

impl Section {
    /// Every fenced block must be of one of three kinds: `console` holds commands and their outputs, `sh` one command
    /// without output, to be pasted as a whole, and `LANGUAGE file=PATH` a file, whose path the page must mention as
    /// `~/PATH` before.
    fn parse(text: &str) -> Result<Self, String> {
        let mut section = Self::default();
        let mut lines = text.lines();
        let mut before = String::new();
        while let Some(line) = lines.next() {
            let Some(info) = line.strip_prefix("```") else {
                before += line;
                before.push('\n');
                continue;
            };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if info == "console" {
                section.steps.extend(steps(&block)?);
            } else if info == "sh" {
                section.steps.push(Step { command: block.join("\n"), output: String::new() });
            } else if let Some((language, path)) = info.split_once(" file=") {
                if !before.contains(&format!("`~/{path}`")) {
                    return Err(format!("the text before the file does not mention `~/{path}`"));
                }
                let text = block.iter().flat_map(|line| [line, "\n"]).collect();
                section.files.push(Shown { path: path.to_owned(), text, is_script: language == "sh" });
            } else {
                return Err(format!("a block of unknown kind: {line}"));
            }
        }
        Ok(section)
    }
}

/// The commands of a block: each begins with `$ ` and goes on in the next line after a `\`.
fn steps(block: &[&str]) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for line in block {
        if let Some(command) = line.strip_prefix("$ ").filter(|_| !goes_on) {
            steps.push(Step { command: command.to_owned(), output: String::new() });
        } else {
            let step = steps.last_mut().ok_or_else(|| format!("an output without a command: {line}"))?;
            let part = if goes_on { &mut step.command } else { &mut step.output };
            if goes_on {
                part.push('\n');
            }
            part.push_str(line);
            if !goes_on {
                part.push('\n');
            }
        }
        goes_on = steps.last().is_some_and(|step| step.output.is_empty() && step.command.ends_with('\\'));
    }
    Ok(steps)
}

/// The section with other outputs, one for each command.
fn with_outputs(text: &str, outputs: &[String]) -> String {
    let mut outputs = outputs.iter();
    let mut new = String::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        new += line;
        if line != "```console\n" {
            if line == "```sh\n" {
                outputs.next();
            }
            continue;
        }
        let block: Vec<&str> = lines.by_ref().map(str::trim_end).take_while(|line| *line != "```").collect();
        for step in steps(&block).expect("the block was parsed before") {
            new += &format!("$ {}\n{}", step.command, outputs.next().expect("an output for each command"));
        }
        new += "```\n";
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "\
Words.

```console
$ one
1
$ two \\
    more
$ three
```

```sh
if true; then
    four
fi
```

Save `~/bin/x`:

```sh file=bin/x
#!/bin/sh
```
";

    fn step(command: &str, output: &str) -> Step {
        Step { command: command.into(), output: output.into() }
    }

    #[test]
    fn commands_outputs_and_files_are_found() {
        let section = Section::parse(EXAMPLE).unwrap();
        assert_eq!(
            section.steps,
            [
                step("one", "1\n"),
                step("two \\\n    more", ""),
                step("three", ""),
                step("if true; then\n    four\nfi", "")
            ]
        );
        let file = Shown { path: "bin/x".into(), text: "#!/bin/sh\n".into(), is_script: true };
        assert_eq!(section.files, [file]);
    }

    #[test]
    fn blocks_that_would_not_be_run_are_refused() {
        for bad in ["```\nx\n```\n", "```console\noutput\n```\n", "Save it:\n\n```sh file=bin/x\n```\n"] {
            Section::parse(bad).unwrap_err();
        }
    }

    #[test]
    fn outputs_are_replaced_in_their_places() {
        let outputs = ["a\nb\n".to_owned(), String::new(), "c\n".to_owned(), String::new()];
        let expected = EXAMPLE.replace("$ one\n1\n", "$ one\na\nb\n").replace("$ three\n", "$ three\nc\n");
        assert_eq!(with_outputs(EXAMPLE, &outputs), expected);
    }

    #[test]
    fn sections_end_at_the_next_heading() {
        let text = "# Top\n\n## One\n\na\n\n## Two\n\nb\n";
        assert_eq!(headings(text), ["One", "Two"]);
        assert_eq!(&text[section(text, "One")], "\na\n");
        assert_eq!(&text[section(text, "Two")], "\nb\n");
    }
}
