"""Run under mpirun: each rank gives its rows. Not collected by pytest."""

import ayatori
import numpy as np
import scipy.sparse as sparse
from mpi4py import MPI

comm = MPI.COMM_WORLD
A = ayatori.load("poisson2d-5:n=30")
b = np.sin(np.arange(900.0))
bounds = np.linspace(0, 900, comm.size + 1).astype(int) ** 2 // 900  # uneven
mine = slice(bounds[comm.rank], bounds[comm.rank + 1])

solver = ayatori.Solver(A[mine], comm=comm, rtol=1e-9, threads=1)
for right in (b, b[::-1].copy()):
    result = solver.solve(right[mine])
    x = np.concatenate(comm.allgather(result.x))
    assert result.converged and result.report["ranks"] == comm.size
    assert np.linalg.norm(right - A @ x) <= 1e-9 * np.linalg.norm(right)

# Several right-hand sides, single precision, operators that communicate, preconditioners of one's own.
B = np.stack([b, b[::-1]], 1)
result = ayatori.solve(A[mine], B[mine], comm=comm, threads=1)
X = np.concatenate(comm.allgather(result.x))
assert result.converged and np.linalg.norm(B - A @ X) <= 1.01e-8 * np.linalg.norm(B) and len(result.columns) == 2
single = ayatori.solve(A[mine].astype(np.float32), b[mine].astype(np.float32), comm=comm, threads=1)
assert single.converged and single.x.dtype == np.float32


class Product:
    shape = (mine.stop - mine.start,) * 2

    def __call__(self, x):
        return A[mine] @ np.concatenate(comm.allgather(x.copy()))


jacobi = ayatori.preconditioner(A[mine], "jacobi", comm=comm, threads=1)
for given, options in ((Product(), {}), (Product(), {"near": A[mine]}), (Product(), {"M": jacobi}), (A[mine], {"M": lambda r: r / 4}),
                       (A[mine], {"M": jacobi, "method": "cg"})):
    result = ayatori.solve(given, b[mine], comm=comm, threads=1, **options)
    x = np.concatenate(comm.allgather(result.x))
    assert result.converged and np.linalg.norm(b - A @ x) <= 1.01e-8 * np.linalg.norm(b), options


# Complex on one rank is complex on all; with a real matrix the parts are right-hand sides of their own.
C, c = A - sparse.diags_array(0.3j * (np.arange(900) >= 600)), b * np.exp(1j * b)
own = C[mine] if mine.stop > 600 else A[mine]
for matrix, rows, right in ((C, own, b), (C, own, c), (C, own, np.stack([c, 1j * b], 1)), (A, A[mine], np.where(np.arange(900) < 600, b, c))):
    given = right[mine] if np.iscomplex(right[mine]).any() else right[mine].real
    result = ayatori.solve(rows, given, comm=comm, rtol=1e-9, threads=1)
    x = np.concatenate(comm.allgather(result.x))
    assert result.converged and x.dtype == complex and np.linalg.norm(right - matrix @ x) <= 1.01e-9 * np.linalg.norm(right)
M = ayatori.preconditioner(own, "ilut", comm=comm, threads=1)
result = ayatori.solve(own, c[mine], M=M, comm=comm, threads=1)
assert result.converged and M.shape == (900, 900) and M.local_rows == mine.stop - mine.start
assert ayatori.solve(own, c[mine], comm=comm, partition="graph", threads=1).converged


def falters(r):
    if comm.rank == comm.size - 1:
        raise LookupError("enough")
    return r


try:
    ayatori.solve(A[mine], b[mine], comm=comm, M=falters, threads=1)
except (LookupError if comm.rank == comm.size - 1 else KeyboardInterrupt):
    pass
else:
    raise AssertionError("the exception of a preconditioner was lost")

near_null = ayatori.solve(A[mine], b[mine], comm=comm, near_nullspace=np.ones(mine.stop - mine.start), preconditioner="amg", threads=1)
assert near_null.converged and near_null.report["replay"]["near_null_space"]

# One rank's mistake is everyone's error, and nobody hangs.
try:
    solver.solve(b[mine] * (np.nan if comm.rank == comm.size - 1 else 1))
except ValueError as error:
    assert "NaN" in str(error)
else:
    raise AssertionError("a NaN was accepted")

for name in ("auto", "jacobi"):
    M = ayatori.preconditioner(A[mine], name, comm=comm, threads=1)
    assert M.shape == A.shape and M.is_symmetric
    z = np.concatenate(comm.allgather(M.apply(b[mine])))
    assert name == "auto" or np.allclose(z, b / A.diagonal())

last = comm.rank == comm.size - 1
for wrong in (lambda: solver.solve(b[mine][1:] if last else b[mine]),
              lambda: solver.solve(B[mine] if last else b[mine]),
              lambda: solver.solve([np.inf] * (mine.stop - mine.start) if last else b[mine]),
              lambda: ayatori.Solver(A[mine] * (np.nan if last else 1), comm=comm),
              lambda: ayatori.Solver(Product(), comm=comm, M="amg" if last else jacobi),
              lambda: ayatori.Solver(C[mine] * (np.nan if last else 1), comm=comm),
              lambda: M.apply(b[mine][1:] if last else b[mine]),
              lambda: ayatori.preconditioner(A[mine], "sor" if last else "amg", comm=comm),
              lambda: ayatori.Solver(A[mine][:, :-1] if last else A[mine], comm=comm),
              lambda: ayatori.Solver(A[mine], comm=comm, method="sor" if last else "cg").solve(b[mine]),
              lambda: ayatori.Solver(A[mine], comm=comm, threads=10**6 if last else 1).solve(b[mine])):
    try:
        wrong()
    except (ValueError, TypeError) as error:
        assert isinstance(error, ValueError) or last
    else:
        raise AssertionError("a mistake was accepted")

# Options that differ are refused on all ranks by the same words; threads may differ.
for differs, word in ((lambda: ayatori.solve(A[mine], b[mine], comm=comm, method="gmres" if last else "cg"), "method"),
                      (lambda: ayatori.solve(A[mine], b[mine], comm=comm, rtol=1e-6 if last else 1e-7), "rtol"),
                      (lambda: ayatori.solve(A[mine], b[mine], comm=comm, exclude=["cg", "minres"] if last else ["cg"]), "exclude"),
                      (lambda: ayatori.solve(Product(), b[mine], comm=comm, method="gmres" if last else "fgmres"), "method"),
                      (lambda: ayatori.preconditioner(A[mine], "ilu" if last else "jacobi", comm=comm), "preconditioner"),
                      (lambda: ayatori.preconditioner(A[mine], "ilu", fill=1 if last else 0, comm=comm), "fill"),
                      (lambda: ayatori.solve(A[mine], b[mine], comm=comm, M=jacobi if last else None), "M is given, on some ranks only"),
                      (lambda: ayatori.solve(A[mine] if last else Product(), b[mine], comm=comm), "A is an operator")):
    try:
        differs()
    except ValueError as error:
        words = comm.allgather(str(error))
        assert len(set(words)) == 1 and word in words[0] and ("on all ranks: give" in words[0] or "on some ranks" in words[0]), words
    else:
        raise AssertionError(f"{word} differs, and nobody said so")
assert ayatori.solve(A[mine], b[mine], comm=comm, threads=2 if last else 1).converged

# Least squares: this rank's rows, and all of x on every rank.
rng = np.random.default_rng(8)
tall = sparse.csr_array(sparse.random_array((900, 70), density=0.05, rng=rng) + sparse.eye_array(900, 70))
for matrix, rows, right in ((tall, tall[mine], b), (tall.T.tocsr(), None, b[:70]), (tall * (1 - 2j), tall[mine] * (1 - 2j), b)):
    part = mine if rows is not None else slice(comm.rank * 70 // comm.size, (comm.rank + 1) * 70 // comm.size)
    rows = matrix[part] if rows is None else rows
    for function, damp, name in ((ayatori.lsmr, 0.0, None), (ayatori.lsqr, 0.5, None), (ayatori.lsmr, 0.5, "jacobi"), (ayatori.lsqr, 0.0, "ic")):
        start = None if name else np.ones(matrix.shape[1])
        tight = {"atol": 1e-13, "btol": 1e-13, "conlim": 0, "maxiter" if function is ayatori.lsmr else "iter_lim": 2000, "x0": start}
        done = function(rows, right[part], damp, preconditioner=name, comm=comm, **tight)
        alone = function(matrix, right, damp, **tight)
        assert len(set(x.tobytes() for x in comm.allgather(done[0]))) == 1 and done[1] in (1, 2, 4), done[1]
        assert abs(done[3] - alone[3]) < 1e-9, (function, damp, name, done[1:], alone[1:])
        least = np.abs(matrix.conj().T @ (right - matrix @ done[0]) - damp**2 * (done[0] - (0 if start is None else start))).max()
        assert least < 1e-9 and (name or np.abs(done[0] - alone[0]).max() < 1e-8), (function, damp, name, least)
for wrong, word in ((lambda: ayatori.lsmr(tall[mine], b[mine][1:] if last else b[mine], comm=comm), "b has shape"),
                    (lambda: ayatori.lsmr(tall[mine], b[mine], damp=1.0 if last else 0.0, comm=comm), "the same on all ranks"),
                    (lambda: ayatori.lsqr(tall[mine], b[mine], preconditioner="ic" if last else "jacobi", comm=comm), "preconditioner is not the same")):
    try:
        wrong()
    except ValueError as error:
        assert word in str(error), error
    else:
        raise AssertionError("a mistake was accepted")


def fail(*_):
    if comm.rank == 0:
        raise LookupError("enough")


try:
    solver.solve(b[mine], progress=fail)
except (LookupError if comm.rank == 0 else KeyboardInterrupt):
    pass
else:
    raise AssertionError("the exception was lost")

profile = ayatori.probe(comm=comm, seconds=0.2, keep=False)
assert profile.data["ranks"] == comm.size
try:
    ayatori.solve(A[mine], b[mine], comm="world")
except TypeError:
    pass
else:
    raise AssertionError("a string is no communicator")
