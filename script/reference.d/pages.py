# SPDX-License-Identifier: Apache-2.0
"""The generated pages of docs/reference, by their names."""

from collections.abc import Callable

import commands
import findings
import limits
import messages
import metrics
import problems
import routes
import settings
from swift import ROOT

__all__ = ["PAGES", "ROOT"]

PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands.page,
    "findings.md": findings.page,
    "limits.md": limits.page,
    "messages.md": messages.page,
    "metrics.md": metrics.page,
    "problem-codes.md": problems.page,
    "routes.md": routes.page,
    "settings.md": settings.page,
}
