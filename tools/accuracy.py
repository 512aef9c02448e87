#!/usr/bin/env python3
"""Writes docs/accuracy.md: the core held against every measured row of tests/data/rows.

usage: accuracy.py LEDGER [--check]    LEDGER is the program; --check fails if the file would change
"""
import collections
import gzip
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = {json.loads(p.read_text())["id"]: json.loads(p.read_text())["config"]["model_type"] for p in (ROOT / "core/data/models").glob("*.json")}
FILES = {
    "steps.jsonl.gz": "compute capability 8.0",
    "devices.jsonl.gz": "compute capability 7.5, 8.9, 9.0, 12.0",
}
OTHER = "chosen to be unlike the others"


def method(scenario):
    return "QLoRA" if scenario.get("quantization") else "LoRA" if scenario.get("peft") else "full fine-tuning"


def model_type(scenario):
    model = scenario["model"]
    return model["model_type"] if isinstance(model, dict) else TYPES.get(model, model)


def rows():
    for path in sorted((ROOT / "tests/data/rows").glob("*.jsonl.gz")):
        for line in gzip.open(path, "rt"):
            yield FILES.get(path.name, OTHER), json.loads(line)


def measure(program, wanted):
    text = "".join(json.dumps(row["scenario"]) + "\n" for _, row in wanted)
    out = subprocess.run([program, "estimate", "--lines"], input=text, capture_output=True, text=True, check=True).stdout
    for (file, row), line in zip(wanted, out.splitlines()):
        report, truth = json.loads(line), row["measured"]
        if report.get("problems"):
            yield file, row, None
            continue
        phases = {(p["step"], p["phase"]): p for p in report["phases"]}
        equal = all(
            phases[step + 1, phase][end] == truth["steps"][step][f"{phase}_{end}"]
            for step in range(2)
            for phase in ("forward", "backward", "step")
            for end in ("peak_bytes", "end_bytes")
        )
        peak, reserved = report["peak"]["allocated_bytes"], report["peak"]["reserved_bytes"]
        yield file, row, {
            "error": 100 * (peak - truth["peak_allocated_bytes"]) / truth["peak_allocated_bytes"],
            "equal": equal and peak == truth["peak_allocated_bytes"],
            "reserved": 100 * (reserved - truth["reserved_bytes"]) / truth["reserved_bytes"],
            "refused": None,
        }


HEAD = "| | rows | answered | peak equal | all phases equal | median | 95th percentile | largest | under by > 0.1 % | reserved equal | within 0.5 % |\n" + "|---" * 11 + "|\n"


def table(groups):
    out = HEAD
    for name in sorted(groups):
        got = [g for g in groups[name] if g]
        errors = sorted(abs(g["error"]) for g in got)
        at = lambda share: errors[min(len(errors) - 1, int(share * len(errors)))] if errors else 0
        out += "| %s | %d | %d | %d | %d | %.3f %% | %.3f %% | %.3f %% | %d | %d | %d |\n" % (
            name, len(groups[name]), len(got), sum(g["error"] == 0 for g in got), sum(g["equal"] for g in got),
            statistics.median(errors) if errors else 0, at(0.95), errors[-1] if errors else 0,
            sum(g["error"] < -0.1 for g in got), sum(g["reserved"] == 0 for g in got), sum(abs(g["reserved"]) <= 0.5 for g in got))
    return out


def main():
    program, check = sys.argv[1], "--check" in sys.argv
    results = list(measure(program, list(rows())))
    by = lambda key: groups_by(results, key)
    text = "# Accuracy\n\n"
    text += "Held against PyTorch's own caching allocator on every row of `tests/data/rows` (README there). \"Equal\" is equality to the\n"
    text += "byte; phases are peak and end of forward, backward and step, of both steps. Errors are those of the peak of allocated bytes.\n"
    text += "Made by `./dev accuracy`.\n\n## By rows\n\n" + table(by(lambda file, row: file))
    text += "\n## By method\n\n" + table(by(lambda file, row: method(row["scenario"])))
    text += "\n## By model type\n\n" + table(by(lambda file, row: model_type(row["scenario"])))
    text += "\n## By optimizer\n\n" + table(by(lambda file, row: row["scenario"]["training"].get("optim", "adamw_torch_fused")))
    unequal = [(file, row, g) for file, row, g in results if g is None or not g["equal"]]
    text += "\n## Rows that are not equal\n\n"
    text += "None.\n" if not unequal else "".join("* %s: %s\n" % (row["id"], "refused" if g is None else "%+.4f %% in the peak" % g["error"]) for _, row, g in unequal)
    path = ROOT / "docs/accuracy.md"
    if check:
        sys.exit(0 if path.read_text() == text else "docs/accuracy.md is not what ./dev accuracy writes")
    path.write_text(text)
    print(text[: text.index("## By model type")])


def groups_by(results, key):
    groups = collections.defaultdict(list)
    for file, row, result in results:
        groups[key(file, row)].append(result)
    return groups


if __name__ == "__main__":
    main()
