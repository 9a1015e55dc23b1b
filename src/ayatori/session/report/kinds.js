// One function for each kind of result: takes it, gives [heading, elements]. What has none is shown as it is.
const median = (figure) => (figure && typeof figure === "object" ? figure.median : figure);
const describeChoice = (choice) => choice.method + (choice.restart ? `(${choice.restart})` : "") + " + " + choice.preconditioner +
  (choice.device ? ` on ${choice.device}` : "");
const describeMatrix = (m) => (m.complex_symmetric ? "complex symmetric" : m.symmetric ? (m.complex ? "Hermitian" : "symmetric") : m.complex ? "complex, unsymmetric" : "unsymmetric");

// First, so that they have these colours in every solve of a page.
const solvePhases = ["reading", "choosing", "set-up", "products", "halo", "preconditioner", "orthogonalization", "verifying", "reductions",
  "other vector operations", "iterations"];

function solveReport(r) {
  solvePhases.forEach(colourOf);
  const s = r.seconds;
  const history = (what, label) => lines({
    title: `Residual by ${what === "seconds" ? "time: the race of what was tried" : "iterations"}`,
    x: {label, format: what === "seconds" ? seconds : count, zero: true}, y: {label: "relative residual", log: 10},
    series: (r.history ?? []).map((arm) => ({name: arm.choice, points: arm[what].map((v, i) => [v, arm.relative_residuals[i]])})),
    marks: [{y: r.rtol, text: `tolerance ${digits(r.rtol)}`}]});
  const other = s.solve - s.spmv - s.halo - s.preconditioner - s.orthogonalization - s.reduction;
  const inside = [["products", s.spmv], ["halo", s.halo], ["preconditioner", s.preconditioner], ["orthogonalization", s.orthogonalization],
    ["reductions", s.reduction], ["other vector operations", Math.max(0, other)]];
  const cached = r.product.memory_seconds > r.product.seconds;
  const considered = r.tuning.considered.filter((c) => c.measured_seconds || c.predicted_seconds);
  const arms = r.trials.map((t, i) => ({label: `${i + 1}  ${describeChoice(t.choice)}`,
    parts: [["set-up", t.seconds.setup], ["iterations", t.seconds.solve]]}));
  return [`Solve: ${r.matrix.source}`, [
    paragraph(`${count(r.matrix.rows)} rows, ${count(r.matrix.nonzeros)} nonzeros, ${describeMatrix(r.matrix)}; ${several(r.ranks, "rank")} × ${several(r.threads, "thread")}; ${r.mpi}`, true),
    tiles([r.status, "by the true residual, in double precision", r.converged ? "good" : "bad"], [digits(r.relative_residual), "||b − A x|| / ||b||"],
      [describeChoice(r.choice), "chosen"], [r.choice.kernel, "product kernel"], r.ranks > 1 && [r.choice.halo, "halo exchange"],
      [count(r.iterations), "iterations"], [seconds(s.total), "in all"]),
    paragraph(`Because ${r.why}.`),
    r.obstacle ? paragraph(`In the way: ${r.obstacle.property}. To try: ${r.obstacle.advice}.`) : null,
    grid(history("seconds", "since the solve began"), history("iterations", "iterations of all trials"),
      bars({title: "Where the time went", format: seconds, rows: [
        {label: "reading", parts: [["reading", s.read]]}, {label: "choosing", parts: [["choosing", s.tuning]]},
        {label: "set-up", parts: [["set-up", s.setup]]}, {label: "iterations", parts: inside}, {label: "verifying", parts: [["verifying", s.verification]]}]}),
      bars({title: "Trials", format: seconds, rows: arms}),
      r.product.seconds ? bars({title: "One product with the matrix", format: seconds,
        caption: `It moves ${bytes(r.product.bytes)}. ` + (!r.product.memory_seconds ? "Without a machine profile its limit is not known."
          : cached ? "It is faster than the memory allows: its data comes from caches." : "The mark: what the memory allows at the rate of STREAM's triad."),
        rows: [{label: r.choice.kernel, parts: [["product", r.product.seconds]], mark: cached ? 0 : r.product.memory_seconds ?? 0, markText: "limit of the memory"}]}) : null,
      bars({title: "Kernels and halo exchanges that were considered", format: seconds, caption: "A product each; measured where it was tried, else predicted.",
        rows: considered.map((c) => ({label: c.name, parts: [[c.measured_seconds ? "measured" : "predicted", c.measured_seconds ?? c.predicted_seconds]]}))}),
      r.placement ? placementCosts("Halo exchange before and after placement", {"in order": r.placement.before, "placed": r.placement.after}) : null,
      !r.trials.length ? null : card("What was tried", table(["", "choice", "outcome", "iterations", "residual", "why"], r.trials.map((t, i) =>
        [i + 1, describeChoice(t.choice), t.outcome + (t.reason ? `: ${t.reason}` : ""), t.iterations, t.relative_residual, t.why]))),
      r.events.length ? card("What happened", table(["after", "what", ""], r.events.map((e) => [seconds(e.seconds), e.kind, e.text]))) : null)]];
}

function leastSquaresReport(r) {
  const norm = {b: "||b||", x: "||x||", r: "||r||, r = b − A x", r_error_bound: "what rounding did to r, at most", normal: "||Aᵀ r||",
    normal_error_bound: "what rounding did to it, at most", a_lower_bound: "||A||, at least"};
  const {total, ...phases} = r.seconds;
  return [`Least squares: ${r.matrix}`, [
    paragraph(`${count(r.rows)} rows, ${count(r.columns)} columns, ${count(r.nonzeros)} nonzeros; ${several(r.ranks, "rank")}`, true),
    tiles([r.status, r.proved ? "proved" : "not proved", r.proved ? "good" : "bad"], [digits(r.relative_normal), "||Aᵀ r|| / (||A|| ||r||)"],
      [r.preconditioner, "preconditioner"], r.damp > 0 && [digits(r.damp), "damping"], [count(r.iterations), "iterations"], [seconds(total), "in all"]),
    grid(bars({title: "Where the time went", format: seconds, rows: Object.entries(phases).map(([name, v]) => ({label: name, parts: [["time", v]]}))})),
    card("Norms", table(["", ""], Object.entries(norm).map(([key, words]) => [words, r.norms[key]])))]];
}

function hardware(node) {
  const packages = Math.max(1, node.packages), cores = Math.max(1, Math.round(node.cores / packages));
  const shown = Math.min(cores, 64);
  return figure("The node", `${node.hostname}: ${node.processor}, ${bytes(node.memory_bytes)}; ${node.packages} package(s), ${node.numa_nodes} NUMA node(s), ${node.cores} cores, ${node.processing_units} processing units`, (width) => {
    const caches = [...node.caches].sort((a, b) => b.level - a.level);
    const perRow = Math.max(1, Math.min(shown, Math.floor((width - 30) / 30)));
    const rowsOfCores = Math.ceil(shown / perRow);
    const inside = 20 * caches.length + 26 * rowsOfCores + 34;
    const root = canvas(width, packages * (inside + 8), "the node");
    for (let p = 0; p < packages; ++p) {
      const y = p * (inside + 8) + 2;
      root.append(svg("rect", {x: 1, y, width: width - 2, height: inside, fill: "none", stroke: "var(--soft)", rx: 5}), text(9, y + 17, `package ${p}`, {class: "label"}));
      caches.forEach((cache, i) => root.append(
        svg("rect", {x: 9, y: y + 25 + 20 * i, width: width - 18, height: 17, fill: colour(i), opacity: 0.22, rx: 3}),
        text(15, y + 38 + 20 * i, `L${cache.level} ${bytes(cache.bytes)}, shared by ${cache.sharers}`)));
      for (let c = 0; c < shown; ++c)
        root.append(svg("rect", {x: 9 + (c % perRow) * ((width - 18) / perRow), y: y + 29 + 20 * caches.length + 26 * Math.floor(c / perRow),
          width: (width - 18) / perRow - 3, height: 21, fill: colour(0), opacity: 0.75, rx: 2}));
    }
    return root;
  });
}

// Rows are levels, columns ranks: ranks of one colour run are in one group.
function groups(levels, ranks) {
  const usable = levels.filter((level) => level.group_of_rank?.length === ranks);
  if (!usable.length || ranks < 2) return null;
  return figure("Levels of the machine, by rank", "What was inferred from the times of pairs: ranks whose boxes are joined are near each other at that level.", (width) => {
    const left = Math.min(130, 0.32 * width), cell = (width - left - 4) / ranks;
    const root = canvas(width, 26 * usable.length + 22, "levels");
    usable.forEach((level, i) => {
      root.append(text(left - 7, 26 * i + 17, `${i + 1} ${level.name}`, {"text-anchor": "end"}));
      for (let first = 0; first < ranks;) {
        let last = first;
        while (last + 1 < ranks && level.group_of_rank[last + 1] === level.group_of_rank[first]) ++last;
        const box = svg("rect", {x: left + first * cell, y: 26 * i + 3, width: (last - first + 1) * cell - 2, height: 20, fill: colour(level.group_of_rank[first]), opacity: 0.75, rx: 3});
        box.append(hint(`${level.name}: ranks ${first} to ${last}`));
        root.append(box);
        first = last + 1;
      }
    });
    const every = Math.ceil(22 / cell);
    for (let r = 0; r < ranks; r += every)
      root.append(text(left + (r + 0.5) * cell, 26 * usable.length + 15, r, {class: "label", "text-anchor": "middle"}));
    return root;
  });
}

function fitted(pieces, points) {
  const of = (size) => [...pieces].reverse().find((piece) => size >= piece.from) ?? pieces[0];
  return points.map((p) => [p.bytes, of(p.bytes).alpha + of(p.bytes).beta * p.bytes]);
}

function messageCurves(level, number, levels) {
  const where = level.name + (levels.length > 1 ? `, level ${number + 1}` : "");
  const curves = level.curves.filter((c) => c.points.length > 1);
  const widest = (pattern) => curves.filter((c) => c.pattern === pattern).sort((a, b) => a.pairs - b.pairs);
  const shown = curves.filter((c) => c === widest(c.pattern)[0] || c === widest(c.pattern).at(-1)).slice(0, 8);
  const name = (c) => c.pattern + (c.pairs > 1 ? `, ${c.pairs} pairs` : "");
  const cliffs = [...new Set(shown.flatMap((c) => c.pieces.slice(1).map((piece) => piece.from)))].map((from) => ({x: from, text: `from ${bytes(from)}`}));
  if (level.eager_bytes > 0) cliffs.push({x: level.eager_bytes, text: "eager"});
  const x = {label: "bytes of a message", log: 2, format: bytes};
  return [
    lines({title: `Messages ${where}: time, with the fit α + β x (dashed)`, x, y: {label: "time", log: 10, format: seconds}, marks: cliffs,
      caption: "Marks: where another piece of the fit begins, and up to where a send does not wait.",
      series: shown.flatMap((c, i) => [{name: name(c), colour: colour(i), points: c.points.map((p) => [p.bytes, median(p.seconds)])},
        {name: "fit", colour: colour(i), dashed: true, points: fitted(c.pieces, c.points)}])}),
    lines({title: `Messages ${where}: bandwidth`, x, y: {label: "bandwidth", log: 10, format: rate}, marks: cliffs,
      series: shown.map((c, i) => ({name: name(c), colour: colour(i), points: c.points.map((p) => [p.bytes, c.pairs * p.bytes / median(p.seconds)])}))})];
}

function profileReport(r) {
  const threads = Math.max(0, ...r.memory.map((m) => m.threads));
  const kernels = [...new Set(r.memory.map((m) => m.kernel))];
  const here = (m) => m.threads === threads && !m.touched_by_one;
  const largest = Math.max(0, ...r.memory.map((m) => m.bytes));
  const counts = [...new Set(r.memory.map((m) => m.threads))].sort((a, b) => a - b);
  const at = (kernel, t) => r.memory.find((m) => m.kernel === kernel && m.threads === t && m.bytes === largest && !m.touched_by_one);
  const caches = (r.node.caches ?? []).map((c) => ({x: c.bytes * Math.max(1, Math.round(threads / Math.max(1, c.sharers))), text: `L${c.level}`}));
  const pairs = Array.from({length: r.ranks}, () => Array(r.ranks).fill(null));
  for (const p of r.pairs) pairs[p.first][p.second] = pairs[p.second][p.first] = p.seconds;
  const triad = at("triad", counts.at(-1));
  const operations = [...new Set(r.collectives.map((c) => c.operation))];
  const mostRanks = Math.max(0, ...r.collectives.map((c) => c.ranks));
  const typical = r.levels.filter((level) => level.typical_seconds > 0);
  return [`Machine: ${r.node.hostname || r.source}`, [
    paragraph(`${several(r.ranks, "rank")} × ${several(r.threads, "thread")}; ${r.mpi || r.source}; measured in ${seconds(r.measuring_seconds)}`, true),
    tiles(triad && [rate(median(triad.bytes_per_second)), `triad, ${several(triad.threads, "thread")}`], r.node.cores > 0 && [count(r.node.cores), "cores"],
      ...typical.map((level) => [seconds(level.typical_seconds), `a short message ${level.name}`]),
      r.complete === false && ["incomplete", "the measuring was interrupted", "bad"]),
    grid(
      r.node.cores > 0 ? hardware(r.node) : null, groups(r.levels, r.ranks),
      lines({title: `Memory bandwidth by working set, ${several(threads, "thread")}`, x: {label: "bytes of all arrays", log: 2, format: bytes}, y: {label: "bandwidth", log: 10, format: rate},
        marks: caches, caption: "Marks: where the caches of the threads end.",
        series: kernels.map((kernel) => ({name: kernel, points: r.memory.filter((m) => m.kernel === kernel && here(m)).map((m) => [m.bytes, median(m.bytes_per_second)])}))}),
      bars({title: `Memory bandwidth by threads, ${bytes(largest)}`, format: rate,
        rows: counts.flatMap((t) => kernels.filter((k) => at(k, t)).map((k) => ({label: `${k}, ${t}`, parts: [["bandwidth", median(at(k, t).bytes_per_second)]]})))}),
      r.numa.length > 1 ? matrix({title: "Memory bandwidth between NUMA nodes", rowName: "threads on", columnName: "memory on", format: rate,
        values: [...new Set(r.numa.map((n) => n.threads_node))].map((t) => [...new Set(r.numa.map((n) => n.memory_node))].map((m) => median(r.numa.find((n) => n.threads_node === t && n.memory_node === m)?.bytes_per_second) ?? null))}) : null,
      r.pairs.length && r.ranks <= 512 ? matrix({title: "A short message from rank to rank", rowName: "rank", columnName: "rank", values: pairs, format: seconds}) : null,
      ...r.levels.flatMap(messageCurves),
      r.device ? card(`Device: ${r.device.name}`, table(["", ""], [["copying inside", rate(r.device.copy_bytes_per_second)],
        ["from the host", rate(r.device.in_bytes_per_second)], ["back to the host", rate(r.device.out_bytes_per_second)],
        ["a step", seconds(r.device.step_seconds)], ["8 bytes to the host", seconds(r.device.wait_seconds)], ["opening it", seconds(r.device.open_seconds)]])) : null,
      r.reduction?.points?.length ? lines({title: "Combining two buffers (a reduction's arithmetic)", x: {label: "bytes", log: 2, format: bytes}, y: {label: "time", log: 10, format: seconds},
        series: [{name: "measured", points: r.reduction.points.map((p) => [p.bytes, median(p.seconds)])}, {name: "fit", dashed: true, points: fitted(r.reduction.pieces, r.reduction.points)}]}) : null,
      lines({title: `The MPI's collectives on ${mostRanks} ranks`, x: {label: "bytes", log: 2, format: bytes}, y: {label: "time", log: 10, format: seconds},
        series: operations.map((operation) => ({name: operation, points: r.collectives.filter((c) => c.operation === operation && c.ranks === mostRanks).map((c) => [c.bytes, median(c.seconds)])}))}),
      r.barriers.length ? bars({title: "Barriers", format: seconds, rows: r.barriers.map((b) => ({label: `${b.kind}, ${b.threads}`, parts: [["barrier", median(b.seconds)]]}))}) : null,
      r.left_out.length ? card("What could not be measured", ...r.left_out.map((words) => paragraph(words))) : null)]];
}

function predictReport(r) {
  const x = {label: "nodes", log: 2, format: count};
  const first = r.points[0];
  const speed = r.points.map((p) => [p.nodes, p.speed_up]);
  return [`Forecast: ${r.matrix}`, [
    paragraph(`${count(r.rows)} rows, ${count(r.nonzeros)} nonzeros; ${r.method} with preconditioner ${r.preconditioner}; ${r.profile}${r.network ? `, ${r.network}` : ""}; ${several(r.ranks_per_node, "rank")} × ${several(r.threads, "thread")} a node`, true),
    tiles([seconds(r.points.at(-1).seconds), `an iteration on ${r.points.at(-1).nodes} nodes`], [digits(r.points.at(-1).speed_up), "times as fast as on the first"],
      [percent(r.points.at(-1).efficiency), "efficiency"], [r.points.at(-1).bound, "bounds it"]),
    paragraph(r.conclusion), paragraph(r.scaling), ...r.crossovers.map((words) => paragraph(words)),
    grid(
      lines({title: "Speed-up", x, y: {label: "times as fast", log: 10}, series: [{name: "predicted", points: speed},
        {name: "ideal", dashed: true, colour: "var(--soft)", points: r.points.map((p) => [p.nodes, p.nodes / first.nodes])}]}),
      lines({title: "What an iteration is made of", x, y: {label: "time", log: 10, format: seconds},
        series: [{name: "all", colour: "var(--ink)", points: r.points.map((p) => [p.nodes, p.seconds])},
          ...Object.keys(first.phases).map((phase) => ({name: phase, points: r.points.map((p) => [p.nodes, p.phases[phase]])}))]}),
      bars({title: "Shares of an iteration", format: percent, rows: r.points.map((p) => ({label: `${p.nodes} nodes`, parts: Object.entries(p.phases).map(([name, v]) => [name, v / p.seconds])}))}),
      lines({title: "What doubling a resource would gain", x, y: {label: "times as fast", zero: false}, series: Object.keys(first.gains).map((name) => ({name: name === "latency" ? "half the latency" : `twice the ${name}`, points: r.points.map((p) => [p.nodes, p.gains[name]])}))}),
      r.assumptions.length ? card("Assumed", ...r.assumptions.map((words) => paragraph(words))) : null)]];
}

function schedulesReport(r) {
  const x = {label: "bytes", log: 2, format: bytes}, y = {label: "predicted time", log: 10, format: seconds};
  const best = r.best ?? r.entries ?? [];
  const of = (name) => best.filter((b) => b[name] > 0).map((b) => [b.bytes, b[name]]);
  const runs = [];
  for (const b of best) {
    if (runs.length && runs.at(-1).text === b.text) runs.at(-1).last = b.bytes;
    else runs.push({text: b.text, first: b.bytes, last: b.bytes});
  }
  return [`Schedules: ${r.operation ?? "a table"}${r.ranks ? ` on ${r.ranks} ranks` : ""}`, [
    paragraph(r.profile ? `for ${r.profile}` : "", true),
    grid(
      lines({title: "The best schedule beside what everybody uses", x, y, series: [{name: "best", points: of("seconds")}, {name: "best, replayed by events", points: of("replayed_seconds")},
        {name: "binomial", points: of("binomial_seconds")}, {name: "Rabenseifner", points: of("rabenseifner_seconds")}]}),
      lines({title: "How many times as fast the best is", x, y: {label: "ratio"}, series: [["binomial", "binomial_seconds"], ["Rabenseifner", "rabenseifner_seconds"]].map(([name, key]) =>
        ({name: `beside ${name}`, colour: colourOf(name), points: best.filter((b) => b[key] > 0).map((b) => [b.bytes, b[key] / b.seconds])}))}),
      runs.length ? card("Which schedule for which size", table(["from", "to", "schedule"], runs.map((run) => [bytes(run.first), bytes(run.last), run.text]))) : null,
      ...(r.drawings ?? []).map(drawing))]];
}

function benchCollectivesReport(r) {
  const x = {label: "bytes", log: 2, format: bytes};
  const operations = [...new Set(r.timings.map((t) => t.operation))];
  const curves = operations.map((operation) => {
    const timings = r.timings.filter((t) => t.operation === operation);
    const fastest = (t) => Math.min(...(t.mpi_algorithms ?? []).map((a) => median(a.seconds)).filter((v) => v > 0));
    const bySize = [...new Set(timings.map((t) => t.bytes))].map((size) => timings.filter((t) => t.bytes === size)
      .reduce((a, b) => (median(b.schedule_seconds) < median(a.schedule_seconds) ? b : a)));
    const points = (of) => bySize.map((t) => [t.bytes, of(t)]);
    return [operation, points((t) => median(t.schedule_seconds)), points((t) => median(t.mpi_seconds)), points(fastest), bySize];
  });
  return [`Collectives measured on ${r.ranks} ranks`, [paragraph(r.mpi, true), grid(
    ...curves.map(([operation, ours, theirs, fastest]) => lines({title: operation, x, y: {label: "time (median)", log: 10, format: seconds},
      series: [{name: "schedule", points: ours}, {name: "the MPI", points: theirs}, {name: "the best of the MPI's algorithms", points: fastest}]})),
    lines({title: "How many times as fast as the MPI the schedules are", x, y: {label: "ratio", log: 10}, marks: [{y: 1, text: "equal"}],
      series: curves.map(([operation, ours, theirs]) => ({name: operation, points: ours.map(([size, v], i) => [size, theirs[i][1] / v])}))}),
    card("Timings", make("details", {}, make("summary", {}, `${r.timings.length} timings`),
      table(["operation", "bytes", "schedule", "its µs", "the MPI's µs"], r.timings.map((t) => [t.operation, t.bytes, t.text, 1e6 * median(t.schedule_seconds), 1e6 * median(t.mpi_seconds)])))))]];
}

const metricNames = {messages_between: "messages between nodes", bytes_between: "bytes between nodes", hop_bytes: "bytes × hops",
  busiest_rank_seconds: "busiest rank", busiest_link_seconds: "busiest link", seconds: "the exchange"};
function placementCosts(title, placements) {
  const names = Object.keys(placements);
  const derived = (c) => ({...c, messages_between: c.messages - c.messages_inside, bytes_between: c.bytes - c.bytes_inside});
  const first = derived(placements[names[0]]);
  const rows = Object.keys(metricNames).filter((key) => first[key] > 0)
    .flatMap((key) => names.map((name) => ({label: `${metricNames[key]}, ${name}`, parts: [[name, derived(placements[name])[key] / first[key]]]})));
  return bars({title, caption: "Beside the first, which is 1.", rows});
}
// Who talks to whom before and after, with ranks in the order of their nodes.
function communication(r) {
  const c = r.communication;
  if (!c || !c.placed.bytes.length) return [];
  const places = Array.from({length: c.cells}, (_, i) => Math.ceil(i * r.ranks / c.cells));  // the first of each cell
  return [["Who talks to whom, in order of ranks", c.order_of_ranks], ["Who talks to whom, as placed", c.placed]].map(([title, map]) => {
    const values = Array.from({length: c.cells}, () => Array(c.cells).fill(0));
    map.bytes.forEach((b, k) => { values[map.from[k]][map.to[k]] = b; });
    return matrix({title, caption: "Ranks in the order of their nodes: what is near the diagonal stays inside, or near.", values, rowName: "from place",
      columnName: "to place", labels: {rows: places, columns: places}, range: [...c.order_of_ranks.bytes, ...c.placed.bytes], format: bytes});
  });
}
function placementReport(r) {
  const placements = {"order of ranks": r.order_of_ranks, "dealt round": r.dealt_round, placed: r.placed};
  const format = {messages: count, messages_inside: count, bytes, bytes_inside: bytes, hop_bytes: bytes, seconds, busiest_rank_seconds: seconds, busiest_link_seconds: seconds};
  const keys = Object.keys(r.placed);
  const ranksOf = Array.from({length: r.nodes}, () => []);
  r.node_of_rank.forEach((node, rank) => ranksOf[node]?.push(rank));
  return [`Placement: ${r.ranks} ranks on ${r.nodes} nodes of ${r.network}`, [
    tiles([r.how, "won"], [digits(r.order_of_ranks.seconds / r.placed.seconds), "times as fast an exchange as in order of ranks", r.placed.seconds < r.order_of_ranks.seconds ? "good" : ""],
      [percent(r.placed.messages_inside / (r.placed.messages || 1)), "of the messages stay inside nodes"], [seconds(r.placed.busiest_link_seconds), "on the busiest link"]),
    grid(placementCosts("Costs before and after", placements)),
    grid(...communication(r)),
    grid(
      card("Costs", table(["", ...Object.keys(placements)], keys.map((key) => [key.replaceAll("_", " "), ...Object.values(placements).map((c) => (format[key] ?? digits)(c[key]))]))),
      card("What was tried", table(["", r.objective, "played through"], r.attempts.map((a) => [a.how, r.objective === "time" ? seconds(a.value) : a.value, a.played_through === null ? "" : seconds(a.played_through)]))),
      card("Ranks of every node", make("details", {}, make("summary", {}, `${r.nodes} nodes`), table(["node", "ranks"], ranksOf.map((ranks, node) => [String(node), ranks.join(" ")])))))]];
}

function eigenReport(r) {
  const {all, total, ...phases} = r.seconds;
  return [`Eigenvalues: ${r.matrix.source}`, [
    paragraph(`${count(r.matrix.rows)} rows; ${r.method}; ${several(r.ranks, "rank")} × ${several(r.threads, "thread")}`, true),
    tiles([r.verified ? "verified" : "not good", "by residuals and orthogonality", r.verified ? "good" : "bad"], [count(r.pairs), r.vectors ? "pairs" : "values"], [seconds(total), "in all"],
      ...Object.entries(r.ratios).map(([name, v]) => [digits(v), `${name}, in units of n ε`])),
    grid(lines({title: "The spectrum", x: {label: "number"}, y: {label: "eigenvalue", zero: false}, series: [{name: "eigenvalues", dots: true, points: r.values.map((v, i) => [i, v])}]}),
      bars({title: "Where the time went", format: seconds, rows: Object.entries(phases).map(([name, v]) => ({label: name.replaceAll("_", " "), parts: [["time", v]]}))}),
      Object.keys(r.collective_operations ?? {}).length ? bars({title: "Collective operations", format: seconds,
        rows: Object.entries(r.collective_operations).map(([name, c]) => ({label: `${name}, ${count(c.calls)} calls`, parts: [["time", c.seconds]]}))}) : null,
      r.residuals ? lines({title: "Residuals", x: {label: "number"}, y: {label: "||A v − λ v|| / ||A||", log: 10}, series: [{name: "residual", dots: true, points: r.residuals.map((v, i) => [i, v])}]}) : null)]];
}

function gridReport(r) {
  const ranks = [...new Set(r.points.map((p) => p.ranks))].sort((a, b) => a - b);
  const threads = [...new Set(r.points.map((p) => p.threads))].sort((a, b) => a - b);
  const at = (field) => ranks.map((n) => threads.map((t) => r.points.find((p) => p.ranks === n && p.threads === t)?.[field] ?? null));
  const labels = {rows: ranks, columns: threads};
  return [`Ranks and threads: ${r.kernel}`, [
    grid(matrix({title: `${r.rate_unit}: ranks down, threads across`, rowName: "ranks", columnName: "threads", labels, values: at("rate"), format: digits}),
      matrix({title: "Efficiency: ranks down, threads across", rowName: "ranks", columnName: "threads", labels, values: at("efficiency"), format: percent}),
      bars({title: "Where the time went", format: seconds, rows: r.points.map((p) => ({label: `${p.ranks} × ${p.threads}`, parts: Object.entries(p.phases)}))}),
      lines({title: "Rate by cores", x: {label: "ranks × threads", log: 2, format: count}, y: {label: r.rate_unit}, series: threads.map((t) =>
        ({name: `${t} thread${t > 1 ? "s" : ""}`, points: r.points.filter((p) => p.threads === t).map((p) => [p.ranks * t, p.rate])}))}),
      r.findings.length ? card("Findings", ...r.findings.map((f) => paragraph(`${f.name}: ${f.sentence}`))) : null)]];
}

// What has no page of its own: bandwidths and times as bars, everything else as tables.
function plainReport(r) {
  const parts = [];
  const isFigure = (v) => v && typeof v === "object" && "median" in v;
  const show = (value, name) => {
    if (Array.isArray(value)) {
      if (value.length && typeof value[0] === "object" && value[0] !== null) {
        const keys = [...new Set(value.flatMap((v) => Object.keys(v)))];
        const flat = (v) => (isFigure(v) ? v.median : v && typeof v === "object" ? JSON.stringify(v) : v);
        parts.push(card(name, make("details", value.length <= 12 ? {open: ""} : {}, make("summary", {}, `${value.length} rows`), table(keys.map((k) => k.replaceAll("_", " ")), value.map((v) => keys.map((k) => flat(v[k])))))));
      } else parts.push(card(name, paragraph(value.map((v) => (typeof v === "number" ? digits(v) : v)).join(", "))));
    } else if (value && typeof value === "object") {
      const numbers = Object.entries(value).filter(([, v]) => isFigure(v) || typeof v === "number");
      const format = /second/.test(name) && !/per.second/.test(name) ? seconds : digits;
      if (numbers.length > 1) parts.push(bars({title: name, format, rows: numbers.map(([k, v]) => ({label: k.replaceAll("_", " "), parts: [[name, median(v)]]}))}));
      for (const [k, v] of Object.entries(value)) if (v && typeof v === "object" && !isFigure(v)) show(v, `${name}, ${k.replaceAll("_", " ")}`);
    }
  };
  const simple = Object.entries(r).filter(([key, v]) => key !== "schema" && v !== "" && (v === null || typeof v !== "object"));
  for (const [key, value] of Object.entries(r)) show(value, key.replaceAll("_", " "));
  return [r.schema.replace("ayatori.", "").replace(/\/.*/, "").replace("bench-", "Benchmark: "), [
    tiles(...simple.map(([key, v]) => [typeof v === "number" ? (/second/.test(key) ? seconds(v) : Number.isInteger(v) ? count(v) : digits(v)) : String(v ?? "none"), key.replaceAll("_", " ")])), grid(...parts)]];
}

// As large as it was drawn where there is room, two beside each other where they are small.
const drawing = (d) => make("figure", {class: /width="([\d.]+)/.exec(d.svg)?.[1] < 520 ? undefined : "wide"}, make("h3", {}, d.text), make("img", {class: "drawing", alt: d.text, src: `data:image/svg+xml,${encodeURIComponent(d.svg)}`}));
const kinds = {"ayatori.solve": solveReport, "ayatori.least-squares": leastSquaresReport, "ayatori.machine-profile": profileReport, "ayatori.predict": predictReport, "ayatori.collective-schedules": schedulesReport,
  "ayatori.bench-collectives": benchCollectivesReport, "ayatori.placement": placementReport, "ayatori.eigen": eigenReport, "ayatori.bench-grid": gridReport,
  "drawing": (r) => [r.text, [drawing(r)]]};

JSON.parse(document.getElementById("data").textContent).forEach(({name, result}, i) => {
  beginColours();
  const [heading, elements] = (kinds[result.schema.split("/")[0]] ?? plainReport)(result);
  document.getElementById("contents").append(make("a", {href: `#result-${i}`}, heading));
  document.getElementById("results").append(make("section", {id: `result-${i}`}, make("h2", {}, heading), paragraph(name, true), ...elements.filter(Boolean)));
});
