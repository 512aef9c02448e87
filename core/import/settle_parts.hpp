// The parts of settling: what files say only together, and what the estimate refuses.
#pragma once

#include <string>
#include <string_view>

#include "core/import/settle.hpp"

namespace ledger::pasted {

void mark(Sheets& sheets, std::size_t key, Status status, std::string why);
// The value that wins so far; null where there is none.
const Setting* winner(const Sheets& sheets, std::string_view path);

void share_out(Sheets& sheets);            // how weights lie on several processes
void settle_precision(Sheets& sheets);     // accelerate's mixed_precision
void settle_accumulation(Sheets& sheets);  // from the sequences of one optimizer step
// Leaves out what the estimate refuses and can do without; the rest is in `problems`.
void leave_out(Sheets& sheets, Settled& out);

}  // namespace ledger::pasted
