// Asks the server for the figures of the last seconds, keeps their course, and draws both.
const every = 2000, kept = 150; // ms between two questions; points of a course

const count = n => Math.round(n).toLocaleString("en");
const rate = n => n === 0 ? "0" : n < 10 ? n.toFixed(1) : count(n);
const short = n => n >= 1e6 ? +(n / 1e6).toPrecision(3) + " M" : n >= 1e4 ? +(n / 1e3).toPrecision(3) + " k" : +n.toPrecision(3) + "";
const bytes = n => n >= 2 ** 30 ? (n / 2 ** 30).toFixed(1) + " GiB" : Math.round(n / 2 ** 20) + " MiB";

function took(seconds) {
  if (seconds === 0) return "–";
  if (seconds < 1e-3) return +(seconds * 1e6).toPrecision(3) + " µs";
  if (seconds < 1) return +(seconds * 1e3).toPrecision(3) + " ms";
  return +seconds.toPrecision(3) + " s";
}

function lasts(seconds) {
  if (seconds < 90) return Math.ceil(seconds) + " s";
  if (seconds < 5400) return Math.ceil(seconds / 60) + " min";
  return (seconds / 3600).toFixed(1) + " h";
}

// ceiling is the least of 1, 2 and 5 times a power of ten that is not below v.
function ceiling(v) {
  const power = 10 ** Math.floor(Math.log10(v));
  return [1, 2, 5, 10].map(f => f * power).find(c => c >= v * (1 - 1e-9));
}

// course draws values over time, with the latest at the right.
function course(id, words, points, of, text, kind) {
  const width = 300, height = 80, left = 58, values = points.map(of), most = ceiling(Math.max(...values, 1e-6));
  const x = t => left + width - (points[points.length - 1].at - t) / (every * kept) * width, y = v => 6 + height * (1 - v / most);
  const svg = draw("svg", { class: "course", viewBox: "0 0 " + (left + width + 4) + " " + (height + 26), role: "img", "aria-labelledby": id });
  svg.append(draw("title", { id }, words + ": now " + text(values[values.length - 1]) + ", at most " + text(Math.max(...values)) + " since the page is open"));
  for (const v of [0, most]) svg.append(draw("line", { class: "grid", x1: left, x2: left + width, y1: y(v), y2: y(v) }), draw("text", { class: "tick", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, v === 0 ? "0" : text(v)));
  svg.append(draw("text", { class: "tick", x: left, y: height + 22 }, "5 min ago"), draw("text", { class: "tick", x: left + width, y: height + 22, "text-anchor": "end" }, "now"));
  let d = "";
  points.forEach((p, i) => {
    const gap = i === 0 || p.at - points[i - 1].at > 3 * every;
    d += (gap ? "M" : "L") + x(p.at).toFixed(1) + " " + y(values[i]).toFixed(1) + (gap ? "h.1" : "");
  });
  svg.append(draw("path", { class: kind, d }));
  return make("figure", {}, make("figcaption", {}, words), svg);
}

const names = { cql: "CQL door", dynamodb: "DynamoDB door" };
const courses = {}; // points by door

function door(d, at) {
  const points = courses[d.door] ||= [];
  points.push({ at, requests: d.requests_per_second, p99: d.p99_seconds });
  while (points[0].at < at - every * kept) points.shift();
  const s = make("section", { class: "door", "aria-labelledby": d.door + "-head" }, make("h2", { id: d.door + "-head" }, names[d.door]));
  s.append(make("ul", { class: "big" },
    figure("requests a second", rate(d.requests_per_second)),
    figure("errors a second", rate(d.errors_per_second), d.errors_per_second > 0 ? "bad" : ""),
    figure("p50 / p99", took(d.p50_seconds) + " / " + took(d.p99_seconds)),
    figure("in flight", count(d.in_flight)),
    ...(d.door === "cql" ? [figure("connections", count(d.connections || 0))] : []),
    ...(d.fan_out_mean ? [figure("store requests for each fanned-out request", d.fan_out_mean.toFixed(1))] : [])));
  s.append(make("div", { class: "pair" },
    course(d.door + "-requests", "Requests a second", points, p => p.requests, short, "requests"),
    course(d.door + "-p99", "p99", points, p => p.p99, took, "latency")));
  return s;
}

function change(c) {
  const part = (label, n) => make("label", {}, make("span", {}, label),
    make("progress", { max: Math.max(c.rows_total, 1), value: n }), make("span", {}, count(n) + " of " + count(c.rows_total)));
  const left = c.rows_total - c.rows_moved;
  const words = "Step: " + c.step + "." + (c.rows_moved_per_second > 0 && left > 0 ?
    " " + count(c.rows_moved_per_second) + " rows a second; " + lasts(left / c.rows_moved_per_second) + " left to move." : "");
  return make("div", { class: "change" }, make("h3", {}, c.table), make("p", { class: "words" }, words),
    ...(c.rows_total > 0 ? [part("moved", c.rows_moved), part("verified", c.rows_verified)] : []));
}

// table makes a table of columns: a heading, a cell's text, and a class.
function table(columns, rows) {
  return make("table", {},
    make("thead", {}, make("tr", {}, ...columns.map(c => make("th", { scope: "col", class: c.kind || "" }, c.head)))),
    make("tbody", {}, ...rows.map(r => make("tr", {}, ...columns.map(c => make("td", { class: (c.kind || "") + (c.bad && c.bad(r) ? " bad" : "") }, c.of(r)))))));
}

const perTable = [
  { head: "table", of: t => t.table || "(none or several)", kind: "name" }, { head: "door", of: t => t.door },
  { head: "requests/s", of: t => rate(t.requests_per_second), kind: "n" }, { head: "errors/s", of: t => rate(t.errors_per_second), kind: "n", bad: t => t.errors_per_second > 0 },
  { head: "p50", of: t => took(t.p50_seconds), kind: "n" }, { head: "p99", of: t => took(t.p99_seconds), kind: "n" },
  { head: "fan-out", of: t => t.fan_out_mean ? t.fan_out_mean.toFixed(1) : "–", kind: "n" },
];
const perThrottled = [
  { head: "table", of: t => (t.table || "(none or several)") + (t.index ? " index " + t.index : ""), kind: "name" },
  { head: "cause", of: t => t.cause }, { head: "partition key", of: t => t.key || "(all)", kind: "name" },
  { head: "times/s", of: t => rate(t.per_second), kind: "n" },
];
const perError = [{ head: "door", of: e => names[e.door] }, { head: "code", of: e => e.code, kind: "name" }, { head: "errors/s", of: e => rate(e.per_second), kind: "n" }];
const perHost = [
  { head: "host", of: h => h.host, kind: "name" }, { head: "state", of: h => h.up ? "up" : "down", bad: h => !h.up },
  { head: "connections", of: h => count(h.connections), kind: "n" }, { head: "in flight", of: h => count(h.in_flight), kind: "n" },
];
const causes = {
  partition: "partition: one partition got more than its own limit. The key is hot; write_sharding spreads it.",
  table: "table: the table or index used up its provisioned throughput. Give it more, or make it on-demand.",
  account: "account: the account's quota, or the maximum of an on-demand table, is reached.",
  untold: "untold: DynamoDB did not say which limit it was.",
};

function fill(id, rows, columns) {
  $(id).hidden = rows.length === 0;
  if (rows.length) $(id).querySelector("div").replaceChildren(table(columns, rows));
}

function show(r, at) {
  $("figures").hidden = false;
  $("status").className = "";
  $("status").textContent = "The last " + r.seconds.toFixed(1) + " s: " + r.cpu_cores.toFixed(2) + " cores busy, " + bytes(r.resident_bytes) + " of memory, " + count(r.goroutines) + " goroutines.";
  $("doors").replaceChildren(...r.doors.map(d => door(d, at)));
  const changes = r.changes || [];
  $("changes").hidden = changes.length === 0;
  $("changes").querySelector("div").replaceChildren(...changes.map(change));
  const throttled = r.throttled || [];
  fill("throttled", throttled, perThrottled);
  $("causes").replaceChildren(...[...new Set(throttled.map(t => t.cause))].map(c => make("li", {}, causes[c] || c)));
  fill("tables", r.tables.slice(0, 20), perTable);
  fill("errors", r.errors, perError);
  fill("hosts", r.hosts || [], perHost);
}

async function watch() {
  for (;;) {
    try {
      const answer = await fetch("/server/figures");
      if (!answer.ok) throw new Error(await answer.text());
      const r = await answer.json();
      if (r) show(r, Date.now());
    } catch {
      $("status").className = "lost";
      $("status").textContent = "The server does not answer. The figures below are its last; this page asks again.";
    }
    await new Promise(done => setTimeout(done, every));
    while (document.hidden) await new Promise(done => document.addEventListener("visibilitychange", done, { once: true }));
  }
}
watch();
