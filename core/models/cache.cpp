// Source: transformers/cache_utils.py, DynamicLayer.update.
#include "core/models/cache.hpp"

#include <utility>

namespace ledger::models {
namespace {

constexpr Rule kCache{"concatenation with the cache", "transformers/cache_utils.py: DynamicLayer"};

Tensor joined(Tape& t, const Tensor& states, Count length, const char* what) {
  Recording recording(t, kCache, {});
  return t.output(t.shape({states.dim(0), states.dim(1), length, states.dim(3)}), states.dtype(),
                  what);
}

}  // namespace

void KeyValueCache::update(Tape& t, std::int16_t layer, Tensor& keys, Tensor& values) {
  const auto index = static_cast<std::size_t>(layer);
  if (layers.size() <= index) layers.resize(index + 1);
  Layer& own = layers[index];
  own.keys = joined(t, keys, length, "cached keys");
  own.values = joined(t, values, length, "cached values");
  keys = own.keys;
  values = own.values;
}

}  // namespace ledger::models
