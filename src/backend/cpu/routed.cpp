// Products of rows with the matrices of the experts that they were sent to: expert by expert, each
// that any row wants once.
#include <cstring>

#include "backend/cpu/cpu_backend_class.h"
#include "base/check.h"

namespace mynah::cpu {
namespace {

// Rows of a result by their experts: those of expert e stand in order[begins[e], begins[e + 1]).
struct ByExpert {
  ByExpert(HostPool& memory, const Tensor& routes, int64_t experts)
      : order(memory, routes.elements()), begins(memory, experts + 1) {
    const auto expert_of = [&](int64_t i) -> int64_t { return routes.data<int32_t>()[i]; };
    std::fill_n(begins.data(), experts + 1, 0);
    for (int64_t i = 0; i < routes.elements(); ++i) {
      MYNAH_CHECK(expert_of(i) >= 0 && expert_of(i) < experts, "[routed_linear] expert ",
                  std::to_string(expert_of(i)), " of ", std::to_string(experts));
      ++begins[expert_of(i) + 1];
    }
    for (int64_t e = 0; e < experts; ++e) {
      begins[e + 1] += begins[e];
    }
    const Scratch<int64_t> next(memory, experts);
    std::copy_n(begins.data(), experts, next.data());
    for (int64_t i = 0; i < routes.elements(); ++i) {
      order[next[expert_of(i)]++] = i;
    }
  }

  Scratch<int64_t> order;
  Scratch<int64_t> begins;
};

}  // namespace

void CpuBackend::routed_linear(const Tensor& x, const Tensor& routes, const ExpertWeights& w,
                               const RoutedParams& params, const Tensor& out) {
  const int64_t each = out.dim(0) / x.dim(0);  // routes of a row of x
  const ByExpert by(memory_, routes, w.experts);
  const auto in_bytes = static_cast<size_t>(w.in_features) * sizeof(float);
  const auto out_bytes = static_cast<size_t>(w.out_features) * sizeof(float);
  for (int64_t expert = 0; expert < w.experts; ++expert) {
    const int64_t* const rows = by.order.data() + by.begins[expert];
    const int64_t count = by.begins[expert + 1] - by.begins[expert];
    if (count == 0) {
      continue;
    }
    Target target{.data = writable_row(out, rows[0]), .stride = w.out_features};
    if (params.bias != nullptr) {
      target.bias = row_of(*params.bias, expert);
    }
    if (count == 1) {
      product({row_of(x, rows[0] / each), w.in_features, 1}, w.of(expert), params.precision,
              target);
      continue;
    }
    const Scratch<float> from(memory_, count * w.in_features);
    const Scratch<float> to(memory_, count * w.out_features);
    target.data = to.data();
    for_rows(count, w.in_features, [&](int64_t i) {
      std::memcpy(from.data() + i * w.in_features, row_of(x, rows[i] / each), in_bytes);
    });
    product({from.data(), w.in_features, count}, w.of(expert), params.precision, target);
    for_rows(count, w.out_features, [&](int64_t i) {
      std::memcpy(writable_row(out, rows[i]), to.data() + i * w.out_features, out_bytes);
    });
  }
}

}  // namespace mynah::cpu
