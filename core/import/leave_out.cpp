// Finds out what of a scenario the estimate refuses, and leaves out what it can do without.
#include <algorithm>

#include "core/import/settle_parts.hpp"
#include "core/scenario.hpp"

namespace ledger::pasted {
namespace {

// What may be left out where the estimate refuses it, and what that means.
struct Droppable {
  std::string_view path, consequence;
};
constexpr Droppable kDroppable[] = {
    {"parallel", "The estimate is of one process that holds everything, and is higher."},
    {"training.use_liger_kernel", "The estimate is without Liger's kernels, and is higher."},
    {"training.packing", "The estimate has rows of one sample each, which are full."},
    {"training.packing_strategy", "The estimate has rows that are full."},
    {"training.padding_free", "The estimate has rows of one sample each, which are full."},
    {"training.optim_args", "The estimate takes the optimizer's defaults."},
    {"training.optim", "The estimate takes adamw_torch_fused."},
    {"training.label_smoothing_factor", "The estimate is without it."},
    {"training.loss_type", "The estimate takes the usual loss."},
    {"attn_implementation", "The estimate takes the usual attention."},
    {"peft.use_dora", "The estimate has plain LoRA, and is lower."},
    {"peft.modules_to_save", "The estimate trains no copies of them, and is lower."},
    {"peft.trainable_token_indices", "The estimate trains none, and is a little lower."},
    {"peft.rank_pattern", "The estimate has one rank."},
    {"peft.bias", "The estimate trains no biases."},
    {"training.max_grad_norm", "The estimate does not clip, which is not in the peak."},
    {"training.num_output_chunks", "The estimate takes the usual number of chunks."},
};

Problems problems_of(const Value& scenario) {
  const Result<Scenario> read = read_scenario(json::write(scenario));
  return read.ok() ? Problems() : read.problems();
}

std::string vanished(const Problems& before, const Problems& after) {
  for (const Problem& one : before) {
    const bool stays = std::any_of(after.begin(), after.end(),
                                   [&](const Problem& p) { return p.message == one.message; });
    if (!stays) return one.message;
  }
  return {};
}

}  // namespace

void leave_out(Sheets& sheets, Settled& out) {
  out.problems = problems_of(out.scenario);
  for (const Droppable& row : kDroppable) {
    if (out.problems.empty()) return;
    if (!get_path(out.scenario, row.path)) continue;
    Value without = out.scenario;
    remove_path(without, row.path);
    if (row.path == "training.use_liger_kernel")
      remove_path(without, "training.liger_kernel_config");
    if (row.path == "training.optim") remove_path(without, "training.optim_args");
    Problems left = problems_of(without);
    if (left.size() >= out.problems.size()) continue;
    const Value* strategy = get_path(out.scenario, "parallel.strategy");
    const bool copies = row.path == "parallel" && strategy && strategy->text == "ddp";
    const std::string why =
        vanished(out.problems, left) + " " +
        std::string(copies ? "The estimate is of one process; DistributedDataParallel's buckets of "
                             "gradients come on top."
                           : row.consequence);
    bool told = false;
    for (const Setting& setting : sheets.settings) {
      const bool within = setting.path == row.path ||
                          setting.path.starts_with(std::string(row.path) + ".") ||
                          (row.path == "training.use_liger_kernel" &&
                           setting.path.starts_with("training.liger_kernel_config"));
      if (!within || setting.key == Setting::kNoKey) continue;
      mark(sheets, setting.key, Status::kUnsupported, why);
      told = true;
    }
    if (!told) sheets.notes.push_back(why);
    std::erase_if(sheets.settings, [&](const Setting& s) {
      return s.path == row.path || s.path.starts_with(std::string(row.path) + ".");
    });
    out.scenario = std::move(without);
    out.problems = std::move(left);
  }
}

}  // namespace ledger::pasted
