// The fuzz targets' corpora as test data.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/mapped_file.h"
#include "test_paths.h"

namespace mynah {

inline std::filesystem::path corpus_folder(const std::string& corpus) {
  return test::source_path("tests/fuzz/corpus/" + corpus);
}

// The files of a corpus whose names begin so, in order.
inline std::vector<std::filesystem::path> corpus_files(const std::string& corpus,
                                                       const std::string& prefix) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(corpus_folder(corpus))) {
    if (entry.path().filename().string().starts_with(prefix)) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

inline std::vector<char> file_contents(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::shared_ptr<const MappedFile> map_file(const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path.string());
  EXPECT_TRUE(mapped) << mapped.error().message;
  return mapped ? *mapped : MappedFile::from_bytes({}, path.string());
}

inline std::shared_ptr<const MappedFile> map_corpus(const std::string& corpus,
                                                    const std::string& name) {
  return map_file(corpus_folder(corpus) / name);
}

}  // namespace mynah
