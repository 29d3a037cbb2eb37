// What tells the parts of a reply apart: by markers, or by channels.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah {

class ReplyReader {
 public:
  ReplyReader() = default;
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;
  virtual ~ReplyReader() = default;

  // Reads on and writes what it knows. `stream` (reply_markers.h) begins where the last one was
  // taken to; with `last` nothing follows it. The bytes that were taken: all but what more of the
  // stream may make a marker or a name of.
  [[nodiscard]] virtual size_t take(std::string_view stream, bool last) = 0;

  // What was taken so far was the prompt; the reply begins.
  virtual void prompt_ends() = 0;
};

}  // namespace mynah
