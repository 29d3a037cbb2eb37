// LanguageModel: what placement computes of a language model: which tokens may follow texts that
// grow side by side. It knows tokens and no words.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "speech/probe.h"
#include "tensor/backend.h"
#include "tensor/op_params.h"

namespace mynah {

struct LanguageFacts {
  std::string architecture;     // general.architecture: "llama", "qwen2"
  int64_t vocabulary = 0;       // tokens are in [0, vocabulary)
  int64_t trained_context = 0;  // positions that the model was trained for
  int64_t context = 0;          // positions that a text may have here
  uint64_t position_bytes = 0;  // that the memory of a position takes
  // Positions that a text may be cut back by, counted from the most that it ever had: none where
  // layers keep states, some where layers see windows and what no position to come sees is let go.
  int64_t rewinds = kAnywhere;
  // A text that never had more than so many beside those may be cut back to any.
  int64_t window = 0;
  uint64_t window_bytes = 0;  // that a position takes besides while it is among the last so many
  uint64_t state_bytes = 0;   // that a text takes besides, however short it is

  // As LanguageFacts::rewinds: a text may be cut back to any position that it had.
  static constexpr int64_t kAnywhere = std::numeric_limits<int64_t>::max();

  // The fewest positions, beside none, that a text may be cut back to which had so many at most.
  [[nodiscard]] int64_t goes_back_to(int64_t longest) const {
    return rewinds >= longest || longest - rewinds <= window ? 0 : longest - rewinds;
  }

  bool operator==(const LanguageFacts&) const = default;
};

// Tokens of prompts that a step reads at most, as models are used here: what there is memory for.
inline constexpr int64_t kPromptPiece = 512;

// What a model, or a part of it, needs where it computes.
struct LanguageMemory {
  uint64_t weight_bytes = 0;     // as the file has them
  uint64_t position_bytes = 0;   // LanguageFacts::position_bytes
  uint64_t token_bytes = 0;      // of each token of a prompt while it is read, at most
  uint64_t state_bytes = 0;      // LanguageFacts::state_bytes
  uint64_t window_bytes = 0;     // LanguageFacts::window_bytes
  int64_t window_positions = 0;  // that take those: window_positions()
};

// Positions for which there is to be room in layers that see a window: those of a text that is read
// and of one that rests.
[[nodiscard]] int64_t window_positions(int64_t window);

// Of a model whose first layers compute elsewhere than the others.
struct CutMemory {
  LanguageMemory lower;
  LanguageMemory upper;
};

// Layers of a model, the first ones, that compute elsewhere than the others, which choose tokens.
struct LowerPart {
  int64_t layers = 0;  // one of WritingFile::cuts(); 0: none
  Backend* backend = nullptr;
};

// How the token after a text is chosen.
struct TokenWish {
  float temperature = 0.0F;  // 0: the likeliest
  float uniform = 0.0F;      // in [0, 1): the draw's random number
  int32_t top_k = 0;         // 0: off
  float top_p = 1.0F;
  float min_p = 0.0F;
  float typical_p = 1.0F;
  std::vector<TokenPenalty> penalties;  // tokens in rising order, each at most once
  // Bit i of word i / 32: whether token i may come; empty: all may. At least one may.
  std::vector<uint32_t> allowed;
  int32_t alternatives = -1;  // how many of the likeliest are wanted with it; -1: not even its own
                              // probability is
};

// A text that grows in a step.
struct TextStep {
  uint64_t text = 0;            // by a number of the caller's; one that is new is empty
  int64_t begin = 0;            // positions of it that stay: what it had behind them is forgotten;
                                // none, or as many as LanguageFacts::goes_back_to() says at least
  std::vector<int32_t> tokens;  // that are added there, one at least
  // How the token behind each of the last of them is chosen, in their order: of one that is a guess
  // and those before it, too. None: the text only grows.
  std::vector<TokenWish> wishes;
};

// A new text that begins with the first positions of another: with as many as
// LanguageFacts::goes_back_to() says at least.
struct TextFork {
  uint64_t from = 0;
  uint64_t to = 0;
  int64_t length = 0;
};

// What is done at once, in this order. No text is named twice in `steps`.
struct StepRequest {
  std::vector<TextFork> forks;
  std::vector<uint64_t> forgotten;  // texts that nobody wants any more
  std::vector<TextStep> steps;
};

struct LikelyToken {
  int32_t token = 0;
  float log_probability = 0;
};

// What was chosen, with the natural logarithms of what the model itself thinks of it: of its whole
// distribution, before temperature, filters, penalties and masks.
struct ChosenToken {
  int32_t token = -1;  // of the vocabulary
  float log_probability = 0;
  std::vector<LikelyToken> alternatives;  // best first
};

// Const after load.
class LanguageModel {
 public:
  // Texts of one owner, with what the model remembers of them. Calls come one at a time; the model
  // must outlive it.
  class Session {
   public:
    Session() = default;
    virtual ~Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // A token for each wish of each step, in their order. Computes no text beyond
    // LanguageFacts::context: who asks sees to that. Device where the device fails: nothing is
    // known of any text then.
    virtual Result<std::vector<ChosenToken>> step(const StepRequest& request) = 0;
  };

  LanguageModel() = default;
  virtual ~LanguageModel() = default;
  LanguageModel(const LanguageModel&) = delete;
  LanguageModel& operator=(const LanguageModel&) = delete;

  [[nodiscard]] virtual const LanguageFacts& facts() const = 0;

  // No texts yet.
  [[nodiscard]] virtual std::unique_ptr<Session> session() const = 0;
};

// How a language model is opened.
struct LanguageLoadOptions {
  std::optional<DType> storage;           // of its weights; none: the file's own
  Precision precision = Precision::Fast;  // Exact: f32 arithmetic whatever the storage
  std::string cache_folder;               // for packed weights; empty: none
  int64_t context = 0;                    // LanguageFacts::context; 0: what it was trained for
  LowerPart lower = {};
};

// A file of a language model: what it says was read, its weights were not. Const.
class WritingFile {
 public:
  WritingFile() = default;
  virtual ~WritingFile() = default;
  WritingFile(const WritingFile&) = delete;
  WritingFile& operator=(const WritingFile&) = delete;

  // All that is in it: words and template are read from it, too.
  [[nodiscard]] virtual const TensorFile& contents() const = 0;

  [[nodiscard]] virtual int64_t trained_context() const = 0;

  [[nodiscard]] virtual int64_t layers() const = 0;

  // How many layers, the first ones, may compute elsewhere than the others, rising.
  [[nodiscard]] virtual std::vector<int64_t> cuts() const = 0;

  // With so many of its layers elsewhere, one of cuts(), or 0: then all is the upper part's.
  [[nodiscard]] virtual CutMemory memory(Precision precision, int64_t lower_layers) const = 0;

  // All of it in one place.
  [[nodiscard]] LanguageMemory memory(Precision precision) const {
    return memory(precision, 0).upper;
  }

  [[nodiscard]] virtual Result<std::shared_ptr<const LanguageModel>> load(
      const LanguageLoadOptions& options, Backend& backend) const = 0;
};

// Opens a GGUF file of a language model. Unsupported, and named, where mynah does not do what the
// file wants; InvalidInput for what is no such file.
[[nodiscard]] Result<std::shared_ptr<const WritingFile>> open_writing(const std::string& path);

// A file opened and loaded.
[[nodiscard]] Result<std::shared_ptr<const LanguageModel>> load_language_model(
    const std::string& path, const LanguageLoadOptions& options, Backend& backend);

// What the model makes of tokens that are always the same: some of the logits behind a prompt and
// behind each of a few tokens after it. Its "sound" is a second a token that was written, so that
// times are milliseconds a token.
[[nodiscard]] Result<Probe> probe_language_model(const LanguageModel& model);

}  // namespace mynah
