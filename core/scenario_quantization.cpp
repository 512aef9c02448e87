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
                                                  "prepare_model_for_kbit_training"};
constexpr std::string_view kPath = "quantization.";

std::string path_of(std::string_view key) { return std::string(kPath) + std::string(key); }

// Names of linears that stay as they are. A list replaces transformers' own, which is the head.
std::vector<std::string> read_skipped(const Value* given, const ModelReading& model,
                                      Findings& findings) {
  const std::string path = path_of("llm_int8_skip_modules");
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

}  // namespace

std::optional<Quantization> read_quantization(const Value& scenario, const ModelReading& model,
                                              Findings& findings) {
  const Value* given = object(scenario.find("quantization"), "quantization", findings);
  if (!given) return {};
  check_keys(*given, "quantization", kQuantizationKeys, findings);
  const auto read_flag = [&](std::string_view key, bool otherwise) {
    return flag(given->find(key), path_of(key), findings).value_or(otherwise);
  };
  const Value* method = given->find("quant_method");
  if (method && !method->is_null() && method->text != "bitsandbytes") {
    findings.add(path_of("quant_method"),
                 path_of("quant_method") + " is " + as_given(*method) +
                     "; only bitsandbytes is modelled. Weights of GPTQ, AWQ, HQQ, AQLM, FP8 and "
                     "torchao have kernels and copies of their own.",
                 *method, "bitsandbytes");
  }
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
  q.llm_int8_skip_modules = read_skipped(given->find("llm_int8_skip_modules"), model, findings);
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
