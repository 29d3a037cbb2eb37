#include "models/bert/config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace mynah::bert {
namespace {

// Far above the largest published model (BERT large: 24 layers, width 1024), and keep arithmetic
// on sizes safe.
constexpr int64_t kMostLayers = 1024;
constexpr int64_t kMostColumns = 1 << 16;
constexpr int64_t kMostTokens = 1 << 24;

const MetadataValue* find_value(const TensorFile& file, std::string_view key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? nullptr : &found->second;
}

std::string architecture_of(const TensorFile& file) {
  const MetadataValue* const value = find_value(file, "general.architecture");
  const auto* const name = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return name == nullptr ? std::string() : *name;
}

// In [low, high]; `otherwise` where there is none, none: it must be there.
Result<int64_t> integer(const TensorFile& file, std::string_view key, int64_t low, int64_t high,
                        std::optional<int64_t> otherwise = std::nullopt) {
  const MetadataValue* const value = find_value(file, key);
  if (value == nullptr && otherwise) {
    return *otherwise;
  }
  const auto* const number = value == nullptr ? nullptr : std::get_if<int64_t>(value);
  if (number == nullptr) {
    return fail(ErrorCode::InvalidInput, fmt::format("wanted the whole number {}, found {}", key,
                                                     value == nullptr ? "none" : "something else"));
  }
  if (*number < low || *number > high) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted {} to {}, found {}", key, low, high, *number));
  }
  return *number;
}

Result<Pooling> read_pooling(const TensorFile& file) {
  // llama.cpp, enum llama_pooling_type.
  constexpr std::array<std::string_view, 5> kNames = {"none", "mean", "first token", "last token",
                                                      "rank"};
  MYNAH_TRY(const int64_t type, integer(file, "bert.pooling_type", 0, std::ssize(kNames) - 1,
                                        static_cast<int64_t>(Pooling::Mean)));
  if (type != static_cast<int64_t>(Pooling::Mean) && type != static_cast<int64_t>(Pooling::First)) {
    return fail(ErrorCode::Unsupported,
                fmt::format("bert.pooling_type {} ({}): mynah makes vectors by the mean of all "
                            "tokens (1) or of the first one (2); use another model",
                            type, kNames[static_cast<size_t>(type)]));
  }
  return static_cast<Pooling>(type);
}

Result<float> read_epsilon(const TensorFile& file) {
  constexpr std::string_view kKey = "bert.attention.layer_norm_epsilon";
  const MetadataValue* const value = find_value(file, kKey);
  const auto* const number = value == nullptr ? nullptr : std::get_if<double>(value);
  if (number == nullptr || !(*number >= 0 && *number < 1)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a number from 0 to 1, found none", kKey));
  }
  return static_cast<float>(*number);
}

}  // namespace

bool is_encoder(const TensorFile& file) {
  return architecture_of(file).contains("bert");
}

Result<Config> Config::read(const TensorFile& file) {
  if (const std::string found = architecture_of(file); found != kArchitecture) {
    return fail(ErrorCode::Unsupported,
                fmt::format("the architecture '{}' is none that mynah makes vectors with, which "
                            "is {}; use another model, such as minilm",
                            found, kArchitecture));
  }
  const StoredTensor* const table = file.find("token_embd.weight");
  if (table == nullptr || table->shape.rank() != 2) {
    return fail(ErrorCode::InvalidInput,
                "wanted tensor token_embd.weight (tokens, width), found none");
  }
  Config c;
  c.vocabulary = table->shape[0];
  if (c.vocabulary < 1 || c.vocabulary > kMostTokens) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("token_embd.weight: wanted 1 to {} tokens, found {}", kMostTokens,
                            c.vocabulary));
  }
  MYNAH_TRY(c.positions, integer(file, "bert.context_length", 2, kMostTokens));
  MYNAH_TRY(c.layers, integer(file, "bert.block_count", 1, kMostLayers));
  MYNAH_TRY(c.width, integer(file, "bert.embedding_length", 1, kMostColumns));
  MYNAH_TRY(c.feed_forward, integer(file, "bert.feed_forward_length", 1, kMostColumns));
  MYNAH_TRY(c.heads, integer(file, "bert.attention.head_count", 1, c.width));
  if (c.width % c.heads != 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} columns cannot be shared by {} heads", c.width, c.heads));
  }
  constexpr int64_t kMostHeadColumns = 512;  // what attention takes on the processor
  if (c.width / c.heads > kMostHeadColumns) {
    return fail(ErrorCode::Unsupported, fmt::format("heads of {} columns: wanted {} at most",
                                                    c.width / c.heads, kMostHeadColumns));
  }
  MYNAH_TRY(c.longest, integer(file, kLongestKey, 2, c.positions, c.positions));
  MYNAH_TRY(c.norm_epsilon, read_epsilon(file));
  MYNAH_TRY(c.pooling, read_pooling(file));
  if (const MetadataValue* const normal = find_value(file, kNormalKey)) {
    const bool* const flag = std::get_if<bool>(normal);
    c.normalized = flag == nullptr || *flag;
  }
  return c;
}

}  // namespace mynah::bert
