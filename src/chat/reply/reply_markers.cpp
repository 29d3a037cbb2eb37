#include "chat/reply/reply_markers.h"

#include <algorithm>

#include "chat/reply/reply.h"
#include "text/utf8.h"

namespace mynah {
namespace {

void append_tokens(std::string& out, std::string_view stream, bool spelled) {
  while (!stream.empty()) {
    const size_t begin = std::min(stream.find(kControlBegin), stream.size());
    out += stream.substr(0, begin);
    stream.remove_prefix(begin);
    if (stream.empty()) {
      return;
    }
    const size_t end = std::min(stream.find(kControlEnd), stream.size());
    if (spelled) {
      out += stream.substr(1, end - 1);
    }
    stream.remove_prefix(std::min(end + 1, stream.size()));
  }
}

}  // namespace

std::string control_token(std::string_view spelling) {
  std::string stream(1, kControlBegin);
  stream += spelling;
  stream += kControlEnd;
  return stream;
}

std::string mark_controls(std::string_view text, const Spellings& controls) {
  std::string stream;
  while (!text.empty()) {
    std::string_view longest;
    for (const std::string& spelling : controls) {
      if (spelling.size() > longest.size() && text.starts_with(spelling)) {
        longest = spelling;
      }
    }
    if (longest.empty()) {
      stream += text.front();
      text.remove_prefix(1);
    } else {
      stream += control_token(longest);
      text.remove_prefix(longest.size());
    }
  }
  return stream;
}

void append_spelled(std::string& out, std::string_view stream) {
  append_tokens(out, stream, true);
}

void append_text(std::string& out, std::string_view stream) {
  append_tokens(out, stream, false);
}

MarkerHit match_marker(std::string_view stream, const std::vector<std::string>& markers,
                       bool last) {
  MarkerHit hit;
  for (size_t i = 0; i < markers.size(); ++i) {
    const std::string_view marker = markers[i];
    if (marker.size() > stream.size()) {
      if (!last && !stream.empty() && marker.starts_with(stream)) {
        return {.match = MarkerMatch::Maybe};
      }
    } else if (marker.size() > hit.length && stream.starts_with(marker)) {
      hit = {.match = MarkerMatch::Found, .which = i, .length = marker.size()};
    }
  }
  return hit;
}

MarkerHit find_marker(std::string_view stream, const std::vector<std::string>& markers, bool last) {
  std::string first_bytes(1, kControlBegin);
  for (const std::string& marker : markers) {
    first_bytes += marker.substr(0, 1);
  }
  size_t at = stream.find_first_of(first_bytes);
  while (at < stream.size()) {
    MarkerHit hit = match_marker(stream.substr(at), markers, last);
    if (hit.match != MarkerMatch::None) {
      hit.at = at;
      return hit;
    }
    // No marker of text begins inside of a control token.
    const size_t end = stream[at] == kControlBegin ? stream.find(kControlEnd, at) : at;
    at = stream.find_first_of(first_bytes, std::min(end, stream.size()) + 1);
  }
  return {.at = stream.size()};
}

std::string_view without_leading_space(std::string_view stream) {
  return stream.substr(std::min(stream.find_first_not_of(" \t\r\n"), stream.size()));
}

std::string stripped_word(std::string_view stream) {
  std::string text;
  append_spelled(text, without_leading_space(stream));
  text.resize(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

size_t end_of_word(std::string_view stream) {
  const size_t end = std::min(stream.find(kControlBegin), stream.size());
  if (end <= kMostNameBytes) {
    return end;
  }
  const std::string_view most = stream.substr(0, kMostNameBytes);
  return most.size() - incomplete_utf8_tail(most);
}

}  // namespace mynah
