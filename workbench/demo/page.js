// The live picture: asks for the state now and then, and draws it. The numbers are
// those of the terminal.
const number = n => Math.round(n).toLocaleString("en");

// course draws writes second by second: offered behind, accepted before.
function course(t, r, i) {
  const seconds = r.warm_up_seconds + r.seconds, width = 640, height = 120, left = 52, most = 2 * r.writes_per_second;
  const words = t.state === "waiting" ? t.title + ": not begun." :
    t.title + ": " + number(t.accepted_per_second) + " of " + number(r.writes_per_second) + " writes a second are accepted.";
  const svg = draw("svg", { class: "course", viewBox: "0 -6 " + (left + width + 4) + " " + (height + 28), role: "img", "aria-labelledby": "course" + i });
  svg.append(draw("title", { id: "course" + i }, words));
  for (const v of [0, r.writes_per_second, most]) {
    const y = 4 + height * (1 - v / most);
    svg.append(draw("line", { class: "grid", x1: left, x2: left + width, y1: y, y2: y }), draw("text", { class: "tick", x: left - 7, y: y + 4, "text-anchor": "end" }, number(v)));
  }
  const slot = width / seconds;
  t.course.forEach((s, n) => {
    const before = n < r.warm_up_seconds ? " before" : "";
    for (const [kind, v] of [["offered", s.offered], ["accepted", s.accepted]]) {
      const h = height * v / most;
      svg.append(draw("rect", { class: kind + before, x: left + slot * n + 2, width: slot - 4, y: 4 + height - h, height: h }));
    }
    svg.append(draw("text", { class: "tick", x: left + slot * (n + .5), y: height + 19, "text-anchor": "middle" }, n < r.warm_up_seconds ? "–" : String(n - r.warm_up_seconds + 1)));
  });
  return svg;
}

// strip draws the partitions, and which keys share them.
function strip(t) {
  const list = make("ul", { class: "strip", "aria-label": "Partitions of " + t.title });
  const used = new Map(t.map.map(p => [p.partition, p]));
  for (let n = 1; n <= t.partitions; n++) {
    const p = used.get(n);
    if (!p) {
      list.append(make("li", { title: "partition " + n + ": idle", "aria-hidden": "true" }));
      continue;
    }
    const meter = make("meter", { min: 0, max: 1000, high: 970, optimum: 0, value: Math.min(1000, p.write_units), "aria-label": "write units a second in partition " + n });
    list.append(make("li", { class: "used" + (p.keys.length > 1 ? " shared" : "") }, p.keys.join(", "), meter));
  }
  return list;
}

function section(t, r, i) {
  const s = make("section", { class: "table " + t.state, "aria-labelledby": "table" + i });
  s.append(make("h2", { id: "table" + i }, t.title));
  if (t.state === "waiting") {
    s.append(make("p", { class: "words" }, "Not begun."));
    return s;
  }
  s.append(make("ul", { class: "big" },
    figure("accepted a second", number(t.accepted_per_second)),
    figure("throttled a second", number(t.offered ? t.throttled / t.offered * r.writes_per_second : 0), "throttled"),
    figure("of " + t.partitions + " partitions in use", String(t.occupied)),
    figure("p50 / p99", t.p50_ms.toFixed(2) + " / " + t.p99_ms.toFixed(2) + " ms")));
  s.append(make("figure", {}, make("figcaption", {}, "Writes by second: offered, and accepted of them; pale, before it counts"), course(t, r, i)));
  s.append(strip(t));
  for (const words of t.explanation) s.append(make("p", { class: "words" }, words));
  return s;
}

let drawn = [];
function show(r) {
  $("intro").textContent = number(r.writes_per_second) + " writes a second of " + number(r.item_bytes) + " bytes for one InvoiceNumber, " + r.invoice_number +
    ", on the embedded engine with DynamoDB's limits: 1,000 write units a second for each partition.";
  r.tables.forEach((t, i) => {
    const text = JSON.stringify(t);
    if (drawn[i] === text) return;
    drawn[i] = text;
    const now = section(t, r, i), old = $("tables").children[i];
    if (old) old.replaceWith(now); else $("tables").append(now);
  });
  const q = r.tables.map(t => t.query).filter(Boolean);
  $("query").hidden = q.length === 0;
  if (q.length) {
    $("expression").textContent = q[0].expression;
    $("agree").textContent = r.queries_agree ? "The same list from " + (q.length === 1 ? "the table" : "all " + q.length + " tables") + " so far: " + q[0].items.length + " transactions." : "The lists differ.";
    if (r.done && !r.partial && r.queries_agree) $("agree").textContent = "The same list from all " + q.length + " tables: " + q[0].items.length + " transactions.";
    $("found").textContent = q[0].client1 + " are of Client1; " + q[0].client10 + " are of Client10, which begins with Client1, too. With a separator, begins_with(ClientTransactionid, \"Client1-\"), it is the " + q[0].with_separator + ".";
  }
}

function clock(r) {
  const scaled = r.speed > 0 && Math.abs(r.speed - 1) > .03;
  return scaled ? " The engine's clock goes at " + r.speed.toFixed(2) + " × the wall's; figures are per second of the engine's." : "";
}

async function watch() {
  for (;;) {
    let r;
    try {
      r = await (await fetch("/demo/state")).json();
    } catch {
      $("status").textContent = "evenkeel demo has ended; this is what it showed last.";
      return;
    }
    show(r);
    const now = r.tables.find(t => t.state === "writing");
    if (r.done) {
      $("status").textContent = (r.partial ? "Stopped (" + r.why + "): the result is partial." : "Done.") + clock(r);
      document.body.dataset.done = "yes";
      return;
    }
    $("status").textContent = (now ? "Writing: " + now.title + "." : "Starting …") + clock(r);
    await new Promise(done => setTimeout(done, 250));
  }
}
watch();
