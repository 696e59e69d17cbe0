# SPDX-License-Identifier: Apache-2.0
"""Reads an image that Podman has saved as a folder (OCI image layout).

    python3 script/release.d/image.py manifest FOLDER TAG
    python3 script/release.d/image.py parts FOLDER ARCHIVE VERSION ARCHITECTURE

`manifest` prints the list by which `docker load` finds the image in that layout. `parts` prints, as SPDX 2.3 in JSON, which
packages of Debian's are in the image. ARCHIVE is the file that has the folder.
"""

import hashlib
import io
import json
import re
import sys
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from parts import document, locator, package, relation

STATUS = "var/lib/dpkg/status"
IMAGE = "SPDXRef-image"


class Layout:
    """Of one image."""

    def __init__(self, folder: Path):
        self._folder = folder
        (entry,) = json.loads((folder / "index.json").read_text())["manifests"]
        self.digest: str = entry["digest"]
        self._manifest: dict[str, Any] = json.loads(self._blob(entry["digest"]).read_text())

    def for_docker(self, tag: str) -> list[dict[str, Any]]:
        def path(part: dict[str, Any]) -> str:
            return str(self._blob(part["digest"]).relative_to(self._folder))

        return [
            {
                "Config": path(self._manifest["config"]),
                "RepoTags": [tag],
                "Layers": [path(layer) for layer in self._manifest["layers"]],
            }
        ]

    def packages(self) -> list[dict[str, str]]:
        """The fields of each that dpkg has installed."""
        found = [self._read(layer["digest"], STATUS) for layer in self._manifest["layers"]]
        (*_, text) = [text for text in found if text is not None]
        entries = [dict(re.findall(r"^([\w-]+): (.*)$", entry, flags=re.M)) for entry in text.split("\n\n")]
        return [entry for entry in entries if entry.get("Status") == "install ok installed"]

    def _read(self, digest: str, name: str) -> str | None:
        with tarfile.open(fileobj=io.BytesIO(self._blob(digest).read_bytes())) as layer:
            for member in layer:
                if member.name.removeprefix("./") == name and (file := layer.extractfile(member)) is not None:
                    return file.read().decode()
        return None

    def _blob(self, digest: str) -> Path:
        return self._folder / "blobs" / digest.replace(":", "/")


def parts(layout: Layout, archive: Path, version: str, architecture: str) -> dict[str, Any]:
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    image = package(
        "image",
        version,
        packageFileName=archive.name,
        primaryPackagePurpose="CONTAINER",
        checksums=[{"algorithm": "SHA256", "checksumValue": checksum}],
        externalRefs=locator(f"pkg:oci/app-backend@{quote(layout.digest)}?arch={architecture}"),
        comment="What is linked into the executable of the package app-backend is in the release's other list.",
    )
    found = [
        package(
            entry["Package"],
            entry["Version"],
            externalRefs=locator(f"pkg:deb/debian/{quote(entry['Package'])}@{quote(entry['Version'])}?arch={entry['Architecture']}"),
        )
        for entry in layout.packages()
    ]
    return document(
        archive.name.removesuffix(".tar"),
        checksum,
        [image, *found],
        [relation("SPDXRef-DOCUMENT", "DESCRIBES", IMAGE), *(relation(IMAGE, "CONTAINS", one["SPDXID"]) for one in found)],
    )


if __name__ == "__main__":
    read = Layout(Path(sys.argv[2]))
    if sys.argv[1] == "manifest":
        print(json.dumps(read.for_docker(sys.argv[3])))
    else:
        print(json.dumps(parts(read, Path(sys.argv[3]), sys.argv[4], sys.argv[5]), indent=2))
