#include "text/phonemes/tagger.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "text/phonemes/json_cursor.h"
#include "text/phonemes/letters.h"
#include "text/phonemes/string_index.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Words that stand before the first and after the last; the same names are their tags.
constexpr std::string_view kStart2 = "-START2-";
constexpr std::string_view kStart = "-START-";
constexpr std::string_view kEnd = "-END-";
constexpr std::string_view kEnd2 = "-END2-";
constexpr std::string_view kTagOfUnknown = "NN";
constexpr size_t kMostTags = 255;

// The table's names begin with what they are of.
constexpr char kTags = 't';        // its only name; the tags, a kEndOfTag behind each
constexpr char kUsual = 'u';       // a word that has one tag nearly always: its number
constexpr char kVocabulary = 'v';  // a word that is not rare; without a word: there is a vocabulary
constexpr char kFeature = 'f';     // for each weight the tag's number, and its eight bytes
constexpr char kEndOfTag = '\0';
constexpr size_t kWeightBytes = 1 + sizeof(double);

// What a word looks like: "Xx" for Word, "dd.d" for 12.5.
std::string shape(std::u32string_view word) {
  if (is_alphabetic(word)) {
    if (is_lower(word)) {
      return "x";
    }
    if (is_upper(word)) {
      return word.size() > 1 ? "XX" : "X1";
    }
    return is_upper(word.substr(0, 1)) && is_lower(word.substr(1)) ? "Xx" : "xX";
  }
  if (std::ranges::all_of(word, has_digit_value)) {
    return "d";
  }
  std::string result;
  for (const char32_t c : word.substr(0, 4)) {
    if (has_digit_value(c)) {
      result += 'd';
    } else if (is_alphabetic(c)) {
      result += 'x';
    } else {
      append_utf8(result, c);
    }
  }
  return result;
}

// The last three characters.
std::string_view ending(std::string_view word) {
  size_t begin = word.size();
  for (int characters = 0; characters < 3 && begin > 0; ++characters) {
    do {
      --begin;
    } while (begin > 0 && (static_cast<unsigned char>(word[begin]) & 0xC0U) == 0x80U);
  }
  return word.substr(begin);
}

// Packs a tagger's file. Tags may come after what names them, so words and features keep numbers
// of names, and "tags" is held to them at the end.
class TaggerReader {
 public:
  TaggerReader(std::string_view json, std::string_view name) : cursor_(json, name) {}

  Result<std::string> read() {
    MYNAH_TRY_STATUS(cursor_.object([this](std::string_view key) { return read_part(key); }));
    MYNAH_TRY_STATUS(cursor_.end());
    if (listed_ == 0 || listed_ != names_.size()) {
      return cursor_.fail_here(
          fmt::format("wanted \"tags\", a list of every tag that is used: {} of {} are in it",
                      listed_, names_.size()));
    }
    std::string tags;
    for (uint32_t i = 0; i < names_.size(); ++i) {
      tags += names_.at(i);
      tags += kEndOfTag;
    }
    MYNAH_TRY_STATUS(add(kTags, "", tags));
    return table_.finish();
  }

 private:
  Status add(char sort, std::string_view name, std::string_view value) {
    key_.assign(1, sort).append(name);
    if (!table_.add(key_, value)) {
      return cursor_.fail_here(fmt::format("wanted names and what belongs to them in {} bytes",
                                           StringTableBuilder::kMostBytes));
    }
    return {};
  }

  Status read_part(std::string_view key) {
    if (key == "tags") {
      return read_tags();
    }
    if (key == "tagdict") {
      return cursor_.object([this](std::string_view word) { return read_usual(word); });
    }
    if (key == "vocab") {
      MYNAH_TRY_STATUS(add(kVocabulary, "", ""));
      return cursor_.array([this]() -> Status {
        MYNAH_TRY(const std::string_view word, cursor_.string());
        return add(kVocabulary, word, "");
      });
    }
    if (key == "weights") {
      return cursor_.object([this](std::string_view feature) { return read_feature(feature); });
    }
    return cursor_.skip();
  }

  Status read_tags() {
    return cursor_.array([this]() -> Status {
      MYNAH_TRY(const std::string_view tag, cursor_.string());
      MYNAH_TRY(const uint8_t number, number_of(tag));
      if (listed_names_.add(names_.at(number)) != listed_) {
        return cursor_.fail_here("wanted each tag once");
      }
      ++listed_;
      return {};
    });
  }

  Result<uint8_t> number_of(std::string_view tag) {
    if (tag.contains(kEndOfTag)) {
      return cursor_.fail_here("wanted the name of a tag");
    }
    const uint32_t number = names_.add(tag);
    if (number >= kMostTags) {
      return cursor_.fail_here(fmt::format("wanted at most {} tags", kMostTags));
    }
    return static_cast<uint8_t>(number);
  }

  Status read_usual(std::string_view word) {
    const std::string name(word);  // which is gone once its value is read
    MYNAH_TRY(const std::string_view tag, cursor_.string());
    MYNAH_TRY(const uint8_t number, number_of(tag));
    return add(kUsual, name, std::string(1, static_cast<char>(number)));
  }

  Status read_feature(std::string_view feature) {
    const size_t known = features_.size();
    const uint32_t number = features_.add(feature);
    if (number != known) {
      return cursor_.fail_here("wanted each feature once");
    }
    weights_.clear();
    MYNAH_TRY_STATUS(cursor_.object([this](std::string_view tag) -> Status {
      MYNAH_TRY(const uint8_t tag_number, number_of(tag));
      MYNAH_TRY(const double weight, cursor_.number());
      weights_ += static_cast<char>(tag_number);
      weights_.append(reinterpret_cast<const char*>(&weight), sizeof(weight));
      return {};
    }));
    return add(kFeature, features_.at(number), weights_);
  }

  JsonCursor cursor_;
  StringTableBuilder table_;
  std::string key_;
  std::string weights_;  // of the feature
  StringIndex names_;
  StringIndex listed_names_;
  StringIndex features_;
  size_t listed_ = 0;
};

}  // namespace

Result<std::string> Tagger::pack(std::string_view json, std::string_view name) {
  return TaggerReader(json, name).read();
}

std::optional<Tagger> Tagger::open(StringTable table) {
  Tagger tagger;
  tagger.table_ = std::move(table);
  tagger.has_vocabulary_ = tagger.find(kVocabulary, "").has_value();
  std::string_view tags = tagger.find(kTags, "").value_or("");
  while (!tags.empty() && tagger.tags_.size() < kMostTags) {
    const size_t end = std::min(tags.find(kEndOfTag), tags.size() - 1);
    tagger.tags_.push_back(tags.substr(0, end));
    tags.remove_prefix(end + 1);
  }
  return tagger.tags_.empty() ? std::nullopt : std::optional(std::move(tagger));
}

std::optional<std::string_view> Tagger::find(char sort, std::string_view name) const {
  std::string key(1, sort);
  key += name;
  return table_.find(key);
}

std::string Tagger::normal_form(std::u32string_view word) const {
  std::string normal;
  if (word[0] != U'-' && word.contains(U'-')) {
    normal = "!HYPHEN";
  } else if (word.size() == 4 && std::ranges::all_of(word, has_digit_value)) {
    normal = "!YEAR";
  } else if (has_digit_value(word[0])) {
    normal = "!DIGITS";
  } else {
    normal = to_utf8(lower(word));
  }
  return has_vocabulary_ && !find(kVocabulary, normal) ? "<" + shape(word) + ">" : normal;
}

void Tagger::score(std::string_view feature, std::span<double> scores, bool& any) const {
  std::string_view weights = table_.find(feature).value_or("");
  for (; weights.size() >= kWeightBytes; weights.remove_prefix(kWeightBytes)) {
    const auto tag = static_cast<uint8_t>(weights[0]);
    double weight = 0;
    std::memcpy(&weight, weights.data() + 1, sizeof(weight));
    if (tag < scores.size()) {
      scores[tag] += weight;
      any = true;
    }
  }
}

// Of equal scores the tag whose name comes last holds.
uint8_t Tagger::best(std::span<const double> scores) const {
  size_t best = 0;
  for (size_t tag = 1; tag < scores.size(); ++tag) {
    if (scores[tag] > scores[best] || (scores[tag] == scores[best] && tags_[tag] > tags_[best])) {
      best = tag;
    }
  }
  return static_cast<uint8_t>(best);
}

std::vector<std::string_view> Tagger::operator()(std::span<const std::u32string_view> words) const {
  std::vector<std::string> around = {std::string(kStart2), std::string(kStart)};
  around.reserve(words.size() + 4);
  for (const std::u32string_view word : words) {
    around.push_back(normal_form(word));
  }
  around.emplace_back(kEnd);
  around.emplace_back(kEnd2);

  std::vector<std::string_view> tags;
  tags.reserve(words.size());
  std::string_view before = kStart;
  std::string_view before2 = kStart2;
  std::vector<double> scores(tags_.size());
  std::string feature;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = to_utf8(words[i]);
    std::string_view tag = kTagOfUnknown;
    const auto usual = find(kUsual, word);
    if (usual && usual->size() == 1 && static_cast<uint8_t>((*usual)[0]) < tags_.size()) {
      tag = tags_[static_cast<uint8_t>((*usual)[0])];
    } else {
      std::ranges::fill(scores, 0.0);
      bool any = false;
      const auto add = [&](std::string_view name, std::string_view value,
                           std::string_view second = {}) {
        feature.assign(1, kFeature).append(name).append(value).append(second);
        score(feature, scores, any);
      };
      // The order decides how the sums are rounded.
      const std::string* here = &around[i + 2];
      const std::string first = to_utf8(words[i].substr(0, 1));
      add("b", "");
      add("s3=", ending(word));
      add("p1=", first);
      add("w=", *here);
      add("sh=", shape(words[i]));
      add(i == 0 ? "i0" : "i+", "");
      add("t-1=", before);
      add("t-2=", before2);
      add("t-12=", std::string(before) + ",", before2);
      add("w-1=", here[-1]);
      add("s3-1=", ending(here[-1]));
      add("w-2=", here[-2]);
      add("w+1=", here[1]);
      add("s3+1=", ending(here[1]));
      add("w+2=", here[2]);
      if (any) {
        tag = tags_[best(scores)];
      }
    }
    tags.push_back(tag);
    before2 = before;
    before = tag;
  }
  return tags;
}

}  // namespace mynah
