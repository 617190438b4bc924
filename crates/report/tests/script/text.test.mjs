import assert from "node:assert/strict";
import { test } from "node:test";

import { bytes, count, counted, date, share, signed } from "../../assets/text.js";

test("bytes have three digits and decimal units", () => {
  const shown = [0, 999, 1000, 1_234, 9_994, 9_996, 99_949, 99_960, 999_499, 999_600, 1e15].map(bytes);
  const expected = [
    "0 B",
    "999 B",
    "1.00 kB",
    "1.23 kB",
    "9.99 kB",
    "10.0 kB",
    "99.9 kB",
    "100 kB",
    "999 kB",
    "1.00 MB",
  ];
  assert.deepEqual(shown, [...expected, "1.00 PB"]);
  assert.equal(bytes("36893488147419103232"), "36.9 EB");
});

test("counts are exact beyond 2^53", () => {
  assert.equal(count("18446744073709551616"), "18,446,744,073,709,551,616");
  assert.equal(count(999), "999");
  assert.deepEqual(
    [0, 1, 2].map((n) => counted(n, "file")),
    ["0 files", "1 file", "2 files"],
  );
});

test("changes have a sign", () => {
  assert.deepEqual(
    [-1234, 0, "18446744073709551616"].map((n) => signed(n, count)),
    ["-1,234", "0", "+18,446,744,073,709,551,616"],
  );
  assert.equal(signed("-36893488147419103232", bytes), "-36.9 EB");
});

test("a part of nothing is 0 %", () => {
  assert.equal(share(1, 8), "12.5 %");
  assert.equal(share(0, 0), "0.0 %");
});

test("times that no calendar has are shown as numbers", () => {
  assert.match(date(1_700_000_000), /^2023-11-1[45]$/);
  assert.match(date(-1), /^19(69-12-31|70-01-01)$/);
  assert.equal(date("9223372036854775807"), "9223372036854775807 s");
});
