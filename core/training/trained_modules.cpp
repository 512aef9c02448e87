// What peft trains beside adapters: copies of whole modules, and rows of the embedding.
// Source: peft 0.21.2 utils/other.py ModulesToSaveWrapper, TrainableTokensWrapper,
// set_additional_trainable_modules, tuners/trainable_tokens/layer.py.
#include "core/training/adapters.hpp"
#include "core/training/targets.hpp"

namespace ledger::training {
namespace {

// Parameters of the model that stand before whatever follows this one.
std::size_t after(const models::Decoder& model, const Tensor& parameter) {
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    if (model.parameters[i].get() == parameter.get()) return i + 1;
  }
  return model.parameters.size();  // a tied head has none of its own
}

struct Trainer {
  Tape& t;
  models::Decoder& model;
  bool trained;

  // copy.deepcopy of a module's parameter; the copy takes its place if it is the one in use.
  void copy(Tensor& parameter, std::size_t position, const char* what) {
    if (!parameter) return;
    Tensor made = t.parameter(parameter.shape(), parameter.dtype(), what, trained);
    model.trained_copies.push_back({trained ? parameter : made, made, position});
    if (trained) parameter = std::move(made);
  }

  void copy_embedding() {
    const StorageRecord& owner = t.record().storages[model.embed_tokens->storage];
    const std::uint32_t place = owner.place;
    const Within here(t, place, -1);
    copy(model.embed_tokens, after(model, model.embed_tokens), "weight, copied to be trained");
    // gemma's embedding brings its scale along.
    for (std::size_t i = 0, count = model.buffers.size(); i < count; ++i) {
      const Tensor& buffer = model.buffers[i];
      if (t.record().storages[buffer->storage].place != place) continue;
      model.buffers.push_back(
          t.make(buffer.shape(), buffer.dtype(), "scale of the embedding, copied", Role::kBuffer));
    }
  }

  void copy_head() {
    ops::Linear& head = model.lm_head;
    const Within here(t, head.place, head.layer);
    const std::size_t position = model.parameters.size();
    copy(head.weight, position, "weight, copied to be trained");
    copy(head.bias, position, "bias, copied to be trained");
  }

  void add_rows(double count) {
    const StorageRecord& owner = t.record().storages[model.embed_tokens->storage];
    const Within here(t, owner.place, -1);
    const Tensor& table = model.embed_tokens;
    const Shape shape = t.shape({t.workings().named("n", count), table.dim(1)});
    Tensor index = t.scratch(t.shape({shape[0]}), Dtype::kInt64, "indices of the trained rows");
    Tensor picked = t.scratch(shape, table.dtype(), "rows to be trained");
    index.reset();
    Tensor rows = t.parameter(shape, table.dtype(), "trained rows", trained);
    Tensor originals = t.make(shape, table.dtype(), "trained rows as they were", Role::kBuffer);
    model.trained_copies.push_back({originals, rows, after(model, table)});
    if (!trained) return;
    model.trained_rows = rows;
    model.rows_of_head = model.config.tied;
  }
};

}  // namespace

void train_modules(Tape& t, models::Decoder& model, const Peft& peft, bool trained) {
  Trainer trainer{t, model, trained};
  const std::string_view embedding =
      t.record().places[t.record().storages[model.embed_tokens->storage].place];
  if (is_saved(peft, last_name(embedding))) trainer.copy_embedding();
  if (is_saved(peft, "lm_head")) trainer.copy_head();
  if (!peft.trainable_token_indices.empty()) {
    trainer.add_rows(static_cast<double>(peft.trainable_token_indices.size()));
  }
}

}  // namespace ledger::training
