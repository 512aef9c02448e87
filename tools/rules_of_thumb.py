"""Published formulas of other calculators, as functions of the same letters, for docs/accuracy.md.

To add one: a Rule with its source, its formula in letters, and what it answers for a case. Bytes everywhere; a rule that does not
answer a case gives None. One that does not tell checkpointing apart gives the same figure twice.
"""
import collections
import math
import statistics

GiB, MiB = 2**30, 2**20
Rule = collections.namedtuple("Rule", "name source formula answer")
# The letters of a case. P parameters, Q those of them that 4-bit loading quantises, A those of the adapters; h width, L layers,
# a heads, k key/value heads, d head width, I feed-forward, V vocabulary, B rows, S tokens, r rank, n adapted modules a layer, tied.
# kind: amp (32-bit weights under autocast), bf16, lora, qlora; ckpt: checkpointing.
Case = collections.namedtuple("Case", "kind ckpt P Q A h L a k d I V B S r n tied")


def furiousteabag(c):
    if c.kind != "amp" or c.ckpt:
        return None
    x, heads = c.B * c.S, c.h * c.k / c.a
    layer = 14 * x * c.h + 4 * x * heads + 4 * x * c.I + 5 * c.B * c.a * c.S**2
    return 18 * c.P + 1000 * MiB + 8 * x * c.V + c.L * layer


def gpu_poor(c):
    if c.kind == "amp":
        return None
    p = 2 * c.V * c.h + 4 * c.L * c.h**2 + 3 * c.L * c.h * c.I
    layer = c.S * c.h * 8 * 2 + c.S**2 * c.a * 8 + 4 * c.h * c.S + 10 * c.S * c.I + 2 * c.I * c.S + 8 * c.S + 12 * c.S * c.h
    activations = layer * c.L * c.B * (0.15 if c.ckpt else 1)
    if c.kind == "bf16":
        return 8 * p + activations + 650 * MiB
    if c.kind == "lora":
        return 2 * p + c.L * 8 * c.h * 2 * 4 * 3 * 2 + activations + 650 * MiB
    extra = 0.75 * (15 * c.h + 6 * c.I) * c.L * 50 * math.sqrt(c.S / 50)
    return 2 * p / 4 - 2 * p / 64 + 0.06 * 2 * p + c.L * 8 * c.h * 0.5 * 4 * 3 + extra * c.B + activations + 650 * MiB


def unsloth(c):
    if c.kind == "amp":
        return None
    layer = (c.S * c.B * (c.h + 2 * c.k * c.d) + 2 * c.S * c.B + 2 * c.S * c.B * c.I) * 2 * 1.25
    activations = layer * (c.L if not c.ckpt else 2 if c.kind == "bf16" else 1)
    if c.kind == "bf16":
        return 10 * c.P + activations + 1.4 * GiB
    weights = 2 * c.P if c.kind == "lora" else c.Q * 2 / 3.6 + (c.P - c.Q) * 2
    optimizer = 6 * c.A
    gradients = max(2 * c.A, min(0.15 * weights, max(activations, optimizer)))
    return weights + 2 * c.A + optimizer + gradients + activations + 1.4 * GiB


def ftune(c):
    activations = c.B * c.S * c.h * c.L * 2 * (4 if c.ckpt else 10) * 0.5 * (2 if c.kind == "qlora" else 1)
    held = {"amp": 14 * c.P, "bf16": 12 * c.P, "lora": 2 * c.P + 12 * c.A, "qlora": 0.51 * c.P + 12 * c.A}[c.kind]
    return 1.2 * (held + activations)


def training_hub(c):
    x = c.B * c.S
    if c.kind == "bf16":
        return None
    if c.kind == "amp":
        return 1.1 * (16 * c.P + x * 4 * c.L * c.h + x * 4 * c.V * 8 / 3)
    trained = 4 * c.A + 4 * c.A + max(4 * c.A, x * 4 * c.V) + x * 2 * c.L * c.h
    return 1.1 * (2 * c.P + trained if c.kind == "lora" else max(c.P, 0.5 * c.P + trained))


def netra(c):
    activations = c.L * c.S * c.B * c.h * (2 if c.ckpt else 34 + 5 * c.a * c.S / c.h)
    four_bit = (4 + 8 / 64 + 32 / (64 * 256)) / 8
    held = {"amp": 16 * c.P, "bf16": 12 * c.P, "lora": 2 * c.P + 12 * c.A, "qlora": four_bit * c.P + 12 * c.A}[c.kind]
    return 1.1 * (held + activations)


def fitcheck(c):
    if c.kind == "bf16":
        return None
    x = c.B * c.S
    layer = 2 * x * (4 * c.h + 2 * c.a * c.d + 2 * c.k * c.d + 3 * c.I)
    logits = 16 * x * c.V
    activations = 4 * c.L * x * c.h + max(logits, layer) if c.ckpt else c.L * layer + logits
    weights = 0.5625 * c.Q + 4 * (c.P - c.Q) if c.kind == "qlora" else 2 * c.P
    trained = 14 * c.P if c.kind == "amp" else 16 * c.A
    return weights + trained + activations + 500 * MiB + 0.05 * (weights + activations)


def vram_planner(c):
    if c.kind == "amp":
        return None
    adapters = c.n * c.L * 2 * c.r * c.h
    held = {"bf16": 12 * c.P, "lora": 2 * c.P + 12 * adapters, "qlora": 0.5 * c.P + 12 * adapters}[c.kind]
    return held + c.B * c.S * c.h * c.L * (2 if c.ckpt else 10) + 1.5 * GiB


def cookbook(c):
    if c.kind != "amp":
        return None
    p = 2 * c.V * c.h + c.h * c.S + 8 * c.h * c.L + c.L * (2 * c.h**2 * (1 + c.k / c.a) + 3 * c.h * c.I)
    return 18 * p + c.S * c.B * c.h * c.L * (34 if c.ckpt else 34 + 5 * c.a * c.S / c.h)


def nanotron(c):
    if c.kind != "amp" or c.ckpt:
        return None
    p = (1 if c.tied else 2) * c.V * c.h + c.L * (2 * c.h**2 * (1 + c.k / c.a) + 3 * c.h * c.I + 2 * c.h) + c.h
    x = c.S * c.B
    return 18 * p + c.L * x * c.h * 2 * (4 * c.I / c.h + 6 + 2 * c.k / c.a + 2) + 8 * x * c.V + (72 + 32 * c.B) * MiB


def accelerate(c):
    body = c.P - (0 if c.tied else c.V * c.h)
    return {"amp": 16 * body, "bf16": 8 * body}.get(c.kind)


def llama_factory(c):
    return {"amp": 18, "bf16": 8, "lora": 2, "qlora": 0.5}[c.kind] * c.P


RULES = [
    Rule("furiousteabag/vram-calculator", "app/_lib/index.ts, ea7ab04", "18·P + 1000 MiB + 8·B·S·V + L·(B·S·(14·h + 4·h·k/a + 4·I) + 5·B·a·S²)", furiousteabag),
    Rule("RahulSChand/gpu_poor", "src/App.js, ad2fc0e", "p = 2·V·h + 4·L·h² + 3·L·h·I; 8·p (LoRA 2·p + 192·L·h; QLoRA 0.589·p + 48·L·h + 37.5·(15·h + 6·I)·L·√(S/50)) + B·L·(32·S·h + 12·S·I + 8·S + 8·a·S²) (checkpointing: 15 % of it) + 650 MiB", gpu_poor),
    Rule("Unsloth Studio", "studio/backend/utils/hardware/vram_estimation.py, 2026-08-22", "10·P (LoRA 2·P + 8·A + gradients; QLoRA Q·2/3.6 + 2·(P − Q) + 8·A + gradients; gradients = min(15 % of weights, max(activations, 6·A))) + layers·2.5·B·S·(h + 2·k·d + 2 + 2·I) + 1.4 GiB; layers = L (checkpointing: 2, adapters 1)", unsloth),
    Rule("ftune", "src/ftuneai/core/memory.py, e8c7dee", "1.2·((4 + 2 + 8)·P (BF16: 12·P; LoRA 2·P + 12·A; QLoRA 0.51·P + 12·A) + 10·B·S·h·L (checkpointing: 4; QLoRA twice), halved by FlashAttention)", ftune),
    Rule("training_hub", "src/training_hub/profiling/memory_estimator.py, f793034, middle estimate", "1.1·(16·P + 4·B·S·L·h + 10.7·B·S·V); LoRA 1.1·(2·P + 8·A + max(4·A, 4·B·S·V) + 2·B·S·L·h); QLoRA at least 1.1·P", training_hub),
    Rule("NetraRuntime", "training-memory-calculator index.html, 2026", "1.1·(16·P (BF16: 12·P; LoRA 2·P + 12·A; QLoRA 0.516·P + 12·A) + L·B·S·h·(34 + 5·a·S/h) (checkpointing: 2))", netra),
    Rule("fitcheck", "fitcheck/memory/*.py, v0.3.1 (activations b1e557b)", "weights + 14·P (adapters 16·A) + act + 500 MiB + 5 %·(weights + act); weights 2·P, QLoRA 0.5625·Q + 4·(P − Q); layer = 2·B·S·(4·h + 2·a·d + 2·k·d + 3·I); act = L·layer + 16·B·S·V (checkpointing: 4·L·B·S·h + max(16·B·S·V, layer))", fitcheck),
    Rule("llm-vram-planner", "index.html, 2026-08-02", "12·P (LoRA 2·P + 12·p; QLoRA 0.5·P + 12·p; p = n·L·2·r·h) + 10·B·S·h·L (checkpointing: 2) + 1.5 GiB", vram_planner),
    Rule("EleutherAI/cookbook", "calc_transformer_mem.py, 827ee3b", "18·p + S·B·h·L·(34 + 5·a·S/h) (checkpointing: 34); p = 2·V·h + h·S + 8·h·L + L·(2·h²·(1 + k/a) + 3·h·I)", cookbook),
    Rule("nanotron predict_memory", "its space on Hugging Face", "18·p + 2·L·S·B·h·(4·I/h + 8 + 2·k/a) + 8·S·B·V + (72 + 32·B) MiB; p with heads h/a wide", nanotron),
    Rule("accelerate estimate-memory", "src/accelerate/commands/estimate.py, 16cb6eb8", "16·p (BF16: 8·p); p = P without an untied head", accelerate),
    Rule("LLaMA-Factory", "README, table of hardware", "18·P (BF16: 8·P; LoRA 2·P; QLoRA 0.5·P)", llama_factory),
]

KINDS = {
    "amp": "all parameters, 32-bit weights under BF16 autocast",
    "bf16": "all parameters, everything BF16",
    "lora": "LoRA r16 on every linear, BF16 weights under autocast, 32-bit adapters",
    "qlora": "QLoRA r16 on every linear, NF4 with double quantisation, k-bit preparation",
}


def case_of(row, preset, report):
    s, config = row["scenario"], preset["config"]
    training = s["training"]
    kind = "qlora" if s.get("quantization") else "lora" if s.get("peft") else "amp" if training["bf16"] else "bf16"
    h, a = config["hidden_size"], config["num_attention_heads"]
    P, V, L = preset["computed_parameters"], config["vocab_size"], config["num_hidden_layers"]
    k, d = config["num_key_value_heads"], config.get("head_dim", h // a)
    Q = L * (2 * h * a * d + 2 * h * k * d + 3 * h * config["intermediate_size"])
    A = report["parameters"]["trainable"] if s.get("peft") else 0
    return Case(kind, training["gradient_checkpointing"], P, Q, A, h, L, a, k, d, config["intermediate_size"], V,
                training["per_device_train_batch_size"], training["max_length"], (s.get("peft") or {}).get("r", 0), 7,
                config["tie_word_embeddings"])


def section(rows):
    """The Markdown for rows of (row, its preset, its report): the cases of peers.jsonl.gz, without and with checkpointing."""
    cases = collections.defaultdict(dict)
    for row, preset, report in rows:
        c = case_of(row, preset, report)
        name = "%s %s, %s, B = %d, S = %s" % (row["id"].split()[0], preset["id"], KINDS[c.kind], c.B, format(c.S, ","))
        cases[name][c.ckpt] = (c, row["measured"]["peak_allocated_bytes"], report["peak"]["allocated_bytes"])
    text, errors = "", []
    for name, pair in cases.items():
        text += "\n### %s\n\n| | without checkpointing | error | with checkpointing | error |\n|---|---|---|---|---|\n" % name
        measured = {ckpt: m for ckpt, (_, m, _) in pair.items()}
        cell = lambda ckpt, value: " – | – |" if value is None else " %.2f GiB | %s |" % (
            value / GiB, "0" if value == measured[ckpt] else "%+.1f %%" % (100 * value / measured[ckpt] - 100))
        text += "| **measured** | %.2f GiB | | %.2f GiB | |\n" % (measured[False] / GiB, measured[True] / GiB)
        text += "| **Memory Ledger** |" + cell(False, pair[False][2]) + cell(True, pair[True][2]) + "\n"
        for rule in RULES:
            values = {ckpt: rule.answer(pair[ckpt][0]) for ckpt in (False, True)}
            errors += [abs(v / measured[ckpt] - 1) for ckpt, v in values.items() if v is not None]
            if values != {False: None, True: None}:
                text += "| %s |" % rule.name + cell(False, values[False]) + cell(True, values[True]) + "\n"
    head = "%d published formulas give %d answers to these cases: their error is %.0f %% in the median, %.0f %% at most; %d are within\n2 %%.\n" % (
        len(RULES), len(errors), 100 * statistics.median(errors), 100 * max(errors), sum(e <= 0.02 for e in errors))
    letters = "P parameters, Q those that 4-bit loading quantises, A those of the adapters, h width, L layers, a heads, k key/value heads,\nd head width, I feed-forward, V vocabulary, B rows, S tokens, r rank, n adapted modules in a layer, act activations. Bytes.\n\n"
    sources = "\n### The formulas\n\n" + letters + "".join("* **%s** (%s): %s\n" % (r.name, r.source, r.formula) for r in RULES)
    return head + text + sources
