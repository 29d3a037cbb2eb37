#include "chat/language_model.h"

namespace mynah {
namespace {

constexpr int64_t kPromptTokens = 32;
constexpr int kWritten = 16;

// Tokens all over the vocabulary, always the same.
std::vector<int32_t> probe_tokens(int64_t count, int64_t vocabulary) {
  constexpr int64_t kStride = 7919;  // a prime: no vocabulary is a multiple of it
  std::vector<int32_t> tokens;
  for (int64_t i = 1; i <= count; ++i) {
    tokens.push_back(static_cast<int32_t>(i * kStride % vocabulary));
  }
  return tokens;
}

}  // namespace

// What is compared are log probabilities of tokens that are given, and never those that a device
// found likeliest: two that are about as likely are in another order on another device.
Result<Probe> probe_language_model(const LanguageModel& model) {
  const auto session = model.session();
  const int64_t vocabulary = model.facts().vocabulary;
  const std::vector<int32_t> tokens = probe_tokens(kPromptTokens + kWritten, vocabulary);
  std::vector<float> values;
  TextStep step{.text = 1, .begin = 0, .tokens = {}, .wishes = {TokenWish{}}};
  step.tokens.assign(tokens.begin(), tokens.begin() + kPromptTokens);
  for (int i = 0; i < kWritten; ++i) {
    TokenWish& wish = step.wishes.front();
    wish.alternatives = 0;
    // The next one, and no other, may come: its probability is of the whole distribution.
    const int32_t next = tokens[static_cast<size_t>(kPromptTokens + i)];
    wish.allowed.assign(static_cast<size_t>((vocabulary + 31) / 32), 0);
    wish.allowed[static_cast<size_t>(next) / 32] = 1U << (static_cast<uint32_t>(next) % 32);
    MYNAH_TRY(const auto chosen, session->step({.forks = {}, .forgotten = {}, .steps = {step}}));
    values.push_back(chosen.front().log_probability);
    step.begin += std::ssize(step.tokens);
    step.tokens = {next};
  }
  // What lower layers compute elsewhere shows in the logits that are made of it.
  return Probe{
      .stages = {{.stage = "llm.lower", .values = values}, {.stage = "llm", .values = values}},
      .sound_s = kWritten};
}

}  // namespace mynah
