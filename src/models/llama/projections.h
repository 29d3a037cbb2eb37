// Projections: several matrices over one input, as few products as the file's types allow.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nn/linear.h"

namespace mynah::llama {

class Projections {
 public:
  struct Part {
    std::string_view name;
    int64_t out = 0;
  };

  // w holds "NAME.weight" (out, in) of each part and, where there is one, "NAME.bias" (out).
  // Neighbours of one type become one product; quantisers keep some matrices of a layer more
  // exactly than others (llama.cpp's Q4_K_M has values in Q6_K beside queries in Q4_K).
  [[nodiscard]] static Result<Projections> load(const Weights& w, std::span<const Part> parts,
                                                int64_t in);

  // x (rows, in) -> (rows, the parts' out in sum), side by side in their order.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  Backend* backend_ = nullptr;
  std::vector<Linear> products_;
};

}  // namespace mynah::llama
