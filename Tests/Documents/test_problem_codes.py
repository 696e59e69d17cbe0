# SPDX-License-Identifier: Apache-2.0
"""The codes of problems are one list: in the source, in openapi.json and in nginx's own answers."""

import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "script" / "reference.d"))

import problems  # noqa: E402


class ProblemCodes(unittest.TestCase):
    def setUp(self) -> None:
        self.codes = problems.codes()
        self.assertGreater(len(self.codes), 50)

    def test_every_code_is_explained(self) -> None:
        self.assertEqual([code for code, (_, words) in self.codes.items() if not words], [])

    def test_openapi_has_the_codes(self) -> None:
        document = json.loads((ROOT / "nginx" / "html" / "openapi.json").read_text())
        self.assertEqual(document["components"]["schemas"]["ProblemCode"]["x-extensible-enum"], list(self.codes))

    def test_what_nginx_answers_itself_has_a_code_and_its_status(self) -> None:
        answers = []
        for path in sorted((ROOT / "nginx").glob("*.conf")):
            answers += re.findall(r"return (\d+) '(\{.*\})';", path.read_text())
        self.assertGreater(len(answers), 5)
        for status, body in answers:
            problem = json.loads(body)
            with self.subTest(body=body):
                self.assertEqual(problem["status"], int(status))
                self.assertEqual(self.codes[problem["code"]][0], int(status))
                self.assertEqual(problem["type"], f"urn:app-backend:problem:{problem['code']}")


if __name__ == "__main__":
    unittest.main()
