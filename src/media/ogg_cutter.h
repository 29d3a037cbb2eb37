// OggCutter: where one Ogg recording ends and another that was joined on begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "audio/read_at.h"

namespace mynah::media {

// Follows the bytes of an Ogg file page by page. A page that begins a logical stream, behind one
// that does not, begins another recording (RFC 3533, section 4: chaining), of whatever codec.
class OggCutter {
 public:
  struct Step {
    size_t bytes;     // that belong to this recording
    bool needs_more;  // what follows them is the beginning of a page's header: more must be seen
    bool ends;        // another recording begins behind them
  };

  // Takes the bytes that come next. Those behind `Step::bytes` must be given again. Where pages do
  // not follow each other (damage), everything belongs to this recording.
  Step take(std::span<const uint8_t> bytes);

  // Goes on to the recording that begins.
  void begin() { *this = OggCutter(); }

 private:
  size_t page_left_ = 0;  // bytes of the page that is under way
  bool any_pages_ = false;
  bool last_begins_ = true;  // the last page began a logical stream
  bool lost_ = false;
};

// Whether an Ogg file of so many bytes is of several recordings: goes from page to page by their
// lengths, up to where that leads to none.
bool is_chained(const ReadAt& read_at, int64_t size_bytes);

}  // namespace mynah::media
