// RefBackend: every operation in plain loops. It is the definition of what the operations mean, and
// the oracle of every test.
#pragma once

#include <memory>

#include "tensor/backend.h"
#include "tensor/host_pool.h"

namespace mynah {

// Stores f32 and computes in double, so that its error is half a unit in the last place of the
// result (plus what cancellation leaves of 1e-16): far below that of any backend under test.
// Weights are the numbers that their storage type can hold, kept as f32; Precision::Fast is treated
// as Exact. One thread, any number of callers.
class RefBackend final : public Backend {
 public:
  [[nodiscard]] Device device() const override { return {DeviceKind::Ref, 0}; }

  [[nodiscard]] std::string description() const override { return "plain loops, 1 thread"; }

  // Every float and block type, and I8.
  [[nodiscard]] bool supports_weight(DType dtype) const override;

  BufferRef allocate(size_t bytes) override { return pool_.allocate(bytes); }

  void upload(const void* source, const Tensor& out) override;
  void download(const Tensor& x, void* destination) override;
  void copy(const Tensor& x, const Tensor& out) override;

  void synchronize() override {}

  void release_idle_memory() override { pool_.trim_large(); }

  [[nodiscard]] size_t memory_held() const override { return pool_.bytes_held(); }

  LinearWeight pack_linear(const Tensor& w, DType storage) override;
  LinearWeight pack_conv1d(const Tensor& w, DType storage, int64_t groups) override;

  [[nodiscard]] std::string packed_layout() const override { return "ref-f32-1"; }

  void linear(const Tensor& x, const LinearWeight& w, const LinearParams& params,
              const Tensor& out) override;
  void matmul(const Tensor& a, const Tensor& b, bool transpose_b, const Tensor& out) override;
  void conv1d(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
              const Conv1dParams& params, const Tensor& out) override;
  void embedding(const Tensor& table, const Tensor& ids, const Tensor& out) override;

  void attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionParams& params,
                 const Tensor& out) override;
  KeysValues pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                              Precision precision) override;
  [[nodiscard]] size_t keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                         Precision precision) const override;
  void attention_packed(const Tensor& q, const PackedAttentionParams& params,
                        const Tensor& out) override;
  void attention_probabilities(const Tensor& q, const KeysValues& keys, int64_t heads, float scale,
                               const Tensor& out) override;
  void rope(const Tensor& x, const Tensor& positions, int64_t heads, float theta,
            const Tensor& out) override;

  void layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps,
                  const Tensor& out) override;
  void rms_norm(const Tensor& x, const Tensor& gamma, float eps, const Tensor& out) override;
  void instance_factors(const Tensor& x, const Lengths& lengths, const Tensor& gamma,
                        const Tensor& beta, float eps, const Tensor& out) override;
  void softmax(const Tensor& x, const Tensor& out) override;
  void log_softmax(const Tensor& x, const Tensor& out) override;

  void lstm(const Tensor& x, const Lengths& lengths, const LinearWeight& w_ih,
            const LinearWeight& w_hh, const Tensor& bias, const LstmParams& params, const Tensor& h,
            const Tensor& c, const Tensor& out) override;

  void unary(UnaryOp op, const Tensor& x, const Tensor& out) override;
  void binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) override;
  void affine(const Tensor& x, float a, float b, const Tensor& out) override;
  void leaky_relu(const Tensor& x, float slope, const Tensor& out) override;
  void snake(const Tensor& x, const Tensor& alpha, const Tensor& out) override;
  void dequantize(const Tensor& x, const Tensor& out) override;

  void gather_rows(const Tensor& x, const Tensor& rows, const Tensor& out) override;
  void scatter_rows(const Tensor& x, const Tensor& rows, const Tensor& out) override;
  void transpose(const Tensor& x, const Tensor& out) override;

  void reduce(Reduction op, const Tensor& x, const Tensor& out) override;
  void argmax(const Tensor& x, const Tensor& out) override;
  void cumsum(const Tensor& x, const Tensor& out) override;
  void median_filter(const Tensor& x, int64_t width, const Tensor& out) override;

  void log_mel(const Tensor& waveform, const LogMelParams& params, const Tensor& out) override;
  void magnitude_spectrum(const Tensor& x, const Tensor& window, const Tensor& out) override;
  void sine_source(const Tensor& pitch, const Lengths& lengths, const SineSourceParams& params,
                   const Tensor& out) override;
  void stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
            const Tensor& out) override;
  void inverse_stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                    const Tensor& out) override;
  void pick_token(const Tensor& logits, const PickTokenParams& params, const Tensor& ids,
                  const Tensor& log_probabilities) override;

 private:
  HostPool pool_;
};

std::unique_ptr<Backend> make_ref_backend();

}  // namespace mynah
