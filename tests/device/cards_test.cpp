// Cards: found by what people call them, with a usable size that is measured or says how it was
// derived.
#include "core/device/cards.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

using namespace ledger::device;

namespace {
constexpr double kMiB = 1048576, kGiB = 1073741824;

std::string id_of(const char* text) {
  const CardSearch search = find_card(text);
  return search.card ? search.card->id : "";
}

Card card(const char* text) {
  const CardSearch search = find_card(text);
  REQUIRE(search.card.has_value());
  return *search.card;
}
}  // namespace

TEST_CASE("a card is found by id, name and alias, whatever the case, spaces and punctuation") {
  for (const char* text : {"rtx-4090", "RTX 4090", "rtx4090", "4090", "GeForce RTX 4090",
                           "NVIDIA GeForce RTX 4090", "nvidia rtx_4090"}) {
    CAPTURE(text);
    CHECK(id_of(text) == "rtx-4090");
  }
  CHECK(id_of("A100 80GB") == "a100-80gb");
  CHECK(id_of("NVIDIA A100-SXM4-40GB") == "a100-40gb");
  CHECK(id_of("Tesla T4") == "t4");
  CHECK(id_of("DGX Spark") == "gb10");
  CHECK(id_of("MI300X") == "mi300x");
  CHECK(id_of("RTX 4060 Ti 16GB") == "rtx-4060-ti-16gb");
}

TEST_CASE("every card is found by its own id and name") {
  std::set<std::string> ids;
  for (const Card& c : all_cards()) {
    CAPTURE(c.id);
    CHECK(ids.insert(c.id).second);
    CHECK(id_of(c.id.c_str()) == c.id);
    CHECK(id_of(c.name.c_str()) == c.id);
  }
  CHECK(ids.size() == 159);
}

TEST_CASE("a name that fits several cards finds none and lists them") {
  const CardSearch a100 = find_card("A100");
  CHECK_FALSE(a100.card.has_value());
  CHECK(a100.near == std::vector<std::string>{"a100-40gb", "a100-80gb"});
  const CardSearch typo = find_card("RTX 4909");
  CHECK_FALSE(typo.card.has_value());
  REQUIRE_FALSE(typo.near.empty());
  CHECK(typo.near.front() == "rtx-4090");
  CHECK(find_card("").near.empty());
  CHECK(find_card("toaster").near.empty());
}

TEST_CASE("the usable size is what PyTorch reports, where that is known") {
  CHECK(card("rtx 4090").usable_bytes.value() == std::floor(23.51 * kGiB));
  CHECK(card("gb10").usable_bytes.value() == std::floor(121.628 * kGiB));
  CHECK(card("gb10").unified);
  CHECK(card("rtx 4090").usable_bytes_windows.value() == std::floor(23.988 * kGiB));
}

TEST_CASE("else it is derived from nvidia-smi's figure less what drivers keep, and says so") {
  const Card small = card("rtx-4060");  // 8,188 MiB
  CHECK(small.usable_bytes.value() == (8188 - 375) * kMiB);
  CHECK(small.usable_source.find("derived") == 0);
  CHECK(card("rtx-4080").usable_bytes.value() == (16376 - 465) * kMiB);
  CHECK(card("a10g").usable_bytes.value() == (23028 - 515) * kMiB);
  CHECK(card("h20").usable_bytes.value() == (97871 - 1100) * kMiB);
}

TEST_CASE("Windows shows what nvidia-smi does, or one MiB less") {
  CHECK(card("rtx 4060").usable_bytes_windows.value() == (8188 - 1) * kMiB);
  CHECK(card("rtx 4060").nvidia_smi_bytes.value() == 8188 * kMiB);
  for (const Card& c : all_cards()) {
    CAPTURE(c.id);
    if (c.usable_bytes && c.usable_bytes_windows) {
      CHECK(*c.usable_bytes_windows >= *c.usable_bytes);
    }
  }
}

TEST_CASE("a card of which no size was seen has none; the nominal size is not taken for it") {
  CHECK_FALSE(card("l40").usable_bytes.has_value());
  CHECK_FALSE(card("apple-m-series-96gb-unified").usable_bytes.has_value());
}

TEST_CASE(
    "a usable size is below the nominal one read as GiB, and above three quarters unless shared") {
  for (const Card& c : all_cards()) {
    if (!c.usable_bytes) continue;
    CAPTURE(c.id);
    CHECK(*c.usable_bytes < 1.01 * c.nominal_gb * kGiB);
    if (!c.unified) CHECK(*c.usable_bytes > 0.75 * c.nominal_gb * 1e9);
    CHECK_FALSE(c.usable_source.empty());
  }
}

TEST_CASE("kernels are known from compute capability 7.5 on, given the multiprocessors") {
  CHECK(kernels_known(card("t4")));
  CHECK(kernels_known(card("rtx 5090")));
  CHECK_FALSE(kernels_known(card("v100-32gb")));
  CHECK_FALSE(kernels_known(card("mi300x")));
}

TEST_CASE("threads per multiprocessor follow the compute capability") {
  CHECK(threads_per_multiprocessor(7, 5) == 1024);
  CHECK(threads_per_multiprocessor(8, 0) == 2048);
  CHECK(threads_per_multiprocessor(8, 6) == 1536);
  CHECK(threads_per_multiprocessor(8, 7) == 1536);
  CHECK(threads_per_multiprocessor(8, 9) == 1536);
  CHECK(threads_per_multiprocessor(9, 0) == 2048);
  CHECK(threads_per_multiprocessor(10, 0) == 2048);
  CHECK(threads_per_multiprocessor(11, 0) == 1536);
  CHECK(threads_per_multiprocessor(12, 0) == 1536);
  for (const Card& c : all_cards()) {
    CAPTURE(c.id);
    if (!kernels_known(c)) continue;
    CHECK(c.threads_per_multiprocessor.value() ==
          threads_per_multiprocessor(c.compute_major, c.compute_minor));
  }
}
