# SPDX-License-Identifier: Apache-2.0
"""Writes the generated pages. `script/reference` starts it."""

from pages import PAGES, ROOT

for name, make in PAGES.items():
    (ROOT / "docs" / "reference" / name).write_text(make())
