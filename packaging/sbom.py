#!/usr/bin/env python3
"""sbom.py [--wheel FILE] [--program build/release/cli/ayatori] [-o ayatori.spdx.json]: the bill of materials of a build or a wheel.

SPDX 2.3 as JSON: Ayatori, the libraries that `ayatori --version --verbose` names, and SHA-256 of the files: of the program, or of all
in the wheel, whose own program is asked unless --program names one. Licences are those that their authors declare. SOURCE_DATE_EPOCH sets the
time, so that the same build gives the same bytes.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = "https://ayatori.invalid"  # documents have a namespace, which need not be an address

# As their sources declare them.
LICENCES = {"METIS": "Apache-2.0", "MUMPS": "CECILL-C", "hypre": "Apache-2.0 OR MIT",
            "PT-Scotch": "CECILL-C", "KLU": "LGPL-2.1-or-later", "hwloc": "BSD-3-Clause", "zlib": "Zlib", "bzip2": "bzip2-1.0.6",
            "zstd": "BSD-3-Clause OR GPL-2.0-only", "fmt": "MIT", "JSON for Modern C++": "MIT", "CLI11": "BSD-3-Clause"}


def identifier(*words):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", word).strip("-") for word in words)


def said_by(program):
    """{word: text} of --version --verbose."""
    text = subprocess.run([program, "--version", "--verbose"], check=True, text=True, capture_output=True).stdout
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in text.splitlines() if len(line.split()) > 1}


def libraries(said):
    """[(name, version)], the MPI among them."""
    found = []
    for word in [said["MPI"], *said["libraries"].split(", ")]:
        name, version = re.fullmatch(r"(.*?)(?: v?(\d\S*|lib\S+)(?: \(.*\))?)?", word).groups()
        found.append((name, version))
    return found


def package(name, version, licence, **more):
    return {"SPDXID": identifier("Package", name), "name": name, **({"versionInfo": version} if version else {}), "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def file_of(name, content):
    return {"SPDXID": identifier("File", name), "fileName": f"./{name}", "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": algorithm, "checksumValue": hashlib.new(algorithm.lower(), content).hexdigest()}
                          for algorithm in ("SHA1", "SHA256")]}


def document(said, files, subject):
    """files: {name: bytes} of what is handed out, `subject`."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    listed = [file_of(name, content) for name, content in sorted(files.items())]
    checksums = "".join(entry["checksums"][1]["checksumValue"] for entry in listed)
    main = package("Ayatori", said["Ayatori"], "Apache-2.0",
                   sourceInfo=f"commit {said['commit']}; {said['compiler']} {said['flags']}; {said['system']}")
    others = [package(name, version, LICENCES.get(name, "NOASSERTION")) for name, version in libraries(said)]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", main["SPDXID"]), *((main["SPDXID"], "DEPENDS_ON", other["SPDXID"]) for other in others),
                 *((main["SPDXID"], "CONTAINS", entry["SPDXID"]) for entry in listed)]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": subject,
            "documentNamespace": f"{PROJECT}/spdx/{subject}-{hashlib.sha256(checksums.encode()).hexdigest()[:32]}",
            "creationInfo": {"created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Tool: ayatori-sbom"]},
            "packages": [main, *others], "files": listed,
            "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations]}


def of_wheel(wheel, program):
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
        if program:
            return said_by(program), files
        inside = [name for name in files if name.endswith("/ayatori") and files[name].startswith(b"\x7fELF")]
        if not inside:
            raise SystemExit(f"{wheel}: there is no program ayatori in it; name one by --program")
        with tempfile.TemporaryDirectory() as folder:
            archive.extractall(folder)
            path = pathlib.Path(folder, inside[0])
            path.chmod(0o755)
            return said_by(path), files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, help="default: build/release/cli/ayatori, or the wheel's own")
    parser.add_argument("-o", "--output", default="ayatori.spdx.json", help="-: standard output")
    options = parser.parse_args()
    program = options.program or (None if options.wheel else ROOT / "build/release/cli/ayatori")
    for path in filter(None, (options.wheel, program)):
        if not path.is_file():
            raise SystemExit(f"{path}: there is no such file; build it, or name another")
    if options.wheel:
        said, files = of_wheel(options.wheel, program)
        subject = options.wheel.name
    else:
        said, files = said_by(program), {program.name: program.read_bytes()}
        subject = f"ayatori-{said['Ayatori']}"
    text = json.dumps(document(said, files, subject), indent=1) + "\n"
    if options.output == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(options.output).write_text(text)


if __name__ == "__main__":
    main()
