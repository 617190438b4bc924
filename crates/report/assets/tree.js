/**
 * A tree of sizes, as a treemap and a table show it. Nodes are numbers; node 0 is the root, and a parent comes before
 * its children.
 */
export class Tree {
  /**
   * @param {{name: string[], parent: number[], isDir: (node: number) => boolean,
   *          measures: Object<string, (number|string)[]>}} columns - one value for each node
   */
  constructor({ name, parent, isDir, measures }) {
    this.name = name;
    this.parent = parent;
    this.isDir = isDir;
    this.measures = measures;
    this.measureBy(Object.keys(measures)[0]);
  }

  /** Chooses the size of nodes, and sorts the children of each by it, largest first. */
  measureBy(measure) {
    this.size = Float64Array.from(this.measures[measure], Number);
    const { name, parent, size } = this;
    const nodes = Array.from(name.keys()).slice(1);
    nodes.sort((a, b) => parent[a] - parent[b] || size[b] - size[a] || a - b);
    this.order = nodes;
    // The children of a node are a run in `order`.
    this.first = new Int32Array(name.length + 1).fill(nodes.length);
    for (let at = nodes.length - 1; at >= 0; at -= 1) {
      this.first[parent[nodes[at]]] = at;
    }
    for (let node = name.length - 1; node >= 0; node -= 1) {
      this.first[node] = Math.min(this.first[node], this.first[node + 1]);
    }
  }

  /** Returns the children of a node, the largest first. */
  children(node) {
    return this.order.slice(this.first[node], this.first[node + 1]);
  }

  /** Returns the nodes from the root to this node. */
  ancestry(node) {
    const path = [];
    for (let at = node; at !== 0; at = this.parent[at]) {
      path.unshift(at);
    }
    return [0, ...path];
  }

  /** Returns the path of a node below the root, and the root's own name for the root. */
  path(node) {
    return node === 0
      ? this.name[0]
      : this.ancestry(node)
          .slice(1)
          .map((at) => this.name[at])
          .join("/");
  }

  /** Returns the nodes whose names contain `text`, ignoring case, the largest first; at most `limit`. */
  search(text, limit) {
    const wanted = text.toLowerCase();
    const found = [];
    this.name.forEach((name, node) => {
      if (name.toLowerCase().includes(wanted)) {
        found.push(node);
      }
    });
    found.sort((a, b) => this.size[b] - this.size[a] || a - b);
    return { total: found.length, nodes: found.slice(0, limit) };
  }
}
