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
TABLES = {"entries": ftk_spark.ENTRIES, "contents": ftk_spark.CONTENTS}
TYPES = {"athena": {"STRING": "string", "INT64": "bigint"}, "trino": {"STRING": "varchar", "INT64": "bigint"}}


def documented(table):
    """Returns the columns of a table in docs/parquet.md that every set has, with their types."""
    section = PARQUET.read_text(encoding="utf-8").split(f"\n## {table}\n")[1].split("\n## ")[0]
    columns = []
    for names, of_type in re.findall(r"^\| (`[^|]*) \| (\w+) \|", section, re.M):
        if "..." not in names:
            columns += [(name, of_type) for name in re.findall(r"`(\w+)`", names)]
    return columns


def blocks(language):
    """Returns the code of docs/lake.md in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", LAKE.read_text(encoding="utf-8"), re.M | re.S)


class DocumentsTest(unittest.TestCase):
    def test_ddl_has_the_columns_of_the_files(self):
        """The tables of Athena and Trino have the documented columns in their order."""
        for language, types in TYPES.items():
            (ddl,) = blocks(f"sql {language}")
            for table in TABLES:
                found = re.search(rf"TABLE (?:hive\.lake\.)?{table} \(\n(.*?)\n\)", ddl, re.S)
                columns = [tuple(column.split()) for column in re.split(r",\s+", found[1].strip())]
                expected = [(name, types[of_type]) for name, of_type in documented(table)]
                if language == "trino":
                    expected.append(("snapshot", "varchar"))
                self.assertEqual(columns, expected, f"{language}, {table}")

    def test_files_have_the_documented_columns(self):
        """DuckDB finds the documented columns and types in a set, and the program for Spark names the same."""
        types = {"VARCHAR": "STRING", "BIGINT": "INT64"}
        with tempfile.TemporaryDirectory() as directory:
            manifest = generate.manifests(pathlib.Path(directory), 200)["old"]
            location = engines.convert(manifest, pathlib.Path(directory) / "set")
            for table, columns in TABLES.items():
                rows = duckdb.sql(f"DESCRIBE SELECT * FROM '{location}/{table}-*.parquet'").fetchall()
                self.assertEqual([(row[0], types[row[1]]) for row in rows], documented(table))
                self.assertEqual([row[0] for row in rows], columns)

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
