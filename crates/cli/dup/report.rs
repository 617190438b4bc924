//! `ftk dup PATH...`: prints the groups in one of several formats. Changes nothing.

pub(super) mod csv;
pub(super) mod text;

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use ftk_apply::Sharing;
use ftk_dedup::prune::Pruning;
use ftk_dedup::report::{Header, Writer};
use ftk_dedup::{Examined, FileSpace, Group, GroupTally, Part, SurveyOptions, Surveyed, Tally};
use ftk_file::File;
use ftk_hash::{Algorithm, Digest};
use ftk_sched::{Team, physical_cores};

use self::text::Fdupes;
use crate::args::Globals;
use crate::console::{Console, Outcome};
use crate::dup::dirs::{self, Printing, ShareArg};
use crate::dup::options::{Format, OutputArgs, SearchArgs, SizeArgs};
use crate::dup::search::{Search, SearchContext, search};
use crate::dup::tally;
use crate::foreign::refuse_output;
use crate::list::{List, refuse_own_input};
use crate::rules::Rules;
use crate::stdout::Stdout;

pub(super) fn run(
    args: &SearchArgs,
    share: &ShareArg,
    output: &OutputArgs,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    refuse_output(output.output.as_deref())?;
    let start = SystemTime::now();
    let stdout = Stdout::default();
    let mut list = List::create(output.output.as_deref(), &stdout)?;
    let own = list.own();
    if !args.paths.is_empty() {
        refuse_own_input(&args.paths, &own)?;
    }
    let format = output.format(globals.json, list.is_shown());
    dirs::check_format(&args.dirs, share, format)?;
    let compares_directories = share.contained.is_some();
    let context = SearchContext { own, compares_directories, ..SearchContext::default() };
    // The header is made before any file is read, so that one that is too long fails at once and not after
    // hours.
    let (mut json, mut head) = (None, Vec::new());
    let mut search = search(args, context, globals, console, |_, roots, rules| {
        if format == Format::Json {
            let roots: Vec<_> = roots.iter().map(|root| root.as_bytes().to_vec()).collect();
            let algorithm = args.equal.algorithm.algorithm();
            let header = header(algorithm, args.equal.verify, &args.sizes, &roots, &[], rules, start);
            json = Some(Writer::new(&header, &mut head)?);
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
    let directories = contents.map(|contents| search.directories(&contents, &args.dirs, share));
    if let Some(directories) = &directories {
        search.groups = search.groups.outside(&search.inventory, &directories.fates, false);
        let inventory = &search.inventory;
        let mut printing = Printing { list: &mut list, inventory, format, end, is_shown };
        outcome = outcome.max(dirs::print(directories, &mut printing, json.as_mut(), console));
    }
    if directories.as_ref().is_some_and(|directories| !directories.has_groups) {
        // Only directories are reported.
        json.into_iter().for_each(|json| list.line(|out| json.finish(out)));
        list.finish()?;
        search.say_scanned(console);
        directories.iter().for_each(|directories| dirs::say(directories, console));
        return Ok(outcome);
    }
    if let (Format::Screen, Some(directories)) = (format, &directories)
        && !directories.groups.is_empty()
    {
        list.line(|out| text::push_outside(out, &search.groups.totals()));
    }
    let sharing = Sharing::default();
    let shared = |dev, open: &mut dyn FnMut() -> Option<File>| sharing.of(dev, open);
    let options = SurveyOptions {
        team: Team::new(globals.workers().unwrap_or_else(physical_cores)),
        with_paths: true,
        shared: Some(&shared),
    };
    if format == Format::Fdupes {
        push_names(&mut list, &search, Fdupes { end, is_shown });
    }
    let mut groups = match format {
        // What was printed needs no members.
        Format::Fdupes => search.examine_silently(options),
        _ => search.examine(options, console),
    };
    // Nothing shows then what pruning would free, so the members are not examined for it.
    let is_untold = globals.quiet && globals.stats.is_none() && globals.metrics.is_none();
    let tally = if format == Format::Fdupes && is_untold {
        search.groups.totals().into()
    } else {
        let pruning = Pruning::by_default(search.roots.iter().map(|root| root.as_bytes().len()).collect());
        push_groups(&mut list, &mut groups, &pruning, format, json)
    };
    let tally =
        directories.iter().fold(tally, |tally, it| tally.with_directories(it.groups.len(), it.wasted()));
    // If the reader closed the pipe, the remaining groups were not examined and the totals are incomplete.
    let is_whole = !list.is_over();
    match (format, globals.json) {
        (Format::Summary, true) => list.line(|out| tally::push_json(&tally, out, &search.rules)),
        (Format::Summary, false) => {
            list.line(|out| out.extend_from_slice(format!("{}\n", tally::text(&tally)).as_bytes()));
        }
        _ => {}
    }
    list.finish()?;
    search.say_scanned(console);
    directories.iter().for_each(|directories| dirs::say(directories, console));
    if is_whole {
        tally::record(&tally, &console.stats);
    }
    if format != Format::Summary && is_whole {
        console.summary(tally::text(&tally));
    }
    let has_failed = format != Format::Fdupes && groups.has_failed();
    Ok(outcome.max(Outcome::error_if(has_failed)))
}

/// Prints the groups with paths only. They are printed before the members are examined.
fn push_names(list: &mut List<'_>, search: &Search, fdupes: Fdupes) {
    for group in search.groups.iter() {
        list.line(|out| fdupes.push_group(out, &search.inventory, &group));
    }
}

/// Prints the groups with current metadata of their members, and returns their totals.
fn push_groups(
    list: &mut List<'_>,
    groups: &mut Examined<'_>,
    pruning: &Pruning,
    format: Format,
    mut json: Option<Writer>,
) -> Tally {
    let (is_shown, is_coloured) = (list.is_shown(), list.is_coloured());
    let mut tally = Tally::default();
    let mut group_tally = GroupTally::new(0, false);
    // Only a screen shows how many members a group has before it lists them.
    let mut whole = Vec::new();
    // Stops as soon as the output is closed, because examining groups takes time.
    while !list.is_over()
        && let Some(Part { group, is_first, is_last, mut names }) = groups.next()
    {
        if is_first {
            let size = if group.is_synthetic() { 0 } else { group.size };
            group_tally = GroupTally::new(size, group.has_hard_links());
        }
        names.iter().for_each(|name| group_tally.add(name.cluster.into(), space(name)));
        // A group of several parts is too large to be planned.
        let gain = (is_first && is_last).then(|| {
            let mut members: Vec<_> = names.iter().map(|name| name.member.clone()).collect();
            pruning.gain(&mut members)
        });
        let (size, digest) = (group.size, Digest::from_bytes(group.digest));
        match format {
            Format::Screen => {
                whole.append(&mut names);
                if is_last {
                    let lines: Vec<_> = whole.iter().map(line).collect();
                    list.line(|out| text::push_group(out, size, &lines, is_coloured));
                    whole.clear();
                }
            }
            Format::Csv => {
                let number = tally.groups + 1;
                names.iter().for_each(|name| {
                    list.line(|out| csv::push_member(out, number, size, digest, name, is_shown));
                });
            }
            Format::Json => list.line(|out| {
                json.iter_mut().for_each(|json| push_json(json, out, &group, is_first, is_last, &names))
            }),
            // `push_names` has printed groups as fdupes does, and a summary has only the totals.
            Format::Fdupes | Format::Summary => {}
        }
        if is_last {
            tally.add(std::mem::replace(&mut group_tally, GroupTally::new(0, false)), gain);
        }
    }
    if let Some(json) = json {
        list.line(|out| json.finish(out));
    }
    tally
}

fn line(name: &Surveyed) -> text::Line<'_> {
    text::Line { path: &name.member.path, cluster: name.cluster as usize, place: None }
}

/// Returns the space of the file of a member. It counts this name only.
fn space(name: &Surveyed) -> FileSpace {
    let member = &name.member;
    let shared = member.shared.iter().map(|it| it.len).sum();
    FileSpace { allocated: Some((member.allocated(), member.nlink)), shared, names: 1 }
}

/// Appends a part of a group to a report.
fn push_json(
    json: &mut Writer,
    out: &mut Vec<u8>,
    group: &Group<'_>,
    is_first: bool,
    is_last: bool,
    names: &[Surveyed],
) {
    if is_first {
        json.begin_group(group.size, &Digest::from_bytes(group.digest));
    }
    names.iter().for_each(|name| json.member(&name.member, name.cluster.into(), out));
    if is_last {
        json.end_group(out);
    }
}

/// Returns the header of a report of these starting points, which are those of `manifests` if there are any. `rules` are
/// those of the search.
pub(super) fn header(
    algorithm: Algorithm,
    is_verified: bool,
    sizes: &SizeArgs,
    roots: &[Vec<u8>],
    manifests: &[Vec<u8>],
    rules: &Rules,
    start: SystemTime,
) -> Header<'static> {
    Header {
        program: env!("CARGO_PKG_VERSION"),
        algorithm,
        is_verified,
        min_size: sizes.min_size,
        max_size: sizes.max_size,
        start_ns: start.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos(),
        directory: env::current_dir().ok().map(|path| path.into_os_string().into_vec()),
        roots: roots.to_vec(),
        manifests: manifests.to_vec(),
        unused_rules: rules.unused_protection(),
        arguments: env::args_os().skip(1).map(OsString::into_vec).collect(),
    }
}
