import { Decisions } from "./decisions.js";
import { crumbs } from "./space.js";
import { bytes, count, counted, date, element } from "./text.js";
import { Tree } from "./tree.js";
import { Treemap } from "./treemap.js";

/** Groups that are shown at once. */
const GROUPS = 50;

/**
 * Makes the tree of directories in which duplicates lie. A directory's size is its share of what all but one copy of
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
  for (const { kind, copies, waste_bytes } of groups) {
    const part = Number(waste_bytes) / copies.length;
    for (const { names } of copies) {
      let node = 0;
      size[0] += part;
      const steps = names[0].split("/");
      for (const step of kind === "directory" ? steps : steps.slice(0, -1)) {
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

  const omitted = BigInt(duplicates.omitted_groups);
  part("summary").textContent =
    `${counted(duplicates.total_groups, "group")} of equal files or directories. ` +
    `All but one copy of each take ${bytes(duplicates.total_waste_bytes)}.` +
    (duplicates.freed_bytes === null
      ? ""
      : ` To delete them would free ${duplicates.is_upper_bound ? "up to " : ""}${bytes(duplicates.freed_bytes)}.`) +
    (omitted > 0n
      ? ` Not on this page: ${counted(omitted, "smaller group")}, which take ${bytes(duplicates.omitted_waste_bytes)} of that.`
      : "");

  const tree = wasteTree(groups);
  const label = (node) => (node === 0 ? tree.name[0] : placeOf(tree, node) || "/");
  const describe = (node) => {
    part("status").textContent = `${label(node)}: ${bytes(tree.size[node])}`;
  };
  const map = new Treemap(part("map"), tree, {
    colour: () => "#f5a962",
    zoomed: (node) => {
      part("crumbs").replaceChildren(...crumbs(tree, node, (to) => map.zoom(to)));
      describe(node);
      shown = GROUPS;
      list();
    },
    chosen: (node) => describe(node ?? map.root),
  });

  // The list has what the map shows.
  const wanted = () => {
    const text = part("filter").value.toLowerCase();
    const place = placeOf(tree, map.root);
    const has = (name) => isIn(name, place) && name.toLowerCase().includes(text);
    return Array.from(groups.keys()).filter((group) => groups[group].copies.some(({ names }) => names.some(has)));
  };

  const list = () => {
    const all = wanted();
    part("groups").replaceChildren(...all.slice(0, shown).map(group));
    part("more").hidden = all.length <= shown;
    part("filter-count").textContent = `${counted(all.length, "group")} in ${label(map.root)}`;
    total();
  };

  const group = (number) => {
    const { kind, size_bytes, waste_bytes, copies, same_names } = groups[number];
    const isDirectory = kind === "directory";
    const what = isDirectory ? "directories" : "files";
    const each = isDirectory ? ` with ${counted(groups[number].files, "file")}` : "";
    const title = element("strong", {}, `${bytes(waste_bytes)} wasted`);
    const facts = `: ${count(copies.length)} ${what} of ${bytes(size_bytes)}${each}`;
    const fieldset = element("fieldset", { className: "group" }, element("legend", {}, title, facts));
    const mark = () => {
      for (const label of fieldset.querySelectorAll("label")) {
        const isKept = label.querySelector("input").checked;
        label.classList.toggle("dropped", decisions.kept.has(number) && !isKept);
      }
    };
    copies.forEach(({ names, mtime_s }, copy) => {
      const box = element("input", {
        type: "checkbox",
        checked: decisions.isKept(number, copy),
        disabled: !same_names,
      });
      box.addEventListener("change", () => {
        decisions.set(number, copy, box.checked);
        mark();
        total();
      });
      const text = element("span", { className: "name" }, isDirectory ? `${names[0]}/` : names.join(" = "));
      fieldset.append(element("label", {}, box, text, element("small", {}, date(mtime_s))));
    });
    if (!same_names) {
      fieldset.append(
        element("p", { className: "soft" }, "The names in these directories differ: compare them yourself."),
      );
    }
    mark();
    return fieldset;
  };

  const total = () => {
    const { groups: decided, files, directories, bytes: size } = decisions.totals();
    const conflict = decisions.conflict();
    const gone = [
      files > 0 || directories === 0 ? counted(files, "file") : "",
      directories === 1 ? "1 directory" : directories > 1 ? `${count(directories)} directories` : "",
    ];
    const text =
      decided === 0
        ? "Nothing is decided. Tick the copies to keep; groups without a tick stay as they are."
        : `${counted(decided, "group")} decided: ${gone.filter(Boolean).join(" and ")} to remove, ${bytes(size)}.`;
    part("totals").textContent = conflict
      ? `${conflict.name} is ticked, but ${conflict.directory}/ around it is not: tick both or neither.`
      : text;
    part("totals").classList.toggle("bad", conflict !== null);
    part("save").disabled = decided === 0 || conflict !== null;
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

  map.zoom(commonDirectory(tree));
}

/** Returns the path of a directory as it begins the names in it, and null for the root, in which every name is. */
export function placeOf(tree, node) {
  const steps = tree.ancestry(node).slice(1);
  return steps.length > 0 ? steps.map((at) => (tree.name[at] === "/" ? "" : tree.name[at])).join("/") : null;
}

/** Returns whether a name is that of a directory, or is in it. */
export function isIn(name, place) {
  return place === null || name === place || name.startsWith(`${place}/`);
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
