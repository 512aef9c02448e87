#!/usr/bin/env python3
"""Writes docs/accuracy.md and the README's table: the core held against every measured row of tests/data/rows.

usage: accuracy.py LEDGER [--check]    LEDGER is the program; --check fails if a file would change

Every *.jsonl.gz in tests/data/rows is read; what it holds is said in the README there. A line has a `scenario`, or a `case` that
tests/case_scenarios (beside the program's tests) turns into one. Lines of cases that it does not know are counted, not compared.
"""
import collections
import gzip
import json
import pathlib
import re
import statistics
import subprocess
import sys

import published
import rules_of_thumb

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "tests/data/rows"
PRESETS = {preset["id"]: preset for preset in (json.loads(p.read_text()) for p in (ROOT / "core/data/models").glob("*.json"))}
BEGIN, END = "<!-- written by ./dev accuracy -->", "<!-- end -->"

Result = collections.namedtuple("Result", "name row report error reserved differences")  # report: None where refused


def method(row):
    s = row["scenario"]
    return "QLoRA" if s.get("quantization") else "LoRA" if s.get("peft") else "full fine-tuning"


def model_type(result):
    if result.report:
        return result.report["model"]["model_type"]
    model = result.row["scenario"]["model"]
    return model.get("model_type", "unknown") if isinstance(model, dict) else "not a preset"


def optimizer(row):
    return row["scenario"].get("training", {}).get("optim", "adamw_torch_fused")


def figures_of(row):
    """The measured figures of a row with a `case`, whose phases are named otherwise: of its first two steps."""
    phases = row["phases"]
    if isinstance(phases, list):  # of ranks: one entry a step, named as in a scenario's rows
        steps = [{key + "_bytes": v for key, v in step.items() if key.startswith(("forward", "backward", "step"))} for step in phases]
        return {"steps": steps, "peak_allocated_bytes": row["peak"], "reserved_bytes": row["reserved"]}
    if "step1" not in phases:
        return {"peak_allocated_bytes": row["peak"], "reserved_bytes": row["reserved"]}
    return {"peak_allocated_bytes": max(phases[s]["peak"] for s in ("step0", "step1")), "reserved_bytes": phases["step1"]["reserved"]}


def from_cases(program, rows):
    """Rows with a scenario in the place of their case; none where the tests' adapter does not know the cases."""
    adapter = pathlib.Path(program).parent / "tests/case_scenarios"
    if not rows or not adapter.exists():
        return []
    run = subprocess.run([adapter], input="".join(json.dumps(row) + "\n" for row in rows), capture_output=True, text=True)
    if run.returncode:
        return []
    return [{"id": row["id"], "scenario": json.loads(line), "measured": figures_of(row)} for row, line in zip(rows, run.stdout.splitlines(), strict=True)]


def read_rows(program):
    """(file name without its ending, rows with a scenario, the number of other rows) for every file."""
    for path in sorted(ROWS.glob("*.jsonl.gz")):
        rows = [json.loads(line) for line in gzip.open(path, "rt")]
        scenarios = [row for row in rows if "scenario" in row and "measured" in row]
        scenarios += from_cases(program, [row for row in rows if "case" in row and "phases" in row])
        yield path.name.split(".")[0], scenarios, len(rows) - len(scenarios)


def percent(estimate, truth):
    return 100 * (estimate - truth) / truth


def largest_peak(steps):
    """Of every phase; clipping is not in the step's peak."""
    return max(v for step in steps for key, v in step.items() if key.endswith("_peak_bytes") and key != "clip_peak_bytes")


def compare(name, row, report):
    """The names of measured figures are those of the rows; those that a row lacks are not compared."""
    if report.get("problems"):
        return Result(name, row, None, None, None, ["refused: " + report["problems"][0]["message"]])
    truth = row["measured"]
    differences = []

    def check(what, got, wanted):
        if got != wanted:
            differences.append("%s %s, measured %s" % (what, format(got, ","), format(wanted, ",")))

    for phase in report["phases"]:
        if phase["step"] > len(truth.get("steps", [])):
            continue
        step = truth["steps"][phase["step"] - 1]
        for end in ("peak_bytes", "end_bytes"):
            key = "%s_%s" % (phase["phase"], end)
            if key in step:
                check("step %d %s %s" % (phase["step"], phase["phase"], end.split("_")[0]), phase[end], step[key])
    peak, reserved = report["peak"]["allocated_bytes"], report["peak"]["reserved_bytes"]
    measured = truth.get("peak_allocated_bytes") or largest_peak(truth["steps"])
    check("peak", peak, measured)
    if not truth.get("steps"):
        check("reserved", reserved, truth["reserved_bytes"])
    at = truth.get("reserved_bytes")
    return Result(name, row, report, percent(peak, measured), percent(reserved, at) if at else None, differences)


def estimate(program, rows):
    """A report for each row; only its first keys, which come before the lists that make it long."""
    text = "".join(json.dumps(row["scenario"]) + "\n" for _, row in rows)
    path = ROOT / "build/accuracy.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with path.open() as lines, subprocess.Popen([program, "estimate", "--lines"], stdin=lines, stdout=subprocess.PIPE, text=True) as run:
        for (name, row), line in zip(rows, run.stdout, strict=True):
            head, cut, _ = line.partition(',"parts":[')
            yield compare(name, row, json.loads(head + "}" if cut else line))
    if run.returncode:
        sys.exit("%s estimate --lines ended with status %d" % (program, run.returncode))


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


HEAD = "| | rows | answered | peak equal | all phases equal | median error | 95th percentile | largest | under by > 0.1 % | reserved equal | within 0.5 % |\n"


def table(results, key):
    groups = collections.defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    lines = HEAD + "|---" * HEAD.count(" |") + "|\n"
    for name in sorted(groups):
        got = [r for r in groups[name] if r.report]
        errors = sorted(abs(r.error) for r in got)
        reserved = [abs(r.reserved) for r in got if r.reserved is not None]
        lines += "| %s | %d | %d | %d | %d | %.3f %% | %.3f %% | %.3f %% | %.1f %% | %d | %d |\n" % (
            name, len(groups[name]), len(got), sum(e == 0 for e in errors), sum(not r.differences for r in got),
            statistics.median(errors) if errors else 0, percentile(errors, 0.95), errors[-1] if errors else 0,
            100 * sum(r.error < -0.1 for r in got) / max(1, len(got)), sum(r == 0 for r in reserved), sum(r <= 0.5 for r in reserved))
    return lines


def accuracy(results, others, program):
    text = "# Accuracy\n\nWritten by `./dev accuracy`; do not edit.\n\n"
    text += "Held against PyTorch's own caching allocator on every row of `tests/data/rows` (its README says how they were measured).\n"
    text += "Equal means to the byte; the phases are peak and end of forward, backward and step, in both steps. Errors are those of the\n"
    text += "peak of allocated bytes, the last two columns those of reserved bytes.\n"
    text += "\n## By file of rows\n\n" + table(results, lambda r: r.name)
    for name, count in others:
        text += "\n`%s` also holds %d rows that describe a program of their own instead of a scenario; only the tests read them.\n" % (name, count)
    text += "\n## By method\n\n" + table(results, lambda r: method(r.row))
    text += "\n## By model type\n\n" + table(results, model_type)
    text += "\n## By trainer\n\n" + table(results, lambda r: r.row["scenario"].get("trainer", "torch"))
    text += "\n## By optimizer\n\n" + table(results, lambda r: optimizer(r.row))
    text += "\n## Rows that are not equal\n\n"
    unequal = ["* `%s`, %s: %s\n" % (r.name, r.row["id"], r.differences[0] + (" (%+.4f %% in the peak, %d figures differ)" % (r.error, len(r.differences)) if r.report else "")) for r in results if r.differences]
    text += "".join(unequal) or "None.\n"
    if any("steps" not in r.row["measured"] for r in results if r.differences):
        text += "\nRows without phases come from cases: `tests/cases_test.cpp` says of each what its measurement did otherwise.\n"
    peers = [(r.row, PRESETS[r.row["scenario"]["model"]], r.report) for r in results if r.name == "peers" and r.report]
    text += "\n## Rules of thumb on the same cases\n\n"
    text += "What other calculators publish as their formulas, evaluated on four jobs; each in its variant nearest to the job. They speak of\n"
    text += "the whole process or of tensors alone, as they please; the measured figure is the peak of allocated bytes.\n\n"
    text += rules_of_thumb.section(peers)
    return text.rstrip("\n") + "\n\n## Published measurements\n\n" + published.section(program, PRESETS)[0]


def readme(results):
    head = "| scenarios | rows | peak exact | all phases exact | largest error of the peak | reserved within 0.5 % |\n"
    lines = head + "|---" * head.count(" |") + "|\n"
    groups = [(name, [r for r in results if method(r.row) == name]) for name in ("full fine-tuning", "LoRA", "QLoRA")]
    for name, group in groups + [("all", results)]:
        got = [r for r in group if r.report]
        close = sum(abs(r.reserved) <= 0.5 for r in got if r.reserved is not None)
        lines += "| %s | %s | %s | %s | %.3f %% | %s |\n" % (
            name, format(len(group), ","), format(sum(r.error == 0 for r in got), ","), format(sum(not r.differences for r in got), ","),
            max((abs(r.error) for r in got), default=0), format(close, ","))
    return "%s\n\n%s\n%s" % (BEGIN, lines, END)


def main():
    program, check = sys.argv[1], "--check" in sys.argv
    files = list(read_rows(program))
    results = list(estimate(program, [(name, row) for name, rows, _ in files for row in rows]))
    others = [(name + ".jsonl.gz", count) for name, _, count in files if count]
    page, front = ROOT / "docs/accuracy.md", ROOT / "README.md"
    written = {page: accuracy(results, others, program)}
    written[front] = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: readme(results), front.read_text(), flags=re.S)
    stale = [path for path, text in written.items() if not path.exists() or path.read_text() != text]
    if check and stale:
        sys.exit("not what ./dev accuracy writes: " + ", ".join(str(path.relative_to(ROOT)) for path in stale))
    for path in stale:
        path.write_text(written[path])
    print(written[page][: written[page].index("## By model type")])
    if any(r.differences for r in results):
        print("Rows that are not equal are listed in docs/accuracy.md.")


if __name__ == "__main__":
    main()
