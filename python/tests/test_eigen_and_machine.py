import json
import os
import subprocess

import ayatori
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sparse


@pytest.fixture
def symmetric():
    matrix = np.random.default_rng(1).standard_normal((60, 60))
    return matrix + matrix.T


def test_eigh(symmetric):
    w, v = ayatori.eigh(symmetric)
    assert np.linalg.norm(symmetric @ v - v * w) < 1e-11 and np.linalg.norm(v.T @ v - np.eye(60)) < 1e-11
    assert w == pytest.approx(np.linalg.eigvalsh(symmetric), abs=1e-11)
    assert ayatori.eigh(np.asfortranarray(symmetric), eigvals_only=True) == pytest.approx(w, abs=1e-11)


@pytest.mark.parametrize("first, last", [(0, 4), (55, 59), (10, 20), (0, 59)])
def test_eigh_by_index(symmetric, first, last):
    w, v = ayatori.eigh(symmetric, subset_by_index=(first, last))
    assert w == pytest.approx(np.linalg.eigvalsh(symmetric)[first:last + 1], abs=1e-11)
    assert np.linalg.norm(symmetric @ v - v * w) < 1e-11 and v.shape == (60, last - first + 1)


def test_eigh_by_value(symmetric):
    w = ayatori.eigh(symmetric, subset_by_value=(0.0, 5.0), eigvals_only=True)
    expected = np.linalg.eigvalsh(symmetric)
    assert w == pytest.approx(expected[(expected >= 0) & (expected <= 5)], abs=1e-11)


def test_eigh_of_a_sparse_matrix():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    A = scipy_sparse.csr_array(ayatori.load("poisson2d-5:n=40"))
    exact = np.linalg.eigvalsh(A.toarray())
    w, v = ayatori.eigh(A, smallest=3)
    assert w == pytest.approx(exact[:3], rel=1e-9) and np.linalg.norm(A @ v - v * w) < 1e-9
    w, v = ayatori.eigh(A, largest=2, method="davidson", tolerance=1e-10)
    assert w == pytest.approx(exact[-2:], rel=1e-9) and v.shape == (1600, 2)
    assert ayatori.eigh(A, eigvals_only=True, subset_by_index=(1, 2), method="dense") == pytest.approx(exact[1:3], rel=1e-9)
    with pytest.raises(ValueError, match="^method davidson finds pairs at an end"):
        ayatori.eigh(A, method="davidson")
    with pytest.raises(ValueError, match="contradict"):
        ayatori.eigh(A, smallest=2, largest=2)


def test_eigh_by_other_options(symmetric):
    w = np.linalg.eigvalsh(symmetric)
    assert ayatori.eigh(symmetric, eigvals_only=True, reduction="two-stage", block=8) == pytest.approx(w, abs=1e-11)
    assert ayatori.eigh(symmetric, precision="mixed")[0] == pytest.approx(w, abs=1e-11)
    assert ayatori.eigh(symmetric, eigvals_only=True, precision="float") == pytest.approx(w, abs=1e-4)
    with pytest.raises(ValueError, match="precision"):
        ayatori.eigh(symmetric, precision="quadruple")


def test_eigh_of_two_matrices(symmetric):
    B = np.diag(np.linspace(1, 3, len(symmetric))) + 0.01
    exact = scipy.linalg.eigh(symmetric, B, eigvals_only=True)
    report = {}
    w, v = ayatori.eigh(symmetric, B, report=report)
    assert w == pytest.approx(exact, abs=1e-11) and report["generalized"] == "B" and report["schema"] == "ayatori.eigen/1"
    assert np.allclose(v.T @ B @ v, np.eye(len(w)), atol=1e-11) and np.allclose(symmetric @ v, B @ v * w, atol=1e-10)
    form = sparse.csc_array(B)
    for second in (form, B.tolist(), np.asfortranarray(B)):
        assert ayatori.eigh(sparse.csr_array(symmetric), second, smallest=3, eigvals_only=True) == pytest.approx(exact[:3], abs=1e-11)
    for wrong, words in ((-B, "not positive definite: its leading minor of order 1"), (B[:3], "^B is 3 x"), (B[:3, :3], "^B is 3 x 3, but A has .* rows: want"),
                         (np.where(B > 2.9, np.nan, B), r"^B\[.*is NaN"), (B + np.eye(len(w), k=1), "^B: ")):
        with pytest.raises(ValueError, match=words):
            ayatori.eigh(symmetric, wrong)
    with pytest.raises(ValueError, match="^method davidson .*: leave it away, or B$"):
        ayatori.eigh(symmetric, B, smallest=2, method="davidson")
    with pytest.raises(TypeError, match="^generalized has no meaning in Python: B is an argument of its own$"):
        ayatori.eigh(symmetric, generalized=B)


def test_a_forecast_of_eigh_is_that_of_the_command_line(symmetric, tmp_path):
    options = {"profile": "altix3700bx2", "gflops": 3, "memory_bandwidth": 5, "ranks_per_node": 2}
    words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), str(value))]
    done = subprocess.run([os.environ["AYATORI"], "eigen", f"random:n={len(symmetric)}", "--predict", "1,4", *words, "--json", "there.json"],
                          cwd=tmp_path, capture_output=True, text=True, check=True)
    there = json.loads((tmp_path / "there.json").read_text())
    for ranks in ((1, 4), "1,4", np.array([1, 4])):
        forecast = ayatori.eigh(symmetric, predict=ranks, **options)
        assert {**forecast.report, "matrix": there["matrix"]} == there
        assert forecast.explain().splitlines()[1:] == done.stderr.splitlines()[1:]
    two = ayatori.eigh(symmetric, symmetric, predict=4, **options).report
    assert two["points"][0]["seconds"] > forecast.report["points"][1]["seconds"]
    with pytest.raises(ValueError, match="^ranks_per_node is for a forecast"):
        ayatori.eigh(symmetric, ranks_per_node=2)
    with pytest.raises(TypeError, match="^predict is 1.5, but must be a whole number$"):
        ayatori.eigh(symmetric, predict=[1.5], **options)
    with pytest.raises(ValueError, match="mixed precision"):
        ayatori.eigh(symmetric, predict=4, precision="mixed", **options)
    for wrong in ("x", 0, [4, 0]):
        with pytest.raises(ValueError, match="^predict .*: give numbers of ranks"):
            ayatori.eigh(symmetric, predict=wrong, **options)


def test_eigh_refuses(symmetric):
    symmetric[3, 4] += 1
    with pytest.raises(ValueError, match="symmetric"):
        ayatori.eigh(symmetric)
    with pytest.raises(ValueError, match="square"):
        ayatori.eigh(symmetric[:5])
    with pytest.raises(ValueError, match="from 0 to"):
        ayatori.eigh(symmetric, subset_by_index=(3, 60))
    with pytest.raises(TypeError, match="complex"):
        ayatori.eigh(symmetric * 1j)


def test_probe_and_predict(tmp_path, monkeypatch):
    monkeypatch.setenv("AYATORI_PROFILE", str(tmp_path / "profile.json"))
    profile = ayatori.probe(seconds=0.3)
    assert "triad" in profile.explain()
    elsewhere = ayatori.probe(seconds=0.1, output=tmp_path / "elsewhere.json")
    assert ayatori.Profile.load(tmp_path / "elsewhere.json").data == elsewhere.data
    shown = ["--show", tmp_path / "profile.json", "--compare", tmp_path / "elsewhere.json"]
    done = subprocess.run([os.environ["AYATORI"], "probe", *shown], capture_output=True, text=True, check=True)
    assert ayatori.Profile.load(shown[1]).compare(ayatori.Profile.load(shown[3])) == done.stdout
    kept = json.loads((tmp_path / "profile.json").read_text())
    assert kept == profile.data and kept["schema"].startswith("ayatori.machine-profile/")
    assert ayatori.Profile.load(tmp_path / "profile.json").data == kept
    forecast = ayatori.predict("poisson3d-7:n=12", range(1, 101))
    assert list(forecast.nodes) == [1, 2, 4, 8, 16, 32, 64, 100]
    assert forecast.efficiency[0] == 1 and (forecast.seconds > 0).all() and forecast.conclusion in forecast.explain()


def test_predict_refuses(monkeypatch):
    monkeypatch.setenv("AYATORI_PROFILE", "none")
    with pytest.raises(ValueError, match="profile"):
        ayatori.predict("poisson3d-7:n=4", [1, 2])
    published = "altix3700bx2"
    with pytest.raises(ValueError, match="method"):
        ayatori.predict("poisson3d-7:n=4", [1, 2], profile=published, method="sor", memory_bandwidth=1)
    with pytest.raises(ValueError, match="^nodes 0: give a range"):
        ayatori.predict("poisson3d-7:n=4", [0], profile=published)
    with pytest.raises(ValueError, match="^ranks_per_node 0: want 1 to 1048576$"):
        ayatori.predict("poisson3d-7:n=4", ranks_per_node=0, profile=published)
    with pytest.raises(ValueError, match="give memory_bandwidth, in GB/s"):
        ayatori.predict("poisson3d-7:n=4", profile=published)
    with pytest.raises(TypeError, match="there is no option node"):
        ayatori.predict("poisson3d-7:n=4", node=3, profile=published)


def test_predict_is_that_of_the_command_line(tmp_path):
    options = {"profile": "altix3700bx2", "memory_bandwidth": 5, "network": "torus:4x4", "method": "gmres", "ranks_per_node": 2}
    words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), str(value))]
    done = subprocess.run([os.environ["AYATORI"], "predict", "poisson3d-7:n=12", "--nodes", "1..16", *words, "--json", "there.json"],
                          cwd=tmp_path, capture_output=True, text=True, check=True)
    there = json.loads((tmp_path / "there.json").read_text())
    by_name = ayatori.predict("poisson3d-7:n=12", "1..16", **options)
    assert by_name.report == there and by_name.explain() == done.stderr
    in_memory = ayatori.predict(ayatori.load("poisson3d-7:n=12"), [1, 2, 4, 8, 16], **options)
    assert in_memory.report == {**there, "matrix": "memory"}


def test_place_is_that_of_the_command_line(tmp_path):
    options = {"ranks": 24, "ranks_per_node": 4, "network": "torus:3x2", "launcher": "openmpi5", "collective": ["allreduce:8:2"]}
    files = ("svg", "graph_output", "platform", "schedules", "messages")
    done = subprocess.run([os.environ["AYATORI"], "map", "poisson2d-5:n=24", "--ranks", "24", "--ranks-per-node", "4", "--network",
                           "torus:3x2", "--launcher", "openmpi5", "--collective", "allreduce:8:2", "--json", "there.json",
                           *(word for name in files for word in ("--" + name.replace("_", "-"), f"there.{name}"))],
                          cwd=tmp_path, capture_output=True, text=True, check=True)
    there = json.loads((tmp_path / "there.json").read_text())
    for A in ("poisson2d-5:n=24", ayatori.load("poisson2d-5:n=24")):
        here = ayatori.place(A, **options, **{name: tmp_path / f"here.{name}" for name in files})
        for name in files:
            assert (tmp_path / f"here.{name}").read_text() == (tmp_path / f"there.{name}").read_text()
        assert {**here.report, "seconds": 0} == {**there, "seconds": 0} and here.launch_file == done.stdout
        assert here.explain().split("placed in")[0] == done.stderr.split("placed in")[0]
        assert list(here.node_of_rank) == there["node_of_rank"]


def test_place_refuses():
    with pytest.raises(ValueError, match="give one of MATRIX, trace FILE and graph FILE"):
        ayatori.place()
    with pytest.raises(ValueError, match="wants ranks$"):
        ayatori.place("poisson2d-5:n=24")
    with pytest.raises(ValueError, match="^finalists 2000: want 0 to 1000$"):
        ayatori.place("poisson2d-5:n=24", ranks=4, ranks_per_node=2, finalists=2000)
    with pytest.raises(ValueError, match="square"):
        ayatori.place(np.ones((3, 4)), ranks=2, ranks_per_node=1)
    with pytest.raises(ValueError, match="^messages is of collectives: give collective, too$"):
        ayatori.place("poisson2d-5:n=24", ranks=4, ranks_per_node=2, messages="m.json")
    with pytest.raises(TypeError, match="^json has no meaning in Python: report of the placement"):
        ayatori.place("poisson2d-5:n=24", ranks=4, ranks_per_node=2, json="m.json")


def test_probe_refuses(tmp_path):
    with pytest.raises(ValueError, match="^seconds 0.0: want 0.1 to 3600$|^seconds 0: want 0.1 to 3600$"):
        ayatori.probe(seconds=0)
    with pytest.raises(OSError, match="cannot be written"):
        ayatori.probe(output=tmp_path / "no" / "folder")


def test_what_was_built_is_known():
    info = ayatori.build_info()
    assert info["version"] == ayatori.__version__
    assert set(info) == {"version", "commit", "compiler", "flags", "system", "mpi", "blas", "libraries"}
    if "openblas" in info["libraries"]["BLAS and LAPACK"] and " avx2 " in open("/proc/cpuinfo").read():
        assert info["blas"] not in ("Prescott", "Core2", "Nehalem")
    assert info["mpi"] and info["libraries"]["METIS"].startswith("5.")
