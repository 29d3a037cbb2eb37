#include "text/phonemes/tagger.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "text/phonemes/json_cursor.h"
#include "text/phonemes/letters.h"
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

}  // namespace

// Fills a tagger from its file. Tags may come after what names them, so words and features keep
// numbers of names, and `tags` is held to them at the end.
class TaggerReader {
 public:
  TaggerReader(std::string_view json, std::string_view name) : cursor_(json, name) {
    // A feature and its weights have 57 bytes in the real file, with the words' part of it.
    constexpr size_t kBytesPerFeature = 57;
    result_.features_.reserve(json.size() / kBytesPerFeature);
  }

  Result<Tagger> read() {
    MYNAH_TRY_STATUS(cursor_.object([this](std::string_view key) { return read_part(key); }));
    MYNAH_TRY_STATUS(cursor_.end());
    if (listed_ == 0 || listed_ != names_.size()) {
      return cursor_.fail_here(
          fmt::format("wanted \"tags\", a list of every tag that is used: {} of {} are in it",
                      listed_, names_.size()));
    }
    for (uint32_t i = 0; i < names_.size(); ++i) {
      result_.tags_.emplace_back(names_.at(i));
    }
    result_.weights_.shrink_to_fit();
    result_.weight_tags_.shrink_to_fit();
    result_.features_.shrink_to_fit();
    return std::move(result_);
  }

 private:
  Status read_part(std::string_view key) {
    if (key == "tags") {
      return read_tags();
    }
    if (key == "tagdict") {
      return cursor_.object([this](std::string_view word) { return read_usual(word); });
    }
    if (key == "vocab") {
      result_.has_vocabulary_ = true;
      return cursor_.array([this]() -> Status {
        MYNAH_TRY(const std::string_view word, cursor_.string());
        result_.vocabulary_.add(word);
        return {};
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
    const uint32_t number = names_.add(tag);
    if (number >= kMostTags) {
      return cursor_.fail_here(fmt::format("wanted at most {} tags", kMostTags));
    }
    return static_cast<uint8_t>(number);
  }

  Status read_usual(std::string_view word) {
    const uint32_t place = result_.usual_words_.add(word);
    MYNAH_TRY(const std::string_view tag, cursor_.string());
    MYNAH_TRY(const uint8_t number, number_of(tag));
    result_.usual_tags_.resize(result_.usual_words_.size());
    result_.usual_tags_[place] = number;
    return {};
  }

  Status read_feature(std::string_view feature) {
    if (result_.features_.add(feature) != result_.ends_.size()) {
      return cursor_.fail_here("wanted each feature once");
    }
    MYNAH_TRY_STATUS(cursor_.object([this](std::string_view tag) -> Status {
      MYNAH_TRY(const uint8_t number, number_of(tag));
      MYNAH_TRY(const double weight, cursor_.number());
      result_.weight_tags_.push_back(number);
      result_.weights_.push_back(weight);
      return {};
    }));
    result_.ends_.push_back(static_cast<uint32_t>(result_.weights_.size()));
    return {};
  }

  JsonCursor cursor_;
  Tagger result_;
  StringIndex names_;
  StringIndex listed_names_;
  size_t listed_ = 0;
};

Result<Tagger> Tagger::parse(std::string_view json, std::string_view name) {
  return TaggerReader(json, name).read();
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
  return has_vocabulary_ && !vocabulary_.find(normal) ? "<" + shape(word) + ">" : normal;
}

void Tagger::score(std::string_view feature, std::span<double> scores, bool& any) const {
  const auto number = features_.find(feature);
  if (!number) {
    return;
  }
  for (uint32_t i = *number == 0 ? 0 : ends_[*number - 1]; i < ends_[*number]; ++i) {
    scores[weight_tags_[i]] += weights_[i];
    any = true;
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
    if (const auto usual = usual_words_.find(word)) {
      tag = tags_[usual_tags_[*usual]];
    } else {
      std::ranges::fill(scores, 0.0);
      bool any = false;
      const auto add = [&](std::string_view name, std::string_view value,
                           std::string_view second = {}) {
        feature.assign(name).append(value).append(second);
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
