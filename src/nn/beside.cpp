#include "nn/beside.h"

namespace mynah {

Tensor beside(Backend& backend, std::span<const Tensor> parts) {
  int64_t columns = 0;
  for (const Tensor& part : parts) {
    columns += part.dim(1);
  }
  Tensor all = ops::empty(backend, {parts.front().dim(0), columns});
  int64_t begin = 0;
  for (const Tensor& part : parts) {
    ops::copy_into(backend, part, all.narrow(1, begin, part.dim(1)));
    begin += part.dim(1);
  }
  return all;
}

}  // namespace mynah
