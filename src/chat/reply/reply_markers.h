// Markers in a stream of text and control tokens. Inside this folder a stream is a string in which
// a control token's spelling stands between two bytes that no UTF-8 text has, so that text spelled
// like a control token differs from it and one search finds markers of both kinds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "chat/reply/reply.h"

namespace mynah {

inline constexpr char kControlBegin = '\xFF';
inline constexpr char kControlEnd = '\xFE';

// `text` as a stream in which each spelling of `controls` (the longest at each place) is a control
// token: a marker as it is looked for, or a prompt.
[[nodiscard]] std::string mark_controls(std::string_view text, const Spellings& controls);

// One control token as a stream.
[[nodiscard]] std::string control_token(std::string_view spelling);

// Appends a stream's text. Control tokens are spelled out, or left out.
void append_spelled(std::string& out, std::string_view stream);
void append_text(std::string& out, std::string_view stream);

enum class MarkerMatch { None, Maybe, Found };

struct MarkerHit {
  MarkerMatch match = MarkerMatch::None;
  size_t at = 0;     // where the marker begins, or may begin; the stream's size where there is none
  size_t which = 0;  // the marker's index
  size_t length = 0;  // of the marker
};

// The marker at the stream's very beginning, the longest where several fit. Maybe: more of the
// stream would tell; never with `last`, which says that nothing follows. Empty markers match
// nothing.
[[nodiscard]] MarkerHit match_marker(std::string_view stream,
                                     const std::vector<std::string>& markers, bool last);

// The first marker of the stream, or the first place where one may begin.
[[nodiscard]] MarkerHit find_marker(std::string_view stream,
                                    const std::vector<std::string>& markers, bool last);

// The stream without the white space (blank, tab, line feed, carriage return) at its beginning.
[[nodiscard]] std::string_view without_leading_space(std::string_view stream);

// The text of a name or an id without the white space around it.
[[nodiscard]] std::string stripped_word(std::string_view stream);

// How much of a stream can be a name or an id: up to a control token, at most kMostNameBytes. A
// stream that is longer is none.
[[nodiscard]] size_t end_of_word(std::string_view stream);

}  // namespace mynah
