// Any bytes as messages of the Wyoming protocol: however they come in pieces, they are the same,
// and what is written again is read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "server/wyoming/message.h"

namespace {

using namespace mynah;          // NOLINT(google-build-using-namespace): a program of its own
using namespace mynah::server;  // NOLINT(google-build-using-namespace)

// The messages, and whether there was nothing else.
std::pair<std::vector<std::string>, bool> read(std::string_view bytes, size_t piece) {
  WyomingReader reader;
  std::vector<std::string> all;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const auto messages = reader.take(bytes.substr(at, piece));
    if (!messages) {
      return {all, false};
    }
    for (const WyomingMessage& message : *messages) {
      all.push_back(encode(message));
    }
  }
  return {all, true};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto [whole, good] = read(bytes, size + 1);
  const auto [pieces, good_too] = read(bytes, 3);
  MYNAH_CHECK(good == good_too, "pieces are as good as the whole");
  MYNAH_CHECK(!good || whole == pieces, "and say the same");
  for (const std::string& message : pieces) {
    const auto [again, fine] = read(message, message.size());
    MYNAH_CHECK(fine && again.size() == 1 && again.front() == message,
                "what is written is read again");
  }
  return 0;
}
