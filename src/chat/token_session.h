// TokenSession: texts that grow on one device, over whichever model writes tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "chat/language_model.h"
#include "chat/mask_rows.h"
#include "nn/decode/sequences.h"

namespace mynah {

class TokenSession final : public LanguageModel::Session {
 public:
  // All but the cache must outlive it, and `after_step`, which may be null, is called behind each.
  TokenSession(Backend& backend, const TokenModel& model, StepRunner& steps, KvCache cache,
               int64_t vocabulary, std::function<void()> after_step = nullptr)
      : backend_(backend),
        sequences_(backend, model, steps, std::move(cache)),
        vocabulary_(vocabulary),
        masks_(backend, vocabulary),
        after_step_(std::move(after_step)) {}

  Result<std::vector<ChosenToken>> step(const StepRequest& request) override;

 private:
  // Whether a text can go on behind so many positions.
  [[nodiscard]] bool has(uint64_t text, int64_t positions) const;
  // Refuses what no session could do: it may come from another process.
  [[nodiscard]] Status check(const StepRequest& request) const;
  [[nodiscard]] Status check(const TextStep& step) const;
  [[nodiscard]] Status check(const TokenWish& wish) const;
  void forget(uint64_t text);
  void fork(const TextFork& fork);
  // The sequence of a text that is as long as the step says, with the step's tokens behind it.
  int64_t begin(const TextStep& step);
  [[nodiscard]] Result<std::vector<ChosenToken>> compute(const StepRequest& request);

  Backend& backend_;
  Sequences sequences_;
  int64_t vocabulary_;
  MaskRows masks_;
  std::function<void()> after_step_;
  std::map<uint64_t, int64_t> texts_;  // the sequence of each
};

}  // namespace mynah
