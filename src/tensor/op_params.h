// Parameters of the Backend's operations that need more than a tensor or two.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "tensor/lengths.h"
#include "tensor/tensor.h"

namespace mynah {

// Applied to each element after a product. Gelu is exact (erf), GeluTanh its tanh approximation.
enum class Activation : uint8_t { None, Relu, Gelu, GeluTanh, Silu, Sigmoid, Tanh };

enum class UnaryOp : uint8_t {
  Relu,
  Gelu,
  GeluTanh,
  Silu,
  Sigmoid,
  Tanh,
  Exp,
  Log,
  Sqrt,
  Negate,
  Abs,
  Softplus  // log(1 + e^x)
};

enum class BinaryOp : uint8_t { Add, Subtract, Multiply, Divide, Maximum, Minimum };

enum class Reduction : uint8_t { Sum, Mean, Max };

// How exactly a product is computed. Exact: f32 all through. Close: where weights are int8,
// activations may be rounded to 16 bits with a scale a row, for what one more rounding to int8
// would change; as Fast where weights are int16, as Exact elsewhere. Fast: activations may be
// rounded to the weight's own class (int8 with a scale a row, int16 with one a run of it, bf16),
// which is what "int8" and "bf16" mean to users of other engines.
enum class Precision : uint8_t { Exact, Close, Fast };

// A weight matrix (out_features, in_features) in the layout that one backend computes with.
struct LinearWeight {
  int64_t out_features = 0;
  int64_t in_features = 0;  // for conv1d: in / groups * kernel
  DType dtype =
      DType::F32;  // storage type; I8 means symmetric int8 with a scale per output channel
  Tensor data;     // U8 bytes; only the backend that packed it can read it

  [[nodiscard]] bool defined() const { return data.defined(); }
};

// Matrices (out_features, in_features) of several experts, each laid out as a LinearWeight of its
// own.
struct ExpertWeights {
  int64_t experts = 0;
  int64_t out_features = 0;
  int64_t in_features = 0;
  DType dtype = DType::F32;
  Tensor data;  // (experts, bytes of each) U8; only the backend that packed it can read it

  [[nodiscard]] bool defined() const { return data.defined(); }

  [[nodiscard]] LinearWeight of(int64_t expert) const {
    return {out_features, in_features, dtype, data.narrow(0, expert, 1).reshape({data.dim(1)})};
  }
};

// Products of rows with the matrices of the experts that each was sent to (Shazeer et al. 2017,
// arXiv:1701.06538).
struct RoutedParams {
  const Tensor* bias = nullptr;  // (experts, out) f32
  Precision precision = Precision::Exact;
};

// A gate and what it lets through: activation(scale * g) / scale * (v + shift), where g is the gate
// but `limit` at most, and v the value between -limit and limit. (SwiGLU is Silu and the rest as it
// is; gpt-oss's clamped one has 1.702, 7 and 1.)
struct GatedParams {
  Activation activation = Activation::Silu;
  float limit = std::numeric_limits<float>::infinity();
  float scale = 1.0F;
  float shift = 0.0F;
};

// y = activation(x W^T + bias) + residual.
struct LinearParams {
  const Tensor* bias = nullptr;      // (out) f32
  const Tensor* residual = nullptr;  // (rows, out) f32
  Activation activation = Activation::None;
  Precision precision = Precision::Exact;
};

// What a convolution sees in x's place: of utterance u, channel c, factors[u][c] * x +
// factors[u][in + c] (without factors x itself), and of that a snake or a leaky ReLU. Rows outside
// an utterance stay zero.
struct Conv1dInput {
  const Tensor* factors = nullptr;  // (utterances, 2 in), as instance_factors() makes them
  const Tensor* alpha = nullptr;    // (in): a snake's; none: a leaky ReLU
  float slope = 1.0F;               // of the leaky ReLU, below zero; 1 changes nothing
};

// One-dimensional convolution over the time of each utterance; rows outside an utterance are zero.
struct Conv1dParams {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding_left = 0;
  int64_t padding_right = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
  const Conv1dInput* input = nullptr;  // null: x
  const Tensor* bias = nullptr;        // (out) f32
  const Tensor* residual = nullptr;    // like the result
  Activation activation = Activation::None;
  Precision precision = Precision::Exact;

  // Rows that come out of `rows` rows.
  [[nodiscard]] int64_t out_rows(int64_t rows) const {
    const int64_t reach = rows + padding_left + padding_right - dilation * (kernel - 1) - 1;
    return reach < 0 ? 0 : reach / stride + 1;
  }
};

// Where rows that grow lie, a page of them at a time (Kwon et al. 2023, arXiv:2309.06180): what a
// span counts as row r is row pages[r / rows] * rows + r % rows of the tensor.
struct PageTable {
  int64_t rows = 0;  // of a page, a power of two; 0: rows lie as they are counted
  std::span<const int32_t> pages = {};

  [[nodiscard]] int64_t row(int64_t counted) const {
    return rows == 0 ? counted : pages[static_cast<size_t>(counted / rows)] * rows + counted % rows;
  }

  // Calls fn(first row of the tensor, rows) for the runs of neighbours that a span is made of; it
  // begins with a page.
  template <class Fn>
  void for_each_run(const Span& span, Fn&& fn) const {
    if (rows == 0) {
      if (span.length > 0) {
        fn(span.begin, span.length);
      }
      return;
    }
    const int bits = std::countr_zero(static_cast<uint64_t>(rows));
    auto page = static_cast<size_t>(span.begin >> bits);
    for (int64_t left = span.length; left > 0;) {
      const int32_t first = pages[page];
      int64_t run = rows;
      for (++page; run < left && pages[page] == first + (run >> bits); ++page) {
        run += rows;
      }
      run = std::min(run, left);
      fn(int64_t{first} << bits, run);
      left -= run;
    }
  }
};

// Scaled dot-product attention of packed queries over spans of rows of keys and values, head by
// head: for keys that grow, as a decoder's own past. Query i of an utterance with q queries and n
// keys sees, when causal, keys [0, n - q + i], and of these only the last `window` where there is
// one (Beltagy, Peters and Cohan 2020, arXiv:2004.05150). A query that sees no key gets zeros.
// Scores s, scaled dot products, become cap * tanh(s / cap) where there is a cap (Gemma Team 2024,
// arXiv:2408.00118, section 2). A sink is the score of one more key of every query, whose value is
// zero: a head may look at nothing (OpenAI 2025, arXiv:2508.10925, section 2).
struct AttentionParams {
  int64_t heads = 1;     // of the queries
  int64_t kv_heads = 1;  // divides heads
  float scale = 1.0F;    // of the dot products, usually 1/sqrt(head_dim)
  bool causal = false;
  int64_t window = 0;             // keys that a query sees at most, its own included; 0: all
  std::span<const Span> queries;  // rows of q, one span an utterance
  std::span<const Span> keys;     // rows of k and v, as many; each begins with a page
  PageTable pages = {};           // of k and v
  float score_cap = 0.0F;         // 0: none
  const Tensor* sinks = nullptr;  // (heads) f32; null: none
  Precision precision = Precision::Exact;
};

// One utterance's keys and values in the layout that one backend attends with, for keys that are
// read many times and no longer change: an encoder's, the audio that a decoder looks at.
struct KeysValues {
  int64_t rows = 0;
  int64_t heads = 1;
  int64_t head_dim = 0;
  Precision precision = Precision::Exact;  // Fast: may be kept in half of f32's bits
  Tensor data;                             // U8 bytes; only the backend that packed it can read it
};

// Attention over packed keys and values. Reader i is a run of queries that all see the whole of
// keys[i]; several readers may share one (the hypotheses of a beam).
struct PackedAttentionParams {
  int64_t heads = 1;              // of the queries; a multiple of the keys' heads
  float scale = 1.0F;             // of the dot products, usually 1/sqrt(head_dim)
  std::span<const Span> queries;  // rows of q, one span a reader
  std::span<const KeysValues* const> keys;
  // Cached silence (docs/architecture.md): rows that stand after every reader's own. Row r of the
  // tail stands for positions [r * tail_group, (r + 1) * tail_group), as their mean, and counts as
  // so many keys; a reader with n own keys sees those from position n on, which is a multiple of
  // tail_group or beyond the tail. Null: no tail.
  const KeysValues* tail = nullptr;
  int64_t tail_group = 1;
};

// Which columns of a head rotary positions turn together: i and i + pairs (GPT-NeoX), or 2 i and
// 2 i + 1 (Su et al. 2021, arXiv:2104.09864, equation 34).
enum class RopePairs : uint8_t { Halves, Neighbours };

// Layer of an LSTM, gates in PyTorch's order (input, forget, cell, output).
struct LstmParams {
  bool reverse = false;  // runs each utterance from its end
};

// Taps of a short_conv at most.
inline constexpr int64_t kMostTaps = 8;

// Columns of a key of a delta_rule at most.
inline constexpr int64_t kMostDeltaKeys = 256;

// The gated delta rule (Yang, Kautz and Hatamizadeh 2024, arXiv:2412.06464, equation 10), row by
// row of an utterance. A head keeps a matrix S (columns of a key, columns of a value) from row to
// row: S becomes e^gate S, then more by the key's outer product with beta (value - S^T key), and
// the row's result is S^T query. Head h has the queries and keys of h % key_heads.
struct DeltaRuleParams {
  int64_t heads = 1;              // of values, gates, betas and the state
  int64_t key_heads = 1;          // of queries and keys; divides heads
  const Tensor* gates = nullptr;  // (rows, heads), at most 0
  const Tensor* betas = nullptr;  // (rows, heads)
};

// Whisper's log-mel front end (openai/whisper audio.py log_mel_spectrogram): periodic Hann window,
// power spectrum, mel filters, log10 of at least 1e-10, floor at (maximum of the utterance's frames
// - 8), (x + 4) / 4. Frame t is centred on sample t * hop: before the utterance's start the samples
// are reflected (sample -i is sample i), after its end they are zero.
struct LogMelParams {
  int64_t n_fft = 400;  // 4 times twos and fives
  int64_t hop = 160;
  const Tensor* filters = nullptr;  // (n_mels, n_fft / 2 + 1) f32
  std::span<const Span> samples;    // of the waveform tensor, one span an utterance
  std::span<const Span>
      frames;  // of the result, one span an utterance: frames past the samples' end see zeros
};

// A voice's source: sines at a pitch and at its multiples, mixed and bent by tanh (Wang, Takaki and
// Yamagishi 2019, arXiv:1810.11946, section 2.1, without noise; yl4579/StyleTTS2
// Modules/istftnet.py, SineGen and SourceModuleHnNSF). All phases begin at zero. In f32 and in the
// order of that source, since phases grow to many thousands: value by value turns += step -
// floor(step) for step = pitch * h / rate, a phase is turns * 2 * pi * samples, and a sample's
// phase is linear between the middles of the values' samples.
struct SineSourceParams {
  int64_t samples = 1;              // of each value of pitch
  float rate = 1.0F;                // samples a second
  float amplitude = 0.1F;           // of a sine
  float voiced = 10.0F;             // Hz: no sines at this pitch and below
  const Tensor* weights = nullptr;  // (harmonics): the pitch itself, twice the pitch, ...
  float bias = 0.0F;
};

// Short-time Fourier transforms with a periodic Hann window, of few points: sums as they stand,
// n_fft products for each number. Frame t is centred on sample t * hop; the signal is reflected at
// its ends.
struct StftParams {
  int64_t n_fft = 20;  // even
  int64_t hop = 5;     // at most n_fft / 2

  [[nodiscard]] int64_t bins() const { return n_fft / 2 + 1; }

  // Frames of so many samples.
  [[nodiscard]] int64_t frames(int64_t samples) const { return samples / hop + 1; }

  // Samples that so many frames become.
  [[nodiscard]] int64_t samples(int64_t frames) const {
    return frames < 1 ? 0 : (frames - 1) * hop;
  }
};

// A token whose logit is changed before anything else: first more by the bias (logit_bias of
// OpenAI's API reference); then x becomes x * factor where it is below zero, else x / factor
// (repetition: Keskar et al. 2019, CTRL, arXiv:1909.05858, section 4.1, as CTranslate2 and
// llama.cpp do it); then less by the offset (presence_penalty + frequency_penalty * count of
// OpenAI's). That is also llama.cpp's order (common/sampling.cpp, common_sampler_init).
struct TokenPenalty {
  // As a factor: the token never comes.
  static constexpr float kNever = std::numeric_limits<float>::infinity();

  int32_t token = 0;
  float factor = 1.0F;  // above 0
  float offset = 0.0F;
  float bias = 0.0F;

  [[nodiscard]] float of(float logit) const {
    if (factor == kNever) {
      return -std::numeric_limits<float>::infinity();
    }
    const float biased = logit + bias;
    return (biased < 0.0F ? biased * factor : biased / factor) - offset;
  }
};

// Tokens [begin, end).
struct TokenRange {
  int32_t begin = 0;
  int32_t end = 0;

  [[nodiscard]] bool contains(int64_t token) const { return token >= begin && token < end; }

  // Without what a vocabulary does not have; an empty one ends where it begins.
  [[nodiscard]] TokenRange within(int64_t vocabulary) const {
    const auto limit = static_cast<int32_t>(vocabulary);
    const int32_t from = std::min(begin, limit);
    return {from, std::max(from, std::min(end, limit))};
  }
};

// Which token comes next, for one row of logits, as numbers that a device can read. The values are
// the penalised logits plus the row's mask; a NaN counts as -infinity. Log probabilities are of the
// softmax of the values of all tokens that may come, at temperature 1 and before any filter. Where
// fewer tokens than `top` may come, the rest have log probability -infinity and any index.
//
// Without a temperature the likeliest tokens are taken, the lower index first in a tie, and no
// filter says anything. With one, a token is drawn from softmax(values / temperature) of what the
// filters leave. They look at softmax(values), at temperature 1, each at what the one before left,
// renormalised; one token is always left. Order and borders are those of llama.cpp's chain
// (common/common.h, common_params_sampling::samplers; src/llama-sampler.cpp), which
// tests/nn/decode/sampling_test.cpp compares with:
//
//   top_k      the k likeliest (Fan, Lewis and Dauphin 2018, arXiv:1805.04833)
//   typical_p  the fewest of the smallest |-log p - H|, H the entropy, whose probabilities add up
//              to more than typical_p (Meister et al. 2022, arXiv:2202.00666)
//   top_p      the fewest likeliest whose probabilities add up to at least p (Holtzman et al. 2019,
//              arXiv:1904.09751)
//   min_p      those at least min_p times as likely as the likeliest that is left, which are those
//              whose value is at least its value + log(min_p) (Nguyen et al. 2024,
//              arXiv:2407.01082)
//
// The lower index wins every tie. Drawn is the token at which the running sum of the probabilities,
// in order of index, passes `uniform`.
struct SampleRow {
  // Tokens that may come; ends are limited to the vocabulary. `second` stands behind `first`.
  TokenRange first = {0, std::numeric_limits<int32_t>::max()};
  TokenRange second = {};
  // Where the tokens of `second` together are likelier than any single one of `first`, only they
  // are left.
  bool prefer_second = false;
  int32_t mask = 0;  // row of `masks` that applies
  // This row's part of `penalties`: tokens in rising order, each at most once.
  int32_t penalties_begin = 0;
  int32_t penalties_count = 0;
  float temperature = 0.0F;  // 0: the likeliest; else drawn
  float uniform = 0.0F;      // in [0, 1): the draw's random number
  int32_t top_k = 0;         // 0: off
  float typical_p = 1.0F;
  float top_p = 1.0F;
  float min_p = 0.0F;

  // Whether anything but all tokens may be left to draw from.
  [[nodiscard]] bool filters() const {
    return temperature > 0.0F && (top_k > 0 || typical_p < 1.0F || top_p < 1.0F || min_p > 0.0F);
  }
};

struct SampleParams {
  const Tensor* masks = nullptr;  // (n_masks, vocabulary) f32, 0 or -infinity, added to the logits
  std::span<const SampleRow> rows;
  std::span<const TokenPenalty> penalties = {};  // of all rows
  int32_t top = 1;  // tokens wanted of each row, best first (beam search); 1 with a temperature
};

}  // namespace mynah
