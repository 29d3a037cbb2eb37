// A small voice of Piper's family that says a, b, c and d.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "store/file_sets.h"
#include "store/pull.h"
#include "store/store.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah::cli {

// A tiny Piper voice of two speakers that reads letters.
inline void keep_letters_voice(const Store& store, const std::string& folder,
                               const std::string& name, const std::string& speakers) {
  const std::string network = folder + "/" + name + ".onnx";
  std::filesystem::create_directories(folder);
  std::filesystem::copy(test::source_path("tests/models/piper/golden/voice.onnx"), network);
  test::write_file(network + ".json",
                   R"({"audio": {"sample_rate": 16000}, "espeak": {"voice": "en-us"},
                 "inference": {"noise_scale": 0.6, "length_scale": 1, "noise_w": 0.8},
                 "phoneme_type": "text", "num_symbols": 9, "num_speakers": 2,
                 "speaker_id_map": )" +
                       speakers + R"(,
                 "phoneme_id_map": {"_": [0], "^": [1], "$": [2], " ": [3], "a": [4], "b": [5],
                                    "c": [6], ".": [7], "d": [8]},
                 "language": {"code": "en_US"}, "dataset": ")" +
                       name + R"("})");
  const Importable found = find_importable(network);
  ASSERT_EQ(found.sets.size(), 1U);
  ASSERT_TRUE(import_file_set(store, found.sets.front(), false, {}, {}));
}

}  // namespace mynah::cli
