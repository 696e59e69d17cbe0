# SPDX-License-Identifier: Apache-2.0
"""A root that is booted: a real systemd as its first process, in namespaces of its own, and all that it starts."""

import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from cgroups import ControlGroup
from child import Child
from deadline import wait_until
from network import Network
from roots import Root, run

BOOT = Path(__file__).with_name("boot.sh")
NAMESPACES = ["--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup"]
# What looks after hardware, or after the distribution, and finds neither here.
MASKED = [
    "apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service",
    "fstrim.timer", "getty.target", "systemd-logind.service", "systemd-modules-load.service",
    "systemd-networkd-wait-online.service", "systemd-pstore.service", "systemd-timesyncd.service",
]  # fmt: skip


class BootedSystem:
    """Runs while the `with` block lasts. Its network is a loopback of its own. Leaves the root as it has become."""

    def __init__(self, root: Root, log: Path):
        """`log` gets what systemd prints until its journal runs."""
        self.root, self._log = root, log

    def __enter__(self) -> Self:
        for unit in MASKED:
            self._mask(unit)
        self._boot()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    def reboot(self) -> None:
        """As after a loss of power: no process is asked to end. What was written into the root is there again."""
        self._resources.close()
        self._boot()

    def _boot(self) -> None:
        with ExitStack() as resources:
            group = resources.enter_context(ControlGroup())
            # The shell enters the group before the group becomes the root of what the system sees.
            script = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
            command = ["unshare", *NAMESPACES, "--fork", "--kill-child", BOOT, self.root.path]
            outer = Child(["sh", "-ec", script, str(group.path), *map(str, command)], self._log)
            resources.callback(outer.stop, signal.SIGKILL)
            self._process = self._await_first_process(outer)
            self.network = Network(self._process)
            resources.callback(self.network.close)
            self._await_boot(outer)
            self._resources = resources.pop_all()

    def run(self, *command: str, input: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program in it to its end, as root. Raises RuntimeError with its output when it fails, if `check`."""
        return run(["nsenter", "--target", str(self._process), "--all", "--", *command], input, check)

    def systemctl(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run("systemctl", "--no-pager", *arguments, check=check)

    def property(self, unit: str, name: str) -> str:
        """What `systemctl show` says, such as `ActiveState`."""
        return self.systemctl("show", "--property", name, "--value", unit).stdout.strip()

    def journal(self, *arguments: str) -> str:
        """What `journalctl` prints, such as with `--unit=app-backend` or `--priority=warning`."""
        self.run("journalctl", "--sync")
        return self.run("journalctl", "--no-pager", "--quiet", *arguments).stdout

    def _mask(self, unit: str) -> None:
        link = self.root.file(f"/etc/systemd/system/{unit}")
        if not link.is_symlink():
            link.symlink_to("/dev/null")

    def _await_first_process(self, outer: Child) -> int:
        """Our number of what is number 1 inside, when it has become systemd."""

        def find() -> int | None:
            if outer.exit_status is not None:
                raise RuntimeError(f"There is no system: {outer.output[-2000:]}")
            for text in Path(f"/proc/{outer.id}/task/{outer.id}/children").read_text().split():
                if Path(f"/proc/{text}/comm").read_text().strip() == "systemd":
                    return int(text)
            return None

        return wait_until(find, "systemd is the first process")

    def _await_boot(self, outer: Child) -> None:
        """Degraded is well enough here: what a test needs it asks for by name."""

        def is_booted() -> bool:
            if outer.exit_status is not None:
                raise RuntimeError(f"The system ended: {outer.output[-2000:]}")
            state = self.systemctl("is-system-running", check=False).stdout.strip()
            return state in ("running", "degraded")

        wait_until(is_booted, "the system is booted", 180)
