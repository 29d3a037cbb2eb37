#include "doctor/errors/error_search.h"

#include <array>
#include <string>
#include <utility>

#include "base/check.h"

namespace mynah::doctor {

namespace {

// What glibc's loader says behind the name of a library, and what CTranslate2 and cuDNN 8 say
// around it.
constexpr auto kMissing = std::to_array<std::string_view>(
    {"cannot open shared object file", "Library {library} is not found or cannot be loaded",
     "Could not load library {library}"});
constexpr size_t kLongestLibrary = 100;

// The library's name in front of ": cannot open shared object file" at `at`, as a place in the
// text.
std::string_view library_before(std::string_view text, size_t at) {
  if (at < 2 || text.substr(at - 2, 2) != ": ") {
    return {};
  }
  const size_t end = at - 2;
  const size_t from = end - std::min(end, kLongestLibrary);
  const std::string_view before = text.substr(from, end - from);
  const size_t mark = before.find_last_of(" \n'\"(/:");
  return mark == std::string_view::npos ? before : before.substr(mark + 1);
}

}  // namespace

ErrorSearch::ErrorSearch(const Knowledge& knowledge) {
  for (const Library& library : knowledge.libraries) {
    sonames_.insert(library.soname);
  }
  for (size_t i = 0; i < knowledge.errors.size(); ++i) {
    for (const std::string& text : knowledge.errors[i].patterns) {
      Result<Pattern> pattern = Pattern::parse(text);
      MYNAH_CHECK(pattern, "a knowledge base that was not checked: ", text);
      add(*std::move(pattern), i);
    }
  }
  for (const std::string_view text : kMissing) {
    add(Pattern::parse(text).value(), Hit::kLibrary);
  }
}

void ErrorSearch::add(Pattern pattern, size_t error) {
  uint32_t key = 0;
  for (const char c : pattern.beginning().substr(0, kKeyBytes)) {
    key = key << 8U | static_cast<unsigned char>(c);
  }
  known_.set(slot(key));
  by_key_[key].push_back(entries_.size());
  entries_.push_back({.pattern = std::move(pattern), .error = error});
}

Hit ErrorSearch::best_at(std::string_view text, size_t at, uint32_t key) const {
  Hit best;
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    return best;
  }
  for (const size_t index : found->second) {
    const Entry& entry = entries_[index];
    if (entry.error != Hit::kLibrary && entry.pattern.weight() <= best.weight) {
      continue;
    }
    std::optional<Pattern::Match> match = entry.pattern.match(text, at);
    if (!match) {
      continue;
    }
    if (entry.error != Hit::kLibrary) {
      best = {.begin = at,
              .end = match->end,
              .error = entry.error,
              .weight = entry.pattern.weight(),
              .captures = std::move(match->captures)};
      continue;
    }
    const auto named = match->captures.find("library");
    const bool is_before = named == match->captures.end();
    const std::string library(is_before ? library_before(text, at) : named->second);
    if (best.weight == 0 && sonames_.contains(library)) {
      best = {.begin = is_before ? at - 2 - library.size() : at,
              .end = match->end,
              .error = Hit::kLibrary,
              .weight = 1,
              .captures = {{"library", library}}};
    }
  }
  return best;
}

}  // namespace mynah::doctor
