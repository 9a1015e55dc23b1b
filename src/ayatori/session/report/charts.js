// Drawing: SVG made from plain data, as wide as its place. Text goes in as text, never as markup.
const colour = (i) => (i < 8 ? `var(--c${i})` : `hsl(${(137.5 * i) % 360} 45% 52%)`);

// What has one name has one colour in all figures of a result.
let named = new Map();
const beginColours = () => { named = new Map(); };
function colourOf(name) {
  if (!named.has(name)) named.set(name, colour(named.size));
  return named.get(name);
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Numbers with units, in three digits.
const digits = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(1) : String(+v.toPrecision(3)));
function scaled(v, steps, base) {
  let i = steps.findIndex((step) => Math.abs(v) < (1 - 1e-9) * base * step[0]);
  if (i < 0) i = steps.length - 1;
  return `${+(v / steps[i][0]).toPrecision(3)}\u00a0${steps[i][1]}`;
}
const seconds = (v) => (v === 0 ? "0 s" : scaled(v, [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"]], 1000));
const bytes = (v) => (v === 0 ? "0 B" : scaled(v, [[1, "B"], [1024, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"]], 1024));
const rate = (v) => scaled(v, [[1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"], [1e12, "TB/s"]], 1000);
const count = (v) => v.toLocaleString("en-US", {maximumFractionDigits: 3});
const several = (v, what) => `${count(v)} ${what}${v === 1 ? "" : "s"}`;
const percent = (v) => `${digits(100 * v)} %`;

function ticksOf(low, high, log, most) {
  if (log) {
    const base = log === 2 ? 2 : 10;
    const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
    const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
    const every = Math.max(1, Math.ceil((last - first + 1) / most));
    const ticks = [];
    for (let k = first; k <= last; k += every) ticks.push(base ** k);
    if (base === 2 || ticks.length > 1) return ticks.length > 1 ? ticks : [low, high];
    const finer = [-1, 0, 1].flatMap((k) => [1, 2, 3, 5, 7].map((m) => m * 10 ** (first - 1 + k))).filter((v) => v >= low && v <= high);
    return finer.length > 1 ? finer : [low, high];
  }
  const rough = (high - low) / most;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((m) => m * unit >= rough);
  const ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) ticks.push(Math.abs(v) < 1e-12 * step ? 0 : v);
  return ticks;
}
function scaleOf(values, log, zero) {
  const usable = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
  let low = Math.min(...usable), high = Math.max(...usable);
  if (zero && !log) low = Math.min(0, low);
  if (!usable.length) [low, high] = [1, 10];
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 1, high + 1];
  const map = log ? Math.log : (v) => v;
  return {low, high, log, at: (v) => (map(v) - map(low)) / (map(high) - map(low))};
}

// A figure that is drawn again when its width changes.
function figure(title, caption, draw, legend = []) {
  const place = make("div");
  const names = make("div", {class: "legend"}, ...legend.map(([name, fill]) =>
    make("span", {}, make("i", {style: `background:${fill}`}), name)));
  const box = make("figure", {}, make("h3", {}, title), place, legend.length > 0 ? names : null,
    caption ? make("figcaption", {}, caption) : null);
  let drawn = 0;
  const update = () => {
    const width = Math.max(260, Math.floor(place.clientWidth) || 560);
    if (width === drawn) return;
    drawn = width;
    place.replaceChildren(draw(width));
  };
  new ResizeObserver(() => requestAnimationFrame(update)).observe(place);
  return box;
}
const canvas = (width, height, title) => svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title});
const text = (x, y, words, attributes = {}) => {
  const element = svg("text", {x, y, ...attributes});
  element.textContent = words;
  return element;
};
const hint = (words) => {
  const element = svg("title");
  element.textContent = words;
  return element;
};

// series: {name, points: [[x, y]], dashed, dots, colour}; x, y: {label, log, format, zero}; marks: {x | y, text}.
function lines({title, caption, x, y, series, marks = []}) {
  series = series.map((s) => ({...s,
    points: s.points.filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b) && (!x.log || a > 0) && (!y.log || b > 0))}))
    .filter((s) => s.points.length > 0).map((s) => ({...s, fill: s.colour ?? colourOf(s.name)}));
  if (series.length === 0) return null;
  const xs = scaleOf([...series.flatMap((s) => s.points.map((p) => p[0]))], x.log, x.zero);
  const ys = scaleOf([...series.flatMap((s) => s.points.map((p) => p[1])), ...marks.flatMap((m) => (m.y === undefined ? [] : [m.y]))],
    y.log, y.zero ?? true);
  return figure(title, caption, (width) => {
    const height = Math.round(Math.min(330, Math.max(230, 0.56 * width)));
    const left = 80, right = 24, top = marks.some((mark) => mark.x !== undefined) ? 22 : 10, bottom = 40;
    const px = (v) => left + xs.at(v) * (width - left - right);
    const py = (v) => height - bottom - ys.at(v) * (height - top - bottom);
    const root = canvas(width, height, title);
    for (const v of ticksOf(ys.low, ys.high, y.log, 6)) {
      root.append(svg("line", {class: "gridline", x1: left, x2: width - right, y1: py(v), y2: py(v)}),
        text(left - 6, py(v) + 4, (y.format ?? digits)(v), {class: "label", "text-anchor": "end"}));
    }
    for (const v of ticksOf(xs.low, xs.high, x.log, width < 430 ? 4 : 7)) {
      root.append(svg("line", {class: "gridline", x1: px(v), x2: px(v), y1: top, y2: height - bottom}),
        text(px(v), height - bottom + 16, (x.format ?? digits)(v), {class: "label", "text-anchor": "middle"}));
    }
    root.append(svg("line", {class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom}),
      text((left + width - right) / 2, height - 6, x.label, {class: "label", "text-anchor": "middle"}),
      text(0, 0, y.label, {class: "label", "text-anchor": "middle", transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`}));
    const markTexts = [];
    for (const mark of marks) {
      if (mark.x !== undefined && (mark.x < xs.low || mark.x > xs.high)) continue;
      const at = mark.x !== undefined ? {x1: px(mark.x), x2: px(mark.x), y1: top, y2: height - bottom}
        : {x1: left, x2: width - right, y1: py(mark.y), y2: py(mark.y)};
      root.append(svg("line", {...at, stroke: "var(--soft)", "stroke-dasharray": "2 3"}));
      markTexts.push(mark.x !== undefined ? text(at.x1, top - 6, mark.text, {class: "label", "text-anchor": "middle"})
        : text(left + 4, at.y1 - 4, mark.text, {class: "label over"}));
    }
    for (const s of series) {
      const path = s.points.map(([a, b], i) => `${i ? "L" : "M"}${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join("");
      root.append(svg("path", {d: path, fill: "none", stroke: s.fill, "stroke-width": s.dashed ? 1.3 : 1.9,
        "stroke-dasharray": s.dashed ? "5 4" : "none", "stroke-linejoin": "round"}));
      for (const [a, b] of s.dashed ? [] : s.points) {
        const dot = svg("circle", {cx: px(a).toFixed(1), cy: py(b).toFixed(1), r: s.dots || s.points.length < 40 ? 2.6 : 4, fill: s.fill,
          opacity: s.dots || s.points.length < 40 ? 1 : 0});
        dot.append(hint(`${s.name}: ${(x.format ?? digits)(a)}, ${(y.format ?? digits)(b)}`));
        root.append(dot);
      }
    }
    root.append(...markTexts);
    return root;
  }, series.filter((s) => s.name !== "fit").map((s) => [s.name + (s.dashed ? " (dashed)" : ""), s.fill]));
}

// rows: {label, parts: [[name, value]], mark: value or undefined, markText}; parts of the same name have the same colour.
function bars({title, caption, rows, format = digits, log = false}) {
  rows = rows.filter((row) => row.parts.some(([, v]) => v > 0));
  if (rows.length === 0) return null;
  const names = [...new Set(rows.flatMap((row) => row.parts.filter(([, v]) => v > 0).map(([name]) => name)))];
  const fills = Object.fromEntries(names.map((name) => [name, colourOf(name)]));
  const total = (row) => row.parts.reduce((sum, [, v]) => sum + (v > 0 ? v : 0), 0);
  const most = Math.max(...rows.flatMap((row) => [total(row), row.mark ?? 0]));
  const least = Math.min(...rows.map(total));
  return figure(title, caption, (width) => {
    const label = Math.min(0.4 * width, 8 + 7 * Math.max(...rows.map((row) => row.label.length)));
    const end = 62, thick = 18, gap = 8;
    const length = (v) => (log ? 0.05 + 0.95 * Math.log(v / least) / Math.log(most / least || 2) : v / most) * (width - label - end);
    const root = canvas(width, rows.length * (thick + gap) + 6, title);
    rows.forEach((row, i) => {
      const y = i * (thick + gap) + 3;
      const name = text(label - 7, y + 13, row.label, {"text-anchor": "end"});
      if (7 * row.label.length > label) name.setAttribute("textLength", label - 8), name.setAttribute("lengthAdjust", "spacingAndGlyphs");
      root.append(name);
      let x = label;
      for (const [part, v] of row.parts) {
        if (!(v > 0)) continue;
        const box = svg("rect", {x, y, width: Math.max(0.5, length(v)), height: thick, fill: fills[part], rx: 2});
        box.append(hint(`${row.label}: ${part} ${format(v)}`));
        root.append(box);
        x += length(v);
      }
      root.append(text(x + 5, y + 13, format(total(row)), {class: "label"}));
      if (row.mark > 0) {
        const at = label + length(row.mark);
        const line = svg("line", {x1: at, x2: at, y1: y - 3, y2: y + thick + 3, stroke: "var(--ink)", "stroke-width": 2});
        line.append(hint(`${row.markText}: ${format(row.mark)}`));
        root.append(line);
      }
    });
    return root;
  }, names.length > 1 ? Object.entries(fills) : []);
}

// values[i][j], or null; darker is more, on the scale of all numbers in `range` where several figures share one.
function matrix({title, caption, values, rowName, columnName, format, labels, range}) {
  const flat = values.flat().filter((v) => v !== null && v > 0);
  if (flat.length === 0) return null;
  const all = range ?? flat;
  const low = all.reduce((a, b) => Math.min(a, b)), high = all.reduce((a, b) => Math.max(a, b));
  const many = values.length > 64;  // cells of nothing are left out
  const strength = (v) => (high === low ? 0.5 : 0.12 + 0.88 * (Math.log(v) - Math.log(low)) / (Math.log(high) - Math.log(low)));
  return figure(title, caption ?? `${format(low)} (faint) to ${format(high)}`, (width) => {
    const left = 44, cell = Math.min(58, (width - left - 8) / values[0].length);
    const root = canvas(width, 22 + cell * values.length + 4, title);
    const every = Math.max(1, Math.ceil(22 / cell));
    values.forEach((row, i) => {
      if (i % every === 0) root.append(text(left - 6, 22 + (i + 0.5) * cell + 4, labels?.rows?.[i] ?? i, {class: "label", "text-anchor": "end"}));
      row.forEach((v, j) => {
        if (i === 0 && j % every === 0) root.append(text(left + (j + 0.5) * cell, 15, labels?.columns?.[j] ?? j, {class: "label", "text-anchor": "middle"}));
        if (v === null || (many && v === 0)) return;
        const box = svg("rect", {x: left + j * cell, y: 22 + i * cell, width: cell - Math.min(1, cell / 8), height: cell - Math.min(1, cell / 8), fill: "var(--c0)",
          opacity: v > 0 ? strength(v).toFixed(3) : 0.03});
        box.append(hint(`${rowName} ${labels?.rows?.[i] ?? i}, ${columnName} ${labels?.columns?.[j] ?? j}: ${format(v)}`));
        root.append(box);
        if (cell >= 56 && v > 0) root.append(text(left + (j + 0.48) * cell, 22 + (i + 0.5) * cell + 4, format(v), {"text-anchor": "middle", "font-size": 10, style: `fill:var(--${strength(v) > 0.55 ? "card" : "ink"})`}));
      });
    });
    return root;
  });
}

function table(head, rows) {
  const cell = (value, i) => make("td", {class: typeof value === "number" ? "number" : undefined, "data-name": head[i] || undefined},
    typeof value === "number" ? digits(value) : String(value ?? ""));
  // On a phone a row of many columns stands below its first ones (style.css).
  return make("div", {class: "scroll"}, make("table", head.length > 3 ? {class: "many"} : {},
    head.length ? make("thead", {}, make("tr", {}, ...head.map((name) => make("th", {}, name)))) : null,
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell))))));
}
const tiles = (...items) => make("div", {class: "tiles"}, ...items.filter(Boolean).map(([value, name, mood]) =>
  make("div", {class: `tile ${mood ?? ""}`}, make("b", {}, String(value).replaceAll("+", "+\u200b")), make("span", {}, name))));
const grid = (...figures) => make("div", {class: "grid"}, ...figures);
const card = (title, ...children) => make("div", {class: "card wide"}, make("h3", {}, title), ...children);
const paragraph = (words, soft) => (words ? make("p", soft ? {class: "soft"} : {}, words) : null);
