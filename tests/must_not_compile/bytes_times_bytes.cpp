// Bytes times bytes are not bytes.
#include "core/quantity.hpp"

ledger::Bytes product(ledger::Count elements, ledger::Bytes bytes) {
#ifdef FORBIDDEN
  (void)elements;
  return bytes * bytes;
#else
  return elements * bytes;
#endif
}
