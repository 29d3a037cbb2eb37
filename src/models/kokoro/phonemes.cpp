#include "models/kokoro/phonemes.h"

#include <array>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/json.h"
#include "models/kokoro/sizes.h"
#include "text/utf8.h"

namespace mynah::kokoro {

namespace {

// Phonemes of consecutive ids.
struct Run {
  int32_t first;
  std::u32string_view phonemes;
};

// config.json of hexgrad/Kokoro-82M, "vocab".
constexpr std::array<Run, 30> kKokoro82M = {{
    {1, U";:,.!?"},    {9, U"—…\"()“” \u0303ʣʥʦʨᵝꭧAI"},
    {31, U"O"},        {33, U"Q"},
    {35, U"ST"},       {39, U"W"},
    {41, U"Yᵊabcdef"}, {50, U"hijklmnopqrstuvwxyzɑɐɒæ"},
    {75, U"βɔɕç"},     {80, U"ɖðʤə"},
    {85, U"ɚɛɜ"},      {90, U"ɟ"},
    {92, U"ɡ"},        {99, U"ɥ"},
    {101, U"ɨɪʝ"},     {110, U"ɯɰŋɳɲɴø"},
    {118, U"ɸθœ"},     {123, U"ɹ"},
    {125, U"ɾɻ"},      {128, U"ʁɽʂʃʈʧ"},
    {135, U"ʊʋ"},      {138, U"ʌɣɤ"},
    {142, U"χʎ"},      {147, U"ʒʔ"},
    {156, U"ˈˌː"},     {162, U"ʰ"},
    {164, U"ʲ"},       {169, U"↓"},
    {171, U"→↗↘"},     {177, U"ᵻ"},
}};

std::unexpected<Error> unusable_phonemes(const std::string& what, const std::string& found) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: wanted single phonemes with ids from 1 to {}, found {}", what,
                          kVocabulary - 1, found));
}

}  // namespace

Phonemes Phonemes::of_kokoro_82m() {
  Phonemes phonemes;
  for (const Run& run : kKokoro82M) {
    for (size_t i = 0; i < run.phonemes.size(); ++i) {
      phonemes.ids_.emplace(run.phonemes[i], run.first + static_cast<int32_t>(i));
    }
  }
  return phonemes;
}

Result<Phonemes> Phonemes::of_tokens(std::span<const std::string> tokens, const std::string& what) {
  Phonemes phonemes;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (!tokens[id].empty()) {
      MYNAH_TRY_STATUS(phonemes.add(tokens[id], static_cast<int64_t>(id), what));
    }
  }
  return phonemes;
}

Result<Phonemes> Phonemes::of_json(std::string_view text, const std::string& what) {
  MYNAH_TRY(const nlohmann::json json, parse_json(text, what));
  const auto vocabulary = json.is_object() ? json.find("vocab") : json.end();
  if (vocabulary == json.end() || !vocabulary->is_object()) {
    return fail(ErrorCode::InvalidInput, what + ": wanted an object \"vocab\" of phonemes");
  }
  Phonemes phonemes;
  for (const auto& [phoneme, id] : vocabulary->items()) {
    if (!id.is_number_integer()) {
      return unusable_phonemes(what, "no number for " + in_quotes(phoneme));
    }
    MYNAH_TRY_STATUS(phonemes.add(phoneme, id.get<int64_t>(), what));
  }
  return phonemes;
}

Status Phonemes::add(std::string_view phoneme, int64_t id, const std::string& what) {
  const Utf8Step step = next_code_point(phoneme);
  if (!step.valid || step.bytes != phoneme.size() || id < 1 || id >= kVocabulary ||
      !ids_.emplace(step.code_point, static_cast<int32_t>(id)).second) {
    return unusable_phonemes(what, fmt::format("{} with id {}", in_quotes(phoneme), id));
  }
  return {};
}

std::optional<int32_t> Phonemes::id(char32_t phoneme) const {
  const auto found = ids_.find(phoneme);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<int32_t> Phonemes::ids(std::string_view text) const {
  std::vector<int32_t> ids;
  for (const char32_t phoneme : to_code_points(text)) {
    if (const auto known = id(phoneme)) {
      ids.push_back(*known);
    }
  }
  return ids;
}

std::u32string Phonemes::characters() const {
  std::u32string characters;
  for (const auto& [phoneme, id] : ids_) {
    characters += phoneme;
  }
  return characters;
}

std::vector<std::string> Phonemes::tokens() const {
  std::vector<std::string> tokens(static_cast<size_t>(kVocabulary));
  for (const auto& [phoneme, id] : ids_) {
    append_utf8(tokens[static_cast<size_t>(id)], phoneme);
  }
  return tokens;
}

}  // namespace mynah::kokoro
