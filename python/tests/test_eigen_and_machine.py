import json

import ayatori
import numpy as np
import pytest


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
        ayatori.predict("poisson3d-7:n=4", [1, 2], profile=published, method="sor", memory_bandwidth=1e9)
    with pytest.raises(ValueError, match="positive"):
        ayatori.predict("poisson3d-7:n=4", [0], profile=published)
