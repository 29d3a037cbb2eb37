// Sentences without a space between them, as copied text has: "What is this.Yes it is."
#pragma once

#include <cstdint>
#include <string_view>

#include "text/spoken/speak_parts.h"

namespace mynah {

enum class ForgottenSpace : uint8_t { No, Yes, NeedsMore };

// Whether a sentence begins directly behind `stop`, a run of stops with its closing quotes: a word
// of prose or a year before it and a capitalised word behind it. "Node.js", "System.Out" and
// "example.com" are no two sentences. `begin`: where the sentence began. NeedsMore: the word goes
// on where the text ends, unless it is `final`.
[[nodiscard]] ForgottenSpace forgotten_space(std::string_view text, size_t begin, ByteRange stop,
                                             bool final);

}  // namespace mynah
