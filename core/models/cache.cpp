// Source: transformers/cache_utils.py, DynamicLayer.update.
#include "core/models/cache.hpp"

#include <utility>

namespace ledger::models {
namespace {

constexpr Rule kCache{"concatenation with the cache", "transformers/cache_utils.py: DynamicLayer"};

Tensor joined(Tape& t, const Tensor& states, Count length, Dtype dtype, const char* what) {
  Recording recording(t, kCache, {});
  return t.output(t.shape({states.dim(0), states.dim(1), length, states.dim(3)}), dtype, what);
}

}  // namespace

void KeyValueCache::update(Tape& t, std::int16_t layer, Tensor& keys, Tensor& values) {
  const auto index = static_cast<std::size_t>(layer);
  if (layers.size() <= index) layers.resize(index + 1);
  Layer& own = layers[index];
  // Both begin as empty tensors of the keys' type, which narrower values take over.
  const Dtype wider =
      bytes_of(keys.dtype()) > bytes_of(values.dtype()) ? keys.dtype() : values.dtype();
  own.keys = joined(t, keys, length, keys.dtype(), "cached keys");
  own.values = joined(t, values, length, wider, "cached values");
  keys = own.keys;
  values = own.values;
}

}  // namespace ledger::models
