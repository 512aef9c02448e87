// The range of the request, from the segment or the digits that are printed.
#include "core/explain/request.hpp"

#include <algorithm>
#include <cmath>

#include "core/device/allocator.hpp"
#include "core/quantity.hpp"

namespace ledger::message {
namespace {

constexpr double kMiB = 1048576, kGiB = 1073741824;

double down(double bytes, double step) { return std::floor(bytes / step) * step; }
double up(double bytes, double step) { return std::ceil(bytes / step) * step; }

}  // namespace

std::string size_text(double bytes) {
  const auto two = [](double v) { return with_separators(std::floor(v * 100 + 0.5) / 100); };
  if (bytes < 0) return "-" + size_text(-bytes);
  if (bytes > 1024 * kGiB * 1024) return two(bytes / (1024 * 1024 * kGiB)) + " PiB";
  if (bytes >= kGiB) return two(bytes / kGiB) + " GiB";
  if (bytes >= kMiB) return two(bytes / kMiB) + " MiB";
  if (bytes >= 1024) return two(bytes / 1024) + " KiB";
  return with_separators(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string with_sizes(std::string_view pattern, std::initializer_list<double> sizes) {
  std::string out;
  const double* next = sizes.begin();
  for (const char c : pattern) {
    if (c == '%' && next != sizes.end()) {
      out += size_text(*next++);
    } else {
      out += c;
    }
  }
  return out;
}

Request request_of(const Message& m) {
  Request out;
  const Reading* tried = m.find(Label::kTried);
  if (!tried) tried = m.find(Label::kCacheNeeded);
  if (m.shape && !m.shape->sizes.empty()) {
    double bytes = m.shape->width;
    for (const double size : m.shape->sizes) bytes *= size;
    out = {true,
           bytes,
           bytes,
           0,
           0,
           true,
           "The shape is printed: its elements times the bytes of its type."};
    return out;
  }
  if (!tried) return out;
  out.known = true;
  out.low = tried->low;
  out.high = tried->high;
  Rounding rounding = row_of(m.producer).rounding;
  if (tried->label == Label::kCacheNeeded) rounding = Rounding::kNone;
  // Of several figures of the same request the one in bytes is exact.
  for (const Reading& r : m.readings) {
    if (r.label == Label::kTried && r.exact && r.bytes > 0 &&
        std::fabs(r.bytes - tried->bytes) <= tried->bytes / 50) {
      out.low = out.high = r.bytes;
      rounding = Rounding::kExact;
    }
  }
  if (tried->bytes >= kExbibyte) {
    out.why = "No memory has such a size.";
    return out;
  }
  if (rounding != Rounding::kSegment) {
    if (rounding == Rounding::kBlock512 && out.high > 512) out.low = std::max(1.0, out.low - 511);
    out.identifies = out.high - out.low <= std::max(16 * kMiB, out.high / 50) && out.high >= 4096;
    out.why = rounding == Rounding::kBlock512
                  ? "The request goes up to 512 bytes only, before the rounding of "
                    "the digits printed."
              : out.low == out.high ? "The size is printed to the byte."
                                    : "The size is rounded to the digits printed.";
    return out;
  }
  const auto small = static_cast<double>(device::kSmall);
  const auto step = static_cast<double>(device::kRoundLarge);
  const auto first = static_cast<double>(device::kMinLarge);
  const bool in_mib = tried->figure.unit == Unit::kMega;
  if (in_mib && std::fmod(tried->bytes, step) != 0) {
    constexpr double kOldStep = 131072;  // PyTorch 1.0
    if (std::fmod(tried->bytes, kOldStep) == 0) {
      out.low = tried->bytes - kOldStep + 1;
      out.high = tried->bytes;
      out.identifies = tried->bytes >= first;
      out.why = "Not a multiple of 2 MiB: PyTorch 1.0, which rounded segments to 128 KiB.";
    } else {
      out.identifies = out.high >= 4096;
      out.why =
          "Not a multiple of 2 MiB, so no segment of the caching allocator: read as it is "
          "printed.";
    }
    return out;
  }
  if (tried->bytes == static_cast<double>(device::kSmallSegment)) {
    out.low = 1;
    out.high = small;
    out.why = "2.00 MiB is the segment for every request of up to 1 MiB: it identifies nothing.";
    return out;
  }
  if (tried->bytes == static_cast<double>(device::kLargeSegment)) {
    out.low = small + 1;
    out.high = first - 512;
    out.other_low = tried->bytes - step + 1;
    out.other_high = tried->bytes;
    out.why =
        "20.00 MiB is the segment for every request above 1 and below 10 MiB, and for those of "
        "18 to 20 MiB: it identifies nothing.";
    return out;
  }
  const double most = down(tried->high, step), least = up(tried->low, step);
  if (most < least) {
    out.identifies = true;
    out.why = "No segment prints this figure: read as it is printed.";
    return out;
  }
  out.low = std::max(1.0, least - step + 1);
  out.high = most;
  out.identifies = true;
  out.why = "What is printed is the segment, the request rounded up to a multiple of 2 MiB" +
            std::string(most > least ? ", and then to the digits shown." : ".");
  return out;
}

}  // namespace ledger::message
