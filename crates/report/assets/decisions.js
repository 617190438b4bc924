import { sha256 } from "./sha256.js";

/**
 * What the reader decided to keep. Each group has files, and each file one or more names (hard links), so a decision is
 * about files. A group without a decision stays as it is.
 */
export class Decisions {
  /** @param {{header: string, groups: {line: string, waste_bytes: number, size_bytes: number, files: object[]}[]}} duplicates */
  constructor(duplicates) {
    this.duplicates = duplicates;
    /** The numbers of the files to keep, for each group that has a decision. */
    this.kept = new Map();
  }

  /** Keeps or no longer keeps a file. A group in which no file is kept has no decision. */
  set(group, file, isKept) {
    const kept = this.kept.get(group) ?? new Set();
    if (isKept) {
      kept.add(file);
    } else {
      kept.delete(file);
    }
    if (kept.size > 0) {
      this.kept.set(group, kept);
    } else {
      this.kept.delete(group);
    }
  }

  isKept(group, file) {
    return this.kept.get(group)?.has(file) ?? false;
  }

  /**
   * Keeps every file that has a name under a folder, in all groups that have such a file. Returns the number of these
   * groups.
   */
  keepUnder(folder) {
    const prefix = folder.endsWith("/") ? folder : `${folder}/`;
    let changed = 0;
    this.duplicates.groups.forEach(({ files }, group) => {
      const under = Array.from(files.keys()).filter((file) =>
        files[file].names.some((name) => name.startsWith(prefix)),
      );
      if (under.length > 0) {
        this.kept.set(group, new Set(under));
        changed += 1;
      }
    });
    return changed;
  }

  clear() {
    this.kept.clear();
  }

  /** Returns the numbers of groups with a decision, of files that are not kept, and of their bytes. */
  totals() {
    let files = 0;
    let size = 0n;
    for (const [group, kept] of this.kept) {
      const { size_bytes, files: all } = this.duplicates.groups[group];
      files += all.length - kept.size;
      size += BigInt(size_bytes) * BigInt(all.length - kept.size);
    }
    return { groups: this.kept.size, files, bytes: size };
  }

  /**
   * Returns the decisions as `ftk dup apply` reads them: the lines of the report with the numbers of the files to keep,
   * and a footer with the digest of all lines. The lines are copied as text, because numbers in them exceed 2^53.
   */
  text() {
    const groups = Array.from(this.kept.keys()).sort((a, b) => a - b);
    const lines = groups.map((group) => {
      const kept = Array.from(this.kept.get(group)).sort((a, b) => a - b);
      return `{"keep":[${kept.join(",")}],${this.duplicates.groups[group].line.slice(1)}\n`;
    });
    const body = [`${this.duplicates.header}\n`, ...lines].join("");
    return `${body}{"footer":{"records":${lines.length + 1},"sha256":"${sha256(body)}"}}\n`;
  }
}
