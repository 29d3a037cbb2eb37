#include "text/spoken/sayable.h"

#include <array>
#include <string>

#include "base/ascii.h"
#include "text/spoken/among.h"
#include "text/spoken/tokens.h"

namespace mynah {
namespace {

// Consonants that words begin with, and the last two that they end with. Of the 8,848 words with a
// vowel of three to five letters in misaki's gold lexicon (American) all but 98 pass; those are
// short forms ("jpeg", "mcat") and such as "mho".
constexpr auto kPairsFirst = std::to_array<std::string_view>(
    {"bh", "bl", "br", "ch", "cl", "cr", "cz", "dh", "dj", "dr", "dw", "fj", "fl", "fr", "gh", "gl",
     "gn", "gr", "gw", "hr", "hw", "jh", "kh", "kl", "kn", "kr", "kv", "kw", "ll", "mn", "ph", "pl",
     "pn", "pr", "ps", "pt", "rh", "sc", "sh", "sk", "sl", "sm", "sn", "sp", "sq", "sr", "st", "sv",
     "sw", "sz", "th", "tr", "ts", "tw", "tz", "vl", "vr", "wh", "wr", "zh", "zl", "zw"});
constexpr auto kTriplesFirst =
    std::to_array<std::string_view>({"chl", "chr", "phl", "phr", "sch", "scl", "scr", "shm", "shr",
                                     "sph", "spl", "spr", "squ", "str", "tch", "thr", "thw"});

constexpr auto kPairsLast = std::to_array<std::string_view>(
    {"bb", "bs", "bt", "ch", "ck", "cs", "ct", "dd", "ds", "dt", "dz", "ff", "fs", "ft",
     "gg", "gh", "gn", "gs", "hh", "hl", "hm", "hn", "hr", "hs", "ht", "jj", "kh", "ks",
     "lb", "lc", "ld", "lf", "lk", "ll", "lm", "ln", "lp", "ls", "lt", "lx", "mb", "mm",
     "mn", "mp", "ms", "mt", "nc", "nd", "ng", "nk", "nn", "ns", "nt", "nx", "nz", "ph",
     "pp", "ps", "pt", "rb", "rc", "rd", "rf", "rg", "rk", "rl", "rm", "rn", "rp", "rr",
     "rs", "rt", "rv", "rx", "sc", "sh", "sk", "sm", "sp", "ss", "st", "th", "ts", "tt",
     "tz", "wd", "wg", "wk", "wl", "wn", "wp", "ws", "wt", "ww", "xt", "zz"});

}  // namespace

bool is_sayable(std::string_view word) {
  constexpr std::string_view kVowels = "aeiouy";
  const std::string lower = ascii_lower(word);
  const size_t first = lower.find_first_of(kVowels);
  const size_t last = lower.find_last_of(kVowels);
  // A "y" before a consonant at the begin is no vowel: "YMCA".
  if (first == std::string::npos ||
      (lower.size() > 1 && lower[0] == 'y' && kVowels.find(lower[1]) == std::string_view::npos)) {
    return false;
  }
  const std::string_view onset = std::string_view(lower).substr(0, first);
  const std::string_view coda = std::string_view(lower).substr(last + 1);
  const bool begins = onset.size() < 2 || (onset.size() == 2 && among(kPairsFirst, onset)) ||
                      (onset.size() == 3 && among(kTriplesFirst, onset)) ||
                      (onset.size() == 4 && onset.starts_with("sch"));
  return begins && (coda.size() < 2 || among(kPairsLast, coda.substr(coda.size() - 2)));
}

}  // namespace mynah
