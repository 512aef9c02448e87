// The one legend of letters: formulas, page, messages and documentation all take them from here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ledger {

// In the order of kLetters.
enum class Letter : std::uint8_t {
  B,
  T,
  d,
  L,
  H,
  H_kv,
  d_h,
  f,
  V,
  P,
  P_t,
  P_q,
  r,
  E,
  k,
  A,
  W,
  e,
  w,
  f_e,
  r_q,
  r_kv,
  S
};

struct LetterRow {
  Letter letter;
  std::string_view symbol;  // as plain text, e.g. "H_kv"
  std::string_view mathml;  // as presentation MathML, without a <math> around it
  std::string_view latex;
  std::string_view meaning;
};

inline constexpr std::array kLetters = {
    LetterRow{Letter::B, "B", "<mi>B</mi>", "B", "micro-batch: sequences in one forward pass"},
    LetterRow{Letter::T, "T", "<mi>T</mi>", "T", "sequence length in tokens"},
    LetterRow{Letter::d, "d", "<mi>d</mi>", "d", "hidden width"},
    LetterRow{Letter::L, "L", "<mi>L</mi>", "L", "layers"},
    LetterRow{Letter::H, "H", "<mi>H</mi>", "H", "attention heads"},
    LetterRow{Letter::H_kv, "H_kv", "<msub><mi>H</mi><mi>kv</mi></msub>", "H_{kv}",
              "key/value heads"},
    LetterRow{Letter::d_h, "d_h", "<msub><mi>d</mi><mi>h</mi></msub>", "d_h", "head width"},
    LetterRow{Letter::f, "f", "<mi>f</mi>", "f", "feed-forward width"},
    LetterRow{Letter::V, "V", "<mi>V</mi>", "V", "vocabulary"},
    LetterRow{Letter::P, "P", "<mi>P</mi>", "P", "parameters"},
    LetterRow{Letter::P_t, "P_t", "<msub><mi>P</mi><mi>t</mi></msub>", "P_t",
              "trainable parameters"},
    LetterRow{Letter::P_q, "P_q", "<msub><mi>P</mi><mi>q</mi></msub>", "P_q",
              "parameters stored in four bits"},
    LetterRow{Letter::r, "r", "<mi>r</mi>", "r", "adapter rank"},
    LetterRow{Letter::E, "E", "<mi>E</mi>", "E", "experts"},
    LetterRow{Letter::k, "k", "<mi>k</mi>", "k", "experts per token"},
    LetterRow{Letter::A, "A", "<mi>A</mi>", "A", "accumulated micro-batches"},
    LetterRow{Letter::W, "W", "<mi>W</mi>", "W", "ranks"},
    LetterRow{Letter::e, "e", "<mi>e</mi>", "e", "bytes per element"},
    LetterRow{Letter::w, "w", "<mi>w</mi>", "w", "attention window in tokens"},
    LetterRow{Letter::f_e, "f_e", "<msub><mi>f</mi><mi>e</mi></msub>", "f_e",
              "feed-forward width of one expert"},
    LetterRow{Letter::r_q, "r_q", "<msub><mi>r</mi><mi>q</mi></msub>", "r_q",
              "latent rank of the queries (MLA)"},
    LetterRow{Letter::r_kv, "r_kv", "<msub><mi>r</mi><mi>kv</mi></msub>", "r_{kv}",
              "latent rank of keys and values (MLA)"},
    LetterRow{Letter::S, "S", "<mi>S</mi>", "S", "multiprocessors of the device"},
};

constexpr const LetterRow& legend(Letter letter) {
  return kLetters[static_cast<std::size_t>(letter)];
}

}  // namespace ledger
