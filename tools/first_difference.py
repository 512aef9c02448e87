#!/usr/bin/env python3
"""The first event in which a recorded and a replayed list of allocations differ.

usage: first_difference.py RECORDED REPLAYED [--context N]

RECORDED comes from a run of the real program (lines `+ #n bytes owner`, `- #n bytes owner`), REPLAYED
from `ledger events SCENARIO`. Frees may change places between two allocations without consequence,
so events are compared as allocations in order, each with the set of frees since the one before.
"""
import argparse
import re
import sys


def read(path):
    """[(allocation number, bytes, text, sizes freed since the allocation before)] and phase marks."""
    events, freed = [], []
    for line in open(path):
        found = re.match(r"([+-]) (\S+) (\d+)\s*(.*)", line)
        if line.startswith("===="):
            events.append(("=", line.split()[1], line.strip(), []))
        elif found and found[1] == "+":
            events.append(("+", int(found[3]), found[4].strip(), sorted(freed)))
            freed = []
        elif found:
            freed.append(int(found[3]))
    events.append(("=", "end", "end", sorted(freed)))
    return events


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recorded")
    parser.add_argument("replayed")
    parser.add_argument("--context", type=int, default=6)
    parser.add_argument("--sizes-only", action="store_true", help="compare allocations, not the frees between them")
    options = parser.parse_args()
    recorded, replayed = read(options.recorded), read(options.replayed)
    for i, (a, b) in enumerate(zip(recorded, replayed)):
        same = a[:2] == b[:2] and (options.sizes_only or a[0] == "=" or a[3] == b[3])
        if same:
            continue
        print(f"event {i} differs" + ("" if a[:2] != b[:2] else ": the frees before it"))
        for name, events in (("recorded", recorded), ("replayed", replayed)):
            print(name)
            for k in range(max(0, i - options.context), min(len(events), i + options.context + 1)):
                kind, size, text, freed = events[k]
                print(f"  {'>' if k == i else ' '} {kind} {size}  {text}" + (f"   after frees {freed}" if freed else ""))
        return 1
    if len(recorded) != len(replayed):
        print(f"equal as far as both go: {len(recorded)} events recorded, {len(replayed)} replayed")
        return 1
    print(f"equal: {len(recorded)} events")
    return 0


if __name__ == "__main__":
    sys.exit(main())
