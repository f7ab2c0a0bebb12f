"use strict";
// The page: what is asked for goes to the handler, which answers with HTML that is
// made as the report's is; nothing is kept in the browser.
const $ = id => document.getElementById(id);
const megabytes = n => (n / 1e6).toLocaleString("en", { maximumFractionDigits: 1 }) + " MB";
const number = n => n.toLocaleString("en");
const shardCounts = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 200, 256, 400, 512, 800, 1024];

let data = null;    // what is held: id, name, size
let work = null;    // AbortController of what is under way
let chosen = [];    // designs that are compared
let comparing = null;
let later = 0;

function say(text) { $("status").textContent = text; }

function fail(f) {
  const box = $("failure");
  box.replaceChildren();
  const line = document.createElement("p");
  line.textContent = f.error;
  box.append(line);
  if (f.hint) {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "hint: " + f.hint;
    box.append(hint);
    for (const label of document.querySelectorAll("#question details label")) { // the option that it names
      const flag = label.querySelector("code");
      if (flag && f.hint.includes(flag.textContent)) label.closest("details").open = true;
    }
  }
  box.hidden = false;
}

// busy shows that something is under way; the controller ends it.
function busy() {
  if (work) work.abort();
  work = new AbortController();
  $("failure").hidden = true;
  $("bar").hidden = $("stop").hidden = false;
  $("bar").removeAttribute("value");
  $("judge").disabled = true;
  return work;
}

function idle(mine) {
  if (work !== mine) return;
  work = null;
  $("bar").hidden = $("stop").hidden = true;
  $("judge").disabled = !data;
}

// post sends JSON and reads lines of it: each but the last is progress.
async function post(path, body, signal, progress) {
  let last = null;
  try {
    const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        last = JSON.parse(line);
        if (last.phase && progress) progress(last);
      }
    }
  } catch (e) {
    if (signal.aborted) return null;
    return { error: "evenkeel does not answer: " + e.message, hint: "is evenkeel serve still running?" };
  }
  if (!last || last.phase) return { error: "evenkeel ended before it had answered" };
  return last;
}

function forget() {
  if (data) navigator.sendBeacon("/workbench/forget?id=" + encodeURIComponent(data.id));
  data = null;
}

// held takes what the handler holds now, and judges it.
function held(answer) {
  forget();
  data = answer;
  $("result").hidden = true;
  judge();
}

// upload sends a file; the browser tells how far it is.
function upload(file) {
  const mine = busy();
  say("Sending " + file.name + " …");
  const request = new XMLHttpRequest();
  request.open("POST", "/workbench/data?name=" + encodeURIComponent(file.name));
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.upload.onprogress = e => {
    if (mine.signal.aborted || !e.lengthComputable) return;
    $("bar").value = e.loaded / e.total;
    say("Sending " + file.name + ": " + megabytes(e.loaded) + " of " + megabytes(e.total));
  };
  request.onerror = () => {
    idle(mine);
    say("Not sent.");
    fail({ error: file.name + ": could not be sent", hint: "is evenkeel serve still running, and has the file at most 256 MB?" });
  };
  request.onabort = () => { idle(mine); say("Stopped."); };
  request.onload = () => {
    const answer = read(request.responseText);
    idle(mine);
    if (answer.error) {
      say("Not taken.");
      fail(answer);
      return;
    }
    held(answer);
  };
  mine.signal.addEventListener("abort", () => request.abort());
  request.send(file);
}

// sample makes orders of a shop, of which one customer has a third.
function sample() {
  const lines = ["customer,ordered,order_no,total"];
  const first = Date.UTC(2026, 0, 5);
  for (let i = 0; i < 5000; i++) {
    const customer = i % 3 ? "c" + i * 7919 % 400 : "c-wholesale";
    lines.push([customer, new Date(first + i * 173000).toISOString(), "o" + (100000 + i * 7), (i * 31 % 9000 / 100).toFixed(2)].join(","));
  }
  return lines.join("\n") + "\n";
}

const sampleQueries = `SELECT * FROM shop.orders WHERE customer = ? AND ordered >= ? -- 80/s
SELECT * FROM shop.orders WHERE order_no = ? -- 200/s
INSERT INTO shop.orders (customer, ordered, order_no, total) VALUES (?, ?, ?, ?) -- 900/s
`;

function read(text) {
  try { return JSON.parse(text); } catch { return { error: "the answer cannot be read: " + text.slice(0, 200) }; }
}

async function openTable() {
  const mine = busy();
  say("Connecting to " + $("address").value + " …");
  const answer = await post("/workbench/live", {
    address: $("address").value, token: $("token").value, password: $("password").value,
    tls: $("tls").checked, sample: Number($("sample").value || 0),
  }, mine.signal);
  idle(mine);
  if (!answer) return say("Stopped.");
  if (answer.error) { say("Not opened."); return fail(answer); }
  $("file").value = "";
  held(answer);
}

function question() {
  const text = id => $(id).value.trim();
  return {
    id: data.id, queries: $("queries").value, target: text("target"), region: text("region"), event_time: text("event_time"), types: text("types"),
    max_bad_rows: Math.trunc(Number(text("max_bad_rows").replaceAll(",", ""))) || 0, node_writes_per_second: Number(text("node_writes_per_second").replaceAll(",", "")) || 0,
    local_index: $("local_index").checked, format: text("format"), delimiter: $("delimiter").value, header: text("header"),
    columns: text("columns"), date_order: text("date_order"),
  };
}

async function judge() {
  if (!data) return;
  if (comparing) comparing.abort();
  const mine = busy(), of = data;
  say("Reading " + of.name + " …");
  const answer = await post("/workbench/advise", question(), mine.signal, p => {
    if (p.part) $("bar").value = p.part;
    say("Reading " + of.name + " for " + p.phase + (p.rows ? ": " + number(p.rows) + " rows" : "") + (p.part ? ", " + Math.round(p.part * 100) + "%" : ""));
  });
  idle(mine);
  if (!answer) { if (!work) say("Stopped."); return; }
  if (answer.error) {
    say("Not judged.");
    $("result").hidden = true;
    return fail(answer);
  }
  show(of, answer);
}

function show(of, answer) {
  const title = "A primary key for " + of.name;
  $("result-head").textContent = title;
  document.title = title + " · evenkeel workbench";
  $("save").href = "/workbench/report?id=" + encodeURIComponent(of.id);
  $("save-keys").href = $("save").href + "&keys=1";
  const compare = $("compare");
  $("result").append(compare);
  $("report").innerHTML = answer.html; // made by the handler, which escapes what is the data's
  const verdict = $("verdict") && $("verdict").closest("section");
  if (verdict) verdict.after(compare);
  $("result").hidden = false;
  compare.hidden = answer.designs.length === 0;
  choices(answer.designs);
  say(answer.verdict ? "Judged." : "Profiled; a verdict needs queries.");
  $("result").focus({ preventScroll: true });
  $("result").scrollIntoView({ block: "start" });
}

function choices(designs) {
  const box = $("choices");
  box.replaceChildren(box.firstElementChild);
  chosen = [];
  for (const d of designs) {
    const label = document.createElement("label"), tick = document.createElement("input"), name = document.createElement("code");
    tick.type = "checkbox";
    tick.value = d.number;
    tick.checked = d.chosen;
    if (d.chosen) chosen.push(d.number);
    tick.addEventListener("change", () => {
      chosen = chosen.filter(n => n !== d.number);
      if (tick.checked) chosen.push(d.number);
      bound();
      compareSoon(0);
    });
    name.textContent = d.name;
    label.append(tick, name);
    box.append(label);
  }
  bound();
  $("shards").max = shardCounts.length - 1;
  $("shards").value = 0;
  $("shards").disabled = !designs.some(d => d.shardable);
  named();
  compareSoon(0);
}

// bound lets up to four be ticked, as many as there are kinds of lines.
function bound() {
  for (const tick of $("choices").querySelectorAll("input")) tick.disabled = !tick.checked && chosen.length >= 4;
}

function named() {
  const n = shardCounts[$("shards").value], text = n ? "N = " + n : "as each design says";
  $("n").value = text;
  $("shards").setAttribute("aria-valuetext", text);
  return n;
}

function compareSoon(wait) {
  clearTimeout(later);
  later = setTimeout(compareNow, wait);
}

async function compareNow() {
  if (comparing) comparing.abort();
  if (!data) return;
  if (chosen.length === 0) {
    $("sides").replaceChildren();
    $("compare-status").textContent = "Tick a design.";
    return;
  }
  const mine = comparing = new AbortController();
  $("sides").setAttribute("aria-busy", "true");
  const n = named();
  const answer = await post("/workbench/compare", { id: data.id, designs: chosen, shards: n }, mine.signal);
  if (comparing !== mine) return;
  $("sides").removeAttribute("aria-busy");
  if (!answer) return;
  if (answer.error) {
    $("compare-status").textContent = answer.error + (answer.hint ? " (hint: " + answer.hint + ")" : "");
    return;
  }
  const open = [...$("sides").querySelectorAll("figure")].filter(f => f.querySelector("details")?.open).map(f => f.getAttribute("aria-labelledby"));
  $("sides").innerHTML = answer.html; // as above
  for (const f of $("sides").querySelectorAll("figure")) if (open.includes(f.getAttribute("aria-labelledby"))) f.querySelector("details").open = true;
  $("compare-status").textContent = (chosen.length === 1 ? "One design, " : chosen.length + " designs, ") + (n ? "N = " + n + "." : "as each design says.");
}

$("question").addEventListener("submit", e => { e.preventDefault(); judge(); });
$("queries").addEventListener("keydown", e => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); judge(); } });
$("file").addEventListener("change", () => { if ($("file").files.length) upload($("file").files[0]); });
$("try").addEventListener("click", () => {
  $("queries").value = sampleQueries;
  upload(new File([sample()], "orders.csv"));
});
$("open").addEventListener("click", openTable);
$("stop").addEventListener("click", () => { if (work) work.abort(); });
$("shards").addEventListener("input", () => { named(); compareSoon(150); });
addEventListener("pagehide", forget);

let depth = 0;
const files = e => e.dataTransfer && [...e.dataTransfer.types].includes("Files");
addEventListener("dragenter", e => { if (files(e)) { e.preventDefault(); depth++; document.body.classList.add("over"); } });
addEventListener("dragleave", () => { if (--depth <= 0) { depth = 0; document.body.classList.remove("over"); } });
addEventListener("dragover", e => { if (files(e)) e.preventDefault(); });
addEventListener("drop", e => {
  depth = 0;
  document.body.classList.remove("over");
  if (!files(e)) return;
  e.preventDefault();
  const dropped = e.dataTransfer.files;
  if (dropped.length > 1) return fail({ error: dropped.length + " files were dropped", hint: "one at a time: they are rows of one table" });
  if (dropped.length) {
    $("file").files = dropped; // so that it says the name
    upload(dropped[0]);
  }
});

// The token may come with the address that evenkeel serve printed.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  $("token").value = token;
  history.replaceState(null, "", location.pathname);
}
