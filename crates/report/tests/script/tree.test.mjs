import assert from "node:assert/strict";
import { test } from "node:test";

import { spaceTree } from "../../assets/space.js";
import { layout, neighbour, tileAt } from "../../assets/treemap.js";

/** root: a (x 30, y 10), b 60; sizes as files are the reverse. */
const tree = () =>
  spaceTree({
    name: ["root", "a", "b", "x", "Y"],
    parent: [0, 0, 0, 1, 1],
    kind: ["d", "d", "f", "f", "f"],
    allocated_bytes: [100, 40, 60, 30, 10],
    apparent_bytes: ["9007199254740993", 1, 2, 3, 4],
    files: [3, 2, 1, 1, 1],
  });

test("children are sorted by the chosen size", () => {
  const it = tree();
  assert.deepEqual([it.children(0), it.children(1), it.children(2)], [[2, 1], [3, 4], []]);
  it.measureBy("files");
  assert.deepEqual(it.children(0), [1, 2]);
  it.measureBy("apparent");
  assert.equal(it.size[0], 2 ** 53);
  assert.deepEqual(it.children(1), [4, 3]);
});

test("paths lead from the root", () => {
  const it = tree();
  assert.deepEqual(it.ancestry(4), [0, 1, 4]);
  assert.deepEqual([it.path(4), it.path(0)], ["a/Y", "root"]);
});

test("a search ignores case and finds the largest first", () => {
  assert.deepEqual(tree().search("y", 10), { total: 1, nodes: [4] });
  assert.deepEqual(tree().search("", 2), { total: 5, nodes: [0, 2] });
});

test("a tile is found at each of its points", () => {
  const tiles = layout(tree(), 0, { x: 0, y: 0, w: 400, h: 300 });
  assert.equal(tiles.length, 4);
  for (const tile of tiles.filter(({ isDivided }) => !isDivided)) {
    assert.equal(tileAt(tiles, tile.x + tile.w / 2, tile.y + tile.h / 2), tile);
  }
  assert.equal(tileAt(tiles, 500, 10), undefined);
});

test("arrow keys go to the neighbour", () => {
  const tiles = layout(tree(), 0, { x: 0, y: 0, w: 400, h: 300 });
  const [b, a] = [tiles.find(({ node }) => node === 2), tiles.find(({ node }) => node === 1)];
  assert.equal(neighbour(tiles, b, "ArrowRight"), a);
  assert.equal(neighbour(tiles, a, "ArrowLeft"), b);
  assert.equal(neighbour(tiles, b, "ArrowUp"), b);
});
