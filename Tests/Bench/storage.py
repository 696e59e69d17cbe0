# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench storage, which says what is counted: how often the sources say the same of a stored record."""

import argparse
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "Sources"
STORAGE = ("Store", "FileStore", "PostgresStore")
WORK = ("AppBackend/Webhooks", "AppBackend/Scheduled", "AppBackend/Identity", "BuiltInHub/Delivery")
ENGINES = ("FileStore", "PostgresStore")
# What was written there is never changed.
HISTORY = "Migrations.swift"
FUNCTION = re.compile(r"^\s*(?:(package|private|fileprivate) )?(?:static )?func (\w+)\(([^)]*)", re.MULTILINE)


def files(*folders):
    found = [path for folder in folders for path in sorted((SOURCES / folder).rglob("*.swift"))]
    return {path: path.read_text() for path in found}


def lines(*folders):
    return sum(text.count("\n") for text in files(*folders).values())


def places_of_a_field():
    """In which files of the stores a field of a device stands, by any of its names, beside the record itself."""
    names = re.compile(r"\binstallation(?:ID|Id|_id)\b")
    found = [path for path, text in files(*STORAGE).items() if names.search(text)]
    return [path for path in found if path.name not in ("Records.swift", HISTORY)]


def places_of_a_kind():
    """In which files of the stores the kind of app tokens is named for what is alike for all kinds."""
    names = re.compile(r"\bAppToken(?:Record)?\.(?:self|table|kind|columns|selected)|\.appToken\b|app_tokens\b|tokenTable\b")
    return [path for path, text in files(*STORAGE).items() if names.search(text) and path.name != HISTORY]


def functions(folder):
    """Functions of the protocols that an engine writes."""
    promised = {name for text in files("Store/Protocols").values() for _, name, _ in FUNCTION.findall(text)}
    written = [name for text in files(folder).values() for access, name, _ in FUNCTION.findall(text) if access == "package"]
    return sum(name in promised for name in written)


def count(pattern, *folders):
    return sum(len(re.findall(pattern, text)) for text in files(*folders).values())


def table():
    modules = [path.name for path in SOURCES.iterdir() if path.is_dir()]
    return {
        "places to touch for a new field": len(places_of_a_field()),
        "places to touch for a new kind": len(places_of_a_kind()),
        "functions per engine": max(functions(engine) for engine in ENGINES),
        "durable queues (protocols)": count(r"protocol \w*(?:Queue|WaitingStore)\b", "Store"),
        "leases taken": count(r"try \S*(?:store|hub|queue)\S*\.acquire\w*Lease", *modules),
        "pauses that double by hand": count(r"pause \*= 2|<< min\(|pause \+ pause|2 \* pause", *modules),
        "uses of Backoff": count(r"\bBackoff\(", *modules),
        "lines of storage": lines(*STORAGE),
        "lines of storage and of the work on it": lines(*STORAGE, *WORK),
        "lines of PostgreSQL and its tests": lines("PostgresStore")
        + sum(path.read_text().count("\n") for path in (ROOT / "Tests/PostgresStoreTests").rglob("*.swift")),
    }


def main():
    parser = argparse.ArgumentParser(prog="script/bench storage")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--names", action="store_true", help="the files of a new field and of a new kind")
    arguments = parser.parse_args()
    rows = table()
    if arguments.json:
        print(json.dumps(rows))
        return
    for name, number in rows.items():
        print(f"{number:>7,}  {name}")
    if arguments.names:
        for path in places_of_a_field() + places_of_a_kind():
            print(path.relative_to(ROOT))


main()
