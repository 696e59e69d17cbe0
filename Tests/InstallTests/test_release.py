# SPDX-License-Identifier: Apache-2.0
"""What script/release makes: complete, signed, the same each time, and installable as the pages say."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from booted import BootedSystem
from debian import BOOKWORM, Debian
from installed_site import SERVICE, Site, expect
from packaged import include_snippet, names_in, nginx_reloaded, speak_tls
from product import CHECKOUT
from releases import Checkout, installation_commands
from roots import Root

only_bookworm = pytest.mark.parametrize("release", [BOOKWORM], indirect=True, ids=["bookworm"])
SIGNATURE = "Good signature"


@pytest.fixture(scope="session")
def tarball(made: Path) -> Path:
    (found,) = made.glob("*.tar.gz")
    return found


@pytest.fixture
def parts(made: Path) -> dict[str, Any]:
    (found,) = (file for file in made.glob("*.spdx.json") if ".oci." not in file.name)
    read: dict[str, Any] = json.loads(found.read_text())
    return read


def test_the_key_has_signed_checksums_of_every_file(made: Path, checkout: Checkout, without_images: str | None) -> None:
    names = {line.split("  ")[1] for line in (made / "SHA256SUMS").read_text().splitlines()}
    assert names == {file.name for file in made.iterdir() if not file.name.startswith("SHA256SUMS")}
    assert len(names) == (3 if without_images else 7)
    checkout.key.run("sha256sum", "--check", "--strict", "SHA256SUMS", folder=made)
    assert SIGNATURE in checkout.key.run("gpg", "--batch", "--verify", "SHA256SUMS.asc", "SHA256SUMS", folder=made)


def test_the_key_has_signed_the_tag_of_the_commit(made: Path, checkout: Checkout) -> None:
    tag = f"v{checkout.version}"
    assert SIGNATURE in checkout.key.run("git", "verify-tag", tag, folder=checkout.folder)
    assert checkout.git("rev-parse", f"{tag}^{{commit}}") == checkout.git("rev-parse", "HEAD")


def test_the_executable_has_nothing_of_the_folder_in_which_it_was_built(program: Path) -> None:
    """Neither the path nor Swift's hashes of it, so that a build in another folder makes the same one."""
    bytes = program.read_bytes()
    assert str(CHECKOUT).encode() not in bytes and b".swift_modhash" not in bytes


def test_made_again_in_another_folder_every_file_is_the_same(
    made: Path, checkout: Checkout, program: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    said = checkout.release(checkout.version, "--program", str(program), "--check", "--without-images", "--output", str(again))
    assert "Made in another folder, every file is the same, byte for byte." in said.stdout
    sums = set((again / "SHA256SUMS").read_text().splitlines())
    assert len(sums) == 3 and sums <= set((made / "SHA256SUMS").read_text().splitlines())
    assert not (again / "SHA256SUMS.asc").exists()


def test_a_file_that_differs_when_it_is_made_again_is_named_and_kept(checkout: Checkout, program: Path, tmp_path: Path) -> None:
    """A gzip that packs the second tarball less makes another one, of the same package."""
    gzip = tmp_path / "bin" / "gzip"
    gzip.parent.mkdir()
    second = f"[ \"$*\" != '--no-name -9' ] || mkdir {tmp_path}/called 2> /dev/null"
    gzip.write_text(f"#!/bin/sh\n{second} || set -- --no-name -1\nexec {shutil.which('gzip')} \"$@\"\n")
    gzip.chmod(0o755)
    options = ["--program", str(program), "--check", "--without-images", "--output", str(tmp_path / "first")]
    path = f"{gzip.parent}:{os.environ['PATH']}"
    done = checkout.release(checkout.version, *options, check=False, PATH=path)
    assert done.returncode == 1 and done.stderr.count(".tar.gz") == 1 and ".deb" not in done.stderr
    (first,), (second,) = tmp_path.glob("first/*.tar.gz"), tmp_path.glob("first-again/*.tar.gz")
    assert first.name == second.name and first.read_bytes() != second.read_bytes()


def test_the_tarball_has_every_file_of_the_package_for_nginx_and_systemd(made: Path, tarball: Path) -> None:
    (package,) = made.glob("*.deb")
    with tarfile.open(tarball) as archive:
        names = {Path(member.name).name for member in archive}
        assert {member.name.split("/")[0] for member in archive} == {tarball.name.removesuffix(".tar.gz")}
    wanted = {name for name in names_in(package) if re.search(r"\.(conf|service|socket|js|html)$", name)}
    assert len(wanted) > 10 and wanted <= names


def test_another_reader_takes_every_list_of_parts_as_spdx(made: Path) -> None:
    for file in made.glob("*.spdx.json"):
        tool = [sys.executable, "-W", "ignore", "-m", "spdx_tools.spdx.clitools.pyspdxtools", "--infile", str(file)]
        done = subprocess.run(tool, check=False, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_list_of_parts_names_what_is_linked_and_in_which_version(parts: dict[str, Any], made: Path) -> None:
    versions = {part["name"]: part["versionInfo"] for part in parts["packages"]}
    lines = (CHECKOUT / "script" / "dependencies").read_text().splitlines()
    resolved = dict(line.split()[:2] for line in lines if not line.startswith("#"))
    assert resolved.items() <= versions.items()
    (package,) = made.glob("*.deb")
    depends = subprocess.run(["dpkg-deb", "--field", package, "Depends"], check=True, capture_output=True, text=True, timeout=180)
    libraries = {re.split(r"[ |]", name.strip())[0] for name in depends.stdout.split(",")}
    assert libraries - versions.keys() <= {"init-system-helpers", "libgcc-s1"}
    swift = re.search(r"Swift version ([0-9.]+)", _output("swift", "--version"))
    assert swift is not None and versions["swift"] == swift.group(1)


def test_the_licenses_of_what_is_linked_are_stated(parts: dict[str, Any]) -> None:
    linked = {
        relation["relatedSpdxElement"]
        for relation in parts["relationships"]
        if relation["relationshipType"] == "STATIC_LINK"
    }
    licenses = {part["SPDXID"]: part["licenseDeclared"] for part in parts["packages"]}
    assert len(linked) > 5 and "NOASSERTION" not in {licenses[name] for name in linked}


@only_bookworm
def test_an_administrator_installs_the_tarball_as_the_page_says(
    root: Root, release: Debian, tarball: Path, certificate: Path, folder: Path
) -> None:
    speak_tls(root, certificate)
    root.file("/srv/release.tar.gz").write_bytes(tarball.read_bytes())
    lines = re.sub(r"\bapp-backend-\S+\.tar\.gz", "/srv/release.tar.gz", installation_commands())
    with BootedSystem(root, folder / "tarball.log") as system:
        system.run("bash", "-ec", f"cd /srv\n{lines}")
        include_snippet(root)
        with nginx_reloaded(system):
            system.systemctl("reload", "nginx")
        assert system.property(SERVICE, "ActiveState") == "active"
        with closing(Site(system, certificate)) as site:
            assert expect(site.call(site.add_user("alice"), "GET", "/api/register")).json() == []


def test_a_release_is_for_the_architecture_of_its_machine(checkout: Checkout) -> None:
    """Debian's tools take a variable for another machine's word. What is to be released does not run there, or anywhere."""
    options = [checkout.version, "--without-images", "--program", "/bin/false"]
    done = checkout.release(*options, check=False, DEB_HOST_ARCH="arm64")
    assert done.returncode == 1 and "for arm64, and no other architecture" in done.stdout
    assert "it does not run" in done.stderr


def test_a_release_of_another_version_than_the_files_name_is_refused(checkout: Checkout, program: Path) -> None:
    done = checkout.release("9.9.9", "--program", str(program), check=False)
    assert done.returncode == 1
    for name in ("Version.swift", "CHANGELOG.md", "debian/changelog", "README.md"):
        assert name in done.stderr


def test_a_release_of_what_is_not_committed_is_refused(checkout: Checkout, program: Path) -> None:
    change = checkout.folder / "docs" / "uncommitted.md"
    change.write_text("# Here\n")
    done = checkout.release(checkout.version, "--program", str(program), check=False)
    change.unlink()
    assert done.returncode == 1 and "not committed" in done.stderr


def test_a_release_whose_tag_is_of_another_commit_is_refused(made: Path, checkout: Checkout, program: Path) -> None:
    (checkout.folder / "docs" / "later.md").write_text("# Here\n")
    checkout.commit()
    done = checkout.release(checkout.version, "--program", str(program), check=False)
    checkout.git("reset", "--quiet", "--hard", "HEAD~1")
    assert done.returncode == 1 and "of another commit" in done.stderr


def _output(*command: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=180)
    return done.stdout + done.stderr
