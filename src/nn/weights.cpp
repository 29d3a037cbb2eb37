#include "nn/weights.h"

#include <cstring>

#include <fmt/format.h>

#include "ops/ops.h"
#include "tensor/host_pool.h"

namespace mynah {
namespace {

constexpr Device kHost{DeviceKind::Cpu, 0};

// A host tensor over the bytes of a file.
Tensor view_of(const StoredTensor& tensor, std::shared_ptr<const void> owner) {
  return {wrap_host_memory(tensor.bytes.data(), tensor.bytes.size(), std::move(owner)), 0,
          tensor.shape, tensor.dtype, kHost};
}

Tensor host_tensor(std::vector<std::byte> bytes, const Shape& shape, DType dtype) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {wrap_host_memory(owner->data(), owner->size(), owner), 0, shape, dtype, kHost};
}

// int8 with a scale a row, as f32.
Tensor scaled_rows(const StoredTensor& tensor) {
  const int64_t rows = tensor.shape[0];
  const int64_t columns = rows == 0 ? 0 : tensor.shape.elements() / rows;
  std::vector<std::byte> bytes(static_cast<size_t>(rows * columns) * sizeof(float));
  for (int64_t row = 0; row < rows; ++row) {
    float scale = 0;
    std::memcpy(&scale, tensor.row_scales.data() + static_cast<size_t>(row) * sizeof(float),
                sizeof(scale));
    for (int64_t column = 0; column < columns; ++column) {
      const auto i = static_cast<size_t>(row * columns + column);
      const float value = static_cast<float>(static_cast<int8_t>(tensor.bytes[i])) * scale;
      std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(value));
    }
  }
  return host_tensor(std::move(bytes), tensor.shape, DType::F32);
}

bool has_scales(const StoredTensor& tensor) {
  return tensor.dtype == DType::I8 && !tensor.row_scales.empty();
}

bool is_weight_type(const StoredTensor& tensor) {
  switch (tensor.dtype) {
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      return true;
    case DType::I8:
      return tensor.row_scales.size() == static_cast<size_t>(tensor.shape[0]) * sizeof(float);
    default:
      return is_block_type(tensor.dtype);
  }
}

}  // namespace

Weights::Weights(std::vector<StoredTensor> tensors, std::shared_ptr<const void> owner,
                 Backend& backend, const WeightOptions& options)
    : storage_(options.storage), precision_(options.precision) {
  auto model = std::make_shared<Model>();
  model->tensors = std::move(tensors);
  for (const StoredTensor& tensor : model->tensors) {
    model->by_name.emplace(tensor.name, &tensor);
  }
  model->owner = std::move(owner);
  model->backend = &backend;
  model->cache = options.cache;
  model_ = std::move(model);
}

std::string Weights::path(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : fmt::format("{}.{}", prefix_, name);
}

Weights Weights::as(std::optional<DType> storage, Precision precision) const {
  Weights other = *this;
  other.storage_ = storage;
  other.precision_ = precision;
  return other;
}

Weights Weights::operator/(std::string_view name) const {
  Weights below = *this;
  below.prefix_ = path(name);
  return below;
}

Weights Weights::operator/(int64_t index) const {
  return *this / std::to_string(index);
}

bool Weights::has(std::string_view name) const {
  return model_->by_name.contains(path(name));
}

Result<Shape> Weights::shape(std::string_view name) const {
  const auto found = model_->by_name.find(path(name));
  if (found == model_->by_name.end()) {
    return fail(ErrorCode::InvalidInput, fmt::format("wanted tensor {}, found none", path(name)));
  }
  return found->second->shape;
}

Status Weights::expect(std::string_view name, const Shape& shape) const {
  MYNAH_TRY_STATUS(find(name, shape));
  return {};
}

Result<DType> Weights::dtype(std::string_view name) const {
  const auto found = model_->by_name.find(path(name));
  if (found == model_->by_name.end()) {
    return fail(ErrorCode::InvalidInput, fmt::format("wanted tensor {}, found none", path(name)));
  }
  return found->second->dtype;
}

Result<std::vector<const StoredTensor*>> Weights::parts(std::span<const std::string_view> names,
                                                        int64_t out, int64_t in) const {
  std::vector<const StoredTensor*> parts;
  int64_t rows = 0;
  for (const std::string_view name : names) {
    const std::string matrix = fmt::format("{}.weight", name);
    MYNAH_TRY(const Shape stored, shape(matrix));
    MYNAH_TRY(const StoredTensor* part, find(matrix, {stored.rank() == 2 ? stored[0] : out, in}));
    rows += stored[0];
    parts.push_back(part);
  }
  if (rows != out) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted {} rows in sum, found {}",
                            path(fmt::format("{}", fmt::join(names, "+"))), out, rows));
  }
  return parts;
}

Result<const StoredTensor*> Weights::find(std::string_view name, const Shape& shape) const {
  const std::string full = path(name);
  const auto found = model_->by_name.find(full);
  if (found == model_->by_name.end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted tensor {} {}, found none", full, shape.str()));
  }
  const StoredTensor& tensor = *found->second;
  if (tensor.shape != shape) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: wanted shape {}, found {}", full,
                                                     shape.str(), tensor.shape.str()));
  }
  if (!is_weight_type(tensor)) {
    return fail(ErrorCode::Unsupported, fmt::format("{}: weights of type {} are not supported",
                                                    full, mynah::name(tensor.dtype)));
  }
  return &tensor;
}

// The type that a matrix with rows of `in` elements is kept in.
Result<DType> Weights::storage_for(const StoredTensor& tensor, int64_t in) const {
  DType storage = storage_.value_or(tensor.dtype);
  if (is_block_type(storage) && (in % block_elements(storage) != 0 || tensor.dtype != storage)) {
    // Rows that are no whole blocks, and float tensors that a quantised file kept as they are.
    storage = is_block_type(tensor.dtype) ? DType::F16 : tensor.dtype;
  }
  if (!backend().supports_weight(storage)) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{} does not compute with {} weights: choose another storage type",
                            backend().device().str(), mynah::name(storage)));
  }
  return storage;
}

std::optional<Tensor> Weights::cached(const std::string& blob_name) const {
  std::optional<Blob> blob;
  if (model_->cache != nullptr) {
    blob = model_->cache->find(blob_name);
  }
  if (!blob) {
    return std::nullopt;
  }
  const auto size = static_cast<int64_t>(blob->bytes.size());
  return ops::to_device(backend(),
                        {wrap_host_memory(blob->bytes.data(), blob->bytes.size(), blob->owner),
                         0,
                         {size},
                         DType::U8,
                         kHost});
}

void Weights::add_to_cache(const std::string& blob_name, const Tensor& data) const {
  if (model_->cache != nullptr) {
    std::vector<std::byte> bytes(storage_bytes(data.dtype(), data.elements()));
    backend().download(data, bytes.data());
    // A cache that cannot be written costs time at the next start, nothing else.
    (void)model_->cache->add(blob_name, bytes);
  }
}

template <class Pack>
Result<LinearWeight> Weights::packed(const std::string& name, DType storage, int64_t out,
                                     int64_t in, Pack pack) const {
  const std::string blob_name = fmt::format("{}:{}", name, mynah::name(storage));
  if (std::optional<Tensor> data = cached(blob_name)) {
    return LinearWeight{out, in, storage, std::move(*data)};
  }
  LinearWeight weight = pack();
  add_to_cache(blob_name, weight.data);
  return weight;
}

Result<Tensor> Weights::get(std::string_view name, const Shape& shape) const {
  MYNAH_TRY(const StoredTensor* tensor, find(name, shape));
  const Tensor host = has_scales(*tensor) ? scaled_rows(*tensor) : view_of(*tensor, nullptr);
  const Tensor device = ops::to_device(backend(), host);
  // A copy even where it is f32 already: small, and then the file need not stay mapped for it.
  return host.dtype() == DType::F32 ? ops::copy(backend(), device)
                                    : ops::dequantize(backend(), device);
}

Result<Tensor> Weights::table(std::string_view name, const Shape& shape) const {
  MYNAH_TRY(const StoredTensor* tensor, find(name, shape));
  if (has_scales(*tensor)) {
    return ops::cast(backend(), ops::to_device(backend(), scaled_rows(*tensor)), DType::F16);
  }
  return ops::to_device(backend(), view_of(*tensor, model_->owner));
}

Result<LinearWeight> Weights::matrix(std::string_view name, int64_t out, int64_t in) const {
  MYNAH_TRY(const StoredTensor* tensor, find(name, {out, in}));
  MYNAH_TRY(const DType storage, storage_for(*tensor, in));
  return packed(tensor->name, storage, out, in, [&] {
    const Tensor host = has_scales(*tensor) ? scaled_rows(*tensor) : view_of(*tensor, nullptr);
    return ops::pack_linear(backend(), host, storage);
  });
}

Result<LinearWeight> Weights::stacked(std::span<const std::string_view> names, int64_t out,
                                      int64_t in) const {
  MYNAH_TRY(const std::vector<const StoredTensor*> parts, this->parts(names, out, in));
  const StoredTensor& first = *parts.front();
  bool same_type = !has_scales(first);
  for (const StoredTensor* part : parts) {
    same_type = same_type && part->dtype == first.dtype;
  }
  MYNAH_TRY(const DType storage, storage_for(first, in));
  return packed(path(fmt::format("{}", fmt::join(names, "+"))), storage, out, in, [&] {
    std::vector<std::byte> rows;
    for (const StoredTensor* part : parts) {
      if (same_type) {
        rows.insert(rows.end(), part->bytes.begin(), part->bytes.end());
        continue;
      }
      const Tensor host = has_scales(*part) ? scaled_rows(*part) : view_of(*part, nullptr);
      const std::vector<float> values =
          ops::to_host(backend(), ops::dequantize(backend(), ops::to_device(backend(), host)));
      const auto bytes = std::as_bytes(std::span(values));
      rows.insert(rows.end(), bytes.begin(), bytes.end());
    }
    return ops::pack_linear(
        backend(), host_tensor(std::move(rows), {out, in}, same_type ? first.dtype : DType::F32),
        storage);
  });
}

Result<Tensor> Weights::stacked_bias(std::span<const std::string_view> names, int64_t out) const {
  Tensor bias;
  int64_t begin = 0;
  for (const std::string_view matrix : names) {
    MYNAH_TRY(const Shape stored, shape(fmt::format("{}.weight", matrix)));
    const std::string name = fmt::format("{}.bias", matrix);
    if (has(name)) {
      if (!bias.defined()) {
        bias = ops::zeros(backend(), {out});
      }
      MYNAH_TRY(const Tensor values, get(name, {stored[0]}));
      ops::copy_into(backend(), values, bias.narrow(0, begin, stored[0]));
    }
    begin += stored[0];
  }
  return bias;
}

Result<ExpertWeights> Weights::experts(std::span<const std::string_view> names, int64_t experts,
                                       int64_t out, int64_t in) const {
  std::vector<const StoredTensor*> parts;
  int64_t rows = 0;
  for (const std::string_view name : names) {
    const std::string matrices = fmt::format("{}.weight", name);
    MYNAH_TRY(const Shape stored, shape(matrices));
    MYNAH_TRY(const StoredTensor* part,
              find(matrices, {experts, stored.rank() == 3 ? stored[1] : out, in}));
    if (has_scales(*part) || part->dtype != (parts.empty() ? part : parts.front())->dtype) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{}: experts of type {} are not supported here", path(matrices),
                              mynah::name(part->dtype)));
    }
    rows += stored[1];
    parts.push_back(part);
  }
  const std::string all = path(fmt::format("{}", fmt::join(names, "+")));
  if (rows != out) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted {} rows in sum, found {}", all, out, rows));
  }
  MYNAH_TRY(const DType storage, storage_for(*parts.front(), in));
  const std::string blob_name = fmt::format("{}:{}", all, mynah::name(storage));
  if (std::optional<Tensor> data = cached(blob_name); data && data->elements() % experts == 0) {
    return ExpertWeights{experts, out, in, storage,
                         data->reshape({experts, data->elements() / experts})};
  }
  const auto matrix_of = [&](int64_t expert) {
    std::vector<std::byte> bytes;
    for (const StoredTensor* part : parts) {
      const size_t own = part->bytes.size() / static_cast<size_t>(experts);
      const auto from = part->bytes.subspan(static_cast<size_t>(expert) * own, own);
      bytes.insert(bytes.end(), from.begin(), from.end());
    }
    return host_tensor(std::move(bytes), {out, in}, parts.front()->dtype);
  };
  ExpertWeights weights = ops::pack_experts(backend(), experts, matrix_of, storage);
  add_to_cache(blob_name, weights.data);
  return weights;
}

Result<Tensor> Weights::expert_bias(std::span<const std::string_view> names, int64_t experts,
                                    int64_t out) const {
  Tensor bias;
  int64_t begin = 0;
  for (const std::string_view matrices : names) {
    const std::string name = fmt::format("{}.bias", matrices);
    if (!bias.defined() && !has(name)) {
      continue;
    }
    MYNAH_TRY(const Shape stored, shape(name));
    const int64_t columns = stored.rank() == 2 ? stored[1] : out;
    MYNAH_TRY(const Tensor values, get(name, {experts, columns}));
    if (!bias.defined()) {
      bias = ops::zeros(backend(), {experts, out});
    }
    if (begin + columns > out) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted {} columns, found {}", path(name), out - begin, columns));
    }
    ops::copy_into(backend(), values, bias.narrow(1, begin, columns));
    begin += columns;
  }
  if (bias.defined() && begin != out) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted {} biases in sum, found {}",
                            path(fmt::format("{}", fmt::join(names, "+"))), out, begin));
  }
  return bias;
}

// The type that a convolution's kernel is kept in.
DType Weights::kernel_storage_for(const StoredTensor& tensor) const {
  // Block types run along a kernel's taps, which are no whole blocks.
  DType storage = storage_.value_or(tensor.dtype);
  if (is_block_type(storage)) {
    storage = is_block_type(tensor.dtype) ? DType::F16 : tensor.dtype;
  }
  return backend().supports_weight(storage) ? storage : DType::F32;
}

Result<LinearWeight> Weights::kernel(std::string_view name, const Shape& shape,
                                     int64_t groups) const {
  MYNAH_TRY(const StoredTensor* tensor, find(name, shape));
  const DType storage = kernel_storage_for(*tensor);
  return packed(tensor->name, storage, shape[0], shape[1] * shape[2], [&] {
    const Tensor host = has_scales(*tensor) ? scaled_rows(*tensor) : view_of(*tensor, nullptr);
    return ops::pack_conv1d(backend(), host, storage, groups);
  });
}

Result<ConvTranspose1dWeight> Weights::transposed_kernel(std::string_view name, int64_t in,
                                                         int64_t out,
                                                         const ConvTranspose1dSizes& sizes) const {
  if (!sizes.supported() || in % sizes.groups != 0 || out % sizes.groups != 0) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{}: wanted a transposed convolution whose result is stride times as "
                            "long as its input, found {} of {} to {} channels",
                            path(name), sizes.str(), in, out));
  }
  MYNAH_TRY(const StoredTensor* tensor, find(name, {in, out / sizes.groups, sizes.kernel}));
  const DType storage = kernel_storage_for(*tensor);
  ConvTranspose1dWeight weight{
      .sizes = sizes, .in_features = in, .out_features = out, .parts = {}, .bias = {}};
  for (const ConvTranspose1dPart& part : ops::conv_transpose1d_parts(sizes)) {
    const auto pack = [&] {
      const Tensor host = has_scales(*tensor) ? scaled_rows(*tensor) : view_of(*tensor, nullptr);
      return ops::pack_conv_transpose1d_part(backend(), host, storage, sizes, part);
    };
    MYNAH_TRY(LinearWeight own, packed(fmt::format("{}+{}", tensor->name, part.begin), storage,
                                       part.rows * out, in / sizes.groups * part.taps, pack));
    weight.parts.push_back({part, std::move(own)});
  }
  return weight;
}

}  // namespace mynah
