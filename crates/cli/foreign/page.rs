//! The page of `ftk help coming-from`, in Markdown.

use std::fmt::Write as _;

use super::table::{Row, TABLE, TOOLS};

const TOP: &str = "\
# Coming from find, fd, fdupes, jdupes, fclones, rmlint, hashdeep, diff, cmp, AIDE

What you type there, and what you type here. ftk rejects an option of another tool with status 2 and names its own.
A row that begins with **Careful** is about a letter that ftk has for another option: where the value does not show what
is meant, ftk takes it for its own. Options that mean the same in both are not listed. `ftk help coming-from fd` prints the part about one tool.
";

/// The rows about `tool`, or the whole page; `None` if the table does not know the tool.
pub(crate) fn page(tool: Option<&str>) -> Option<String> {
    match tool {
        Some(tool) => part(tool),
        None => Some(
            TOOLS.iter().filter_map(|tool| part(tool)).fold(TOP.into(), |page, part| page + "\n" + &part),
        ),
    }
}

fn part(tool: &str) -> Option<String> {
    let tool = *TOOLS.iter().find(|known| known.eq_ignore_ascii_case(tool))?;
    let name = |row: &&Row| row.tool.split([',', ' ']).any(|word| word == tool);
    let mut rows = TABLE.iter().filter(name).peekable();
    rows.peek()?;
    let mut part = format!("## {tool}\n\n| {tool} | ftk command | here |\n|---|---|---|\n");
    for row in rows {
        let commands = row.commands.join(", ");
        let careful = row.differs.map(|ours| format!("**Careful**: {} is `{ours}` here; ", row.key()));
        // A String takes everything.
        let _ = writeln!(
            part,
            "| `{}` | {commands} | {}{} |",
            row.there.replace('|', "\\|"),
            careful.unwrap_or_default(),
            row.here
        );
    }
    Some(part)
}
