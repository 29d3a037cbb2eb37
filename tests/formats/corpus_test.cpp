// Every reader on its fuzz target's corpus: good files are read, bad ones refused, and a good file
// cut at any byte is refused as well.
#include "corpus.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/ctranslate2.h"
#include "formats/ggml_bin.h"
#include "formats/gguf.h"
#include "formats/npz.h"
#include "formats/onnx.h"
#include "formats/open.h"
#include "formats/pytorch.h"
#include "formats/safetensors.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

struct Format {
  std::string folder;
  std::function<Result<TensorFile>(std::shared_ptr<const MappedFile>)> read;
};

std::ostream& operator<<(std::ostream& out, const Format& format) {
  return out << format.folder;
}

class Corpus : public testing::TestWithParam<Format> {};

TEST_P(Corpus, GoodFilesAreRead) {
  const auto good = corpus_files(GetParam().folder, "good-");
  ASSERT_FALSE(good.empty());
  for (const fs::path& path : good) {
    const auto file = GetParam().read(map_file(path));
    ASSERT_TRUE(file) << path << ": " << file.error().message;
    EXPECT_EQ(file->path, path.string());
    for (const StoredTensor& tensor : file->tensors) {
      EXPECT_EQ(tensor.bytes.size(), storage_bytes(tensor.dtype, tensor.shape.elements()));
      EXPECT_EQ(file->find(tensor.name), &tensor);
    }
  }
}

// refusals.txt holds the whole message of every bad file, without the corpora's own folder: each is
// to be refused for what is wrong with it, in words that stay.
TEST_P(Corpus, BadFilesAreRefusedForWhatIsWrong) {
  std::ifstream stream(test::source_path("tests/formats/refusals.txt"));
  std::map<std::string, std::string> wanted;
  for (std::string line; std::getline(stream, line);) {
    wanted.emplace(line.substr(0, line.find_first_of(",:")), line);
  }
  const auto bad = corpus_files(GetParam().folder, "bad-");
  ASSERT_FALSE(bad.empty());
  for (const fs::path& path : bad) {
    const auto file = GetParam().read(map_file(path));
    ASSERT_FALSE(file) << path;
    const std::string key = GetParam().folder + "/" + path.filename().string();
    const size_t root = path.string().size() - key.size();
    EXPECT_EQ(file.error().message.substr(root), wanted[key]);
  }
}

TEST_P(Corpus, AGoodFileCutAtAnyByteIsRefused) {
  for (const fs::path& path : corpus_files(GetParam().folder, "good-")) {
    const std::vector<char> bytes = file_contents(path);
    const auto whole = GetParam().read(map_file(path));
    ASSERT_TRUE(whole) << whole.error().message;
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto cut = MappedFile::from_bytes(std::as_bytes(std::span(bytes).first(size)), "cut");
      const auto file = GetParam().read(cut);
      // ggml .bin does not say how many tensors follow: between two of them the cut goes unseen.
      const bool fewer =
          file && file->format == "ggml" && file->tensors.size() < whole->tensors.size();
      EXPECT_TRUE(!file || fewer) << path << " cut to " << size << " bytes";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, Corpus,
    testing::Values(Format{"safetensors", read_safetensors}, Format{"gguf", read_gguf},
                    Format{"ctranslate2", read_ctranslate2}, Format{"ggml_bin", read_ggml_bin},
                    Format{"npy", read_npy}, Format{"npz", read_npz}, Format{"onnx", read_onnx},
                    Format{"pytorch", read_pytorch}, Format{"tensor_file", read_tensor_file}),
    [](const auto& test) { return test.param.folder; });

}  // namespace
}  // namespace mynah
