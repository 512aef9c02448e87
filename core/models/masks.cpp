// The masks that transformers makes before the first layer (masking_utils.py): none where the fused
// kernel knows causality by itself, a boolean one for a window in force, a float one for eager.
#include "core/models/decoder.hpp"

namespace ledger::models {
namespace {

// Whether the positions restart, as in packed sequences; read back, then forgotten.
void test_for_packing(Tape& t, Count batch, Count length) {
  auto ids = [&](Count count, const char* what) { return t.bytes(count, what); };
  Tensor first = ids(Count(8) * batch, "first positions");
  Tensor padded = ids(Count(8) * batch * (length + 1), "positions, one put before");
  Tensor steps = ids(Count(8) * batch * length, "steps between positions");
  padded.reset();
  Tensor restarts = ids(batch * length, "where positions restart");
  Tensor numbers = ids(Count(8) * batch * length, "restarts as numbers");
  Tensor sums = ids(Count(8) * batch * length, "restarts counted");
  if (batch.value() == 1) Tensor scan = ids(1279, "working space of a scan");
  sums.reset();
  restarts.reset();
  Tensor last = ids(batch, "restarts in all");
  Tensor answer = ids(1, "whether any sequence restarts");
}

Tensor boolean(Tape& t, Count length, const char* what) {
  return t.output(t.shape({1, 1, length, length}), Dtype::kBool, what);
}

Tensor window_mask(Tape& t, Count length) {
  Tensor edge = t.bytes(Count(8) * length, "edge of the window");
  return boolean(t, length, "inside the window");
}

// Mask functions are and-ed one by one.
Tensor windowed_causal(Tape& t, Count length) {
  Tensor start = t.bytes(1, "all true");
  Tensor term = window_mask(t, length);
  Tensor so_far = boolean(t, length, "mask so far");
  term.reset();
  start.reset();
  term = boolean(t, length, "causal");
  return boolean(t, length, "causal mask within the window");
}

}  // namespace

Tensor causal_mask(Tape& t, const Tensor& embedded, Count window, bool eager) {
  const Within here(t, t.place("causal_mask"), -1);
  const NoGrad no_grad(t);
  const Count batch = embedded.dim(0), length = embedded.dim(1);
  test_for_packing(t, batch, length);
  const bool windowed = window.value() > 0;
  if (!eager && !(windowed && length.value() >= window.value())) return Tensor();

  Tensor batch_range = t.bytes(Count(8) * batch, "positions of the batch");
  Tensor head_range = t.bytes(8, "positions of the heads");
  Tensor queries = t.bytes(Count(8) * length, "positions of the queries");
  queries = t.bytes(Count(8) * length, "positions of the queries");
  Tensor keys = t.bytes(Count(8) * length, "positions of the keys");
  keys = t.bytes(Count(8) * length, "positions of the keys");
  Tensor mask = windowed ? windowed_causal(t, length) : boolean(t, length, "causal mask");
  batch_range.reset();
  head_range.reset();
  queries.reset();
  keys.reset();
  if (!eager) return mask;

  Tensor zero = t.scratch(t.shape({1}), embedded.dtype(), "scalar");
  Tensor minus_infinity = t.scratch(t.shape({1}), embedded.dtype(), "scalar");
  return t.output(t.shape({batch, 1, length, length}), embedded.dtype(), "additive causal mask");
}

}  // namespace ledger::models
