#include "random_checkpoint.h"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tensor/quantize.h"

namespace mynah::gpucheck {

namespace {

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): its
// i-th number by itself, so that threads can share a tensor.
uint64_t number_at(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

class Maker {
 public:
  explicit Maker(ThreadPool& pool) : pool_(pool) {}

  // Evenly spread with this standard deviation.
  void matrix(const std::string& name, const Shape& shape, double deviation) {
    const auto count = shape.elements();
    const std::span<std::byte> bytes = add(name, DType::F16, shape);
    auto* const out = reinterpret_cast<uint16_t*>(bytes.data());
    const uint64_t seed = ++seed_;
    const auto reach = static_cast<float>(deviation * std::sqrt(3.0));
    constexpr int64_t kGrain = 1 << 16;
    pool_.parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto unit =
            static_cast<float>(static_cast<int32_t>(number_at(seed, static_cast<uint64_t>(i)))) *
            0x1p-31F;
        out[i] = f32_to_f16(unit * reach);
      }
    });
  }

  void vector(const std::string& name, int64_t count, float value) {
    const std::span<std::byte> bytes = add(name, DType::F32, {count});
    auto* const out = reinterpret_cast<float*>(bytes.data());
    std::fill_n(out, count, value);
  }

  void linear(const std::string& name, int64_t out, int64_t in, bool bias = true) {
    matrix(name + ".weight", {out, in}, 1.0 / std::sqrt(static_cast<double>(in)));
    if (bias) {
      vector(name + ".bias", out, 0.0F);
    }
  }

  void norm(const std::string& name, int64_t width) {
    vector(name + ".weight", width, 1.0F);
    vector(name + ".bias", width, 0.0F);
  }

  void attention(const std::string& name, int64_t width) {
    linear(name + ".query", width, width);
    linear(name + ".key", width, width, false);
    linear(name + ".value", width, width);
    linear(name + ".out", width, width);
    norm(name + "_ln", width);
  }

  void blocks(const std::string& side, int64_t layers, int64_t width, bool cross) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      const std::string block = fmt::format("{}.blocks.{}", side, layer);
      attention(block + ".attn", width);
      if (cross) {
        attention(block + ".cross_attn", width);
      }
      linear(block + ".mlp.0", 4 * width, width);
      linear(block + ".mlp.2", width, 4 * width);
      norm(block + ".mlp_ln", width);
    }
  }

  void conv(const std::string& name, int64_t out, int64_t in) {
    constexpr int64_t kTaps = 3;
    matrix(name + ".weight", {out, in, kTaps}, 1.0 / std::sqrt(static_cast<double>(in * kTaps)));
    vector(name + ".bias", out, 0.0F);
  }

  std::shared_ptr<const TensorFile> finish() {
    file_->format = "random";
    file_->path = "weights from a seed";
    return std::move(file_);
  }

 private:
  std::span<std::byte> add(const std::string& name, DType dtype, const Shape& shape) {
    auto bytes = std::make_shared<std::vector<std::byte>>(storage_bytes(dtype, shape.elements()));
    file_->tensors.push_back(
        {.name = name, .dtype = dtype, .shape = shape, .bytes = *bytes, .row_scales = {}});
    file_->owners.push_back(bytes);
    return *bytes;
  }

  ThreadPool& pool_;
  std::shared_ptr<TensorFile> file_ = std::make_shared<TensorFile>();
  uint64_t seed_ = 0;
};

}  // namespace

std::shared_ptr<const TensorFile> random_checkpoint(const whisper::Config& config,
                                                    ThreadPool& pool) {
  constexpr double kEmbedding = 0.02;
  const int64_t width = config.n_audio_state;
  Maker maker(pool);
  maker.conv("encoder.conv1", width, config.n_mels);
  maker.conv("encoder.conv2", width, width);
  maker.matrix("encoder.positional_embedding", {config.n_audio_ctx, width}, kEmbedding);
  maker.blocks("encoder", config.n_audio_layer, width, false);
  maker.norm("encoder.ln_post", width);
  maker.matrix("decoder.token_embedding.weight", {config.n_vocab, width}, kEmbedding);
  maker.matrix("decoder.positional_embedding", {config.n_text_ctx, width}, kEmbedding);
  maker.blocks("decoder", config.n_text_layer, width, true);
  maker.norm("decoder.ln", width);
  return maker.finish();
}

Vocabulary some_vocabulary(const whisper::Config& config) {
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary.emplace_back(1, static_cast<char>(byte));
  }
  std::swap(vocabulary[' '], vocabulary[220]);  // where GPT-2 has the space
  while (std::cmp_less(vocabulary.size(), config.n_vocab)) {
    vocabulary.push_back(fmt::format(" w{}", vocabulary.size()));
  }
  return vocabulary;
}

}  // namespace mynah::gpucheck
