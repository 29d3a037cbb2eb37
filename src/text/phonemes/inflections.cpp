#include "text/phonemes/inflections.h"

namespace mynah {
namespace {

// What a t between vowels follows where Americans flap it.
constexpr std::u32string_view kFlapping = U"AIOWYiuæɑəɛɪɹʊʌ";

bool is_among(char32_t c, std::u32string_view set) {
  return set.find(c) != std::u32string_view::npos;
}

std::u32string with_s(std::u32string_view stem, bool british) {
  std::u32string result(stem);
  if (is_among(stem.back(), U"ptkfθ")) {
    return result += U's';
  }
  if (is_among(stem.back(), U"szʃʒʧʤ")) {
    result += british ? U'ɪ' : U'ᵻ';
  }
  return result += U'z';
}

std::u32string with_ed(std::u32string_view stem, bool british) {
  std::u32string result(stem);
  const char32_t last = stem.back();
  if (is_among(last, U"pkfθʃsʧ")) {
    return result += U't';
  }
  if (last == U'd') {
    return result += british ? U"ɪd" : U"ᵻd";
  }
  if (last != U't') {
    return result += U'd';
  }
  if (british || stem.size() < 2) {
    return result += U"ɪd";
  }
  if (is_among(stem[stem.size() - 2], kFlapping)) {
    result.back() = U'ɾ';
  }
  return result += U"ᵻd";
}

std::optional<std::u32string> with_ing(std::u32string_view stem, bool british) {
  std::u32string result(stem);
  if (british && is_among(stem.back(), U"əː")) {
    return std::nullopt;  // an r comes back that the phonemes do not have
  }
  if (!british && stem.size() > 1 && stem.back() == U't' &&
      is_among(stem[stem.size() - 2], kFlapping)) {
    result.back() = U'ɾ';
  }
  return result += U"ɪŋ";
}

std::u32string without(std::u32string_view word, size_t characters, std::u32string_view instead) {
  return std::u32string(word.substr(0, word.size() - characters)) += instead;
}

// Ends with a doubled consonant and -ing, or with -cking.
bool doubles_before_ing(std::u32string_view word) {
  const char32_t last = word[word.size() - 4];
  const char32_t before = word[word.size() - 5];
  return (last == before && is_among(last, U"bcdgklmnprstvxz")) || (before == U'c' && last == U'k');
}

}  // namespace

std::optional<std::u32string> inflected(std::u32string_view phonemes, Inflection inflection,
                                        bool british) {
  if (phonemes.empty()) {
    return std::nullopt;
  }
  switch (inflection) {
    case Inflection::S:
      return with_s(phonemes, british);
    case Inflection::Ed:
      return with_ed(phonemes, british);
    case Inflection::Ing:
      return with_ing(phonemes, british);
  }
  return std::nullopt;
}

std::array<std::u32string, 3> stems(std::u32string_view word, Inflection inflection) {
  std::array<std::u32string, 3> found;
  const size_t size = word.size();
  if (inflection == Inflection::S && size > 2 && word.ends_with(U's')) {
    if (!word.ends_with(U"ss")) {
      found[0] = without(word, 1, U"");
    }
    if (word.ends_with(U"'s") || (size > 4 && word.ends_with(U"es") && !word.ends_with(U"ies"))) {
      found[1] = without(word, 2, U"");
    }
    if (size > 4 && word.ends_with(U"ies")) {
      found[2] = without(word, 3, U"y");
    }
  } else if (inflection == Inflection::Ed && size > 3 && word.ends_with(U'd')) {
    if (!word.ends_with(U"dd")) {
      found[0] = without(word, 1, U"");
    }
    if (size > 4 && word.ends_with(U"ed") && !word.ends_with(U"eed")) {
      found[1] = without(word, 2, U"");
    }
  } else if (inflection == Inflection::Ing && size > 4 && word.ends_with(U"ing")) {
    if (size > 5) {
      found[0] = without(word, 3, U"");
    }
    found[1] = without(word, 3, U"e");
    if (size > 5 && doubles_before_ing(word)) {
      found[2] = without(word, 4, U"");
    }
  }
  return found;
}

}  // namespace mynah
