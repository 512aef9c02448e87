// The masks that transformers makes before the first layer (masking_utils.py): none where the fused
// kernel knows causality by itself, a boolean one for a window in force, a float one for eager.
#include "core/models/decoder.hpp"
#include "core/reduction.hpp"

namespace ledger::models {
namespace {

// Whether the positions restart, as in packed sequences; read back, then forgotten, or which
// sequence each token is of where they do.
Tensor test_for_packing(Tape& t, Count batch, Count length, bool packed) {
  auto ids = [&](Count count, const char* what) { return t.bytes(count, what); };
  Tensor first = ids(Count(8) * batch, "first positions");
  Tensor padded = ids(Count(8) * batch * (length + 1), "positions, one put before");
  Tensor steps = ids(Count(8) * batch * length, "steps between positions");
  padded.reset();
  Tensor restarts = ids(batch * length, "where positions restart");
  Tensor sums = ids(Count(8) * batch * length, "restarts counted");
  Tensor numbers = ids(Count(8) * batch * length, "restarts as numbers");
  if (batch.value() == 1) Tensor scan = ids(scan_space(length), "working space of a scan");
  numbers.reset();
  restarts.reset();
  Tensor last = ids(batch, "restarts in all");
  Tensor answer = ids(1, "whether any sequence restarts");
  return packed ? sums : Tensor();
}

// Whether every token counts, a sum read back: asked once more before a mask is made.
void test_for_full_mask(Tape& t, Count tokens, bool is_full) {
  for (int i = 0; i < (is_full ? 1 : 2); ++i) {
    Tensor sum = t.bytes(8, "tokens that count");
    Tensor numbers = t.bytes(Count(8) * tokens, "attention mask as numbers");
    allocate_working_space(t, {tokens, 1, true, Dtype::kInt64});
    numbers.reset();
    Tensor answer = t.bytes(1, "whether all tokens count");
  }
}

// A boolean mask, one byte an entry; `batch` is 1 where all sequences share it.
Tensor boolean(Tape& t, Count batch, Count length, const char* what) {
  return t.output(t.shape({batch, 1, length, length}), Dtype::kBool, what);
}

Tensor inside_window(Tape& t, Count length) {
  Tensor edge = t.bytes(Count(8) * length, "edge of the window");
  return boolean(t, 1, length, "inside the window");
}

Tensor causal(Tape& t, Count length) { return boolean(t, 1, length, "causal mask"); }

// Mask functions are and-ed one by one, beginning with all true.
template <class First, class Second>
Tensor both(Tape& t, Count batch, Count length, First first, Second second) {
  Tensor start = t.bytes(1, "all true");
  Tensor term = first();
  Tensor so_far = t.output(term.shape(), Dtype::kBool, "mask so far");
  term.reset();
  start.reset();
  term = second();
  return boolean(t, batch, length, "causal mask, combined");
}

// Whether two tokens lie in the same chunk, counted from the sequence's first token.
Tensor inside_chunk(Tape& t, Count batch, Count length) {
  auto chunks = [&](const char* what) {
    Tensor padding = t.bytes(Count(8) * batch, "padding of the sequence");
    Tensor positions = t.bytes(Count(8) * batch * length, "positions without padding");
    padding.reset();
    return t.bytes(Count(8) * batch * length, what);
  };
  Tensor of_keys = chunks("chunks of the keys");
  Tensor of_queries = chunks("chunks of the queries");
  return boolean(t, batch, length, "inside the chunk");
}

Tensor chunk_and_causal(Tape& t, Count batch, Count length) {
  return both(
      t, batch, length, [&] { return inside_chunk(t, batch, length); },
      [&] { return causal(t, length); });
}

// How many tokens of padding each sequence begins with.
Tensor left_padding(Tape& t, Count batch, Count length, const Tensor& counts) {
  if (!counts) return t.bytes(Count(8) * batch, "padding before each sequence");
  Tensor sums = t.bytes(Count(8) * batch * length, "tokens counted so far");
  {
    Tensor numbers = t.bytes(Count(8) * batch * length, "attention mask as numbers");
    if (batch.value() == 1) Tensor scan = t.bytes(scan_space(length), "working space of a scan");
  }
  Tensor zeros = t.bytes(batch * length, "zeros");
  Tensor none = t.bytes(batch * length, "whether no token counted so far");
  sums.reset();
  zeros.reset();
  Tensor padding = t.bytes(Count(8) * batch, "padding before each sequence");
  Tensor numbers = t.bytes(Count(8) * batch * length, "truth values as numbers");
  allocate_working_space(t, {length, batch, true, Dtype::kInt64});
  return padding;
}

Tensor window_and_causal(Tape& t, Count length) {
  return both(
      t, 1, length, [&] { return inside_window(t, length); }, [&] { return causal(t, length); });
}

// The padding of each sequence, picked out by index: [B,1,1,T].
Tensor padding_of_keys(Tape& t, Count batch, Count length) {
  Tensor sequences, positions;
  if (length.value() > 1) sequences = t.bytes(Count(8) * batch * length, "index of the sequence");
  if (batch.value() > 1) positions = t.bytes(Count(8) * batch * length, "index of the position");
  return t.output(t.shape({batch, 1, 1, length}), Dtype::kBool, "padding of the keys");
}

// Whether two tokens are of the same sequence, picked out by index.
Tensor inside_sequence(Tape& t, Count batch, Count length) {
  auto picked = [&] {
    Tensor index = t.bytes(Count(8) * length, "index of the position");
    return t.bytes(Count(8) * batch * length, "which sequence each token is of");
  };
  Tensor of_queries = picked();
  Tensor of_keys = picked();
  return boolean(t, batch, length, "inside the sequence");
}

}  // namespace

Tensor causal_mask(Tape& t, const Tensor& embedded, const Inputs& in, const MaskRequest& request) {
  const Within here(t, t.place("causal_mask"), -1);
  const NoGrad no_grad(t);
  const Count batch = embedded.dim(0), length = embedded.dim(1);
  const bool windowed = request.windowed, eager = request.eager;
  const bool window_in_force = windowed && length.value() >= request.window.value();
  const bool may_be_left_out = !eager && !window_in_force && !request.always;
  const Tensor& padding = in.attention_mask;
  Tensor counts, sequences;
  if (padding) {
    counts = t.output(padding.shape(), Dtype::kBool, "attention mask as truth values");
  } else if (request.tests_packing) {
    sequences = test_for_packing(t, batch, length, in.packed);
  }
  Tensor before;
  if (request.chunked) before = left_padding(t, batch, length, counts);
  if (may_be_left_out && !padding && !sequences) return Tensor();
  if (may_be_left_out && padding) {
    test_for_full_mask(t, batch * length, !in.padded);
    if (!in.padded) return Tensor();
  }

  Tensor batch_range = t.bytes(Count(8) * batch, "positions of the batch");
  Tensor head_range = t.bytes(8, "positions of the heads");
  Tensor queries = t.bytes(Count(8) * length, "positions of the queries");
  queries = t.bytes(Count(8) * length, "positions of the queries");
  Tensor keys = t.bytes(Count(8) * length, "positions of the keys");
  keys = t.bytes(Count(8) * length, "positions of the keys");
  auto base = [&] {
    if (request.chunked) return chunk_and_causal(t, batch, length);
    return windowed ? window_and_causal(t, length) : causal(t, length);
  };
  Tensor mask;
  if (padding) {
    mask = both(t, batch, length, base, [&] { return padding_of_keys(t, batch, length); });
  } else if (sequences) {
    mask = both(t, batch, length, base, [&] { return inside_sequence(t, batch, length); });
  } else {
    mask = base();
  }
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
