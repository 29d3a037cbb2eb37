#include "text/phonemes/phonemizer.h"

#include <filesystem>

#include "base/ascii.h"

namespace mynah {

std::string joined(std::span<const PhonemeWord> words) {
  std::string text;
  for (const PhonemeWord& word : words) {
    text += word.phonemes;
    text += word.space_after ? " " : "";
  }
  return std::string(trimmed(text, " "));
}

EnglishFiles english_files_in(const std::string& folder, bool british) {
  const auto path = [&](const std::string& name) {
    const std::filesystem::path plain = std::filesystem::path(folder) / (name + ".json");
    const std::filesystem::path packed = plain.string() + ".gz";
    return (std::filesystem::exists(packed) ? packed : plain).string();
  };
  const std::string lexicon = british ? "lexicon_gb_" : "lexicon_us_";
  return {.gold = path(lexicon + "gold"),
          .silver = path(lexicon + "silver"),
          .tagger = path("tagger"),
          .tokenizer_exceptions = path("tokenizer_exceptions")};
}

}  // namespace mynah
