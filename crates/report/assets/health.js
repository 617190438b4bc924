import { bytes, count, counted, date, element, share } from "./text.js";

/** Fills the view of when files were last verified. */
export function showHealth(view, health) {
  const part = (name) => view.querySelector(`[data-part="${name}"]`);
  const { files, bytes: size, damaged, total_damaged, ages, dirs } = health;

  const verified = BigInt(files) - BigInt(health.never_read_files);
  part("summary").textContent =
    `${count(verified)} of ${counted(files, "file")} (${bytes(size)}) have been verified since they were recorded` +
    (health.oldest_s === null ? "." : `; the oldest verification is of ${date(health.oldest_s)}.`);
  part("verdict").textContent =
    BigInt(total_damaged) === 0n ? "No file is marked as damaged." : `${counted(total_damaged, "damaged file")}:`;
  part("verdict").className = BigInt(total_damaged) === 0n ? "good" : "bad";
  part("damaged").replaceChildren(
    ...damaged.map(({ path, since_s }) => element("li", {}, `${path} (found ${date(since_s)})`)),
  );

  part("ages").replaceChildren(
    ...ages.map(({ label, files: some, bytes: part_bytes }) => {
      const bar = element("meter", { min: 0, max: 1, value: Number(size) > 0 ? Number(part_bytes) / Number(size) : 0 });
      bar.setAttribute("aria-label", label);
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, label),
        element("td", {}, count(some)),
        element("td", {}, bytes(part_bytes)),
        element("td", {}, share(part_bytes, size)),
        element("td", {}, bar),
      );
    }),
  );
  part("dirs").replaceChildren(
    ...dirs.map((dir) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, dir.path),
        element("td", {}, bytes(dir.bytes)),
        element("td", {}, dir.oldest_s === null ? "never" : date(dir.oldest_s)),
        element("td", {}, count(dir.never_read_files)),
        element("td", {}, count(dir.damaged_files)),
      ),
    ),
  );
}
