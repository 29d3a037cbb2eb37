#include "media/ogg_cutter.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string_view>

#include "media/ogg_layout.h"

namespace mynah::media {
namespace {

bool is_page(std::span<const uint8_t> bytes) {
  return bytes.size() >= kOggCapture.size() &&
         std::equal(kOggCapture.begin(), kOggCapture.end(), bytes.begin());
}

// The page's length; none: its header is not there to its end.
std::optional<size_t> page_bytes(std::span<const uint8_t> bytes) {
  if (bytes.size() < kOggHeaderBytes || bytes.size() < kOggHeaderBytes + bytes[kOggSegmentsAt]) {
    return std::nullopt;
  }
  const auto lengths = bytes.subspan(kOggHeaderBytes, bytes[kOggSegmentsAt]);
  return std::accumulate(lengths.begin(), lengths.end(), kOggHeaderBytes + lengths.size());
}

}  // namespace

OggCutter::Step OggCutter::take(std::span<const uint8_t> bytes) {
  size_t at = 0;
  while (!lost_ && at < bytes.size()) {
    if (page_left_ > 0) {
      const size_t step = std::min(page_left_, bytes.size() - at);
      at += step;
      page_left_ -= step;
      continue;
    }
    const auto page = bytes.subspan(at);
    const size_t seen = std::min(page.size(), kOggCapture.size());
    if (!std::equal(page.begin(), page.begin() + static_cast<std::ptrdiff_t>(seen),
                    kOggCapture.begin())) {
      lost_ = true;
      break;
    }
    const auto length = page_bytes(page);
    if (!length) {
      return {.bytes = at, .needs_more = true, .ends = false};
    }
    const bool begins = (page[kOggFlagsAt] & kOggBeginsFlag) != 0;
    if (begins && any_pages_ && !last_begins_) {
      return {.bytes = at, .needs_more = false, .ends = true};
    }
    any_pages_ = true;
    last_begins_ = begins;
    page_left_ = *length;
  }
  return {.bytes = bytes.size(), .needs_more = false, .ends = false};
}

bool is_chained(const ReadAt& read_at, int64_t size_bytes) {
  constexpr size_t kMostHeaderBytes = kOggHeaderBytes + 255;
  std::array<uint8_t, kMostHeaderBytes> header{};
  bool last_begins = true;
  for (int64_t at = 0; at < size_bytes;) {
    const size_t got = read_at(at, std::as_writable_bytes(std::span(header)));
    const auto page = std::span<const uint8_t>(header).first(got);
    const auto length = is_page(page) ? page_bytes(page) : std::nullopt;
    if (!length) {
      break;
    }
    const bool begins = (page[kOggFlagsAt] & kOggBeginsFlag) != 0;
    if (begins && !last_begins) {
      return true;
    }
    last_begins = begins;
    at += static_cast<int64_t>(*length);
  }
  return false;
}

}  // namespace mynah::media
