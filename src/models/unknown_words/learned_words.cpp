#include "models/unknown_words/learned_words.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "formats/onnx.h"
#include "models/unknown_words/alphabet.h"
#include "models/unknown_words/network.h"
#include "models/unknown_words/onnx_weights.h"

namespace mynah::unknown_words {

namespace {

// Nobody listens to a word of more than 240 letters.
constexpr size_t kMostPieces = 10;

class LearnedWords : public UnknownWords {
 public:
  LearnedWords(Alphabet alphabet, Network network)
      : alphabet_(std::move(alphabet)), network_(std::move(network)) {}

  [[nodiscard]] std::string pronounce(std::string_view word) const override {
    const std::vector<int32_t> ids = alphabet_.ids(word);
    const auto longest = static_cast<size_t>(alphabet_.longest_word());
    const size_t pieces = std::min((ids.size() + longest - 1) / longest, kMostPieces);
    std::string phonemes;
    size_t begin = 0;
    for (size_t i = 0; i < pieces; ++i) {
      // Of one length, or nearly.
      const size_t rest = ids.size() - begin;
      const size_t length = std::min(longest, (rest + pieces - i - 1) / (pieces - i));
      phonemes += alphabet_.text(network_(std::span(ids).subspan(begin, length)));
      begin += length;
    }
    return phonemes;
  }

 private:
  Alphabet alphabet_;
  Network network_;
};

}  // namespace

Result<std::shared_ptr<const UnknownWords>> load_learned_words(const std::string& network,
                                                               const std::string& alphabet,
                                                               Backend& backend) {
  MYNAH_TRY(const auto json, MappedFile::open(alphabet));
  const std::span<const std::byte> bytes = json->bytes();
  MYNAH_TRY(Alphabet letters,
            Alphabet::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, alphabet));
  MYNAH_TRY(const auto file, MappedFile::open(network));
  MYNAH_TRY(const OnnxModel model, read_onnx_model(file));
  MYNAH_TRY(OnnxWeights stored, read_onnx_weights(model));
  const Weights weights(std::move(stored.tensors), stored.owner, backend,
                        {.storage = DType::F32, .precision = Precision::Exact});
  auto loaded = Network::load(weights, letters);
  if (!loaded) {
    return std::unexpected(std::move(loaded.error()).while_doing("loading " + network));
  }
  return std::make_shared<const LearnedWords>(std::move(letters), *std::move(loaded));
}

}  // namespace mynah::unknown_words
