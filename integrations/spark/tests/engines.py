"""Three engines that answer the same question over the same sets."""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys

import duckdb
from pyspark.sql import SparkSession

ROOT = pathlib.Path(__file__).resolve().parents[3]
QUESTIONS = ROOT / "crates" / "query" / "sql"
sys.path.insert(0, str(ROOT / "integrations" / "spark"))

import ftk_spark  # noqa: E402 (the path is set above)

FTK = os.environ.get("FTK", "ftk")
FTK_QUERY = os.environ.get("FTK_QUERY", "ftk-query")
NAMES = sorted(file.stem for file in QUESTIONS.glob("*.sql"))


def run(*command, status=0, **options):
    """Runs a program and returns its standard output. Any other exit status is an error."""
    done = subprocess.run([os.fspath(word) for word in command], capture_output=True, check=False, **options)
    if done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


@functools.cache
def local_session():
    """Returns the Spark session that all tests share. It listens on the loopback address only."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": 2,
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
    }
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def convert(file, directory, *options):
    """Makes a set from a manifest."""
    run(FTK_QUERY, "convert", file, "--output", directory, "--quiet", *options)
    return directory


def ask_spark(spark, question, sets, parameters=None, expected=None):
    """Returns the names of the columns and the rows."""
    locations = [str(location) for location in sets]
    answer = ftk_spark.ask(spark, question, locations, parameters, expected and str(expected))
    return answer.columns, [tuple(row) for row in answer.collect()]


def views(sets=None, kind="duckdb"):
    """Returns the statements of docs/lake.md that make the tables of DuckDB from the files of sets."""
    text = (ROOT / "docs" / "lake.md").read_text(encoding="utf-8")
    script = re.search(rf"^```sql {kind}\n(.*?)^```$", text, re.M | re.S)[1].split("\n.read ")[0]
    for name in ("entries-*.parquet", "digests-*.parquet", "_set.jsonl") if sets else ():
        script = script.replace(f"'lake/*/{name}'", str([f"{directory}/{name}" for directory in sets]))
    return script


def ask_duckdb(question, sets, parameters=None, expected=None):
    """Returns the names of the columns and the rows. The sets of two sides have different snapshots."""
    sql = (QUESTIONS / f"{question}.sql").read_text(encoding="utf-8")
    connection = duckdb.connect()
    connection.execute(views(sets))
    if ftk_spark.is_two_sided(sql):
        snapshots = [snapshot_of(directory) for directory in sets]
        script = views(kind="duckdb sides").replace("= '2026-09-01'", f"= '{snapshots[0]}'")
        connection.execute(script.replace("= '2026-10-01'", f"IN {(*snapshots[1:], '')}"))
    if expected:
        options = "all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"'"
        connection.execute(f"CREATE VIEW expected AS SELECT * FROM read_csv('{expected}', {options})")
    row = parameters or ftk_spark.Parameters()
    connection.execute(f"UPDATE parameters SET {', '.join(f'{name} = ?' for name in row._fields)}", list(row))
    answer = connection.execute(sql)
    return [column[0] for column in answer.description], answer.fetchall()


def snapshot_of(directory):
    """Returns the date of a set that has one tree."""
    with open(f"{directory}/_set.jsonl", encoding="utf-8") as seal:
        return json.loads(seal.readline())["sources"][0]["snapshot"]


def ask_datafusion(question, sets, options=(), status=0):
    """Returns the names of the columns and the rows that `ftk-query` prints."""
    command = [FTK_QUERY, question, *sets, *options, "--quiet", "--format"]
    columns = run(*command, "csv", "--limit", "0", status=status).decode().strip().split(",")
    rows = [json.loads(line) for line in run(*command, "json", status=status).splitlines()]
    for row in rows:
        assert set(row) <= set(columns), (question, row, columns)
    return columns, [tuple(row.get(column) for column in columns) for row in rows]
