"""docs/lake.md: its commands run, and its tables have the columns of the Parquet files."""

import os
import pathlib
import re
import tempfile
import unittest

import duckdb

import engines
import ftk_spark
import generate
from test_cluster import make_tree

LAKE = engines.ROOT / "docs" / "lake.md"
PARQUET = engines.ROOT / "docs" / "parquet.md"
TABLES = {"contents": ftk_spark.CONTENTS, "digests": ftk_spark.DIGESTS}
TABLES |= dict.fromkeys(("entries", "history"), ftk_spark.ENTRIES)
TYPES = {
    "athena": {"STRING": "string", "INT64": "bigint", "BYTES": "binary"},
    "trino": {"STRING": "varchar", "INT64": "bigint", "BYTES": "varbinary"},
    "duckdb": {"STRING": "VARCHAR", "INT64": "BIGINT", "BYTES": "BLOB"},
}


def documented():
    """Returns the columns of `entries` in docs/parquet.md that every set has, with their types."""
    section = PARQUET.read_text(encoding="utf-8").split("\n## entries\n")[1].split("\n## ")[0]
    columns = []
    for names, of_type in re.findall(r"^\| (`[^|]*) \| (\w+) \|", section, re.M):
        if "..." not in names:
            columns += [(name, of_type) for name in re.findall(r"`(\w+)`", names)]
    return columns


def columns_of_files(table):
    """Returns the columns of the files of a table, with their types."""
    columns = []
    for name, of_type in documented():
        if table == "entries" or name in ftk_spark.DIGESTS:
            columns.append((name, "BYTES" if name in ("digest", "tree") else of_type))
        if (table, name) == ("entries", "ctime_ns"):
            columns.append(("ctime_after_ns", of_type))
    return columns if table == "entries" else sorted(columns, key=lambda column: ftk_spark.DIGESTS.index(column[0]))


def blocks(language):
    """Returns the code of docs/lake.md in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", LAKE.read_text(encoding="utf-8"), re.M | re.S)


class DocumentsTest(unittest.TestCase):
    def test_ddl_has_the_columns_of_the_files(self):
        """The tables of Athena and Trino have the documented columns in their order."""
        for language in ("athena", "trino"):
            (ddl,) = blocks(f"sql {language}")
            for table, name in (("entries", "entry_files"), ("digests", "digest_files")):
                found = re.search(rf"TABLE (?:hive\.lake\.)?{name} \(\n(.*?)\n\)", ddl, re.S)
                columns = [tuple(column.split()) for column in re.split(r",\s+", found[1].strip())]
                expected = [(column, TYPES[language][of_type]) for column, of_type in columns_of_files(table)]
                if language == "trino":
                    expected.append(('"set"', "varchar"))
                self.assertEqual(columns, expected, f"{language}, {table}")

    def test_files_and_views_have_the_documented_columns(self):
        """DuckDB finds the documented columns and types in a set, and the views of all engines have the same rows."""
        names = [name for name, _ in documented()]
        self.assertEqual(names, ftk_spark.ENTRIES)
        with tempfile.TemporaryDirectory() as directory:
            manifest = generate.manifests(pathlib.Path(directory), 400)["old"]
            location = engines.convert(manifest, pathlib.Path(directory) / "set")
            connections = [duckdb.connect(), duckdb.connect()]
            scripts = [engines.views([location]), blocks("sql views")[0].replace("element_at(", "list_extract(")]
            for table in ("entries", "digests"):
                files = f"'{location}/{table}-*.parquet'"
                rows = duckdb.sql(f"DESCRIBE SELECT * FROM {files}").fetchall()
                expected = [(column, TYPES["duckdb"][of_type]) for column, of_type in columns_of_files(table)]
                self.assertEqual([row[:2] for row in rows], expected)
                name = {"entries": "entry_files", "digests": "digest_files"}[table]
                connections[1].execute(f"CREATE VIEW {name} AS SELECT *, 'today' AS \"set\" FROM {files}")
            for connection, script in zip(connections, scripts, strict=True):
                connection.execute(script)
            for table, columns in TABLES.items():
                select = f"SELECT {', '.join(columns)} FROM {table} ORDER BY ALL"
                one, other = (connection.execute(select).fetchall() for connection in connections)
                self.assertTrue(one)
                self.assertEqual(one, other, table)
                described = connections[0].execute(f"DESCRIBE {table}").fetchall()
                self.assertEqual([row[0] for row in described], columns)

    def test_ten_commands(self):
        """The commands for ten disks run, and those for a cluster are as many."""
        disks, cluster = blocks("sh")[:2]
        for block in (disks, cluster):
            lines = block.replace("\\\n", "").splitlines()
            self.assertEqual(len([line for line in lines if not line.startswith("#")]), 10, block)
        with tempfile.TemporaryDirectory() as directory:
            for disk in ("disk1", "disk2"):
                make_tree(pathlib.Path(directory) / "mnt" / disk)
            programs = pathlib.Path(directory) / "bin"
            programs.mkdir()
            for name, program in (("ftk", engines.FTK), ("ftk-query", engines.FTK_QUERY)):
                (programs / name).symlink_to(pathlib.Path(program).resolve())
            (pathlib.Path(directory) / "lake").mkdir()
            environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": directory}
            script = "set -eu\n" + disks.replace("/mnt/", f"{directory}/mnt/")
            output = engines.run("sh", "-c", script, cwd=directory, env=environment).decode(errors="replace")
            self.assertIn("  link  ", output)
            self.assertTrue((pathlib.Path(directory) / "report.jsonl").exists())


if __name__ == "__main__":
    unittest.main()
