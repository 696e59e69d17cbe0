# SPDX-License-Identifier: Apache-2.0
"""Writes the generated pages. `script/reference` starts it."""

import settings
from pages import PAGES, ROOT

settings.write_schema()

for name, make in PAGES.items():
    (ROOT / "docs" / "reference" / name).write_text(make())
