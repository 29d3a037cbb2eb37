// Instance norm's factors: moments of pieces of an utterance, joined in order.
#include <algorithm>
#include <cmath>

#include "backend/cpu/cpu_backend_class.h"

namespace mynah::cpu {

void CpuBackend::instance_factors(const Tensor& x, const Lengths& lengths, const Tensor& gamma,
                                  const Tensor& beta, float eps, const Tensor& out) {
  // Rows of a piece: sums of so few lose little in f32, and a long utterance makes work for all
  // threads.
  constexpr int64_t kPiece = 128;
  const int64_t d = x.dim(1);
  for (int64_t u = 0; u < lengths.count(); ++u) {
    const Span& span = lengths[u];
    float* const scale = out.data<float>() + u * out.stride(0);
    float* const shift = scale + d;
    if (span.length == 0) {
      std::fill_n(scale, 2 * d, 0.0F);
      continue;
    }
    const int64_t pieces = (span.length + kPiece - 1) / kPiece;
    const auto first_row = [&](int64_t piece) {
      return x.data<float>() + (span.begin + piece * kPiece) * x.stride(0);
    };
    const Scratch<float> moments(memory_, pieces * 2 * d);
    for_rows(pieces, kPiece * d, [&](int64_t piece) {
      float* const sums = moments.data() + piece * 2 * d;
      kernels_.column_moments(first_row(piece), x.stride(0),
                              std::min(kPiece, span.length - piece * kPiece), d, sums, sums + d);
    });
    const Scratch<double> joined(memory_, 2 * d);
    double* const mean = joined.data();
    double* const squares = mean + d;
    std::fill_n(mean, 2 * d, 0.0);
    double before = 0.0;  // rows so far
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const auto rows = static_cast<double>(std::min(kPiece, span.length - piece * kPiece));
      const float* const sums = moments.data() + piece * 2 * d;
      const float* const first = first_row(piece);
      const double all = before + rows;
      // Each piece's squares are about its own mean: the distance of the means adds to them (Chan,
      // Golub and LeVeque 1979).
      for (int64_t c = 0; c < d; ++c) {
        const double part = static_cast<double>(sums[c]) / rows;
        const double distance = static_cast<double>(first[c]) + part - mean[c];
        squares[c] += static_cast<double>(sums[d + c]) - static_cast<double>(sums[c]) * part +
                      distance * distance * before * rows / all;
        mean[c] += distance * rows / all;
      }
      before = all;
    }
    const float* const own_gamma = gamma.data<float>() + u * gamma.stride(0);
    const float* const own_beta = beta.data<float>() + u * beta.stride(0);
    for (int64_t c = 0; c < d; ++c) {
      const double variance = std::max(0.0, squares[c] / before);
      const double factor =
          static_cast<double>(own_gamma[c]) / std::sqrt(variance + static_cast<double>(eps));
      scale[c] = static_cast<float>(factor);
      shift[c] = static_cast<float>(static_cast<double>(own_beta[c]) - mean[c] * factor);
    }
  }
}

}  // namespace mynah::cpu
