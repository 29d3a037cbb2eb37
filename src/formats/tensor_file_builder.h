// TensorFileBuilder: what every reader does with a tensor it found: check its size, align it,
// refuse a name that comes twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "formats/tensor_file.h"

namespace mynah {

// How a file's element type becomes a DType. Types that DType lacks are widened, which keeps every
// value; float64 becomes float32 and uint64 int64 only where every value survives it.
enum class Widening : uint8_t {
  None,
  I16ToI32,
  U16ToI32,
  U32ToI64,
  U64ToI64,
  F64ToF32,
};

struct ElementType {
  DType dtype = DType::F32;  // what comes out
  Widening widening = Widening::None;
};

// The longest name of a tensor, far above any model's: scopes and prefixes repeat in every name,
// and long ones would ask for more memory than the file has bytes.
inline constexpr size_t kMaxTensorNameBytes = 1024;

// Bytes of a tensor of these sizes as it lies in the file. Fails, saying why, when the sizes
// overflow or the innermost dimension is no whole number of blocks.
[[nodiscard]] Result<uint64_t> stored_bytes(ElementType type, std::span<const uint64_t> sizes);

// Sizes as an error message shows them: "(1500, 384)".
[[nodiscard]] std::string sizes_text(std::span<const uint64_t> sizes);

// Collects the tensors of one file. Errors name the file and the tensor.
class TensorFileBuilder {
 public:
  // `file` owns the bytes that tensors are views of.
  TensorFileBuilder(std::string_view format, std::shared_ptr<const MappedFile> file);

  // Adds a tensor whose bytes are all of `bytes`, which must be as many as type and sizes ask for.
  // Bytes that are not aligned to their element are copied.
  Status add(std::string_view name, ElementType type, std::span<const uint64_t> sizes,
             std::span<const std::byte> bytes);

  // Adds a tensor whose bytes were made by the reader.
  Status add_owned(std::string_view name, ElementType type, std::span<const uint64_t> sizes,
                   std::shared_ptr<const std::vector<std::byte>> bytes);

  // Whether a tensor of that name was added.
  [[nodiscard]] bool contains(std::string_view name) const {
    return names_.contains(std::string(name));
  }

  // Adds a value; a key that comes twice is an error.
  Status set(std::string_view key, MetadataValue value);

  // Bytes that the reader unpacked from the file: they may be copied too. All copies together may
  // be a small multiple of the file and of what was unpacked from it, so that tensors which share
  // bytes cannot ask for any amount of memory.
  void unpacked(uint64_t bytes);

  // Keeps something alive as long as the TensorFile lives.
  void keep(std::shared_ptr<const void> owner) { result_.owners.push_back(std::move(owner)); }

  // An int8 tensor and its scales NAME + suffix become one: row_scales is set, and the tensor of
  // scales goes. With Inverse::Yes the file's scales divide, and are inverted into owned memory.
  enum class Inverse : uint8_t { No, Yes };
  Status attach_row_scales(std::string_view suffix, Inverse inverse);

  [[nodiscard]] TensorFile& file() { return result_; }

  [[nodiscard]] const TensorFile& file() const { return result_; }

  [[nodiscard]] TensorFile finish() && { return std::move(result_); }

 private:
  [[nodiscard]] std::unexpected<Error> fail_tensor(std::string_view name,
                                                   std::string_view message) const;
  Result<std::span<const std::byte>> aligned(std::string_view name, ElementType type,
                                             std::span<const std::byte> bytes);

  // Takes from the allowance for copies.
  Status charge(std::string_view name, uint64_t bytes);

  TensorFile result_;
  uint64_t copy_allowance_ = 0;
  std::unordered_set<std::string> names_;
};

}  // namespace mynah
