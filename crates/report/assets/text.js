// Numbers, times and elements as text. Names arrive from ftk with every control character made visible, and this page
// only ever sets them as text, never as markup.

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"];

/**
 * Formats bytes with three digits and units of powers of 1,000, as ftk does in its summaries.
 * @param {number|string|bigint} value - a count of bytes; a string if it exceeds 2^53.
 */
export function bytes(value) {
  let amount = Number(value);
  let unit = 0;
  // 999.5 would be rounded to 1000.
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  return `${amount.toFixed(digits)} ${UNITS[unit]}`;
}

/** Formats a count exactly, with commas between groups of three digits. */
export function count(value) {
  return BigInt(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats a change with its sign. `format` formats the number without it. */
export function signed(value, format) {
  const change = BigInt(value);
  if (change === 0n) {
    return format(0);
  }
  return change < 0n ? `-${format(-change)}` : `+${format(change)}`;
}

/** Returns "1 file" or "2 files". */
export function counted(value, word) {
  return `${count(value)} ${word}${BigInt(value) === 1n ? "" : "s"}`;
}

/** Formats a part of a whole. An empty whole has no parts. */
export function share(part, whole) {
  const percent = Number(whole) > 0 ? (Number(part) / Number(whole)) * 100 : 0;
  return `${percent.toFixed(1)} %`;
}

/** Formats seconds since 1970 as the reader's local date. Times that no calendar has are shown as numbers. */
export function date(seconds) {
  const time = new Date(Number(seconds) * 1000);
  if (Number.isNaN(time.getTime())) {
    return `${seconds} s`;
  }
  const two = (number) => String(number).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/**
 * Creates an element. Properties whose names contain a hyphen become attributes; children are elements or text.
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) {
      made.setAttribute(name, value);
    } else {
      made[name] = value;
    }
  }
  made.append(...children);
  return made;
}
