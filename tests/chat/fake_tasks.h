// What tests ask a GenerationQueue with a FakeLanguage for.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "chat/fake_language.h"
#include "chat/generation_queue.h"

namespace mynah::test {

inline std::vector<int32_t> prompt_of(uint32_t seed, size_t tokens) {
  std::mt19937 random(seed);
  std::vector<int32_t> prompt(tokens);
  for (int32_t& token : prompt) {
    token = static_cast<int32_t>(random() % FakeLanguage::kVocabulary);
  }
  return prompt;
}

inline GenerationTask task_of(std::vector<int32_t> prompt, int64_t tokens, std::string owner = {}) {
  GenerationTask task;
  task.prompt = std::move(prompt);
  task.options.most_tokens = tokens;
  task.owner = std::move(owner);
  return task;
}

// A task whose tokens go to `written`.
inline GenerationTask telling(GenerationTask task, std::vector<int32_t>& written) {
  task.on_token = [&written](const ChosenToken& chosen) {
    written.push_back(chosen.token);
    return true;
  };
  return task;
}

}  // namespace mynah::test
