// What models call: free functions that check shapes, allocate the result and ask the Backend.
// There is no arithmetic here. A wrong shape between operations is a bug and ends the process with
// a message such as "[linear] x must be (rows, 384), got (1500, 512)"; shapes that come from files
// are checked when a model is loaded (nn/).
//
// Unless said otherwise tensors are f32 on the backend's device, a result is a new contiguous
// tensor, and an operation on rows takes a tensor of any rank and works along its last dimension.
// An empty result is returned without asking the Backend.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/conv_transpose1d.h"
#include "tensor/backend.h"

namespace mynah::ops {

// Memory.

// A tensor with undefined contents.
[[nodiscard]] Tensor empty(Backend& backend, const Shape& shape, DType dtype = DType::F32);
// A tensor of zeros; every plain type's zero is zero bytes.
[[nodiscard]] Tensor zeros(Backend& backend, const Shape& shape, DType dtype = DType::F32);
// Copies values of the host to the device.
[[nodiscard]] Tensor from_host(Backend& backend, std::span<const float> values, const Shape& shape);
[[nodiscard]] Tensor from_host(Backend& backend, std::span<const int32_t> values,
                               const Shape& shape);
// Values of any dtype as stored bytes.
[[nodiscard]] Tensor from_host(Backend& backend, std::span<const std::byte> bytes,
                               const Shape& shape, DType dtype);
// A contiguous tensor of host memory (Device{Cpu}: a file's) on the backend's device. On the CPU it
// is the tensor itself and shares the memory.
[[nodiscard]] Tensor to_device(Backend& backend, const Tensor& host);
// An f32 tensor of the backend `from` as one of `to`: x itself where they share tensors, else a
// copy that goes through the host. In no step (StepRunner) of either.
[[nodiscard]] Tensor hand_over(Backend& from, Backend& to, const Tensor& x);
// Copies a tensor (any strides) to the host: f32 or i32, as the destination says.
void to_host(Backend& backend, const Tensor& x, std::span<float> values);
void to_host(Backend& backend, const Tensor& x, std::span<int32_t> values);
[[nodiscard]] std::vector<float> to_host(Backend& backend, const Tensor& x);
[[nodiscard]] std::vector<int32_t> to_host_i32(Backend& backend, const Tensor& x);
// A new contiguous tensor with the same elements, of the same or another of f32, f16 and bf16.
[[nodiscard]] Tensor copy(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor cast(Backend& backend, const Tensor& x, DType dtype);
// x itself where it is contiguous, else a copy.
[[nodiscard]] Tensor contiguous(Backend& backend, const Tensor& x);
// Writes x into `out` (same shape, any strides), casting between f32, f16 and bf16.
void copy_into(Backend& backend, const Tensor& x, const Tensor& out);

// Weights.

// Packs w (out, in), in host memory, for linear() with the storage type wanted.
[[nodiscard]] LinearWeight pack_linear(Backend& backend, const Tensor& w, DType storage);
// Packs w (out, in / groups, kernel), in host memory, for conv1d().
[[nodiscard]] LinearWeight pack_conv1d(Backend& backend, const Tensor& w, DType storage,
                                       int64_t groups = 1);
// Packs a matrix (out, in) for each expert, of host memory and one type; matrix_of(e) makes it.
[[nodiscard]] ExpertWeights pack_experts(Backend& backend, int64_t experts,
                                         FunctionRef<Tensor(int64_t)> matrix_of, DType storage);

// Products.

// x (rows, in) -> (rows, out): activation(x W^T + bias) + residual.
[[nodiscard]] Tensor linear(Backend& backend, const Tensor& x, const LinearWeight& w,
                            const LinearParams& params = {});
// Rows through the experts' matrices that `routes` (rows, k) i32 names, each in [0, w.experts): x
// (rows, in), of which each row goes to k experts, or (rows * k, in), a row for each route ->
// (rows * k, out), with the expert's bias.
[[nodiscard]] Tensor routed_linear(Backend& backend, const Tensor& x, const Tensor& routes,
                                   const ExpertWeights& w, const RoutedParams& params = {});
// a (batch, m, k), b (batch, k, n), or (batch, n, k) with transpose_b -> (batch, m, n).
[[nodiscard]] Tensor matmul(Backend& backend, const Tensor& a, const Tensor& b,
                            bool transpose_b = false);
// x (lengths.total(), in) -> (sum of params.out_rows(length), out), utterance by utterance.
[[nodiscard]] Tensor conv1d(Backend& backend, const Tensor& x, const Lengths& lengths,
                            const LinearWeight& w, const Conv1dParams& params);
// The lengths of conv1d's result.
[[nodiscard]] Lengths conv1d_lengths(const Lengths& lengths, const Conv1dParams& params);
// Its transpose: ops/conv_transpose1d.h.
// table (vocabulary, d) f32, f16, bf16 or a block type, ids (n) i32 in [0, vocabulary) -> (n, d).
[[nodiscard]] Tensor embedding(Backend& backend, const Tensor& table, const Tensor& ids);

// Attention.

// q (rows, heads * d); k, v (kv_rows, kv_heads * d) of f32, f16, bf16 or, where 32 divides d, Q8_0,
// both of one type -> (rows, heads * d). The spans of queries are consecutive and cover q.
[[nodiscard]] Tensor attention(Backend& backend, const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionParams& params);
// One utterance's k and v (rows, heads * d) of f32, f16 or bf16, for attention_packed().
[[nodiscard]] KeysValues pack_keys_values(Backend& backend, const Tensor& k, const Tensor& v,
                                          int64_t heads, Precision precision = Precision::Exact);
// q (rows, heads * d) over packed keys and values -> (rows, heads * d). The spans of queries are
// consecutive and cover q.
[[nodiscard]] Tensor attention_packed(Backend& backend, const Tensor& q,
                                      const PackedAttentionParams& params);
// One utterance's probabilities over its first `positions` keys alone, q (rows, heads * d)
// -> (heads, rows, positions).
[[nodiscard]] Tensor attention_probabilities(Backend& backend, const Tensor& q,
                                             const KeysValues& keys, int64_t positions,
                                             int64_t heads, float scale);
// Rotary positions (Su et al. 2021, arXiv:2104.09864). x (rows, heads * d), turns (rows, 2 pairs),
// 2 pairs at most d: the cosines of each row's angles, then their sines -> (rows, heads * d).
// Columns of a head behind its pairs stay. nn/rotary.h makes turns.
[[nodiscard]] Tensor rope(Backend& backend, const Tensor& x, const Tensor& turns, int64_t heads,
                          RopePairs pairs = RopePairs::Halves);

// Norms and distributions, along the last dimension.

// gamma and beta (d).
[[nodiscard]] Tensor layer_norm(Backend& backend, const Tensor& x, const Tensor& gamma,
                                const Tensor& beta, float eps = 1e-5F);
[[nodiscard]] Tensor rms_norm(Backend& backend, const Tensor& x, const Tensor& gamma,
                              float eps = 1e-6F);
// x (lengths.total(), d), gamma and beta (utterances, d) -> (utterances, 2 d): what x is multiplied
// with, and what is added, to normalise each utterance over its time, channel by channel, with
// these gamma and beta (Ulyanov et al. 2016, arXiv:1607.08022). A convolution's input takes them.
[[nodiscard]] Tensor instance_factors(Backend& backend, const Tensor& x, const Lengths& lengths,
                                      const Tensor& gamma, const Tensor& beta, float eps = 1e-5F);
[[nodiscard]] Tensor softmax(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor log_softmax(Backend& backend, const Tensor& x);

// Recurrent.

// x (lengths.total(), in), bias (4h) -> (lengths.total(), h). h and c (utterances, h) hold the
// state before the call and after it.
[[nodiscard]] Tensor lstm(Backend& backend, const Tensor& x, const Lengths& lengths,
                          const LinearWeight& w_ih, const LinearWeight& w_hh, const Tensor& bias,
                          const LstmParams& params, const Tensor& h, const Tensor& c);

// Of utterances that go on, each of one row of states (m, any), rows apart or not: slots
// (utterances) i32 in [0, m), without repeats. What it has behind it, zeros where that is nothing,
// is read and overwritten.

// Causal convolution, channel by channel. x (lengths.total(), d), w (taps, d), the last for the row
// itself, states (m, (taps - 1) * d) -> (lengths.total(), d).
[[nodiscard]] Tensor short_conv(Backend& backend, const Tensor& x, const Lengths& lengths,
                                const Tensor& w, Activation activation, const Tensor& slots,
                                const Tensor& states);
// The gated delta rule: q and k (lengths.total(), key_heads * dk), v (lengths.total(), heads * dv),
// states (m, heads * dk * dv) -> (lengths.total(), heads * dv).
[[nodiscard]] Tensor delta_rule(Backend& backend, const Tensor& q, const Tensor& k, const Tensor& v,
                                const Lengths& lengths, const DeltaRuleParams& params,
                                const Tensor& slots, const Tensor& states);

// Element by element.

[[nodiscard]] Tensor unary(Backend& backend, UnaryOp op, const Tensor& x);
[[nodiscard]] Tensor relu(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor gelu(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor gelu_tanh(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor silu(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor sigmoid(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor tanh(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor exp(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor log(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor sqrt(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor negate(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor abs(Backend& backend, const Tensor& x);
// log(1 + e^x).
[[nodiscard]] Tensor softplus(Backend& backend, const Tensor& x);

// b has a's shape, or is one row of a's last dimension, or one element.
[[nodiscard]] Tensor binary(Backend& backend, BinaryOp op, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor add(Backend& backend, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor sub(Backend& backend, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor mul(Backend& backend, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor div(Backend& backend, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor maximum(Backend& backend, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor minimum(Backend& backend, const Tensor& a, const Tensor& b);
// scale * x + shift.
[[nodiscard]] Tensor affine(Backend& backend, const Tensor& x, float scale, float shift = 0.0F);
// x (..., 2 d) -> (..., d): gates and values side by side (Shazeer 2020, arXiv:2002.05202, equation
// 5: SwiGLU with Silu).
[[nodiscard]] Tensor gated(Backend& backend, const Tensor& x, const GatedParams& params = {});
// x where x >= 0, slope * x below.
[[nodiscard]] Tensor leaky_relu(Backend& backend, const Tensor& x, float slope);
// x (..., d), alpha (d), none of it 0 -> x + sin(alpha x)^2 / alpha, channel by channel (Ziyin,
// Hartwig and Ueda 2020, arXiv:2006.08195, equation 3). NaN where alpha x is beyond f32.
[[nodiscard]] Tensor snake(Backend& backend, const Tensor& x, const Tensor& alpha);
// Any storage type to f32, same shape.
[[nodiscard]] Tensor dequantize(Backend& backend, const Tensor& x);

// Moving rows.

// x (m, d) of any plain type, rows (n) i32 in [0, m) -> (n, d) of the same type: result[i] =
// x[rows[i]].
[[nodiscard]] Tensor gather_rows(Backend& backend, const Tensor& x, const Tensor& rows);
// out[rows[i]] = x[i] for x (n, d) f32, rows (n) i32 without repeats, out (m, d) f32, f16, bf16 or
// Q8_0 (a cache of keys or values); other rows of `out` stay.
void scatter_rows(Backend& backend, const Tensor& x, const Tensor& rows, const Tensor& out);
// (m, n) -> (n, m).
[[nodiscard]] Tensor transpose(Backend& backend, const Tensor& x);

// Along the last dimension.

// (..., d) -> (...), d at least 1.
[[nodiscard]] Tensor reduce(Backend& backend, Reduction op, const Tensor& x);
[[nodiscard]] Tensor sum(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor mean(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor max(Backend& backend, const Tensor& x);
// (..., d) -> (...) i32; the lowest index wins a tie.
[[nodiscard]] Tensor argmax(Backend& backend, const Tensor& x);
[[nodiscard]] Tensor cumsum(Backend& backend, const Tensor& x);
// Median of an odd window, reflected at the ends; where d <= width / 2, x itself.
[[nodiscard]] Tensor median_filter(Backend& backend, const Tensor& x, int64_t width);

// Speech.

// waveform (samples) at 16 kHz -> (sum of frames, n_mels). The spans of frames are consecutive.
[[nodiscard]] Tensor log_mel(Backend& backend, const Tensor& waveform, const LogMelParams& params);

// x (rows, n), window (n), n 4 times twos and fives -> (rows, n / 2 + 1): how strong each
// frequency is in each row, |sum of window[i] x[i] exp(-2 pi i k / n)|.
[[nodiscard]] Tensor magnitude_spectrum(Backend& backend, const Tensor& x, const Tensor& window);

// pitch (lengths.total(), 1) in Hz -> (lengths.total(), samples): a waveform, each value's samples
// in a row.
[[nodiscard]] Tensor sine_source(Backend& backend, const Tensor& pitch, const Lengths& lengths,
                                 const SineSourceParams& params);
// x (lengths.total()), samples of utterances longer than n_fft / 2 -> (sum of frames, 2 bins):
// magnitudes, then phases.
[[nodiscard]] Tensor stft(Backend& backend, const Tensor& x, const Lengths& lengths,
                          const StftParams& params);
// x (lengths.total(), 2 bins), frames: logarithms of magnitudes, then numbers whose sines are the
// phases (Kaneko et al. 2022, arXiv:2203.02395) -> (sum of samples).
[[nodiscard]] Tensor inverse_stft(Backend& backend, const Tensor& x, const Lengths& lengths,
                                  const StftParams& params);

struct SampledTokens {
  Tensor ids;                // (rows, top) i32, best first
  Tensor log_probabilities;  // (rows, top) f32
};

// logits (rows, vocabulary): the next token of each row, or its best few.
[[nodiscard]] SampledTokens sample(Backend& backend, const Tensor& logits,
                                   const SampleParams& params);
// The same, into tensors that are there.
void sample_into(Backend& backend, const Tensor& logits, const SampleParams& params,
                 const SampledTokens& out);

}  // namespace mynah::ops
