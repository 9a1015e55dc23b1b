"""Performance profiles (Dolan & More 2002, Mathematical Programming 91:201) as SVG."""

import math
from xml.sax.saxutils import escape

COLOURS = ("#0b6e4f", "#2a9d8f", "#c1440e", "#3d5a98", "#8a4f9e", "#b58900", "#555555")
WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 190, 30, 50


def shares(times, solver):
    """[(tau, share of problems that `solver` solves within tau times the least time)], tau rising.

    times: {problem: {solver: seconds, or None where it found no solution}}; a problem that nobody solved counts for none.
    """
    solved = [row for row in times.values() if any(value is not None for value in row.values())]
    ratios = sorted(row[solver] / min(value for value in row.values() if value is not None)
                    for row in solved if row.get(solver) is not None)
    return [(ratio, (count + 1) / len(solved)) for count, ratio in enumerate(ratios)]


def draw(times, solvers, title, most=100.0):
    """The profiles of all solvers, with a logarithmic axis from 1 to `most`, as text."""
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(tau):
        return LEFT + across * math.log(min(tau, most)) / math.log(most)

    def y(share):
        return TOP + down * (1 - share)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
             f'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="18" font-size="14">{escape(title)}</text>']
    for tau in (1, 2, 5, 10, 20, 50, 100):
        lines.append(f'<line x1="{x(tau):.1f}" x2="{x(tau):.1f}" y1="{TOP}" y2="{TOP + down}" stroke="#ddd"/>'
                     f'<text x="{x(tau):.1f}" y="{TOP + down + 16}" text-anchor="middle">{tau}</text>')
    for share in (0, 0.25, 0.5, 0.75, 1):
        lines.append(f'<line x1="{LEFT}" x2="{LEFT + across}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{100 * share:.0f} %</text>')
    lines.append(f'<text x="{LEFT + across / 2}" y="{HEIGHT - 12}" text-anchor="middle">'
                 'time, as a multiple of the least</text>')
    for index, solver in enumerate(solvers):
        colour = COLOURS[index % len(COLOURS)]
        path, height = f"M {x(1):.1f} {y(0):.1f}", 0.0
        for tau, share in shares(times, solver):
            if tau > most:
                break
            path += f" H {x(tau):.1f} V {y(share):.1f}"
            height = share
        path += f" H {x(most):.1f}"
        lines.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        place = TOP + 14 + 20 * index
        lines.append(f'<line x1="{LEFT + across + 12}" x2="{LEFT + across + 32}" y1="{place}" y2="{place}" '
                     f'stroke="{colour}" stroke-width="3"/><text x="{LEFT + across + 38}" y="{place + 4}">'
                     f'{escape(solver)} ({100 * height:.0f} %)</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"
