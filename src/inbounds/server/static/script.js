// What makes pages pleasant; all of them work without it.
"use strict";

// An explanation while one types: the same part of the page that the button would bring.
const question = document.getElementById("question");
if (question) {
  const explanation = document.getElementById("explanation");
  const sql = question.elements.namedItem("sql");
  const epsilon = question.elements.namedItem("epsilon");
  let waiting = 0;
  let latest = 0;

  const explain = async () => {
    const mine = ++latest;
    const wanted = new URLSearchParams({ sql: sql.value, epsilon: epsilon.value });
    const response = await fetch(`${question.dataset.explain}?${wanted}`, { headers: { Accept: "text/html" } });
    const text = await response.text();
    if (mine !== latest || !response.ok || response.redirected) return;
    explanation.innerHTML = text;
    history.replaceState(null, "", `${question.getAttribute("action")}?${wanted}`);
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => explain().catch(() => {}), 150);
  };
  sql.addEventListener("input", soon);
  epsilon.addEventListener("input", soon);

  // A slider for epsilon, from 0.01 to 10, each step as much more as the one before.
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", min: "-2", max: "1", step: "0.05" });
  slider.setAttribute("aria-label", "What it may cost, by a slider");
  slider.value = String(Math.log10(Number(epsilon.value) || 0.5));
  slider.addEventListener("input", () => {
    epsilon.value = String(Number((10 ** Number(slider.value)).toPrecision(2)));
    soon();
  });
  epsilon.addEventListener("input", () => {
    if (Number(epsilon.value) > 0) slider.value = String(Math.log10(Number(epsilon.value)));
  });
  epsilon.after(slider);

  // Names of tables and columns that begin like the word before the cursor.
  const words = "SELECT FROM WHERE GROUP BY ROLLUP CUBE HAVING ORDER LIMIT COUNT SUM AVG MEDIAN QUANTILES STDDEV VARIANCE CORR HISTOGRAM BETWEEN";
  const names = `${sql.dataset.names} ${words}`.split(/\s+/).filter(Boolean);
  const list = document.createElement("div");
  list.className = "names";
  list.setAttribute("aria-label", "Names that fit");
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
        sql.setRangeText(name, before.length - word.length, before.length, "end");
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
