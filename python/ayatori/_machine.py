"""What machines can do, and what a matrix would make of them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from . import _words as words
from ._matrix import as_csr, check_square, comm_address
from ._options import Options, explained

# Who asks from a prompt or a notebook waits for the answer.
PROBE_OPTIONS = Options(_core.probe_options(), {"quick": True})
PREDICT_OPTIONS = Options(_core.predict_options(), {}, own=("profile", "nodes"))
MAP_OPTIONS = Options(_core.map_options(), {})


def build_info() -> dict:
    """How and with what this copy of the library was built.

    Returns
    -------
    dict
        Texts ``version``, ``commit`` (empty where unknown), ``compiler``, ``flags``, ``system``, ``mpi`` (the one that is linked or was opened),
        ``blas`` (kernels of OpenBLAS; empty with another BLAS), and ``libraries``: the version of each by its name.
    """
    return json.loads(_core.build_info())


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

    def explain(self) -> str:
        """What was measured, and what is wrong with it: text of some lines."""
        return _core.profile_summary(json.dumps(self.data))

    def compare(self, other: Profile) -> str:
        """Both side by side, with ratios: text of some lines."""
        return _core.comparison(json.dumps(self.data), self.name, json.dumps(other.data), other.name)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the whole file or none. Raises OSError where that fails."""
        _core.write_file(os.fspath(path), json.dumps(self.data, indent=1).encode())


@explained()
def probe(*, comm: Any = None, keep: bool = True, progress: Callable[[str, float], Any] | None = None,
          # Written by generate_options.py:
          quick: bool = True, seconds: float | None = None, output: str | os.PathLike[str] | None = None, threads: int = 0,
          # to here.
          ) -> Profile:
    """Measures this machine: memory, NUMA, barriers and, with several ranks, messages and collective operations.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        Ranks that measure together. Collective.
    keep : bool
        Without `output`, keep the profile where `solve` looks for it (AYATORI_PROFILE, or the user's cache folder).
    progress : callable, optional
        Called as ``progress(probe, share_of_time)``.
    {options}

    Returns
    -------
    Profile
    """
    given = PROBE_OPTIONS.given(locals())
    request = _core.ProbeRequest()
    PROBE_OPTIONS.set(request, given)
    data = json.loads(_core.probe(comm_address(comm), request, progress))
    path = _core.default_profile_path()
    profile = Profile(data, "measured just now")
    if keep and not output and path and path != "none" and (comm is None or comm.rank == 0):
        if reason := _core.why_not_replaced(path):
            warnings.warn(f"{path}: {reason}, and stays as it is: the profile is not kept", stacklevel=2)
        else:
            profile.save(path)
    return profile


def find_profile(profile: Profile | str | os.PathLike | None) -> tuple[str, str]:
    """The JSON text of a profile and where it comes from; empty for "none" and where there is none."""
    if profile is None or profile == "auto":
        path = _core.default_profile_path()
        if not path or path == "none" or not os.path.exists(path):
            return "", ""
        try:
            return _core.load_profile(path), path
        except ValueError:  # of another version
            return "", ""
    if isinstance(profile, Profile):
        return json.dumps(profile.data), profile.name
    if not os.fspath(profile):
        raise ValueError("profile is empty: name one, or leave it out")
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
    _text: str = field(repr=False)

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
        return self._text


@explained()
def predict(A: Any, nodes: str | Iterable[int] | None = None, *, profile: Profile | str | os.PathLike[str] | None = None,
            # Written by generate_options.py:
            ranks_per_node: int = 1, threads: int = 1, network: str | None = None, memory_bandwidth: float = 0.0,
            partition: words.PredictPartition = "contiguous", method: words.PredictMethod = "cg",
            preconditioner: words.PredictPreconditioner = "none",
            # to here.
            ) -> Forecast:
    """How an iteration with this matrix would scale on a machine, and what bounds it.

    Parameters
    ----------
    A : sparse array or matrix of any format, ndarray, or str
        Square; only where its nonzeros are matters. A str names a file or a generator.
    nodes : str or iterable of int, optional
        Numbers of nodes to forecast for, such as ``"1:1024"``; of a long range such as ``range(1, 1025)``, powers of two and both ends
        are taken.
    profile : Profile or str, optional
        Of the machine: measured, a file, or a published machine's name. By default the one that `probe` has kept.
    {options}

    Returns
    -------
    Forecast

    Raises
    ------
    ValueError
        For names that do not exist, nodes that do not fit the network, and without a profile.
    """
    given = PREDICT_OPTIONS.given(locals())
    request = _core.PredictRequest()
    PREDICT_OPTIONS.set(request, {"nodes": _nodes_in_words(nodes), **given})
    text, name = find_profile(profile)
    if not text:
        raise ValueError("there is no profile of this machine: call probe(), or give profile=")
    request.set("profile", name)
    report, summary = _core.predict(*_pattern(A), request, text)
    return Forecast(json.loads(report), summary)


@dataclass(frozen=True)
class Placement:
    """Where ranks are to go.

    Attributes
    ----------
    report : dict
        Schema ``ayatori.placement/1``, as ``ayatori map --json`` writes it.
    launch_file : str
        What `launcher` wants to read; empty without one.
    """

    report: dict = field(repr=False)
    launch_file: str = field(repr=False)
    _text: str = field(repr=False)

    @property
    def node_of_rank(self) -> np.ndarray:
        return np.array(self.report["node_of_rank"])

    def explain(self) -> str:
        """What placements cost, and which were tried: text of some lines."""
        return self._text


@explained({"output": "launch_file of the placement is its content", "json": "report of the placement is its content"})
def place(A: Any = None, *, svg: str | os.PathLike[str] | None = None, graph_output: str | os.PathLike[str] | None = None,
          platform: str | os.PathLike[str] | None = None, schedules: str | os.PathLike[str] | None = None,
          messages: str | os.PathLike[str] | None = None,
          # Written by generate_options.py:
          trace: str | os.PathLike[str] | None = None, graph: str | os.PathLike[str] | None = None, ranks: int | None = None,
          ranks_per_node: int | None = None, partition: words.MapPartition = "rows", network: str = "flat",
          profile: str | os.PathLike[str] | None = None, objective: words.MapObjective = "time",
          collective: Sequence[str] = (), finalists: int = 4, launcher: words.MapLauncher | None = None,
          hosts: str | os.PathLike[str] | None = None, compare: Sequence[str] = (),
          # to here.
          ) -> Placement:
    """Places ranks on nodes so that they talk least over the network, as ``ayatori map`` does.

    Parameters
    ----------
    A : sparse array or matrix of any format, ndarray, or str, optional
        Square: ranks talk as in the halo exchange of its product. A str names a file or a generator. Without it, give `trace` or
        `graph`.
    svg : str or path, optional
        Draw who talks to whom, and the load of links, before and after.
    graph_output : str or path, optional
        Write bytes from rank to rank here, as `graph` reads them (.mtx).
    platform : str or path, optional
        Write the network here as SimGrid reads it, to simulate placements on.
    schedules : str or path, optional
        Write the best schedules of the collectives here, for the ranks as they are placed.
    messages : str or path, optional
        Write the messages of the collectives here for every placement that was looked at, round by round, to simulate them.
    {options}

    Returns
    -------
    Placement

    Raises
    ------
    ValueError
        For names that do not exist, files that make no sense, and a network that is too small.
    OSError
        If a file cannot be written.
    """
    given = MAP_OPTIONS.given(locals())
    files = {name: os.fspath(path) for name, path in [("svg", svg), ("graph_output", graph_output), ("platform", platform),
                                                      ("schedules", schedules), ("messages", messages)] if path is not None}
    for name in files.keys() & {"schedules", "messages"}:
        if not collective:
            raise ValueError(f"{name} is of collectives: give collective, too")
    request = _core.MapRequest()
    MAP_OPTIONS.set(request, given)
    report, summary, launch_file, contents = _core.place(*(() if A is None else _pattern(A)), request, list(files))
    for path, content in zip(files.values(), contents):
        _core.write_file(path, content.encode())
    return Placement(json.loads(report), launch_file, summary)


def _nodes_in_words(nodes: str | Iterable[int] | None) -> str | None:
    if nodes is None or isinstance(nodes, str):
        return nodes
    if isinstance(nodes, range) and len(nodes) > 64:
        powers = (2**k for k in range(nodes[-1].bit_length()))
        nodes = {nodes[0], nodes[-1], *(power for power in powers if power in nodes)}
    return ",".join(str(int(count)) for count in nodes)


def _pattern(A: Any) -> tuple:
    """Where the nonzeros are, for the core: a name, or the arrays."""
    if isinstance(A, str):
        return (A,)
    csr = as_csr(A)
    check_square(csr.shape)
    if csr.shape[0] >= 2**31:
        raise ValueError(f"A has {csr.shape[0]} rows, but has to have less than 2**31")
    return np.ascontiguousarray(csr.indptr, dtype=np.int64), np.ascontiguousarray(csr.indices, dtype=np.int32)


PROBE_OPTIONS.document(probe)
PREDICT_OPTIONS.document(predict)
MAP_OPTIONS.document(place)
