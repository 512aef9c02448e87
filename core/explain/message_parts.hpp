// What stands in a message beside its numbers: the rank, a tensor's name, a shape, the line that
// raised it.
#pragma once

#include "core/explain/messages.hpp"

namespace ledger::message {

// "rank 7", "GPU 2" or nothing. `anchor`: where the message's own words begin.
std::string rank_of(const Squeezed& s, const Message& message, std::size_t anchor);
// "lm_head.weight" of a message that names a tensor.
std::string tensor_of(const Squeezed& s, const Message& message);
std::optional<PrintedShape> shape_of(const Squeezed& s, const Message& message);
// The line of the program that raised it, as far as a traceback before the message says so.
std::string frame_of(const Squeezed& s, std::size_t anchor);

}  // namespace ledger::message
