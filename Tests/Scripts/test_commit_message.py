# SPDX-License-Identifier: Apache-2.0
"""`script/hooks/commit-msg`: which messages of commits it refuses, and why."""

import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
BODY = "\n\nA disk may be full for a moment.\n"
GOOD = "store: retry a failed write"


class CommitMessage(unittest.TestCase):
    def refusal(self, message: str) -> str:
        """What the hook says of it; empty when it accepts it."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(message)
            file.flush()
            done = subprocess.run([ROOT / "script/hooks/commit-msg", file.name], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1 if done.stderr else 0)
        return done.stderr

    def test_a_message_with_area_verb_object_and_a_reason_is_accepted(self) -> None:
        longest = f"web-push: add {'é' * (72 - len('web-push: add '))}"
        for message in (GOOD + BODY, longest + BODY, f"# a comment\n{GOOD}{BODY}# ------------------------ >8 ------------------------\ndiff",
                        "Merge branch 'page'", "fixup! store: retry", "Revert \"store: retry\""):  # fmt: skip
            with self.subTest(message=message):
                self.assertEqual(self.refusal(message), "")

    def test_any_other_is_refused_with_the_reason(self) -> None:
        for message, said in {
            "Retry a failed write" + BODY: "area: verb object",
            "store: Retry a failed write" + BODY: "area: verb object",
            "store: retry" + BODY: "area: verb object",
            "store: let a write be retried" + BODY: "begins with `let`",
            "store: add " + "a" * 62 + BODY: "has 73 characters",
            f"{GOOD}.{BODY}": "full stop",
            GOOD: "no body",
            f"{GOOD}\n\n# a comment\n": "no body",
            f"{GOOD}\nIt begins too early.\n": "no body",
            "": "area: verb object",
        }.items():
            with self.subTest(message=message):
                self.assertIn(said, self.refusal(message))


if __name__ == "__main__":
    unittest.main()
