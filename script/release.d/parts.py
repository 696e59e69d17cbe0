# SPDX-License-Identifier: Apache-2.0
"""Prints, as SPDX 2.3 in JSON, what an executable of app-backend consists of: for those who look up vulnerabilities.

    python3 script/release.d/parts.py PROGRAM VERSION ARCHITECTURE

The packages of Swift are those of script/dependencies; debian/copyright says which of them are linked, and their licences. The
libraries are what the loader takes on this machine: a Debian that installs the program has its own versions of them. The
time is $SOURCE_DATE_EPOCH. Needs readelf and dpkg.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).parents[2]
COMMAND_SECONDS = 60
APPLICATION = "SPDXRef-app-backend"
# As debian/copyright and as SPDX call them.
LICENSES = {"Apache-2.0": "Apache-2.0", "Apache-2.0-with-Swift-exception": "Apache-2.0 WITH Swift-exception"}


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMMAND_SECONDS).stdout


def package(name: str, version: str, **fields: Any) -> dict[str, Any]:
    given = {"name": name, "SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', name)}", "versionInfo": version}
    unknown = dict.fromkeys(("downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"), "NOASSERTION")
    return given | {"filesAnalyzed": False} | unknown | fields


def locator(text: str) -> list[dict[str, str]]:
    """The name by which lists of vulnerabilities know a package (purl)."""
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": text}]


def relation(first: str, kind: str, second: str) -> dict[str, str]:
    return {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}


def application(program: Path, version: str) -> dict[str, Any]:
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    return package(
        "app-backend",
        version,
        primaryPackagePurpose="APPLICATION",
        licenseDeclared="Apache-2.0",
        checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
        comment="The checksum is the executable's.",
    )


def linked_licenses() -> dict[str, str]:
    """What debian/copyright says of each folder of .build/checkouts."""
    text = (ROOT / "debian" / "copyright").read_text()
    found = re.findall(r"^Files: \.build/checkouts/([\w-]+)/\*\n(?:(?!\n).*\n)*?License: (\S+)$", text, flags=re.M)
    return {name: LICENSES[license] for name, license in found}


def swift_packages() -> list[tuple[dict[str, Any], str]]:
    """Each package that a build resolves, and whether it is linked or only needed to build."""
    found, linked = [], linked_licenses()
    for line in (ROOT / "script" / "dependencies").read_text().splitlines():
        if line.startswith("#"):
            continue
        name, version, address = line.split()
        made = package(
            name,
            version,
            downloadLocation=f"git+{address}@{version}",
            licenseDeclared=linked.get(name, "NOASSERTION"),
            externalRefs=locator(f"pkg:swift/{address.removeprefix('https://')}@{version}"),
        )
        found.append((made, "STATIC_LINK" if name in linked else "BUILD_DEPENDENCY_OF"))
    return found


def runtime(program: Path) -> dict[str, Any]:
    """Of Swift: the version that the compiler has written into the executable, else that of the compiler on PATH."""
    texts = program.read_bytes() + output("swift", "--version").encode()
    match = re.search(rb"Swift version ([0-9.]+)", texts)
    return package(
        "swift",
        match.group(1).decode() if match else "NOASSERTION",
        licenseDeclared=LICENSES["Apache-2.0-with-Swift-exception"],
        comment="Its runtime: standard library, concurrency, FoundationEssentials and libdispatch.",
    )


def libraries(program: Path, architecture: str) -> list[dict[str, Any]]:
    """Debian's packages of what the loader takes, each once."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--wide", "--dynamic", str(program)))
    owners = {line.split(":")[0] for name in needed for line in _search(name, architecture).splitlines()}
    return [_library(name, architecture) for name in sorted(owners)]


def _search(name: str, architecture: str) -> str:
    triplet = output("dpkg-architecture", f"--host-arch={architecture}", "--query", "DEB_HOST_MULTIARCH").strip()
    return output("dpkg-query", "--search", f"*/{triplet}/{name}")


def _library(name: str, architecture: str) -> dict[str, Any]:
    version = output("dpkg-query", "--show", "--showformat=${Version}", f"{name}:{architecture}")
    system = platform.freedesktop_os_release()
    qualifiers = f"arch={architecture}&distro={system['ID']}-{system['VERSION_ID']}"
    return package(name, version, externalRefs=locator(f"pkg:deb/{system['ID']}/{quote(name)}@{quote(version)}?{qualifiers}"))


def parts(program: Path, version: str, architecture: str) -> dict[str, Any]:
    app, swift = application(program, version), runtime(program)
    packages, linked = swift_packages(), libraries(program, architecture)
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", APPLICATION), relation(APPLICATION, "STATIC_LINK", swift["SPDXID"])]
    for made, kind in packages:
        ends = (APPLICATION, made["SPDXID"]) if kind == "STATIC_LINK" else (made["SPDXID"], APPLICATION)
        relations.append(relation(ends[0], kind, ends[1]))
    relations += [relation(APPLICATION, "DYNAMIC_LINK", made["SPDXID"]) for made in linked]
    every = [app, swift, *(made for made, _ in packages), *linked]
    return document(f"app-backend-{version}-linux-{architecture}", app["checksums"][0]["checksumValue"], every, relations)


def document(name: str, digest: str, packages: list[dict[str, Any]], relations: list[dict[str, str]]) -> dict[str, Any]:
    """`digest` is of what is described: another one makes another document."""
    made_at = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{digest[:32]}",
        "creationInfo": {"created": made_at.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: script/release"]},
        "packages": packages,
        "relationships": relations,
    }


if __name__ == "__main__":
    print(json.dumps(parts(Path(sys.argv[1]), sys.argv[2], sys.argv[3]), indent=2))
