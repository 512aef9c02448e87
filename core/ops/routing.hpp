// Operators that choose, order and pick rows: what sends tokens to experts and brings them back.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

struct TopK {
  Tensor values, indices;  // [N,k]
};
TopK top_k(Tape& t, Tensor x, Count k);  // of each row, torch.topk(x, k, dim=-1)

// x /= divisor, in place.
Tensor divide_rows(Tape& t, Tensor x, Tensor divisor);

Tensor sum_rows(Tape& t, Tensor x);                // x.sum(-1)
Tensor max_rows(Tape& t, Tensor x);                // x.max(-1).values
Tensor mask_rows(Tape& t, Tensor x, Tensor mask);  // x.masked_fill(mask, c)
Tensor gather(Tape& t, Tensor x, Tensor indices);  // x.gather(1, indices)

struct Sorted {
  Tensor values, order;
};
Sorted sort(Tape& t, const Tensor& ids);  // torch.sort of one dimension of 64-bit integers

// x[index] along the first dimension.
Tensor gather_rows(Tape& t, Tensor x, Tensor index);

Tensor to_int32(Tape& t, const Tensor& ids);
Tensor histogram(Tape& t, const Tensor& ids, Count bins);  // torch.histc of 32-bit integers
Tensor running_sum(Tape& t, const Tensor& counts);         // torch.cumsum of 32-bit integers
Tensor inverse_permutation(Tape& t, const Tensor& order);  // inverse[order] = arange

// x [N·k,d] summed over the k rows of each token: [N,d].
Tensor sum_over_experts(Tape& t, Tensor x, Count k);

// Working space, in bytes, of cub's radix sort of that many pairs of 64-bit integers, where keys
// differ in that many bits.
Count sort_space(const Tape& t, Count items, int bits);
int significant_bits(double largest);

}  // namespace ledger::ops
