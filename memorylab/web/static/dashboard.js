// Runs and their curves, asked for again every few seconds.

import { $, element } from "./dom.js";

const EVERY_MS = 4000;
const LEVEL_HUES = { train: "var(--act)", holdout_interpolate: "var(--good)", holdout_extrapolate: "var(--recall)" };
const HUES = ["#1d70b8", "#c25a1e", "#2a8a57", "#8a5aa8", "#b98a2f", "#c2417c", "#2b8a99", "#7a7a7a"];
// As many runs as colours times marks look different, for these numbers have no common divisor; then come dashes.
const MARKS = {
  circle: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", square: "M-3.5,-3.5h7v7h-7z", triangle: "M0,-4.5L4.3,3.5H-4.3z", diamond: "M0,-5L4.5,0L0,5L-4.5,0z",
  pointer: "M0,4.5L4.3,-3.5H-4.3z", plus: "M-1.4,-4.6h2.8v3.2h3.2v2.8h-3.2v3.2h-2.8v-3.2h-3.2v-2.8h3.2z", bar: "M-1.6,-5h3.2v10h-3.2z",
};
const DASHES = ["", "7 4", "2 3", "10 3 2 3"];
const MARKS_PER_CURVE = 5;
const SVG = "http://www.w3.org/2000/svg";
const [LEFT, BOTTOM, TOP, RIGHT] = [46, 40, 10, 16];

const hidden = new Set(); // names of runs that are not shown in the overlay
let runs = [];
let said = ""; // what the server said last; the same again changes nothing

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const short = (number) => (Math.abs(number) >= 1e6 ? `${plain(number / 1e6)}M` : Math.abs(number) >= 1e3 ? `${plain(number / 1e3)}k` : plain(number));
const plain = (number) => Number(number.toPrecision(3)).toString();

// --- a chart: lines of [step, value, standard error?]

function niceStep(span, parts) {
  const rough = span / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}

function ticks(low, high, parts) {
  const step = niceStep(high - low || 1, parts);
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) found.push(tick);
  return found;
}

function draw(place, lines, label, height) {
  place.replaceChildren(chart(lines, label, Math.max(place.clientWidth, 200), height));
}

function chart(lines, label, width, height) {
  const points = lines.flatMap((line) => line.points);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  if (!points.length) {
    picture.append(text("nothing measured yet", width / 2, height / 2, "middle"));
    return picture;
  }
  const last = Math.max(...points.map(([step]) => step), 1);
  let [low, high] = [Math.min(0, ...points.map(([, value]) => value)), Math.max(...points.map(([, value, error]) => value + (error ?? 0)))];
  if (high <= low) high = low + 1;
  high += (high - low) * 0.05;
  const x = (step) => LEFT + step / last * (width - LEFT - RIGHT);
  const y = (value) => height - BOTTOM - (value - low) / (high - low) * (height - BOTTOM - TOP);
  for (const tick of ticks(low, high, 4)) {
    picture.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick), class: "grid" }), text(short(tick), LEFT - 6, y(tick) + 4, "end"));
  }
  for (const tick of ticks(0, last, Math.min(6, width / 80))) picture.append(text(short(tick), x(tick), height - BOTTOM + 17, "middle"));
  picture.append(text("agent steps", width - RIGHT, height - 6, "end"));
  for (const [number, { points: own, hue, name, mark, dash }] of lines.entries()) {
    if (own[0]?.length === 3) {
      const upper = own.map(([step, value, error]) => `${x(step)},${y(value + error)}`);
      const lower = own.map(([step, value, error]) => `${x(step)},${y(value - error)}`).reverse();
      picture.append(svg("polygon", { points: [...upper, ...lower].join(" "), class: "band" }));
      picture.lastChild.style.fill = hue;
    }
    const line = svg("polyline", { points: own.map(([step, value]) => `${x(step)},${y(value)}`).join(" "), class: "curve" }, svg("title"));
    line.style.stroke = hue;
    line.style.strokeDasharray = dash ?? "";
    line.firstChild.textContent = name;
    picture.append(line);
    for (const i of marked(own.length, number)) picture.append(markAt(mark ?? "circle", hue, x(own[i][0]), y(own[i][1])));
  }
  return picture;
}

function marked(length, number) {
  // Where a curve has its marks: a few, later for later runs, so that they do not cover each other; all if it is short.
  if (length <= MARKS_PER_CURVE) return [...Array(length).keys()];
  const apart = length / MARKS_PER_CURVE;
  return Array.from({ length: MARKS_PER_CURVE }, (_, i) => Math.floor((i + (number * 0.37) % 1) * apart));
}

function markAt(mark, hue, x, y) {
  const made = svg("path", { d: MARKS[mark], transform: `translate(${x},${y})`, class: "mark" });
  made.style.fill = hue;
  made.dataset.mark = mark;
  return made;
}

function text(words, x, y, anchor) {
  const made = svg("text", { x, y, "text-anchor": anchor });
  made.textContent = words;
  return made;
}

function key({ hue, mark, dash, name }) {
  const line = svg("line", { x1: 1, x2: 33, y1: 7, y2: 7, class: "curve" });
  line.style.stroke = hue;
  line.style.strokeDasharray = dash ?? "";
  const sample = svg("svg", { viewBox: "0 0 34 14", "aria-hidden": "true" }, line, markAt(mark ?? "circle", hue, 17, 7));
  return element("span", { className: "key small" }, sample, name);
}

// --- the page

const hueOf = (i) => HUES[i % HUES.length];

function lookOf(i) {
  const marks = Object.keys(MARKS);
  return { hue: hueOf(i), mark: marks[i % marks.length], dash: DASHES[Math.floor(i / (HUES.length * marks.length)) % DASHES.length] };
}

const tasksOf = () => [...new Set(runs.filter((run) => !run.problem).map((run) => run.task))];

function showTogether() {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.curves)))];
  $("which").hidden = names.length === 0;
  const metric = $("metric").value && names.includes($("metric").value) ? $("metric").value : names.includes("score") ? "score" : names[0];
  if ([...$("metric").options].map((option) => option.value).join() !== names.join()) {
    $("metric").replaceChildren(...names.map((name) => element("option", { value: name, textContent: name })));
  }
  $("metric").value = metric ?? "";
  const panels = [...$("together").children];
  $("together").replaceChildren(...tasksOf().map((task) => panels.find((panel) => panel.dataset.task === task) ?? taskPanel(task)));
  for (const panel of $("together").children) showTask(panel, metric);
}

function taskPanel(task) {
  const panel = element("section", { className: "panel" }, element("div", { className: "head" }, element("h2", { textContent: task.replaceAll("_", " ") || "no task named" })),
    element("div", { className: "chart overlay" }), element("ul", { className: "keys" }));
  panel.dataset.task = task;
  return panel;
}

function showTask(panel, metric) {
  // Scores of different tasks have different scales, so each task has a chart of its own.
  const [, overlay, keys] = panel.children;
  const lines = runs.filter((run) => run.task === panel.dataset.task).map((run, i) => ({ name: run.name, points: run.curves[metric] ?? [], ...lookOf(i) }));
  draw(overlay, lines.filter((line) => !hidden.has(line.name)), `${metric} of ${panel.dataset.task} over steps`, 300);
  if ([...keys.children].map((item) => item.dataset.name).join("\n") === lines.map((line) => line.name).join("\n")) return;
  keys.replaceChildren(...lines.map((line) => {
    const box = element("input", { type: "checkbox", checked: !hidden.has(line.name) });
    box.onchange = () => { hidden[box.checked ? "delete" : "add"](line.name); showTogether(); };
    const item = element("li", {}, element("label", {}, box, key(line)));
    item.dataset.name = line.name;
    return item;
  }));
}

const linesOf = (run) => Object.entries(run.levels).map(([name, points], i) => ({ name, points, ...lookOf(i), hue: LEVEL_HUES[name] ?? hueOf(i) }));

function showAll() {
  showTogether();
  $("runs").replaceChildren(...runs.map(showRun));
  [...$("runs").children].forEach((panel, i) => {
    const place = panel.querySelector(".levels-chart"); // its width is known only now
    if (place) draw(place, linesOf(runs[i]), `Scores of ${runs[i].name}`, 220);
  });
}

function showRun(run) {
  const lines = linesOf(run);
  const last = (name) => run.curves[name]?.at(-1);
  const facts = [
    ["steps", last("score") && short(last("score")[0])],
    ["steps a second", run.rate && short(run.rate)],
    ["training score", last("score") && plain(last("score")[1])],
    ["stage", run.stage],
  ].filter(([, value]) => value);
  const body = run.problem ? [element("p", { className: "notice", textContent: run.problem })] : [
    element("p", { className: "small quiet", textContent: `${run.model} on ${run.task}, ${run.preset}, seed ${run.seed}` }),
    element("dl", { className: "facts" }, ...facts.map(([name, value]) => element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value })))),
    ...run.notes.map((note) => element("p", { className: "notice", textContent: note })),
    element("h3", { className: "small", textContent: "Score on the true levels" }),
    element("div", { className: "chart levels-chart" }),
    element("p", { className: "keys" }, ...lines.map(key)),
  ];
  const mark = element("span", { className: run.is_active ? "badge live" : "badge", textContent: run.is_active ? "training" : "at rest" });
  return element("section", { className: "panel" }, element("div", { className: "head" }, element("h2", { textContent: run.name }), mark), ...body);
}

async function refresh() {
  try {
    const fresh = await (await fetch("runs")).text();
    if (fresh !== said) {
      said = fresh;
      const told = JSON.parse(fresh);
      runs = told.runs;
      $("title").textContent = `Runs in “${told.folder}”`;
      $("empty").hidden = runs.length > 0;
      showAll();
    }
    const active = runs.filter((run) => run.is_active).length;
    $("state").textContent = `${runs.length} run${runs.length === 1 ? "" : "s"}, ${active} training · ${new Date().toLocaleTimeString()}`;
  } catch {
    $("state").textContent = "The server cannot be reached; trying again …";
  }
  setTimeout(refresh, EVERY_MS);
}

$("metric").onchange = showTogether;
addEventListener("resize", showAll);
await refresh();
