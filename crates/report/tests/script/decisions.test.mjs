import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { Decisions } from "../../assets/decisions.js";
import { commonDirectory, wasteTree } from "../../assets/duplicates.js";

const group = (number, size, ...files) => ({
  size_bytes: size,
  waste_bytes: size,
  files: files.map((names) => ({ names: [names].flat(), mtime_s: 0 })),
  line: `{"group":${number},"mtime_ns":1751371200000000001}`,
});
const duplicates = {
  header: '{"ftk":"dup-decisions"}',
  groups: [
    group(1, "9007199254740993", "/a/x", ["/b/x", "/c/x"], "/bb/x"),
    group(2, 10, "/a/y", "/d/y"),
    group(3, 5, "/d/z", "/e/z"),
  ],
};

test("a group without a tick has no decision", () => {
  const decisions = new Decisions(duplicates);
  decisions.set(1, 0, true);
  assert.deepEqual(decisions.totals(), { groups: 1, files: 1, bytes: 10n });
  decisions.set(1, 0, false);
  assert.deepEqual(decisions.totals(), { groups: 0, files: 0, bytes: 0n });
  assert.equal(decisions.isKept(1, 0), false);
});

test("a rule keeps all files under a folder, by any of their names", () => {
  const decisions = new Decisions(duplicates);
  decisions.set(0, 0, true);
  assert.equal(decisions.keepUnder("/c"), 1);
  assert.deepEqual(
    [0, 1, 2].map((file) => decisions.isKept(0, file)),
    [false, true, false],
  );
  assert.equal(decisions.keepUnder("/b/"), 1);
  assert.deepEqual(
    [0, 1, 2].map((file) => decisions.isKept(0, file)),
    [false, true, false],
  );
  assert.equal(decisions.keepUnder("/none"), 0);
  assert.deepEqual(decisions.totals(), { groups: 1, files: 2, bytes: 2n * 9007199254740993n });
});

test("the file has the report's lines as they are, and a footer", () => {
  const decisions = new Decisions(duplicates);
  decisions.set(2, 1, true);
  decisions.set(0, 2, true);
  decisions.set(0, 0, true);
  const lines = decisions.text().split("\n");
  assert.deepEqual(lines.slice(0, 3), [
    duplicates.header,
    '{"keep":[0,2],"group":1,"mtime_ns":1751371200000000001}',
    '{"keep":[1],"group":3,"mtime_ns":1751371200000000001}',
  ]);
  const body = `${lines.slice(0, 3).join("\n")}\n`;
  const sha256 = createHash("sha256").update(body).digest("hex");
  assert.deepEqual(lines.slice(3), [JSON.stringify({ footer: { records: 3, sha256 } }), ""]);
});

test("waste is shared by the directories of a group", () => {
  const tree = wasteTree([group(1, 30, "/a/b/x", "/c/x"), group(2, 10, "y", "/c/y")]);
  const sizes = Object.fromEntries(Array.from(tree.name.keys(), (node) => [tree.path(node), tree.size[node]]));
  assert.equal(commonDirectory(tree), 0);
  assert.equal(tree.path(commonDirectory(wasteTree([group(1, 30, "/a/b/x", "/a/c/x")]))), "//a");
  assert.deepEqual(sizes, { duplicates: 40, "/": 35, "//a": 15, "//a/b": 15, "//c": 20 });
});
