# SPDX-License-Identifier: Apache-2.0
"""Many users in a store, as quickly as one: all with the same password."""

import json
import subprocess


def run(program, config, *arguments, text=""):
    command = [program, *arguments, "--config", config]
    return subprocess.run(command, input=text, text=True, check=True, capture_output=True).stdout


def add(program, config, folder, first, others, password):
    """One user as the program makes it, and copies of its record."""
    run(program, config, "user", "add", first, text=password + "\n")
    head, *records, _ = run(program, config, "store", "export").splitlines()
    user = next(record for record in map(json.loads, records) if record["table"] == "users")
    lines = [head] + [json.dumps({**user, "id": name}) for name in others]
    lines.append(json.dumps({"export": "end", "records": len(others), "tables": {"users": len(others)}}))
    file = folder / "users.jsonl"
    file.write_text("\n".join(lines) + "\n")
    run(program, config, "store", "import", file)
