#include "models/llama/projections.h"

#include <fmt/format.h>

#include "nn/beside.h"

namespace mynah::llama {

Result<Projections> Projections::load(const Weights& w, std::span<const Part> parts, int64_t in) {
  Projections all;
  all.backend_ = &w.backend();
  std::vector<std::string_view> names;
  int64_t out = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string matrix = fmt::format("{}.weight", parts[i].name);
    MYNAH_TRY_STATUS(w.expect(matrix, {parts[i].out, in}));
    names.push_back(parts[i].name);
    out += parts[i].out;
    if (i + 1 < parts.size()) {
      MYNAH_TRY(const DType own, w.dtype(matrix));
      MYNAH_TRY(const DType next, w.dtype(fmt::format("{}.weight", parts[i + 1].name)));
      if (own == next) {
        continue;
      }
    }
    MYNAH_TRY(Linear product, Linear::load_stacked(w, names, {.in = in, .out = out}));
    all.products_.push_back(std::move(product));
    names.clear();
    out = 0;
  }
  return all;
}

Tensor Projections::operator()(const Tensor& x) const {
  std::vector<Tensor> results;
  results.reserve(products_.size());
  for (const Linear& product : products_) {
    results.push_back(product(x));
  }
  return results.size() == 1 ? std::move(results.front()) : beside(*backend_, results);
}

}  // namespace mynah::llama
