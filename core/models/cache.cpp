// Source: transformers/cache_utils.py, DynamicLayer.update, DynamicSlidingWindowLayer.update,
// StaticLayer.
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

Count KeyValueCache::seen(std::int16_t layer, Count new_tokens) const {
  if (static_length.value() > 0) {
    return is_windowed(layer) ? minimum(window, static_length) : static_length;
  }
  // What a windowed layer keeps of the past is one token less than its window.
  const double past = length.value() - new_tokens.value();
  if (!is_windowed(layer) || past < window.value()) return length;
  return window - Count(1) + new_tokens;
}

void KeyValueCache::update(Tape& t, std::int16_t layer, Tensor& keys, Tensor& values) {
  const auto index = static_cast<std::size_t>(layer);
  if (layers.size() <= index) layers.resize(index + 1);
  Layer& own = layers[index];
  // Both begin as empty tensors of the keys' type, which narrower values take over.
  const Dtype wider =
      bytes_of(keys.dtype()) > bytes_of(values.dtype()) ? keys.dtype() : values.dtype();
  const Count tokens = seen(layer, keys.dim(2));
  // The width of the window, as a number on the device.
  if (is_windowed(layer) && static_length.value() == 0 && !own.counter) {
    own.counter = t.bytes(8, "window of the layer");
  }
  if (static_length.value() == 0 || !own.keys) {
    own.keys = joined(t, keys, tokens, keys.dtype(), "cached keys");
    own.values = joined(t, values, tokens, wider, "cached values");
    if (static_length.value() > 0) own.counter = t.bytes(8, "tokens in the cache");
  }
  keys = own.keys;
  values = own.values;
}

double KeyValueCache::bytes() const {
  double sum = 0;
  for (const Layer& layer : layers) {
    for (const Tensor* held : {&layer.keys, &layer.values}) {
      if (*held) sum += (*held).shape().bytes((*held).dtype()).value();
    }
  }
  return sum;
}

}  // namespace ledger::models
