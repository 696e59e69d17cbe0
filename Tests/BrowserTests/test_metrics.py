# SPDX-License-Identifier: Apache-2.0
"""What Prometheus would make of the numbers: read by its own client's parser, not by ours."""

import re
from collections.abc import Iterable

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from account import Account
from built import ROOT
from installation import Installation
from push_service import PushService
from subscriber import Subscriber
from subscription import Answer

PAGE, RULES = ROOT / "docs" / "reference" / "metrics.md", ROOT / "docs" / "operate" / "alerts.yml"
# A series: its name and its labels.
Series = tuple[str, tuple[tuple[str, str], ...]]


class Scrape:
    """All families and numbers of one moment."""

    def __init__(self, text: str):
        self.text = text
        self.families: list[Metric] = list(text_string_to_metric_families(text))
        self.values: dict[Series, float] = {}
        for family in self.families:
            for sample in family.samples:
                series = (sample.name, tuple(sorted(sample.labels.items())))
                assert series not in self.values, f"{series} is there twice"
                self.values[series] = sample.value

    def __call__(self, name: str, **labels: str) -> float:
        """0 for a series that is not there yet."""
        return self.values.get((name, tuple(sorted(labels.items()))), 0)


def scrape(installation: Installation) -> Scrape:
    reply = installation.call("GET", "/metrics")
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return Scrape(reply.body.decode())


@pytest.fixture
def sent(installation: Installation, alice: Account, bob: Account, subscriber: Subscriber) -> None:
    """So that there is a number of everything."""
    bob.register(subscriber)
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {"Success": 1})


def test_every_family_says_once_what_it_is(installation: Installation, sent: None) -> None:
    now = scrape(installation)
    for word in ["HELP", "TYPE"]:
        named = re.findall(rf"^# {word} (\S+) ", now.text, re.MULTILINE)
        assert len(named) == len(set(named)) == len(now.families)
    for family in now.families:
        assert family.type in {"counter", "gauge", "histogram"}, family.name
        assert family.documentation.endswith("."), family.name
        assert re.fullmatch(r"(app_backend|process)_[a-z_]+", family.name)
    totals = {sample.name for family in now.families if family.type == "counter" for sample in family.samples}
    assert all(name.endswith("_total") for name in totals)
    assert now.text.endswith("\n")


def test_histograms_are_cumulative_and_add_up(installation: Installation, sent: None) -> None:
    now = scrape(installation)
    histograms = [family for family in now.families if family.type == "histogram"]
    assert len(histograms) == 4
    for family in histograms:
        buckets: dict[Series, list[tuple[float, float]]] = {}
        for sample in family.samples:
            labels = dict(sample.labels)
            if sample.name.endswith("_bucket"):
                bound = float(labels.pop("le"))
                buckets.setdefault((family.name, tuple(sorted(labels.items()))), []).append((bound, sample.value))
        assert buckets
        for (name, key), found in buckets.items():
            assert [bound for bound, _ in found] == sorted({bound for bound, _ in found})
            counts = [count for _, count in found]
            assert counts == sorted(counts)
            assert found[0][0] == 0.001 and found[-2][0] == 30 and found[-1][0] == float("inf")
            assert counts[-1] == now(f"{name}_count", **dict(key))
            assert (now(f"{name}_sum", **dict(key)) > 0) == (counts[-1] > 0)


def test_counters_never_fall(
    installation: Installation, alice: Account, bob: Account, subscriber: Subscriber, sent: None
) -> None:
    before = scrape(installation)
    bob.register(subscriber)
    alice.await_outcome(alice.send(bob, "Hello"))
    after = scrape(installation)
    assert before.values.keys() <= after.values.keys()
    kept = {sample.name for family in after.families if family.type != "gauge" for sample in family.samples}
    for series, value in before.values.items():
        if series[0] in kept:
            assert after.values[series] >= value, series
    assert after("app_backend_server_answers_total") > before("app_backend_server_answers_total")


def test_pushes_are_counted_by_what_became_of_them(
    installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    subscriber.subscription.script.append(Answer(429, {"retry-after": "1"}))
    before = scrape(installation)
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {"Success": 1})
    after = scrape(installation)

    def grown(name: str, **labels: str) -> float:
        return after(name, **labels) - before(name, **labels)

    assert grown("app_backend_pushes_total", platform="browser", outcome="Throttled") == 1
    assert grown("app_backend_pushes_total", platform="browser", outcome="Success") == 1
    assert grown("app_backend_push_duration_seconds_count", platform="browser") == 2
    assert grown("app_backend_hub_calls_total", operation="send", result="201") == 1
    # The record of what was sent comes before the end of the wait.
    assert after("app_backend_hub_queue_bytes") > 0
    assert after("app_backend_web_push_authorization_expiry_timestamp_seconds") > after("process_start_time_seconds")


def test_nothing_of_users_devices_and_messages_is_in_the_numbers(
    installation: Installation, push: PushService, bob: Account, subscriber: Subscriber, sent: None
) -> None:
    text = scrape(installation).text
    for word in [bob.user.name, push.authority, subscriber.subscription.endpoint.rsplit("/", 1)[-1], "Hello"]:
        assert word not in text


def names(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in re.findall(r"\b(?:app_backend|process)_[a-z_]*[a-z]", text)}


def test_the_page_and_the_rules_name_what_there_is(installation: Installation, sent: None) -> None:
    told = {re.match(r"# TYPE (\S+)", line)[1] for line in scrape(installation).text.splitlines() if "# TYPE" in line}
    # Of a hub elsewhere, which this installation has not.
    told.add("app_backend_hub_certificate_expiry_timestamp_seconds")
    told.add("app_backend_hub_signature_expiry_timestamp_seconds")
    # Of a client certificate, which it has not either.
    told.add("app_backend_push_credential_expiry_timestamp_seconds")
    # Of receivers of webhooks, which it has not either.
    told.add("app_backend_webhook_events_waiting")
    described = {name for name in names([PAGE.read_text()]) if name.startswith("app_backend_")}
    assert {name for name in told if name.startswith("app_backend_")} <= described
    # `app_backend` alone is nginx's upstream, and its log's format.
    assert described - told <= {"app_backend_hub_queue"}
    expressions = re.findall(r"expr: (.*?)(?=\n +(?:for|labels):)", RULES.read_text(), re.DOTALL)
    assert len(expressions) == RULES.read_text().count("- alert:")
    assert names(expressions) <= told
