// Memory, weights, and rows moved about.
#include <array>
#include <cstring>
#include <vector>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"
#include "base/check.h"

namespace mynah {

using ref::at;
using ref::put;
using ref::row;

std::unique_ptr<Backend> make_ref_backend() {
  return std::make_unique<RefBackend>();
}

void RefBackend::upload(const void* source, const Tensor& out) {
  std::memcpy(out.raw(), source, storage_bytes(out.dtype(), out.elements()));
}

void RefBackend::download(const Tensor& x, void* destination) {
  std::memcpy(destination, x.raw(), storage_bytes(x.dtype(), x.elements()));
}

namespace {

// Copies the elements of one index along the dimensions before `axis`.
void copy_from(const Tensor& x, const Tensor& out, int axis) {
  const int64_t size = x.rank() == 0 ? 1 : x.dim(-1);
  if (axis >= x.rank() - 1) {
    if (x.dtype() == out.dtype()) {
      std::memcpy(out.raw(), x.raw(), storage_bytes(x.dtype(), size));
    } else {
      for (int64_t j = 0; j < size; ++j) {
        put(out, 0, j, at(x, 0, j));
      }
    }
    return;
  }
  for (int64_t i = 0; i < x.dim(axis); ++i) {
    copy_from(x.narrow(axis, i, 1), out.narrow(axis, i, 1), axis + 1);
  }
}

}  // namespace

void RefBackend::copy(const Tensor& x, const Tensor& out) {
  copy_from(x, out, 0);
}

bool RefBackend::supports_weight(DType dtype) const {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::I8 ||
         dtype == DType::I16 || is_block_type(dtype);
}

namespace {

// Replaces each number by the nearest one that `storage` holds.
void round_row(std::span<float> values, DType storage) {
  if (storage == DType::I8) {
    std::vector<int8_t> codes(values.size());
    const float scale = quantize_row_i8(values, codes.data());
    for (size_t j = 0; j < values.size(); ++j) {
      values[j] = static_cast<float>(codes[j]) * scale;
    }
    return;
  }
  if (storage == DType::I16) {
    std::vector<int16_t> codes(kInt16Run);
    while (!values.empty()) {
      const auto run = values.first(std::min(values.size(), codes.size()));
      const float scale = quantize_run_i16(run, codes.data());
      for (size_t j = 0; j < run.size(); ++j) {
        run[j] = static_cast<float>(codes[j]) * scale;
      }
      values = values.subspan(run.size());
    }
    return;
  }
  std::vector<std::byte> bytes(storage_bytes(storage, static_cast<int64_t>(values.size())));
  quantize(storage, values, bytes.data());
  dequantize(storage, bytes.data(), values);
}

LinearWeight pack(RefBackend& backend, const Tensor& w, DType storage, int64_t in_features) {
  MYNAH_CHECK(backend.supports_weight(storage), "[pack] cannot store ", name(storage));
  MYNAH_CHECK(!is_block_type(storage) || storage == w.dtype(), "[pack] ", name(w.dtype()),
              " weights cannot become ", name(storage));
  const int64_t out_features = w.dim(0);
  const int64_t bytes = out_features * in_features * static_cast<int64_t>(sizeof(float));
  LinearWeight packed{out_features, in_features, storage,
                      Tensor(backend.allocate(static_cast<size_t>(bytes)), 0, {bytes}, DType::U8,
                             backend.device())};
  for (int64_t i = 0; i < out_features; ++i) {
    const std::span values(packed.data.data<float>() + i * in_features,
                           static_cast<size_t>(in_features));
    dequantize(w.dtype(), w.raw() + storage_bytes(w.dtype(), i * w.stride(0)), values);
    if (storage != w.dtype()) {
      round_row(values, storage);
    }
  }
  return packed;
}

}  // namespace

LinearWeight RefBackend::pack_linear(const Tensor& w, DType storage) {
  return pack(*this, w, storage, w.dim(1));
}

LinearWeight RefBackend::pack_conv1d(const Tensor& w, DType storage, int64_t /*groups*/) {
  return pack(*this, w, storage, w.dim(1) * w.dim(2));
}

void RefBackend::dequantize(const Tensor& x, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    mynah::dequantize(x.dtype(), x.raw() + storage_bytes(x.dtype(), i * x.stride(0)),
                      {row(out, i), static_cast<size_t>(x.dim(1))});
  }
}

void RefBackend::embedding(const Tensor& table, const Tensor& ids, const Tensor& out) {
  for (int64_t i = 0; i < ids.dim(0); ++i) {
    const int64_t id = ids.data<int32_t>()[i];
    MYNAH_CHECK(id >= 0 && id < table.dim(0), "[embedding] id ", std::to_string(id), " of ",
                std::to_string(table.dim(0)));
    mynah::dequantize(table.dtype(),
                      table.raw() + storage_bytes(table.dtype(), id * table.stride(0)),
                      {row(out, i), static_cast<size_t>(table.dim(1))});
  }
}

void RefBackend::gather_rows(const Tensor& x, const Tensor& rows, const Tensor& out) {
  for (int64_t i = 0; i < rows.dim(0); ++i) {
    const int64_t from = rows.data<int32_t>()[i];
    MYNAH_CHECK(from >= 0 && from < x.dim(0), "[gather_rows] row ", std::to_string(from), " of ",
                std::to_string(x.dim(0)));
    copy(x.narrow(0, from, 1), out.narrow(0, i, 1));
  }
}

void RefBackend::scatter_rows(const Tensor& x, const Tensor& rows, const Tensor& out) {
  for (int64_t i = 0; i < rows.dim(0); ++i) {
    const int64_t to = rows.data<int32_t>()[i];
    MYNAH_CHECK(to >= 0 && to < out.dim(0), "[scatter_rows] row ", std::to_string(to), " of ",
                std::to_string(out.dim(0)));
    if (is_block_type(out.dtype())) {
      quantize(out.dtype(), {row(x, i), static_cast<size_t>(x.dim(1))}, out.narrow(0, to, 1).raw());
    } else {
      copy(x.narrow(0, i, 1), out.narrow(0, to, 1));
    }
  }
}

void RefBackend::transpose(const Tensor& x, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    for (int64_t j = 0; j < x.dim(1); ++j) {
      row(out, j)[i] = row(x, i)[j];
    }
  }
}

}  // namespace mynah
