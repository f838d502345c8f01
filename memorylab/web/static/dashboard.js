// Runs and their curves, asked for again every few seconds.

import { $, element } from "./dom.js";

const EVERY_MS = 4000;
const LEVEL_HUES = { train: "var(--act)", holdout_interpolate: "var(--good)", holdout_extrapolate: "var(--recall)" };
const HUES = ["#1d70b8", "#c25a1e", "#2a8a57", "#8a5aa8", "#b98a2f", "#c2417c", "#2b8a99", "#7a7a7a"];
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
  for (const { points: own, hue, name } of lines) {
    if (own[0]?.length === 3) {
      const upper = own.map(([step, value, error]) => `${x(step)},${y(value + error)}`);
      const lower = own.map(([step, value, error]) => `${x(step)},${y(value - error)}`).reverse();
      picture.append(svg("polygon", { points: [...upper, ...lower].join(" "), class: "band" }));
      picture.lastChild.style.fill = hue;
    }
    const line = svg("polyline", { points: own.map(([step, value]) => `${x(step)},${y(value)}`).join(" "), class: "curve" }, svg("title"));
    line.style.stroke = hue;
    line.firstChild.textContent = name;
    picture.append(line);
    if (own.length === 1) {
      const dot = svg("circle", { cx: x(own[0][0]), cy: y(own[0][1]), r: 3 });
      dot.style.fill = hue;
      picture.append(dot);
    }
  }
  return picture;
}

function text(words, x, y, anchor) {
  const made = svg("text", { x, y, "text-anchor": anchor });
  made.textContent = words;
  return made;
}

function key(hue, words) {
  const dot = element("span", { className: "dot" });
  dot.style.background = hue;
  return element("span", { className: "key small" }, dot, words);
}

// --- the page

const hueOf = (i) => HUES[i % HUES.length];

function showTogether() {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.curves)))];
  $("together").hidden = names.length === 0;
  const metric = $("metric").value && names.includes($("metric").value) ? $("metric").value : names.includes("score") ? "score" : names[0];
  if ([...$("metric").options].map((option) => option.value).join() !== names.join()) {
    $("metric").replaceChildren(...names.map((name) => element("option", { value: name, textContent: name })));
  }
  $("metric").value = metric ?? "";
  const shown = runs.map((run, i) => ({ name: run.name, hue: hueOf(i), points: run.curves[metric] ?? [] })).filter((line) => !hidden.has(line.name));
  draw($("overlay"), shown, `${metric} of all runs over steps`, 300);
  if ($("keys").children.length !== runs.length || [...$("keys").children].some((one, i) => one.dataset.name !== runs[i].name)) {
    $("keys").replaceChildren(...runs.map((run, i) => {
      const box = element("input", { type: "checkbox", checked: !hidden.has(run.name) });
      box.onchange = () => { hidden[box.checked ? "delete" : "add"](run.name); showTogether(); };
      const item = element("li", {}, element("label", {}, box, key(hueOf(i), run.name)));
      item.dataset.name = run.name;
      return item;
    }));
  }
}

const linesOf = (run) => Object.entries(run.levels).map(([name, points], i) => ({ name, points, hue: LEVEL_HUES[name] ?? hueOf(i) }));

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
    ["steps a second", last("steps_per_second") && short(last("steps_per_second")[1])],
    ["training score", last("score") && plain(last("score")[1])],
    ["stage", run.stage],
  ].filter(([, value]) => value);
  const body = run.problem ? [element("p", { className: "notice", textContent: run.problem })] : [
    element("p", { className: "small quiet", textContent: `${run.model} on ${run.task}, ${run.preset}, seed ${run.seed}` }),
    element("dl", { className: "facts" }, ...facts.map(([name, value]) => element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value })))),
    element("h3", { className: "small", textContent: "Score on the true levels" }),
    element("div", { className: "chart levels-chart" }),
    element("p", { className: "keys" }, ...lines.map((line) => key(line.hue, line.name))),
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
