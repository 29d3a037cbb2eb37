// Bytes for a MediaStream from memory, in pieces of a given size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "audio/media_protocol.h"
#include "audio/media_stream.h"

namespace mynah::test {

class MemoryBytes final : public ByteSource {
 public:
  MemoryBytes(std::string bytes, size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}

  Result<size_t> read(std::span<std::byte> out) override {
    const size_t count = std::min({out.size(), piece_, bytes_.size() - at_});
    std::memcpy(out.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  size_t piece_;
  size_t at_ = 0;
};

}  // namespace mynah::test
