# SPDX-License-Identifier: Apache-2.0
"""Every code of a problem, as the source lists and explains it."""

import re

from swift import cell, head, source, table

PURPOSE = """
Every error of the API has a `code`, by which your program decides. `detail` is for people, and its text may change. `type` is
`urn:app-backend:problem:` and the code. For example, `tooManySends` means that you wait for `Retry-After`:

```json
{"type":"urn:app-backend:problem:tooManySends","title":"Too Many Requests","status":429,"code":"tooManySends","detail":"…"}
```

A code keeps its meaning and its status. A later version may have more: treat a code that you do not know by its status. A response
without a code is from another server, such as a proxy before nginx. If the response has `Retry-After`, wait as many seconds, and repeat
the request. [Retries](http-api.md#retries) has the effect of each retry of a send.
"""
LIST = "Sources/DeviceAPI/ProblemCode.swift"
# The names of the statuses in Swift.
STATUSES = {
    "badRequest": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "notFound": 404,
    "methodNotAllowed": 405,
    "conflict": 409,
    "gone": 410,
    "contentTooLarge": 413,
    "uriTooLong": 414,
    "unsupportedMediaType": 415,
    "tooManyRequests": 429,
    "requestHeaderFieldsTooLarge": 431,
    "internalServerError": 500,
    "badGateway": 502,
    "serviceUnavailable": 503,
    "gatewayTimeout": 504,
}


def codes() -> dict[str, tuple[int, str]]:
    """Each code with its status and its comment in one line. Raises KeyError if one has no status."""
    text = source(LIST)
    status_of = {
        code: STATUSES[status]
        for names, status in re.findall(r"        case ([^:]*):\s*\.(\w+)\n", text)
        for code in re.findall(r"\.(\w+)", names)
    }
    cases = re.findall(r"((?:    /// .*\n)*)    case (\w+)\n", text)
    return {code: (status_of[code], " ".join(re.sub("    /// ", " ", words).split())) for words, code in cases}


def page() -> str:
    rows = [(f"`{code}`", str(status), cell(words)) for code, (status, words) in codes().items()]
    return head("Codes of errors", PURPOSE) + "\n" + table(("code", "status", "meaning and remedy"), rows)
