"""solve.py RANKS LAUNCHER... : the command, run on simulated ranks, says that it has solved the system on all of them."""

import json
import pathlib
import subprocess
import sys
import tempfile

ranks, *launch = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "result.json"
    run = subprocess.run([*launch, "--json", path], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(run.stdout)
    result = json.loads(path.read_text())  # smpirun exits with 0 even when it cannot find the program
print(json.dumps({key: result[key] for key in ("status", "converged", "ranks", "relative_residual")}))
assert "Return value" not in run.stdout, "a rank failed"
assert result["converged"] is True and result["ranks"] == int(ranks)
