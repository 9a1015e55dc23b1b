"""How solves of tiny systems end that rounding spoils: entries of 0, +-1 and +-10^k, k from 14 to 18. Not collected by pytest.

    python tiny_systems.py [--systems N]

Exact elimination tells which of them have a solution; one that lacks it by less than the tolerance may be solved all the same. Errors
are false claims, `not converged` where there is a solution, and `limited by rounding` where x leaves far more than rounding does.
"""

from __future__ import annotations

import argparse
import collections
import sys
from fractions import Fraction

import ayatori
import numpy as np
import scipy.sparse as sparse
from exact import ExactSystem


def tiny_system(number: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(number + 5000)
    n = int(random.integers(3, 6))
    large = 10.0 ** random.integers(14, 19)
    while True:
        A = np.where(random.random((n, n)) < 0.6, random.choice([1, -1, large, -large], (n, n)), 0.0)
        b = random.integers(-3, 4, n).astype(float)
        if b.any() and (np.abs(A) > 1).any():
            return A, b


def has_solution(A: np.ndarray, b: np.ndarray) -> bool:
    rows = [[Fraction(float(value)) for value in (*row, right)] for row, right in zip(A, b)]
    rank = 0
    for column in range(len(b)):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column] != 0), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [value - factor * above for value, above in zip(rows[i], rows[rank])]
        rank += 1
    return all(row[-1] == 0 for row in rows[rank:])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=150)
    counts: collections.Counter = collections.Counter()
    faults = []
    for number in range(parser.parse_args().systems):
        A, b = tiny_system(number)
        solvable = has_solution(A, b)
        result = ayatori.solve(sparse.csr_array(A), b, threads=1, profile="none")
        counts["a solution" if solvable else "none", result.status] += 1
        is_wrong = {"converged": not ExactSystem(sparse.csr_array(A), b).meets(result.x, 1e-8),
                    "limited by rounding": not result.relative_residual < 10 * (result.rounding_residual or 0), "not converged": solvable}.get(result.status, False)
        if is_wrong:
            faults.append(f"system {number}, which has {'a' if solvable else 'no'} solution: {result.status}")
    for (exact, status), count in sorted(counts.items()):
        print(f"{exact:12} {status:22} {count:5}")
    if faults:
        print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
