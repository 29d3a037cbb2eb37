// OggPages: whether the pages of an Ogg stream are all there, and whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace mynah::media {

// Follows the bytes of an Ogg file in order, as FFmpeg passes over a gap without a word. Bytes
// before the first page and after the last one (tags) are no damage.
//
// Layout: RFC 3533, section 6.
class OggPages {
 public:
  // Takes the bytes that come next.
  void push(std::span<const uint8_t> bytes);

  // Whether the last page so far does not end its logical stream, or is there in part.
  [[nodiscard]] bool is_cut_off() const;

  // Whether pages are missing or broken before the last whole one.
  [[nodiscard]] bool is_damaged() const { return damaged_; }

  // The granule position (in the clock of the codec) that was reached before the first damage.
  [[nodiscard]] int64_t granule_at_damage() const { return granule_at_damage_; }

 private:
  struct Page;

  void take(const Page& page);

  std::vector<uint8_t> held_;          // the beginning of a page
  std::map<uint32_t, uint32_t> next_;  // number of the page that comes next, by logical stream
  bool any_pages_ = false;
  bool skipped_ = false;  // bytes that are no page, since the last one
  bool ended_ = false;
  bool damaged_ = false;
  int64_t granule_ = 0;  // of the last page that completes a packet
  int64_t granule_at_damage_ = 0;
};

}  // namespace mynah::media
