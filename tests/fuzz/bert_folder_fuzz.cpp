// A folder of sentence-transformers: files one behind the other, "=== NAME" on a line before each.
// The tensors are those of the tiny model, which is whole.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "formats/json.h"
#include "models/bert/checkpoint.h"
#include "models/bert/config.h"
#include "temporary_folder.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah {
namespace {

constexpr std::string_view kBefore = "=== ";

// The files that are read beside the weights; others' names are passed over.
std::map<std::string, std::string> files_in(std::string_view text) {
  std::map<std::string, std::string> files = {{"config.json", ""},
                                              {"modules.json", ""},
                                              {"1_Pooling/config.json", ""},
                                              {"sentence_bert_config.json", ""},
                                              {"tokenizer.json", ""},
                                              {"tokenizer_config.json", ""},
                                              {"vocab.txt", ""}};
  std::string* into = nullptr;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with(kBefore)) {
      const auto found =
          files.find(std::string(line.substr(kBefore.size(), line.find('\n') - kBefore.size())));
      into = found == files.end() ? nullptr : &found->second;
    } else if (into != nullptr) {
      *into += line;
    }
  }
  return files;
}

TensorFile tiny_tensors(const std::string& folder) {
  static const TensorFile weights =
      bert::open_checkpoint(MYNAH_SOURCE_DIR "/tests/models/bert/golden/mean.gguf").value();
  TensorFile file;
  file.format = "safetensors";
  file.path = folder;
  file.owners = weights.owners;
  for (StoredTensor tensor : weights.tensors) {
    if (tensor.name == "token_embd.weight") {
      tensor.name = "embeddings.word_embeddings.weight";
    } else if (tensor.name == "position_embd.weight") {
      tensor.name = "embeddings.position_embeddings.weight";
    }
    file.tensors.push_back(std::move(tensor));
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const test::TemporaryFolder folder;
  const auto files = files_in({reinterpret_cast<const char*>(data), size});
  for (const auto& [name, text] : files) {
    if (text.empty()) {
      std::filesystem::remove(folder / name);
    } else {
      test::write_file(folder / name, text);
    }
  }
  TensorFile file = tiny_tensors(folder.path());
  const auto config = parse_json(files.at("config.json"), "config.json");
  if (config) {
    add_json_metadata(*config, "", file.metadata);
  }
  const auto read = bert::as_gguf(std::move(file));
  if (!read) {
    MYNAH_CHECK(!read.error().message.empty(), "an error without a message");
    return 0;
  }
  static_cast<void>(bert::Config::read(*read));
  if (const auto tokenizer = create_text_tokenizer(*read)) {
    for (const int32_t token : (*tokenizer)->encode_whole("the cat, \xE6\x97\xA5 zz")) {
      MYNAH_CHECK(token >= 0 && token < (*tokenizer)->size(), "a token that there is not");
    }
  }
  return 0;
}

}  // namespace mynah
