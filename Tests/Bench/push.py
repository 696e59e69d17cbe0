# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench push, which says what is measured: sends, watches the push service's log, prints the table."""

import argparse
import collections
import json
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

from push_log import depth, percentile, rate
from push_peers import Peers
from push_site import SERVICE_MILLISECONDS, PushSite
from servers import flushes, processor_seconds
from watch import Watch, memory

TEXT = json.dumps({"title": "From alice", "body": "The quick brown fox jumps over the lazy dog, and the code is 1234567."})
LATE_DEVICES = 5_000
SINGLE_SENDS, SINGLE_SENDS_BESIDE, SINGLE_RATE = 500, 50, 100
FLOOD_SENDS, FLOOD_CALLERS = 2_000, 16
PEER_DEVICES = {"pywebpush": 300, "httpx": 600}
RAW_DEVICES = 20_000
PATIENCE = 30  # seconds without a push, after which something is wrong
IDLE_SECONDS = 5


def broadcast(site, service, count):
    """One message to all browsers of a service, each of which must get it exactly once."""
    watch = Watch(site)
    message = site.push(service, TEXT)
    taken = time.time()
    arrivals = site.log.wait(count, PATIENCE)
    check(site, message, arrivals, count)
    deepest, mean = depth(arrivals)
    return {"rate": rate(arrivals), **watch.result(count), "first": (min(a.start for a in arrivals) - taken) * 1000,
            "connections": len({a.connection for a in arrivals}), "depth": deepest, "mean depth": mean,
            "protocols": sorted({a.protocol for a in arrivals}), "bytes": statistics.median(a.bytes for a in arrivals)}


def check(site, message, arrivals, count):
    paths, outcomes = {arrival.path for arrival in arrivals}, site.outcomes(message)
    if len(paths) != count or len(arrivals) != count or outcomes != {"Success": count}:
        sys.exit(f"{len(paths)} of {count} browsers got {len(arrivals)} pushes, and the hub says {outcomes}")


def send_singly(site, service, count, devices):
    """Messages to one browser each, at a steady rate. Returns when each of them was taken, in milliseconds, by path: the
    log has no more digits, so the sender's clock gets no more."""
    taken, begin = collections.defaultdict(list), time.monotonic()
    for number in range(count):
        time.sleep(max(0, begin + number / SINGLE_RATE - time.monotonic()))
        device = number % devices
        site.push(f"{service}-{device}", TEXT)
        taken[site.path(service, device)].append(int(time.time() * 1000))
    return taken


def under_way(taken, arrivals):
    """How long each was under way from the moment that its sender had its answer, in milliseconds."""
    return [arrival.end * 1000 - taken[arrival.path].pop(0) for arrival in sorted(arrivals)]


def single_sends(site, devices):
    watch = Watch(site)
    taken = send_singly(site, "fast", SINGLE_SENDS, devices)
    waits = under_way(taken, site.log.wait(SINGLE_SENDS, PATIENCE))
    return {"p50": percentile(waits, 0.5), "p99": percentile(waits, 0.99), **watch.result(SINGLE_SENDS)}


def single_sends_beside(site, devices, late):
    """While a message to all others is delivered: a user who sends to one browser should not notice."""
    message = site.push("fast", TEXT)
    taken = send_singly(site, "late", SINGLE_SENDS_BESIDE, late)
    arrivals = site.log.wait(devices + SINGLE_SENDS_BESIDE, PATIENCE)
    check(site, message, [arrival for arrival in arrivals if arrival.path not in taken], devices)
    # The service writes down when it answers.
    waits = under_way(taken, [arrival for arrival in arrivals if arrival.path in taken])
    return {"p50": percentile(waits, 0.5) - SERVICE_MILLISECONDS, "longest": max(waits) - SERVICE_MILLISECONDS}


def flood(site, devices):
    """Messages to one browser each, as fast as so many callers get their answers."""
    body, watch = site.folder / "message", Watch(site)
    body.write_text(TEXT)
    fields = {**site.send_fields(f"fast-{devices - 1}"), "Authorization": site.authorization()}
    command = ["h2load", "--h1", "-n", str(FLOOD_SENDS), "-c", str(FLOOD_CALLERS), "-d", str(body)]
    for name, value in fields.items():
        command += ["-H", f"{name}: {value}"]
    subprocess.run([*command, site.url("/messages")], check=True, stdout=subprocess.DEVNULL)
    arrivals = site.log.wait(FLOOD_SENDS, PATIENCE)
    return {"rate": rate(arrivals), **watch.result(FLOOD_SENDS), "connections": len({a.connection for a in arrivals})}


def idle(site):
    """How often app-backend wakes per second while there is nothing to do, and what it takes of a processor, in
    millionths."""
    process = site["app-backend"]

    def wakes():
        tasks = pathlib.Path(f"/proc/{process.pid}/task").glob("*/status")
        return sum(int(line.split()[1]) for task in tasks for line in task.read_text().splitlines()
                   if line.startswith("voluntary_ctxt_switches"))

    time.sleep(1)  # what was begun before comes to its end
    before, cpu = wakes(), processor_seconds(process)
    time.sleep(IDLE_SECONDS)
    return {"wakes": (wakes() - before) / IDLE_SECONDS,
            "cpu": (processor_seconds(process) - cpu) * 1e6 / IDLE_SECONDS, "memory": memory(process, "VmRSS")}


def durable_writes(site, count):
    """Calls of fdatasync and fsync while a message goes to all, per 1000 pushes; None without strace. Under strace
    everything is slow, so nothing else is measured then."""
    if shutil.which("strace") is None:
        return None
    output = site.folder / "strace"
    command = ["strace", "-f", "-c", "-U", "name,calls", "-e", "trace=fdatasync,fsync", "-o", str(output),
               "-p", str(site["app-backend"].pid)]
    tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        if "attached" not in tracer.stderr.readline():
            return None
        broadcast(site, "fast", count)
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.communicate()
    calls = sum(int(words[1]) for words in map(str.split, output.read_text().splitlines())
                if len(words) == 2 and words[0] in ("fdatasync", "fsync"))
    return calls * 1000 / count


def cost(site):
    """Processor time of one push before it is sent, in microseconds."""
    command = [site.bin_path / "web-push-bench", "cost", "1", str(len(TEXT))]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {words[0]: float(words[1]), words[2]: float(words[3])}


def measure(site, options, python):
    peers = Peers(site, TEXT, python)
    samples = collections.defaultdict(list)
    late = min(options.devices, LATE_DEVICES)
    broadcast(site, "fast", options.devices)
    for number in range(options.rounds):
        print(f"Round {number + 1} of {options.rounds} ...", file=sys.stderr)
        samples["broadcast"].append(broadcast(site, "fast", options.devices))
        samples["late service"].append(broadcast(site, "late", late))
        samples["flood"].append(flood(site, options.devices))
        samples["single sends"].append(single_sends(site, options.devices))
        samples["single beside"].append(single_sends_beside(site, options.devices, late))
        samples["h2load"].append(peers.h2load(RAW_DEVICES))
        for kind, count in PEER_DEVICES.items() if python else ():
            samples[kind].append(peers.other(kind, count))
        samples["cost"].append(cost(site))
        samples["disk"].append({"flushes": flushes(site.folder, 1)})
    samples["idle"].append(idle(site))
    return samples


def medians(samples):
    result = {}
    for name, values in samples.items():
        result[name] = {
            key: round(statistics.median(value[key] for value in values), 3)
            for key, value in values[0].items() if isinstance(value, (int, float))}
        if "rate" in result[name]:
            ours = samples["broadcast"]
            result[name]["to it"] = round(
                statistics.median(one["rate"] / value["rate"] for one, value in zip(ours, values)), 3)
    result["broadcast"]["protocols"] = samples["broadcast"][0]["protocols"]
    return result


def print_table(result, options):
    print(f"{'':14}{'pushes/s':>10}{'cpu µs':>8}{'conns':>7}{'broadcast to it':>17}")
    for name in ("broadcast", "late service", "flood", "h2load", *PEER_DEVICES):
        if row := result.get(name):
            print(f"{name:14}{row['rate']:10.0f}{row['cpu']:8.0f}{row['connections']:7.0f}{row['to it']:17.2f}")
    sent, late, single, beside, idle, cost = (
        result[name] for name in ("broadcast", "late service", "single sends", "single beside", "idle", "cost"))
    print(f"""
One message to {options.devices} browsers, over {", ".join(sent["protocols"])}: the first is pushed to {sent["first"]:.0f} ms after the send
was answered; app-backend has at most {sent["memory"]:.0f} MiB, when idle {idle["memory"]:.0f}; the push service takes {sent["service cpu"]:.0f} µs per push.
To make a push takes {cost["request"]:.0f} µs, of which its encryption {cost["encrypt"]:.0f}: {cost["encrypt"] / sent["cpu"]:.0%} of what a push takes of app-backend.
The late service has at most {late["depth"]:.0f} pushes at once on a connection, {late["mean depth"]:.0f} on average.
Single sends, {SINGLE_RATE} a second: {single["p50"]:.0f} ms from the answer to the arrival (median), {single["p99"]:.0f} ms (99th percentile),
{single["cpu"]:.0f} µs of app-backend; beside a broadcast {beside["p50"]:.0f} ms (median), {beside["longest"]:.0f} ms (the longest).
Idle: {idle["wakes"]:.1f} wakes a second, {idle["cpu"]:.0f} millionths of a processor.""")
    if result["durable writes"] is not None:
        print(f"The queue: {result['durable writes']:.1f} durable writes per 1000 pushes of one message.")
    print(f"The disk's own appends with fdatasync per second: {result['disk']['flushes']:.0f}. "
          f"Others took {sent['others']:.2f} processors during the broadcasts.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument("--python")
    parser.add_argument("bin_path")
    parser.add_argument("folder")
    options = parser.parse_args()
    with PushSite(options.bin_path, options.folder) as site:
        print(f"Registering {options.devices} browsers ...", file=sys.stderr)
        site.register_browsers({"fast": options.devices, "late": min(options.devices, LATE_DEVICES)})
        result = medians(measure(site, options, options.python))
        result["durable writes"] = durable_writes(site, options.devices)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result, options)


if __name__ == "__main__":
    main()
