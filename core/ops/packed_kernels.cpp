// The choice depends on how many blocks of 64 outputs there are for each multiprocessor ("waves"),
// on the shape of the weight and on the number of rows.
#include "core/ops/packed_kernels.hpp"

#include <cmath>

namespace ledger::ops {
namespace {

constexpr double kSmallWeight = 4.0 * 1024 * 1024;  // elements

struct Product {
  double rows, out, in;
  double blocks, sms;  // of 64 outputs; multiprocessors
  int cc;              // compute capability times ten

  bool waves(double count) const { return blocks >= sms * count; }
  bool half_wave() const { return blocks >= std::floor(sms / 2); }
  bool wide_memory() const { return cc == 80 || cc / 10 == 9; }  // HBM
  bool tall(double times = 1) const { return in >= out * times; }
};

// Below 4 Mi weights dequantising costs more than it saves.
double most_rows_of_short(const Product& p) {
  const bool third = p.blocks * 3 < p.sms;
  if (p.cc == 80) return third ? 1536 : 512;
  if (p.wide_memory()) return third ? 512 : 320;
  if (p.cc == 75) {
    if (p.waves(3)) return 320;
    return p.in >= 1024 ? 64 : p.in >= 704 ? 96 : 320;
  }
  return !p.waves(1) && p.blocks * p.in > p.sms * 320 ? 192 : 320;
}

double most_rows_of_small(const Product& p) {
  if (p.in * 2 < p.out) return most_rows_of_short(p);
  const bool quarter = p.blocks * 4 <= p.sms;
  if (p.cc == 80 && quarter) return p.tall() ? (p.blocks * 8 <= p.sms ? 32 : 128) : 384;
  if (p.cc == 75 && p.blocks < p.sms && p.rows > 8) return 64;
  if (quarter) return !p.tall() || p.wide_memory() ? 32 : 23;
  return p.blocks * 2 <= p.sms ? 16 : 0;
}

// Five to seven rows of a large weight, but for shapes that the plain product suits better.
bool few_rows(const Product& p) {
  const bool sm90 = p.cc / 10 == 9;
  if (!p.wide_memory() || p.rows < 6 || p.blocks < (sm90 ? 36 : 48)) return true;
  const bool below_three_quarters = p.blocks * 4 < p.sms * 3;
  const bool below_three_fifths = p.blocks * 5 < p.sms * 3;
  if (p.in > p.out && below_three_quarters) return false;
  if (p.in != p.out) return true;
  if (p.cc == 80 && below_three_fifths) return false;
  return !(sm90 && below_three_quarters && !below_three_fifths);
}

double most_rows_sm80(const Product& p) {
  if (p.waves(3)) return 128;
  if (p.waves(1)) return p.tall() ? 32 : 64;
  if (p.tall(3) && p.blocks * 4 > p.sms) return 0;
  if (p.in == p.out && p.blocks >= 48 && p.blocks * 5 < p.sms * 3) return 0;
  if (p.blocks * 2 < p.sms) {
    if (p.in <= p.out) return 128;
    if (p.blocks * 3 >= p.sms) return 0;
  }
  return p.half_wave() && p.in < p.out ? 128 : 16;
}

double most_rows_sm90(const Product& p) {
  if (p.waves(3)) return 64;
  if (p.waves(2)) return 48;
  if (p.waves(1)) return 32;
  if (!p.half_wave() || (p.tall() && p.blocks * 4 < p.sms * 3)) return 0;
  return 16;
}

double most_rows_sm120(const Product& p) {
  if (p.waves(3)) return 256;
  if (p.waves(2)) return 128;
  if (p.blocks * 5 >= p.sms * 4) return p.tall() ? 96 : 64;
  if (p.half_wave()) return p.in * 2 >= p.out && p.blocks >= 128 ? 64 : 8;
  return p.in > p.out * 2 && p.blocks > 64 ? 16 : 8;
}

double most_rows_elsewhere(const Product& p) {  // 8.9, and what has no tiers of its own
  const bool very_tall = p.in > p.out * 2;
  if (p.waves(3)) return 256;
  if (p.waves(2)) return 128;
  if (p.blocks * 5 >= p.sms * 4) {
    if (very_tall || p.blocks >= 200) return 128;
    return p.tall() ? (p.sms >= 60 ? 128 : 32) : 64;
  }
  if (p.half_wave()) return very_tall ? 64 : p.blocks >= 64 ? 8 : 32;
  if (p.in > p.out && p.blocks <= 48) return p.tall(3) ? 12 : 10;
  return very_tall || p.blocks < 48 ? 16 : 8;
}

double most_rows_of_large(const Product& p) {
  if (p.cc == 75) return p.waves(3) ? (p.in < p.out ? 128 : 64) : p.half_wave() ? 64 : 32;
  if (p.cc == 80) return most_rows_sm80(p);
  if (p.cc == 86) return p.waves(1) ? 128 : p.half_wave() ? 64 : 16;
  if (p.cc / 10 == 9) return most_rows_sm90(p);
  if (p.cc == 121 && p.waves(1)) return 256;
  if (p.cc == 120) return most_rows_sm120(p);
  return most_rows_elsewhere(p);
}

}  // namespace

bool multiplies_packed(const Device& device, Dtype dtype, double rows, double out, double in,
                       double block) {
  constexpr double kMostRows = 1536, kAlways = 4;
  if (rows > kMostRows || std::fmod(in, block) != 0) return false;
  if (rows <= kAlways) return true;
  const int cc = device.compute_major * 10 + device.compute_minor;
  const Product p{rows, out, in, std::ceil(out / 64), device.multiprocessors, cc};
  // Without matrix instructions for the type only its plain kernel is worth it.
  if (dtype == Dtype::kFloat32 || cc < 75 || (cc == 75 && dtype != Dtype::kFloat16))
    return rows < 8;
  if (cc == 87 || cc / 10 == 11) return false;
  if (cc / 10 == 10) {
    if (p.waves(3)) return rows <= 32;
    return p.waves(1) && !p.tall() && rows <= 8;
  }
  if (out * in < kSmallWeight) return rows <= most_rows_of_small(p);
  if (rows > 512) return false;
  return rows < 8 ? few_rows(p) : rows <= most_rows_of_large(p);
}

}  // namespace ledger::ops
