// Token ids against those that the models' original tokenizers made (llama.cpp's models/ folder).
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tokenizer/vocabulary_files.h"

namespace mynah {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

struct Case {
  std::string text;
  std::vector<int32_t> ids;
};

// NAME.inp has texts with a line between that says so, NAME.out the ids of each, a line a text.
std::vector<Case> read_cases(const std::string& path) {
  constexpr std::string_view kBetween = "\n__ggml_vocab_test__\n";
  const std::string texts = content_of(path + ".inp");
  std::istringstream ids(content_of(path + ".out"));
  std::vector<Case> cases;
  for (size_t at = 0; at < texts.size();) {
    const size_t end = std::min(texts.find(kBetween, at), texts.size());
    Case one{.text = texts.substr(at, end - at)};
    std::string line;
    std::getline(ids, line);
    std::istringstream numbers(line);
    for (int32_t id = 0; numbers >> id;) {
      one.ids.push_back(id);
    }
    cases.push_back(std::move(one));
    at = std::min(end + kBetween.size(), texts.size());
  }
  return cases;
}

class Vectors : public testing::TestWithParam<std::string> {};

TEST_P(Vectors, AreExact) {
  const std::string path = test::vocabulary_path(GetParam());
  MYNAH_SKIP_WITHOUT(path);
  const auto tokenizer = test::tokenizer_of(path);
  ASSERT_NE(tokenizer, nullptr);
  const std::vector<Case> cases = read_cases(path);
  ASSERT_GE(cases.size(), 40U);
  for (const Case& one : cases) {
    EXPECT_THAT(tokenizer->encode(one.text), testing::ElementsAreArray(one.ids)) << one.text;
  }
}

// Those of ../shared, and the others of the source package where its folder is in their place.
INSTANTIATE_TEST_SUITE_P(Families, Vectors,
                         testing::Values("bert-bge", "command-r", "deepseek-coder", "deepseek-llm",
                                         "falcon", "gemma-4", "gpt-2", "llama-bpe", "llama-spm",
                                         "mpt", "phi-3", "qwen2", "qwen35", "refact", "starcoder"));

}  // namespace
}  // namespace mynah
