// The test program's entry; the tests are the *_test.cpp files beside it, mirroring core/.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
