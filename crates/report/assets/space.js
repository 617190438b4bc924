import { colouring } from "./colours.js";
import { bytes, count, counted, date, element, share } from "./text.js";
import { Tree } from "./tree.js";
import { Treemap } from "./treemap.js";

/** Rows of the table and of search results that are shown at once. */
const MAX_ROWS = 200;

/** Makes the tree of the data's columns. */
export function spaceTree(space) {
  const { name, parent, kind, allocated_bytes, apparent_bytes, files } = space;
  const measures = { allocated: allocated_bytes, apparent: apparent_bytes, files };
  return new Tree({ name, parent, isDir: (node) => kind[node] === "d", measures });
}

/** Fills the view of what uses the space. */
export function showSpace(view, space, now) {
  const tree = spaceTree(space);
  const part = (name) => view.querySelector(`[data-part="${name}"]`);
  let colours = colouring(space, "type", now);

  const describe = (node) =>
    [
      tree.path(node),
      `${bytes(space.allocated_bytes[node])} on disk`,
      `${bytes(space.apparent_bytes[node])} of content`,
      counted(space.files[node], "file"),
      space.newest_s[node] === null ? "" : `newest ${date(space.newest_s[node])}`,
    ]
      .filter(Boolean)
      .join(", ");

  const map = new Treemap(part("map"), tree, {
    colour: (node) => colours.of(node),
    zoomed: (node) => {
      part("crumbs").replaceChildren(...crumbs(tree, node, (to) => map.zoom(to)));
      part("rows").replaceChildren(...rows(node));
      part("status").textContent = describe(node);
    },
    chosen: (node) => {
      part("status").textContent = describe(node ?? map.root);
    },
  });

  const rows = (node) => {
    const children = tree.children(node);
    const shown = children.slice(0, MAX_ROWS).map((child) => row(child, node));
    if (children.length > MAX_ROWS) {
      const text = `and ${count(children.length - MAX_ROWS)} more`;
      shown.push(element("tr", {}, element("td", { colSpan: 5 }, text)));
    }
    return shown;
  };

  const row = (node, whole) => {
    const name = tree.isDir(node)
      ? element("button", { className: "link", onclick: () => enter(node) }, `${tree.name[node]}/`)
      : tree.name[node];
    const of = share(tree.size[node], tree.size[whole]);
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", {}, bytes(space.allocated_bytes[node])),
      element("td", {}, bytes(space.apparent_bytes[node])),
      element("td", {}, count(space.files[node])),
      element("td", {}, of),
    );
  };

  // The button that was pressed is gone after a zoom, so the focus goes to the map.
  const enter = (node) => {
    map.zoom(node);
    part("map").focus();
  };

  part("measure").addEventListener("change", ({ target }) => {
    tree.measureBy(target.value);
    map.zoom(map.root);
  });

  const colourBy = (by) => {
    colours = colouring(space, by, now);
    const keys = colours.legend.map(({ label, colour }) => {
      const swatch = element("span", { className: "swatch" });
      swatch.style.background = colour;
      return element("li", {}, swatch, label);
    });
    part("legend").replaceChildren(...keys);
    map.draw();
  };
  part("colour").addEventListener("change", ({ target }) => colourBy(target.value));

  part("search").addEventListener("input", ({ target }) => {
    const { total, nodes } = target.value ? tree.search(target.value, MAX_ROWS) : { total: 0, nodes: [] };
    map.found = new Set(nodes);
    const places = nodes.map((node) => {
      const to = tree.isDir(node) ? node : tree.parent[node];
      const text = `${tree.path(node)} (${bytes(space.allocated_bytes[node])})`;
      return element("li", {}, element("button", { className: "link", onclick: () => enter(to) }, text));
    });
    part("found").replaceChildren(...places);
    part("found-count").textContent = target.value ? `${count(total)} found` : "";
    map.draw();
  });

  colourBy("type");
  map.zoom(0);
}

/** Makes a list of buttons: the way from the root to a node. */
export function crumbs(tree, node, zoom) {
  const path = tree.ancestry(node);
  return path.map((at) => {
    const isHere = at === node;
    const name = tree.name[at];
    const here = isHere ? element("span", { "aria-current": "location" }, name) : undefined;
    return element("li", {}, here ?? element("button", { className: "link", onclick: () => zoom(at) }, name));
  });
}
