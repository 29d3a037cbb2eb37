// Metadata: what a GGUF file says of its model, under its architecture's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"

namespace mynah::llama {

// Upper bounds far above the largest published model; they keep arithmetic on sizes safe, and what
// is made of them small: of experts a square.
inline constexpr int64_t kMostColumns = 1 << 20;
inline constexpr int64_t kMostExperts = 1024;

class Metadata {
 public:
  // Of the keys "ARCHITECTURE.NAME"; `file` must outlive it.
  Metadata(const TensorFile& file, std::string_view architecture);

  // Null where there is none.
  [[nodiscard]] const MetadataValue* find(std::string_view name) const;

  // In [low, high], of a key that may have a value a layer, where they are all the same;
  // `otherwise` where there is none, none: it must be there. InvalidInput is what is no such
  // number, Unsupported layers that differ.
  [[nodiscard]] Result<int64_t> integer(std::string_view name, int64_t low, int64_t high,
                                        std::optional<int64_t> otherwise = std::nullopt) const;

  // One for each layer, each in [low, high], of a key that has one for all or one for each.
  [[nodiscard]] Result<std::vector<int64_t>> integers(
      std::string_view name, int64_t layers, int64_t low, int64_t high,
      std::optional<int64_t> otherwise = std::nullopt) const;

  // Finite and in [low, high]; `otherwise` where there is none.
  [[nodiscard]] Result<double> number(std::string_view name, double low, double high,
                                      double otherwise) const;

  // `otherwise` where there is none.
  [[nodiscard]] Result<bool> flag(std::string_view name, bool otherwise) const;

  [[nodiscard]] Result<std::string> text(std::string_view name, std::string otherwise) const;

  // As the file has it.
  [[nodiscard]] std::string key(std::string_view name) const { return prefix_ + std::string(name); }

 private:
  const TensorFile& file_;
  std::string prefix_;
};

}  // namespace mynah::llama
