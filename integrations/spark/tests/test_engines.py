"""DataFusion, Spark and DuckDB return the same rows for every question."""

import base64
import os
import pathlib
import re
import tempfile
import unittest

import engines
import ftk_spark
import generate
from test_cluster import groups_of, make_tree

# Entries of all generated manifests together. CI has little time; 200000 finds more before a release.
N_ENTRIES = int(os.environ.get("FTK_SPARK_ENTRIES", "20000"))
# The time of `generate.START_NS`, as `--since` takes it.
SINCE = "2025-10-09T08:53:20.000000002Z"


class EnginesTest(unittest.TestCase):
    """All tests share the generated sets."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.spark = engines.local_session()
        cls.manifests = generate.manifests(cls.directory, N_ENTRIES)
        cls.sets = {
            name: engines.convert(file, cls.directory / name, *generate.SNAPSHOTS.get(name, []))
            for name, file in cls.manifests.items()
        }
        cls.sets["bucket"] = engines.convert(generate.inventory(cls.directory), cls.directory / "bucket")
        cls.expected = cls.directory / "expected.csv"
        generate.expected(cls.manifests["new"], cls.expected)

    def test_every_question(self):
        """The rows are the same in the same order, and there are some."""
        one_sided = [self.sets[name] for name in ("new", "imported", "unread", "bucket")]
        two_sided = [self.sets["old"], self.sets["new"]]
        for question in engines.NAMES:
            with self.subTest(question):
                sql = (engines.QUESTIONS / f"{question}.sql").read_text(encoding="utf-8")
                is_about_two = ftk_spark.is_two_sided(sql) or question == "trend"
                sets = two_sided if is_about_two else one_sided
                given = {"since_ns": generate.START_NS + 1, "at_ns": generate.START_NS + 1, "depth": 2}
                given = {name: value for name, value in given.items() if f"p.{name}" in sql}
                for by_what in ("directory", "owner", "extension") if question == "trend" else (None,):
                    parameters = ftk_spark.Parameters(**given, by_what=by_what)
                    self.check(question, sets, parameters, self.expected if question == "orphans" else None)

    def test_what_could_not_be_read_is_unknown(self):
        """Nothing at or below a failure is called new, removed or missing."""
        sets = [self.sets[name] for name in ("old", "holey")]
        rows = self.check("changed", sets, status=2)
        below = [row for row in rows if generate.is_below_failure(row[1].encode() or base64.b64decode(row[2]))]
        self.assertEqual({row[0] for row in below if None in (row[3], row[4])}, {"unknown"})
        self.assertGreater(len(below), len(generate.FAILED))
        self.assertLess({"unknown", "added", "removed"} & {row[0] for row in rows}, {row[0] for row in rows})
        rows = self.check("growth", sets, status=2)
        below = [row for row in rows if generate.is_below_failure(row[6].encode() or base64.b64decode(row[7]))]
        self.assertEqual({row[0] for row in below}, {"unknown"})
        self.assertLess({"unknown"}, {row[0] for row in rows})
        for by_what in ("directory", "owner", "extension"):
            parameters = ftk_spark.Parameters(depth=2, by_what=by_what)
            rows = self.check("trend", sets, parameters, status=2)
            self.assertLess({"unknown"}, {row[0] for row in rows})
        rows = self.check("missing-in", sets, status=2)
        self.assertEqual({row[0] for row in rows}, {"unknown"})
        rows = self.check("missing-in", [*reversed(sets), self.sets["new"]], status=2)
        self.assertEqual(([row[0] for row in rows], len(rows)), (["unknown"] * len(rows), len(generate.FAILED)))

    def check(self, question, sets, parameters=None, expected=None, status=0):
        """Compares the answers of all engines and returns the rows."""
        columns, rows = engines.ask_duckdb(question, sets, parameters, expected)
        self.assertTrue(rows, question)
        options = ["--expected", expected] if expected else []
        words = {"since_ns": "--since", "name": "--name", "at_ns": "--at", "depth": "--depth", "by_what": "--by"}
        for name, value in (parameters._asdict() if parameters else {}).items():
            if value is not None:
                options += [words[name], SINCE if name.endswith("_ns") else str(value)]
        answers = {
            "Spark": engines.ask_spark(self.spark, question, sets, parameters, expected),
            "DataFusion": engines.ask_datafusion(question, sets, options, status),
        }
        for engine, (its_columns, its_rows) in answers.items():
            self.assertEqual(its_columns, columns, engine)
            self.assertEqual(len(its_rows), len(rows), engine)
            for its_row, row in zip(its_rows, rows, strict=True):
                self.assertEqual(its_row, row, engine)
        self.check_comment(question, columns)
        return rows

    def check_comment(self, question, columns):
        """The comment of a question lists its columns in their order, on lines with an indent of three blanks."""
        comment = (engines.QUESTIONS / f"{question}.sql").read_text(encoding="utf-8").split("-- Columns:")[1]
        lists = re.match(r"(.*)\n((?:--.*\n)*)", comment)
        names = [lists[1], *re.findall(r"^--   (\w+(?:, \w+)*,?)(?:   |$)", lists[2], re.M)]
        self.assertEqual(re.findall(r"\w+", " ".join(names)), columns, question)

    def test_a_name_with_quotes_is_a_value(self):
        """A parameter is never a part of the SQL."""
        sets = [self.sets["new"]]
        name = next(row[1] for row in engines.ask_duckdb("versions-of", sets)[1] if "'" in row[1])
        rows = self.check("versions-of", sets, ftk_spark.Parameters(name=name))
        self.assertEqual({row[1] for row in rows}, {name})

    def test_manifests_without_conversion(self):
        """Spark reads JSON Lines into the same rows as `ftk query convert` writes."""
        for name, file in self.manifests.items():
            with self.subTest(name):
                of_lines = ftk_spark.load(self.spark, str(file))
                of_set = ftk_spark.load(self.spark, str(self.sets[name]))
                self.check_same(of_lines, of_set)

    def check_same(self, of_lines, of_set):
        """The rows are the same, but for their numbers, which only files have."""
        one, other = (it.entries.drop("row_id", "snapshot") for it in (of_lines, of_set))
        self.assertEqual(one.exceptAll(other).take(1), [])
        self.assertEqual(other.exceptAll(one).take(1), [])
        for it in (of_lines, of_set):
            self.assertEqual(it.entries.count(), it.entries.select("source", "row_id").distinct().count())
        self.assertEqual((of_lines.roots, of_lines.failed), (of_set.roots, of_set.failed))

    def test_shards_without_conversion(self):
        """Spark reads the parts of a manifest into the same rows as `ftk query convert` writes."""
        make_tree(self.directory / "sharded")
        parts = self.directory / "parts"
        parts.mkdir()
        for k in (1, 2, 3):
            file = parts / f"part-{k}.jsonl"
            engines.run(engines.FTK, "manifest", "create", "--shard", f"{k}/3", self.directory / "sharded", "-o", file)
        of_lines = ftk_spark.load(self.spark, str(parts / "*.jsonl"))
        location = engines.convert(parts, self.directory / "of-parts")
        of_set = ftk_spark.load(self.spark, str(location))
        self.check_same(of_lines, of_set)
        shards = {row[0] for row in of_set.entries.select("shard").distinct().collect()}
        self.assertEqual(shards, {"1/3", "2/3", "3/3"})
        with self.assertRaisesRegex(ftk_spark.RefusedError, "needs merged"):
            ftk_spark.ask(self.spark, "duplicate-directories", [str(location)])

    def test_duplicates_are_those_of_ftk_dup(self):
        """The groups of a real tree are those that `ftk dup` finds."""
        tree = self.directory / "tree"
        make_tree(tree)
        manifest = self.directory / "tree.jsonl"
        engines.run(engines.FTK, "manifest", "create", tree, "-o", manifest)
        real = engines.convert(manifest, self.directory / "real")
        groups = {}
        for row in self.check("duplicates", [real]):
            _waste, _files, _size, _algorithm, digest, source, path, path_b64 = row
            root = (source + "/").encode()
            whole = root + (path.encode() or generate.base64.b64decode(path_b64))
            groups.setdefault(digest, set()).update(generate.name_member("path", whole).values())
        expected = groups_of(engines.run(engines.FTK, "dup", "-a", "sha256", "--json", tree))
        self.assertGreater(len(expected), 4)
        self.assertEqual(groups, expected)
        for report in (self.report_of_spark(real), self.report_of_datafusion(real)):
            self.assertEqual(groups_of(report.read_bytes()), expected)
            engines.run(engines.FTK, "dup", "apply", report, "--action", "hardlink")

    def report_of_spark(self, directory):
        """Returns a report."""
        file = self.directory / "spark.jsonl"
        ftk_spark.report(self.spark, [str(directory)], str(file))
        return file

    def report_of_datafusion(self, directory):
        """Returns a report."""
        file = self.directory / "datafusion.jsonl"
        engines.run(engines.FTK_QUERY, "duplicates", directory, "--quiet", "--output", file)
        return file

    def test_long_groups_continue_on_the_next_line(self):
        """A group that does not fit in a line has several lines with one number."""
        row = self.spark.createDataFrame([("sha256", "00", 1, 0, None, 1, 1, 1, 512, 0, 0, b"/a")], ROW).collect()[0]
        limit, ftk_spark.MAX_LINE_BYTES = ftk_spark.MAX_LINE_BYTES, 200
        try:
            lines = list(ftk_spark.group_lines(row, iter([row] * 4)))
        finally:
            ftk_spark.MAX_LINE_BYTES = limit
        self.assertEqual([line["group"] for line in lines], [1, 1, 1])
        self.assertEqual(sum(len(line["members"]) for line in lines), 5)


ROW = """
    algorithm STRING, digest STRING, size_bytes BIGINT, root INT, fs STRING, dev BIGINT, ino BIGINT, nlink BIGINT,
    allocated_bytes BIGINT, mtime_ns BIGINT, ctime_ns BIGINT, whole BINARY
"""


class RefusalTest(unittest.TestCase):
    """Incomplete inputs are errors and never answers."""

    @classmethod
    def setUpClass(cls):
        cls.spark = engines.local_session()

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def refuses(self, *locations, question="zero-size"):
        """Asserts that no question is answered."""
        with self.assertRaises(ftk_spark.RefusedError) as raised:
            ftk_spark.ask(self.spark, question, [str(location) for location in locations])
        return str(raised.exception)

    def test_manifests(self):
        """A manifest lost its last lines, or one from the middle."""
        file = generate.manifests(self.directory, 200)["old"]
        lines = file.read_bytes().splitlines(keepends=True)
        for name, kept in (("cut", lines[:-1]), ("holey", lines[:5] + lines[6:]), ("headless", lines[1:])):
            damaged = self.directory / f"{name}.jsonl"
            damaged.write_bytes(b"".join(kept))
            self.assertIn("not a complete manifest", self.refuses(damaged))
        twice = self.directory / "twice.jsonl"
        twice.write_bytes(file.read_bytes())
        self.assertIn("same source", self.refuses(file, twice))

    def test_shards(self):
        """A shard is missing, or there twice, or shards stand for a whole tree whose digests they lack."""
        make_tree(self.directory / "tree")
        parts = self.directory / "parts"
        parts.mkdir()
        for k in (1, 2, 3):
            file = parts / f"part-{k}.jsonl"
            engines.run(engines.FTK, "manifest", "create", "--shard", f"{k}/3", self.directory / "tree", "-o", file)
        self.assertIn("needs merged", self.refuses(parts / "*.jsonl", question="duplicate-directories"))
        (parts / "part-2.jsonl").rename(parts / "part-2")
        self.assertIn("exactly once", self.refuses(parts / "*.jsonl"))
        (parts / "part-2.jsonl").write_bytes((parts / "part-1.jsonl").read_bytes())
        self.assertIn("exactly once", self.refuses(parts / "*.jsonl"))

    def test_sets(self):
        """A file of a set is replaced, or its seal is cut off."""
        manifests = generate.manifests(self.directory, 400)
        one, other = (engines.convert(manifests[name], self.directory / name) for name in ("old", "new"))
        entries = next(one.glob("entries-*"))
        entries.write_bytes(next(other.glob("entries-*")).read_bytes())
        self.assertIn("other rows", self.refuses(one))
        seal = other / "_set.jsonl"
        seal.write_bytes(seal.read_bytes().splitlines(keepends=True)[0])
        self.assertIn("not complete", self.refuses(other))

    def test_scan(self):
        """Parts of two scans do not mix, and parts are not scanned."""
        (self.directory / "parts").mkdir()
        (self.directory / "parts" / "old").touch()
        for root in (self.directory / "tree", self.directory):
            with self.assertRaises(ftk_spark.RefusedError):
                ftk_spark.scan(self.spark, str(root), str(self.directory / "parts"), 2)

    def test_unreadable_files_are_reported(self):
        """A part that lacks a file is complete otherwise, and the error reaches the driver."""
        file = self.directory / "part-1-of-1.jsonl"
        script = self.directory / "ftk"
        script.write_text("#!/bin/sh\nfor file; do :; done\ntouch \"$file\"\necho 'cannot open x' >&2\nexit 2\n")
        script.chmod(0o755)
        arguments = {"root": "tree", "parts": str(self.directory), "n_shards": 1}
        message = ftk_spark.create_part(1, [str(script), "manifest", "create"], **arguments)
        self.assertIn("cannot open x", message)
        self.assertTrue(file.exists())
        script.write_text("#!/bin/sh\nexit 2\n")
        file.unlink()
        with self.assertRaises(RuntimeError):
            ftk_spark.create_part(1, [str(script), "manifest", "create"], **arguments)


if __name__ == "__main__":
    unittest.main()
