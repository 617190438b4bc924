//! Prints a film hash list of version 1.1.

use std::io::Write as _;

use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{FileNo, Inventory};
use ftk_process::Rows;
use ftk_record::{LEGACY_MHL, push_mhl_digest, push_xml, xml_name};
use jiff::Timestamp;

use crate::hash::list::below;
use crate::hash::reading::bare_name;
use crate::list::List;

/// The algorithm if none is given.
pub(super) const DEFAULT: Algorithm = Algorithm::Xxh64;

/// A time as XML Schema writes it.
const DATE: &str = "%Y-%m-%dT%H:%M:%SZ";

/// Returns the element with the digests of an algorithm; `None` if such a list has none.
pub(super) fn element(algorithm: Algorithm) -> Option<&'static str> {
    LEGACY_MHL.iter().find(|(it, _)| *it == algorithm).map(|(_, element)| *element)
}

/// Writes a list of the files that were hashed, in path order. `started` is when the run began. The rows have metadata.
/// Passes names that the list cannot represent to `refuse`.
pub(super) fn emit(
    list: &mut List<'_>,
    inventory: &Inventory,
    rows: &Rows,
    algorithms: &[Algorithm],
    root: Option<&[u8]>,
    started: Timestamp,
    mut refuse: impl FnMut(&[u8], String),
) {
    let finished = Timestamp::now().strftime(DATE).to_string();
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    list.line(|out| {
        out.extend_from_slice(
            b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<hashlist version=\"1.1\">\n\n  \
              <creatorinfo>\n",
        );
        out.extend_from_slice(b"    <hostname>");
        push_xml(out, xml_name(host.as_bytes()).unwrap_or_default());
        // Writing to a Vec cannot fail.
        let _ = write!(
            out,
            "</hostname>\n    <tool>ftk {}</tool>\n    <startdate>{}</startdate>\n    \
             <finishdate>{finished}</finishdate>\n  \
             </creatorinfo>\n",
            env!("CARGO_PKG_VERSION"),
            started.strftime(DATE)
        );
    });
    let mut order = inventory.in_path_order();
    while let Some(item) = order.next() {
        let FileNo(file) = item.file.expect("only regular files were kept");
        let (Some(digests), Some(stat)) = (rows.digests(file), rows.stat(file)) else { continue };
        let path = bare_name(root.and_then(|root| below(root, item.path)).unwrap_or(item.path));
        let leads_out = path.starts_with(b"/") || path.split(|byte| *byte == b'/').any(|name| name == b"..");
        let name = match xml_name(path) {
            Ok(_) if leads_out => {
                refuse(
                    item.path,
                    "names in a film hash list are relative to its directory: see --root".into(),
                );
                continue;
            }
            Ok(name) => name,
            Err(why) => {
                refuse(item.path, why.to_string());
                continue;
            }
        };
        list.line(|out| {
            out.extend_from_slice(b"\n  <hash>\n    <file>");
            push_xml(out, name);
            let _ = write!(out, "</file>\n    <size>{}</size>\n", stat.size);
            if let Ok(mtime) = Timestamp::from_nanosecond(stat.mtime_ns) {
                let mtime = mtime.strftime(DATE);
                let _ = writeln!(out, "    <lastmodificationdate>{mtime}</lastmodificationdate>");
            }
            for (algorithm, digest) in algorithms.iter().zip(digests) {
                let element = element(*algorithm).expect("others were refused");
                let _ = write!(out, "    <{element}>");
                push_mhl_digest(out, *algorithm, &Digest::from_bytes(digest));
                let _ = writeln!(out, "</{element}>");
            }
            let _ = writeln!(out, "    <hashdate>{finished}</hashdate>\n  </hash>");
        });
    }
    list.line(|out| out.extend_from_slice(b"\n</hashlist>\n"));
}
