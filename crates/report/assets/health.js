import { bytes, count, counted, date, element, share } from "./text.js";

/** Fills the view of when files were last verified. */
export function showHealth(view, health) {
  const part = (name) => view.querySelector(`[data-part="${name}"]`);
  const { files, bytes: size, damaged, total_damaged, ages, dirs } = health;

  const verified = BigInt(files) - BigInt(health.never_read_files);
  part("summary").textContent =
    `${count(verified)} of ${counted(files, "file")} (${bytes(size)}) have been verified since they were recorded` +
    (health.oldest_s === null ? "." : `; the oldest verification is of ${date(health.oldest_s)}.`);
  const [verdict, className] =
    BigInt(total_damaged) > 0n
      ? [`${counted(total_damaged, "damaged file")}:`, "bad"]
      : verified > 0n
        ? ["No file is marked as damaged.", "good"]
        : ["No file is marked as damaged, and none has been verified.", ""];
  part("verdict").textContent = verdict;
  part("verdict").className = className;
  part("damaged").replaceChildren(
    ...damaged.map(({ path, since_s }) => element("li", {}, `${path} (found ${date(since_s)})`)),
  );

  part("ages").replaceChildren(
    ...ages.map(({ label, files: some, bytes: part_bytes }) => {
      const value = Number(size) > 0 ? Number(part_bytes) / Number(size) : 0;
      // A part that was never verified is not good, so this bar is not green.
      const best = label === "never" ? { low: 0, high: 1, optimum: 0 } : {};
      const bar = element("meter", { min: 0, max: 1, value, ...best });
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
