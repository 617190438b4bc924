//! `ftk dup PATH...`: prints the groups in one of several formats. Changes nothing.

mod csv;
mod fdupes;
mod screen;

use std::collections::BTreeSet;
use std::env;
use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use ftk_dedup::report::{Header, Writer};

use self::fdupes::Fdupes;
use crate::args::Globals;
use crate::console::Console;
use crate::dup::options::{Format, OutputArgs, SearchArgs};
use crate::dup::search::{Search, SearchContext, Surveyed, search};
use crate::dup::sharing::Sharing;
use crate::dup::tally::Tally;
use crate::list::{List, cannot_write, refuse_own_input};
use crate::outcome::Outcome;
use crate::stdout::Stdout;

/// The format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Screen,
    Fdupes,
    Json,
    Csv,
    /// Only the totals, as text or JSON.
    Summary,
}

impl OutputArgs {
    fn form(&self, json: bool, is_shown: bool) -> Form {
        match (self.summary, self.format) {
            (true, _) => Form::Summary,
            (_, Some(Format::Screen)) => Form::Screen,
            (_, Some(Format::Fdupes)) => Form::Fdupes,
            (_, Some(Format::Json)) => Form::Json,
            (_, Some(Format::Csv)) => Form::Csv,
            (_, None) if json => Form::Json,
            (_, None) if is_shown && !self.null => Form::Screen,
            (_, None) => Form::Fdupes,
        }
    }
}

pub(super) fn run(
    args: &SearchArgs,
    output: &OutputArgs,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    output.refuse_misread()?;
    let start = SystemTime::now();
    let stdout = Stdout::default();
    let mut list = List::create(output.output.as_deref(), &stdout)?;
    let own = list.own();
    if !args.paths.is_empty() {
        refuse_own_input(&args.paths, &own)?;
    }
    let form = output.form(globals.json, list.is_shown());
    let context = SearchContext { own, ..SearchContext::default() };
    // The header is written first, so that a run that cannot be reported fails before hours are spent on it.
    let (mut json, mut head) = (None, Vec::new());
    let search = search(args, context, globals, console, |_, roots| {
        if form == Form::Json {
            json = Some(Writer::new(&header(args, roots, start), &mut head)?);
        }
        Ok(())
    })?;
    let mut groups = search.groups(console);
    let (written, tally) = match form {
        Form::Fdupes => (push_names(&mut list, &search, output), search.groups.totals().into()),
        _ => {
            let (mut tally, sharing) = (Tally::default(), Sharing::new(&search.roots));
            if form == Form::Csv {
                head.extend_from_slice(csv::HEADER);
            }
            let written = list.line(|out| out.append(&mut head)).and_then(|()| {
                push_groups(
                    &mut list,
                    &mut groups,
                    search.groups.synthetic(),
                    &mut tally,
                    form,
                    json,
                    sharing,
                )
            });
            (written, tally)
        }
    };
    // If the reader closed the pipe, the remaining groups were not examined and the totals are incomplete.
    let is_whole = !list.is_over();
    let totals = |list: &mut List<'_>| match (form, globals.json) {
        (Form::Summary, true) => list.line(|out| tally.push_json(out)),
        (Form::Summary, false) => {
            list.line(|out| out.extend_from_slice(format!("{}\n", tally.text()).as_bytes()))
        }
        _ => Ok(()),
    };
    written
        .and_then(|()| totals(&mut list))
        .and_then(|()| list.finish())
        .and_then(|()| stdout.finish())
        .with_context(|| cannot_write(output.output.as_deref()))?;
    search.say_scanned(console);
    if form != Form::Summary && is_whole {
        console.summary(tally.text());
    }
    Ok(search.outcome.max(groups.outcome()))
}

/// Prints the groups with paths only, which needs no further system calls for the members.
fn push_names(list: &mut List<'_>, search: &Search, output: &OutputArgs) -> io::Result<()> {
    let (end, is_shown) = if output.null { (0, false) } else { (b'\n', list.is_shown()) };
    let fdupes = Fdupes { end, is_shown };
    for group in search.groups.iter() {
        list.line(|out| fdupes.push_group(out, &search.inventory, &group))?;
    }
    Ok(())
}

/// Prints the groups with current metadata of their members, and adds them to `tally`.
fn push_groups(
    list: &mut List<'_>,
    groups: &mut Surveyed<'_>,
    synthetic: &BTreeSet<u64>,
    tally: &mut Tally,
    form: Form,
    mut json: Option<Writer>,
    mut sharing: Sharing<'_>,
) -> io::Result<()> {
    let is_shown = list.is_shown();
    let is_coloured = list.is_coloured();
    // Stops as soon as the output is closed, because examining a group opens the directories of its members.
    while !list.is_over()
        && let Some(group) = groups.next()
    {
        tally.add(&group, synthetic, |member| sharing.of(member));
        match (form, &mut json) {
            (_, Some(json)) => list.line(|out| json.group(&group, out))?,
            (Form::Screen, _) => list.line(|out| screen::push_group(out, &group, is_coloured))?,
            (Form::Csv, _) => list.line(|out| csv::push_group(out, tally.groups, &group, is_shown))?,
            _ => {}
        }
    }
    json.map_or(Ok(()), |json| list.line(|out| json.finish(out)))
}

fn header(args: &SearchArgs, roots: &[CString], start: SystemTime) -> Header<'static> {
    Header {
        program: env!("CARGO_PKG_VERSION"),
        algorithm: args.equal.algorithm.algorithm(),
        is_verified: args.equal.verify,
        min_size: args.sizes.min_size,
        max_size: args.sizes.max_size,
        start_ns: start.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos(),
        directory: env::current_dir().ok().map(|path| path.into_os_string().into_vec()),
        roots: roots.iter().map(|root| root.as_bytes().to_vec()).collect(),
        arguments: env::args_os().skip(1).map(OsString::into_vec).collect(),
    }
}
