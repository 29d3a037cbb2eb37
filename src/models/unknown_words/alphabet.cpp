#include "models/unknown_words/alphabet.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/json.h"
#include "text/utf8.h"

namespace mynah::unknown_words {

namespace {

constexpr int64_t kMostSlots = 16;
constexpr int64_t kMostLetters = 1024;

std::unexpected<Error> bad(std::string_view name, std::string_view wanted) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: wanted {}: the file is damaged, or no alphabet of a network for "
                          "unknown words",
                          name, wanted));
}

// A list of single characters.
Result<std::u32string> read_characters(const nlohmann::json& root, const char* key,
                                       std::string_view name) {
  std::u32string characters;
  if (root.contains(key) && root[key].is_array()) {
    for (const nlohmann::json& entry : root[key]) {
      const std::u32string one =
          entry.is_string() ? to_code_points(entry.get_ref<const std::string&>()) : U"";
      if (one.size() != 1) {
        characters.clear();
        break;
      }
      characters += one;
    }
  }
  if (characters.empty()) {
    return bad(name, fmt::format("\"{}\", a list of single characters", key));
  }
  return characters;
}

Result<int64_t> read_size(const nlohmann::json& root, const char* key, int64_t most,
                          std::string_view name) {
  if (root.contains(key) && root[key].is_number_unsigned()) {
    const auto size = root[key].get<uint64_t>();
    if (size > 0 && size <= static_cast<uint64_t>(most)) {
      return static_cast<int64_t>(size);
    }
  }
  return bad(name, fmt::format("\"{}\", a number from 1 to {}", key, most));
}

}  // namespace

Result<Alphabet> Alphabet::parse(std::string_view json, std::string_view name) {
  MYNAH_TRY(const nlohmann::json root, parse_json(json, name));
  if (!root.is_object()) {
    return bad(name, "an object");
  }
  Alphabet alphabet;
  MYNAH_TRY(const std::u32string letters, read_characters(root, "in", name));
  for (size_t i = 0; i < letters.size(); ++i) {
    if (!alphabet.letters_.emplace(letters[i], static_cast<int32_t>(i + 1)).second) {
      return bad(name, "each letter once");
    }
  }
  MYNAH_TRY(const std::u32string phonemes, read_characters(root, "out", name));
  for (const char32_t phoneme : phonemes) {
    alphabet.phonemes_.push_back(to_utf8(std::u32string_view(&phoneme, 1)));
  }
  MYNAH_TRY(alphabet.slots_, read_size(root, "slots", kMostSlots, name));
  MYNAH_TRY(alphabet.longest_word_, read_size(root, "maxlen", kMostLetters, name));
  return alphabet;
}

std::vector<int32_t> Alphabet::ids(std::string_view word) const {
  std::vector<int32_t> ids;
  for (const char32_t letter : to_code_points(word)) {
    if (const auto found = letters_.find(letter); found != letters_.end()) {
      ids.push_back(found->second);
    }
  }
  return ids;
}

std::string Alphabet::text(std::span<const int32_t> phonemes) const {
  std::string text;
  int32_t before = 0;
  for (const int32_t phoneme : phonemes) {
    if (phoneme != before && phoneme != 0) {
      text += phonemes_[static_cast<size_t>(phoneme - 1)];
    }
    before = phoneme;
  }
  return text;
}

}  // namespace mynah::unknown_words
