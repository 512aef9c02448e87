// The cause that the figures of a message of PyTorch's allocators show.
#pragma once

#include "core/explain/diagnosis.hpp"

namespace ledger::message {

// The bytes under a label, 0 where there is none.
double value(const Message& message, Label label);
// `diagnosis` with the cause, its arithmetic and its notes; the cause stays unknown where no figure
// tells.
Diagnosis diagnose_torch(const Message& message, Diagnosis diagnosis);

}  // namespace ledger::message
