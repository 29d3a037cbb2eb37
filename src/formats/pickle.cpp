#include "formats/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah {
namespace {

// Lib/pickletools.py.
enum class Opcode : uint8_t {
  Mark = '(',
  Stop = '.',
  Pop = '0',
  PopMark = '1',
  Dup = '2',
  BinInt = 'J',
  BinInt1 = 'K',
  BinInt2 = 'M',
  None = 'N',
  BinPersistent = 'Q',
  Reduce = 'R',
  BinFloat = 'G',
  BinUnicode = 'X',
  Append = 'a',
  Build = 'b',
  Global = 'c',
  Dict = 'd',
  EmptyDict = '}',
  Appends = 'e',
  BinGet = 'h',
  LongBinGet = 'j',
  List = 'l',
  EmptyList = ']',
  BinPut = 'q',
  LongBinPut = 'r',
  SetItem = 's',
  Tuple = 't',
  EmptyTuple = ')',
  SetItems = 'u',
  Protocol = 0x80,
  NewObject = 0x81,
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  NewTrue = 0x88,
  NewFalse = 0x89,
  Long1 = 0x8a,
  BinBytes = 'B',
  ShortBinBytes = 'C',
  BinString = 'T',
  ShortBinString = 'U',
  ShortBinUnicode = 0x8c,
  BinUnicode8 = 0x8d,
  BinBytes8 = 0x8e,
  EmptySet = 0x8f,
  AddItems = 0x90,
  StackGlobal = 0x93,
  Memoize = 0x94,
  Frame = 0x95
};

constexpr std::string_view kOrderedDict = "collections OrderedDict";

// Python writes this one float big-endian.
double big_endian_double(std::span<const std::byte> bytes) {
  uint64_t bits = 0;
  for (const std::byte byte : bytes) {
    bits = bits << 8U | static_cast<uint64_t>(byte);
  }
  return std::bit_cast<double>(bits);
}

// The stack machine that a pickle is a program for.
class Unpickler {
 public:
  Unpickler(std::span<const std::byte> bytes, const std::string& file,
            std::span<const std::string_view> known_globals)
      : reader_(bytes, file), known_globals_(known_globals) {
    pickle_.values = {{.kind = PickleKind::None},
                      {.kind = PickleKind::Bool, .integer = 0},
                      {.kind = PickleKind::Bool, .integer = 1}};
  }

  Result<Pickle> run() {
    while (!stopped_) {
      MYNAH_TRY(const auto opcode, reader_.read<uint8_t>("a pickle's opcode"));
      MYNAH_TRY_STATUS(execute(static_cast<Opcode>(opcode)));
    }
    MYNAH_TRY(pickle_.root, pop());
    return std::move(pickle_);
  }

 private:
  static constexpr PickleIndex kNone = 0;
  static constexpr PickleIndex kFalse = 1;
  static constexpr PickleIndex kTrue = 2;

  // Three groups, so that no function holds the whole table.
  Status execute(Opcode opcode) {
    switch (opcode) {
      case Opcode::Protocol:
        return to_status(reader_.read<uint8_t>("the protocol"));
      case Opcode::Frame:
        return to_status(reader_.read<uint64_t>("a frame's length"));
      case Opcode::Stop:
        stopped_ = true;
        return {};
      case Opcode::Mark:
        marks_.push_back(stack_.size());
        return {};
      case Opcode::Pop:
        return to_status(pop());
      case Opcode::PopMark:
        return to_status(pop_to_mark());
      case Opcode::Dup: {
        MYNAH_TRY(const PickleIndex top, peek());
        stack_.push_back(top);
        return {};
      }
      case Opcode::Global:
      case Opcode::StackGlobal:
        return push_global(opcode);
      case Opcode::Reduce:
      case Opcode::NewObject:
        return push_call();
      case Opcode::Build:
        return to_status(pop());
      case Opcode::BinPersistent: {
        MYNAH_TRY(const PickleIndex id, pop());
        return push({.kind = PickleKind::Persistent, .items = {id}});
      }
      case Opcode::BinGet:
      case Opcode::LongBinGet:
      case Opcode::BinPut:
      case Opcode::LongBinPut:
      case Opcode::Memoize:
        return use_memo(opcode);
      default:
        return execute_scalar(opcode);
    }
  }

  Status execute_scalar(Opcode opcode) {
    switch (opcode) {
      case Opcode::None:
        stack_.push_back(kNone);
        return {};
      case Opcode::NewTrue:
        stack_.push_back(kTrue);
        return {};
      case Opcode::NewFalse:
        stack_.push_back(kFalse);
        return {};
      case Opcode::BinInt:
        return push_integer(reader_.read<int32_t>("an integer"));
      case Opcode::BinInt1:
        return push_integer(reader_.read<uint8_t>("an integer"));
      case Opcode::BinInt2:
        return push_integer(reader_.read<uint16_t>("an integer"));
      case Opcode::Long1:
        return push_long();
      case Opcode::BinFloat: {
        MYNAH_TRY(const auto raw, reader_.take(sizeof(double), "a float"));
        return push({.kind = PickleKind::Float, .number = big_endian_double(raw)});
      }
      case Opcode::ShortBinUnicode:
        return push_text(PickleKind::Text, reader_.read<uint8_t>("a string's length"));
      case Opcode::BinUnicode:
        return push_text(PickleKind::Text, reader_.read<uint32_t>("a string's length"));
      case Opcode::BinUnicode8:
        return push_text(PickleKind::Text, reader_.read<uint64_t>("a string's length"));
      case Opcode::ShortBinString:
        return push_text(PickleKind::Text, reader_.read<uint8_t>("a string's length"));
      case Opcode::BinString:
        return push_text(PickleKind::Text, reader_.read<uint32_t>("a string's length"));
      case Opcode::ShortBinBytes:
        return push_text(PickleKind::Bytes, reader_.read<uint8_t>("a length"));
      case Opcode::BinBytes:
        return push_text(PickleKind::Bytes, reader_.read<uint32_t>("a length"));
      case Opcode::BinBytes8:
        return push_text(PickleKind::Bytes, reader_.read<uint64_t>("a length"));
      default:
        return execute_container(opcode);
    }
  }

  Status execute_container(Opcode opcode) {
    switch (opcode) {
      case Opcode::EmptyList:
      case Opcode::EmptySet:
        return push({.kind = PickleKind::List});
      case Opcode::EmptyDict:
        return push({.kind = PickleKind::Dict});
      case Opcode::EmptyTuple:
        return push({.kind = PickleKind::Tuple});
      case Opcode::Tuple1:
        return push_tuple(1);
      case Opcode::Tuple2:
        return push_tuple(2);
      case Opcode::Tuple3:
        return push_tuple(3);
      case Opcode::Tuple:
        return push_marked(PickleKind::Tuple);
      case Opcode::List:
        return push_marked(PickleKind::List);
      case Opcode::Dict:
        return push_marked(PickleKind::Dict);
      case Opcode::Append: {
        MYNAH_TRY(const PickleIndex item, pop());
        return extend({item}, PickleKind::List);
      }
      case Opcode::SetItem: {
        MYNAH_TRY(const PickleIndex value, pop());
        MYNAH_TRY(const PickleIndex key, pop());
        return extend({key, value}, PickleKind::Dict);
      }
      case Opcode::Appends:
      case Opcode::AddItems:
        return extend_marked(PickleKind::List);
      case Opcode::SetItems:
        return extend_marked(PickleKind::Dict);
      default:
        return reader_.fail_here(
            fmt::format("wanted an opcode that builds plain values, found {:#04x}",
                        static_cast<int>(opcode)),
            ErrorCode::Unsupported);
    }
  }

  template <class T>
  static Status to_status(Result<T> result) {
    if (!result) {
      return std::unexpected(std::move(result).error());
    }
    return {};
  }

  // The stack above the last mark belongs to what the mark began: nothing else may take from below.
  [[nodiscard]] size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  Result<PickleIndex> peek() {
    if (stack_.size() <= floor()) {
      return reader_.fail_here("a pickle's stack is empty where a value is wanted");
    }
    return stack_.back();
  }

  Result<PickleIndex> pop() {
    MYNAH_TRY(const PickleIndex top, peek());
    stack_.pop_back();
    return top;
  }

  Result<std::vector<PickleIndex>> pop_to_mark() {
    if (marks_.empty()) {
      return reader_.fail_here("a pickle takes values from a mark that was never set");
    }
    const auto first = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
    std::vector<PickleIndex> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  Status push(PickleValue value) {
    stack_.push_back(static_cast<PickleIndex>(pickle_.values.size()));
    pickle_.values.push_back(std::move(value));
    return {};
  }

  template <class T>
  Status push_integer(Result<T> value) {
    if (!value) {
      return std::unexpected(std::move(value).error());
    }
    return push({.kind = PickleKind::Integer, .integer = static_cast<int64_t>(*value)});
  }

  // Two's complement, little-endian, as many bytes as needed.
  Status push_long() {
    MYNAH_TRY(const auto length, reader_.read<uint8_t>("an integer's length"));
    MYNAH_TRY(const auto raw, reader_.take(length, "an integer"));
    if (length > sizeof(int64_t)) {
      return reader_.fail_here(fmt::format("wanted an integer of 64 bits, found {} bytes", length));
    }
    const bool negative = length > 0 && (raw.back() & std::byte{0x80}) != std::byte{0};
    int64_t value = negative ? -1 : 0;
    std::memcpy(&value, raw.data(), length);
    return push({.kind = PickleKind::Integer, .integer = value});
  }

  template <class T>
  Status push_text(PickleKind kind, Result<T> length) {
    if (!length) {
      return std::unexpected(std::move(length).error());
    }
    MYNAH_TRY(const std::string_view text, reader_.text(*length, "a string"));
    return push({.kind = kind, .text = text});
  }

  Status push_tuple(size_t count) {
    if (stack_.size() < floor() + count) {
      return reader_.fail_here("a pickle's stack is empty where a value is wanted");
    }
    const auto first = stack_.end() - static_cast<ptrdiff_t>(count);
    std::vector<PickleIndex> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    return push({.kind = PickleKind::Tuple, .items = std::move(items)});
  }

  Status push_marked(PickleKind kind) {
    MYNAH_TRY(std::vector<PickleIndex> items, pop_to_mark());
    if (kind == PickleKind::Dict && items.size() % 2 != 0) {
      return reader_.fail_here("a pickle's dictionary has a key without a value");
    }
    return push({.kind = kind, .items = std::move(items)});
  }

  Status extend(std::vector<PickleIndex> items, PickleKind kind) {
    MYNAH_TRY(const PickleIndex target, peek());
    PickleValue& value = pickle_.values[target];
    if (value.kind != kind || (kind == PickleKind::Dict && items.size() % 2 != 0)) {
      return reader_.fail_here("a pickle adds items to what cannot have them");
    }
    value.items.insert(value.items.end(), items.begin(), items.end());
    return {};
  }

  Status extend_marked(PickleKind kind) {
    MYNAH_TRY(std::vector<PickleIndex> items, pop_to_mark());
    return extend(std::move(items), kind);
  }

  Result<std::string_view> read_line() {
    ByteReader ahead = reader_;
    uint64_t length = 0;
    while (true) {
      MYNAH_TRY(const auto c, ahead.read<char>("the end of a line"));
      if (c == '\n') {
        break;
      }
      ++length;
    }
    MYNAH_TRY(const std::string_view line, reader_.text(length, "a line"));
    MYNAH_TRY_STATUS(reader_.take(1, "the end of a line"));
    return line;
  }

  Status push_global(Opcode opcode) {
    std::string_view module_name;
    std::string_view name;
    if (opcode == Opcode::Global) {
      MYNAH_TRY(module_name, read_line());
      MYNAH_TRY(name, read_line());
    } else {
      MYNAH_TRY(const PickleIndex second, pop());
      MYNAH_TRY(const PickleIndex first, pop());
      module_name = pickle_[first].text;
      name = pickle_[second].text;
    }
    const std::string full = fmt::format("{} {}", module_name, name);
    const auto known = std::ranges::find(known_globals_, std::string_view(full));
    if (known == known_globals_.end()) {
      return reader_.fail_here(
          fmt::format("the pickle names {}, which mynah does not run; save the checkpoint as a "
                      "plain state_dict or as safetensors",
                      in_quotes(full)),
          ErrorCode::Unsupported);
    }
    return push({.kind = PickleKind::Global, .text = *known});
  }

  Status push_call() {
    MYNAH_TRY(const PickleIndex arguments, pop());
    MYNAH_TRY(const PickleIndex callee, pop());
    if (pickle_[callee].kind != PickleKind::Global ||
        pickle_[arguments].kind != PickleKind::Tuple) {
      return reader_.fail_here("a pickle calls what is no global, or without a tuple");
    }
    // An ordered dictionary is filled like any other.
    if (pickle_[callee].text == kOrderedDict && pickle_[arguments].items.empty()) {
      return push({.kind = PickleKind::Dict});
    }
    return push({.kind = PickleKind::Call, .items = {callee, arguments}});
  }

  Status use_memo(Opcode opcode) {
    auto key = static_cast<uint32_t>(memo_.size());
    if (opcode == Opcode::BinGet || opcode == Opcode::BinPut) {
      MYNAH_TRY(key, reader_.read<uint8_t>("a memo's key"));
    } else if (opcode != Opcode::Memoize) {
      MYNAH_TRY(key, reader_.read<uint32_t>("a memo's key"));
    }
    if (opcode == Opcode::BinGet || opcode == Opcode::LongBinGet) {
      const auto found = memo_.find(key);
      if (found == memo_.end()) {
        return reader_.fail_here(fmt::format("a pickle gets memo {}, which was never put", key));
      }
      stack_.push_back(found->second);
      return {};
    }
    MYNAH_TRY(const PickleIndex top, peek());
    memo_.insert_or_assign(key, top);
    return {};
  }

  ByteReader reader_;
  std::span<const std::string_view> known_globals_;
  Pickle pickle_;
  std::vector<PickleIndex> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, PickleIndex> memo_;
  bool stopped_ = false;
};

}  // namespace

Result<Pickle> read_pickle(std::span<const std::byte> bytes, const std::string& file,
                           std::span<const std::string_view> known_globals) {
  return Unpickler(bytes, file, known_globals).run();
}

}  // namespace mynah
