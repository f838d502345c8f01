// A recorded episode: scrub, step, play, and see at each step what was recalled. Works from a server or from one file.

import { $, element } from "./dom.js";

const STEPS_PER_SECOND = 15;
const LOADING_MS = 400;
const FEW = 4; // neighbours, whose pictures may be large
const LONG_AGO = 2 * STEPS_PER_SECOND; // what is nearer is hardly memory
const HUES = ["#1d5f9e", "#6ba3d6", "#237a4b", "#8cc9a1", "#9a948a", "#b98a2f", "#8a5aa8", "#c59bd8", "#b0b0b0"];
const recordedHere = $("recorded");

let facts = null; // what is played, by whom
let steps = []; // one entry a step, with its picture
let received = new Float64Array(0); // how much weight each step was recalled with, over the episode
let now = 0;
let isRunning = false;
let isWhole = false; // the last step of the episode is here
let hasChosen = false; // whoever looks went to a step of their own
let drawnTracks = -1; // how many steps the tracks show

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const percent = (share) => `${(100 * share).toFixed(share >= 0.0995 ? 0 : 1)} %`;
const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
const clock = (step) => `${Math.floor(step / STEPS_PER_SECOND / 60)}:${(step / STEPS_PER_SECOND % 60).toFixed(1).padStart(4, "0")}`;

// --- loading

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function addPiece(bytes) {
  const content = await inflated(bytes);
  const length = new DataView(content.buffer).getUint32(0, true);
  const told = JSON.parse(new TextDecoder().decode(content.subarray(4, 4 + length)));
  const pictures = content.subarray(4 + length); // differences; summed in place
  const size = facts.height * facts.width * 3;
  for (let i = size; i < pictures.length; i += 1) pictures[i] += pictures[i - size];
  told.forEach((step, i) => {
    const before = steps.at(-1);
    step.picture = pictures.subarray(i * size, (i + 1) * size);
    step.score = (before?.score ?? 0) + step.reward;
    step.plan ??= before?.plan;
    steps.push(step);
  });
}

const fromText = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

async function load() {
  if (recordedHere) {
    facts = JSON.parse(recordedHere.textContent);
    begin();
    for (const [i, piece] of facts.pieces.entries()) {
      await addPiece(fromText(piece));
      isWhole = i === facts.pieces.length - 1;
      if (isWhole || i % 8 === 0) grown();
    }
    return;
  }
  let loaded = 0;
  for (;;) {
    const fresh = await (await fetch("episode")).json();
    if (fresh.number !== facts?.number || loaded === 0) {
      [facts, loaded] = [fresh, 0];
      begin();
    }
    facts = fresh;
    while (loaded < fresh.pieces) {
      const answer = await fetch(`piece/${fresh.number}/${loaded}`);
      if (!answer.ok) break;
      await addPiece(new Uint8Array(await answer.arrayBuffer()));
      loaded += 1;
      isWhole = fresh.is_done && loaded === fresh.pieces;
      grown();
    }
    if (fresh.problem) $("waiting").textContent = `The episode broke off: ${fresh.problem}`;
    $("waiting").hidden = steps.length > 0 && !fresh.problem;
    if (isWhole || fresh.problem) await new Promise((resolve) => { wake = resolve; });
    else await new Promise((resolve) => { setTimeout(resolve, LOADING_MS); });
  }
}
let wake = () => {};

function begin() {
  [steps, now, drawnTracks, isWhole, hasChosen] = [[], 0, -1, false, false];
  $("waiting").hidden = false;
  $("looking").hidden = $("timeline").hidden = true;
  $("state").textContent = "";
  $("title").textContent = facts.title;
  $("subtitle").textContent = `${facts.player}; ${facts.level}${facts.is_only ? "" : `, seed ${facts.seed}`}. ${facts.rule}`;
  document.title = `memorylab: ${facts.title}`;
  [$("picture").height, $("picture").width] = [facts.height, facts.width];
  $("another").hidden = !facts.is_live || Boolean(facts.is_only);
  makeBars();
}

function grown() {
  $("waiting").hidden = true;
  $("looking").hidden = $("timeline").hidden = false;
  const remembers = steps.some((step) => step.ages.length);
  const thinks = steps.some((step) => step.probabilities);
  $("looking").classList.toggle("walked", Boolean(steps[0]?.place));
  $("looking").classList.toggle("alone", !thinks);
  $("plan-panel").hidden = !steps[0]?.place;
  $("recall-panel").hidden = !thinks;
  $("legend-recalled").hidden = !remembers;
  $("value").parentElement.hidden = $("bars").hidden = !thinks;
  $("scrub").max = Math.max(steps.length - 1, 0);
  $("state").textContent = `${plural(steps.length, "step")}, score ${plain(steps.at(-1).score)}${isWhole ? "" : " so far"}`;
  $("so-far").hidden = isWhole;
  received = new Float64Array(steps.length);
  steps.forEach((step, t) => step.ages.forEach((age, j) => { received[t - age] += step.weights[j]; }));
  makeThumbnails(Math.max(...steps.map((step) => step.ages.length)));
  makeTracks(thinks, remembers);
  if (remembers && !hasChosen && !isRunning) openOnRecall();
  show();
}

function openOnRecall() {
  now = steps.reduce((best, _, t) => (worthSeeing(t) > worthSeeing(best) ? t : best), 0);
  if (worthSeeing(now) > 0) $("opened").textContent = `Opened on the recall that is most worth seeing${isWhole ? "" : " so far"}: step ${now}. |◀ goes to the start.`;
}

function worthSeeing(t) {
  // How much of the read lies on moments long ago; twice that where it pays within a second.
  steps[t].longAgo ??= steps[t].ages.reduce((sum, age, j) => sum + (age >= LONG_AGO ? steps[t].weights[j] : 0), 0);
  const isPaid = steps.slice(t, t + STEPS_PER_SECOND).some((step) => step.reward > 0);
  return steps[t].longAgo * (isPaid ? 2 : 1);
}

const plain = (number) => Number(number.toFixed(2)).toString();

// --- the moment

function paint(canvas, step) {
  if (canvas.height !== facts.height) [canvas.height, canvas.width] = [facts.height, facts.width];
  const context = canvas.getContext("2d");
  const image = context.createImageData(facts.width, facts.height);
  for (let from = 0, to = 0; from < step.picture.length; from += 3, to += 4) {
    image.data[to] = step.picture[from];
    image.data[to + 1] = step.picture[from + 1];
    image.data[to + 2] = step.picture[from + 2];
    image.data[to + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

function makeBars() {
  $("bars").replaceChildren(...facts.actions.flatMap((name, i) => {
    const bar = element("i");
    bar.style.background = HUES[i % HUES.length];
    return [element("span", { textContent: name }), element("span", { className: "track" }, bar), element("span", { className: "number" })];
  }));
}

function showBars(step) {
  const cells = [...$("bars").children];
  facts.actions.forEach((_, i) => {
    const [name, track, number] = cells.slice(3 * i, 3 * i + 3);
    const share = step.probabilities?.[i] ?? 0;
    name.className = number.className = i === step.action ? "chosen" : "";
    number.classList.add("number");
    track.firstChild.style.transform = `scaleX(${share})`;
    number.textContent = percent(share);
  });
}

function makeThumbnails(number) {
  // As many as the agent recalls at once at most, so that the panel keeps its size and has no room to spare.
  if ($("recalled").children.length === number) return;
  $("recalled").classList.toggle("few", number <= FEW);
  $("recalled").replaceChildren(...Array.from({ length: number }, () => {
    const bar = element("span", { className: "weight" }, element("i"));
    const button = element("button", {}, element("canvas", { className: "pixels" }), bar, element("b"), element("small"));
    button.firstChild.width = facts.width;
    button.firstChild.height = facts.height;
    return element("li", { className: "empty" }, button);
  }));
}

function showRecalled(step) {
  const places = [...$("recalled").children];
  places.forEach((place, j) => {
    const age = step.ages[j];
    place.classList.toggle("empty", age === undefined);
    if (age === undefined) return;
    const button = place.firstChild;
    const [canvas, bar, weight, when] = button.children;
    const seconds = age / STEPS_PER_SECOND;
    paint(canvas, steps[now - age]);
    bar.firstChild.style.transform = `scaleX(${step.weights[j] / step.weights[0]})`;
    weight.textContent = percent(step.weights[j]);
    when.textContent = `${age} · ${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
    button.title = `step ${now - age}, ${plural(age, "step")} ago`;
    button.setAttribute("aria-label", `recalled ${button.title}, weight ${weight.textContent}; go there`);
    button.dataset.age = age;
    button.onclick = () => { pause(); go(now - Number(button.dataset.age)); };
  });
  const remembers = steps.some((one) => one.ages.length);
  $("recall-note").textContent = step.ages.length ? "weight; steps · seconds ago" : "";
  $("recall-word").hidden = step.ages.length > 0;
  $("recalled").hidden = !remembers;
  $("recall-word").textContent = remembers || steps.length === 1 ? "Nothing to recall yet: the episode has just begun." : "This agent has no episodic memory. What it keeps is in its working memory, which shows no pictures.";
}

function show() {
  const step = steps[now];
  if (!step) return;
  paint($("picture"), step);
  $("clock").textContent = `step ${now} · ${clock(now)}`;
  $("score").textContent = plain(step.score);
  $("value").textContent = step.value === undefined ? "–" : step.value.toFixed(2);
  $("action").textContent = facts.actions[step.action];
  $("scrub").value = now;
  $("scrub").setAttribute("aria-valuetext", `step ${now} of ${steps.length}`);
  if (step.probabilities) {
    showBars(step);
    showRecalled(step);
  }
  if (step.place) showPlan(step);
  showTracks(step);
  document.body.dataset.step = now;
}

// --- seen from above

function showPlan(step) {
  const canvas = $("plan");
  const side = sharp(canvas, canvas.clientWidth, canvas.clientWidth);
  const pen = canvas.getContext("2d");
  const { solid, cell, boxes, ovals, goal } = step.plan;
  const { west: left, south: bottom, across } = openPart(solid, cell);
  const scale = side / across;
  const [x, y] = [(east) => (east - left) * scale, (north) => side - (north - bottom) * scale];
  pen.fillStyle = colour("quiet");
  pen.fillRect(0, 0, side, side); // wall, into which the open cells are cut
  pen.fillStyle = colour("wash");
  solid.forEach((row, south) => [...row].forEach((mark, west) => {
    if (mark !== "#") pen.fillRect(x(west * cell), y((south + 1) * cell), cell * scale + 0.5, cell * scale + 0.5);
  }));
  for (const [west, east, south, north, tint] of boxes) {
    pen.fillStyle = tint;
    pen.fillRect(x(west), y(north), (east - west) * scale, (north - south) * scale);
    pen.strokeStyle = colour("ink");
    pen.lineWidth = 1;
    pen.strokeRect(x(west), y(north), (east - west) * scale, (north - south) * scale);
  }
  for (const [east, north, radius, tint] of ovals) disc(pen, x(east), y(north), radius * scale, tint);
  if (goal) {
    pen.strokeStyle = "#c79200";
    pen.lineWidth = 3;
    pen.beginPath();
    pen.arc(x(goal[0]), y(goal[1]), Math.max(0.5 * scale, 7), 0, 7);
    pen.stroke();
  }
  pen.strokeStyle = colour("act");
  pen.lineWidth = 2;
  pen.beginPath();
  for (let t = 0; t <= now; t += 1) {
    const [place, before] = [steps[t].place, steps[t - 1]?.place];
    const hasJumped = !before || Math.hypot(place.x - before.x, place.z - before.z) >= 1; // put down elsewhere
    if (hasJumped) pen.moveTo(x(place.x), y(place.z)); else pen.lineTo(x(place.x), y(place.z));
  }
  pen.stroke();
  step.ages.forEach((age, j) => {
    const place = steps[now - age].place;
    pen.globalAlpha = 0.75;
    disc(pen, x(place.x), y(place.z), 3 + 9 * Math.sqrt(step.weights[j]), colour("recall"));
    pen.globalAlpha = 1;
  });
  const [here, heading] = [step.place, step.place.yaw * Math.PI / 180];
  pen.strokeStyle = colour("bad");
  pen.lineWidth = 3;
  pen.beginPath();
  pen.moveTo(x(here.x), y(here.z));
  pen.lineTo(x(here.x) + 16 * Math.sin(heading), y(here.z) - 16 * Math.cos(heading));
  pen.stroke();
  disc(pen, x(here.x), y(here.z), 6, colour("bad"));
}

function openPart(solid, cell) {
  // The square around all places that are not wall, with a little wall around it.
  const [easts, norths] = [[], []];
  solid.forEach((row, south) => [...row].forEach((mark, west) => {
    if (mark !== "#") { easts.push(west * cell, (west + 1) * cell); norths.push(south * cell, (south + 1) * cell); }
  }));
  const [west, east, south, north] = [Math.min(...easts), Math.max(...easts), Math.min(...norths), Math.max(...norths)];
  const across = Math.max(east - west, north - south) * 1.08;
  return { west: (west + east - across) / 2, south: (south + north - across) / 2, across };
}

function disc(pen, x, y, radius, tint) {
  pen.fillStyle = tint;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  pen.fill();
}

function sharp(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  return width;
}

// --- over time: each track keeps its picture of the whole episode, and draws the moment on top

const tracks = {
  recall: { label: "Looked back to", has: (thinks, remembers) => remembers, draw: drawReceived, mark: markRecalled, tall: true },
  value: { label: "Value", has: (thinks) => thinks, draw: drawValue },
  policy: { label: "Actions", has: (thinks) => thinks, draw: drawPolicy, tall: true },
  reward: { label: "Rewards", has: () => true, draw: drawRewards },
};

function makeTracks(thinks, remembers) {
  const wanted = Object.entries(tracks).filter(([, track]) => track.has(thinks, remembers));
  if ($("tracks").children.length === wanted.length && drawnTracks >= 0) return;
  $("tracks").replaceChildren(...wanted.map(([name, track]) => {
    const canvas = element("canvas", { className: track.tall ? "tall" : "" });
    canvas.dataset.track = name;
    const scrub = (event) => { pause(); go(Math.round((event.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth * (steps.length - 1))); };
    canvas.onpointerdown = (event) => { canvas.setPointerCapture(event.pointerId); scrub(event); };
    canvas.onpointermove = (event) => { if (event.buttons) scrub(event); };
    const note = element("span", { className: "quiet" });
    return element("div", {}, element("span", { className: "small" }, track.label, " ", note), canvas);
  }));
  drawnTracks = -1;
}

function showTracks(step) {
  for (const canvas of $("tracks").querySelectorAll("canvas")) {
    const track = tracks[canvas.dataset.track];
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (drawnTracks !== steps.length || track.width !== width) {
      track.width = width;
      track.canvas = element("canvas");
      sharp(track.canvas, width, height);
      track.draw(track.canvas.getContext("2d"), width, height);
      canvas.parentElement.querySelector(".quiet").textContent = track.note ?? "";
    }
    sharp(canvas, width, height);
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, width, height);
    pen.drawImage(track.canvas, 0, 0, width, height);
    track.mark?.(pen, width, height, step);
    pen.fillStyle = colour("ink");
    pen.fillRect(along(now, width) - 0.75, 0, 1.5, height);
  }
  drawnTracks = steps.length;
}

const along = (step, width) => (steps.length < 2 ? 0 : step / (steps.length - 1) * width);

function drawReceived(pen, width, height) {
  // How much each moment was recalled over the whole episode, in bins of one pixel.
  const bins = new Float64Array(Math.max(Math.floor(width), 1));
  received.forEach((weight, t) => { bins[Math.min(Math.floor(along(t, width)), bins.length - 1)] += weight; });
  const most = Math.max(...bins, 1e-9);
  pen.fillStyle = colour("quiet");
  pen.globalAlpha = 0.45;
  bins.forEach((weight, i) => pen.fillRect(i, height - weight / most * height * 0.45, 1, height));
  pen.globalAlpha = 1;
}

function markRecalled(pen, width, height, step) {
  const strongest = Math.max(...step.weights, 1e-9);
  pen.fillStyle = colour("recall");
  step.ages.forEach((age, j) => {
    const tall = height * (0.25 + 0.75 * step.weights[j] / strongest);
    pen.fillRect(along(now - age, width) - 1.5, height - tall, 3, tall);
  });
}

function drawValue(pen, width, height) {
  const values = steps.map((step) => step.value ?? 0);
  const [low, high] = [Math.min(0, ...values), Math.max(1e-3, ...values)];
  const y = (value) => height - 3 - (value - low) / (high - low) * (height - 6);
  pen.strokeStyle = colour("line");
  pen.beginPath();
  pen.moveTo(0, y(0));
  pen.lineTo(width, y(0));
  pen.stroke();
  pen.strokeStyle = colour("act");
  pen.lineWidth = 1.5;
  pen.beginPath();
  values.forEach((value, t) => pen.lineTo(along(t, width), y(value)));
  pen.stroke();
  tracks.value.note = `up to ${high.toFixed(2)}`;
}

function drawPolicy(pen, width, height) {
  // Stacked shares of the actions.
  const each = Math.max(width / steps.length, 1) + 0.5;
  steps.forEach((step, t) => {
    let top = 0;
    (step.probabilities ?? []).forEach((share, i) => {
      pen.fillStyle = HUES[i % HUES.length];
      pen.fillRect(along(t, width), top, each, share * height + 0.5);
      top += share * height;
    });
  });
}

function drawRewards(pen, width, height) {
  const most = Math.max(...steps.map((step) => Math.abs(step.reward)), 1e-9);
  tracks.reward.note = steps.some((step) => step.reward) ? "" : isWhole ? "none" : "none so far";
  pen.fillStyle = colour("good");
  steps.forEach((step, t) => {
    const tall = Math.abs(step.reward) / most * (height - 6);
    if (tall > 0) pen.fillRect(along(t, width) - 1, height - tall, 2, tall);
  });
}

// --- time

function go(step) {
  hasChosen = true;
  $("opened").textContent = "";
  now = Math.min(Math.max(step, 0), Math.max(steps.length - 1, 0));
  show();
}

let clockStart = 0;
let stepStart = 0;

function run() {
  if (now >= steps.length - 1 && isWhole) now = 0;
  isRunning = true;
  [clockStart, stepStart] = [performance.now(), now];
  $("run").textContent = "Pause";
  requestAnimationFrame(tick);
}

function pause() {
  isRunning = false;
  $("run").textContent = "Play";
}

function tick(time) {
  if (!isRunning) return;
  const target = stepStart + Math.max(0, Math.floor((time - clockStart) / 1000 * STEPS_PER_SECOND * Number($("speed").value)));
  if (target >= steps.length - 1) { // wait there if it is still being played
    go(steps.length - 1);
    if (isWhole) { pause(); return; }
    [clockStart, stepStart] = [time, now];
  } else if (target !== now) go(target);
  requestAnimationFrame(tick);
}

$("run").onclick = () => (isRunning ? pause() : run());
$("first").onclick = () => { pause(); go(0); };
$("last").onclick = () => { pause(); go(steps.length - 1); };
$("back").onclick = () => { pause(); go(now - 1); };
$("forth").onclick = () => { pause(); go(now + 1); };
$("scrub").oninput = () => { pause(); go(Number($("scrub").value)); };
$("speed").onchange = () => { [clockStart, stepStart] = [performance.now(), now]; };
$("another").onclick = async () => { pause(); await fetch("another", { method: "POST" }); wake(); };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || ["SELECT", "INPUT"].includes(event.target.tagName)) return;
  const button = { ArrowLeft: "back", ArrowRight: "forth", Home: "first", End: "last", Space: "run" }[event.code];
  if (!button || (event.code === "Space" && event.target.tagName === "BUTTON")) return;
  event.preventDefault();
  $(button).click();
});
addEventListener("resize", show);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawnTracks = -1; show(); });

for (;;) {
  try {
    await load();
    break; // a file has all it will ever have
  } catch (problem) {
    console.debug(problem);
    $("state").textContent = "The server cannot be reached; trying again …";
    await new Promise((resolve) => { setTimeout(resolve, 10 * LOADING_MS); });
  }
}
