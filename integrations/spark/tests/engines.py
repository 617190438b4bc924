"""Three engines that answer the same question over the same sets."""

import functools
import json
import os
import pathlib
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


def ask_duckdb(question, sets, since_ns=None, name=None):
    """Returns the names of the columns and the rows. The tables are plain views of the files."""
    sql = (QUESTIONS / f"{question}.sql").read_text(encoding="utf-8")
    connection = duckdb.connect()
    for table in ("entries", "contents"):
        views = {table: sets}
        if ftk_spark.is_two_sided(sql):
            views = {f"a_{table}": sets[:1], f"b_{table}": sets[1:]}
        for view, directories in views.items():
            files = [f"{directory}/{table}-*.parquet" for directory in directories]
            connection.execute(f"CREATE VIEW {view} AS SELECT * FROM read_parquet({files}, union_by_name = true)")
    connection.execute("CREATE TABLE parameters (since_ns BIGINT, name STRING)")
    connection.execute("INSERT INTO parameters VALUES (?, ?)", [since_ns, name])
    answer = connection.execute(sql)
    return [column[0] for column in answer.description], answer.fetchall()


def ask_datafusion(question, sets, since=None, name=None):
    """Returns the names of the columns and the rows that `ftk-query` prints."""
    options = [
        word for key, value in (("--since", since), ("--name", name)) if value is not None for word in (key, value)
    ]
    command = [FTK_QUERY, question, *sets, *options, "--quiet", "--format"]
    columns = run(*command, "csv", "--limit", "0").decode().strip().split(",")
    rows = [json.loads(line) for line in run(*command, "json").splitlines()]
    for row in rows:
        assert set(row) <= set(columns), (question, row, columns)
    return columns, [tuple(row.get(column) for column in columns) for row in rows]
