"""wheel.py SOURCES: builds the wheel as `pip install` would, installs it in a clean virtual environment, and solves with it."""

import pathlib
import subprocess
import sys
import tempfile
import venv

SMOKE = """
import ayatori, numpy
A = ayatori.load("poisson2d-5:n=20")
b = numpy.ones(400)
result = ayatori.solve(A, b)
assert result.converged and numpy.linalg.norm(b - A @ result.x) <= 1e-8 * numpy.linalg.norm(b)
assert ayatori.cg(A, b)[1] == 0
ayatori.write_report("report.html", result)
print(ayatori.__version__, ayatori.__file__)
"""

sources = pathlib.Path(sys.argv[1]).resolve()
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder,
                    f"--config-settings=build-dir={folder / 'build'}", sources], check=True)
    wheel, = folder.glob("ayatori-*.whl")
    venv.create(folder / "clean", with_pip=True)
    python = folder / "clean" / "bin" / "python"
    # Isolated: the tests of the build tree name it in PYTHONPATH.
    subprocess.run([python, "-I", "-m", "pip", "install", "--quiet", wheel], check=True)
    where = subprocess.run([python, "-I", "-c", SMOKE], check=True, cwd=folder, text=True, stdout=subprocess.PIPE).stdout
    assert str(folder) in where, where
    command = subprocess.run([folder / "clean" / "bin" / "ayatori", "solve", "poisson2d-5:n=20"], check=True, cwd=folder, text=True,
                             stdout=subprocess.PIPE).stdout
    assert "converged" in command, command
    print(wheel.name, where.strip())
