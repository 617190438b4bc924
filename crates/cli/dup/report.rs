//! `ftk dup PATH...`: prints the groups in one of several formats. Changes nothing.

pub(super) mod csv;
pub(super) mod groups;
pub(super) mod text;

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use ftk_dedup::prune::Pruning;
use ftk_dedup::report::{Header, Writer};
use ftk_dedup::{Examined, GroupTally, Part, Surveyed};
use ftk_hash::{Algorithm, Digest};

use self::groups::{Found, GroupPrinter, Name, end_report};
use crate::console::{Console, Outcome};
use crate::dup::dirs::{self, Printing, ShareArg};
use crate::dup::options::{OutputArgs, ReportFormat, SearchArgs, SizeArgs};
use crate::dup::search::{SearchContext, search};
use crate::dup::tally;
use crate::foreign::refuse_output;
use crate::globals::Globals;
use crate::list::{List, named};
use crate::rules::Rules;
use crate::stdout::Stdout;

pub(super) fn run(
    args: &SearchArgs,
    share: &ShareArg,
    output: &OutputArgs,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    refuse_output(named(output.output.as_deref()))?;
    let start = SystemTime::now();
    let stdout = Stdout::default();
    let mut list = List::create(named(output.output.as_deref()), &stdout)?;
    let own = list.own();
    let format = output.format(globals.json, list.is_shown() || share.contained.is_some());
    dirs::check_format(&args.dirs, share, format)?;
    let compares_directories = share.contained.is_some();
    let context = SearchContext { own, compares_directories, ..SearchContext::default() };
    // The header is made before any file is read, so that one that is too long fails at once and not after
    // hours.
    let (mut json, mut head) = (None, Vec::new());
    let mut search = search(args, context, globals, console, |_, roots, rules| {
        if format == ReportFormat::Json {
            let roots: Vec<_> = roots.iter().map(|root| root.as_bytes().to_vec()).collect();
            let algorithm = args.equal.algorithm.algorithm();
            let sizes = args.sizes.within(&args.selection);
            let header = header(algorithm, args.equal.verify, &sizes, &roots, &[], rules, start);
            json = Some(Writer::new(&header, &mut head)?);
        }
        Ok(())
    })?;
    if format == ReportFormat::Csv {
        head.extend_from_slice(csv::HEADER);
    }
    list.line(|out| out.append(&mut head));
    let (end, is_shown) = (text::end_of_path(output.null), !output.null && list.is_shown());
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
        outcome =
            json.into_iter().fold(outcome, |outcome, json| outcome.max(end_report(json, &mut list, console)));
        list.finish()?;
        search.say_scanned(console);
        directories.iter().for_each(|directories| dirs::say(directories, console));
        return Ok(outcome);
    }
    if let (ReportFormat::Screen, Some(directories)) = (format, &directories)
        && !directories.groups.is_empty()
    {
        list.line(|out| text::push_outside(out, &search.groups.totals()));
    }
    let is_list = format == ReportFormat::Fdupes;
    if is_list {
        // The paths are printed before the members are examined, and need nothing more.
        let inventory = &search.inventory;
        for group in search.groups.iter() {
            list.line(|out| {
                let first_names = group.clusters().map(|names| inventory.path(names[0]));
                first_names.for_each(|path| text::push_path(out, &path, end, is_shown));
                out.push(end);
            });
        }
    }
    let mut groups = search.examine((!is_list).then_some(console));
    // Nothing shows then what pruning would free, so the members are not examined for it.
    let is_untold =
        globals.quiet && [&globals.stats, &globals.metrics, &globals.log].into_iter().all(Option::is_none);
    let tally = if is_list && is_untold {
        search.groups.totals().into()
    } else {
        let format = if is_list { ReportFormat::Summary } else { format };
        let mut printer = GroupPrinter::new(&mut list, format, json, output.null, &[]);
        print_groups(&mut printer, &mut groups, &Pruning::by_default(&search.roots));
        let (tally, printed) = printer.finish(console);
        outcome = outcome.max(printed);
        tally
    };
    let tally =
        directories.iter().fold(tally, |tally, it| tally.with_directories(it.groups.len(), it.wasted()));
    // If the reader closed the pipe, the remaining groups were not examined and the totals are incomplete.
    let is_whole = !list.is_over();
    if format == ReportFormat::Summary {
        let failed = search.unread.len() as u64 + search.unlisted;
        list.line(|out| tally::push(&tally, globals.json, failed, &search.rules, out));
    }
    list.finish()?;
    search.say_scanned(console);
    directories.iter().for_each(|directories| dirs::say(directories, console));
    if is_whole {
        tally::say(&tally, format, console);
    }
    Ok(outcome.max(Outcome::error_if(!is_list && groups.has_failed())))
}

/// Prints the groups with current metadata of their members.
fn print_groups(printer: &mut GroupPrinter<'_, '_>, groups: &mut Examined<'_>, pruning: &Pruning) {
    // Stops as soon as the output is closed, because examining groups takes time.
    while !printer.list.is_over()
        && let Some(Part { group, is_first, is_last, names }) = groups.next()
    {
        // A group of several parts is too large to be planned.
        let mut members: Vec<_> = match is_first && is_last {
            true => names.iter().map(|name| name.member.clone()).collect(),
            false => Vec::new(),
        };
        let gain = (!members.is_empty()).then(|| pruning.gain(&mut members));
        if is_first {
            let size = if group.is_synthetic() { 0 } else { group.size };
            let tally = GroupTally::new(size, group.has_hard_links());
            let shows_fates = printer.shows_fates() && !members.is_empty();
            let removed =
                shows_fates.then(|| pruning.removed(&mut members).map(|it| it.path.clone()).collect());
            printer.begin(group.size, Digest::from_bytes(group.digest), tally, removed);
        }
        for Surveyed { cluster, member, .. } in names {
            printer.name(Name { cluster: cluster.into(), member: Found::Here(member) });
        }
        if is_last {
            printer.end(gain);
        }
    }
}

/// Returns the header of a report of these starting points, which are those of `manifests` if there are any. `rules`
/// are those of the search.
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
        min_size: sizes.min(),
        max_size: sizes.max_size,
        start_ns: start.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos(),
        directory: env::current_dir().ok().map(|path| path.into_os_string().into_vec()),
        roots: roots.to_vec(),
        manifests: manifests.to_vec(),
        unused_rules: rules.unused_protection(),
        arguments: env::args_os().skip(1).map(OsString::into_vec).collect(),
    }
}
