#include "store/event_stream.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace mynah {

Status EventStream::push(std::string_view bytes, const Take& take) {
  for (const char byte : bytes) {
    const bool of_return = byte == '\n' && after_return_;
    after_return_ = byte == '\r';
    if (of_return) {
      continue;
    }
    if (byte == '\r' || byte == '\n') {
      MYNAH_TRY_STATUS(end_line(take));
      continue;
    }
    if (line_.size() == most_bytes_) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("a line of the answer is longer than {} bytes", most_bytes_));
    }
    line_ += byte;
  }
  return {};
}

Status EventStream::end_line(const Take& take) {
  std::string_view line = line_;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (!begun_ && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  begun_ = true;
  Status taken;
  if (line.empty()) {
    if (has_data_) {
      event_.data.pop_back();  // the end of its last line
      taken = take(event_);
    }
    event_ = {};
    has_data_ = false;
  }
  const size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) {
    value.remove_prefix(1);
  }
  if (field == "data") {
    if (event_.data.size() + value.size() >= most_bytes_) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("an event of the answer is longer than {} bytes", most_bytes_));
    }
    event_.data.append(value) += '\n';
    has_data_ = true;
  } else if (field == "event") {
    event_.name = value;
  } else if (field == "id" && value.find('\0') == std::string_view::npos) {
    last_id_ = value;
  } else if (field == "retry") {
    uint32_t wait_ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), wait_ms);
    if (error == std::errc() && end == value.data() + value.size()) {
      retry_ = std::chrono::milliseconds(wait_ms);
    }
  }
  line_.clear();
  return taken;
}

}  // namespace mynah
