import { squarify } from "./squarify.js";
import { bytes } from "./text.js";

/** Sides in pixels: of a directory's title, of the gap inside it, and of the smallest rectangle that is divided. */
const TITLE = 17;
const GAP = 2;
const SMALLEST = 4;

/**
 * Returns the rectangles of everything below `root`, each parent before its children.
 *
 * @param {Tree} tree
 * @param {number} root
 * @param {{x: number, y: number, w: number, h: number}} area
 */
export function layout(tree, root, area) {
  const tiles = [];
  const divide = (node, around, depth) => {
    const children = tree.children(node);
    const rectangles = squarify(
      children.map((child) => tree.size[child]),
      around,
    );
    children.forEach((child, at) => {
      const { x, y, w, h } = rectangles[at];
      if (w < 1 || h < 1) {
        return;
      }
      const hasTitle = tree.isDir(child) && h > 3 * TITLE && w > 3 * TITLE;
      const tile = { node: child, x, y, w, h, depth, hasTitle, isDivided: false };
      tiles.push(tile);
      const top = hasTitle ? TITLE : GAP;
      const inner = { x: x + GAP, y: y + top, w: w - 2 * GAP, h: h - top - GAP };
      if (tree.isDir(child) && inner.w > SMALLEST && inner.h > SMALLEST) {
        tile.isDivided = true;
        divide(child, inner, depth + 1);
      }
    });
  };
  divide(root, area, 0);
  return tiles;
}

/** Returns the innermost tile at a point. */
export function tileAt(tiles, x, y) {
  return tiles.findLast((tile) => x >= tile.x && y >= tile.y && x < tile.x + tile.w && y < tile.y + tile.h);
}

/** Returns the tile of the same depth that is nearest in the direction of an arrow key, or the tile itself. */
export function neighbour(tiles, from, key) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const centre = (tile) => [tile.x + tile.w / 2, tile.y + tile.h / 2];
  const [fromX, fromY] = centre(from);
  let best = from;
  let least = Number.POSITIVE_INFINITY;
  for (const tile of tiles) {
    const [x, y] = centre(tile);
    const ahead = (x - fromX) * dx + (y - fromY) * dy;
    const aside = Math.abs((x - fromX) * dy) + Math.abs((y - fromY) * dx);
    if (tile.depth === from.depth && ahead > 0 && ahead + 2 * aside < least) {
      least = ahead + 2 * aside;
      best = tile;
    }
  }
  return best;
}

/** A treemap on a canvas, with zoom by click and keyboard. */
export class Treemap {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Tree} tree
   * @param {{colour: (node: number) => string, zoomed: (node: number) => void, chosen: (node: number|null) => void}} page -
   *   the colour of a node, and what the page does when a directory is entered and when a node is selected
   */
  constructor(canvas, tree, page) {
    this.canvas = canvas;
    this.tree = tree;
    this.page = page;
    this.root = 0;
    this.chosen = null;
    this.found = new Set();
    this.tiles = [];
    canvas.addEventListener("click", (event) => this.click(event));
    canvas.addEventListener("mousemove", (event) => this.choose(this.under(event)?.node ?? null));
    canvas.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Shows the content of a directory. */
  zoom(node) {
    this.root = node;
    this.chosen = null;
    this.page.zoomed(node);
    this.draw();
  }

  choose(node) {
    if (node !== this.chosen) {
      this.chosen = node;
      this.page.chosen(node);
      this.draw();
    }
  }

  under({ offsetX, offsetY }) {
    return tileAt(this.tiles, offsetX, offsetY);
  }

  click(event) {
    const tile = this.under(event);
    if (!tile) {
      return;
    }
    // A click enters the directory below the present one, so that each click shows one level more.
    const below = this.tree.ancestry(tile.node);
    const next = below[below.indexOf(this.root) + 1];
    if (this.tree.isDir(next)) {
      this.zoom(next);
    } else {
      this.choose(next);
    }
  }

  press(event) {
    const { key } = event;
    if (key.startsWith("Arrow")) {
      const from = this.tiles.find((tile) => tile.node === this.chosen);
      const next = from ? neighbour(this.tiles, from, key) : this.tiles[0];
      this.choose(next?.node ?? null);
    } else if ((key === "Enter" || key === " ") && this.chosen !== null && this.tree.isDir(this.chosen)) {
      this.zoom(this.chosen);
    } else if ((key === "Escape" || key === "Backspace") && this.root !== 0) {
      this.zoom(this.tree.parent[this.root]);
    } else {
      return;
    }
    event.preventDefault();
  }

  draw() {
    const { canvas, tree } = this;
    const { clientWidth: w, clientHeight: h } = canvas;
    const scale = globalThis.devicePixelRatio || 1;
    canvas.width = w * scale;
    canvas.height = h * scale;
    this.tiles = layout(tree, this.root, { x: 0, y: 0, w, h });
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = `12px ${style.fontFamily}`;
    context.textBaseline = "middle";
    const [frame, text, titles] = [colour("--tile-frame"), colour("--tile-text"), colour("--text")];
    for (const tile of this.tiles) {
      context.fillStyle = tile.isDivided ? colour("--tile-dir") : this.page.colour(tile.node);
      context.fillRect(tile.x, tile.y, tile.w, tile.h);
      context.strokeStyle = frame;
      context.lineWidth = 1;
      context.strokeRect(tile.x + 0.5, tile.y + 0.5, tile.w - 1, tile.h - 1);
      context.fillStyle = tile.isDivided ? titles : text;
      this.label(context, tile);
    }
    for (const tile of this.tiles) {
      if (tile.node === this.chosen || this.found.has(tile.node)) {
        context.strokeStyle = colour("--accent");
        context.lineWidth = 3;
        context.strokeRect(tile.x + 1.5, tile.y + 1.5, Math.max(tile.w - 3, 1), Math.max(tile.h - 3, 1));
      }
    }
    if (this.tiles.length === 0) {
      context.fillStyle = titles;
      context.fillText("nothing here takes space", 12, 20);
    }
  }

  label(context, tile) {
    const isTitle = tile.isDivided;
    if (tile.w < 44 || tile.h < TITLE || (isTitle && !tile.hasTitle)) {
      return;
    }
    const { node } = tile;
    const name = this.tree.name[node];
    const size = ` ${bytes(this.tree.size[node])}`;
    const room = tile.w - 10;
    const whole = context.measureText(name + size).width <= room;
    const y = tile.y + TITLE / 2 + 1;
    context.fillText(whole ? name + size : clip(context, name, room), tile.x + 5, y);
  }
}

/** Shortens a text to a width in pixels. */
function clip(context, text, room) {
  if (context.measureText(text).width <= room) {
    return text;
  }
  // Names are cut between characters, not inside of one that is two units long.
  const characters = Array.from(text.slice(0, 200));
  let [low, high] = [0, characters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const fits = context.measureText(`${characters.slice(0, middle).join("")}…`).width <= room;
    [low, high] = fits ? [middle, high] : [low, middle - 1];
  }
  return low > 0 ? `${characters.slice(0, low).join("")}…` : "";
}
