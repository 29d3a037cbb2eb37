#include "server/http/multipart.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::server {
namespace {

constexpr size_t kMostBoundary = 70;      // RFC 2046
constexpr size_t kMostHead = 16U << 10U;  // bytes before a part's own
constexpr size_t kMostParts = 1000;

// The value of `name` among the parameters behind the first ';' of a header: a token, or between
// quotes, where a backslash stands before a quote or a backslash (RFC 9110, 5.6.4) and browsers
// write %22, %0D and %0A (HTML Standard, multipart/form-data encoding algorithm). `found`: whether
// it is there.
std::string parameter(std::string_view header, std::string_view name, bool& found) {
  found = false;
  size_t at = header.find(';');
  while (at != std::string_view::npos) {
    header.remove_prefix(at + 1);
    header = trimmed(header, " \t");
    const size_t equals = header.find_first_of("=;");
    if (equals == std::string_view::npos || header[equals] == ';') {
      at = equals;
      continue;
    }
    const bool wanted = equal_but_for_case(trimmed(header.substr(0, equals), " \t"), name);
    header.remove_prefix(equals + 1);
    std::string value;
    size_t end = 0;
    if (header.starts_with('"')) {
      for (end = 1; end < header.size() && header[end] != '"'; ++end) {
        // A path of Windows, as old browsers send it, has backslashes that stand for themselves.
        const bool escapes = header[end] == '\\' && end + 1 < header.size() &&
                             (header[end + 1] == '"' || header[end + 1] == '\\');
        end += escapes ? 1 : 0;
        value += header[end];
      }
    } else {
      end = std::min(header.find_first_of("; \t"), header.size());
      value = header.substr(0, end);
    }
    if (wanted) {
      found = true;
      return value;
    }
    at = header.find(';', end);
  }
  return {};
}

}  // namespace

Result<std::string> boundary_of(std::string_view content_type) {
  constexpr std::string_view kType = "multipart/form-data";
  bool found = false;
  std::string boundary = parameter(content_type, "boundary", found);
  if (!starts_with_but_for_case(content_type, kType)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a body of type {}, found '{}'", kType, content_type));
  }
  if (boundary.empty() || boundary.size() > kMostBoundary || boundary.ends_with(' ')) {
    return fail(ErrorCode::InvalidInput,
                "wanted Content-Type: multipart/form-data; boundary=... with a boundary of 1 to 70 "
                "characters; leave the header to your HTTP library, which knows the boundary");
  }
  return boundary;
}

MultipartReader::MultipartReader(const std::string& boundary, PartObserver& observer)
    : delimiter_("\r\n--" + boundary), observer_(observer), kept_("\r\n") {}

Status MultipartReader::take(std::string_view piece) {
  if (state_ == State::Done) {
    return {};  // what stands behind the end is nothing (RFC 2046)
  }
  kept_ += piece;
  while (true) {
    MYNAH_TRY(const bool went_on, step());
    if (!went_on) {
      return {};
    }
  }
}

Result<bool> MultipartReader::step() {
  switch (state_) {
    case State::Preamble:
      return skip_preamble();
    case State::BehindBoundary:
      return end_boundary();
    case State::Head:
      return read_head();
    case State::Bytes:
      return read_bytes();
    case State::Done:
      kept_.clear();
      return false;
  }
  return false;
}

// The same, whether all of what is looked for came or not yet.
bool MultipartReader::begins_too_late(size_t found, size_t size) const {
  return found == std::string::npos ? kept_.size() > kMostHead + size : found > kMostHead;
}

Result<bool> MultipartReader::skip_preamble() {
  const size_t found = kept_.find(delimiter_);
  if (begins_too_late(found, delimiter_.size())) {
    return fail(ErrorCode::InvalidInput,
                "the body does not begin with the boundary that Content-Type names");
  }
  if (found == std::string::npos) {
    return false;
  }
  kept_.erase(0, found + delimiter_.size());
  state_ = State::BehindBoundary;
  return true;
}

Result<bool> MultipartReader::end_boundary() {
  // Spaces may stand behind a boundary.
  const size_t text = std::min(kept_.find_first_not_of(" \t"), kept_.size());
  if (text > kMostBoundary) {
    return fail(ErrorCode::InvalidInput, "wanted the end of the line behind a boundary");
  }
  if (kept_.size() < text + 2) {
    return false;
  }
  const std::string_view next = std::string_view(kept_).substr(text, 2);
  if (next != "--" && next != "\r\n") {
    return fail(ErrorCode::InvalidInput, "wanted the end of the line behind a boundary");
  }
  state_ = next == "--" ? State::Done : State::Head;
  // The line's end stays: a part without a head has the empty line behind it alone.
  kept_.erase(0, text + (state_ == State::Done ? 2 : 0));
  return true;
}

Result<bool> MultipartReader::read_head() {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t end = kept_.find(kEnd);
  if (begins_too_late(end, kEnd.size())) {
    return fail(ErrorCode::InvalidInput, "the head of a part of the form is too long");
  }
  if (end == std::string::npos) {
    return false;
  }
  PartHead head;
  bool named = false;
  std::string_view lines(kept_.data(), end);
  while (!lines.empty()) {
    lines.remove_prefix(2);
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(line.size());
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return fail(ErrorCode::InvalidInput,
                  "the head of a part of the form wants lines NAME: VALUE");
    }
    const std::string_view value = trimmed(line.substr(colon + 1), " \t");
    if (equal_but_for_case(line.substr(0, colon), "content-disposition")) {
      head.name = parameter(value, "name", named);
      head.file_name = parameter(value, "filename", head.is_file);
    } else if (equal_but_for_case(line.substr(0, colon), "content-type")) {
      head.type = value;
    }
  }
  if (!named) {
    return fail(ErrorCode::InvalidInput,
                "a part of the form has no name: wanted Content-Disposition: form-data; name=...");
  }
  if (++parts_ > kMostParts) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("the form has more than {} parts", kMostParts));
  }
  kept_.erase(0, end + kEnd.size());
  MYNAH_TRY_STATUS(observer_.on_part(head));
  state_ = State::Bytes;
  return true;
}

Result<bool> MultipartReader::read_bytes() {
  const size_t found = kept_.find(delimiter_);
  if (found != std::string::npos) {
    MYNAH_TRY_STATUS(observer_.on_bytes(std::string_view(kept_).substr(0, found)));
    kept_.erase(0, found + delimiter_.size());
    state_ = State::BehindBoundary;
    return true;
  }
  // What could be the beginning of a boundary is kept.
  const size_t most = delimiter_.size() - 1;
  if (kept_.size() > most) {
    const size_t certain = kept_.size() - most;
    MYNAH_TRY_STATUS(observer_.on_bytes(std::string_view(kept_).substr(0, certain)));
    kept_.erase(0, certain);
  }
  return false;
}

Status MultipartReader::finish() const {
  if (state_ != State::Done) {
    return fail(ErrorCode::InvalidInput,
                "the form breaks off before its last boundary: it was not sent whole");
  }
  return {};
}

}  // namespace mynah::server
