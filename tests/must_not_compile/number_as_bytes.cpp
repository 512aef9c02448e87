// A bare number does not become bytes by itself: somebody must say that it is bytes.
#include "core/quantity.hpp"

ledger::Bytes workspace() {
#ifdef FORBIDDEN
  return 4096.0;
#else
  return ledger::Bytes(4096.0);
#endif
}
