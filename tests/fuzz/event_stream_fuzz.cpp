// Any bytes as a stream of events: however they come in pieces, the events are the same, and
// nothing larger than the bound is kept.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "store/event_stream.h"

namespace {

constexpr size_t kMost = 64;

std::vector<std::string> read_events(std::string_view bytes, size_t piece) {
  mynah::EventStream stream(kMost);
  std::vector<std::string> events;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const mynah::Status pushed =
        stream.push(bytes.substr(at, piece), [&](const mynah::ServerEvent& event) -> mynah::Status {
          MYNAH_CHECK(event.data.size() < kMost, "events have a bound");
          events.push_back(event.name + "\n" + event.data);
          return {};
        });
    if (!pushed) {
      events.emplace_back("refused");
      break;
    }
  }
  events.push_back(stream.last_id());
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  MYNAH_CHECK(read_events(bytes, 1) == read_events(bytes, size + 1), "pieces change nothing");
  return 0;
}
