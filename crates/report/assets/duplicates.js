import { Decisions } from "./decisions.js";
import { crumbs } from "./space.js";
import { bytes, count, counted, date, element } from "./text.js";
import { Tree } from "./tree.js";
import { Treemap } from "./treemap.js";

/** Groups that are shown at once. */
const GROUPS = 50;

/**
 * Makes the tree of directories in which duplicates lie. A directory's size is its share of what all but one file of
 * each group take.
 */
export function wasteTree(groups) {
  const name = ["duplicates"];
  const parent = [0];
  const size = [0];
  const below = [new Map()];
  const child = (node, step) => {
    let made = below[node].get(step);
    if (made === undefined) {
      made = name.push(step) - 1;
      parent.push(node);
      size.push(0);
      below.push(new Map());
      below[node].set(step, made);
    }
    return made;
  };
  for (const { files, waste_bytes } of groups) {
    const part = Number(waste_bytes) / files.length;
    for (const { names } of files) {
      let node = 0;
      size[0] += part;
      for (const step of names[0].split("/").slice(0, -1)) {
        node = child(node, step || "/");
        size[node] += part;
      }
    }
  }
  return new Tree({ name, parent, isDir: (node) => below[node].size > 0, measures: { waste: size } });
}

/** Fills the view of duplicates, in which the reader decides what to keep. */
export function showDuplicates(view, duplicates, title) {
  const { groups } = duplicates;
  const decisions = new Decisions(duplicates);
  const part = (name) => view.querySelector(`[data-part="${name}"]`);
  let shown = GROUPS;

  part("summary").textContent =
    `${counted(duplicates.total_groups, "group")} of equal files; ` +
    `all but one file of each take ${bytes(duplicates.total_waste_bytes)}.` +
    (duplicates.total_groups > groups.length
      ? ` This page has ${count(groups.length)} of them: those that waste most, as far as they fit.`
      : "");

  const tree = wasteTree(groups);
  const map = new Treemap(part("map"), tree, {
    colour: () => "#f5a962",
    zoomed: (node) => {
      part("crumbs").replaceChildren(...crumbs(tree, node, (to) => map.zoom(to)));
      part("status").textContent = `${tree.path(node)}: ${bytes(tree.size[node])}`;
    },
    chosen: (node) => {
      const at = node ?? map.root;
      part("status").textContent = `${tree.path(at)}: ${bytes(tree.size[at])}`;
    },
  });

  const wanted = () => {
    const text = part("filter").value.toLowerCase();
    const has = ({ files }) => files.some(({ names }) => names.some((name) => name.toLowerCase().includes(text)));
    return Array.from(groups.keys()).filter((group) => !text || has(groups[group]));
  };

  const list = () => {
    const all = wanted();
    part("groups").replaceChildren(...all.slice(0, shown).map(group));
    part("more").hidden = all.length <= shown;
    part("filter-count").textContent = `${counted(all.length, "group")}`;
    total();
  };

  const group = (number) => {
    const { size_bytes, waste_bytes, files } = groups[number];
    const legend = `${count(files.length)} files of ${bytes(size_bytes)}: ${bytes(waste_bytes)} wasted`;
    const fieldset = element("fieldset", { className: "group" }, element("legend", {}, legend));
    const mark = () => {
      for (const label of fieldset.querySelectorAll("label")) {
        const isKept = label.querySelector("input").checked;
        label.classList.toggle("dropped", decisions.kept.has(number) && !isKept);
      }
    };
    files.forEach(({ names, mtime_s }, file) => {
      const box = element("input", { type: "checkbox", checked: decisions.isKept(number, file) });
      box.addEventListener("change", () => {
        decisions.set(number, file, box.checked);
        mark();
        total();
      });
      const text = element("span", { className: "name" }, names.join(" = "));
      fieldset.append(element("label", {}, box, text, element("small", {}, date(mtime_s))));
    });
    mark();
    return fieldset;
  };

  const total = () => {
    const { groups: decided, files, bytes: size } = decisions.totals();
    part("totals").textContent =
      decided === 0
        ? "Nothing is decided. Tick the files to keep; groups without a tick stay as they are."
        : `${counted(decided, "group")} decided: ${counted(files, "file")} to remove, ${bytes(size)}.`;
    part("save").disabled = decided === 0;
  };

  part("filter").addEventListener("input", () => {
    shown = GROUPS;
    list();
  });
  part("more").addEventListener("click", () => {
    shown += GROUPS;
    list();
  });
  part("rule").addEventListener("submit", (event) => {
    event.preventDefault();
    const folder = part("folder").value;
    const changed = folder ? decisions.keepUnder(folder) : 0;
    part("rule-result").textContent = `${counted(changed, "group")} decided by this rule.`;
    list();
  });
  part("clear").addEventListener("click", () => {
    decisions.clear();
    list();
  });
  part("save").addEventListener("click", () => save(decisions.text(), `${title}.decisions.jsonl`));

  list();
  map.zoom(commonDirectory(tree));
}

/** Returns the innermost directory that contains everything. */
export function commonDirectory(tree) {
  let node = 0;
  for (;;) {
    const [child] = tree.children(node);
    if (child === undefined || !tree.isDir(child) || tree.size[child] < tree.size[node]) {
      return node;
    }
    node = child;
  }
}

/** Lets the browser save a text as a file. */
function save(text, name) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  element("a", { href: url, download: name }).click();
  // The browser reads the text after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
