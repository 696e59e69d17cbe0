# SPDX-License-Identifier: Apache-2.0
"""What deliveries take of this machine."""

import os
import pathlib
import time

from servers import busy_seconds, processor_seconds


class Watch:
    """What app-backend, its push service and strangers take of the machine from here on."""

    def __init__(self, site):
        self.site = site
        pathlib.Path(f"/proc/{site['app-backend'].pid}/clear_refs").write_text("5")  # resets VmHWM
        self.before = self.spent()

    def spent(self):
        spent = {name: processor_seconds(process) for name, process in self.site.processes.items()}
        own = os.times()
        spent["others"] = busy_seconds() - sum(spent.values()) - own.user - own.system - own.children_user - own.children_system
        return spent | {"time": time.monotonic()}

    def result(self, count):
        spent = {name: value - self.before[name] for name, value in self.spent().items()}
        return {"cpu": spent["app-backend"] * 1e6 / count, "service cpu": spent["service"] * 1e6 / count,
                "others": max(0.0, spent["others"] / spent["time"]), "memory": memory(self.site["app-backend"], "VmHWM")}


def memory(process, name):
    """In MiB."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return 0
