// Colours of tiles. All keep black text readable at a contrast of at least 4.5 (WCAG 2.1, 1.4.3).

/** Colours that stay apart for the colour-blind (Okabe and Ito, 2008; lighter where text would be hard to read). */
const DISTINCT = ["#e69f00", "#56b4e9", "#33b88f", "#f0e442", "#6ea8d8", "#e8875a", "#d99abf", "#b5c7a3", "#c9b18b"];
const OTHER = "#bdbdbd";

/** From recent to old. */
const AGES = [
  { label: "under a week", days: 7, colour: "#fde725" },
  { label: "under a month", days: 30, colour: "#b5de2b" },
  { label: "under a year", days: 365, colour: "#6ece58" },
  { label: "under 3 years", days: 3 * 365, colour: "#4cc5a5" },
  { label: "under 10 years", days: 3652, colour: "#7fb6d6" },
  { label: "older", days: Number.POSITIVE_INFINITY, colour: "#b9a5d6" },
];

/** From none to all of a tile's bytes. */
const WASTE = [
  { label: "no duplicates", part: 0, colour: "#bdbdbd" },
  { label: "under a tenth", part: 0.1, colour: "#f6d8a8" },
  { label: "under a half", part: 0.5, colour: "#f5a962" },
  { label: "half or more", part: Number.POSITIVE_INFINITY, colour: "#ef8573" },
];

/**
 * Returns what the colours of a tree mean, and the colour of a node.
 *
 * @param {object} space - the columns of the data
 * @param {"type"|"owner"|"age"|"waste"} by
 * @param {number} now - seconds since 1970
 * @returns {{legend: {label: string, colour: string}[], of: (node: number) => string}}
 */
export function colouring(space, by, now) {
  if (by === "age") {
    const band = (node) => AGES.findIndex(({ days }) => now - Number(space.newest_s[node]) < days * 86400);
    return { legend: AGES, of: (node) => AGES[band(node)].colour };
  }
  if (by === "waste") {
    const part = (node) => Number(space.waste_bytes[node]) / Math.max(Number(space.apparent_bytes[node]), 1);
    const band = (node) => (part(node) > 0 ? WASTE.find((it) => part(node) < it.part) : WASTE[0]);
    return { legend: WASTE, of: (node) => band(node).colour };
  }
  const [names, column] = by === "owner" ? [space.owners, space.owner] : [space.types, space.type];
  const common = mostBytes(column, space.apparent_bytes, space.kind).slice(0, DISTINCT.length);
  const colours = new Map(common.map((value, at) => [value, DISTINCT[at]]));
  const legend = common.map((value) => ({ label: names[value], colour: colours.get(value) }));
  return {
    legend: [...legend, { label: "other", colour: OTHER }],
    of: (node) => colours.get(column[node]) ?? OTHER,
  };
}

/** Returns the values of files in a column, those with the most bytes first. */
function mostBytes(column, sizes, kinds) {
  const sums = new Map();
  column.forEach((value, node) => {
    if (kinds[node] !== "d") {
      sums.set(value, (sums.get(value) ?? 0) + Number(sizes[node]));
    }
  });
  return Array.from(sums)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .map(([value]) => value);
}
