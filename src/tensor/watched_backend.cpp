#include "tensor/watched_backend.h"

namespace mynah {

BufferRef WatchedBackend::from_host(std::span<const std::byte> bytes) {
  before("from_host");
  return backend_.from_host(bytes);
}

void WatchedBackend::upload(const void* source, const Tensor& out) {
  before("upload");
  backend_.upload(source, out);
}

void WatchedBackend::download(const Tensor& x, void* destination) {
  before("download");
  backend_.download(x, destination);
}

void WatchedBackend::copy(const Tensor& x, const Tensor& out) {
  before("copy");
  backend_.copy(x, out);
  after("copy", out);
}

void WatchedBackend::synchronize() {
  before("synchronize");
  backend_.synchronize();
}

LinearWeight WatchedBackend::pack_linear(const Tensor& w, DType storage) {
  before("pack_linear");
  return backend_.pack_linear(w, storage);
}

LinearWeight WatchedBackend::pack_conv1d(const Tensor& w, DType storage, int64_t groups) {
  before("pack_conv1d");
  return backend_.pack_conv1d(w, storage, groups);
}

void WatchedBackend::linear(const Tensor& x, const LinearWeight& w, const LinearParams& params,
                            const Tensor& out) {
  before("linear");
  backend_.linear(x, w, params, out);
  after("linear", out);
}

void WatchedBackend::matmul(const Tensor& a, const Tensor& b, bool transpose_b, const Tensor& out) {
  before("matmul");
  backend_.matmul(a, b, transpose_b, out);
  after("matmul", out);
}

void WatchedBackend::conv1d(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                            const Conv1dParams& params, const Tensor& out) {
  before("conv1d");
  backend_.conv1d(x, lengths, w, params, out);
  after("conv1d", out);
}

void WatchedBackend::embedding(const Tensor& table, const Tensor& ids, const Tensor& out) {
  before("embedding");
  backend_.embedding(table, ids, out);
  after("embedding", out);
}

void WatchedBackend::attention(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionParams& params, const Tensor& out) {
  before("attention");
  backend_.attention(q, k, v, params, out);
  after("attention", out);
}

KeysValues WatchedBackend::pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                                            Precision precision) {
  before("pack_keys_values");
  return backend_.pack_keys_values(k, v, heads, precision);
}

void WatchedBackend::attention_packed(const Tensor& q, const PackedAttentionParams& params,
                                      const Tensor& out) {
  before("attention_packed");
  backend_.attention_packed(q, params, out);
  after("attention_packed", out);
}

void WatchedBackend::attention_probabilities(const Tensor& q, const KeysValues& keys, int64_t heads,
                                             float scale, const Tensor& out) {
  before("attention_probabilities");
  backend_.attention_probabilities(q, keys, heads, scale, out);
  after("attention_probabilities", out);
}

void WatchedBackend::rope(const Tensor& x, const Tensor& positions, int64_t heads, float theta,
                          const Tensor& out) {
  before("rope");
  backend_.rope(x, positions, heads, theta, out);
  after("rope", out);
}

void WatchedBackend::layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps,
                                const Tensor& out) {
  before("layer_norm");
  backend_.layer_norm(x, gamma, beta, eps, out);
  after("layer_norm", out);
}

void WatchedBackend::rms_norm(const Tensor& x, const Tensor& gamma, float eps, const Tensor& out) {
  before("rms_norm");
  backend_.rms_norm(x, gamma, eps, out);
  after("rms_norm", out);
}

void WatchedBackend::instance_factors(const Tensor& x, const Lengths& lengths, const Tensor& gamma,
                                      const Tensor& beta, float eps, const Tensor& out) {
  before("instance_factors");
  backend_.instance_factors(x, lengths, gamma, beta, eps, out);
  after("instance_factors", out);
}

void WatchedBackend::softmax(const Tensor& x, const Tensor& out) {
  before("softmax");
  backend_.softmax(x, out);
  after("softmax", out);
}

void WatchedBackend::log_softmax(const Tensor& x, const Tensor& out) {
  before("log_softmax");
  backend_.log_softmax(x, out);
  after("log_softmax", out);
}

void WatchedBackend::lstm(const Tensor& x, const Lengths& lengths, const LinearWeight& w_ih,
                          const LinearWeight& w_hh, const Tensor& bias, const LstmParams& params,
                          const Tensor& h, const Tensor& c, const Tensor& out) {
  before("lstm");
  backend_.lstm(x, lengths, w_ih, w_hh, bias, params, h, c, out);
  after("lstm", out);
}

void WatchedBackend::unary(UnaryOp op, const Tensor& x, const Tensor& out) {
  before("unary");
  backend_.unary(op, x, out);
  after("unary", out);
}

void WatchedBackend::binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
  before("binary");
  backend_.binary(op, a, b, out);
  after("binary", out);
}

void WatchedBackend::affine(const Tensor& x, float a, float b, const Tensor& out) {
  before("affine");
  backend_.affine(x, a, b, out);
  after("affine", out);
}

void WatchedBackend::leaky_relu(const Tensor& x, float slope, const Tensor& out) {
  before("leaky_relu");
  backend_.leaky_relu(x, slope, out);
  after("leaky_relu", out);
}

void WatchedBackend::snake(const Tensor& x, const Tensor& alpha, const Tensor& out) {
  before("snake");
  backend_.snake(x, alpha, out);
  after("snake", out);
}

void WatchedBackend::dequantize(const Tensor& x, const Tensor& out) {
  before("dequantize");
  backend_.dequantize(x, out);
  after("dequantize", out);
}

void WatchedBackend::gather_rows(const Tensor& x, const Tensor& rows, const Tensor& out) {
  before("gather_rows");
  backend_.gather_rows(x, rows, out);
  after("gather_rows", out);
}

void WatchedBackend::scatter_rows(const Tensor& x, const Tensor& rows, const Tensor& out) {
  before("scatter_rows");
  backend_.scatter_rows(x, rows, out);
  after("scatter_rows", out);
}

void WatchedBackend::transpose(const Tensor& x, const Tensor& out) {
  before("transpose");
  backend_.transpose(x, out);
  after("transpose", out);
}

void WatchedBackend::reduce(Reduction op, const Tensor& x, const Tensor& out) {
  before("reduce");
  backend_.reduce(op, x, out);
  after("reduce", out);
}

void WatchedBackend::argmax(const Tensor& x, const Tensor& out) {
  before("argmax");
  backend_.argmax(x, out);
  after("argmax", out);
}

void WatchedBackend::cumsum(const Tensor& x, const Tensor& out) {
  before("cumsum");
  backend_.cumsum(x, out);
  after("cumsum", out);
}

void WatchedBackend::median_filter(const Tensor& x, int64_t width, const Tensor& out) {
  before("median_filter");
  backend_.median_filter(x, width, out);
  after("median_filter", out);
}

void WatchedBackend::log_mel(const Tensor& waveform, const LogMelParams& params,
                             const Tensor& out) {
  before("log_mel");
  backend_.log_mel(waveform, params, out);
  after("log_mel", out);
}

void WatchedBackend::magnitude_spectrum(const Tensor& x, const Tensor& window, const Tensor& out) {
  before("magnitude_spectrum");
  backend_.magnitude_spectrum(x, window, out);
  after("magnitude_spectrum", out);
}

void WatchedBackend::sine_source(const Tensor& pitch, const Lengths& lengths,
                                 const SineSourceParams& params, const Tensor& out) {
  before("sine_source");
  backend_.sine_source(pitch, lengths, params, out);
  after("sine_source", out);
}

void WatchedBackend::stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                          const Tensor& out) {
  before("stft");
  backend_.stft(x, lengths, params, out);
  after("stft", out);
}

void WatchedBackend::inverse_stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                                  const Tensor& out) {
  before("inverse_stft");
  backend_.inverse_stft(x, lengths, params, out);
  after("inverse_stft", out);
}

void WatchedBackend::pick_token(const Tensor& logits, const PickTokenParams& params,
                                const Tensor& ids, const Tensor& log_probabilities) {
  before("pick_token");
  backend_.pick_token(logits, params, ids, log_probabilities);
  after("pick_token", ids);
  after("pick_token", log_probabilities);
}

}  // namespace mynah
