# SPDX-License-Identifier: Apache-2.0
"""What a forge reads: workflows that call our scripts, and forms. Whether GitHub takes them, GitHub alone says."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from product import CHECKOUT

FORGE = CHECKOUT / ".github"
WORKFLOWS = sorted((FORGE / "workflows").glob("*.yml"))
FORMS = sorted((FORGE / "ISSUE_TEMPLATE").glob("*.yml"))
KINDS = {"checkboxes", "dropdown", "input", "markdown", "textarea"}
COMMAND_SECONDS = 60


def steps(workflow: Path) -> Iterator[dict[str, Any]]:
    for job in yaml.safe_load(workflow.read_text())["jobs"].values():
        yield from job["steps"]


def test_there_are_workflows_and_forms() -> None:
    assert {path.stem for path in WORKFLOWS} == {"test", "release"} and len(FORMS) == 2


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_of_one_version(workflow: Path) -> None:
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used and all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", name) for name in used), used


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_script_that_a_workflow_calls_exists_and_knows_its_options(workflow: Path) -> None:
    calls = re.findall(r"(script/[\w-]+)(.*)", "\n".join(step.get("run", "") for step in steps(workflow)))
    assert calls
    for script, arguments in calls:
        assert os.access(CHECKOUT / script, os.X_OK), script
        told = subprocess.run([CHECKOUT / script, "--help"], check=True, capture_output=True, text=True, timeout=COMMAND_SECONDS)
        assert [option for option in re.findall(r"--[a-z-]+", arguments) if option not in told.stdout] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_write_only_where_a_job_says_so(workflow: Path) -> None:
    assert yaml.safe_load(workflow.read_text())["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_has_what_the_forge_wants(form: Path) -> None:
    read = yaml.safe_load(form.read_text())
    assert read["name"] and read["description"]
    fields = [field for field in read["body"] if field["type"] != "markdown"]
    assert fields and {field["type"] for field in read["body"]} <= KINDS
    assert len({field["id"] for field in fields}) == len(fields) and all(field["attributes"]["label"] for field in fields)
