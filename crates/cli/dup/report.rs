//! `ftk dup PATH...`: prints the groups in one of several formats. Changes nothing.

mod csv;
mod text;

use std::collections::BTreeSet;
use std::env;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use ftk_dedup::report::{Header, Writer};

use self::text::Fdupes;
use crate::args::Globals;
use crate::console::{Console, Outcome};
use crate::dup::dirs::{DirReport, Printing, ShareArg};
use crate::dup::options::{Format, OutputArgs, SearchArgs};
use crate::dup::search::{Search, SearchContext, Surveyed, search};
use crate::dup::sharing::Sharing;
use crate::dup::tally::Tally;
use crate::list::{List, refuse_own_input};
use crate::stdout::Stdout;

pub(super) fn run(
    args: &SearchArgs,
    share: &ShareArg,
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
    let format = output.format(globals.json, list.is_shown());
    DirReport::check(&args.dirs, share, format)?;
    let compares_directories = share.contained.is_some();
    let context = SearchContext { own, compares_directories, ..SearchContext::default() };
    // The header is made before any file is read, so that one that is too long fails at once and not after
    // hours.
    let (mut json, mut head) = (None, Vec::new());
    let mut search = search(args, context, globals, console, |_, roots| {
        if format == Format::Json {
            json = Some(Writer::new(&header(args, roots, start), &mut head)?);
        }
        Ok(())
    })?;
    if format == Format::Csv {
        head.extend_from_slice(csv::HEADER);
    }
    list.line(|out| out.append(&mut head));
    let (end, is_shown) = if output.null { (0, false) } else { (b'\n', list.is_shown()) };
    let mut outcome = search.outcome;
    let contents = search.contents.take();
    let directories =
        contents.map(|contents| DirReport::new(&search.inventory, &contents, &args.dirs, share));
    if let Some(directories) = &directories {
        search.groups = search.groups.outside(&search.inventory, &directories.fates, false);
        let inventory = &search.inventory;
        let mut printing = Printing { list: &mut list, inventory, format, end, is_shown };
        outcome = outcome.max(directories.print(&mut printing, json.as_mut(), console));
    }
    if directories.as_ref().is_some_and(|directories| !directories.has_groups) {
        // Only directories are reported.
        json.into_iter().for_each(|json| list.line(|out| json.finish(out)));
        list.finish()?;
        search.say_scanned(console);
        directories.iter().for_each(|directories| directories.say(console));
        return Ok(outcome);
    }
    if let (Format::Screen, Some(directories)) = (format, &directories)
        && !directories.groups.is_empty()
    {
        list.line(|out| text::push_outside(out, &search.groups.totals()));
    }
    let mut groups = search.groups(console);
    let tally = match format {
        Format::Fdupes => {
            push_names(&mut list, &search, Fdupes { end, is_shown });
            search.groups.totals().into()
        }
        _ => {
            let (mut tally, sharing) = (Tally::default(), Sharing::new(&search.roots));
            let synthetic = search.groups.synthetic();
            push_groups(&mut list, &mut groups, synthetic, &mut tally, format, json, sharing);
            tally
        }
    };
    let tally =
        directories.iter().fold(tally, |tally, it| tally.with_directories(it.groups.len(), it.wasted()));
    // If the reader closed the pipe, the remaining groups were not examined and the totals are incomplete.
    let is_whole = !list.is_over();
    match (format, globals.json) {
        (Format::Summary, true) => list.line(|out| tally.push_json(out)),
        (Format::Summary, false) => {
            list.line(|out| out.extend_from_slice(format!("{}\n", tally.text()).as_bytes()));
        }
        _ => {}
    }
    list.finish()?;
    search.say_scanned(console);
    directories.iter().for_each(|directories| directories.say(console));
    if is_whole {
        tally.record(&console.stats);
    }
    if format != Format::Summary && is_whole {
        console.summary(tally.text());
    }
    Ok(outcome.max(groups.outcome()))
}

/// Prints the groups with paths only, which needs no further system calls for the members.
fn push_names(list: &mut List<'_>, search: &Search, fdupes: Fdupes) {
    for group in search.groups.iter() {
        list.line(|out| fdupes.push_group(out, &search.inventory, &group));
    }
}

/// Prints the groups with current metadata of their members, and adds them to `tally`.
fn push_groups(
    list: &mut List<'_>,
    groups: &mut Surveyed<'_>,
    synthetic: &BTreeSet<u64>,
    tally: &mut Tally,
    format: Format,
    mut json: Option<Writer>,
    mut sharing: Sharing<'_>,
) {
    let is_shown = list.is_shown();
    let is_coloured = list.is_coloured();
    // Stops as soon as the output is closed, because examining a group opens the directories of its members.
    while !list.is_over()
        && let Some(group) = groups.next()
    {
        tally.add(&group, synthetic, |member| sharing.of(member));
        match format {
            Format::Screen => list.line(|out| text::push_group(out, &group, is_coloured)),
            Format::Csv => list.line(|out| csv::push_group(out, tally.groups, &group, is_shown)),
            Format::Json => list.line(|out| json.iter_mut().for_each(|json| json.group(&group, out))),
            // `push_names` prints groups as fdupes does, and a summary has only the totals.
            Format::Fdupes | Format::Summary => {}
        }
    }
    if let Some(json) = json {
        list.line(|out| json.finish(out));
    }
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
