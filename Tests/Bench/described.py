# SPDX-License-Identifier: Apache-2.0
"""Counts for `script/bench files --sources`: how often the sources describe one thing."""

import json
import re
import statistics
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs" / "reference" / "settings.schema.json"
TYPE = r"\b(?:struct|enum|class|actor|protocol) (\w+)"


def texts(folder: str = "Sources") -> dict[str, str]:
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted((ROOT / folder).rglob("*.swift"))}


def error_types(sources: dict[str, str]) -> list[str]:
    """Types that are thrown: each that is an `Error` where it is declared or extended."""
    declared = re.compile(r"\b(?:struct|enum|class|extension) ([\w.]+)[^{\n]*:[^{]*\bError\b[^{]*\{")
    return sorted(name for text in sources.values() for name in declared.findall(text))


def types(sources: dict[str, str], name: str) -> list[str]:
    """Declared types of which the whole name matches."""
    return sorted(found for text in sources.values() for found in re.findall(TYPE, text) if re.fullmatch(name, found))


def places(sources: dict[str, str]) -> dict[str, int]:
    """By setting, how many literals of `Sources/Server` are its key. Keys of a list of groups are written with a variable."""
    properties = json.loads(SCHEMA.read_text())["properties"]
    keys = [key for key, row in properties.items() if "x-section" in row and "anyOf" not in row]
    code = "\n".join(text for path, text in sources.items() if path.startswith("Sources/Server/"))
    return {key: code.count(f'"{key}"') for key in keys if f'"{key}"' in code}


def rows(sources: dict[str, str]) -> dict[str, int | list[str]]:
    counts = places(sources)
    return {
        "lines of Sources": sum(text.count("\n") for text in sources.values()),
        "files of Sources": len(sources),
        "settings": len(counts),
        "lines that name a setting, median": int(statistics.median(counts.values())),
        "lines that name a setting, most": max(counts.values()),
        "error types": error_types(sources),
        "types of what is wrong": types(sources, r"\w*(Finding|Findings|Fault|CredentialState|WaitingChannel)"),
        "types of what became of a send": types(sources, r"\w*(Outcome|Outcomes|SendResult|SendReport|OutcomeDetails)"),
    }


def show(names: bool, as_json: bool) -> None:
    found = rows(texts())
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:36}{value if isinstance(value, int) else len(value):8}")
        if names and not isinstance(value, int):
            print("    " + " ".join(value))
