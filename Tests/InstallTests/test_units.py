# SPDX-License-Identifier: Apache-2.0
"""What each Debian's systemd says of the units, without starting them."""

from roots import Root

UNITS = ["/etc/systemd/system/app-backend.service", "/etc/systemd/system/app-backend.socket"]
# Tenths: 1.5 of 10.
MAXIMUM_EXPOSURE = "15"


def test_systemd_understands_every_line_of_the_units(installed: Root) -> None:
    done = installed.run("systemd-analyze", "verify", "--man=no", *UNITS)
    # It exits 0 also where it does not know a key.
    assert done.stdout + done.stderr == ""


def test_systemd_finds_little_that_the_service_might_do(installed: Root) -> None:
    installed.run("systemd-analyze", "security", "--offline=true", f"--threshold={MAXIMUM_EXPOSURE}", UNITS[0])


def test_a_unit_with_an_unknown_key_would_be_noticed(installed: Root) -> None:
    with installed.file(UNITS[0]).open("a") as unit:
        unit.write("[Service]\nNoSuchKey=yes\n")
    done = installed.run("systemd-analyze", "verify", "--man=no", *UNITS)
    assert "NoSuchKey" in done.stdout + done.stderr


def test_the_program_finds_all_its_libraries_and_none_of_swift(installed: Root) -> None:
    libraries = installed.run("ldd", "/usr/bin/app-backend").stdout
    assert "libfcgi" in libraries and "libcurl" in libraries
    assert "not found" not in libraries and "swift" not in libraries.lower()
