#include "text/grammar/plain_text.h"

#include <array>

#include "text/utf8.h"

namespace mynah::grammar {
namespace {

// UTF-8 as an automaton (Unicode standard, table 3-7), without what is not plain. State 0 is
// between code points, 1 to 3 want so many bytes of 80 to BF, the rest a second byte that is
// limited.
struct Utf8Edge {
  uint8_t state;
  uint8_t first;
  uint8_t last;
  uint8_t next;
};

constexpr std::array<Utf8Edge, 18> kUtf8 = {{{0, 0x20, 0x21, 0},
                                             {0, 0x23, 0x5B, 0},
                                             {0, 0x5D, 0x7E, 0},
                                             {0, 0xC2, 0xDF, 1},
                                             {0, 0xE0, 0xE0, 4},
                                             {0, 0xE1, 0xEC, 2},
                                             {0, 0xED, 0xED, 5},
                                             {0, 0xEE, 0xEF, 2},
                                             {0, 0xF0, 0xF0, 6},
                                             {0, 0xF1, 0xF3, 3},
                                             {0, 0xF4, 0xF4, 7},
                                             {1, 0x80, 0xBF, 0},
                                             {2, 0x80, 0xBF, 1},
                                             {3, 0x80, 0xBF, 2},
                                             {4, 0xA0, 0xBF, 1},
                                             {5, 0x80, 0x9F, 1},
                                             {6, 0x90, 0xBF, 2},
                                             {7, 0x80, 0x8F, 2}}};
constexpr uint64_t kUtf8States = 8;

}  // namespace

bool is_plain(std::string_view bytes) {
  if (bytes.size() > kMostPlainBytes) {
    return false;
  }
  while (!bytes.empty()) {
    const Utf8Step step = next_code_point(bytes);
    const char32_t c = step.code_point;
    if (!step.valid || c < 0x20 || c == 0x7F || c == U'"' || c == U'\\') {
      return false;
    }
    bytes.remove_prefix(step.bytes);
  }
  return true;
}

bool PlainText::is_taken(Configs& configs, const Automaton& automaton, ConfigId config,
                         uint32_t inside, size_t bytes) {
  const uint64_t key = (static_cast<uint64_t>(config) * kUtf8States) + inside;
  if (const auto known = taken_.find(key);
      bytes == 0 || (known != taken_.end() && known->second >= bytes)) {
    return true;
  }
  for (const Utf8Edge& edge : kUtf8) {
    if (edge.state != inside) {
      continue;
    }
    // Classes are in the order of their bytes.
    for (size_t one = automaton.class_of(edge.first); one <= automaton.class_of(edge.last); ++one) {
      const ConfigId next = configs.step_class(config, one);
      if (next <= Configs::kDead || !is_taken(configs, automaton, next, edge.next, bytes - 1)) {
        return false;
      }
    }
  }
  taken_[key] = bytes;
  return true;
}

size_t PlainText::bytes_kept() const {
  constexpr size_t kEntry = 40;  // of a hash map, about
  return kEntry * taken_.size();
}

}  // namespace mynah::grammar
