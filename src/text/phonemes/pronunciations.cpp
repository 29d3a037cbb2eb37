#include "text/phonemes/pronunciations.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/phonemes/json_cursor.h"
#include "text/phonemes/letters.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// One reading is its phonemes. Several are each a kTag, the tag, a kPhonemes and the phonemes, or a
// kNone. Phonemes are no control characters.
constexpr char kTag = '\1';
constexpr char kPhonemes = '\2';
constexpr char kNone = '\3';
constexpr std::string_view kDefault = "DEFAULT";

bool has_marks(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= 0 && c <= kNone; });
}

// Of a tag among packed readings: kPhonemes and what follows, or kNone; empty where there is none.
std::string_view after_tag(std::string_view packed, std::string_view tag) {
  while (!packed.empty()) {
    packed.remove_prefix(1);  // kTag
    const size_t next = std::min(packed.find(kTag), packed.size());
    const std::string_view entry = packed.substr(0, next);
    if (entry.starts_with(tag) && entry.size() > tag.size() &&
        (entry[tag.size()] == kPhonemes || entry[tag.size()] == kNone)) {
      return entry.substr(tag.size());
    }
    packed.remove_prefix(next);
  }
  return {};
}

}  // namespace

bool Pronunciation::depends_on_tag() const {
  return packed_.starts_with(kTag);
}

bool Pronunciation::has(std::string_view tag) const {
  return depends_on_tag() && !after_tag(packed_, tag).empty();
}

std::optional<std::string_view> Pronunciation::reading(std::string_view tag) const {
  if (!depends_on_tag()) {
    return packed_;
  }
  std::string_view found = after_tag(packed_, tag);
  if (found.empty()) {
    found = after_tag(packed_, kDefault);
  }
  if (!found.starts_with(kPhonemes)) {
    return std::nullopt;
  }
  return found.substr(1);
}

namespace {

// Packs a lexicon's file.
class PronunciationsReader {
 public:
  PronunciationsReader(std::string_view json, std::string_view name) : cursor_(json, name) {}

  Result<std::string> read() {
    MYNAH_TRY_STATUS(cursor_.object([this](std::string_view word) { return read_word(word); }));
    MYNAH_TRY_STATUS(cursor_.end());
    return table_.finish();
  }

 private:
  Status read_word(std::string_view word) {
    if (cursor_.null()) {
      return {};
    }
    const std::string key(word);  // which is gone once its value is read
    packed_.clear();
    if (cursor_.peek() == '{') {
      MYNAH_TRY_STATUS(cursor_.object([this](std::string_view tag) { return read_tag(tag); }));
      if (after_tag(packed_, kDefault).empty()) {
        return cursor_.fail_here(fmt::format("wanted a reading {}", kDefault));
      }
    } else {
      MYNAH_TRY_STATUS(read_phonemes());
    }
    if (!table_.add(key, packed_)) {
      return cursor_.fail_here(fmt::format("wanted words and readings of {} bytes at most",
                                           StringTableBuilder::kMostBytes));
    }
    return {};
  }

  Status read_tag(std::string_view tag) {
    if (tag.empty() || has_marks(tag)) {
      return cursor_.fail_here("wanted the name of a part of speech");
    }
    packed_ += kTag;
    packed_ += tag;
    if (cursor_.null()) {
      packed_ += kNone;
      return {};
    }
    packed_ += kPhonemes;
    return read_phonemes();
  }

  Status read_phonemes() {
    MYNAH_TRY(const std::string_view phonemes, cursor_.string());
    if (has_marks(phonemes)) {
      return cursor_.fail_here("wanted phonemes, found control characters");
    }
    packed_ += phonemes;
    return {};
  }

  JsonCursor cursor_;
  StringTableBuilder table_;
  std::string packed_;  // readings of the word
};

}  // namespace

Result<std::string> Pronunciations::pack(std::string_view json, std::string_view name) {
  return PronunciationsReader(json, name).read();
}

std::optional<Pronunciation> Pronunciations::exactly(std::string_view word) const {
  const auto packed = words_.find(word);
  return packed ? std::optional(Pronunciation(*packed)) : std::nullopt;
}

std::optional<Pronunciation> Pronunciations::find(std::u32string_view word) const {
  if (auto found = exactly(to_utf8(word))) {
    return found;
  }
  if (word.size() < 2) {
    return std::nullopt;
  }
  const std::u32string small = lower(word);
  const std::u32string capital = capitalized(small);
  if (word == small) {
    return capital == small ? std::nullopt : exactly(to_utf8(capital));
  }
  return word == capital ? exactly(to_utf8(small)) : std::nullopt;
}

}  // namespace mynah
