/**
 * Divides a rectangle into one rectangle for each value, with areas in proportion to the values and sides as equal as
 * possible: Bruls, Huizing and van Wijk, "Squarified Treemaps", 2000.
 *
 * @param {number[]} values - in descending order; those that are not above 0 get no area.
 * @param {{x: number, y: number, w: number, h: number}} area
 * @returns {{x: number, y: number, w: number, h: number}[]} one rectangle for each value
 */
export function squarify(values, area) {
  const rectangles = [];
  let { x, y, w, h } = area;
  let left = values.reduce((sum, value) => sum + Math.max(value, 0), 0);
  let start = 0;
  while (start < values.length && values[start] > 0 && w > 0 && h > 0) {
    const short = Math.min(w, h);
    const scale = (w * h) / left;
    let end = start;
    let sum = 0;
    let worst = Number.POSITIVE_INFINITY;
    while (end < values.length && values[end] > 0) {
      const longer = sum + values[end];
      const ratio = worstRatio(values[start] * scale, values[end] * scale, longer * scale, short);
      if (ratio > worst) {
        break;
      }
      worst = ratio;
      sum = longer;
      end += 1;
    }
    // The last row takes what is left, so that no sliver remains from rounding.
    const isLast = end === values.length || !(values[end] > 0);
    const long = Math.max(w, h);
    const depth = isLast ? long : Math.min((sum * scale) / short, long);
    let offset = 0;
    for (let at = start; at < end; at += 1) {
      const length = (values[at] / sum) * short;
      rectangles.push(w >= h ? { x, y: y + offset, w: depth, h: length } : { x: x + offset, y, w: length, h: depth });
      offset += length;
    }
    if (w >= h) {
      x += depth;
      w -= depth;
    } else {
      y += depth;
      h -= depth;
    }
    left -= sum;
    start = end;
  }
  while (rectangles.length < values.length) {
    rectangles.push({ x, y, w: 0, h: 0 });
  }
  return rectangles;
}

/** The largest ratio of sides in a row of areas between `most` and `least` along a side of length `side`. */
function worstRatio(most, least, sum, side) {
  const square = side * side;
  return Math.max((square * most) / (sum * sum), (sum * sum) / (square * least));
}
