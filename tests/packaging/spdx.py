"""What SPDX 2.3 asks of a bill of materials that packaging/sbom.py writes."""

import hashlib
import re

# SPDX's own, of those that the bills name.
LICENCES = {"Apache-2.0", "BSD-3-Clause", "bzip2-1.0.6", "CECILL-C", "GPL-2.0-only", "GPL-3.0-or-later WITH GCC-exception-3.1", "LGPL-2.0-or-later",
            "LGPL-2.1-or-later", "MIT", "mpich2", "NOASSERTION", "Zlib"}


def faults(bill):
    """A line for each."""
    for field, value in {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT"}.items():
        if bill[field] != value:
            yield f"{field} is {bill[field]}"
    if not re.fullmatch(r"https://[^#\s]+", bill["documentNamespace"]):
        yield f"namespace {bill['documentNamespace']}"
    if not re.fullmatch(r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}Z", bill["creationInfo"]["created"]):
        yield f"created {bill['creationInfo']['created']}"
    named = [bill["SPDXID"], *(element["SPDXID"] for kind in ("packages", "files") for element in bill[kind])]
    if len(named) != len(set(named)):
        yield "an identifier stands twice"
    for name in named:
        if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name):
            yield f"identifier {name}"
    ends = {end for relation in bill["relationships"] for end in (relation["spdxElementId"], relation["relatedSpdxElement"])}
    if ends != set(named):
        yield f"without a relationship, or unknown: {ends ^ set(named)}"
    licences = LICENCES | {info["licenseId"] for info in bill["hasExtractedLicensingInfos"]}
    for package in bill["packages"]:
        for field in ("name", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
            if not package[field]:
                yield f"{package['name']} has no {field}"
        for licence in package["licenseDeclared"].split(" OR "):
            if licence not in licences:
                yield f"{package['name']}: licence {licence}"
        for place in package.get("externalRefs", []):
            if not re.fullmatch(r"pkg:[a-z]+/[\w./+-]+@[\w.~%-]+", place["referenceLocator"]):
                yield f"address {place['referenceLocator']}"
        if not package["filesAnalyzed"]:
            continue
        sums = sorted(checksum["checksumValue"] for entry in bill["files"] for checksum in entry["checksums"] if checksum["algorithm"] == "SHA1")
        if package["packageVerificationCode"]["packageVerificationCodeValue"] != hashlib.sha1("".join(sums).encode()).hexdigest():
            yield "the verification code is not that of the files"
