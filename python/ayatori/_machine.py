"""What machines can do, and what a matrix would make of them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._matrix import as_csr, comm_address, load
from ._report import write_whole


@dataclass(frozen=True)
class Profile:
    """What a machine was measured to do.

    Attributes
    ----------
    data : dict
        Schema ``ayatori.machine-profile/1``, as ``ayatori probe`` writes it: seconds, bytes, bytes per second.
    name : str
        Where it comes from.
    """

    data: dict = field(repr=False)
    name: str

    @classmethod
    def load(cls, name: str | os.PathLike) -> Profile:
        """From a file, or of a published machine by its name. Raises ValueError."""
        return cls(json.loads(_core.load_profile(os.fspath(name))), os.fspath(name))

    def save(self, path: str | os.PathLike) -> None:
        """Writes the whole file or none."""
        write_whole(path, json.dumps(self.data, indent=1))


def probe(*, comm: Any = None, quick: bool = True, seconds: float | None = None, threads: int | None = None, keep: bool = True,
          progress: Callable[[str, float], Any] | None = None) -> Profile:
    """Measures this machine: memory, NUMA, barriers and, with several ranks, messages and collective operations.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        Ranks that measure together. Collective.
    quick : bool
        Fewer sizes and kernels.
    seconds : float, optional
        For all probes together, about; 1.5 by default, 20 where not `quick`.
    threads : int, optional
        Of each rank.
    keep : bool
        Keep the profile where `solve` looks for it (AYATORI_PROFILE, or the user's cache folder).
    progress : callable, optional
        Called as ``progress(probe, share_of_time)``.

    Returns
    -------
    Profile
    """
    if seconds is None:
        seconds = 1.5 if quick else 20.0
    if not seconds > 0:
        raise ValueError(f"seconds is {seconds}, but must be positive")
    data = json.loads(_core.probe(comm_address(comm), quick, seconds, threads or 0, progress))
    path = _core.default_profile_path()
    profile = Profile(data, "measured just now")
    if keep and path and path != "none" and (comm is None or comm.rank == 0):
        if reason := _core.why_not_replaced(path):
            warnings.warn(f"{path}: {reason}, and stays as it is: the profile is not kept", stacklevel=2)
        else:
            profile.save(path)
    return profile


def find_profile(profile: Profile | str | os.PathLike | None) -> tuple[str, str]:
    """The JSON text of a profile and where it comes from; empty for "none" and where there is none."""
    if profile is None:
        path = _core.default_profile_path()
        if not path or path == "none" or not os.path.exists(path):
            return "", ""
        try:
            return _core.load_profile(path), path
        except ValueError:  # of another version
            return "", ""
    if isinstance(profile, Profile):
        return json.dumps(profile.data), profile.name
    if os.fspath(profile) == "none":
        return "", ""
    return _core.load_profile(os.fspath(profile)), os.fspath(profile)


@dataclass(frozen=True)
class Forecast:
    """How an iteration would scale.

    Attributes
    ----------
    report : dict
        Schema ``ayatori.predict/1``, as ``ayatori predict --json`` writes it.
    """

    report: dict = field(repr=False)

    @property
    def nodes(self) -> np.ndarray:
        return np.array([point["nodes"] for point in self.report["points"]])

    @property
    def seconds(self) -> np.ndarray:
        """Of one iteration, by `nodes`."""
        return np.array([point["seconds"] for point in self.report["points"]])

    @property
    def efficiency(self) -> np.ndarray:
        return np.array([point["efficiency"] for point in self.report["points"]])

    @property
    def conclusion(self) -> str:
        """What bounds the largest job, and what would help."""
        return self.report["conclusion"]

    def explain(self) -> str:
        """The table and the conclusions: text of some lines."""
        lines = [f"{'nodes':>7} {'us':>12} {'speed-up':>9} {'efficiency':>10}  bound by"]
        lines += [f"{p['nodes']:>7} {1e6 * p['seconds']:>12.2f} {p['speed_up']:>9.2f} {p['efficiency']:>10.2f}  {p['bound']}"
                  for p in self.report["points"]]
        return "\n".join([*lines, *self.report["crossovers"], self.report["scaling"], self.conclusion])


def predict(A: Any, nodes: Iterable[int] = (1, 2, 4, 8, 16, 32, 64), *, network: str | None = None,
            profile: Profile | str | None = None, ranks_per_node: int = 1, threads: int = 1, partition: str = "contiguous",
            method: str = "cg", preconditioner: str = "none", memory_bandwidth: float | None = None) -> Forecast:
    """How an iteration with this matrix would scale on a machine, and what bounds it.

    Parameters
    ----------
    A : sparse array or matrix of any format, ndarray, or str
        Square; only where its nonzeros are matters. A str is for `load`.
    nodes : iterable of int
        Of a long range such as ``range(1, 1025)``, powers of two and both ends are taken.
    network : str, optional
        Between nodes, as for ``ayatori map``: ``"torus:8x8x16"``, ``"fat-tree:..."``. Without it messages share ports only.
    profile : Profile or str, optional
        Of the machine: measured, a file, or a published machine's name. By default the one that `probe` has kept.
    ranks_per_node, threads : int
    partition : {"contiguous", "rows", "graph"}
    method : {"cg", "minres", "bicgstab", "gmres", "npb-cg"}
    preconditioner : {"none", "jacobi"}
    memory_bandwidth : float, optional
        Bytes per second of a node with all its ranks at work, instead of the profile's.

    Returns
    -------
    Forecast

    Raises
    ------
    ValueError
        For names that do not exist, nodes that do not fit the network, and without a profile.
    """
    name = A if isinstance(A, str) else "memory"
    if isinstance(nodes, range) and len(nodes) > 64:
        powers = (2**k for k in range(nodes[-1].bit_length()))
        nodes = {nodes[0], nodes[-1], *(power for power in powers if power in nodes)}
    nodes = sorted({int(count) for count in nodes})
    if not nodes or nodes[0] < 1 or ranks_per_node < 1 or threads < 1:
        raise ValueError("nodes, ranks_per_node and threads must be positive")
    if nodes[-1] * ranks_per_node > 2**20:
        raise ValueError(f"{nodes[-1]} nodes x {ranks_per_node} ranks are more than {2**20}")
    text, profile_name = find_profile(profile)
    if not text:
        raise ValueError("there is no profile of this machine: call probe(), or give profile=")
    csr = as_csr(load(A) if isinstance(A, str) else A)
    if csr.shape[0] != csr.shape[1] or csr.shape[0] >= 2**31:
        raise ValueError(f"the matrix is {csr.shape[0]} x {csr.shape[1]}, but it has to be square, with less than 2^31 rows")
    computed = _core.predict(np.ascontiguousarray(csr.indptr, dtype=np.int64), np.ascontiguousarray(csr.indices, dtype=np.int32),
                             nodes, ranks_per_node, threads, network or "", text, profile_name, memory_bandwidth or 0.0,
                             partition, method, preconditioner)
    return Forecast({"schema": "ayatori.predict/1", "matrix": name, "rows": csr.shape[0], "nonzeros": int(csr.nnz),
                     "method": method, "preconditioner": preconditioner, "partition": partition, "profile": profile_name,
                     "network": network, "ranks_per_node": ranks_per_node, "threads": threads, **computed})
