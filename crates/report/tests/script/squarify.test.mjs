import assert from "node:assert/strict";
import { test } from "node:test";

import { squarify } from "../../assets/squarify.js";

const area = { x: 10, y: 20, w: 600, h: 400 };

/** Numbers that are the same in every run (Park and Miller, 1988). */
function random(seed) {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

test("the example of the paper", () => {
  const rectangles = squarify([6, 6, 4, 3, 2, 2, 1], { x: 0, y: 0, w: 6, h: 4 });
  const rounded = rectangles.map(({ x, y, w, h }) => [x, y, w, h].map((n) => Number(n.toFixed(2))));
  assert.deepEqual(rounded.slice(0, 4), [
    [0, 0, 3, 2],
    [0, 2, 3, 2],
    [3, 0, 1.71, 2.33],
    [4.71, 0, 1.29, 2.33],
  ]);
});

test("areas are in proportion, inside, and do not overlap", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const next = random(seed);
    const values = Array.from({ length: 1 + Math.floor(next() * 40) }, () => next() ** 4 * 1e9);
    values.sort((a, b) => b - a);
    const sum = values.reduce((a, b) => a + b, 0);
    const rectangles = squarify(values, area);
    rectangles.forEach(({ x, y, w, h }, at) => {
      const wanted = (values[at] / sum) * area.w * area.h;
      assert.ok(Math.abs(w * h - wanted) < 1e-6 * area.w * area.h, `${seed}: ${w * h} is not ${wanted}`);
      assert.ok(x > area.x - 1e-6 && y > area.y - 1e-6);
      assert.ok(x + w < area.x + area.w + 1e-6 && y + h < area.y + area.h + 1e-6);
      for (const other of rectangles.slice(at + 1)) {
        const overlapX = Math.min(x + w, other.x + other.w) - Math.max(x, other.x);
        const overlapY = Math.min(y + h, other.y + other.h) - Math.max(y, other.y);
        assert.ok(overlapX < 1e-6 || overlapY < 1e-6, `${seed}`);
      }
    });
  }
});

test("values without size get no area", () => {
  const rectangles = squarify([5, 0, 0], area);
  assert.deepEqual(rectangles[0], area);
  assert.deepEqual(
    rectangles.slice(1).map(({ w, h }) => w * h),
    [0, 0],
  );
  assert.deepEqual(squarify([], area), []);
  assert.deepEqual(
    squarify([0], area).map(({ w, h }) => [w, h]),
    [[0, 0]],
  );
  assert.equal(squarify([1], { x: 0, y: 0, w: 0, h: 5 }).length, 1);
});

test("a million values are divided", () => {
  const rectangles = squarify(new Array(1_000_000).fill(1), area);
  assert.equal(rectangles.length, 1_000_000);
  assert.ok(rectangles.every(({ w, h }) => Number.isFinite(w) && w > 0 && h > 0));
});
