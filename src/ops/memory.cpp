// Tensors made, copied and brought to and from the host; weights packed.
#include <algorithm>
#include <array>
#include <memory>

#include "ops/expect.h"
#include "ops/ops.h"

namespace mynah::ops {
namespace {

constexpr std::array<std::byte, 16384> kZeros{};

template <class T>
Tensor upload_values(Backend& backend, std::span<const T> values, const Shape& shape, DType dtype) {
  MYNAH_CHECK(static_cast<int64_t>(values.size()) == shape.elements(), "[from_host] ", shape.str(),
              " wants other than ", std::to_string(values.size()), " values");
  return from_host(backend, std::as_bytes(values), shape, dtype);
}

template <class T>
void download_values(Backend& backend, const Tensor& x, std::span<T> values, DType dtype) {
  expect_type(backend, "to_host", "x", x, dtype);
  MYNAH_CHECK(static_cast<int64_t>(values.size()) == x.elements(), "[to_host] ", x.shape().str(),
              " does not fit ", std::to_string(values.size()), " values");
  if (!values.empty()) {
    backend.download(contiguous(backend, x), values.data());
  }
}

}  // namespace

Tensor empty(Backend& backend, const Shape& shape, DType dtype) {
  return {backend.allocate(storage_bytes(dtype, shape.elements())), 0, shape, dtype,
          backend.device()};
}

Tensor zeros(Backend& backend, const Shape& shape, DType dtype) {
  MYNAH_CHECK(!is_block_type(dtype), "[zeros] wants a plain type, got ", name(dtype));
  Tensor out = empty(backend, shape, dtype);
  const Tensor flat = out.reshape({shape.elements()});
  const auto step = static_cast<int64_t>(kZeros.size() / block_bytes(dtype));
  for (int64_t i = 0; i < flat.elements(); i += step) {
    backend.upload(kZeros.data(), flat.narrow(0, i, std::min(step, flat.elements() - i)));
  }
  return out;
}

Tensor from_host(Backend& backend, std::span<const float> values, const Shape& shape) {
  return upload_values(backend, values, shape, DType::F32);
}

Tensor from_host(Backend& backend, std::span<const int32_t> values, const Shape& shape) {
  return upload_values(backend, values, shape, DType::I32);
}

Tensor from_host(Backend& backend, std::span<const std::byte> bytes, const Shape& shape,
                 DType dtype) {
  MYNAH_CHECK(bytes.size() == storage_bytes(dtype, shape.elements()), "[from_host] ", shape.str(),
              " of ", name(dtype), " wants other than ", std::to_string(bytes.size()), " bytes");
  return bytes.empty() ? empty(backend, shape, dtype)
                       : Tensor(backend.from_host(bytes), 0, shape, dtype, backend.device());
}

Tensor to_device(Backend& backend, const Tensor& host) {
  MYNAH_CHECK(host.defined() && host.device().kind == DeviceKind::Cpu && host.contiguous(),
              "[to_device] wants a contiguous tensor of host memory");
  if (backend.device() == host.device()) {
    return host;
  }
  return from_host(backend, {host.raw(), storage_bytes(host.dtype(), host.elements())},
                   host.shape(), host.dtype());
}

Tensor hand_over(Backend& from, Backend& to, const Tensor& x) {
  if (share_tensors(from, to) || !x.defined()) {
    return x;
  }
  const auto count = static_cast<size_t>(x.elements());
  const auto values = std::make_unique_for_overwrite<float[]>(count);
  to_host(from, x, std::span(values.get(), count));
  return from_host(to, std::span<const float>(values.get(), count), x.shape());
}

void to_host(Backend& backend, const Tensor& x, std::span<float> values) {
  download_values(backend, x, values, DType::F32);
}

void to_host(Backend& backend, const Tensor& x, std::span<int32_t> values) {
  download_values(backend, x, values, DType::I32);
}

std::vector<float> to_host(Backend& backend, const Tensor& x) {
  std::vector<float> values(static_cast<size_t>(x.elements()));
  to_host(backend, x, values);
  return values;
}

std::vector<int32_t> to_host_i32(Backend& backend, const Tensor& x) {
  std::vector<int32_t> values(static_cast<size_t>(x.elements()));
  to_host(backend, x, values);
  return values;
}

void copy_into(Backend& backend, const Tensor& x, const Tensor& out) {
  expect_type(backend, "copy", "x", x, x.dtype());
  expect_type(backend, "copy", "out", out, out.dtype());
  MYNAH_CHECK(x.shape() == out.shape(), "[copy] x must be ", out.shape().str(), ", got ",
              x.shape().str());
  if (x.dtype() != out.dtype()) {
    expect_float("copy", "x", x);
    expect_float("copy", "out", out);
  }
  if (x.elements() > 0) {
    backend.copy(x, out);
  }
}

Tensor copy(Backend& backend, const Tensor& x) {
  return cast(backend, x, x.dtype());
}

Tensor cast(Backend& backend, const Tensor& x, DType dtype) {
  Tensor out = empty(backend, x.shape(), dtype);
  copy_into(backend, x, out);
  return out;
}

Tensor contiguous(Backend& backend, const Tensor& x) {
  return x.contiguous() ? x : copy(backend, x);
}

LinearWeight pack_linear(Backend& backend, const Tensor& w, DType storage) {
  MYNAH_CHECK(w.defined() && w.rank() == 2 && w.elements() > 0, "[pack_linear] w must be (out, in)",
              ", got ", w.shape().str());
  return backend.pack_linear(w, storage);
}

LinearWeight pack_conv1d(Backend& backend, const Tensor& w, DType storage, int64_t groups) {
  MYNAH_CHECK(w.defined() && w.rank() == 3 && w.elements() > 0,
              "[pack_conv1d] w must be (out, in / groups, kernel), got ", w.shape().str());
  MYNAH_CHECK(groups >= 1 && w.dim(0) % groups == 0, "[pack_conv1d] ", std::to_string(groups),
              " groups of ", std::to_string(w.dim(0)), " rows");
  return backend.pack_conv1d(w, storage, groups);
}

ExpertWeights pack_experts(Backend& backend, int64_t experts,
                           FunctionRef<Tensor(int64_t)> matrix_of, DType storage) {
  MYNAH_CHECK(experts >= 1, "[pack_experts] ", std::to_string(experts), " experts");
  ExpertWeights all;
  for (int64_t expert = 0; expert < experts; ++expert) {
    const LinearWeight own = pack_linear(backend, matrix_of(expert), storage);
    const int64_t bytes = own.data.elements();
    if (!all.defined()) {
      // Kernels read whole units, and lines of a cache, from where a matrix begins.
      constexpr int64_t kUnit = 256;
      const int64_t apart = (bytes + kUnit - 1) / kUnit * kUnit;
      all = {experts, own.out_features, own.in_features, own.dtype,
             empty(backend, {experts, apart}, DType::U8)};
    }
    MYNAH_CHECK(own.out_features == all.out_features && own.in_features == all.in_features &&
                    bytes <= all.data.dim(1),
                "[pack_experts] expert ", std::to_string(expert), " is of another shape");
    copy_into(backend, own.data.reshape({1, bytes}),
              all.data.narrow(0, expert, 1).narrow(1, 0, bytes));
  }
  return all;
}

}  // namespace mynah::ops
