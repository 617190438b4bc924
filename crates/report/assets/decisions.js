import { sha256 } from "./sha256.js";

/**
 * What the reader decided to keep. Each group has copies: files or directories. A file has one or more names (hard
 * links), so a decision is about files and not about names. A group without a decision stays as it is.
 */
export class Decisions {
  /** @param {{header: string, groups: {kind: string, line: string, size_bytes: number, copies: object[]}[]}} duplicates */
  constructor(duplicates) {
    this.duplicates = duplicates;
    /** The numbers of the copies to keep, for each group that has a decision. */
    this.kept = new Map();
  }

  /** Keeps or no longer keeps a copy. A group in which no copy is kept has no decision. */
  set(group, copy, isKept) {
    const kept = this.kept.get(group) ?? new Set();
    if (isKept) {
      kept.add(copy);
    } else {
      kept.delete(copy);
    }
    if (kept.size > 0) {
      this.kept.set(group, kept);
    } else {
      this.kept.delete(group);
    }
  }

  isKept(group, copy) {
    return this.kept.get(group)?.has(copy) ?? false;
  }

  /**
   * Keeps every copy that has a name under a folder, in all groups that have such a copy. Returns the number of these
   * groups.
   */
  keepUnder(folder) {
    const prefix = withSlash(folder);
    let changed = 0;
    this.duplicates.groups.forEach(({ copies, same_names }, group) => {
      const isUnder = (name) => withSlash(name).startsWith(prefix) && name.startsWith("/") === folder.startsWith("/");
      const under = Array.from(copies.keys()).filter((copy) => copies[copy].names.some(isUnder));
      if (under.length > 0 && same_names) {
        this.kept.set(group, new Set(under));
        changed += 1;
      }
    });
    return changed;
  }

  clear() {
    this.kept.clear();
  }

  /** Returns the paths of directories that have a decision, as a map to whether they are kept. */
  directories() {
    const decided = new Map();
    for (const [group, kept] of this.kept) {
      const { kind, copies } = this.duplicates.groups[group];
      if (kind === "directory") {
        copies.forEach(({ names }, copy) => {
          decided.set(names[0], kept.has(copy));
        });
      }
    }
    return decided;
  }

  /** Returns the first thing to keep inside a directory that is not kept: both cannot be done. */
  conflict() {
    const decided = this.directories();
    for (const [group, kept] of this.kept) {
      for (const copy of kept) {
        for (const name of this.duplicates.groups[group].copies[copy].names) {
          const outer = above(name).find((path) => decided.get(path) === false);
          if (outer !== undefined) {
            return { name, directory: outer };
          }
        }
      }
    }
    return null;
  }

  /**
   * Returns the number of groups with a decision, and what is to be removed: files, directories and bytes. What is inside
   * a directory that has a decision follows that decision.
   */
  totals() {
    const decided = this.directories();
    const totals = { groups: this.kept.size, files: 0, directories: 0, bytes: 0n };
    for (const [group, kept] of this.kept) {
      const { kind, size_bytes, copies } = this.duplicates.groups[group];
      copies.forEach(({ names }, copy) => {
        const isFree = names.some((name) => !above(name).some((path) => decided.has(path)));
        if (isFree && !kept.has(copy)) {
          totals[kind === "directory" ? "directories" : "files"] += 1;
          totals.bytes += BigInt(size_bytes);
        }
      });
    }
    return totals;
  }

  /**
   * Returns the decisions as `ftk dup apply` reads them: the lines of the report with the numbers of the copies to keep,
   * and a footer with the digest of all lines. Directories come first. The lines are copied as text, because numbers in
   * them exceed 2^53.
   */
  text() {
    const { header, groups } = this.duplicates;
    const isFile = (group) => groups[group].kind !== "directory";
    const decided = Array.from(this.kept.keys()).sort((a, b) => isFile(a) - isFile(b) || a - b);
    const lines = decided.map((group) => {
      const kept = Array.from(this.kept.get(group)).sort((a, b) => a - b);
      return `{"keep":[${kept.join(",")}],${groups[group].line.slice(1)}\n`;
    });
    const body = [`${header}\n`, ...lines].join("");
    return `${body}{"footer":{"records":${lines.length + 1},"sha256":"${sha256(body)}"}}\n`;
  }
}

/** Returns a path with one slash after each name, and without `.`: `./a//b` is `a/b/`. */
function withSlash(path) {
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  return (path.startsWith("/") ? "/" : "") + steps.map((step) => `${step}/`).join("");
}

/** Returns the paths of the directories above a path. */
function above(path) {
  const paths = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    paths.push(path.slice(0, at));
  }
  return paths;
}
