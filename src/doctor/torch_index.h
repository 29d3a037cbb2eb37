// Where PyTorch's wheels for one CUDA version are.
#pragma once

#include <string>
#include <string_view>

namespace mynah::doctor {

// PyTorch's own index, by the variant behind '+': "cu128", "cpu".
[[nodiscard]] inline std::string torch_index(std::string_view variant) {
  return std::string("https://download.pytorch.org/whl/").append(variant);
}

}  // namespace mynah::doctor
