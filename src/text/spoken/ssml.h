// SSML 1.1 (W3C, 2010), the part of it that a voice of mynah can follow.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "text/spoken/speak_parts.h"

namespace mynah {

// Whether a text is meant as SSML: its first element is <speak>, behind white space, a byte order
// mark, an XML declaration, processing instructions, comments and a document type.
enum class SsmlSign : unsigned char {
  No,
  Yes,
  NeedsMore,  // what came so far may stand before <speak>
};

// `whole`: the text does not go on, and what does not show by then is none.
[[nodiscard]] SsmlSign look_for_ssml(std::string_view text, bool whole);

[[nodiscard]] inline bool looks_like_ssml(std::string_view text) {
  return look_for_ssml(text, true) == SsmlSign::Yes;
}

// SSML is read as a whole; whoever gathers it stops here.
inline constexpr size_t kMostSsmlBytes = size_t{16} << 20;

// Followed: speak, p, s, break (time, strength), prosody (rate, volume), say-as, phoneme (alphabet
// ipa and x-kokoro), sub, voice (name), lang, token and w; xml:lang everywhere. Words end at tags
// but for those inside of token and w. Ignored with a warning, once for
// each name: all other elements, whose text is read (but that of desc, metadata and the like), and
// pitch, contour, range, duration. An error names line and column and what to do: text that is not
// well-formed XML, a document type with declarations (its entities could grow without bound),
// elements more than 64 deep, a missing attribute that an element is nothing without, a value that
// is none.
[[nodiscard]] Result<SpeakScript> parse_ssml(std::string_view document);

}  // namespace mynah
