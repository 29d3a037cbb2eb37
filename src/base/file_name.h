// Names of files as long as a file system takes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah {

// Bytes that a name in the folder may have: 255 on most file systems (limits.h, NAME_MAX), fewer on
// some. "" is the present folder; of one that is not there, what its parents take.
[[nodiscard]] size_t longest_name(const std::string& folder);

// At most that many bytes of UTF-8, cut between two letters.
[[nodiscard]] std::string_view cut_between_letters(std::string_view text, size_t most);

// STEM and ENDING as one name of at most `most` bytes. A stem that is too long is cut between two
// letters, and "~" and eight digits of its hash stand for the rest: names that differ stay
// different, and the same one is always cut alike.
[[nodiscard]] std::string fitting_name(std::string_view stem, std::string_view ending, size_t most);

// A path with something behind its name: "out/talk.srt" and ".partial" are "out/talk.srt.partial".
// A name that would be too long is cut (fitting_name).
[[nodiscard]] std::string with_ending(const std::string& path, std::string_view ending);

}  // namespace mynah
