// What makes pages pleasant; all of them work without it.
"use strict";

// An explanation while one types: the same part of the page that the button would bring.
const question = document.getElementById("question");
if (question) {
  const explanation = document.getElementById("explanation");
  const told = document.getElementById("told");
  const sql = question.elements.namedItem("sql");
  const epsilon = question.elements.namedItem("epsilon");
  const error = question.elements.namedItem("error");
  const rows = question.elements.namedItem("rows");
  let waiting = 0;
  let latest = 0;

  // What stands there may be about a question that has been changed since: then it cannot be asked.
  const isStale = () => {
    const asked = explanation.querySelector("form.ask");
    if (asked === null) return false;
    const wanted = error.value.trim();
    if (asked.elements.sql.value !== sql.value || asked.dataset.error !== wanted) return true;
    return wanted ? asked.dataset.rows !== rows.value.trim() : asked.elements.epsilon.value !== epsilon.value;
  };
  explanation.addEventListener("submit", (event) => {
    if (isStale()) event.preventDefault();
  });

  // What is open and where the focus is stay as they were; a screen reader is told the first line.
  const show = (text) => {
    const folded = () => [...explanation.querySelectorAll("details")];
    const open = folded().map((one) => one.open);
    const focused = ["form.ask button", "summary"].find((one) => explanation.querySelector(one) === document.activeElement);
    explanation.innerHTML = text;
    folded().forEach((one, at) => { one.open = open[at] ?? false; });
    if (focused) explanation.querySelector(focused)?.focus();
    told.textContent = explanation.querySelector("p")?.textContent.replace(/\s+/g, " ").trim() ?? "";
  };
  const FAILED = `<p class="problem">The preview failed. Press “${question.querySelector("button").textContent}”.</p>`;
  const explain = async () => {
    const mine = ++latest;
    const wanted = new URLSearchParams({ sql: sql.value, epsilon: epsilon.value });
    if (error.value.trim()) {
      wanted.set("error", error.value);
      wanted.set("rows", rows.value);
    }
    let text = FAILED;
    try {
      const response = await fetch(`${question.dataset.explain}?${wanted}`, { headers: { Accept: "text/html" } });
      if (response.ok && !response.redirected) text = await response.text();
    } catch { /* the server is away: it is told below */ }
    if (mine !== latest) return;
    show(text);
    explanation.classList.remove("stale");
    if (text !== FAILED) history.replaceState(null, "", `${question.getAttribute("action")}?${wanted}`);
  };
  const soon = () => {
    explanation.classList.toggle("stale", isStale());
    clearTimeout(waiting);
    waiting = setTimeout(explain, 150);
  };
  sql.addEventListener("input", soon);
  for (const field of [epsilon, error, rows]) field.addEventListener("input", soon);

  // A slider for epsilon, from 0.01 to 10, each step as much more as the one before; it ends where one query has to.
  const slider = document.createElement("input");
  const most = Math.min(Number(epsilon.dataset.most || 10), 10);
  const top = Math.log10(most);
  Object.assign(slider, { type: "range", min: String(top - 3), max: String(top), step: "0.05" });
  slider.setAttribute("aria-label", "Privacy cost slider");
  const follow = () => {
    if (Number(epsilon.value) > 0) slider.value = String(Math.log10(Number(epsilon.value)));
    slider.setAttribute("aria-valuetext", epsilon.value);
  };
  follow();
  slider.addEventListener("input", () => {
    epsilon.value = String(Math.min(Number((10 ** Number(slider.value)).toPrecision(2)), most));
    slider.setAttribute("aria-valuetext", epsilon.value);
    soon();
  });
  epsilon.addEventListener("input", follow);
  epsilon.after(slider);

  // Names of tables and columns that begin like the word before the cursor.
  const words = "SELECT FROM WHERE GROUP BY ROLLUP CUBE HAVING ORDER LIMIT COUNT SUM AVG MEDIAN QUANTILES STDDEV VARIANCE CORR HISTOGRAM BETWEEN";
  const names = [...JSON.parse(sql.dataset.names), ...words.split(" ")];
  const written = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);
  const list = document.createElement("div");
  list.className = "names";
  list.setAttribute("aria-label", "Matching names");
  list.setAttribute("role", "group");
  sql.after(list);
  const complete = () => {
    const before = sql.value.slice(0, sql.selectionStart);
    const word = (before.match(/[A-Za-z_]\w*$/) || [""])[0];
    const fitting = word ? [...new Set(names)].filter((name) => name !== word && name.toLowerCase().startsWith(word.toLowerCase())) : [];
    list.replaceChildren(...fitting.slice(0, 6).map((name) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.textContent = name;
      button.addEventListener("click", () => {
        sql.setRangeText(written(name), before.length - word.length, before.length, "end");
        list.replaceChildren();
        sql.focus();
        soon();
      });
      return button;
    }));
  };
  sql.addEventListener("input", complete);

  // By keyboard: the names are the next stop of Tab; Escape goes back, and Ctrl and Enter explain.
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    list.replaceChildren();
    sql.focus();
  });
  sql.addEventListener("keydown", (event) => {
    if (event.key === "Escape") list.replaceChildren();
    if (event.key === "Enter" && event.ctrlKey) question.requestSubmit();
  });
}
