# SPDX-License-Identifier: Apache-2.0
"""An apt repository as docs/maintain/apt-repository.md has it made and used: its own commands, but for the places."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from keys import SigningKey
from product import CHECKOUT
from roots import Root

ADDRESS = "https://packages.example.com"


@dataclass(frozen=True)
class Repository:
    """`folder` is what a web server would publish."""

    folder: Path
    key: SigningKey

    def add(self, package: Path) -> None:
        self.key.run("reprepro", "--basedir", str(self.folder), "includedeb", "stable", str(package))


def commands() -> tuple[str, str]:
    """The page's two lists: for who publishes, and for a host."""
    page = (CHECKOUT / "docs" / "maintain" / "apt-repository.md").read_text()
    publish, install = re.findall(r"^```sh\n(.*?)^```$", page, flags=re.M | re.S)
    return publish, install


@pytest.fixture
def repository(package: Path, tmp_path: Path) -> Iterator[Repository]:
    with SigningKey("Tests of an apt repository") as key:
        lines = re.sub(r"\bapp-backend_\S+\.deb", str(package), commands()[0]).replace("FINGERPRINT", key.fingerprint)
        key.run("sh", "-ec", lines, folder=tmp_path)
        yield Repository(tmp_path / "repository", key)


@pytest.fixture
def host(root: Root, repository: Repository) -> Root:
    """It sees the repository, and no mirror."""
    root.file("/etc/apt/sources.list").unlink()
    root.show(repository.folder)
    return root


def install(host: Root, repository: Repository) -> str:
    lines = commands()[1]
    assert lines.count(ADDRESS) == 2
    done = host.run("sh", "-ec", lines.replace(ADDRESS, f"file:{repository.folder}"))
    return done.stdout + done.stderr


def version(host: Root) -> str:
    return host.run("dpkg-query", "--show", "--showformat=${Version}", "app-backend").stdout


def test_a_host_installs_from_the_repository_and_is_upgraded_by_it(
    host: Root, repository: Repository, later: Path
) -> None:
    said = install(host, repository)
    assert "app-backend init" in said and "README.Debian" in said
    installed = version(host)
    repository.add(later)
    host.run("apt-get", "update")
    upgraded = host.run("apt-get", "upgrade", "--yes").stdout
    assert version(host) == f"{installed}+later"
    assert "app-backend init" not in upgraded


def test_apt_takes_no_package_that_the_key_has_not_signed(host: Root, repository: Repository) -> None:
    (stored,) = repository.folder.glob("pool/**/*.deb")
    with stored.open("ab") as file:
        file.write(b"changed")
    with pytest.raises(RuntimeError, match="size|Hash Sum mismatch"):
        install(host, repository)


def test_apt_takes_no_list_that_another_key_has_signed(host: Root, repository: Repository) -> None:
    with SigningKey("Another key") as other:
        text = other.run("gpg", "--batch", "--export", "--armor", other.fingerprint)
    exported = repository.folder / "app-backend.gpg"
    exported.unlink()
    exported.write_text(text)
    with pytest.raises(RuntimeError, match="not signed|NO_PUBKEY|Missing key"):
        install(host, repository)


def test_the_shell_completes_commands(host: Root, repository: Repository) -> None:
    install(host, repository)
    lines = """
        . /usr/share/bash-completion/completions/app-backend
        COMP_LINE='app-backend us' COMP_POINT=14 COMP_WORDS=(app-backend us) COMP_CWORD=1
        "$(complete -p app-backend | sed 's/.* -F \\([^ ]*\\) .*/\\1/')" app-backend us app-backend
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    assert host.run("bash", "-ec", lines).stdout.split() == ["user"]
    for place in ("zsh/vendor-completions/_app-backend", "fish/vendor_completions.d/app-backend.fish"):
        assert "import-htpasswd" in host.file(f"/usr/share/{place}").read_text()
