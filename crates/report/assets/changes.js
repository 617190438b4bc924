import { bytes, count, element, signed } from "./text.js";

/** Rows that are shown at once. */
const MAX_CHANGES = 200;

/** Fills the view of what differs between two manifests. */
export function showChanges(view, changes) {
  const part = (name) => view.querySelector(`[data-part="${name}"]`);
  const { counts, dirs, rows } = changes;

  const kinds = Object.keys(counts).filter((kind) => BigInt(counts[kind]) > 0n);
  part("summary").textContent =
    kinds.length > 0
      ? kinds.map((kind) => `${count(counts[kind])} ${kind}`).join(", ")
      : "The two manifests record the same.";

  const grown = changes.grown ?? [];
  part("grown").replaceChildren(
    ...grown.map((dir) => {
      const disk = dir.allocated_bytes_change;
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, dir.path),
        element("td", {}, disk === null ? "" : signed(disk, bytes)),
        element("td", {}, signed(dir.apparent_bytes_change, bytes)),
        element("td", {}, signed(dir.files_change, count)),
      );
    }),
  );
  part("grown-note").textContent = grownNote(changes.grown);

  const head = ["directory", ...kinds].map((text) => element("th", { scope: "col" }, text));
  part("dirs-head").replaceChildren(element("tr", {}, ...head));
  part("dirs").replaceChildren(
    ...dirs.slice(0, MAX_CHANGES).map((dir) => {
      const cells = kinds.map((kind) => element("td", {}, dir[kind] ? count(dir[kind]) : ""));
      return element("tr", {}, element("th", { scope: "row" }, dir.path), ...cells);
    }),
  );
  const hidden = Number(changes.total_dirs) - Math.min(dirs.length, MAX_CHANGES);
  part("dirs-more").textContent = hidden > 0 ? `and ${count(hidden)} more` : "";

  for (const kind of kinds) {
    part("kind").append(element("option", { value: kind }, kind));
  }
  const list = () => {
    const text = part("filter").value.toLowerCase();
    const kind = part("kind").value;
    const has = (row) => row.path.toLowerCase().includes(text) && (!kind || row.kind === kind);
    const found = rows.filter(has);
    part("rows").replaceChildren(...found.slice(0, MAX_CHANGES).map(line));
    const more = found.length - Math.min(found.length, MAX_CHANGES);
    const omitted = Number(changes.omitted_rows);
    part("rows-more").textContent = [
      more > 0 ? `and ${count(more)} more` : "",
      omitted > 0 ? `${count(omitted)} smaller changes are not on this page` : "",
    ]
      .filter(Boolean)
      .join("; ");
  };
  const line = ({ kind, path, from, old_bytes, new_bytes }) =>
    element(
      "tr",
      { className: kind },
      element("td", { className: "word" }, kind),
      element("th", { scope: "row" }, from ? `${from} → ${path}` : path),
      element("td", {}, old_bytes === null ? "" : bytes(old_bytes)),
      element("td", {}, new_bytes === null ? "" : bytes(new_bytes)),
    );
  part("filter").addEventListener("input", list);
  part("kind").addEventListener("change", list);
  list();
}

function grownNote(grown) {
  if (grown === null) {
    return "The sizes of directories cannot be compared: ftk du --since says why.";
  }
  if (grown.length === 0) {
    return "No directory grew or shrank.";
  }
  return "The largest changes, each of a directory with all that is in it.";
}
