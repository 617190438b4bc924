import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { Decisions } from "../../assets/decisions.js";
import { commonDirectory, isIn, placeOf, wasteTree } from "../../assets/duplicates.js";

const group = (number, size, ...copies) => ({
  kind: "file",
  size_bytes: size,
  waste_bytes: size,
  files: 1,
  same_names: true,
  copies: copies.map((names) => ({ names: [names].flat(), mtime_s: 0 })),
  line: `{"group":${number},"mtime_ns":1751371200000000001}`,
});
const directories = (number, size, ...paths) => ({
  ...group(number, size, ...paths),
  kind: "directory",
  files: 7,
  line: `{"directories":${number},"mtime_ns":1751371200000000001}`,
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
  assert.deepEqual(decisions.totals(), { groups: 1, files: 1, directories: 0, bytes: 10n });
  decisions.set(1, 0, false);
  assert.deepEqual(decisions.totals(), { groups: 0, files: 0, directories: 0, bytes: 0n });
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
  assert.deepEqual(decisions.totals(), {
    groups: 1,
    files: 2,
    directories: 0,
    bytes: 2n * 9007199254740993n,
  });
});

test("a rule accepts every spelling of a folder", () => {
  const names = ["./archive/a/x", "archive/a", "archive//b/x", "./archived/x", "/archive/a/x", "x"];
  const groups = names.map((name, number) => group(number, 1, name, `other${number}`));
  const keptUnder = (folder) => {
    const decisions = new Decisions({ header: "", groups });
    decisions.keepUnder(folder);
    return names.filter((_, number) => decisions.isKept(number, 0)).join(" ");
  };
  for (const folder of ["archive", "./archive", "archive/", "./archive//", ".//archive/."]) {
    assert.equal(keptUnder(folder), "./archive/a/x archive/a archive//b/x", folder);
  }
  for (const folder of ["archive/a", "./archive/a/"]) {
    assert.equal(keptUnder(folder), "./archive/a/x archive/a", folder);
  }
  assert.equal(keptUnder("/archive/"), "/archive/a/x");
  assert.equal(keptUnder("/"), "/archive/a/x");
  assert.equal(keptUnder("."), names.filter((name) => name !== "/archive/a/x").join(" "));
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

test("directories come first in the file, and decide about what is in them", () => {
  const decisions = new Decisions({
    header: duplicates.header,
    groups: [
      group(1, 20, "/a/x", "/z/x"),
      directories(1, 15, "/a", "/b"),
      group(2, 10, "/a/y", "/z/y"),
      directories(2, 5, "/b/c", "/d"),
      { ...directories(3, 5, "/e", "/f"), same_names: false },
    ],
  });
  decisions.set(0, 1, true);
  decisions.set(1, 0, true);
  // `/a/x` stays with `/a`.
  assert.deepEqual(decisions.totals(), { groups: 2, files: 0, directories: 1, bytes: 15n });
  assert.equal(decisions.conflict(), null);
  const records = decisions.text().split("\n").slice(1, 3);
  assert.deepEqual(
    records.map((line) => line.slice(0, 27)),
    ['{"keep":[0],"directories":1', '{"keep":[1],"group":1,"mtim'],
  );
  // `/b` goes, so nothing in it can be kept.
  decisions.set(3, 0, true);
  assert.deepEqual(decisions.conflict(), { name: "/b/c", directory: "/b" });
  decisions.set(1, 1, true);
  assert.equal(decisions.conflict(), null);
  decisions.clear();
  assert.equal(decisions.keepUnder("/b"), 2);
  assert.equal(decisions.isKept(1, 1), true);
  assert.equal(decisions.keepUnder("/e"), 0);
});

test("waste is shared by the directories of a group", () => {
  const tree = wasteTree([group(1, 30, "/a/b/x", "/c/x"), group(2, 10, "y", "/c/y")]);
  const sizes = Object.fromEntries(Array.from(tree.name.keys(), (node) => [tree.path(node), tree.size[node]]));
  assert.equal(commonDirectory(tree), 0);
  assert.equal(tree.path(commonDirectory(wasteTree([group(1, 30, "/a/b/x", "/a/c/x")]))), "//a");
  assert.deepEqual(sizes, { duplicates: 40, "/": 35, "//a": 15, "//a/b": 15, "//c": 20 });
  const places = Array.from(tree.name.keys(), (node) => placeOf(tree, node));
  assert.deepEqual(places, [null, "", "/a", "/a/b", "/c"]);
  assert.deepEqual(
    places.map((place) => ["/a/b/x", "/a/b", "/a/bb", "y"].filter((name) => isIn(name, place)).length),
    [4, 3, 3, 2, 0],
  );
  const copies = wasteTree([directories(1, 30, "/a/b", "/c")]);
  assert.equal(copies.path(2), "//a");
  assert.equal(copies.path(3), "//a/b");
});
