//! Does one task with one walker: `walkers WALKER TASK THREADS DIR [list]`.
//!
//! The tasks are `count` the entries, read the `metadata` of all, have their paths `sorted`, count the `lines` of all
//! regular files, and `search`: count the lines of those that no ignore file ignores. Every walker does them as its own
//! documentation recommends. The starting point does not count.
//!
//! The program prints the totals. With `list` it also prints a line for each entry, so that answers can be compared; that
//! costs time and is never measured. The first error ends it with status 1.

mod dua;
mod found;
mod ftk;
mod ignoring;
mod jwalking;
mod naive;
mod walkdirs;

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use found::{Found, Job, Task};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (&[walker, task, threads, dir], rest) = args.split_first_chunk().context("too few arguments")?;
    let is_list = match rest {
        [] => false,
        ["list"] => true,
        _ => bail!("unexpected arguments: {rest:?}"),
    };
    let job = Job { task: Task::named(task)?, threads: threads.parse()?, dir: Path::new(dir), is_list };
    let found = match walker {
        "read_dir" | "walkdir" | "jwalk" | "dua-core" if job.task == Task::Search => {
            bail!("{walker} reads no ignore files")
        }
        "ftk" => ftk::run(&job),
        "read_dir" => naive::run(&job),
        "ignore" => ignoring::run(&job),
        "walkdir" => walkdirs::run(&job),
        "jwalk" => jwalking::run(&job),
        "dua-core" => dua::run(&job),
        _ => bail!("unknown walker {walker}"),
    };
    Ok(std::io::stdout().write_all(&Found::report(found?, &job))?)
}
