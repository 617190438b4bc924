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


def convert(file, directory):
    """Makes a set from a manifest."""
    run(FTK_QUERY, "convert", file, "--output", directory, "--quiet")
    return directory


def ask_spark(spark, question, sets, **parameters):
    """Returns the names of the columns and the rows."""
    answer = ftk_spark.ask(spark, question, [str(location) for location in sets], **parameters)
    return answer.columns, [tuple(row) for row in answer.collect()]


def views():
    """Returns the statements of docs/lake.md that make the tables of DuckDB from the files of sets."""
    text = (ROOT / "docs" / "lake.md").read_text(encoding="utf-8")
    return re.search(r"^```sql duckdb\n(.*?)^```$", text, re.M | re.S)[1].split("\n.read ")[0]


def ask_duckdb(question, sets, since_ns=None, name=None, at_ns=None):
    """Returns the names of the columns and the rows."""
    sql = (QUESTIONS / f"{question}.sql").read_text(encoding="utf-8")
    connection = duckdb.connect()
    sides = {"a_": sets[:1], "b_": sets[1:]} if ftk_spark.is_two_sided(sql) else {"": sets}
    for prefix, directories in sides.items():
        script = re.sub(r"(CREATE VIEW |FROM )(entries|contents|digests)\b", rf"\1{prefix}\2", views())
        for table in ("entries", "digests"):
            files = [f"{directory}/{table}-*.parquet" for directory in directories]
            script = script.replace(f"'lake/*/{table}-*.parquet'", str(files))
        for statement in script.split(";"):
            if prefix != "b_" or "parameters" not in statement:
                connection.execute(statement)
    connection.execute("UPDATE parameters SET since_ns = ?, name = ?, at_ns = ?", [since_ns, name, at_ns])
    answer = connection.execute(sql)
    return [column[0] for column in answer.description], answer.fetchall()


def ask_datafusion(question, sets, since=None, name=None, at=None):
    """Returns the names of the columns and the rows that `ftk-query` prints."""
    given = {"--since": since, "--name": name, "--at": at}
    options = [word for option, value in given.items() if value is not None for word in (option, value)]
    command = [FTK_QUERY, question, *sets, *options, "--quiet", "--format"]
    columns = run(*command, "csv", "--limit", "0").decode().strip().split(",")
    rows = [json.loads(line) for line in run(*command, "json").splitlines()]
    for row in rows:
        assert set(row) <= set(columns), (question, row, columns)
    return columns, [tuple(row.get(column) for column in columns) for row in rows]
