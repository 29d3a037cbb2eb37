// The languages that Whisper knows.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace mynah {

struct Language {
  std::string_view code;  // mostly ISO 639-1, as Whisper writes it
  std::string_view name;  // in English, lower case
};

inline constexpr size_t kLanguageCount = 100;

// In the order of their tokens (openai/whisper tokenizer.py, LANGUAGES). Models before large-v3
// have the first 99: Cantonese is last.
[[nodiscard]] const std::array<Language, kLanguageCount>& languages();

// The index of a language by code, English name or alias ("castilian"), in any case.
[[nodiscard]] std::optional<size_t> find_language(std::string_view code_or_name);

}  // namespace mynah
