import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { sha256 } from "../../assets/sha256.js";

const expected = (text) => createHash("sha256").update(text, "utf8").digest("hex");

test("every length around the ends of blocks", () => {
  for (let length = 0; length <= 200; length += 1) {
    const text = "x".repeat(length);
    assert.equal(sha256(text), expected(text), `${length}`);
  }
});

test("texts beyond ASCII, and long ones", () => {
  for (const text of ["ä".repeat(100), "\u{1f600}\0\u202e\n", "abc\n".repeat(100_000)]) {
    assert.equal(sha256(text), expected(text));
  }
});
