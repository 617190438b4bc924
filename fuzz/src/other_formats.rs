//! Lists that are imported, and exports of what was imported: an import is refused or makes a valid manifest, and what
//! is exported to a format is imported from it again.

use std::fs::File;
use std::io::{self, BufReader, Write as _};

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{
    Export, ExportError, Failed, Format, Header, Import, ImportError, Manifest, Provenance, Writer,
    begins_mtree,
};
use ftk_record::{End, ListFormat, ListReader};

/// The first byte chooses the format; the rest is a list.
pub fn imports(data: &[u8]) {
    let Some((first, list)) = data.split_first() else { return };
    let format = [Format::Mtree, Format::Hashdeep, Format::Bagit, Format::Sha256][usize::from(first % 4)];
    let _ = begins_mtree(list);
    let Ok(imported) = import(list, format) else { return };
    let manifest = manifest(&imported);
    // A format of all entries, for people and for programs.
    for other in [Format::Csv, Format::Ncdu] {
        export(&manifest, other).expect("every entry can be represented");
    }
    if format == Format::Sha256 && imported.algorithms() != [Algorithm::Sha256] {
        return;
    }
    let exported = match export(&manifest, format) {
        Ok(exported) => exported,
        Err(ExportError::Manifest(error)) => panic!("{error}"),
        // Some names can be read from a BagIt manifest but not be written to one.
        Err(_) => return,
    };
    let again = import(&exported, format).expect("an export can be imported");
    let (before, mut after) = (entries(&manifest), entries(&self::manifest(&again)));
    // An export to mtree has the directories that the list lacked.
    after.retain(|(path, _)| before.iter().any(|(known, _)| known == path));
    assert_eq!(before, after);
}

fn import(list: &[u8], format: Format) -> Result<Import, ImportError> {
    // The smallest buffer, so that every line crosses its end.
    let input = BufReader::with_capacity(1, list);
    let budget = Budget::new(64 << 20);
    let lines = match format {
        Format::Mtree => return Import::mtree(input, None, &budget),
        Format::Hashdeep => ListFormat::Hashdeep,
        Format::Bagit => ListFormat::Bag("md5".into()),
        _ => ListFormat::Sums,
    };
    let reader = ListReader::open(input, lines, End::Newline, &[])?;
    Import::list(reader, format == Format::Bagit, None, &budget, |_, why| assert!(!why.has_digest()))
}

/// Writes what was imported to a manifest, and opens it.
fn manifest(imported: &Import) -> Manifest {
    let header = Header {
        version: Header::VERSION,
        root: b".".to_vec(),
        algorithms: imported.algorithms().to_vec(),
        xattrs: false,
        trusted_xattrs: true,
        options: imported.options().to_vec(),
        start_ns: 0,
        root_identity: None,
        mounts: Vec::new(),
        failed: Failed::default(),
        shard: None,
        is_tar: false,
        provenance: Provenance::default(),
    };
    let mut file: File = tempfile::tempfile().expect("a file for the manifest");
    let mut writer = Writer::new(&header, |line: &[u8]| file.write_all(line));
    imported.write(&mut writer).expect("room for the manifest");
    writer.finish().expect("room for the manifest");
    Manifest::open(file).expect("an import is a manifest")
}

fn export(manifest: &Manifest, format: Format) -> Result<Vec<u8>, ExportError> {
    let mut out = Vec::new();
    let mut sink = |line: &[u8]| -> io::Result<()> {
        out.extend_from_slice(line);
        Ok(())
    };
    Export::new(manifest, format, None)?.write(&Budget::new(64 << 20), &mut sink)?;
    Ok(out)
}

/// The path of every entry, and the entry as text.
fn entries(manifest: &Manifest) -> Vec<(Vec<u8>, String)> {
    let mut all = Vec::new();
    let mut entries = manifest.entries().expect("it was read to its end");
    while let Some(entry) = entries.next().expect("an import has valid entries") {
        all.push((entry.path.to_vec(), format!("{entry:?}")));
    }
    all
}
