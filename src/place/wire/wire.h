// How values pass between mynah and its workers: bytes in host order, of one program on one
// machine. What is read is checked: a worker that went wrong may have written anything.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace mynah::place {

template <class T>
concept WireNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// How many values an enum has that passes, from 0 on without gaps: another number is no value of
// it, and whoever looked it up in a table would read beside that.
template <class Enum>
inline constexpr size_t kWireValues = 0;

// Writes and reads the same list of fields: `wire(archive, value)` of a struct calls
// archive(value.a, value.b, ...). Runs of numbers begin at multiples of kWireAlignment, so that
// they can be read where they lie.
inline constexpr size_t kWireAlignment = 8;

template <class Sink>
class WireEncoder {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }

 protected:
  explicit WireEncoder(Sink sink) : sink_(std::move(sink)) {}

  [[nodiscard]] const Sink& sink() const { return sink_; }

 private:
  template <WireNumber T>
  void put(const T& value) {
    sink_.append(&value, sizeof value);
  }

  void put(const std::string& text) {
    put(static_cast<uint64_t>(text.size()));
    sink_.append(text.data(), text.size());
  }

  template <WireNumber T>
  void put(const std::span<const T>& values) {
    constexpr std::array<char, kWireAlignment> kZeros{};
    put(static_cast<uint64_t>(values.size()));
    sink_.append(kZeros.data(), (kWireAlignment - sink_.size() % kWireAlignment) % kWireAlignment);
    sink_.append(values.data(), values.size_bytes());
  }

  template <class T>
  void put(const std::vector<T>& values) {
    if constexpr (WireNumber<T> && !std::is_same_v<T, bool>) {
      put(std::span<const T>(values));
    } else {
      put(static_cast<uint64_t>(values.size()));
      for (const T& value : values) {
        put(value);
      }
    }
  }

  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) {
      put(*value);
    }
  }

  template <class T>
    requires std::is_class_v<T>
  void put(const T& value) {
    wire(*this, const_cast<T&>(value));  // the one list of fields is for reading too
  }

  Sink sink_;
};

// Where an encoder's bytes go: a string of its own,
struct GrowingBytes {
  void append(const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }

  [[nodiscard]] size_t size() const { return bytes.size(); }

  std::string bytes;
};

// nowhere, only that they are counted,
struct CountedBytes {
  void append(const void* /*data*/, size_t size) { count += size; }

  [[nodiscard]] size_t size() const { return count; }

  size_t count = 0;
};

// or memory that has room for as many as were counted.
struct PlacedBytes {
  void append(const void* data, size_t size) {
    MYNAH_CHECK(size <= room.size() - used, "values grew while they were written");
    if (size > 0) {
      std::memcpy(room.data() + used, data, size);
    }
    used += size;
  }

  [[nodiscard]] size_t size() const { return used; }

  std::span<std::byte> room;
  size_t used = 0;
};

class WireWriter : public WireEncoder<GrowingBytes> {
 public:
  WireWriter() : WireEncoder({}) {}

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(sink().bytes));
  }
};

class WireCounter : public WireEncoder<CountedBytes> {
 public:
  WireCounter() : WireEncoder({}) {}

  [[nodiscard]] size_t count() const { return sink().count; }
};

// Into memory that begins at a multiple of kWireAlignment.
class WirePlacer : public WireEncoder<PlacedBytes> {
 public:
  explicit WirePlacer(std::span<std::byte> room) : WireEncoder({.room = room}) {}
};

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // What is not there, or cannot be, is left as it was, and ok() is false from then on.
  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }

  [[nodiscard]] bool ok() const { return ok_; }

  // What was read last cannot be: from now on ok() is false.
  void refuse() { ok_ = false; }

  // Everything was there and nothing is left over.
  [[nodiscard]] bool done() const { return ok_ && next_ == bytes_.size(); }

 private:
  const std::byte* take(size_t size) {
    if (!ok_ || size > bytes_.size() - next_) {
      ok_ = false;
      return nullptr;
    }
    const std::byte* const here = bytes_.data() + next_;
    next_ += size;
    return here;
  }

  template <WireNumber T>
  void get(T& value) {
    if (const std::byte* const here = take(sizeof value)) {
      if constexpr (std::is_same_v<T, bool>) {
        value = *here != std::byte{0};
      } else if constexpr (std::is_enum_v<T>) {
        static_assert(kWireValues<T> > 0, "say how many values it has");
        std::underlying_type_t<T> number{};
        std::memcpy(&number, here, sizeof number);
        if (!std::in_range<size_t>(number) || static_cast<size_t>(number) >= kWireValues<T>) {
          ok_ = false;
        } else {
          value = static_cast<T>(number);
        }
      } else {
        std::memcpy(&value, here, sizeof value);
      }
    }
  }

  // Of values of at least `least` bytes each.
  size_t get_count(size_t least) {
    uint64_t count = 0;
    get(count);
    if (!ok_ || count > (bytes_.size() - next_) / least) {
      ok_ = false;
      return 0;
    }
    return static_cast<size_t>(count);
  }

  void get(std::string& text) {
    const size_t size = get_count(1);
    if (const std::byte* const here = take(size)) {
      text.assign(reinterpret_cast<const char*>(here), size);
    }
  }

  // A view of the bytes that are read.
  template <WireNumber T>
  void get(std::span<const T>& values) {
    uint64_t count = 0;
    get(count);
    take((kWireAlignment - next_ % kWireAlignment) % kWireAlignment);
    if (!ok_ || count > (bytes_.size() - next_) / sizeof(T)) {
      ok_ = false;
      return;
    }
    const std::byte* const here = take(static_cast<size_t>(count) * sizeof(T));
    values = {reinterpret_cast<const T*>(here), static_cast<size_t>(count)};
  }

  template <class T>
  void get(std::vector<T>& values) {
    values.clear();
    if constexpr (WireNumber<T> && !std::is_same_v<T, bool>) {
      std::span<const T> view;
      get(view);
      values.assign(view.begin(), view.end());
    } else {
      const size_t count = get_count(1);
      for (size_t i = 0; i < count && ok_; ++i) {
        T value{};
        get(value);
        values.push_back(std::move(value));
      }
    }
  }

  template <class T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    value.reset();
    if (there && ok_) {
      get(value.emplace());
    }
  }

  template <class T>
    requires std::is_class_v<T>
  void get(T& value) {
    wire(*this, value);
  }

  std::span<const std::byte> bytes_;
  size_t next_ = 0;
  bool ok_ = true;
};

// Reads a whole message of `values`; false where it is not one.
template <class... T>
[[nodiscard]] bool read_wire(std::span<const std::byte> bytes, T&... values) {
  WireReader reader(bytes);
  reader(values...);
  return reader.done();
}

}  // namespace mynah::place
