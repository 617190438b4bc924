"""A scan on a standalone cluster that loses a worker."""

import json
import pathlib
import random
import tempfile
import unittest

from cluster import Cluster, wait_for
from engines import FTK, ROOT, run

PROGRAM = ROOT / "integrations" / "spark" / "ftk_spark.py"
N_SHARDS = 12
# The first run of ftk fails. Each shard takes some seconds, so that a kill hits one.
FAILS_ONCE = """#!/bin/sh
if mkdir '{mark}' 2>/dev/null; then
    echo 'the first run fails' >&2
    exit 2
fi
exec '{ftk}' "$@"
"""


def make_tree(root):
    """Writes files with odd names, hard links and duplicates in many directories."""
    rng = random.Random(21)
    names = [b"plain", b"new\nline", b"\xff", b"quote'\"", "é".encode(), b"-rf"]
    for number in range(40):
        directory = root / f"directory {number}"
        directory.mkdir(parents=True)
        for name in names:
            path = bytes(directory) + b"/" + name
            with open(path, "wb") as file:
                file.write(rng.randbytes(10_000) if rng.random() < 0.7 else b"%d" % rng.randrange(5) * 10_000)
        (directory / "link").hardlink_to(directory / "plain")
        (directory / "empty").touch()
        (directory / "symlink").symlink_to("plain")


def groups_of(report):
    """Returns the groups of a report as sets of paths."""
    lines = [json.loads(line) for line in report.splitlines()]
    groups = {}
    for line in lines[1:-1]:
        paths = groups.setdefault(line["digest"], set())
        paths |= {member.get("path", member.get("path_b64")) for member in line["members"]}
    return groups


class ClusterTest(unittest.TestCase):
    """One cluster and one scan serve all checks: starting them takes most of the time."""

    def test_killed_worker(self):
        with tempfile.TemporaryDirectory() as directory:
            self.directory = pathlib.Path(directory)
            self.tree = self.directory / "tree"
            make_tree(self.tree)
            with Cluster(self.directory) as cluster:
                self.scan(cluster)
                self.check_parts()
                self.check_report(cluster)

    def scan(self, cluster):
        """Kills a worker while it runs ftk, and waits for the end of the job."""
        mark, ftk = self.directory / "failed", self.directory / "ftk-once"
        ftk.write_text(FAILS_ONCE.format(mark=mark, ftk=pathlib.Path(FTK).resolve()))
        ftk.chmod(0o755)
        parts = self.directory / "parts"
        options = ["--shards", N_SHARDS, "--parts", parts, "--ftk", ftk, "--", "--limit-rate", "60K"]
        driver = cluster.submit("scan", PROGRAM, "scan", self.tree, *map(str, options))
        victim = cluster.workers[0]

        def is_reading():
            # /proc has the first 15 characters.
            return pathlib.Path(FTK).name[:15] in victim.processes().values()

        def is_half_done():
            self.assertIsNone(driver.process.poll(), driver.output())
            return 1 <= len(list(parts.glob("*.jsonl"))) < N_SHARDS - 3 and is_reading()

        wait_for("a part, and a run of ftk on the first worker", 120, is_half_done)
        victim.kill()
        self.assertEqual(driver.wait(180), 0, driver.output())
        log = driver.output()
        self.assertIn("Lost executor", log)
        self.assertIn("the first run fails", log)
        self.assertTrue(mark.exists())

    def check_parts(self):
        """All parts are there and are together what one run records."""
        parts = sorted((self.directory / "parts").iterdir())
        self.assertEqual(len(parts), N_SHARDS, parts)
        merged = self.directory / "merged.jsonl"
        run(FTK, "manifest", "merge", *parts, "-o", merged)
        run(FTK, "manifest", "verify", self.tree, merged)
        whole = self.directory / "whole.jsonl"
        run(FTK, "manifest", "create", self.tree, "-o", whole)
        self.assertEqual(entries_of(merged), entries_of(whole))

    def check_report(self, cluster):
        """The remaining worker answers from the parts, and `ftk dup apply` accepts the answer."""
        report = self.directory / "report.jsonl"
        driver = cluster.submit("report", PROGRAM, "report", self.directory / "parts" / "*.jsonl", "-o", report)
        self.assertEqual(driver.wait(180), 0, driver.output())
        expected = groups_of(run(FTK, "dup", "-a", "sha256", "--json", self.tree))
        self.assertGreater(len(expected), 4)
        self.assertEqual(groups_of(report.read_bytes()), expected)
        run(FTK, "dup", "apply", report, "--action", "hardlink", "--yes")
        self.assertEqual(groups_of(run(FTK, "dup", "-a", "sha256", "--json", self.tree)), {})


def entries_of(manifest):
    """Returns the lines of a manifest without header and footer."""
    return manifest.read_bytes().splitlines()[1:-1]


if __name__ == "__main__":
    unittest.main()
