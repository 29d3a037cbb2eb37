// A Whisper of small random matrices, as a file.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "formats/gguf_writer.h"
#include "models/whisper/tiny_model.h"

namespace mynah::cli {

// Returns the path.
inline std::string write_whisper(const std::string& path, const whisper::Config& config,
                                 const Vocabulary& vocabulary, const std::string& licence = "") {
  const auto checkpoint = test::tiny_checkpoint(config, "openai");
  auto metadata = whisper::to_metadata(config);
  std::vector<std::string> tokens;
  std::ranges::transform(vocabulary, std::back_inserter(tokens), printable_of_bytes);
  metadata.insert_or_assign("tokenizer.ggml.tokens", std::move(tokens));
  if (!licence.empty()) {
    metadata.insert_or_assign("general.license", licence);
  }
  std::vector<GgufTensor> table;
  for (const StoredTensor& tensor : checkpoint->tensors) {
    table.push_back({.name = tensor.name,
                     .dtype = tensor.dtype,
                     .shape = tensor.shape,
                     .has_row_scales = false});
  }
  auto writer = GgufWriter::create(path, metadata, table);
  for (const StoredTensor& tensor : checkpoint->tensors) {
    EXPECT_TRUE(writer->write(tensor.name, tensor.bytes));
  }
  EXPECT_TRUE(writer->finish());
  return path;
}

// The tiny one, whatever it says.
inline std::string write_tiny_whisper(const std::string& path, bool multilingual = false) {
  const whisper::Config config = test::tiny_config(multilingual);
  return write_whisper(path, config, test::tiny_vocabulary(config));
}

}  // namespace mynah::cli
