// A restricted unpickler: it builds plain values, and runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

// Where a value lies in Pickle::values. Values refer to each other by index, so that sharing and
// even cycles cost nothing and nesting of any depth is freed without recursion.
using PickleIndex = uint32_t;

enum class PickleKind : uint8_t {
  None,
  Bool,
  Integer,
  Float,
  Text,        // str
  Bytes,       // bytes
  List,        // list, set: items
  Tuple,       // items
  Dict,        // items: key, value, key, value
  Global,      // text: "module name" of a class or function that the reader knows
  Persistent,  // items: the one identifier that the pickle refers to
  Call         // items: a Global and the Tuple of its arguments; nothing was called
};

struct PickleValue {
  PickleKind kind = PickleKind::None;
  int64_t integer = 0;
  double number = 0.0;
  std::string_view text{};  // of the pickle's bytes
  std::vector<PickleIndex> items{};
};

struct Pickle {
  std::vector<PickleValue> values;
  PickleIndex root = 0;

  [[nodiscard]] const PickleValue& operator[](PickleIndex i) const { return values[i]; }
};

// Reads a pickle of protocols 2 to 5 (CPython Lib/pickletools.py lists the opcodes) as far as
// PyTorch's checkpoints use them. `known_globals` are the "module name" pairs that may be named;
// any other is an error that names it. A call of a known global becomes a Call (of
// collections.OrderedDict a Dict); state set on anything (BUILD) is dropped. `file` names the bytes
// in errors. Views stay valid as long as the bytes do.
[[nodiscard]] Result<Pickle> read_pickle(std::span<const std::byte> bytes, const std::string& file,
                                         std::span<const std::string_view> known_globals);

}  // namespace mynah
