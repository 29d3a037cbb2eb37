// The small models of tests/models/llama/golden, as if they were trained for longer texts.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace mynah::test {

// Writes such a file to the tests' folder; its path. `name`: of the file, as "gpt-oss_mxfp4".
inline std::string write_golden_language(const std::string& name, uint32_t context) {
  std::ifstream in(std::string(MYNAH_SOURCE_DIR) + "/tests/models/llama/golden/" + name + ".gguf",
                   std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const std::string key = name.substr(0, name.find('_')) + ".context_length";
  const size_t value = bytes.find(key) + key.size() + sizeof(uint32_t);  // behind its type
  const auto number = std::bit_cast<std::array<char, sizeof(context)>>(context);
  std::ranges::copy(number, bytes.begin() + static_cast<ptrdiff_t>(value));
  std::string path =
      testing::TempDir() + "/golden_" + name + "_" + std::to_string(context) + ".gguf";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace mynah::test
