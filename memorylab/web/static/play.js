// People at play. The server steps the game; this page says which keys are held and draws what comes.

import { $, element } from "./dom.js";

const PAPER_LEVELS = ["train", "holdout_interpolate", "holdout_extrapolate"];
const COUNTDOWN = 3;
const HEADER_BYTES = 24;
const ENOUGH_STEPS = 150; // ten seconds of practice; then one may go on to a score

// Controls as they lie under the fingers: [control, sign, name, keys shown, key codes].
const UP = ["up", "↑", "up", "W", ["ArrowUp", "KeyW"]];
const DOWN = ["down", "↓", "down", "S", ["ArrowDown", "KeyS"]];
const LEFT = ["left", "←", "left", "A", ["ArrowLeft", "KeyA"]];
const RIGHT = ["right", "→", "right", "D", ["ArrowRight", "KeyD"]];
const LOOK_PAD = [null, UP, null, LEFT, DOWN, RIGHT];
const WALK_PAD = [
  ["stepLeft", "⇤", "step left", "Q", ["KeyQ"]], ["up", "↑", "forward", "W", UP[4]], ["stepRight", "⇥", "step right", "E", ["KeyE"]],
  ["left", "↶", "turn left", "A", LEFT[4]], ["down", "↓", "back", "S", DOWN[4]], ["right", "↷", "turn right", "D", RIGHT[4]],
];
const LOOK_ACTIONS = { up: "look up", down: "look down", left: "look left", right: "look right" };
const WALK_ACTIONS = {
  up: "forward", down: "backward", left: "look left", right: "look right", stepLeft: "strafe left", stepRight: "strafe right",
};

let tasks = [];
let game = null; // the episode being played

// --- choosing and reading the rules

const isLook = (task) => task.actions.includes("look up");
const padOf = (task) => (isLook(task) ? LOOK_PAD : WALK_PAD);

function showCards() {
  $("cards").replaceChildren(...tasks.map((task) => {
    const picture = element("img", { loading: "lazy", src: `picture/${task.name}`, alt: "", className: "pixels", width: 96, height: 72 });
    const words = element("span", {}, element("h2", { textContent: task.title }), element("span", { className: "small quiet", textContent: task.rule, style: "padding:0" }));
    const card = element("button", { className: "card", onclick: () => { location.hash = task.short; } }, picture, words);
    card.dataset.task = task.name;
    return element("li", {}, card);
  }));
}

function levelChoice(level, isFirst) {
  const radio = element("input", { type: "radio", name: "level", value: level.name, checked: isFirst });
  return element("label", { className: "choice" }, radio,
    element("span", {}, level.title, element("span", { className: "small quiet", textContent: `${level.scale} · ${level.name}` })));
}

function showBriefing(task) {
  $("brief-picture").src = `picture/${task.name}`;
  $("brief-title").textContent = task.title;
  $("brief-rules").replaceChildren(...task.instructions.map((line) => element("li", { textContent: line })));
  const named = Object.fromEntries(task.levels.map((level) => [level.name, level]));
  $("levels-first").replaceChildren(...PAPER_LEVELS.map((name, i) => levelChoice(named[name], i === 0)));
  $("levels-more").replaceChildren(...task.levels.filter((level) => !PAPER_LEVELS.includes(level.name)).map((level) => levelChoice(level, false)));
  $("brief-pad").replaceChildren(element("h2", { textContent: "Keys" }), padElement(task, false),
    element("p", { className: "small quiet", textContent: isLook(task) ? "Arrow keys or W A S D; on a touch screen, the buttons. The gaze moves in steps, one for a short tap, and cannot stop between two: to cross the red cross or a button is enough." : "Arrow keys or W A S D, and Q, E to step sideways; on a touch screen, the buttons. Walk and turn at once." }));
  $("crosshair-choice").hidden = !isLook(task);
  const isKnown = hasPractised(task);
  $("play").textContent = !isKnown ? "Practise, then play for a score" : task.series > 1 ? `Play ${task.series} for a score` : "Play for a score";
  $("play").onclick = () => play(task, !isKnown);
  $("practise").hidden = !isKnown;
  $("practise").onclick = () => play(task, true);
  $("brief-note").textContent = `${isKnown ? "" : "The first episode is practice, and you may end it as soon as you know how. "}Practice can be paused and leaves no trace; a scored episode cannot be paused.${task.series > 1 ? ` An episode here is one choice, so a score is a series of ${task.series}.` : ""}`;
}

// --- what this browser remembers: who practised what

const practised = () => JSON.parse(localStorage.getItem("memorylab-practised") ?? "[]");
const hasPractised = (task) => practised().includes(task.short);

function notePractice(task) {
  localStorage.setItem("memorylab-practised", JSON.stringify([...new Set([...practised(), task.short])]));
}

function padElement(task, isLive) {
  const pad = element("div", { className: "pad" });
  fillPad(pad, task, isLive);
  return pad;
}

function fillPad(pad, task, isLive) {
  pad.replaceChildren(...padOf(task).map((control) => {
    if (!control) return element("span");
    const [name, sign, words, key] = control;
    const button = element("button", { type: "button", tabIndex: -1 }, sign, element("small", { textContent: `${words} · ${key}` }));
    button.setAttribute("aria-label", words);
    button.dataset.control = name;
    if (isLive) {
      button.onpointerdown = (event) => { event.preventDefault(); button.setPointerCapture(event.pointerId); press(name); };
      button.onpointerup = button.onpointercancel = button.onlostpointercapture = () => release(name);
      button.oncontextmenu = (event) => event.preventDefault();
    } else {
      button.disabled = true;
      button.style.opacity = 1;
    }
    return button;
  }));
}

function showPart(part) {
  for (const name of ["choosing", "briefing", "playing"]) $(name).hidden = name !== part;
  document.body.dataset.part = part;
}

function route() {
  const task = tasks.find((one) => one.short === location.hash.slice(1));
  leave();
  if (task) showBriefing(task);
  showPart(task ? "briefing" : "choosing");
  scrollTo(0, 0);
}

// --- playing

function play(task, practice) {
  const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;
  begin(task, chosen("level"), chosen("view"), practice);
}

function begin(task, level, view, practice, scores = []) {
  leave(); // `scores` are those of the series so far
  const socket = new WebSocket(new URL("play", location.href.split(/[?#]/)[0]).href.replace(/^http/, "ws"));
  socket.binaryType = "arraybuffer";
  game = { task, level, view, practice, scores, socket, pressed: [], action: null, number: 0, score: 0, drawing: Promise.resolve(), isOver: false, isRunning: false };
  const mine = game;
  const say = (word, facts = {}) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ do: word, ...facts })); };
  mine.say = say;
  socket.onopen = () => say("begin", { task: task.name, level, view, practice, name: $("name").value.slice(0, 40) });
  socket.onmessage = ({ data }) => { if (game === mine) (typeof data === "string" ? hear(mine, JSON.parse(data)) : receive(mine, data)); };
  socket.onclose = () => { if (game === mine && !mine.isOver) lost(mine); };

  showPart("playing");
  scrollTo(0, 0);
  fillPad($("pad"), task, true);
  Object.assign($("pause"), { hidden: !practice, textContent: "Pause" });
  $("enough").hidden = $("warning").hidden = true;
  $("frame").classList.toggle("crosshair", isLook(task) && $("crosshair").checked);
  $("stop").textContent = "Stop";
  $("score").textContent = "0";
  $("count").textContent = $("time").textContent = "–";
  $("count-label").textContent = "";
  const canvas = $("picture");
  canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
  cover(element("p", { textContent: "Getting the game ready …" }));
  $("frame").focus({ preventScroll: true });
}

function hear(mine, message) {
  if (message.say === "begun") {
    mine.seconds = message.seconds;
    mine.counter = message.counter;
    $("count-label").textContent = message.counter?.label ?? (isSeries(mine) ? "Episode" : "");
    [$("picture").height, $("picture").width] = message.size;
    countDown(mine, COUNTDOWN);
  } else if (message.say === "over") {
    mine.isOver = true;
    mine.drawing.then(() => showEnd(mine, message));
  } else if (message.say === "refused") {
    mine.refused = message.why;
  }
}

function countDown(mine, seconds) {
  if (game !== mine) return;
  if (seconds > 0) {
    cover(element("p", { className: "big", textContent: seconds }), element("p", { textContent: mine.practice ? "Practice" : isSeries(mine) ? `For a score: ${placeInSeries(mine)}` : "For a score" }));
    setTimeout(() => countDown(mine, seconds - 1), 700);
  } else {
    cover();
    mine.isRunning = true;
    mine.say("start");
    tell(mine);
  }
}

function receive(mine, data) {
  const facts = new DataView(data, 0, HEADER_BYTES);
  const [step, score, left, count, away] = [facts.getUint32(0, true), facts.getFloat32(8, true), facts.getFloat32(12, true), facts.getUint32(16, true), facts.getFloat32(20, true)];
  // One after the other, so that a picture never overtakes an earlier one.
  mine.drawing = mine.drawing.then(async () => {
    const picture = await inflated(data.slice(HEADER_BYTES));
    if (game !== mine) return;
    paint($("picture"), picture);
    $("frame").dataset.step = step;
    showNumbers(mine, score, left, count);
    warn(mine, away);
    if (mine.practice && step >= ENOUGH_STEPS) { notePractice(mine.task); $("enough").hidden = mine.isOver; }
    mine.say("drawn");
  });
}

function warn(mine, away) {
  $("warning").hidden = away === 0 || mine.isOver;
  if (away > 0) $("warning").textContent = `Look back at the panel: the episode ends in ${Math.ceil(away)} s`;
}

const isSeries = (mine) => !mine.practice && mine.task.series > 1;
const placeInSeries = (mine) => `${mine.scores.length + 1} of ${mine.task.series}`;

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function paint(canvas, picture) {
  const image = new ImageData(canvas.width, canvas.height);
  for (let from = 0, to = 0; from < picture.length; from += 3, to += 4) {
    image.data[to] = picture[from];
    image.data[to + 1] = picture[from + 1];
    image.data[to + 2] = picture[from + 2];
    image.data[to + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

function showNumbers(mine, score, left, count) {
  if (score !== mine.score) {
    mine.score = score;
    $("score").textContent = plain(score);
    $("score").classList.add("gained");
    setTimeout(() => $("score").classList.remove("gained"), 600);
  }
  const of = mine.counter?.of ? ` of ${mine.counter.of}` : "";
  $("count").textContent = mine.counter ? `${count}${of}` : isSeries(mine) ? placeInSeries(mine) : "";
  const seconds = Math.ceil(left);
  $("time").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

const plain = (number) => Number(number.toFixed(2)).toString();

function cover(...children) {
  $("cover").replaceChildren(...children);
  $("cover").hidden = children.length === 0;
  $("cover").classList.remove("end");
}

function showEnd(mine, end) {
  if (mine.practice) notePractice(mine.task);
  if (end.counts) mine.scores.push(end.score);
  const isWhole = isSeries(mine) && mine.scores.length >= mine.task.series;
  const say = (textContent, className = "") => element("p", { textContent, className });
  const lines = [say(mine.practice ? "Practice is over. Your score:" : isWhole ? `Your score in ${mine.task.series} episodes` : isSeries(mine) ? `Episode ${mine.scores.length} of ${mine.task.series}` : "Your score"),
    element("p", { className: "big", id: "final-score", textContent: plain(isWhole ? mine.scores.reduce((sum, one) => sum + one, 0) : end.score) })];
  if (end.looked_away) lines.push(say("You looked away from the panel for five seconds: that ends an episode."));
  if (end.answer) lines.push(element("p", { id: "answer", textContent: end.answer }));
  if (!isSeries(mine) || isWhole) lines.push(...others(mine, end).map((line) => say(line)));
  lines.push(say(mine.practice ? "Not stored: it was practice." : end.counts ? `Stored as episode ${end.episode}. Thank you!` : "It does not count: no warning had reached you.", "small"));
  cover(...lines, endButtons(mine, isSeries(mine) && !isWhole));
  $("cover").classList.add("end");
  $("cover").querySelector("button").focus();
  halt(mine);
}

function others(mine, end) {
  const [each, found] = [mine.task.series > 1 ? " an episode" : "", []];
  if (end.people.n > 1) found.push(`the ${end.people.n} plays here: ${plain(end.people.mean)}${each} on average${end.people.aborted ? ` (${end.people.aborted} more given up)` : ""}`);
  if (end.paper !== null) found.push(`people in the paper: ${plain(end.paper)}${each}`);
  const line = found.join("; ");
  return line ? [line[0].toUpperCase() + line.slice(1) + "."] : [];
}

function endButtons(mine, goesOn = false) {
  const again = (practice, scores) => () => begin(mine.task, mine.level, mine.view, practice, scores);
  const [first, next] = goesOn ? ["Next episode", again(false, mine.scores)] : [mine.practice ? "Play for a score" : "Play again", again(!hasPractised(mine.task), [])];
  return element("div", { className: "actions" },
    element("button", { className: "first", textContent: first, onclick: next }),
    ...(goesOn ? [] : [element("button", { textContent: "Practise again", onclick: again(true, []) })]),
    element("button", { textContent: "Another game", onclick: () => { leave(); location.hash = ""; route(); } }));
}

function lost(mine) {
  mine.isOver = true;
  cover(element("p", { className: "big", textContent: "Disconnected" }),
    element("p", { textContent: mine.refused ?? "The server cannot be reached. An unfinished episode does not count." }), endButtons(mine));
  halt(mine);
}

function halt(mine) {
  mine.isRunning = false;
  mine.pressed = [];
  showHeld(mine);
  $("pause").hidden = $("enough").hidden = $("warning").hidden = true;
  $("stop").textContent = "Back";
}

function leave() {
  if (!game) return;
  const socket = game.socket;
  game = null;
  socket.close();
}

// --- keys and buttons

function actionOf(mine) {
  const pressed = mine.pressed;
  const has = (name) => pressed.includes(name);
  if (isLook(mine.task)) return LOOK_ACTIONS[pressed.at(-1)] ?? "nothing";
  if (has("up") && has("left")) return "forward and look left";
  if (has("up") && has("right")) return "forward and look right";
  return WALK_ACTIONS[pressed.at(-1)] ?? "nothing";
}

function tell(mine) {
  const action = mine.task.actions.indexOf(actionOf(mine));
  if (!mine.isRunning || action === mine.action) return;
  mine.action = action;
  mine.number += 1;
  mine.say("act", { action, number: mine.number });
}

function showHeld(mine) {
  for (const button of $("pad").querySelectorAll("button")) button.classList.toggle("held", mine.pressed.includes(button.dataset.control));
}

function press(name) {
  if (!game || game.isOver || game.pressed.includes(name)) return;
  game.pressed.push(name);
  showHeld(game);
  tell(game);
}

function release(name) {
  if (!game) return;
  game.pressed = game.pressed.filter((other) => other !== name);
  showHeld(game);
  tell(game);
}

function controlOf(event) {
  if (!game || game.isOver || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return null;
  return padOf(game.task).find((control) => control?.[4].includes(event.code))?.[0] ?? null;
}

addEventListener("keydown", (event) => {
  const control = controlOf(event);
  if (!control) return;
  event.preventDefault();
  if (!event.repeat) press(control);
});
addEventListener("keyup", (event) => { const control = controlOf(event); if (control) release(control); });
addEventListener("blur", () => { if (game) for (const name of [...game.pressed]) release(name); });

$("stop").onclick = () => { const task = game?.task; leave(); location.hash = task?.short ?? ""; route(); };
$("pause").onclick = () => {
  if (!game?.isRunning && !game?.isPaused) return;
  game.isPaused = !game.isPaused;
  game.isRunning = !game.isPaused;
  game.say(game.isPaused ? "pause" : "resume");
  $("pause").textContent = game.isPaused ? "Go on" : "Pause";
  cover(...(game.isPaused ? [element("p", { className: "big", textContent: "Paused" })] : []));
  $("frame").focus({ preventScroll: true });
  game.action = null;
  tell(game);
};
$("enough").onclick = () => { if (game) begin(game.task, game.level, game.view, false); };
addEventListener("hashchange", route);

// --- the start

$("name").value = localStorage.getItem("memorylab-name") ?? "";
$("name").onchange = () => localStorage.setItem("memorylab-name", $("name").value);
$("crosshair").checked = localStorage.getItem("memorylab-crosshair") === "yes";
$("crosshair").onchange = () => localStorage.setItem("memorylab-crosshair", $("crosshair").checked ? "yes" : "no");
tasks = await (await fetch("tasks")).json();
showCards();
route();
