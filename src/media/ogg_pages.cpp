#include "media/ogg_pages.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string_view>

extern "C" {
#include <libavutil/crc.h>
#include <libavutil/intreadwrite.h>
}

#include "media/ogg_layout.h"

namespace mynah::media {
namespace {

constexpr size_t kGranuleAt = 6;
constexpr size_t kSerialAt = 14;
constexpr size_t kNumberAt = 18;
constexpr size_t kChecksumAt = 22;
constexpr unsigned kEndsFlag = 4;

// The page's checksum: the polynomial 0x04c11db7 from 0, the field itself taken as 0. FFmpeg's
// table is that of the same polynomial in the same order, its result stands in memory order.
bool has_true_checksum(std::span<const uint8_t> page) {
  const AVCRC* table = av_crc_get_table(AV_CRC_32_IEEE);
  constexpr std::array<uint8_t, 4> kZero{};
  uint32_t sum = av_crc(table, 0, page.data(), kChecksumAt);
  sum = av_crc(table, sum, kZero.data(), kZero.size());
  sum = av_crc(table, sum, page.data() + kOggSegmentsAt, page.size() - kOggSegmentsAt);
  return sum == AV_RB32(page.data() + kChecksumAt);
}

}  // namespace

struct OggPages::Page {
  unsigned flags;
  int64_t granule;
  uint32_t serial;
  uint32_t number;
};

void OggPages::push(std::span<const uint8_t> bytes) {
  held_.insert(held_.end(), bytes.begin(), bytes.end());
  std::span<const uint8_t> left(held_);
  for (;;) {
    const auto* found =
        std::search(left.data(), left.data() + left.size(), kOggCapture.begin(), kOggCapture.end());
    const auto before = static_cast<size_t>(found - left.data());
    if (before == left.size()) {
      const size_t keep = std::min(left.size(), kOggCapture.size() - 1);  // may be a part of it
      skipped_ = skipped_ || left.size() > keep;
      left = left.last(keep);
      break;
    }
    skipped_ = skipped_ || before > 0;
    left = left.subspan(before);
    if (left.size() < kOggHeaderBytes || left.size() < kOggHeaderBytes + left[kOggSegmentsAt]) {
      break;
    }
    const auto lengths = left.subspan(kOggHeaderBytes, left[kOggSegmentsAt]);
    const size_t page_bytes =
        std::accumulate(lengths.begin(), lengths.end(), kOggHeaderBytes + lengths.size());
    if (left.size() < page_bytes) {
      break;
    }
    if (!has_true_checksum(left.first(page_bytes))) {
      skipped_ = true;
      left = left.subspan(1);
      continue;
    }
    take({.flags = left[kOggFlagsAt],
          .granule = static_cast<int64_t>(AV_RL64(left.data() + kGranuleAt)),
          .serial = AV_RL32(left.data() + kSerialAt),
          .number = AV_RL32(left.data() + kNumberAt)});
    left = left.subspan(page_bytes);
  }
  held_.erase(held_.begin(), held_.end() - static_cast<std::ptrdiff_t>(left.size()));
}

// What is still held is the beginning of a page, or too little to tell.
bool OggPages::is_cut_off() const {
  return !ended_ || held_.size() >= kOggCapture.size();
}

void OggPages::take(const Page& page) {
  const auto next = next_.find(page.serial);
  const bool begins = (page.flags & kOggBeginsFlag) != 0;
  const bool follows = begins || (next != next_.end() && next->second == page.number);
  if (!damaged_ && ((skipped_ && any_pages_) || !follows)) {
    damaged_ = true;
    granule_at_damage_ = granule_;
  }
  next_[page.serial] = page.number + 1;
  any_pages_ = true;
  skipped_ = false;
  ended_ = (page.flags & kEndsFlag) != 0;
  if (page.granule >= 0) {  // -1: no packet ends on this page
    granule_ = page.granule;
  }
}

}  // namespace mynah::media
