# SPDX-License-Identifier: Apache-2.0
"""`script/packages`: what the other scripts ask of it."""

import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Installs nothing.
INSTALL = """
source script/packages
missing=(one) install=(true)
install_once() { :; }
install_packages
"""


class Packages(unittest.TestCase):
    def test_an_installation_writes_nothing_into_the_output_of_its_script(self) -> None:
        done = subprocess.run(["bash", "-c", INSTALL], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "")
        self.assertIn("Installing what is missing: one", done.stderr)


if __name__ == "__main__":
    unittest.main()
