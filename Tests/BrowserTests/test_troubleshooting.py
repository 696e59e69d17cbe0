# SPDX-License-Identifier: Apache-2.0
"""docs/reference/messages.md stays true: it quotes what the program says, and all that the program says is there."""

import re
import sys
from collections.abc import Iterator

import pytest
from built import ROOT

sys.path.append(str(ROOT / "script" / "reference.d"))

import swift  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "messages.md"
# First cells of the heads of tables. What other programs say was looked at when it was written, and cannot be checked.
OWN = "message"
OTHERS = {"nginx answers", "nginx logs, or `nginx -t` says", "systemd says"}
# `doctor` has a page of its own; a library in apps meets no administrator, and a parser's reasons explain themselves.
ELSEWHERE = (
    "Sources/Commands/Doctor",
    "Sources/DeviceClient",
    "Sources/DeviceAPI/Inbox",
    "Sources/DeviceAPI/MessageTimeline",
    "Sources/DeviceAPI/Se",
    "Sources/JSON",
)
# Where a sentence for people begins, and what of it is the first text.
SPEAKING = (
    r"\.(?:critical|error|warning)\(\s*",
    r"\breport\(\s*",
    r"\bProblem\(\s*[\w.]+\s*,\s*",
    r"\bself\.init\(\s*\.\w+,\s*",
    r"\bHubFault\(\s*\.\w+,\s*",
    r"= (?:ServableHubError)?\.(?:bad|invalid)\(\s*",
    r"\bcause:\s*",
    r"\b(?:CommandError|ValidationError|Terminal\.printError)\(\s*",
    r"\bfault\(\s*\w*\"?[\w.]*\"?,\s*",
    r"\breason: ",
    r"\bdetail:\s*",
    r"\bMalformed\(description: ",
    r"\bFailure\(description: ",
    r"\bfailure\(",
    r"orFault: ",
    r"\brefusal\(\s*",
    r"\brefused\(\.\w+,\s*",
    r"\b(?:Google|WNS)CredentialError\([^,()]*,\s*",
)
# Errors that are printed by their `description`, in which every text counts, and those that are printed as cases.
DESCRIBED = {
    "APNs/APNsAnswers.swift": "enum CredentialFault",
    "APNs/APNsKeyError.swift": "package enum APNsKeyError",
    "AppBackend/Administration/AdministrationError.swift": "package var description",
    "APNs/NotificationFault.swift": "enum NotificationFault",
    "Store/StoreError.swift": "StoreError: CustomStringConvertible",
    "FileStore/Maintenance/StoreEvent.swift": "StoreEvent: CustomStringConvertible",
    "NotificationHub/HubError.swift": "HubError: CustomStringConvertible",
    "Curl/Certificate/ClientCertificateError.swift": "package enum ClientCertificateError",
    "Push/ConnectionFault+Words.swift": "extension ConnectionFault",
    "Curl/Transport/TransportError.swift": "TransportError: CustomStringConvertible",
    "FastCGI/Server/ServerError.swift": "ServerError: CustomStringConvertible",
    "FastCGI/Socket/ListenAddress.swift": "package enum ListenError",
    "FCM/RSASigningKey.swift": "enum Malformed",
    "HubServer/HubFault.swift": "func message",
    "HubServer/RequestAuthorizer.swift": "extension SignatureError",
    "JWT/KeySet.swift": "package enum KeyError",
    "JWT/TokenError.swift": "package enum TokenError",
    "NotificationHub/Client/ConnectionString.swift": "package enum ConnectionStringError",
    "NotificationHub/Model/HandleRule.swift": "package enum HandleError",
    "Server/Process/Watchdog.swift": "func trouble",
    "WNS/DeliveryHeaders.swift": "func fault",
}
CASES = {
    "FastCGI/Wire/RejectReason.swift": "enum RejectReason",
}


def texts_of(code: str, at: int = 0) -> list[str]:
    """The texts of the Swift string that begins behind a quotation mark, without what is interpolated."""
    return read_string(code, at)[0]


def read_string(code: str, at: int) -> tuple[list[str], int]:
    """The string's texts, and where it has ended."""
    parts, end = swift.read_parts(code, at)
    return [part for part in parts[::2] if part], end


def literals(code: str) -> Iterator[list[str]]:
    """The texts of each string, in their order."""
    at = 0
    while found := re.compile(r'//.*|"""|"').search(code, at):
        at = found.end()
        if found[0] == '"""':
            end = code.index('"""', at)
            yield [code[at:end]]
            at = end + 3
        elif found[0] == '"':
            texts, at = read_string(code, at)
            yield texts


def block(code: str, beginning: str) -> str:
    """From `beginning` to the line that ends its braces."""
    start = code.index(beginning)
    line_start = code.rfind("\n", 0, start) + 1
    indent = re.match(r" *", code[line_start:])[0]
    return code[start : code.index(f"\n{indent}}}", start)]


def sources() -> Iterator[tuple[str, str]]:
    """Names and code of Swift files, without comments."""
    for name, code in swift.sources():
        if not name.startswith(ELSEWHERE):
            yield name, re.sub(r"^\s*//.*$", "", code, flags=re.MULTILINE)


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def tables() -> Iterator[tuple[str, list[str]]]:
    """The head of each table's first column, and that column's cells."""
    for text in re.findall(r"(?:^\|.*\n)+", PAGE.read_text(), re.MULTILINE):
        head, _, *rows = text.splitlines()
        yield cells(head)[0], [cells(row)[0] for row in rows]


def quoted(cell: str) -> list[str]:
    """What is in code spans; two backticks are for a text that has backticks in it."""
    return [(two or one).strip().replace("\\|", "|") for two, one in re.findall(r"``(.+?)``|`([^`]+)`", cell)]


def flat(text: str) -> str:
    return " ".join(text.split())


def spoken() -> Iterator[tuple[str, str]]:
    """Each text that an administrator or a caller may read, and the file that says it."""
    for name, code in sources():
        for pattern in SPEAKING:
            for match in re.finditer(f'{pattern}"', code):
                for text in texts_of(code, match.end()):
                    yield text, name
    for file, beginning in DESCRIBED.items():
        for parts in literals(block((ROOT / "Sources" / file).read_text(), beginning)):
            for text in parts:
                yield text, file
    for file, beginning in CASES.items():
        code = block((ROOT / "Sources" / file).read_text(), beginning)
        for case in re.findall(r"^    case (\w+)", code, re.MULTILINE):
            yield case, file
    file = "nginx/app-backend-refusals.conf"
    for detail in re.findall(r'"detail":"([^"]+)"', (ROOT / file).read_text()):
        yield detail, file


def is_telling(text: str) -> bool:
    """A punctuation mark or a short word between two values cannot be looked for on the page."""
    return len(re.findall(r"[A-Za-z]", text)) >= 4


def is_said(part: str, said: str) -> bool:
    """As one text, or as a reason behind what announces it: `hub: unauthorized`."""
    head, colon, rest = part.partition(": ")
    return part in said or bool(colon) and head + colon.strip() in said and is_said(rest, said)


@pytest.fixture(scope="module")
def said() -> str:
    """All that we may say: strings, the words of nginx's files, of the page and of the package."""
    parts = [text for _, code in sources() for strings in literals(code) for text in strings]
    parts += [case for _, code in sources() for case in re.findall(r"\bcase ([^\n:]+)", code)]
    for folder in ("nginx", "debian", "hosting"):
        parts += [path.read_text(errors="ignore") for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    return flat("\n".join(parts)).replace("\\'", "'")


def test_every_table_says_whose_words_it_has() -> None:
    heads = {head for head, _ in tables()}
    assert OWN in heads
    assert heads <= {OWN} | OTHERS


def test_what_the_page_quotes_is_what_is_said(said: str) -> None:
    missing = []
    count = 0
    for head, column in tables():
        if head != OWN:
            continue
        for cell in column:
            assert quoted(cell), f"nothing is quoted in: {cell}"
            for message in quoted(cell):
                count += 1
                missing += [part for part in message.split("…") if not is_said(flat(part), said)]
    assert missing == []
    assert count > 100


def test_what_is_said_stands_on_the_page() -> None:
    page = flat("\n".join(message for line in PAGE.read_text().splitlines() for message in quoted(line)))
    texts = [(flat(text), name) for text, name in spoken() if is_telling(text)]
    assert len(texts) > 150
    assert sorted({(text, name) for text, name in texts if text not in page}) == []


@pytest.mark.parametrize(
    ("literal", "texts"),
    [
        ('plain" rest', ["plain"]),
        ('a \\(value) b")', ["a ", " b"]),
        ('to \\(list.joined(separator: ", ")) end"', ["to ", " end"]),
        ('no \\"format\\"")', ['no "format"']),
        ('\\(name(of: "x \\(y) z"))"', []),
    ],
)
def test_a_swift_string_is_read_without_its_values(literal: str, texts: list[str]) -> None:
    assert texts_of(literal) == texts
