#include "place/kinds/llm/llm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "place/kinds/llm/llm_wire.h"
#include "place/wire/possible.h"
#include "place/workers/load_limit.h"
#include "place/workers/worker_lane.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"

namespace mynah::place {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 24;  // of a vocabulary, or of a text

// A step is longer for more tokens: an operation of a probe does its prompt's.
double prompt_tokens(double /*sound_s*/, double /*window_s*/) {
  return 32.0;
}

// Of log probabilities, as a share of their largest magnitude.
double least_language_error(double /*sound_s*/) {
  return 5e-3;
}

constexpr std::array kLanguageStages = {
    StageFacts{.name = "llm.lower",
               .probe_work = prompt_tokens,
               .least_error = least_language_error,
               .only_apart = true},
    StageFacts{.name = "llm", .probe_work = prompt_tokens, .least_error = least_language_error}};

Status open_language_in(WorkerLane& worker, const ModelFile& file, const StagePlaces& places) {
  return worker.tell(Ask::OpenLanguage, load_limit(path_of(file)), std::get<LanguageFile>(file),
                     places.at(kLlmLower), places.at(kLlmStage));
}

bool may_be_cut(const ModelFile& file) {
  return lower_layers_of(file) > 0;
}

constexpr Kind kLanguageRow{.name = "llm",
                            .stages = kLanguageStages,
                            .unit = "a token",
                            .has_types = false,
                            .may_be_apart = may_be_cut,
                            .host = host_language,
                            .open_in = open_language_in};

}  // namespace

const Kind& language_kind() {
  return kLanguageRow;
}

Result<std::shared_ptr<const LanguageModel>> load_language(const WritingFile& opened,
                                                           const LanguageFile& file, Backend* lower,
                                                           const StageBackend& where) {
  return opened.load(
      {.storage = where.storage,
       .precision = file.precision,
       .cache_folder = file.cache_folder,
       .context = file.context,
       .lower = {.layers = lower == nullptr ? 0 : file.lower_layers, .backend = lower}},
      where.backend);
}

std::map<Stage, GrowingMemory> memory_of_texts(const WritingFile& opened,
                                               const LanguageFile& file) {
  const int64_t trained = opened.trained_context();
  std::vector<int64_t> contexts = {file.context > 0 ? std::min(file.context, trained) : trained};
  while (file.least_context > 0 && contexts.back() / 2 >= file.least_context) {
    contexts.push_back(contexts.back() / 2);
  }
  const CutMemory memory = opened.memory(file.precision, file.lower_layers);
  std::map<Stage, GrowingMemory> growing = {{kLlmStage, memory_of_texts(memory.upper, contexts)}};
  if (file.lower_layers > 0) {
    growing.emplace(kLlmLower, memory_of_texts(memory.lower, std::move(contexts)));
  }
  return growing;
}

Result<Probe> probe_language(const LanguageModel& model) {
  auto probe = probe_language_model(model);
  if (!probe && is_of_device(probe.error().code)) {
    throw DeviceError(std::move(probe).error());
  }
  return probe;
}

double tokens_in(const StepRequest& request) {
  size_t tokens = 0;
  for (const TextStep& step : request.steps) {
    tokens += step.tokens.size();
  }
  return static_cast<double>(std::max<size_t>(1, tokens));
}

bool is_possible(const LanguageFacts& facts) {
  return facts.vocabulary > 0 && facts.vocabulary <= kMostTokens && facts.context > 0 &&
         facts.context <= kMostTokens && facts.trained_context > 0 && facts.rewinds >= 0 &&
         facts.window >= 0 && facts.window <= kMostTokens &&
         (facts.window_bytes == 0 || facts.rewinds <= kMostTokens);
}

bool is_possible(const std::vector<ChosenToken>& chosen, const StepRequest& request,
                 const LanguageFacts& facts) {
  std::vector<const TokenWish*> wishes;
  for (const TextStep& step : request.steps) {
    for (const TokenWish& wish : step.wishes) {
      wishes.push_back(&wish);
    }
  }
  if (chosen.size() != wishes.size()) {
    return false;
  }
  const auto is_token = [&](int32_t token) { return token >= 0 && token < facts.vocabulary; };
  for (size_t i = 0; i < chosen.size(); ++i) {
    const ChosenToken& one = chosen[i];
    if (!is_token(one.token) ||
        std::cmp_greater(one.alternatives.size(), std::max(0, wishes[i]->alternatives)) ||
        !std::ranges::all_of(one.alternatives, is_token, &LikelyToken::token)) {
      return false;
    }
  }
  return true;
}

}  // namespace mynah::place
