# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench phones, which says what is measured: sends, watches the services' log, prints the table."""

import argparse
import collections
import json
import statistics
import sys
import time

from phone_peers import PhonePeers
from phone_site import PLATFORMS, SERVICE_MILLISECONDS, PhoneSite
from push_log import depth, percentile, rate
from watch import Watch

SINGLES, SINGLE_RATE = 100, 100
PEER_DEVICES = 2_000
RAW_PUSHES = 20_000
PEERS = {"apns": ("h2load apns", "aioapns"), "fcm": ("h2load fcm", "firebase-admin"), "wns": ("h2load wns",)}
PATIENCE = 30  # seconds without a push, after which something is wrong


def broadcast(site, platform, count):
    """One message to all devices of a platform, each of which must get it exactly once."""
    watch = Watch(site)
    begin = time.monotonic()
    message = site.push(platform)
    answered = (time.monotonic() - begin) * 1000
    arrivals = site.log.wait(count, PATIENCE)
    check(site, platform, message, arrivals, count)
    deepest, mean = depth(arrivals)
    return {"rate": rate(arrivals), "answered": answered, **watch.result(count), "connections": len({a.connection for a in arrivals}),
            "depth": deepest, "mean depth": mean, "protocols": sorted({a.protocol for a in arrivals})}


def check(site, platform, message, arrivals, count):
    devices, outcomes = {site.number(platform, arrival) for arrival in arrivals}, site.outcomes(message)
    if len(devices) != count or len(arrivals) != count or outcomes != {"Success": count}:
        sys.exit(f"{len(devices)} of {count} devices got {len(arrivals)} pushes, and the hub says {outcomes}")


def singles_beside(site, platform, count):
    """Messages to one device each, at a steady rate, while a message to all others is delivered by the same service.

    Returns how long each that was sent before the last of the others came was under way from the sender's answer on, in
    milliseconds, without the time that the service takes."""
    message = site.push(platform)
    taken, begin = {}, time.monotonic()
    for index in range(SINGLES):
        time.sleep(max(0, begin + index / SINGLE_RATE - time.monotonic()))
        site.push(platform, count + index)
        # The log has no more digits, so the sender's clock gets no more.
        taken[count + index] = int(time.time() * 1000)
    arrivals = site.log.wait(count + SINGLES, PATIENCE)
    by_number = {site.number(platform, arrival): arrival for arrival in arrivals}
    check(site, platform, message, [arrival for number, arrival in by_number.items() if number < count], count)
    last = max(arrival.end for number, arrival in by_number.items() if number < count) * 1000
    service = SERVICE_MILLISECONDS[site.speed]
    return [by_number[number].end * 1000 - moment - service for number, moment in taken.items() if moment < last]


def measure(site, options):
    peers = PhonePeers(site, options.python)
    samples, waits = collections.defaultdict(list), collections.defaultdict(list)
    for number in range(options.rounds):
        for speed in SERVICE_MILLISECONDS:
            print(f"Round {number + 1} of {options.rounds}, {speed} services ...", file=sys.stderr)
            site.use(speed)
            for platform in PLATFORMS:
                # The first push opens the connection, and fetches a token.
                site.push(platform, options.devices)
                site.log.wait(1, PATIENCE)
                samples[platform, speed].append(broadcast(site, platform, options.devices))
                waits[platform, speed] += singles_beside(site, platform, options.devices)
                samples[f"h2load {platform}", speed].append(peers.h2load(platform, RAW_PUSHES))
            for peer in peers.names:
                samples[peer, speed].append(peers.other(peer, PEER_DEVICES))
    return samples, waits


def summary(samples, waits):
    rows = []
    for (name, speed), values in samples.items():
        row = {"name": name, "service": speed} | {
            key: round(statistics.median(value[key] for value in values), 3)
            for key, value in values[0].items() if isinstance(value, (int, float))}
        if found := waits.get((name, speed)):
            row |= {"singles": len(found), "single p50": percentile(found, 0.5), "single p99": percentile(found, 0.99),
                    "protocols": values[0]["protocols"]}
        for peer in PEERS.get(name, ()):
            if others := samples.get((peer, speed)):
                row["to " + peer] = round(
                    statistics.median(one["rate"] / other["rate"] for one, other in zip(values, others)), 2)
        rows.append(row)
    return rows


COLUMNS = {"rate": "pushes/s", "answered": "answer ms", "cpu": "cpu µs", "service cpu": "service µs", "connections": "conns",
           "single p50": "single p50", "single p99": "p99 ms"}


def print_table(rows, options):
    print(f"{'':16}{'answers':>8}" + "".join(f"{title:>12}" for title in COLUMNS.values()))
    for row in rows:
        late = f"{SERVICE_MILLISECONDS[row['service']]} ms"
        cells = (f"{row[name]:.{1 if name == 'answered' else 0}f}" if name in row else "" for name in COLUMNS)
        print(f"{row['name']:16}{late:>8}" + "".join(f"{cell:>12}" for cell in cells))
    for row in rows:
        if ratios := [f"{value:.2f} times {key[3:]}" for key, value in row.items() if key.startswith("to ")]:
            print(f"{row['name']}, {row['service']}: {', '.join(ratios)}; over {', '.join(row['protocols'])}; at most "
                  f"{row['depth']:.0f} at once on a connection; at most {row['memory']:.0f} MiB; "
                  f"others took {row['others']:.2f} processors")
    print(f"{options.devices} devices of each platform; single messages at {SINGLE_RATE} a second beside a message to all.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument("--python")
    parser.add_argument("bin_path")
    parser.add_argument("folder")
    options = parser.parse_args()
    with PhoneSite(options.bin_path, options.folder) as site:
        print(f"Registering {options.devices} devices of each platform ...", file=sys.stderr)
        site.register_phones(options.devices, SINGLES)
        rows = summary(*measure(site, options))
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        print_table(rows, options)


if __name__ == "__main__":
    main()
