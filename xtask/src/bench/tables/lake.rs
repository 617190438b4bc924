//! Converting a manifest to Parquet, and questions about it, with `ftk query` and with DuckDB.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::bench::cache::Cache;
use crate::bench::case::{Pipeline, words};
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::record::Section;

/// What DuckDB makes of the manifest has neither the order nor the seals of a set, so only the status is compared.
const CONVERT: &str = "
# convert
[ftk] ftk-query convert -q {new} -o {made}set
[duckdb COPY] duckdb -f {made}copy.sql
";

/// The same statements, about the same files, or about the manifest as it is.
const QUESTIONS: &str = "
# duplicates [lines]
[ftk] ftk-query duplicates -q --format csv {sets}/new
duckdb -csv -f {made}duplicates-set.sql
[duckdb, manifest] duckdb -csv -f {made}duplicates-manifest.sql

# by-directory, depth 2 [lines]
[ftk] ftk-query by-directory -q --depth 2 --format csv {sets}/new
duckdb -csv -f {made}by-directory-set.sql
[duckdb, manifest] duckdb -csv -f {made}by-directory-manifest.sql

# changed, one file in 100 [lines]
[ftk] ftk-query changed -q --format csv {sets}/old {sets}/new
duckdb -csv -f {made}changed-set.sql
[duckdb, manifest] duckdb -csv -f {made}changed-manifest.sql
";

/// In the second manifest, one file of this many has the content of the first file.
const EVERY: usize = 100;

/// The dates that the views of `docs/lake.md` compare.
const DATES: [&str; 2] = ["2026-09-01", "2026-10-01"];

/// The views of the questions on two manifests, `OLD` and `NEW`.
const ON_MANIFESTS: &str = "
CREATE VIEW records AS SELECT snapshot, r.*, row_number() OVER () AS row_id FROM (
    SELECT '2026-09-01' AS snapshot, * FROM read_ndjson('OLD', columns = {MEMBERS})
    UNION ALL SELECT '2026-10-01', * FROM read_ndjson('NEW', columns = {MEMBERS})
) r WHERE path IS NOT NULL;
CREATE VIEW history AS SELECT
    'ROOT' AS source, snapshot, row_id, path, '' AS path_b64, type, size_bytes, allocated_bytes, mtime_ns, mode, uid, gid,
    fs, dev, ino, nlink, target, NULL AS target_b64, NULL AS rdev, damaged_ns,
    CASE WHEN digests.sha256 IS NOT NULL THEN 'sha256' END AS algorithm, digests.sha256 AS digest,
    CASE
        WHEN path = '.' THEN '' WHEN path NOT LIKE '%/%' THEN '.'
        ELSE left(path, length(path) - length(split_part(path, '/', -1)) - 1)
    END AS ancestor
FROM records;
CREATE VIEW entries AS SELECT * FROM history WHERE snapshot = '2026-10-01';
CREATE VIEW digests AS SELECT * FROM entries WHERE digest IS NOT NULL;
CREATE VIEW history_failed AS SELECT snapshot, source, path, path_b64 FROM history WHERE false;
CREATE TABLE parameters AS SELECT CAST(NULL AS BIGINT) AS depth;
CREATE VIEW levels AS SELECT unnest(range(100)) AS level;
CREATE MACRO depth(path) AS
    CASE WHEN path = '.' THEN 0 ELSE 1 + length(path) - length(replace(path, '/', '')) END;
CREATE MACRO prefix(path, n) AS
    CASE WHEN n <= 0 THEN '.' ELSE array_to_string(string_split(path, '/')[1:n], '/') END;
";

/// The members of a manifest's lines that the questions need.
const MEMBERS: &str = "{path: 'VARCHAR', type: 'VARCHAR', size_bytes: 'BIGINT', allocated_bytes: 'BIGINT', \
    mtime_ns: 'BIGINT', mode: 'VARCHAR', uid: 'BIGINT', gid: 'BIGINT', fs: 'VARCHAR', dev: 'BIGINT', ino: 'BIGINT', \
    nlink: 'BIGINT', target: 'VARCHAR', damaged_ns: 'BIGINT', digests: 'STRUCT(sha256 VARCHAR)'}";

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    if bench.programs.query.is_none() {
        println!(" not measured: a quick run measures this table only if it is named");
        return Ok(Vec::new());
    }
    let tree = bench.shape(&bench.many())?;
    println!(" {}", tree.title);
    let path = |name: &str| bench.scratch.path(name);
    let [old, new] = ["lake-old.jsonl", "lake-new.jsonl"].map(path);
    let (sets, made) = (path("lake"), path("lake-"));
    if sets.exists() {
        fs::remove_dir_all(&sets)?; // of a run that kept its trees
    }
    fs::create_dir_all(&sets)?;
    let commands = Commands::new(bench).with("sets", &sets).with("made", &made).with("new", &new);
    let ftk = &bench.programs.ftk;
    let record = |list: &Path| {
        let words = words![ftk, "manifest", "create", "-q", "--force", "-o", list, &tree.path];
        Pipeline::new(words).output().map(drop)
    };
    record(&old)?;
    let altered: Vec<PathBuf> = derived::regular_files(&tree.path)?.into_iter().step_by(EVERY).collect();
    let contents = altered.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let first = contents.first().context("the tree has no files")?;
    let recorded =
        altered.iter().try_for_each(|path| Ok(fs::write(path, first)?)).and_then(|()| record(&new));
    for (path, content) in altered.iter().zip(&contents) {
        fs::write(path, content)?; // restore the files, even after a failure
    }
    recorded?;

    let query = bench.programs.query.as_deref().context("checked above")?;
    for ((manifest, name), date) in [(&old, "old"), (&new, "new")].into_iter().zip(DATES) {
        let set = sets.join(name);
        let words =
            words![query, "convert", "-q", "--source", "tree", "--snapshot", date, "-o", &set, manifest];
        Pipeline::new(words).output()?;
    }
    for (name, setting) in
        [("duplicates", ""), ("by-directory", "UPDATE parameters SET depth = 2;\n"), ("changed", "")]
    {
        let question = fs::read_to_string(format!("crates/query/sql/{name}.sql"))?;
        for (place, views) in [("set", on_sets(&sets)?), ("manifest", on_manifests(&old, &new)?)] {
            fs::write(path(&format!("lake-{name}-{place}.sql")), format!("{views}{setting}{question};\n"))?;
        }
    }

    let copy = format!(
        "COPY (SELECT * FROM read_ndjson('{}', columns = {MEMBERS}) WHERE path IS NOT NULL) TO '{}' (FORMAT parquet);\n",
        new.display(),
        path("lake-file").display(),
    );
    fs::write(path("lake-copy.sql"), copy)?;

    let clock = bench.clock();
    let mut groups = Vec::new();
    for (title, mut cases) in commands.groups(CONVERT) {
        for case in &mut cases {
            case.before = Some(Pipeline::new(words!["rm", "-rf", &path("lake-set"), &path("lake-file")]));
        }
        groups.push(clock.group(&title, tree.files, cases)?);
    }
    groups.extend(commands.measure(clock, tree.files, QUESTIONS)?);
    Ok(vec![Section::new(&tree, Cache::Warm, groups)])
}

/// Returns the statements of `docs/lake.md` that make the views of the questions on sets in the folder `sets`.
fn on_sets(sets: &Path) -> Result<String> {
    let page = fs::read_to_string("docs/lake.md")?;
    let block = |mark: &str| {
        let (_, rest) = page.split_once(mark).with_context(|| format!("docs/lake.md has no {mark:?}"))?;
        Ok::<_, anyhow::Error>(rest.split("```").next().unwrap_or_default())
    };
    let views = [block("```sql duckdb\n")?, block("```sql duckdb sides\n")?].concat();
    let plain = views.lines().filter(|line| !line.starts_with(".read ")).collect::<Vec<_>>().join("\n");
    Ok(plain.replace("'lake/", &format!("'{}/", sets.display())) + "\n")
}

/// Returns statements that make these views on two manifests.
fn on_manifests(old: &Path, new: &Path) -> Result<String> {
    let page = fs::read_to_string("docs/lake.md")?;
    let (_, sides) =
        page.split_once("```sql duckdb sides\n").context("docs/lake.md has no views of two sides")?;
    let views = ON_MANIFESTS.replace("{MEMBERS}", MEMBERS).replace("ROOT", "tree");
    let views = views.replace("'OLD'", &format!("'{}'", old.display()));
    let views = views.replace("'NEW'", &format!("'{}'", new.display()));
    Ok(views + sides.split("```").next().unwrap_or_default())
}
