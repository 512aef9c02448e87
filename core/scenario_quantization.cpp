// Reads `quantization`: weights in four or eight bits. Names and defaults: transformers'
// BitsAndBytesConfig.
#include <algorithm>
#include <utility>

#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

constexpr std::string_view kQuantizationKeys[] = {"load_in_4bit",
                                                  "load_in_8bit",
                                                  "bnb_4bit_quant_type",
                                                  "bnb_4bit_use_double_quant",
                                                  "bnb_4bit_compute_dtype",
                                                  "bnb_4bit_quant_storage",
                                                  "llm_int8_threshold",
                                                  "llm_int8_skip_modules",
                                                  "llm_int8_has_fp16_weight",
                                                  "llm_int8_enable_fp32_cpu_offload",
                                                  "quant_method",
                                                  "_load_in_4bit",
                                                  "_load_in_8bit",
                                                  "prepare_model_for_kbit_training"};
constexpr std::string_view kPath = "quantization.";

std::string path_of(std::string_view key) { return std::string(kPath) + std::string(key); }

// Names of linears that stay as they are. A list replaces transformers' own, which is the head.
std::vector<std::string> read_skipped(const Value* given, std::string_view key,
                                      const ModelReading& model, Findings& findings) {
  const std::string path = path_of(key);
  if (!given || given->is_null()) return {"lm_head"};
  std::vector<std::string> linears = texts(model.type.find("linears"));
  linears.emplace_back("lm_head");
  const std::vector<std::string_view> known(linears.begin(), linears.end());
  if (!given->is(Kind::kList)) {
    findings.add(path,
                 path + " is " + as_given(*given) + "; it must be a list of " + listed(known) + ".",
                 *given);
    return {"lm_head"};
  }
  std::vector<std::string> names;
  constexpr std::size_t kMostNames = 1000;
  if (given->list.size() > kMostNames) {
    findings.add(path, path + " has more than " + grouped(kMostNames) + " names.");
    return {"lm_head"};
  }
  for (const Value& item : given->list) {
    const std::string_view name = last_name(item.text);
    if (item.is(Kind::kText) && std::find(known.begin(), known.end(), name) != known.end()) {
      if (std::find(names.begin(), names.end(), item.text) == names.end()) {
        names.push_back(item.text);
      }
      continue;
    }
    if (findings.full()) break;
    findings.add_unmatched(path, item, known);
  }
  if (std::find(names.begin(), names.end(), "lm_head") == names.end()) {
    findings.add(path, path +
                           " leaves out lm_head. A list replaces transformers' own, which keeps "
                           "the head, so the head would be quantised too; that is not modelled: "
                           "add \"lm_head\".");
  }
  return names;
}

void check_bits(bool four, bool eight, const Quantization& q, Findings& findings) {
  if (four && eight) {
    findings.add(path_of("load_in_8bit"),
                 "quantization.load_in_4bit and quantization.load_in_8bit are both true; a weight "
                 "is packed once, so one of them must be false.");
  }
  if (four || (eight && !q.bnb_4bit_use_double_quant)) return;
  if (q.bnb_4bit_use_double_quant) {
    findings.add(path_of("load_in_4bit"),
                 "quantization.bnb_4bit_use_double_quant quantises the scales of 4-bit weights; it "
                 "needs load_in_4bit true.");
    return;
  }
  findings.add(path_of("load_in_4bit"),
               "quantization.load_in_4bit and load_in_8bit are not true, so nothing would be "
               "quantised; set one, or leave quantization out.");
}

// Keys of checkpoints' quantization_config that say how they were made, and change no size.
constexpr std::string_view kStoredKeys[] = {"quant_method",
                                            "bits",
                                            "group_size",
                                            "desc_act",
                                            "sym",
                                            "zero_point",
                                            "quant_type",
                                            "modules_to_not_convert",
                                            "backend",
                                            "batch_size",
                                            "block_name_to_quantize",
                                            "cache_block_outputs",
                                            "checkpoint_format",
                                            "damp_percent",
                                            "dataset",
                                            "do_fuse",
                                            "dynamic",
                                            "exllama_config",
                                            "format",
                                            "fuse_max_seq_len",
                                            "hyb_act",
                                            "include_input_output_embeddings",
                                            "is_marlin_format",
                                            "lm_head",
                                            "max_input_length",
                                            "meta",
                                            "model_file_base_name",
                                            "model_name_or_path",
                                            "model_seqlen",
                                            "modules_in_block_to_quantize",
                                            "modules_to_fuse",
                                            "module_name_preceding_first_block",
                                            "pack_dtype",
                                            "pad_token_id",
                                            "quantizer",
                                            "quant_type_kwargs",
                                            "static_groups",
                                            "tokenizer",
                                            "true_sequential",
                                            "untie_embedding_weights",
                                            "use_cuda_fp16",
                                            "use_exllama",
                                            "version"};

// {"default": {"_type": "Int8WeightOnlyConfig", …}} of a checkpoint, or a short name.
std::string_view type_of_torchao(const Value* given) {
  if (!given) return "int8_weight_only";
  const Value* type = given;
  if (const Value* inner = given->find("default")) type = inner->find("_type");
  if (!type) return "";
  if (type->text == "Int8WeightOnlyConfig") return "int8_weight_only";
  if (type->text == "Int4WeightOnlyConfig") return "int4_weight_only";
  return type->text;
}

void check_torchao(const Value& given, Findings& findings) {
  const Value* quant_type = given.find("quant_type");
  const std::string_view type = type_of_torchao(quant_type);
  if (type == "int8_weight_only") return;
  const std::string path = path_of("quant_type");
  if (type == "int4_weight_only") {
    findings.add(path,
                 path +
                     " is int4_weight_only, beside which peft refuses LoRA (it takes torchao's "
                     "eight bits only), and without adapters nothing could be trained; give "
                     "\"int8_weight_only\", or four bits of bitsandbytes.",
                 *quant_type, "int8_weight_only");
    return;
  }
  findings.add(
      path,
      path + " is " + as_given(*quant_type) + "; of torchao's, \"int8_weight_only\" is modelled.",
      *quant_type, "int8_weight_only");
}

// Weights that come packed, by GPTQ, AWQ or torchao.
std::optional<Quantization> read_stored(const Value& given, const std::string& method,
                                        const ModelReading& model, Findings& findings) {
  const std::size_t before = findings.size();
  check_keys(given, "quantization", kStoredKeys, findings);
  Quantization q;
  q.quant_method = method;
  q.prepare_model_for_kbit_training = false;
  q.llm_int8_skip_modules =
      read_skipped(given.find("modules_to_not_convert"), "modules_to_not_convert", model, findings);
  if (method == "torchao") {
    check_torchao(given, findings);
  } else {
    q.bits = number(given.find("bits"), limit_of("quantization.bits"), findings).value_or(4);
    const bool whole = q.bits == 4 || q.bits == 8 || (method == "gptq" && q.bits == 2);
    if (!whole) {
      findings.add(path_of("bits"),
                   path_of("bits") + " is " + grouped(q.bits) +
                       "; numbers of that width do not fill 32 bits evenly, and "
                       "are not modelled: 4 and 8 are, for gptq 2 as well.",
                   grouped(q.bits), "4");
      q.bits = 4;
    }
    const Value* size = given.find("group_size");
    const bool whole_column = size && size->is(Kind::kNumber) && size->number == -1;
    q.group_size =
        whole_column
            ? -1
            : number(size, limit_of("quantization.group_size"), findings).value_or(q.group_size);
    const auto read_flag = [&](std::string_view key, bool otherwise) {
      return flag(given.find(key), path_of(key), findings).value_or(otherwise);
    };
    q.desc_act = read_flag("desc_act", false);
    q.sym = read_flag("sym", true);
    q.zero_point = read_flag("zero_point", true);
  }
  if (findings.size() != before) return {};
  return q;
}

}  // namespace

std::optional<Quantization> read_quantization(const Value& scenario, const ModelReading& model,
                                              Findings& findings) {
  const Value* given = object(scenario.find("quantization"), "quantization", findings);
  if (!given) given = model.quantization;  // of the config.json itself
  if (!given) return {};
  const Value* named = given->find("quant_method");
  const bool stored = named && named->is(Kind::kText) && named->text != "bitsandbytes";
  if (!stored) check_keys(*given, "quantization", kQuantizationKeys, findings);
  const auto read_flag = [&](std::string_view key, bool otherwise) {
    return flag(given->find(key), path_of(key), findings).value_or(otherwise);
  };
  const std::optional<std::string> method =
      choice(named, path_of("quant_method"), {"bitsandbytes", "gptq", "awq", "torchao"}, findings);
  if (stored && !method) return {};
  if (stored) return read_stored(*given, *method, model, findings);
  Quantization q;
  const bool four = read_flag("load_in_4bit", false);
  q.load_in_8bit = read_flag("load_in_8bit", false);
  q.bnb_4bit_quant_type = choice(given->find("bnb_4bit_quant_type"), path_of("bnb_4bit_quant_type"),
                                 {"nf4", "fp4"}, findings)
                              .value_or("fp4");
  q.bnb_4bit_use_double_quant = read_flag("bnb_4bit_use_double_quant", false);
  q.bnb_4bit_compute_dtype =
      dtype(given->find("bnb_4bit_compute_dtype"), path_of("bnb_4bit_compute_dtype"), findings)
          .value_or(Dtype::kFloat32);
  q.bnb_4bit_quant_storage =
      choice(given->find("bnb_4bit_quant_storage"), path_of("bnb_4bit_quant_storage"),
             {"uint8", "float16", "bfloat16", "float32"}, findings)
          .value_or("uint8");
  q.llm_int8_threshold = number(given->find("llm_int8_threshold"),
                                limit_of("quantization.llm_int8_threshold"), findings)
                             .value_or(q.llm_int8_threshold);
  q.llm_int8_skip_modules =
      read_skipped(given->find("llm_int8_skip_modules"), "llm_int8_skip_modules", model, findings);
  for (const std::string_view key :
       {"llm_int8_has_fp16_weight", "llm_int8_enable_fp32_cpu_offload"}) {
    if (read_flag(key, false)) {
      findings.add(path_of(key), path_of(key) + " is not modelled; only false is accepted.",
                   "true");
    }
  }
  q.prepare_model_for_kbit_training = read_flag("prepare_model_for_kbit_training", true);
  const std::size_t before = findings.size();
  check_bits(four, q.load_in_8bit, q, findings);
  if (findings.size() != before) return {};
  return q;
}

}  // namespace ledger::reading
