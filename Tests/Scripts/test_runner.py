# SPDX-License-Identifier: Apache-2.0
"""`script/test`: its arguments, its division of tests among processes, and its reading of what runners say."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "script" / "test.d"))

import main  # noqa: E402
import plan_run  # noqa: E402
import swift_tests  # noqa: E402
from arguments import Arguments, UsageError  # noqa: E402
from history import History  # noqa: E402
from listing import REASONS, reasons  # noqa: E402
from results import Reader, Results, read_compiler, read_pytest, read_swift, read_unittest  # noqa: E402
from running import Command, Display, Running  # noqa: E402
from steps import ALL, BY_NAME, DAILY, STEPS, Context, Step  # noqa: E402

SECONDS = 60


def names(*words: str) -> list[str]:
    return [step.name for step in main.plan(Arguments.parse(list(words)))]


class Plan(unittest.TestCase):
    def test_without_arguments_it_is_the_proof_of_the_program_and_needs_no_release_build(self) -> None:
        self.assertEqual(names(), [step.name for step in STEPS if step.name in DAILY])
        self.assertNotIn("release", names())

    def test_all_is_every_step_and_the_handful_is_in_all_stories(self) -> None:
        wanted = set(ALL) - (set() if os.geteuid() == 0 else {"install"})
        self.assertEqual(set(names("--all")), wanted)
        self.assertEqual(set(BY_NAME) - set(ALL), {"stories"})

    def test_a_step_brings_the_builds_that_it_needs_and_nothing_else(self) -> None:
        self.assertEqual(names("browsers"), ["dependencies", "prepare", "release", "browsers"])
        self.assertEqual(names("modules"), ["dependencies", "build", "modules"])

    def test_only_what_needs_it_builds_the_black_box(self) -> None:
        needing = {step.name for step in STEPS if main.needs_black_box(main.plan(Arguments.parse([step.name])))}
        self.assertEqual(needing, {"wire", "install", "doubles"})

    def test_every_step_comes_after_those_that_it_needs(self) -> None:
        order = [step.name for step in STEPS]
        late = [(step.name, name) for step in STEPS for name in step.after if order.index(name) > order.index(step.name)]
        self.assertEqual(late, [])

    def test_steps_beside_each_other_shorten_the_estimate(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            context = Context(Path(folder), History(Path(folder) / "none.json"))
            steps = [Step("a", "", 10, lambda _: []), Step("b", "", 10, lambda _: []), Step("c", "", 5, lambda _: [], after=("a",))]
            self.assertEqual(plan_run.length(steps, context), 15)


class Refusals(unittest.TestCase):
    def test_each_wrong_argument_is_named(self) -> None:
        for words, said in {
            ("--al",): "no option --al", ("--repeat",): "--repeat needs a number", ("--repeat", "0", "x"): "'0'",
            ("--repeat", "3"): "--repeat needs a filter", ("brwosers",): "there is no step brwosers", ("--sanitize", "memory"): "'memory'", ("--all", "wire"): "--all is every step",
            ("format", "x"): "has no tests to choose from", ("a(",): "neither a step nor a regular expression",
            ("--sanitize", "thread", "wire"): "no step", ("browsers", "a|b"): "a part of a test's name",
        }.items():  # fmt: skip
            with self.subTest(words=words), self.assertRaises(UsageError) as caught:
                Arguments.parse(list(words))
            self.assertIn(said, str(caught.exception))

    def test_the_script_says_so_and_exits_with_2(self) -> None:
        done = subprocess.run([ROOT / "script/test", "--al"], capture_output=True, text=True, timeout=SECONDS, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "script/test: there is no option --al; --help lists them\n")


class Division(unittest.TestCase):
    TESTS = ("ATests.One/a()", "ATests.One/`b / c`(_:)", "BTests.Two/Inner/d()", "BTests.e()")

    def test_a_name_is_split_where_its_suite_ends(self) -> None:
        self.assertEqual([swift_tests.suite(test) for test in self.TESTS], ["ATests.One", "ATests.One", "BTests.Two/Inner", "BTests"])

    def test_each_test_is_in_one_share_and_a_suite_stays_whole(self) -> None:
        divided = swift_tests.shares(list(self.TESTS), {"BTests.e()": 9})
        self.assertEqual(sorted(test for share in divided for test in share), sorted(self.TESTS))
        self.assertEqual(divided[0], ["BTests.e()"])
        self.assertIn(["ATests.One/a()", "ATests.One/`b / c`(_:)"], divided)

    def test_the_pattern_of_some_tests_matches_no_others(self) -> None:
        pattern = swift_tests.pattern(list(self.TESTS[:2]))
        places = [f"{test}/File.swift:1:2" for test in (*self.TESTS, "ATests.One/a()b()", "XATests.One/a()")]
        self.assertEqual([place for place in places if swift_tests.re.search(pattern, place)], places[:2])


def swift_event(kind: str, test: str, symbol: str, text: str, at: float) -> str:
    payload = {"kind": kind, "testID": test, "instant": {"absolute": at}, "messages": [{"symbol": symbol, "text": text}]}
    return json.dumps({"kind": "event", "version": 0, "payload": payload})


class Reading(unittest.TestCase):
    def test_swifts_tests_are_counted_with_seconds_and_reasons_and_suites_are_not(self) -> None:
        results, place = Results(), "/File.swift:1:2"
        read_swift(results, json.dumps({"kind": "test", "version": 0, "payload": {"kind": "suite", "id": "A.B"}}))
        read_swift(results, swift_event("testEnded", "A.B", "fail", "Suite B failed", 1))
        for name, symbol in (("A.B/good()", "pass"), ("A.B/bad()", "fail")):
            read_swift(results, swift_event("testStarted", name + place, "default", "", 1))
            read_swift(results, swift_event("testEnded", name + place, symbol, "", 3.5))
        read_swift(results, swift_event("testSkipped", "A.B/none()" + place, "skip", 'Test none() skipped: "needs root"', 4))
        self.assertEqual((results.passed, results.failed, results.skipped), (1, ["A.B/bad()"], [("A.B/none()", "needs root")]))
        self.assertEqual(results.seconds["A.B/good()"], 2.5)

    def test_unittests_tests_are_counted(self) -> None:
        results = Results()
        for line in ("test_a (m.T.test_a) ... ok", "test_b (m.T.test_b)", "What it tries. ... FAIL", "test_c (m.T) ... skipped 'no root'"):
            read_unittest(results, line)
        self.assertEqual((results.passed, len(results.failed), [why for _, why in results.skipped]), (1, 1, ["no root"]))

    def test_pytests_events_are_counted(self) -> None:
        results = Results()
        for event in ({"total": 2}, {"test": "a", "outcome": "passed", "seconds": 1, "reason": ""},
                      {"test": "b", "outcome": "skipped", "seconds": 0, "reason": "no browser"}):  # fmt: skip
            read_pytest(results, json.dumps(event))
        self.assertEqual((results.total, results.ended, results.skipped), (2, 2, [("b", "no browser")]))

    def test_a_compilers_steps_are_its_progress(self) -> None:
        results = Results()
        read_compiler(results, "[12/340] Compiling Text Base64.swift")
        self.assertEqual(results.progress, "12 of 340")

    def test_a_line_is_read_when_it_is_whole(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "log"
            reader = Reader(file)
            self.assertEqual(reader.lines(), [])
            file.write_text("one\u2028more\ntw")
            self.assertEqual(reader.lines(), ["one\u2028more"])
            file.write_text("one\u2028more\ntwo\n")
            self.assertEqual(reader.lines(), ["two"])


class Steps(unittest.TestCase):
    """Steps of the tests' own, carried out."""

    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)
        self.context = Context(self.folder, History(self.folder / "history.json"))

    def carry_out(self, *scripts: tuple[str, str, tuple[str, ...]]) -> plan_run.Run:
        def step(name: str, script: str, after: tuple[str, ...]) -> Step:
            return Step(name, name, 1, lambda context: [Command(["sh", "-c", script], context.log(name))], read_unittest, after=after, tests=True)

        steps = [step(*row) for row in scripts]
        before = dict(plan_run.BY_NAME)
        plan_run.BY_NAME.update({step.name: step for step in steps})
        self.addCleanup(lambda: (plan_run.BY_NAME.clear(), plan_run.BY_NAME.update(before)))
        run = plan_run.Run(steps, self.context)
        run.display = Display()
        run.display.say = lambda line: None  # type: ignore[method-assign]
        kept, plan_run.FAILED_LOGS = plan_run.FAILED_LOGS, self.folder / "failed"
        output, sys.stdout = sys.stdout, (self.folder / "output").open("w")
        try:
            run.carry_out()
        finally:
            sys.stdout.close()
            sys.stdout, plan_run.FAILED_LOGS = output, kept
        return run

    def test_a_failure_leaves_out_what_comes_after_it_and_the_rest_goes_on(self) -> None:
        run = self.carry_out(
            ("a", "echo 'x ... ok'; exit 1", ()), ("b", "echo 'x ... ok'", ("a",)), ("c", "echo 'x ... ok'; echo 'y ... ok'", ())
        )
        self.assertEqual((run.passed, run.failed, run.results["c"].passed), ({"c"}, {"a", "b"}, 2))

    def test_a_step_that_a_signal_ends_has_failed_and_says_so(self) -> None:
        run = self.carry_out(("a", "kill -9 $$", ()))
        self.assertEqual(run.failed, {"a"})
        self.assertIn("a: ended by signal 9", (self.folder / "failed/a.log").read_text())

    def test_a_step_that_passed_is_remembered_and_one_that_failed_is_not(self) -> None:
        self.carry_out(("a", "echo 'x ... ok'", ()), ("b", "echo 'x ... FAIL'; exit 1", ()))
        history = History(self.folder / "history.json")
        self.assertIsNotNone(history.seconds("a"))
        self.assertIsNone(history.seconds("b"))

    def test_a_history_of_another_shape_is_no_history(self) -> None:
        for text in ("[]", "{", '{"steps": null}', '{"steps": {"a": 3}, "tests": {"a": null}}', '{"steps": {"a": {}}}'):
            with self.subTest(text=text):
                (self.folder / "history.json").write_text(text)
                history = History(self.folder / "history.json")
                self.assertEqual((history.seconds("a"), history.tests("a")), (None, {}))

    def test_a_round_reads_no_results_of_the_round_before(self) -> None:
        events = self.folder / "events"
        events.write_text('{"total": 1}\n{"test": "old", "outcome": "failed", "seconds": 1, "reason": ""}\n')
        running = Running("a", [Command(["true"], self.folder / "log", events=events)], 1, read_pytest)
        while not running.poll():
            pass
        self.assertEqual(running.results, Results())

    def test_a_filter_that_finds_nothing_is_no_success(self) -> None:
        self.context.filters = ["nothing"]
        run = self.carry_out(("a", "exit 5", ()))
        self.assertEqual((run.passed, run.without_match), ({"a"}, ["a"]))

    def test_a_name_of_the_black_box_leads_to_its_build(self) -> None:
        for is_built, hints in ((False, 1), (True, 0)):
            self.context.black_box = is_built
            said = io.StringIO()
            with contextlib.redirect_stderr(said), unittest.mock.patch.dict(os.environ, clear=True):
                self.assertEqual(plan_run.no_such_test(["modules"], self.context), 2)
            self.assertEqual(said.getvalue().count("BlackBox"), hints)

    def test_what_a_step_has_left_running_ends_with_it(self) -> None:
        log = self.folder / "log"
        running = Running("a", [Command(["sh", "-c", "sleep 600 & echo $!"], log)], 1, read_unittest)
        while not running.poll():
            pass
        left = int(log.read_text())
        # It is gone, or dead and not yet fetched by its next parent.
        state = Path(f"/proc/{left}/stat")
        while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
            pass


class SlowTests(unittest.TestCase):
    def test_each_reason_is_of_a_step_and_is_a_sentence(self) -> None:
        for step, name, reason in reasons(REASONS.read_text()):
            with self.subTest(name=name):
                self.assertTrue(BY_NAME[step].tests and name and len(reason) > 10)


if __name__ == "__main__":
    unittest.main()
