// mynah_bench_memory: how well a memory recalls what questions are about, and how fast it searches,
// for bench/memory.py.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "chat/embedder.h"
#include "talk/memory/recall.h"
#include "talk/memory/sqlite_memory.h"

namespace mynah::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;
using talk::FoundItem;

constexpr const char* kUsage =
    "usage: mynah_bench_memory recall MODEL CONVERSATIONS FOLDER\n"
    "       mynah_bench_memory search COUNT FOLDER\n"
    "recall: CONVERSATIONS has one in a line of JSON: {\"turns\": [{\"id\", \"who\", \"text\"}],\n"
    "\"questions\": [{\"text\", \"evidence\": [ids], \"category\"}]}. search: among COUNT turns "
    "of\n"
    "words and vectors by chance. FOLDER is an empty one for memories.\n";

double ms_since(Clock::time_point from) {
  return 1e3 * std::chrono::duration<double>(Clock::now() - from).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

// Shares of what should be found that is among the first 5 and 10.
struct Recall {
  double at_5 = 0;
  double at_10 = 0;
  int questions = 0;

  void add(const std::vector<FoundItem>& found, const std::vector<int64_t>& wanted) {
    const auto share = [&](size_t most) {
      const auto end = found.begin() + static_cast<ptrdiff_t>(std::min(most, found.size()));
      const auto hits = std::ranges::count_if(wanted, [&](int64_t id) {
        return std::find_if(found.begin(), end,
                            [id](const FoundItem& one) { return one.id == id; }) != end;
      });
      return static_cast<double>(hits) / static_cast<double>(wanted.size());
    };
    at_5 += share(5);
    at_10 += share(10);
    ++questions;
  }

  [[nodiscard]] Json json() const {
    return {{"recall_5", at_5 / questions}, {"recall_10", at_10 / questions}};
  }
};

using Method = std::string;  // "words", "meaning", "both"

struct Scores {
  std::map<Method, Recall> all;
  std::map<std::string, std::map<Method, Recall>> of_category;
  std::vector<double> cosines_of_wanted;  // of the best turn that should be found
  std::vector<double> ms;                 // of "both"
};

Status ask(talk::MemoryStore& store, const talk::MeaningModel& model, const Json& question,
           const std::map<std::string, int64_t>& ids, Scores& scores) {
  std::vector<int64_t> wanted;
  for (const Json& turn : question["evidence"]) {
    if (const auto id = ids.find(turn.get<std::string>()); id != ids.end()) {
      wanted.push_back(id->second);
    }
  }
  if (wanted.empty()) {
    return {};
  }
  constexpr size_t kDepth = 100;
  const std::string text = question["text"];
  std::map<Method, std::vector<FoundItem>> found;
  MYNAH_TRY(found["words"], store.search_words(text, {}, kDepth));
  MYNAH_TRY(const auto vector, talk::vector_of(model, text, {}));
  MYNAH_TRY(found["meaning"], store.search_meaning(model.name, vector, {}, kDepth));
  const auto begun = Clock::now();
  MYNAH_TRY(const auto recalled, talk::recall(store, model, text, {}, 10, {}));
  scores.ms.push_back(ms_since(begun));
  for (const talk::Recalled& one : recalled) {
    found["both"].push_back({.id = one.item.id, .score = one.score});
  }
  double best = -1;
  for (const FoundItem& one : found["meaning"]) {
    best = std::ranges::find(wanted, one.id) != wanted.end() ? std::max(best, one.score) : best;
  }
  scores.cosines_of_wanted.push_back(best);
  for (const auto& [method, list] : found) {
    scores.all[method].add(list, wanted);
    scores.of_category[question["category"].dump()][method].add(list, wanted);
  }
  return {};
}

Status measure_recall(const std::string& model_path, const std::string& file,
                      const std::string& folder) {
  ThreadPool pool(2);
  MYNAH_TRY(const auto backend, make_cpu_backend(pool));
  MYNAH_TRY(const auto opened, open_embedding_file(model_path));
  MYNAH_TRY(const auto loaded, load_embedding_model(*opened, {}, *backend));
  MYNAH_TRY(std::shared_ptr<const Embedder> embedder, Embedder::open(*opened, loaded));
  const talk::MeaningModel model{.embedder = std::move(embedder), .name = "bench"};
  Scores scores;
  std::ifstream lines(file);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json conversation = Json::parse(line);
    MYNAH_TRY(const auto store,
              talk::open_sqlite_memory({.folder = fmt::format("{}/{}", folder, number++)}));
    MYNAH_TRY(const int64_t kept_as, store->begin_conversation("bench"));
    std::map<std::string, int64_t> ids;
    for (const Json& turn : conversation["turns"]) {
      MYNAH_TRY(ids[turn["id"]],
                store->keep({.conversation = kept_as, .who = turn["who"], .text = turn["text"]}));
    }
    MYNAH_TRY_STATUS(talk::make_vectors(*store, model, {}));
    for (const Json& question : conversation["questions"]) {
      MYNAH_TRY_STATUS(ask(*store, model, question, ids, scores));
    }
  }
  Json told = {{"questions", scores.ms.size()}, {"recall_ms", median(scores.ms)}};
  for (const auto& [method, recall] : scores.all) {
    told[method] = recall.json();
  }
  for (const auto& [category, methods] : scores.of_category) {
    for (const auto& [method, recall] : methods) {
      told["category " + category][method] = recall.json();
    }
  }
  std::ranges::sort(scores.cosines_of_wanted);
  for (const double share : {0.05, 0.1, 0.25, 0.5}) {
    const auto place = static_cast<size_t>(share * static_cast<double>(scores.ms.size()));
    told["cosine_of_wanted"][fmt::format("{}", share)] = scores.cosines_of_wanted[place];
  }
  fmt::print("{}\n", told.dump());
  return {};
}

// Words as people use them: the n-th most frequent one with a share of 1 / n (Zipf).
std::string text_by_chance(std::mt19937& random) {
  constexpr double kWords = 20000;
  std::uniform_real_distribution<double> even;
  std::string text;
  for (int i = 0; i < 15; ++i) {
    text += fmt::format("w{} ", static_cast<int>(std::exp(even(random) * std::log(kWords))));
  }
  return text;
}

std::vector<float> direction_by_chance(std::mt19937& random) {
  constexpr size_t kWidth = 384;
  std::normal_distribution<float> normal;
  std::vector<float> vector(kWidth);
  double squares = 0;
  for (float& value : vector) {
    value = normal(random);
    squares += double{value} * value;
  }
  for (float& value : vector) {
    value /= static_cast<float>(std::sqrt(squares));
  }
  return vector;
}

Status measure_search(int64_t count, const std::string& folder) {
  std::mt19937 random(33);
  const auto filled = Clock::now();
  {
    MYNAH_TRY(const auto store, talk::open_sqlite_memory({.folder = folder}));
    MYNAH_TRY(const int64_t conversation, store->begin_conversation("bench"));
    std::vector<talk::MemoryVector> vectors;
    for (int64_t i = 0; i < count; ++i) {
      MYNAH_TRY(const int64_t id,
                store->keep({.conversation = conversation, .text = text_by_chance(random)}));
      vectors.push_back({.id = id, .vector = direction_by_chance(random)});
      if (vectors.size() == 1000 || i + 1 == count) {
        MYNAH_TRY_STATUS(store->keep_vectors("bench", vectors));
        vectors.clear();
      }
    }
  }
  Json told = {{"turns", count}, {"fill_s", ms_since(filled) / 1e3}};
  auto begun = Clock::now();
  MYNAH_TRY(const auto store, talk::open_sqlite_memory({.folder = folder}));
  told["open_ms"] = ms_since(begun);
  begun = Clock::now();
  MYNAH_TRY(auto first, store->search_meaning("bench", direction_by_chance(random), {}, 10));
  told["first_meaning_ms"] = ms_since(begun);
  std::vector<double> meaning_ms;
  std::vector<double> words_ms;
  constexpr int kRounds = 51;
  for (int round = 0; round < kRounds; ++round) {
    const auto asked = direction_by_chance(random);
    begun = Clock::now();
    MYNAH_TRY(first, store->search_meaning("bench", asked, {}, 10));
    meaning_ms.push_back(ms_since(begun));
    const std::string text = text_by_chance(random);
    begun = Clock::now();
    MYNAH_TRY(first, store->search_words(text, {}, 10));
    words_ms.push_back(ms_since(begun));
  }
  told["meaning_ms"] = median(meaning_ms);
  told["words_ms"] = median(words_ms);
  told["database_mb"] =
      static_cast<double>(std::filesystem::file_size(folder + "/memory.db")) / 1e6;
  begun = Clock::now();
  MYNAH_TRY(const int64_t forgotten, store->forget({.ids = {count / 2}}));
  told["forget_ms"] = ms_since(begun);
  told["forgotten"] = forgotten;
  fmt::print("{}\n", told.dump());
  return {};
}

}  // namespace
}  // namespace mynah::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  mynah::Status done;
  if (words.size() == 4 && words[0] == "recall") {
    done = mynah::bench::measure_recall(words[1], words[2], words[3]);
  } else if (words.size() == 3 && words[0] == "search" && std::atoll(words[1].c_str()) > 0) {
    done = mynah::bench::measure_search(std::atoll(words[1].c_str()), words[2]);
  } else {
    fmt::print(stderr, "{}", mynah::bench::kUsage);
    return 2;
  }
  if (!done) {
    fmt::print(stderr, "mynah_bench_memory: {}\n", done.error().message);
  }
  return done ? 0 : 1;
}
