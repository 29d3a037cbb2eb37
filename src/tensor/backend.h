// Backend: what a device must do. One pure virtual an operation, so that a gap is a compile error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/thread_pool.h"
#include "tensor/op_params.h"
#include "tensor/step_runner.h"
#include "tensor/tensor.h"

namespace mynah {

// Called by ops/, which has checked every shape and allocated every result: implementations trust
// their arguments. Tensors named `out` are written whole. Unless a line says otherwise tensors are
// f32, and rows may be strided, results are contiguous. Operations along the last dimension and
// element by element get (rows, d) whatever the rank in the model (a row or one element that binary
// spreads: (1, d) or (1, 1); results of reductions: (rows)); no operation is called for an empty
// result. Results do not depend on the number of threads, nor on an
// utterance's neighbours in a batch. Throws DeviceError when the device fails.
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] virtual Device device() const = 0;
  // For people: "avx3_dl, 2 threads".
  [[nodiscard]] virtual std::string description() const = 0;
  // Whether linear() and conv1d() take weights stored as this type: asked once, when a model is
  // loaded.
  [[nodiscard]] virtual bool supports_weight(DType dtype) const = 0;

  // The backend whose tensors these are: itself, or the one behind it (WatchedBackend). Two with
  // the same owner read each other's tensors; between others values go through the host.
  [[nodiscard]] virtual const Backend& owner() const { return *this; }

  // Kernels launched so far, those of replayed graphs included; 0 where there are no kernels.
  [[nodiscard]] virtual uint64_t launches() const { return 0; }

  // Running side by side
  // --------------------------------------------------------------------------------------------------
  // Parts of the device that long work is best shared out to, where there is enough of it for each:
  // 1 where one caller keeps all of it busy.
  [[nodiscard]] virtual int parts() const { return 1; }

  // Calls fn(0) ... fn(parts - 1), each with a part of the device for the operations that it calls,
  // at the same time where the device can. parts <= parts(); fn does not throw.
  virtual void run_parts(int parts, FunctionRef<void(int)> fn) {
    for (int i = 0; i < parts; ++i) {
      fn(i);
    }
  }

  // Rows that are best taken together through a chain of products whose results in between are much
  // wider than what goes in: few where those are to stay in a cache, many where a launch costs and
  // wants work for the whole device. No result depends on it.
  [[nodiscard]] virtual int64_t rows_together() const {
    return std::numeric_limits<int64_t>::max();
  }

  // For a loop of equal steps; not to be called before the backend is whole.
  [[nodiscard]] virtual std::unique_ptr<StepRunner> make_step_runner() {
    return make_plain_step_runner(*this);
  }

  // Memory
  // -------------------------------------------------------------------------------------------------------
  virtual BufferRef allocate(size_t bytes) = 0;

  // Memory with these bytes of the host; never empty. In a step (StepRunner) they travel with all
  // others of it.
  virtual BufferRef from_host(std::span<const std::byte> bytes) {
    BufferRef buffer = allocate(bytes.size());
    upload(bytes.data(),
           Tensor(buffer, 0, {static_cast<int64_t>(bytes.size())}, DType::U8, device()));
    return buffer;
  }

  // host -> device and device -> host; sizes agree, the device side is contiguous.
  virtual void upload(const void* source, const Tensor& out) = 0;
  virtual void download(const Tensor& x, void* destination) = 0;
  // Same shape; either side may be strided. Casts between f32, f16 and bf16 (to nearest even).
  virtual void copy(const Tensor& x, const Tensor& out) = 0;
  virtual void synchronize() = 0;
  // Gives memory back to the system that was in use and is not: between two stages of very
  // different need, since getting it again takes time.
  virtual void release_idle_memory() = 0;
  // Bytes held from the system by this backend's pool.
  [[nodiscard]] virtual size_t memory_held() const = 0;

  // How much of the device's own memory is free; none where it has none, or does not tell.
  [[nodiscard]] virtual std::optional<DeviceMemory> device_memory() const { return std::nullopt; }

  // Weights
  // ------------------------------------------------------------------------------------------------------
  // Packs w (out, in) of any plain float type or block type, in this device's memory, for linear()
  // with the storage type wanted. A block type can only be kept as it is or widened to f32, f16 or
  // bf16 or requantised to I8. w is in host memory, as files give it.
  virtual LinearWeight pack_linear(const Tensor& w, DType storage) = 0;
  // Packs w (out, in / groups, kernel) for conv1d().
  virtual LinearWeight pack_conv1d(const Tensor& w, DType storage, int64_t groups) = 0;
  // Name of the packed layout; a packed file written under another name is stale.
  [[nodiscard]] virtual std::string packed_layout() const = 0;

  // Products
  // -----------------------------------------------------------------------------------------------------
  // x (rows, in) -> out (rows, out).
  virtual void linear(const Tensor& x, const LinearWeight& w, const LinearParams& params,
                      const Tensor& out) = 0;
  // a (batch, m, k), b (batch, k, n) or with transpose_b (batch, n, k) -> out (batch, m, n).
  virtual void matmul(const Tensor& a, const Tensor& b, bool transpose_b, const Tensor& out) = 0;
  // x (sum of rows, in) -> out (sum of out_rows, out), utterance by utterance. Rows of out may be
  // strided: a part of a transposed convolution (ops/conv_transpose1d.h).
  virtual void conv1d(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                      const Conv1dParams& params, const Tensor& out) = 0;
  // ids (n) i32, table (vocabulary, d) f32, f16, bf16 or a block type -> out (n, d).
  virtual void embedding(const Tensor& table, const Tensor& ids, const Tensor& out) = 0;

  // Attention
  // ----------------------------------------------------------------------------------------------------
  // q (rows, heads * d), k and v (kv_rows, kv_heads * d) both f32, f16 or bf16 -> out (rows,
  // heads * d).
  virtual void attention(const Tensor& q, const Tensor& k, const Tensor& v,
                         const AttentionParams& params, const Tensor& out) = 0;
  // Packs one utterance's k and v (rows, heads * d), f32, f16 or bf16, for attention_packed().
  virtual KeysValues pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                                      Precision precision) = 0;
  // Bytes of what pack_keys_values() makes: whether bytes kept from another run can be such.
  [[nodiscard]] virtual size_t keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                                 Precision precision) const = 0;
  // q (rows, heads * d) -> out (rows, heads * d).
  virtual void attention_packed(const Tensor& q, const PackedAttentionParams& params,
                                const Tensor& out) = 0;
  // The probabilities themselves, for word times: softmax over the first out.dim(2) of the keys
  // alone -> out (heads, queries, positions).
  virtual void attention_probabilities(const Tensor& q, const KeysValues& keys, int64_t heads,
                                       float scale, const Tensor& out) = 0;
  // Rotary embedding in place of a copy: x (rows, heads * d), positions (rows) i32, pairs (i, i + d
  // / 2) -> out.
  virtual void rope(const Tensor& x, const Tensor& positions, int64_t heads, float theta,
                    const Tensor& out) = 0;

  // Norms and shapes of distributions
  // ---------------------------------------------------------------------------- Over the last
  // dimension: (x - mean) / sqrt(variance + eps) * gamma + beta.
  virtual void layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps,
                          const Tensor& out) = 0;
  // x / sqrt(mean(x^2) + eps) * gamma.
  virtual void rms_norm(const Tensor& x, const Tensor& gamma, float eps, const Tensor& out) = 0;
  // Instance norm, over the time of each utterance, channel by channel, is (x - mean) /
  // sqrt(variance + eps) * gamma + beta: here as what x is multiplied with, then what is added.
  // gamma and beta (utterances, d) -> out (utterances, 2 d), zeros where there are no rows.
  virtual void instance_factors(const Tensor& x, const Lengths& lengths, const Tensor& gamma,
                                const Tensor& beta, float eps, const Tensor& out) = 0;
  // Over the last dimension.
  virtual void softmax(const Tensor& x, const Tensor& out) = 0;
  virtual void log_softmax(const Tensor& x, const Tensor& out) = 0;

  // Recurrent
  // ----------------------------------------------------------------------------------------------------
  // x (sum of rows, in); w_ih (4h, in), w_hh (4h, h) packed; bias (4h), both biases summed; h and c
  // (utterances, h) are the state, read and overwritten -> out (sum of rows, h).
  virtual void lstm(const Tensor& x, const Lengths& lengths, const LinearWeight& w_ih,
                    const LinearWeight& w_hh, const Tensor& bias, const LstmParams& params,
                    const Tensor& h, const Tensor& c, const Tensor& out) = 0;

  // Element by element
  // -------------------------------------------------------------------------------------------
  virtual void unary(UnaryOp op, const Tensor& x, const Tensor& out) = 0;
  // Same shapes, or b is one row (last dimension) for every row of a, or one element.
  virtual void binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) = 0;
  // out = a * x + b.
  virtual void affine(const Tensor& x, float a, float b, const Tensor& out) = 0;
  // x where x >= 0, slope * x below.
  virtual void leaky_relu(const Tensor& x, float slope, const Tensor& out) = 0;
  // out = x + sin(alpha * x)^2 / alpha, alpha (d) contiguous: one number a channel.
  virtual void snake(const Tensor& x, const Tensor& alpha, const Tensor& out) = 0;
  // Any dtype to f32: block types are dequantised as ggml-quants.c does.
  virtual void dequantize(const Tensor& x, const Tensor& out) = 0;

  // Moving rows
  // --------------------------------------------------------------------------------------------------
  // out[i] = x[rows[i]]; rows (n) i32; any plain dtype.
  virtual void gather_rows(const Tensor& x, const Tensor& rows, const Tensor& out) = 0;
  // out[rows[i]] = x[i]; other rows of `out` stay. Casts f32 to out's f32, f16 or bf16.
  virtual void scatter_rows(const Tensor& x, const Tensor& rows, const Tensor& out) = 0;
  // (m, n) -> (n, m).
  virtual void transpose(const Tensor& x, const Tensor& out) = 0;

  // Over the last dimension
  // --------------------------------------------------------------------------------------
  virtual void reduce(Reduction op, const Tensor& x, const Tensor& out) = 0;
  // out i32; the lowest index wins a tie.
  virtual void argmax(const Tensor& x, const Tensor& out) = 0;
  virtual void cumsum(const Tensor& x, const Tensor& out) = 0;
  // Median of an odd window along the last dimension, reflected at the ends (openai/whisper
  // timing.py median_filter).
  virtual void median_filter(const Tensor& x, int64_t width, const Tensor& out) = 0;

  // Speech
  // -------------------------------------------------------------------------------------------------------
  // waveform (samples), 16 kHz -> out (sum of frames, n_mels).
  virtual void log_mel(const Tensor& waveform, const LogMelParams& params, const Tensor& out) = 0;
  // x (rows, n), window (n), n 4 times twos and fives -> out (rows, n / 2 + 1): magnitudes of
  // the discrete Fourier transforms of rows times window.
  virtual void magnitude_spectrum(const Tensor& x, const Tensor& window, const Tensor& out) = 0;
  // pitch (values, 1), Hz -> out (values, samples): the samples of each value, between -1 and 1.
  virtual void sine_source(const Tensor& pitch, const Lengths& lengths,
                           const SineSourceParams& params, const Tensor& out) = 0;
  // x (samples), utterances of more than n_fft / 2 samples -> out (frames, 2 bins): magnitudes,
  // then phases.
  virtual void stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                    const Tensor& out) = 0;
  // x (frames, 2 bins), logarithms of magnitudes, then numbers whose sines are the phases -> out
  // (samples): by overlap and addition, divided by the sum of the squared windows (Griffin and Lim
  // 1984).
  virtual void inverse_stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                            const Tensor& out) = 0;
  // logits (rows, vocabulary) -> ids (rows, top) i32, log_probabilities (rows, top) under the
  // distribution that penalties and rules leave.
  virtual void pick_token(const Tensor& logits, const PickTokenParams& params, const Tensor& ids,
                          const Tensor& log_probabilities) = 0;
};

// Whether tensors of one backend are the other's as they are.
[[nodiscard]] inline bool share_tensors(const Backend& a, const Backend& b) {
  return &a.owner() == &b.owner();
}

}  // namespace mynah
