#include "formats/tensor_file_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah {
namespace {

using OwnBytes = std::vector<std::byte>;

// Widening doubles, and a varint of one byte may stand for eight: with both, sixteen bytes of
// copies a byte of file is the most an honest file needs.
constexpr uint64_t kCopiesPerByte = 16;

// What an element's address must be a multiple of. ggml's blocks begin with f16 scales.
size_t alignment(DType dtype) {
  return is_block_type(dtype) ? 2 : block_bytes(dtype);
}

size_t file_block_bytes(ElementType type) {
  switch (type.widening) {
    case Widening::None:
      return block_bytes(type.dtype);
    case Widening::I16ToI32:
    case Widening::U16ToI32:
      return 2;
    case Widening::U32ToI64:
      return 4;
    case Widening::U64ToI64:
    case Widening::F64ToF32:
      return 8;
  }
  return 0;
}

// Each From of `bytes` as a To; nothing where a value would change.
template <class From, class To>
std::optional<OwnBytes> converted(std::span<const std::byte> bytes) {
  const size_t count = bytes.size() / sizeof(From);
  OwnBytes out(count * sizeof(To));
  for (size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, bytes.data() + i * sizeof(From), sizeof(From));
    if constexpr (std::is_same_v<To, float>) {
      const bool beyond = std::isfinite(from) && std::abs(from) > std::numeric_limits<float>::max();
      if (beyond || (!std::isnan(from) && static_cast<double>(static_cast<float>(from)) != from)) {
        return std::nullopt;
      }
    } else if (!std::in_range<To>(from)) {
      return std::nullopt;
    }
    const To to = static_cast<To>(from);
    std::memcpy(out.data() + i * sizeof(To), &to, sizeof(To));
  }
  return out;
}

std::optional<OwnBytes> widened(Widening widening, std::span<const std::byte> bytes) {
  switch (widening) {
    case Widening::None:
      break;
    case Widening::I16ToI32:
      return converted<int16_t, int32_t>(bytes);
    case Widening::U16ToI32:
      return converted<uint16_t, int32_t>(bytes);
    case Widening::U32ToI64:
      return converted<uint32_t, int64_t>(bytes);
    case Widening::U64ToI64:
      return converted<uint64_t, int64_t>(bytes);
    case Widening::F64ToF32:
      return converted<double, float>(bytes);
  }
  return OwnBytes(bytes.begin(), bytes.end());
}

}  // namespace

std::string sizes_text(std::span<const uint64_t> sizes) {
  return fmt::format("({})", fmt::join(sizes, ", "));
}

Result<uint64_t> stored_bytes(ElementType type, std::span<const uint64_t> sizes) {
  if (sizes.size() > kMaxRank) {
    return fail(ErrorCode::Unsupported,
                fmt::format("wanted at most {} dimensions, found {}", kMaxRank, sizes.size()));
  }
  // Zero sizes aside, so that (huge, huge, 0) does not pass with a product of zero.
  uint64_t product = 1;
  bool empty = false;
  for (const uint64_t size : sizes) {
    empty = empty || size == 0;
    const auto next = checked_multiply(product, std::max<uint64_t>(size, 1));
    if (!next || *next > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return fail(ErrorCode::InvalidInput,
                  "sizes " + sizes_text(sizes) + " overflow 63 bits of elements");
    }
    product = *next;
  }
  const auto block = static_cast<uint64_t>(block_elements(type.dtype));
  const uint64_t row = sizes.empty() ? 1 : sizes.back();
  if (row % block != 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted rows of whole {} blocks of {} elements, found {}",
                            name(type.dtype), block, row));
  }
  const auto bytes = checked_multiply(product / block, file_block_bytes(type));
  if (!bytes || *bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return fail(ErrorCode::InvalidInput,
                "sizes " + sizes_text(sizes) + " overflow 63 bits of bytes");
  }
  return empty ? 0 : *bytes;
}

TensorFileBuilder::TensorFileBuilder(std::string_view format,
                                     std::shared_ptr<const MappedFile> file) {
  result_.format = format;
  result_.path = file->path();
  unpacked(file->bytes().size());
  result_.mapped.push_back(file);
  keep(std::move(file));
}

std::unexpected<Error> TensorFileBuilder::fail_tensor(std::string_view name,
                                                      std::string_view message) const {
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}, tensor {}: {}", result_.path, in_quotes(name), message));
}

void TensorFileBuilder::unpacked(uint64_t bytes) {
  copy_allowance_ += bytes * kCopiesPerByte;
}

Status TensorFileBuilder::charge(std::string_view name, uint64_t bytes) {
  if (bytes > copy_allowance_) {
    return fail_tensor(name,
                       "the tensors share bytes so often that their copies would be larger "
                       "than any honest file needs");
  }
  copy_allowance_ -= bytes;
  return {};
}

Result<std::span<const std::byte>> TensorFileBuilder::aligned(std::string_view name,
                                                              ElementType type,
                                                              std::span<const std::byte> bytes) {
  const bool in_place = reinterpret_cast<uintptr_t>(bytes.data()) % alignment(type.dtype) == 0;
  if (type.widening == Widening::None && (in_place || bytes.empty())) {
    return bytes;
  }
  const size_t blocks = bytes.size() / file_block_bytes(type);
  MYNAH_TRY_STATUS(charge(name, blocks * block_bytes(type.dtype)));
  auto copy = widened(type.widening, bytes);
  if (!copy) {
    return fail_tensor(
        name, type.widening == Widening::F64ToF32
                  ? "wanted float32 values, found float64 values that float32 would round; save "
                    "the tensor as float32"
                  : "found a value above the largest int64");
  }
  auto owner = std::make_shared<const OwnBytes>(std::move(*copy));
  const std::span<const std::byte> view(*owner);
  keep(std::move(owner));
  return view;
}

Status TensorFileBuilder::add(std::string_view name, ElementType type,
                              std::span<const uint64_t> sizes, std::span<const std::byte> bytes) {
  if (name.size() > kMaxTensorNameBytes) {
    return fail_tensor(name, fmt::format("wanted a name of at most {} bytes, found {}",
                                         kMaxTensorNameBytes, name.size()));
  }
  const auto wanted = stored_bytes(type, sizes);
  if (!wanted) {
    return fail_tensor(name, wanted.error().message);
  }
  if (*wanted != bytes.size()) {
    return fail_tensor(name, fmt::format("wanted {} bytes for {} of {}, found {}", *wanted,
                                         sizes_text(sizes), mynah::name(type.dtype), bytes.size()));
  }
  if (!names_.emplace(name).second) {
    return fail_tensor(name, "the name comes twice");
  }
  MYNAH_TRY(const std::span<const std::byte> view, aligned(name, type, bytes));
  std::array<int64_t, kMaxRank> shape{};
  std::ranges::transform(sizes, shape.begin(),
                         [](uint64_t size) { return static_cast<int64_t>(size); });
  result_.tensors.push_back({.name = std::string(name),
                             .dtype = type.dtype,
                             .shape = Shape(std::span(shape).first(sizes.size())),
                             .bytes = view,
                             .row_scales = {}});
  return {};
}

Status TensorFileBuilder::add_owned(std::string_view name, ElementType type,
                                    std::span<const uint64_t> sizes,
                                    std::shared_ptr<const OwnBytes> bytes) {
  const std::span<const std::byte> view(*bytes);
  MYNAH_TRY_STATUS(charge(name, view.size()));
  keep(std::move(bytes));
  return add(name, type, sizes, view);
}

Status TensorFileBuilder::set(std::string_view key, MetadataValue value) {
  if (!result_.metadata.emplace(key, std::move(value)).second) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: metadata key {} comes twice", result_.path, in_quotes(key)));
  }
  return {};
}

Status TensorFileBuilder::attach_row_scales(std::string_view suffix, Inverse inverse) {
  std::unordered_map<std::string_view, size_t> index;
  for (size_t i = 0; i < result_.tensors.size(); ++i) {
    index.emplace(result_.tensors[i].name, i);
  }
  std::unordered_set<size_t> attached;
  for (StoredTensor& tensor : result_.tensors) {
    if (tensor.dtype != DType::I8 || tensor.shape.rank() < 1) {
      continue;
    }
    const auto found = index.find(std::string(tensor.name).append(suffix));
    if (found == index.end()) {
      continue;
    }
    const StoredTensor& scales = result_.tensors[found->second];
    if (scales.dtype != DType::F32 || scales.shape.elements() != tensor.shape[0]) {
      return fail_tensor(scales.name,
                         fmt::format("wanted {} float32 scales, found {} of {}", tensor.shape[0],
                                     scales.shape.str(), mynah::name(scales.dtype)));
    }
    tensor.row_scales = scales.bytes;
    if (inverse == Inverse::Yes) {
      OwnBytes inverted(scales.bytes.size());
      for (size_t at = 0; at < inverted.size(); at += sizeof(float)) {
        float scale = 0.0F;
        std::memcpy(&scale, scales.bytes.data() + at, sizeof(float));
        if (!std::isfinite(scale) || scale == 0.0F) {
          return fail_tensor(scales.name,
                             fmt::format("wanted finite scales, not 0, found {}", scale));
        }
        scale = 1.0F / scale;
        std::memcpy(inverted.data() + at, &scale, sizeof(float));
      }
      auto owner = std::make_shared<const OwnBytes>(std::move(inverted));
      tensor.row_scales = *owner;
      keep(std::move(owner));
    }
    attached.insert(found->second);
  }
  std::vector<StoredTensor> kept;
  kept.reserve(result_.tensors.size() - attached.size());
  for (size_t i = 0; i < result_.tensors.size(); ++i) {
    if (!attached.contains(i)) {
      kept.push_back(std::move(result_.tensors[i]));
    }
  }
  result_.tensors = std::move(kept);
  return {};
}

}  // namespace mynah
