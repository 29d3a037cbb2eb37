#include "talk/memory/recall.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "talk/memory/item_rows.h"
#include "talk/memory/word_query.h"
#include "text/utf8.h"

namespace mynah::talk {
namespace {

// How deep each list is read, and the constant of reciprocal rank fusion. The paper has 60, for
// lists of which none is better than the others; here the first few of each count (docs/memory.md).
constexpr size_t kDepth = 100;
constexpr double kRankOffset = 10;

// Items whose vectors are made between two looks at the store.
constexpr size_t kVectorsTogether = 32;

// More bytes than a model of sentences reads of a text (MiniLM: 256 tokens).
constexpr size_t kMostMeant = 4096;

// Of the turn before, by which one says what "she" and "there" are, so many bytes of its end.
constexpr size_t kMostBefore = 200;

std::string beginning_of(std::string_view text) {
  std::string_view beginning = text.substr(0, kMostMeant);
  beginning.remove_suffix(incomplete_utf8_tail(beginning));
  return std::string(beginning);
}

std::string end_of(std::string_view text) {
  std::string_view end = text.substr(text.size() - std::min(text.size(), kMostBefore));
  while (!end.empty() && !next_code_point(end).valid) {
    end.remove_prefix(1);
  }
  return std::string(end);
}

std::string with_speaker(const MemoryTurn& turn) {
  return turn.who.empty() ? turn.text : fmt::format("{}: {}", turn.who, turn.text);
}

// What an item's vector is made of.
Result<std::string> meant_text(MemoryStore& store, const MemoryItem& item) {
  std::string own = with_speaker(item.turn);
  if (item.kind == MemoryKind::Turn) {
    MYNAH_TRY(const auto before, store.turn_before(item));
    if (before) {
      own = fmt::format("{} {}", end_of(with_speaker(before->turn)), own);
    }
  }
  return beginning_of(own);
}

bool is_direction(const std::vector<float>& vector) {
  return std::ranges::all_of(vector, [](float value) { return std::isfinite(value); });
}

void add_ranks(const std::vector<FoundItem>& found, std::map<int64_t, double>& scores) {
  double rank = 1;
  for (const FoundItem& item : found) {
    scores[item.id] += 1.0 / (kRankOffset + rank);
    ++rank;
  }
}

}  // namespace

std::vector<FoundItem> fused(const std::vector<FoundItem>& by_words,
                             const std::vector<FoundItem>& by_meaning) {
  std::map<int64_t, double> scores;
  add_ranks(by_words, scores);
  add_ranks(by_meaning, scores);
  std::vector<FoundItem> all;
  all.reserve(scores.size());
  for (const auto& [id, score] : scores) {
    all.push_back({.id = id, .score = score});
  }
  // Of equal ones the newer: what is known better now was said later.
  std::ranges::sort(all, [](const FoundItem& a, const FoundItem& b) {
    return a.score != b.score ? a.score > b.score : a.id > b.id;
  });
  return all;
}

bool is_like(const Recalled& found, std::string_view text) {
  if (found.cosine.value_or(0) >= kLeastCosine) {
    return true;
  }
  const std::vector<std::string> words = query_words(text);
  return found.by_words && std::ranges::all_of(words, [&](const std::string& word) {
           // A query's word stands in quotation marks.
           return WordsWithin(std::string_view(word).substr(1, word.size() - 2)).in(found.item);
         });
}

Result<std::vector<float>> vector_of(const MeaningModel& model, std::string_view text,
                                     const std::stop_token& stop) {
  const std::vector<std::string> texts = {beginning_of(text)};
  MYNAH_TRY(auto made, model.embedder->embed(texts, {}, stop));
  if (!is_direction(made.front().vector)) {
    return fail(ErrorCode::Device, "the model's vector of a text is no number");
  }
  return std::move(made.front().vector);
}

Result<std::vector<Recalled>> recall(MemoryStore& store, const MeaningModel& model,
                                     std::string_view text, const MemoryFilter& filter, size_t most,
                                     const std::stop_token& stop) {
  MYNAH_TRY(const auto by_words, store.search_words(text, filter, kDepth));
  std::vector<FoundItem> by_meaning;
  if (model.embedder != nullptr) {
    MYNAH_TRY(const auto vector, vector_of(model, text, stop));
    MYNAH_TRY(by_meaning, store.search_meaning(model.name, vector, filter, kDepth));
  }
  std::vector<Recalled> recalled;
  std::set<int64_t> turns;  // that are among them, themselves or by a fact
  for (const FoundItem& one : fused(by_words, by_meaning)) {
    if (recalled.size() == most) {
      break;
    }
    const std::vector<int64_t> id = {one.id};
    MYNAH_TRY(auto items, store.find(id));
    if (items.empty()) {
      continue;  // forgotten meanwhile
    }
    const int64_t turn = items.front().kind == MemoryKind::Fact ? items.front().source : one.id;
    if (!turns.insert(turn).second) {
      continue;
    }
    Recalled found{.item = std::move(items.front()), .score = one.score};
    const auto near = std::ranges::find(by_meaning, one.id, &FoundItem::id);
    if (near != by_meaning.end()) {
      found.cosine = near->score;
    }
    found.by_words = std::ranges::find(by_words, one.id, &FoundItem::id) != by_words.end();
    recalled.push_back(std::move(found));
  }
  return recalled;
}

Status make_vectors(MemoryStore& store, const MeaningModel& model, const std::stop_token& stop,
                    size_t most) {
  size_t count = 0;
  while (model.embedder != nullptr && count < most && !stop.stop_requested()) {
    MYNAH_TRY(const auto items, store.without_vector(model.name, kVectorsTogether));
    if (items.empty()) {
      break;
    }
    std::vector<std::string> texts;
    for (const MemoryItem& item : items) {
      MYNAH_TRY(texts.emplace_back(), meant_text(store, item));
    }
    const auto made = model.embedder->embed(texts, {}, stop);
    if (!made) {
      return stop.stop_requested() ? Status() : std::unexpected(made.error());
    }
    std::vector<MemoryVector> vectors;
    for (size_t i = 0; i < items.size(); ++i) {
      // A vector that is none is kept as one that is near to nothing, or it would be made forever.
      std::vector<float> vector = (*made)[i].vector;
      if (!is_direction(vector)) {
        std::ranges::fill(vector, 0.0F);
      }
      vectors.push_back({.id = items[i].id, .vector = std::move(vector)});
    }
    MYNAH_TRY_STATUS(store.keep_vectors(model.name, vectors));
    count += vectors.size();
  }
  return {};
}

}  // namespace mynah::talk
