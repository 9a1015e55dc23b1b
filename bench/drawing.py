"""Curves on plain or logarithmic axes, and a terminal's text, as SVG."""

import math
from xml.sax.saxutils import escape

from performance_profile import COLOURS

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 36, 52


def ticks(low, high, is_log):
    """Round numbers from low to high."""
    if is_log:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        step = max(1, (last - first) // 7)
        return [10.0**k for k in range(first, last + 1, step) if low <= 1.0001 * 10.0**k and 10.0**k <= 1.0001 * high]
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= 6)
    return [step * k for k in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)]


def name_of(value):
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"1e{math.log10(value):.0f}" if math.log10(value).is_integer() else f"{value:.0e}"
    return f"{value:g}"


class Axis:
    """From values to places between begin and end, in pixels; begin has the least value."""

    def __init__(self, values, is_log, begin, end):
        self.low, self.high = min(values), max(values)
        if not is_log:
            self.low = min(self.low, 0)
        self.is_log, self.begin, self.end = is_log, begin, end

    def place(self, value):
        of = math.log if self.is_log else float
        value = min(max(value, self.low), self.high)
        span = of(self.high) - of(self.low) or 1.0  # of values that are all equal
        return self.begin + (self.end - self.begin) * (of(value) - of(self.low)) / span

    def ticks(self):
        return ticks(self.low, self.high, self.is_log)


def curves(title, x_name, y_name, series, log_x=False, log_y=True, bands=(), limits=(), marks=True):
    """A picture as text.

    series: [(name, [(x, y), ...])]; bands: [(name, [(x, low, high), ...])], filled; limits: [(name, y)], dashed lines across.
    """
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    points = [point for _, line in series for point in line]
    heights = [y for _, y in points] + [y for _, y in limits] + [y for _, band in bands for _, *both in band for y in both]
    x = Axis([x for x, _ in points], log_x, LEFT, right)
    y = Axis(heights, log_y, bottom, TOP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="12">',
             f'<title>{escape(title)}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>']
    for value in x.ticks():
        parts.append(f'<path d="M{x.place(value):.1f} {TOP}V{bottom}" stroke="#ddd"/>'
                     f'<text x="{x.place(value):.1f}" y="{bottom + 16}" text-anchor="middle">{name_of(value)}</text>')
    for value in y.ticks():
        parts.append(f'<path d="M{LEFT} {y.place(value):.1f}H{right}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{y.place(value) + 4:.1f}" text-anchor="end">{name_of(value)}</text>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_name)}</text>')
    parts.append(f'<text transform="translate(16 {(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">{escape(y_name)}</text>')
    names = []
    for name, band in bands:
        ends = [(a, high) for a, _, high in band] + [(a, low) for a, low, _ in reversed(band)]
        path = "L".join(f"{x.place(a):.1f} {y.place(b):.1f}" for a, b in ends)
        parts.append(f'<path d="M{path}Z" fill="{COLOURS[0]}" fill-opacity="0.25"/>')
        names.append((name, COLOURS[0], 'stroke-width="10" stroke-opacity="0.25"'))
    for name, height in limits:
        parts.append(f'<path d="M{LEFT} {y.place(height):.1f}H{right}" stroke="#555" stroke-dasharray="6 4"/>')
        names.append((name, "#555", 'stroke-width="1.5" stroke-dasharray="6 4"'))
    for index, (name, line) in enumerate(series):
        colour = COLOURS[index % len(COLOURS)]
        path = "L".join(f"{x.place(a):.1f} {y.place(b):.1f}" for a, b in line)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if marks:
            parts += [f'<circle cx="{x.place(a):.1f}" cy="{y.place(b):.1f}" r="3" fill="{colour}"/>' for a, b in line]
        names.insert(index, (name, colour, 'stroke-width="3"'))
    for index, (name, colour, stroke) in enumerate(names):
        place = TOP + 12 + 20 * index
        parts.append(f'<path d="M{right + 12} {place}h22" stroke="{colour}" {stroke}/>'
                     f'<text x="{right + 40}" y="{place + 4}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def terminal(lines, columns=100):
    """Text as a terminal shows it; a line that begins with $ is what a user typed."""
    wrapped = []
    for line in lines:
        while len(line) > columns:
            cut = line.rfind(" ", 0, columns)
            wrapped.append(line[:cut])
            line = " " * 11 + line[cut + 1:]
        wrapped.append(line)
    width, height = round(7.25 * columns) + 32, 18 * len(wrapped) + 28
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             'font-family="ui-monospace, DejaVu Sans Mono, Consolas, monospace" font-size="12">',
             f'<rect width="{width}" height="{height}" rx="8" fill="#16212b"/>']
    for index, line in enumerate(wrapped):
        colour = "#7fd6b4" if line.startswith("$") else "#e6edf3"
        if line.startswith("result"):
            colour = "#ffd479"
        parts.append(f'<text x="16" y="{28 + 18 * index}" fill="{colour}" xml:space="preserve">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
