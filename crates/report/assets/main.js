import { showChanges } from "./changes.js";
import { showDuplicates } from "./duplicates.js";
import { showHealth } from "./health.js";
import { showSpace } from "./space.js";
import { date } from "./text.js";

const VIEWS = {
  space: (view, data) => showSpace(view, data.space, data.made_s),
  duplicates: (view, data) => showDuplicates(view, data.duplicates, data.title),
  changes: (view, data) => showChanges(view, data.changes),
  health: (view, data) => showHealth(view, data.health),
};

/** Shows one view and hides the others. A view is filled when it is first shown, because a canvas needs its size. */
function open(name, data, filled) {
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const isOpen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", isOpen);
    tab.tabIndex = isOpen ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !isOpen;
  }
  if (!filled.has(name)) {
    filled.add(name);
    VIEWS[name](document.getElementById(name), data);
  }
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  document.querySelector('[data-part="made"]').textContent = date(data.made_s);
  const filled = new Set();
  const tabs = Array.from(document.querySelectorAll('[role="tab"]'));
  const nameOf = (tab) => tab.getAttribute("aria-controls");
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => open(nameOf(tab), data, filled));
    tab.addEventListener("keydown", ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (step) {
        const next = tabs[(at + step + tabs.length) % tabs.length];
        open(nameOf(next), data, filled);
        next.focus();
      }
    });
  });
  // The address can end with the name of a view: `#health`.
  const openAsked = () => {
    const asked = tabs.find((tab) => `#${nameOf(tab)}` === location.hash);
    open(nameOf(asked ?? tabs[0]), data, filled);
  };
  addEventListener("hashchange", openAsked);
  openAsked();
}

start();
