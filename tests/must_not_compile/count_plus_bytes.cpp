// A number of elements and a number of bytes do not add up.
#include "core/quantity.hpp"

ledger::Bytes sum(ledger::Count elements, ledger::Bytes bytes) {
#ifdef FORBIDDEN
  return elements + bytes;
#else
  return elements * bytes + bytes;
#endif
}
