"""Published measurements as scenarios.

One set of rules turns every row of tests/data/published into a scenario; none looks at a row's id or figure. What a row's program does
that a scenario cannot say is either a remark (the estimate is of something near) or the reason why there is no estimate.
"""
import re

# The same config.json under another name, or the architecture that a row describes in words.
SAME_MODEL = {
    "LLaMA-7B arch (torchtrain llama_7b.toml)": "meta-llama/Llama-2-7b-hf", "NousResearch/Llama-2-70b-hf": "meta-llama/Llama-2-70b-hf",
    "TechxGenus/Meta-Llama-3-8B-GPTQ": "meta-llama/Meta-Llama-3-8B", "mistralai/Mixtral-8x7B-Instruct-v0.1": "mistralai/Mixtral-8x7B-v0.1",
    "TinyLlama/TinyLlama-1.1B-intermediate-step-1431k-3T": "TinyLlama/TinyLlama-1.1B-Chat-v1.0", "Yi-34B (checkpoint not printed)": "01-ai/Yi-34B"}
# Models without a preset, as their config.json and litgpt's config.py have them.
CONFIGS = {
    "microsoft/phi-1_5": {"model_type": "phi", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32, "intermediate_size": 8192,
                          "vocab_size": 51200, "partial_rotary_factor": 0.5, "hidden_act": "gelu_new", "tie_word_embeddings": False},
    "stabilityai/stablelm-base-alpha-3b": {"model_type": "gpt_neox", "hidden_size": 4096, "num_hidden_layers": 16, "num_attention_heads": 32,
                                           "intermediate_size": 16384, "vocab_size": 50688, "rotary_pct": 0.25, "tie_word_embeddings": False}}
CARDS = [("A100.*40GB", "a100-40gb"), ("A100.*80GB", "a100-80gb"), ("A10G", "a10g"), ("H100", "h100-80gb-sxm"), ("H200", "h200-sxm"),
         ("B200", "b200-sxm"), ("MI300X", "mi300x"), ("RTX 3090", "rtx-3090"), ("RTX 4090", "rtx-4090")]
# What litgpt and others call the linears that an adapter is put on, and all names that models here have for them.
LINEARS = {"query": "q_proj query_key_value qkv_proj", "key": "k_proj query_key_value qkv_proj", "value": "v_proj query_key_value qkv_proj",
           "projection": "o_proj dense", "mlp": "gate_proj up_proj down_proj gate_up_proj fc1 fc2 dense_h_to_4h dense_4h_to_h", "head": "lm_head"}
REMARKS = {
    "F": "FlashAttention-2's own package; the estimate is of PyTorch's fused attention",
    "K": "hand-written kernels for rotary embedding, norm and loss; the estimate is of Liger's",
    "L": "litgpt's own model code, whose adapters share one linear for query, key and value; the estimate is of transformers' and peft's",
    "C": "the loss in chunks of 128 tokens; the estimate has at most 8 chunks of the sequence",
    "M": "logits whole, their loss in chunks; the estimate is of one loss over all of them",
    "H": "the head in four bits too; in the estimate it keeps 16",
    "E": "experts as linears in four bits; in transformers 5 those of a layer are one parameter, which bitsandbytes leaves as it is, and so does the estimate",
    "U": "logits in 32 bit made by the model itself, as transformers did then; the estimate is of today's loss, which makes them",
    "P": "samples packed behind a mask of blocks; the estimate has none",
    "A": "active bytes, which also count blocks that wait for another stream; the estimate is of allocated bytes",
    "G": "gradients clipped, which the estimate leaves out with FSDP2",
    "T": "logits in 32 bit kept through the backward pass; the estimate keeps them in 16",
    "S": "only some operators are kept for the backward pass: the estimate is two, with full checkpointing and without any, and what was measured must lie between",
    "O": "an estimate above what the card has: at its limit the allocator gives back what it only caches, which the figure does not count",
    "N": "peak less the first reading, taken once a second; the estimate is the process's range: reserved and context",
}


def model_of(row, presets):
    """(what a scenario has as its model, its config.json)"""
    name = SAME_MODEL.get(row["model"], row["model"])
    if name in CONFIGS:
        return CONFIGS[name], CONFIGS[name]
    return name, presets[name]["config"] if name in presets else {}


def not_expressible(row, catalog):
    """What no key of a scenario says, as a reason; None where all of it can be said."""
    strategy = (parallel(row) or {}).get("strategy")
    if strategy and strategy not in [s["id"] for s in catalog["parallel_strategies"]]:
        return "the program refuses %s, which is not modelled yet" % {"fsdp1": "FSDP1"}.get(strategy, "DeepSpeed's " + strategy.replace("zero", "ZeRO-"))
    if "torch.compile on" in row["notes"] or "compile on" in row["notes"] or "compiled" in row["loss_impl"]:
        return "torch.compile, which decides anew what is kept, is not modelled"
    if "float8" in row["compute_dtype"]:
        return "float8 linears are not modelled"
    if row["offload"] == "activations to CPU":
        return "activations on the host are not modelled"
    if "optimizer_in_bwd" in row["optimizer"]:
        return "an optimizer that steps inside the backward pass is not modelled"
    for word, what in (("CP", "context parallel"), ("PP", "pipeline parallel"), ("AsyncTP", "asynchronous tensor parallel")):
        if re.search(r"\b%s\b" % word, row["parallelism"]) and not re.search(r"\b%s 1\b" % word, row["parallelism"]):
            return what + " is not modelled"
    return None


def parallel(row):
    text, ranks = row["parallelism"], row["n_gpus"]
    if text == "single GPU":
        return None
    if "NO_SHARD" in text:
        return {"strategy": "ddp", "world_size": ranks}
    if text.startswith(("FSDP1", "DeepSpeed")):
        stage = re.search(r"ZeRO-(\d)", text)
        return {"strategy": "zero" + stage[1] if stage else "fsdp1", "world_size": ranks}
    result = {"strategy": "fsdp2", "world_size": ranks}
    if row["compute_dtype"].startswith("bf16 FSDP2 mixed precision"):
        result.update(param_dtype="bfloat16", reduce_dtype="float32")
    tensor = re.search(r"TP(?:/SP)? (\d+)", text)
    if tensor:  # torchtitan's tensor parallel is sequence parallel too
        result.update(tensor_parallel_size=int(tensor[1]), sequence_parallel=True)
    reshard = re.search(r"reshard_after_forward=(always|never)", text)
    if reshard:
        result["reshard_after_forward"] = reshard[1] == "always"
    return result


def peft(row, linears):
    words = re.split(r"\W+", row["lora_targets"].split("(")[0].split(";")[0].replace(",", " "))
    wanted = set()
    for word in filter(None, words):
        wanted.update(LINEARS.get(word, word if "_proj" in word else word + "_proj").split())
    # Dropout where the row is silent: litgpt's 0.05, and 0.1 in fms-acceleration's scenarios.yaml (any rate takes the same).
    return {"peft_type": "LORA", "r": row["lora_rank"], "lora_dropout": 0.05, "target_modules": [name for name in linears if name in wanted],
            "autocast_adapter_dtype": "bf16-true" not in row["compute_dtype"]}


def quantization(row):
    kind = row["weight_dtype"]
    if kind.startswith("int4 GPTQ"):
        return {"quant_method": "gptq", "bits": 4, "group_size": 128}
    if kind.startswith("nf4 (torchao)"):
        return {"quant_method": "torchao", "quant_type": "nf4"}
    if not kind.startswith("nf4"):
        return None
    return {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": "double quant" in kind,
            "bnb_4bit_compute_dtype": "bfloat16", "bnb_4bit_quant_storage": "bfloat16" if "bf16 storage" in kind else "uint8",
            "prepare_model_for_kbit_training": "k-bit preparation" in row["notes"] or "framework_config=baseline-peft-bnb" in row["notes"]}


def optimizer(row):
    text = row["optimizer"]
    if "Paged" in text:
        return "paged_adamw_32bit"
    return "adamw_torch_fused" if "fused/foreach" in text else "adamw_torch"


def loss(row, training, remarks):
    text = row["loss_impl"]
    if "lm_head chunked" in text:
        chunks = -(-row["seq_len"] // 128)
        training.update(loss_type="CEWithChunkedOutputLoss", num_output_chunks=min(8, chunks))
        if chunks > 8:
            remarks.append("C")
    elif text.startswith("CEWithChunkedOutputLoss"):
        training["loss_type"] = "CEWithChunkedOutputLoss"
    elif "chunked cross" in text:
        remarks.append("M")
    elif "Liger" in text or "Triton" in text:
        fused = "Liger" in text
        training.update(use_liger_kernel=True, liger_kernel_config={"rope": True, "rms_norm": True, "swiglu": False, "cross_entropy": not fused, "fused_linear_cross_entropy": fused})
        remarks.append("K")


def scenarios(row, catalog, presets):
    """(scenarios, remarks): two where checkpointing is selective, with all and with none."""
    remarks = []
    model, config = model_of(row, presets)
    linears = next((m["linears"] for m in catalog["linears"] if m["model_type"] == config.get("model_type")), []) + ["lm_head"]
    trainer = "transformers" if "HF Trainer" in row["optimizer"] else "torch"
    training = {"per_device_train_batch_size": row["micro_batch"], "max_length": row["seq_len"], "optim": optimizer(row),
                "gradient_checkpointing": row["grad_ckpt"] != "none"}
    if "autocast" in row["compute_dtype"]:
        training["fp16" if "fp16" in row["compute_dtype"] else "bf16"] = True
    loss(row, training, remarks)
    kind = row["weight_dtype"]
    scenario = {"model": model, "trainer": trainer, "training": training, "attn_implementation": "eager" if "eager" in row["attn_impl"] else "sdpa",
                "dtype": "float32" if kind.startswith("fp32") else "float16" if "fp16" in row["compute_dtype"] else "bfloat16"}
    titan = "torchtitan" in row["software"] + row["source"]
    if titan and row["date"] < "2024-06-12":  # pytorch/torchtitan e29b6b4d4 (#391) deletes the logits before the backward pass
        scenario["keep_outputs"] = True
        remarks.append("T")
    card = next((card for pattern, card in CARDS if re.search(pattern, row["gpu"])), None)
    if card:
        scenario["card"] = card
    for key, value in (("parallel", parallel(row)), ("quantization", quantization(row)), ("peft", peft(row, linears) if row["lora_rank"] else None)):
        if value:
            scenario[key] = value
    litgpt = "litgpt" in row["source"]
    if litgpt:  # the head has weights of its own unless tie_embeddings says otherwise; a step has several micro-batches (litgpt/finetune/lora.py)
        scenario["config"] = {"tie_word_embeddings": False}
        training["gradient_accumulation_steps"] = 2  # 2 has the peak of more
    remarks += [mark for mark, there in (
        ("F", row["attn_impl"] == "flash_attention_2"), ("L", litgpt), ("H", litgpt and kind.startswith("nf4")), ("E", kind.startswith("nf4") and any("experts" in key for key in config)), ("P", row["attn_impl"] == "sdpa / flex for packed"),
        ("U", "fp32 logits upcast" in row["loss_impl"]), ("A", row["metric"].startswith("peak_active")), ("N", row["metric"].startswith("nvidia-smi")),
        ("G", titan), ("S", row["grad_ckpt"].startswith("selective"))) if there]
    made = [scenario]
    if "S" in remarks:
        made.append({**scenario, "training": {**training, "gradient_checkpointing": False}})
    return made, remarks
