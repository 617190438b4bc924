"""Scans a tree with ftk on the executors of a Spark cluster, and answers the questions of `ftk query` with Spark.

    spark-submit ftk_spark.py scan /lustre/home --shards 512 --parts /lustre/parts
    spark-submit ftk_spark.py query duplicates lake -o answer
    spark-submit ftk_spark.py report lake -o report.jsonl

README.md in this directory says what the executors need. The questions are the files of crates/query/sql, unchanged.
"""

import argparse
import base64
import functools
import hashlib
import itertools
import json
import os
import pathlib
import string
import subprocess
import sys
import time
import typing
import unicodedata

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

QUESTIONS = pathlib.Path(__file__).resolve().parents[2] / "crates" / "query" / "sql"
# Questions that match the entries of two sets by path alone.
BY_PATH = {"changed", "growth"}
# Questions with rows that say `unknown`, and the column.
UNKNOWN = {"changed": "change", "growth": "change", "missing-in": "reason", "trend": "change"}
REPORT_ALGORITHMS = {"xxh128", "blake3", "sha256"}
# A group continues on the next line of a report beyond this length.
MAX_LINE_BYTES = 8 << 20

# The columns of the table `entries` in docs/parquet.md that every set has.
NAMES = ["source", "path", "path_b64", "parent", "parent_b64", "ancestor", "name", "name_b64", "extension", "type"]
NUMBERS = ["size_bytes", "allocated_bytes", "mtime_ns", "ctime_ns", "birth_ns"]
IDS = ["dev", "ino", "nlink", "rdev"]
ENTRIES = [*NAMES, *NUMBERS, "mode", "uid", "gid", "fs", *IDS, "target", "target_b64"]
ENTRIES += ["algorithm", "digest", "tree", "verified_ns", "damaged_ns", "shard"]
# What sets of version 1 and manifests lack.
OF_SETS = ["snapshot", "e_tag", "storage_class", "version", "version_id"]
ENTRIES += [*OF_SETS, "row_id"]
CONTENTS = ["algorithm", "digest", "size_bytes", "source", "path", "path_b64", "fs", "dev", "ino", "damaged_ns"]
DIGESTS = ["algorithm", "digest", "source", "row_id", "damaged_ns", "snapshot"]
PARENT = (
    "coalesce(parent, CASE WHEN path = '.' THEN '' WHEN instr(path, '/') = 0 THEN '.' "
    "ELSE left(path, length(path) - length(substring_index(path, '/', -1)) - 1) END)"
)
# Columns of `entries` that are computed from those of the files, in sets of version 2.
COMPUTED = {
    "name": "coalesce(name, substring_index(path, '/', -1))",
    "parent": PARENT,
    "ancestor": f"coalesce(ancestor, {PARENT})",
    "name_b64": "coalesce(name_b64, '')",
    "parent_b64": "coalesce(parent_b64, '')",
    "ctime_ns": "coalesce(ctime_ns, mtime_ns + ctime_after_ns)",
    "digest": "lower(hex(digest))",
    "tree": "lower(hex(tree))",
    "row_id": "CAST(row_id AS STRING)",
}
# Functions of questions that Spark lacks. `.` is the root.
FUNCTIONS = {
    "depth(path STRING) RETURNS BIGINT": "IF(path = '.', 0, 1 + length(path) - length(replace(path, '/', '')))",
    "prefix(path STRING, n BIGINT) RETURNS STRING": "IF(n <= 0, '.', substring_index(path, '/', CAST(n AS INT)))",
}
# Rows without number: the path is unique in its source.
ROW_ID = "IF(path <> '', concat('path ', path), concat('path_b64 ', path_b64))"

# Members of a manifest's lines. Integers are wider than BIGINT, so that none of them is silently null.
RECORD = """
    ftk STRING, version INT, root STRING, root_b64 STRING, algorithms ARRAY<STRING>, start_ns DECIMAL(38, 0),
    failed ARRAY<STRUCT<path: STRING, path_b64: STRING>>,
    shard STRUCT<number: INT, of: INT, plan: STRING>, footer STRUCT<records: BIGINT>,
    path STRING, path_b64 STRING, type STRING, mode STRING, fs STRING, target STRING, target_b64 STRING,
    digests MAP<STRING, STRING>, tree MAP<STRING, STRING>,
""" + ", ".join(f"{name} DECIMAL(38, 0)" for name in [*NUMBERS, *IDS, "uid", "gid", "verified_ns", "damaged_ns"])


class RefusedError(Exception):
    """An input that cannot give a complete answer."""


# Scan


def scan(spark, root, parts, n_shards, plan=None, ftk="ftk", options=()):
    """Records `root` as `n_shards` parts of one manifest, one task for each, and returns the errors of ftk.

    ftk writes a part under another name and renames it, so a part is complete or absent. A task that fails or is killed
    is run again by Spark and replaces the part, also if an orphan of the killed task still writes the same one.
    """
    if os.path.commonpath([os.path.realpath(root), os.path.realpath(parts)]) == os.path.realpath(root):
        raise RefusedError(f"{parts} is below {root}: the parts would record each other")
    os.makedirs(parts, exist_ok=True)
    if os.listdir(parts):
        raise RefusedError(f"{parts} is not empty: parts of different scans must not mix")
    command = [ftk, "manifest", "create", *options]
    if plan:
        command += ["--plan", plan]
    run = functools.partial(create_part, command=command, root=root, parts=parts, n_shards=n_shards)
    errors = spark.sparkContext.parallelize(range(1, n_shards + 1), n_shards).map(run).collect()
    missing = [k for k in range(1, n_shards + 1) if not os.path.exists(part_file(parts, k, n_shards))]
    if missing:
        raise RefusedError(f"{parts} lacks the parts {missing}: is it the same directory on all executors?")
    return [error for error in errors if error]


def create_part(k, command, root, parts, n_shards):
    """Runs on an executor. Returns the messages about files that ftk could not read, or "" if it read them all."""
    file = part_file(parts, k, n_shards)
    arguments = [*command, "--shard", f"{k}/{n_shards}", root, "--output", file]
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    messages = done.stderr.decode(errors="replace")
    if done.returncode == 0:
        return ""
    if done.returncode == 2 and os.path.exists(file):
        # Reading again would fail again: the part is complete but for the files named here.
        return f"part {k}/{n_shards}: {messages}"
    raise RuntimeError(f"{arguments} ended with status {done.returncode}: {messages}")


def part_file(parts, k, n_shards):
    """Returns the file of part `k`. Equal widths keep the parts in order."""
    return os.path.join(parts, f"part-{k:0{len(str(n_shards))}}-of-{n_shards}.jsonl")


# Sets


class Loaded(typing.NamedTuple):
    """What a set or manifests hold."""

    # The rows of `entries`, and old versions of objects.
    entries: typing.Any
    # The recorded roots, by source.
    roots: dict
    # The paths that could not be read, in bytes, by source.
    failed: dict
    # The dates of snapshots, by source.
    snapshots: dict


def load(spark, location, algorithm=None):
    """Returns the rows of a Parquet set, or of manifests in JSON Lines."""
    if location.endswith((".jsonl", ".jsonl.zst")):
        return load_manifests(spark, location, algorithm)
    return load_set(spark, location)


def load_set(spark, location):
    """Loads what `ftk query convert` wrote. Refuses a set that lacks a file or rows."""
    seal = [json.loads(line) for line in read_small(spark, f"{location}/_set.jsonl").splitlines()]
    if not seal or seal[0].get("ftk") != "parquet-set" or seal[-1].get("footer", {}).get("records") != len(seal) - 1:
        raise RefusedError(f"{location}/_set.jsonl is not complete")
    if seal[0]["version"] not in (1, 2):
        raise RefusedError(f"{location} needs a newer ftk_spark.py")
    sealed = {line["file"]: line["rows"] for line in seal[1:-1] if line["file"].startswith("entries-")}
    entries = spark.read.parquet(*(f"{location}/{file}" for file in sealed))
    counted = entries.groupBy(sf.col("_metadata.file_name")).count().collect()
    rows = dict.fromkeys(sealed, 0) | {row[0]: row[1] for row in counted}
    if rows != sealed:
        raise RefusedError(f"{location} has other rows than _set.jsonl says: {rows}, {sealed}")
    of_version_1 = dict.fromkeys(OF_SETS, "CAST(NULL AS STRING)") | {"row_id": ROW_ID}
    encoded = ancestor("decode(unbase64(parent_b64), 'ISO-8859-1')")
    of_version_1 |= {"ancestor": f"CASE WHEN parent_b64 = '' THEN parent ELSE {encoded} END"}
    columns = COMPUTED if seal[0]["version"] > 1 else of_version_1
    entries = entries.select([sf.expr(columns.get(name, name)).alias(name) for name in ENTRIES])
    sources = {line["source"]: line for line in seal[0]["sources"]}
    return Loaded(
        entries,
        {source: bytes_of(line, "root") for source, line in sources.items()},
        {source: [bytes_of(path, "path") for path in line.get("failed", [])] for source, line in sources.items()},
        {source: line.get("snapshot") for source, line in sources.items()},
    )


def ancestor(whole):
    """Returns the expression for the nearest directory at or above one, whose path is UTF-8. `whole`: one character for
    each byte."""
    bytes_to = f"encode(substring_index({whole}, '/', i), 'ISO-8859-1')"
    above = f"transform(sequence(1, size(split({whole}, '/'))), i -> try_validate_utf8(CAST({bytes_to} AS STRING)))"
    return f"coalesce(try_element_at(filter({above}, name -> name IS NOT NULL), -1), '.')"


def read_small(spark, file):
    """Returns the text of a file on any storage. Spark's own readers hide names that start with an underscore."""
    path = spark._jvm.org.apache.hadoop.fs.Path(file)
    stream = path.getFileSystem(spark._jsc.hadoopConfiguration()).open(path)
    try:
        return spark._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    finally:
        stream.close()


def load_manifests(spark, location, algorithm):
    """Loads manifests or all shards of one, without `ftk query convert`."""
    lines = spark.read.schema(RECORD).option("mode", "FAILFAST").option("lineSep", "\n").json(location)
    lines = lines.withColumn("file", sf.col("_metadata.file_path"))
    headers = check_manifests(lines, location)
    files = spark.createDataFrame(
        [(h.file, source_of(h), h.start_ns, h.shard and f"{h.shard.number}/{h.shard.of}") for h in headers],
        "file STRING, source STRING, start_ns DECIMAL(38, 0), shard STRING",
    )
    entries = lines.where("type IS NOT NULL").drop("start_ns", "shard").join(sf.broadcast(files), "file")
    for step in entry_steps(algorithm or main_algorithm(headers)):
        entries = entries.withColumns({name: sf.expr(value) for name, value in step.items()})
    entries = entries.withColumns({name: sf.lit(None).cast("string") for name in OF_SETS})
    entries = entries.withColumn("row_id", sf.expr(ROW_ID)).select(ENTRIES)
    roots, failed = {}, {}
    for header in headers:
        source = source_of(header)
        roots[source] = bytes_of(header.asDict(), "root")
        paths = [bytes_of(path.asDict(), "path") for path in header.failed or []]
        failed[source] = failed.get(source, []) + paths
    failed = {source: sorted(set(paths)) for source, paths in failed.items()}
    return Loaded(entries, roots, failed, dict.fromkeys(roots))


def check_manifests(lines, location):
    """Returns the headers. Refuses files without header or footer, with too few lines, and missing shards."""
    counts = lines.groupBy("file").agg(
        sf.count("ftk").alias("headers"),
        sf.count("footer").alias("footers"),
        sf.count("type").alias("entries"),
        sf.count("*").alias("lines"),
        sf.max("footer.records").alias("records"),
    )
    for row in counts.collect():
        if not (row.headers == row.footers == 1 and row.records == row.entries + 1 == row.lines - 1):
            raise RefusedError(f"{row.file} is not a complete manifest")
    headers = lines.where("ftk IS NOT NULL").orderBy("file").collect()
    if not headers or any(header.ftk != "manifest" or header.version not in (1, 2, 3) for header in headers):
        raise RefusedError(f"{location} is not a manifest of a known version")
    shards = [header.shard for header in headers if header.shard]
    if shards:
        is_whole = sorted(shard.number for shard in shards) == list(range(1, shards[0].of + 1))
        trees = {(source_of(header), header.shard and (header.shard.of, header.shard.plan)) for header in headers}
        if not is_whole or len(trees) > 1:
            raise RefusedError(f"{location} does not have each shard of one tree exactly once")
    elif len({source_of(header) for header in headers}) < len(headers):
        raise RefusedError(f"{location} has two manifests of one root")
    return headers


def main_algorithm(headers):
    """Returns the first algorithm that all manifests with digests have and that identifies contents."""
    lists = [header.algorithms for header in headers if header.algorithms]
    common = [name for name in lists[0] if all(name in others for others in lists)] if lists else []
    strong = [name for name in common if not name.startswith("crc")]
    if lists and not strong:
        raise RefusedError("the manifests have no algorithm in common")
    return strong[0] if strong else None


def source_of(header):
    """Returns the name of the tree, as `ftk query convert` does."""
    return bytes_of(header.asDict(), "root").decode(errors="replace")


def bytes_of(members, name):
    """Returns the bytes of a name that is in one of two members."""
    text = members.get(name)
    return text.encode() if text is not None else base64.b64decode(members[f"{name}_b64"])


def entry_steps(algorithm):
    """Returns the columns of `entries` from those of a manifest. Each step uses the results of the previous ones."""
    digest, tree = (f"{name}['{algorithm}']" if algorithm else "CAST(NULL AS STRING)" for name in ("digests", "tree"))
    # One character for each byte, so that names that are not UTF-8 can be split too.
    whole = {"whole": "coalesce(path, decode(unbase64(path_b64), 'ISO-8859-1'))"}
    parts = {
        "name_whole": "substring_index(whole, '/', -1)",
        "parent_whole": "CASE WHEN whole = '.' THEN '' WHEN instr(whole, '/') = 0 THEN '.' "
        "ELSE left(whole, length(whole) - length(substring_index(whole, '/', -1)) - 1) END",
    }
    names, encoded = {}, {}
    for name in ("name", "parent"):
        is_text = "path IS NOT NULL"
        raw = f"encode({name}_whole, 'ISO-8859-1')"
        # Spark may break base64 into lines.
        in_base64 = f"replace(base64({raw}), '\r\n', '')"
        names[name] = f"CASE WHEN {is_text} THEN {name}_whole ELSE try_validate_utf8(CAST({raw} AS STRING)) END"
        encoded[f"{name}_b64"] = f"CASE WHEN {name} IS NULL THEN {in_base64} ELSE '' END"
    link = "target IS NULL AND target_b64 IS NULL"
    texts = {name: f"coalesce({name}, '')" for name in ("path", "path_b64", "name", "parent")}
    texts |= {name: f"CASE WHEN {link} THEN NULL ELSE coalesce({name}, '') END" for name in ("target", "target_b64")}
    ids = {name: f"CAST(IF({name} > {2**63 - 1}, {name} - {2**64}, {name}) AS BIGINT)" for name in IDS}
    numbers = {name: f"try_cast({name} AS BIGINT)" for name in [*NUMBERS, "uid", "gid", "damaged_ns"]}
    read = "coalesce(verified_ns, IF(ctime_ns IS NULL, NULL, start_ns))"
    digests = {
        "ancestor": f"CASE WHEN path IS NOT NULL THEN parent_whole ELSE {ancestor('parent_whole')} END",
        "digest": f"lower({digest})",
        "tree": f"lower({tree})",
        "verified_ns": f"try_cast(IF(type = 'file' AND digests IS NOT NULL, {read}, NULL) AS BIGINT)",
    }
    upper, lower = string.ascii_uppercase, string.ascii_lowercase
    extension = f"translate(substring_index(name, '.', -1), '{upper}', '{lower}')"
    last = {
        "extension": f"IF(instr(substr(name, 2), '.') > 0, {extension}, '')",
        "algorithm": f"IF(digest IS NULL AND tree IS NULL, NULL, '{algorithm}')",
    }
    return [whole, parts, names, encoded, digests, texts | ids | numbers, last]


# Questions


def register(spark, table_prefix, loaded, others=()):
    """Makes the tables of a question from loaded sets. `others` are those of the other side, if there are sides."""
    rows = [with_failed(spark, it, others) if table_prefix else it.entries for it in loaded]
    everything = functools.reduce(lambda one, other: one.unionByName(other), rows)
    entries = everything.where("version IS NULL OR version = 'current'")
    files = entries.where("type = 'file' AND digest IS NOT NULL")
    marks = ["failed", "other_failed"] if table_prefix else []
    tables = {
        "entries": entries,
        "history": entries,
        "versions": everything.where("version IS NOT NULL"),
        "contents": files.select(CONTENTS + marks),
        "digests": files.select(DIGESTS),
        "failed": failed_paths(spark, loaded),
        "history_failed": failed_paths(spark, loaded),
    }
    for name, table in tables.items():
        table.createOrReplaceTempView(f"{table_prefix}{name}")


def failed_paths(spark, loaded):
    """Returns the table of the paths that could not be read."""
    rows = []
    for it in loaded:
        for source, path in ((source, path) for source, paths in it.failed.items() for path in paths):
            member = name_member("path", path)
            rows.append((source, it.snapshots[source], member.get("path", ""), member.get("path_b64", "")))
    return spark.createDataFrame(rows, "source STRING, snapshot STRING, path STRING, path_b64 STRING")


def with_failed(spark, loaded, others):
    """Returns the rows with `failed` and `other_failed`.

    They say whether the path is at or below one that could not be read when its set, or the other side, was recorded.
    """
    own = {source: normal_paths(paths) for source, paths in loaded.failed.items()}
    other = normal_paths(path for it in others for paths in it.failed.values() for path in paths)
    entries = loaded.entries
    for name, is_any, covering in (
        ("failed", any(own.values()), lambda source: own[source]),
        ("other_failed", bool(other), lambda _source: other),
    ):
        if is_any:
            # Executors need this file if it is imported as a module.
            spark.sparkContext.addPyFile(__file__)
        mark = covered(covering)("source", "path", "path_b64") if is_any else sf.lit(False)  # noqa: FBT003 (a value)
        entries = entries.withColumn(name, mark)
    return entries


def normal_paths(paths):
    """Returns paths in NFC: names in different normal forms count as the same."""
    return frozenset(normal(path) for path in paths)


def normal(path):
    """Returns a path in NFC. Bytes that are not UTF-8 stay as they are."""
    return unicodedata.normalize("NFC", path.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def covered(failures_of):
    """Returns a function of the columns `source`, `path` and `path_b64`, which runs on executors."""

    def is_covered(source, path, path_b64):
        failures = failures_of(source)
        whole = normal(base64.b64decode(path_b64) if path_b64 else path.encode())
        names = whole.split(b"/")
        return b"." in failures or any(b"/".join(names[:n]) in failures for n in range(1, len(names) + 1))

    return sf.udf(is_covered, "boolean")


class Parameters(typing.NamedTuple):
    """The row of the table `parameters`. An option that was not given is None."""

    since_ns: int | None = None
    name: str | None = None
    at_ns: int | None = None
    depth: int | None = None
    by_what: str | None = None


def ask(spark, question, locations, parameters=None, expected=None, algorithm=None, questions=QUESTIONS):
    """Returns the answer to a named question as a data frame, in the order of its file.

    `expected` is a CSV file with the column `path`, for the question `orphans`.
    """
    parameters = parameters or Parameters()
    sql = (pathlib.Path(questions) / f"{question}.sql").read_text(encoding="utf-8")
    loaded = [load(spark, location, algorithm) for location in locations]
    check_sets(question, sql, loaded)
    for it, location in zip(loaded, locations, strict=True):
        n_failed = sum(len(paths) for paths in it.failed.values())
        if n_failed:
            message = (
                f"{location}: {n_failed} paths could not be read when it was recorded: what is below them is unknown"
            )
            print(f"ftk_spark: {message}", file=sys.stderr)
    if is_two_sided(sql):
        register(spark, "a_", loaded[:1], loaded[1:])
        register(spark, "b_", loaded[1:], loaded[:1])
    else:
        register(spark, "", loaded)
    for parameter in ("since_ns", "at_ns", "depth", "by_what"):
        if f"p.{parameter}" in sql and getattr(parameters, parameter) is None:
            raise RefusedError(f"{question} needs --{parameter.replace('_', '-')}")
    table = "since_ns BIGINT, name STRING, at_ns BIGINT, depth BIGINT, by_what STRING"
    spark.createDataFrame([tuple(parameters)], table).createOrReplaceTempView("parameters")
    spark.range(100).withColumnRenamed("id", "level").createOrReplaceTempView("levels")
    if " expected " in sql:
        if expected is None:
            raise RefusedError(f"{question} needs --expected")
        # Names may have line ends and quotes.
        lines = spark.read.options(header=True, multiLine=True, escape='"')
        lines.csv(expected).createOrReplaceTempView("expected")
    for function, value in FUNCTIONS.items():
        spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {function} RETURN {value}")
    return spark.sql(sql)


def check_sets(question, sql, loaded):
    """Refuses sets that a question cannot be answered from."""
    if is_two_sided(sql):
        if len(loaded) < 2 or question in BY_PATH and len(loaded) > 2:
            raise RefusedError(f"{question} compares two sets")
        if question in BY_PATH and any(len(it.roots) != 1 for it in loaded):
            raise RefusedError(f"{question} compares two trees, but a set has several sources")
        if question not in BY_PATH:
            columns = "algorithm IS NOT NULL"
            algorithms = {row[0] for it in loaded for row in it.entries.where(columns).select("algorithm").take(1)}
            if len(algorithms) > 1:
                raise RefusedError(f"the sets have digests by different algorithms: {sorted(algorithms)}")
    else:
        is_history = " history" in sql
        sources = [(source, it.snapshots[source] if is_history else None) for it in loaded for source in it.roots]
        if is_history and any(snapshot is None for _, snapshot in sources):
            raise RefusedError(f"{question} needs sets with a snapshot: convert with --snapshot DATE")
        if len(set(sources)) < len(sources):
            raise RefusedError(f"two sets have the same source: {sorted(sources, key=str)}")
    if question == "duplicate-directories" and any(it.entries.where("shard IS NOT NULL").take(1) for it in loaded):
        raise RefusedError(
            "duplicate-directories needs merged manifests: shards lack the tree digests of what they share"
        )


def is_two_sided(sql):
    """Returns whether a question compares the first set with others."""
    return any(f"a_{table}" in sql for table in ("entries", "contents", "digests"))


# Reports


def report(spark, locations, file, algorithm=None, questions=QUESTIONS):
    """Writes the duplicates as a report for `ftk dup apply`, which proves every byte. Returns the number of groups.

    Names without inode or size are skipped: an action can only act on files that it can recognise.
    """
    loaded = [load(spark, location, algorithm) for location in locations]
    roots = dict(item for it in loaded for item in it.roots.items())
    if len(set(roots.values())) < sum(len(it.roots) for it in loaded):
        raise RefusedError("two sets have the same source or root: make a report for each host")
    known = "ino IS NOT NULL AND dev IS NOT NULL AND size_bytes IS NOT NULL"
    register(spark, "", [it._replace(entries=it.entries.where(known)) for it in loaded])
    spark.sql((pathlib.Path(questions) / "duplicates.sql").read_text(encoding="utf-8")).createOrReplaceTempView("names")
    prefixes = [
        (source, number, root if root.endswith(b"/") else root + b"/")
        for number, (source, root) in enumerate(roots.items())
    ]
    table = spark.createDataFrame(prefixes, "source STRING, root INT, prefix BINARY")
    table.createOrReplaceTempView("roots")
    members = spark.sql(
        """
        SELECT n.waste_bytes, n.algorithm, n.digest, n.size_bytes, r.root, e.fs, e.dev, e.ino, e.nlink,
            e.allocated_bytes, e.mtime_ns, e.ctime_ns,
            concat(r.prefix, IF(n.path_b64 = '', encode(n.path, 'UTF-8'), unbase64(n.path_b64))) AS whole
        FROM names n
        JOIN entries e ON e.source = n.source AND e.path = n.path AND e.path_b64 = n.path_b64
        JOIN roots r ON r.source = n.source
        """
    )
    first = "min(whole) OVER (PARTITION BY algorithm, digest)"
    rows = members.withColumn("first", sf.expr(first))
    rows = rows.orderBy(sf.desc("waste_bytes"), "first", "digest", "whole")
    return write_report(rows.toLocalIterator(), list(roots.values()), file)


def write_report(rows, roots, file):
    """Writes docs/dup-report.md. The file gets its name when it is complete. Returns the number of groups."""
    first = next(rows, None)
    algorithm = first.algorithm if first else "sha256"
    if algorithm not in REPORT_ALGORITHMS:
        raise RefusedError(f"a report cannot have digests by {algorithm}")
    header = {"ftk": "dup-report", "version": 1, "program": "ftk_spark", "algorithm": algorithm, "verified": False}
    header |= {"min_size_bytes": 1, "max_size_bytes": None, "start_ns": time.time_ns()}
    header |= {"roots": [name_member("path", root) for root in roots]}
    header |= {"arguments": [name_member("text", os.fsencode(argument)) for argument in sys.argv[1:]]}
    seal, n_lines, n_groups = hashlib.sha256(), 0, 0
    partial = f"{file}.partial"
    try:
        with open(partial, "wb") as out:
            for record in itertools.chain([header], group_lines(first, rows)):
                line = dump(record)
                seal.update(line)
                out.write(line)
                n_lines += 1
                n_groups = record.get("group", n_groups)
            out.write(dump({"footer": {"records": n_lines, "sha256": seal.hexdigest()}}))
            out.flush()
            os.fsync(out.fileno())
        os.replace(partial, file)
    finally:
        pathlib.Path(partial).unlink(missing_ok=True)
    return n_groups


def group_lines(first, rows):
    """Returns the lines of all groups. Only the members of one line are in memory."""
    number, digest, line, length = 0, None, None, 0
    for row in itertools.chain([first] if first else [], rows):
        if row.algorithm != first.algorithm:
            raise RefusedError(f"a report has one algorithm, but these sets have {first.algorithm} and {row.algorithm}")
        if row.digest != digest:
            number, digest, clusters = number + 1, row.digest, {}
        elif length < MAX_LINE_BYTES:
            length += add_member(line, row, clusters)
            continue
        if line:
            yield line
        line = {"group": number, "size_bytes": row.size_bytes, "digest": digest, "members": []}
        length = add_member(line, row, clusters)
    if line:
        yield line


def add_member(line, row, clusters):
    """Adds a name to its group, and returns about how many bytes it needs. Hard links share a cluster."""
    identity = (row.fs, row.ino) if row.fs else (row.root, row.dev, row.ino)
    member = {**name_member("path", bytes(row.whole)), "root": row.root}
    member["cluster"] = clusters.setdefault(identity, len(clusters))
    # Unsigned numbers keep their bits in BIGINT.
    member |= {"dev": row.dev % 2**64, "ino": row.ino % 2**64}
    for name in ("nlink", "allocated_bytes", "mtime_ns", "ctime_ns"):
        member[name] = getattr(row, name)
        if member[name] is None:
            raise RefusedError(f"the record of {bytes(row.whole)!r} has no {name}, which a report needs")
    line["members"].append(member)
    return len(dump(member))


def name_member(key, name):
    """Returns a name as the member `key`, or as `key`_b64 if it is not UTF-8."""
    try:
        return {key: name.decode()}
    except UnicodeDecodeError:
        return {f"{key}_b64": base64.b64encode(name).decode()}


def dump(record):
    """Returns a line. All characters that are not ASCII are escaped, so none of them acts on a terminal."""
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


# Command line


def arguments():
    """Returns the parsed command line."""
    parser = argparse.ArgumentParser(prog="ftk_spark.py", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("scan", help="record a tree, one part of the manifest for each task")
    command.add_argument("root", help="the tree, at the same path on all executors")
    command.add_argument("--shards", type=int, required=True, metavar="N", help="number of parts and tasks")
    command.add_argument("--parts", required=True, metavar="DIR", help="new directory that all executors can write to")
    command.add_argument("--plan", help="file of `ftk manifest plan --shards N`, at the same path on all executors")
    command.add_argument("--ftk", default="ftk", metavar="PROGRAM", help="ftk on the executors [default: ftk]")
    command.epilog = "What follows -- are options of `ftk manifest create`, such as -- --algorithm blake3 --cache."
    command = commands.add_parser("query", help="answer a question of `ftk query`")
    command.add_argument("question", help="the name of a file in crates/query/sql, without .sql")
    add_sets(command)
    command.add_argument("--since-ns", type=int, metavar="NS", help="the time for unverified-since and cold")
    command.add_argument("--at-ns", type=int, metavar="NS", help="the time from which by-age counts")
    command.add_argument("--name", help="the file name for versions-of")
    command.add_argument("--depth", type=int, metavar="N", help="the depth of directories for by-directory and trend")
    command.add_argument("--by-what", choices=["directory", "owner", "extension"], help="the rows of trend")
    command.add_argument("--expected", metavar="FILE", help="CSV with the column path, for orphans")
    command.add_argument("--limit", type=int, metavar="N", help="print or write the first N rows")
    command.add_argument("-o", "--output", metavar="DIR", help="write Parquet instead of printing JSON Lines")
    command = commands.add_parser("report", help="write the duplicates for `ftk dup apply`")
    add_sets(command)
    command.add_argument("-o", "--output", required=True, metavar="FILE", help="the report, on the driver's machine")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:end])
    args.options = words[end + 1 :]
    if args.options and args.command != "scan":
        parser.error("only scan has options after --")
    return args


def add_sets(command):
    """Adds the arguments that `query` and `report` share."""
    command.add_argument(
        "sets", nargs="+", help="directories of `ftk query convert`, or manifests (*.jsonl, *.jsonl.zst)"
    )
    command.add_argument("--algorithm", help="the digest to use from manifests [default: the first that all have]")
    command.add_argument("--questions", default=QUESTIONS, metavar="DIR", help="directory of the SQL files")


def run(spark, args):
    """Runs the command and returns the exit status of ftk: 0, or 2 if files could not be read or rows are unknown."""
    if args.command == "scan":
        errors = scan(spark, args.root, args.parts, args.shards, args.plan, args.ftk, args.options)
        sys.stderr.writelines(errors)
        return 2 if errors else 0
    if args.command == "report":
        n_groups = report(spark, args.sets, args.output, args.algorithm, args.questions)
        print(f"{n_groups} groups", file=sys.stderr)
        return 0
    parameters = Parameters(args.since_ns, args.name, args.at_ns, args.depth, args.by_what)
    whole = ask(spark, args.question, args.sets, parameters, args.expected, args.algorithm, args.questions)
    answer = whole if args.limit is None else whole.limit(args.limit)
    if args.output:
        answer.write.parquet(args.output)
    else:
        for row in answer.toLocalIterator():
            print(json.dumps(row.asDict()))
    # Rows beyond --limit count too.
    may_be_unknown = UNKNOWN.get(args.question)
    return 2 if may_be_unknown and whole.where(f"{may_be_unknown} = 'unknown'").take(1) else 0


def main():
    """Runs a command in the Spark session that spark-submit configures."""
    args = arguments()
    spark = SparkSession.builder.appName(f"ftk {args.command}").getOrCreate()
    try:
        return run(spark, args)
    except RefusedError as error:
        print(f"ftk_spark: {error}", file=sys.stderr)
        return 2
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main())
