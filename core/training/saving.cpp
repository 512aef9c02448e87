// What saving a checkpoint allocates on the device: state dicts are references, and every tensor
// goes to the host on its own. Only the experts of a mixture are written as the published
// checkpoints have them: gate_up_proj is cut in two, and the copies of all layers live until the
// file is written. Source: transformers 5.18.0 trainer.py _save_checkpoint, modeling_utils.py
// save_pretrained, core_model_loading.py Chunk, conversion_mapping.py; torch/serialization.py.
#include "core/training/job.hpp"

namespace ledger::training {

void save(Job& job) {
  Tape& t = job.t;
  t.mark(Mark::Kind::kSave, kSteps);
  const models::MixtureConfig& mixture = job.model.config.mixture;
  std::vector<Tensor> halves;
  // Of a model with adapters only these are written.
  const bool cuts = !job.scenario.peft && !mixture.input_first;
  for (const models::Mixture* m : job.model.mixtures) {
    if (!cuts) break;
    const ops::Stacked& both = m->gate_up_proj;
    const Within here(t, both.place, both.layer);
    const Shape whole = both.weight.shape();
    const Shape half = t.shape({whole[0], whole[1] / 2, whole[2]});
    for (const char* what : {"gate_proj of all experts, to be saved", "up_proj, to be saved"}) {
      halves.push_back(t.scratch(half, both.weight.dtype(), what));
    }
  }
  halves.clear();
  t.mark(Mark::Kind::kEnd, kSteps);
}

}  // namespace ledger::training
