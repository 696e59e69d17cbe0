# SPDX-License-Identifier: Apache-2.0
"""Every problem that `app-backend doctor` reports, with its fix, as its sources have them."""

import re
from collections.abc import Iterator

from swift import ROOT, arguments, cell, head, source, table, text_of, texts_in

PURPOSE = """
Every problem that [`app-backend doctor`](../operate/doctor.md) reports, and the fix that it prints. A name in capitals, or `…`, stands for a
value. For example, this command prints the problems of a site, each with a fix:

```sh
app-backend doctor --url https://push.example.com
```

**wrong** needs a change. A **warning** names a risk, and the service works. **skipped** was not checked.
"""
FOLDER = "Sources/Commands/Doctor"
# In the order of the doctor's steps.
STEPS = {
    "nginx": ["NginxFindings", "NginxStep"],
    "socket": ["SocketFindings"],
    "store": ["StoreFindings", "DoctorRun+Store"],
    "issuers": ["IssuerFindings"],
    "clock": ["ClockFindings"],
    "tls, key, hub": ["HubFindings"],
    "push": ["PushFindings", "ChannelFindings"],
    "send": ["SendFindings", "DoctorRun+Send"],
    "all steps": ["DoctorRun", "DoctorRun+Within", "CertificateTerm", "DoctorReport"],
}
# A text with fewer letters only joins values, and is no finding.
SHORTEST = 6
# Those whose text or fix the program computes, as the page has them: what is computed, in words.
COMPUTED = {
    "the certificate of … …": (
        "the certificate of HOST has expired, is not valid yet, is self-signed, has an unknown issuer, or is for another host",
        "`certbot renew` and `systemctl reload nginx` for an expired one. Otherwise check the clock, `fullchain.pem` in `ssl_certificate`, and "
        "a certificate for the name in `--url`",
    ),
    "the certificate of HOST …": (
        "the hub's certificate has expired, is not valid yet, is self-signed, has an unknown issuer, or is for another host",
        "the hub's operator renews it. Otherwise check the clock, `hub.caFile`, `apt install ca-certificates`, and the host in the connection string",
    ),
    "NAME: there is no such socket": (
        "NAME: there is no such socket",
        "`systemctl enable --now app-backend.socket`, whose `ListenStream=` must name it. Without systemd, start the service, "
        "which makes the socket of `listen`",
    ),
    "CHANNEL: the push service refuses the credential: REASON": (
        "CHANNEL: the push service refuses the credential: REASON",
        "the group of CHANNEL in the configuration (`apns`, `fcm`, `wns`, `webPush`), and its guide",
    ),
    "CHANNEL: the push service answers …": (
        "CHANNEL: the push service answers REASON",
        "the group of CHANNEL in the configuration (`apns`, `fcm`, `wns`, `webPush`), and its guide",
    ),
    "SUBJECT is only TEXTURGENCY": (
        "SUBJECT (the certificate of HOST) is only good for N days: renew it now",
        "as for a certificate that has expired",
    ),
}
VERDICTS = {"fail": "wrong", "warn": "warning", "warning": "warning", "skipped": "skipped"}


def found_in(code: str) -> Iterator[tuple[str, str, str]]:
    """Problem, verdict and fix."""
    for call in re.finditer(r"(?<!func )(?:\.|\b)(fail|warn|warning|skipped)\(", code):
        given = arguments(code, call.end() - 1)
        texts = [meaning(one, code) for one in given if not one.startswith(("when:", "fix:"))]
        fixes = [meaning(one.removeprefix("fix:").strip(), code) for one in given if one.startswith("fix:")]
        if texts and len(re.findall("[a-z]", texts[0])) >= SHORTEST and (fixes or call[1] == "skipped"):
            found, fix = COMPUTED.get(texts[0], (texts[0], fixes[0] if fixes else ""))
            if fixes and not fix:
                raise ValueError(f"the fix of this finding is computed, and COMPUTED does not have it: {found}")
            yield found, VERDICTS[call[1]], fix


def meaning(expression: str, code: str) -> str:
    """The text of an expression, or of the constant that it names, or of all branches that it has."""
    if re.fullmatch(r"\w+", expression):
        named = re.search(rf"let {expression} =\s*", code)
        expression = code[named.end() :].partition("\n\n")[0] if named else ""
        return text_of(expression)
    return text_of(expression) or " / ".join(texts_in(expression))


def page() -> str:
    files = {path.stem for path in (ROOT / FOLDER).glob("*.swift")}
    missing = {name for names in STEPS.values() for name in names} - files
    if missing:
        raise ValueError(f"no file {missing}")
    parts = [head("Findings of the doctor", PURPOSE)]
    for step, names in STEPS.items():
        rows = [row for name in names for row in found_in(source(f"{FOLDER}/{name}.swift"))]
        if rows:
            unique = dict.fromkeys((cell(found), verdict, cell(fix)) for found, verdict, fix in rows)
            parts.append(f"\n## {step}\n\n" + table(("found", "verdict", "fix"), unique))
    return "".join(parts)
