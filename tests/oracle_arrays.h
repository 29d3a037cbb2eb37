// Arrays that a reference wrote, by tools/*_oracle.py and tools/export_*_golden.py, and how far
// from them something is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/mapped_file.h"
#include "formats/npz.h"
#include "ops/ops.h"
#include "test_paths.h"

namespace mynah::test {

// A file of $MYNAH_ORACLES, or of .cache/oracles, which ./dev test fills.
inline std::string oracle_path(const std::string& relative) {
  return (std::filesystem::path(folder_from("MYNAH_ORACLES", ".cache/oracles")) / relative)
      .string();
}

class OracleArrays {
 public:
  static Result<OracleArrays> open(const std::string& path) {
    MYNAH_TRY(const auto file, MappedFile::open(path));
    OracleArrays arrays;
    MYNAH_TRY(arrays.file_, read_npz(file));
    return arrays;
  }

  [[nodiscard]] bool has(const std::string& name) const { return file_.find(name) != nullptr; }

  // Empty, and a failure of the test, where there is none of that name.
  template <class T = float>
  [[nodiscard]] std::vector<T> values(const std::string& name) const {
    const StoredTensor* const found = file_.find(name);
    EXPECT_NE(found, nullptr) << name;
    std::vector<T> result(found == nullptr ? 0 : found->bytes.size() / sizeof(T));
    if (!result.empty()) {
      std::memcpy(result.data(), found->bytes.data(), found->bytes.size());
    }
    return result;
  }

  // As it was written, on the device; there must be one.
  [[nodiscard]] Tensor tensor(Backend& backend, const std::string& name) const {
    return ops::from_host(backend, std::span<const float>(values(name)), file_.find(name)->shape);
  }

 private:
  TensorFile file_;
};

inline float largest(std::span<const float> values) {
  float most = 0.0F;
  for (const float value : values) {
    most = std::max(most, std::abs(value));
  }
  return most;
}

// The largest difference; infinite where one is no number, or sizes differ.
inline float distance(std::span<const float> found, std::span<const float> wanted) {
  if (found.size() != wanted.size()) {
    return std::numeric_limits<float>::infinity();
  }
  float most = 0.0F;
  for (size_t i = 0; i < found.size(); ++i) {
    const float difference = std::abs(found[i] - wanted[i]);
    most = std::isnan(difference) ? std::numeric_limits<float>::infinity()
                                  : std::max(most, difference);
  }
  return most;
}

}  // namespace mynah::test
