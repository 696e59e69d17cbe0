# SPDX-License-Identifier: Apache-2.0
"""Every command, from the synopsis and the descriptions of the manual, which a test holds to the program."""

import re
from collections.abc import Iterator

from swift import cell, head, source, table

PURPOSE = """
Every command of `app-backend`, and its options. `app-backend help COMMAND` prints the same, and the manual page `man app-backend` explains
each option. For example, this adds a user and sends her a message:

```sh
app-backend user add alice
app-backend send --to alice "At noon"
```

`--config FILE` comes before or after each command and names another configuration file.
"""
MANUAL = "docs/reference/app-backend.1"


def usages(manual: str) -> Iterator[tuple[str, str]]:
    """Each command of the synopsis, such as `user add`, and its lines there."""
    for part in manual.split(".Sh SYNOPSIS")[1].split("\n.Sh ")[0].split("\n.Nm")[1:]:
        if name := re.search(r"\.(?:Op )?Cm ([a-z -]+)", part):
            yield name[1].strip(), part


def synopsis() -> list[tuple[str, str]]:
    """Each command and its options, as one types them."""
    found = []
    for name, lines in usages(source(MANUAL)):
        words = []
        for line in lines.splitlines():
            if not re.match(r"\.(Op|Ar|Fl) ", line) or "Cm" in line:
                continue
            option = re.sub(r"\b(?:Fl|Ar|Cm) ", "", re.sub(r"Fl -", "Fl --", line.removeprefix(".").removeprefix("Op ")))
            option = re.sub(r" \.\.\.", "...", option)
            option = re.sub(r"(?<=\| )-(?=[a-z])", "--", option)
            words.append(f"[{option}]" if line.startswith(".Op") else option)
        found.append((name, " ".join(words)))
    return found


def purpose(command: str) -> str:
    """The first sentence of the manual's item."""
    text = source(MANUAL)
    item = text.split(f"\n.It Cm {command}\n", 1)
    if len(item) == 1:
        return ""
    lines = []
    for line in item[1].splitlines():
        if re.match(r"\.(It|Bl|El|Pp|Sh|Bd|Ed)\b", line):
            break
        lines.append(words(line))
        if re.search(r"[.:]$", lines[-1]):
            break
    sentence = re.sub(r" ([.,;:])", r"\1", " ".join(lines)).replace("( ", "(").replace(" )", ")")
    return re.sub(":$", ".", sentence)


def words(line: str) -> str:
    """A macro's arguments in code spans; its punctuation behind them."""
    if not line.startswith("."):
        return line.replace("\\-", "-")
    macro, _, rest = line.partition(" ")
    rest = rest.replace("Sq \\&-", "`-`")
    if macro == ".Pq":
        return re.sub(r"^(.*?)( [.,;:])?$", r"(\1)\2", rest)
    if macro in (".Dq", ".Sq"):
        return rest
    if macro == ".Xr":
        rest = re.sub(r"^(\S+) (\d)", r"\1(\2)", rest)
    names = rest.split()
    marks = []
    while names and re.fullmatch(r"[.,;:)(]", names[-1]):
        marks.insert(0, names.pop())
    dashed = macro == ".Fl"
    plain = [name for name in names if name not in ("Fl", "Ar", "Cm")]
    text = " ".join("--" + name[1:] if dashed and name.startswith("-") else name for name in plain)
    return f"`{text}`{''.join(marks)}" if text else "".join(marks)


def page() -> str:
    typed = [(name, cell(f"`{options}`") if options else "") for name, options in synopsis()]
    rows = [(f"`{name}`", cell(purpose(name)), options) for name, options in typed]
    return head("Commands", PURPOSE) + "\n" + table(("command", "what it does", "options"), rows)
