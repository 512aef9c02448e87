// Reads the keys of `training` that choose the loss, its kernels, and how samples become batches.
#include <vector>

#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

constexpr std::string_view kKernels[] = {"rope", "rms_norm", "swiglu", "cross_entropy",
                                         "fused_linear_cross_entropy"};

std::vector<std::string_view> ids(std::span<const Choice> choices) {
  std::vector<std::string_view> out;
  for (const Choice& choice : choices) out.push_back(choice.id);
  return out;
}

// Liger's defaults: all kernels, and of the two losses the fused one.
void read_kernels(const Value* value, std::string_view trainer, Training& training,
                  Findings& findings) {
  const std::string path = "training.liger_kernel_config";
  LigerKernels& kernels = training.liger_kernel_config;
  const bool trl = trainer == "trl";
  LigerKernels asked{true, true, true, false, !trl};
  const Value* given = object(value, path, findings);
  if (given) {
    check_keys(*given, path, kKernels, findings);
    const auto read = [&](std::string_view key, bool& field) {
      field = flag(given->find(key), path + "." + std::string(key), findings).value_or(field);
    };
    read("rope", asked.rope);
    read("rms_norm", asked.rms_norm);
    read("swiglu", asked.swiglu);
    read("cross_entropy", asked.cross_entropy);
    read("fused_linear_cross_entropy", asked.fused_linear_cross_entropy);
    const std::string fused = path + ".fused_linear_cross_entropy";
    if (trl && asked.fused_linear_cross_entropy) {
      findings.add(fused, fused +
                              " is true, which SFTTrainer refuses: it has a fused head of its own. "
                              "Leave it out, or give trainer transformers.");
    } else if (asked.cross_entropy && asked.fused_linear_cross_entropy) {
      findings.add(fused,
                   "training.liger_kernel_config.cross_entropy is true, and so is "
                   "fused_linear_cross_entropy (its default); Liger takes one of them. Give "
                   "fused_linear_cross_entropy false.");
    }
  }
  if (training.use_liger_kernel) kernels = asked;
}

// Keys that only some trainers know: they may be given, but must ask for nothing.
void refuse(const Value& training, std::string_view key, bool asks, std::string_view whose,
            std::string_view trainer, Findings& findings) {
  if (!asks) return;
  const std::string path = "training." + std::string(key);
  findings.add(path,
               path + " is an argument of " + std::string(whose) + "; trainer " +
                   std::string(trainer) +
                   " does not know it. Leave it out, or give another trainer.",
               *training.find(key));
}

std::vector<double> read_lengths(const Value* value, double max_length, bool cuts,
                                 Findings& findings) {
  std::vector<double> lengths;
  const std::string path = "training.sample_lengths";
  if (!value || value->is_null()) return lengths;
  if (!value->is(Kind::kList) || value->list.empty() || value->list.size() > kMostSampleLengths) {
    findings.add(path,
                 path + " is " + as_given(*value) +
                     "; it must be a list of the samples' tokens, with at least one and at most " +
                     grouped(static_cast<double>(kMostSampleLengths)) + " entries.",
                 *value);
    return lengths;
  }
  for (std::size_t i = 0; i < value->list.size() && !findings.full(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    const auto length =
        number(&value->list[i], {at, kLeastSampleLength, kLargestSampleLength}, findings);
    if (!length) continue;
    if (*length > max_length && !cuts) {
      findings.add(at, at + " is " + grouped(*length) + ", above training.max_length, " +
                           grouped(max_length) + "; samples are cut to that.");
      continue;
    }
    lengths.push_back(*length);
  }
  return lengths;
}

}  // namespace

void read_loss(const Value& training, std::string_view trainer, Training& out, Findings& findings) {
  const bool trl = trainer == "trl";
  const auto read_flag = [&](std::string_view key) {
    return flag(training.find(key), "training." + std::string(key), findings).value_or(false);
  };
  const auto read_choice = [&](std::string_view key, std::span<const Choice> choices) {
    return choice(training.find(key), "training." + std::string(key), ids(choices), findings)
        .value_or(std::string(choices.front().id));
  };
  out.use_liger_kernel = read_flag("use_liger_kernel");
  read_kernels(training.find("liger_kernel_config"), trainer, out, findings);
  out.label_smoothing_factor = number(training.find("label_smoothing_factor"),
                                      limit_of("training.label_smoothing_factor"), findings)
                                   .value_or(0);
  const Value* loss_type = training.find("loss_type");
  const bool chunked = loss_type && loss_type->is(Kind::kText) && loss_type->text == kChunkedLoss;
  out.loss_type = chunked ? std::string(kChunkedLoss) : read_choice("loss_type", kLossTypes);
  out.packing = read_flag("packing");
  out.packing_strategy = read_choice("packing_strategy", kPackingStrategies);
  out.padding_free = read_flag("padding_free");
  const bool splits = out.packing && out.packing_strategy != "bfd";
  out.sample_lengths =
      read_lengths(training.find("sample_lengths"), out.max_length, splits, findings);
  out.num_output_chunks =
      number(training.find("num_output_chunks"), limit_of("training.num_output_chunks"), findings)
          .value_or(out.num_output_chunks);
  if (chunked && trainer != "torch") {
    findings.add("training.loss_type",
                 "training.loss_type " + std::string(kChunkedLoss) +
                     " is torchtune's and belongs to a plain loop, trainer torch; trainer " +
                     std::string(trainer) + " has its own.",
                 kChunkedLoss.data(), "nll");
  } else if (chunked && out.use_liger_kernel) {
    findings.add("training.use_liger_kernel",
                 "training.use_liger_kernel is true together with loss_type " +
                     std::string(kChunkedLoss) + ", which is not modelled; give false.",
                 "true");
  }
  if (trl) return;
  const std::string_view sft = "TRL's SFTConfig";
  refuse(training, "loss_type", out.loss_type == "dft", sft, trainer, findings);
  refuse(training, "packing", out.packing, sft, trainer, findings);
  refuse(training, "padding_free", out.padding_free, sft, trainer, findings);
  refuse(training, "sample_lengths", !out.sample_lengths.empty(), sft, trainer, findings);
  if (trainer == "torch") {
    refuse(training, "label_smoothing_factor", out.label_smoothing_factor > 0,
           "transformers' TrainingArguments", trainer, findings);
  }
}

}  // namespace ledger::reading
