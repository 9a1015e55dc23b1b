#!/usr/bin/env python3
"""sbom.py [--wheel FILE] [--program build/release/cli/ayatori] [-o ayatori.spdx.json]: the bill of materials of a build or a wheel.

SPDX 2.3 as JSON: Ayatori, libraries with versions and licences, and checksums of files. For a build these are the libraries that
`ayatori --version --verbose` names, and the program. For a wheel they are the libraries inside, by its LIBRARIES.txt, and all files; its own
program is asked unless --program names one. Licences are those that their authors declare. SOURCE_DATE_EPOCH sets the time, so that the same
build gives the same bytes.
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
import urllib.parse
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = "https://ayatori.invalid"  # documents have a namespace, which need not be an address

# As their sources declare them; by the names of --version, and by Debian's names of what a wheel bundles.
LGPL = "LGPL-2.1-or-later"
GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
PUBLIC_DOMAIN = {"licenseId": "LicenseRef-public-domain", "extractedText": "liblzma is in the public domain."}
UNRESTRICTED = {"licenseId": "LicenseRef-no-restrictions", "extractedText": "No licensing restrictions apply to SuiteSparse_config."}
LICENCES = {"METIS": "Apache-2.0", "MUMPS": "CECILL-C", "hypre": "Apache-2.0 OR MIT",
            "PT-Scotch": "CECILL-C", "KLU": LGPL, "hwloc": "BSD-3-Clause", "zlib": "Zlib", "bzip2": "bzip2-1.0.6",
            "zstd": "BSD-3-Clause OR GPL-2.0-only", "fmt": "MIT", "JSON for Modern C++": "MIT", "CLI11": "BSD-3-Clause",
            "lzma": PUBLIC_DOMAIN["licenseId"], "Open MPI": "BSD-3-Clause", "MPICH": "mpich2"}
DEBIAN_LICENCES = {"libamd": "BSD-3-Clause", "libbtf": LGPL, "libbz2-": "bzip2-1.0.6", "libcli11-dev": "BSD-3-Clause", "libcolamd": "BSD-3-Clause",
                   "libfmt": "MIT", "libgfortran": GCC, "libgomp": GCC, "libhwloc": "BSD-3-Clause", "libklu": LGPL,
                   "liblzma": PUBLIC_DOMAIN["licenseId"], "libmetis": "Apache-2.0", "libmumps": "CECILL-C", "libopenblas": "BSD-3-Clause",
                   "libquadmath": "LGPL-2.0-or-later", "libscotch": "CECILL-C", "libsuitesparseconfig": UNRESTRICTED["licenseId"], "libudev": LGPL,
                   "libzstd": "BSD-3-Clause OR GPL-2.0-only", "nlohmann-json": "MIT", "nanobind": "BSD-3-Clause", "zlib1g": "Zlib"}
BUNDLED = re.compile(r"^(\S+) (\S+): (.*); licence in (\S+)$", re.MULTILINE)


def identifier(*words):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", word).strip("-") for word in words)


def said_by(program):
    """{word: text} of --version --verbose."""
    text = subprocess.run([program, "--version", "--verbose"], check=True, text=True, capture_output=True).stdout
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in text.splitlines() if len(line.split()) > 1}


def libraries(said):
    """[(name, version)], the MPI among them where there is one."""
    found = []
    for word in [*([said["MPI"]] if "without MPI" not in said["MPI"] else []), *said["libraries"].split(", ")]:
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


def used(said):
    """Packages that a build is linked with."""
    return [package(name, version, LICENCES.get(name, "NOASSERTION")) for name, version in libraries(said)]


def bundled(files):
    """[(package, [names of its files])] that a wheel contains, by the table that packaging/wheel/build.py has put into it; None without one."""
    table = next((name for name in files if name.endswith("licenses/LIBRARIES.txt")), None)
    if table is None:
        return None
    found = []
    for name, version, parts, text in BUNDLED.findall(files[table].decode()):
        licence = next((licence for start, licence in DEBIAN_LICENCES.items() if name.startswith(start)), None)
        if licence is None:
            raise SystemExit(f"{name}: its licence is not known; add it to DEBIAN_LICENCES")
        kind = "pypi" if name == "nanobind" else "deb/debian"
        place = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                 "referenceLocator": f"pkg:{kind}/{name}@{urllib.parse.quote(version, safe='.~')}"}
        starts = [part.partition(".")[0] + "-" for part in parts.split(", ")]
        shared = [file for file in files if file.startswith("ayatori.libs/") and pathlib.PurePath(file).name.startswith(tuple(starts))]
        found.append((package(name, version, licence, licenseComments=f"The text is {table.replace('LIBRARIES.txt', text)}",
                              externalRefs=[place]), shared))
    return found


def document(said, files, subject):
    """files: {name: bytes} of what is handed out, `subject`."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    listed = [file_of(name, content) for name, content in sorted(files.items())]
    checksums = "".join(entry["checksums"][1]["checksumValue"] for entry in listed)
    code = hashlib.sha1("".join(sorted(entry["checksums"][0]["checksumValue"] for entry in listed)).encode()).hexdigest()
    main = package("Ayatori", said["Ayatori"], "Apache-2.0",
                   sourceInfo=f"commit {said['commit']}; {said['compiler']} {said['flags']}; {said['system']}")
    main |= {"filesAnalyzed": True, "packageVerificationCode": {"packageVerificationCodeValue": code}}
    inside = bundled(files)
    others = used(said) if inside is None else [other for other, _ in inside]
    kind = "DEPENDS_ON" if inside is None else "CONTAINS"
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", main["SPDXID"]), *((main["SPDXID"], kind, other["SPDXID"]) for other in others),
                 *((main["SPDXID"], "CONTAINS", entry["SPDXID"]) for entry in listed),
                 *((identifier("File", file), "GENERATED_FROM", other["SPDXID"]) for other, shared in inside or [] for file in shared)]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": subject,
            "documentNamespace": f"{PROJECT}/spdx/{subject}-{hashlib.sha256(checksums.encode()).hexdigest()[:32]}",
            "creationInfo": {"created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Tool: ayatori-sbom"]},
            "hasExtractedLicensingInfos": [PUBLIC_DOMAIN, UNRESTRICTED],
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
