#include "text/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test_paths.h"

namespace mynah {
namespace {

using testing::HasSubstr;

TEST(Vocabulary, EveryByteComesBackFromItsPrintableSpelling) {
  std::string all(256, '\0');
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<char>(i);
  }
  EXPECT_EQ(bytes_of_printable(printable_of_bytes(all)), all);
  EXPECT_EQ(printable_of_bytes(" a\n"), "\u0120a\u010A");
  EXPECT_EQ(bytes_of_printable("<|\u4e00|>"), "<|\u4e00|>") << "no byte's spelling: left alone";
}

TEST(Vocabulary, ReadsEveryFormOfFile) {
  const Vocabulary expected = {"a", " b", "\xC3"};
  EXPECT_EQ(parse_vocabulary(R"({"a":0,"Ġb":1,"Ã":2})", "vocab.json"), expected);
  EXPECT_EQ(parse_vocabulary(R"(["a","Ġb","Ã"])", "vocabulary.json"), expected);
  EXPECT_EQ(parse_vocabulary("a\nĠb\r\nÃ\n", "vocabulary.txt"), expected);
  EXPECT_EQ(parse_vocabulary("YQ== 0\nIGI= 1\nww== 2\n", "x.tiktoken"), expected);
  EXPECT_EQ(parse_vocabulary(R"({"model":{"vocab":{"a":0,"Ġb":1}},
                                 "added_tokens":[{"id":2,"content":"<|x y|>"}]})",
                             "tokenizer.json"),
            (Vocabulary{"a", " b", "<|x y|>"}));
}

TEST(Vocabulary, TheEmptyTokenOfTheMultilingualListIsKept) {
  EXPECT_EQ(parse_vocabulary("YQ== 0\n= 1\n", "x.tiktoken"), (Vocabulary{"a", ""}));
}

TEST(Vocabulary, RefusesBrokenFilesAndNamesThem) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "empty file"},
      {R"({"a":0)", "cut short"},
      {R"({"a":7})", "below 1"},
      {R"({"a":-1})", "has id -1"},
      {R"({"a":"b"})", "wanted a number"},
      {R"([1])", "token 0 is not a string"},
      {R"({"model":{}})", "model.vocab"},
      {R"({"model":{"vocab":{"a":0}},"added_tokens":{}})", "not a list"},
      {R"({"model":{"vocab":{"a":0}},"added_tokens":[{}]})", "no id"},
      {"YQ== 0\nYg== 99\n", "line 2"},
  };
  for (const auto& [content, message] : cases) {
    const auto result = parse_vocabulary(content, "some.file");
    ASSERT_FALSE(result) << content;
    EXPECT_THAT(result.error().message, HasSubstr(message)) << content;
    EXPECT_THAT(result.error().message, HasSubstr("some.file"));
  }
  EXPECT_EQ(load_vocabulary("no/such/file").error().code, ErrorCode::NotFound);
  EXPECT_THAT(load_vocabulary(test::source_path("tests/text/data")).error().message,
              HasSubstr("tokenizer.json"));
}

TEST(Vocabulary, AllFilesOfOneModelHoldTheSameTokens) {
  MYNAH_SKIP_WITHOUT(test::weights_path("tiny.en/tokenizer.json"));
  const auto text = load_vocabulary(test::weights_path("tiny.en/vocabulary.txt"));
  const auto of_json = load_vocabulary(test::weights_path("tiny.en/tokenizer.json"));
  ASSERT_TRUE(text && of_json);
  // tokenizer.json leaves the timestamps out.
  ASSERT_LE(of_json->size(), text->size());
  EXPECT_TRUE(std::equal(of_json->begin(), of_json->begin() + 50257, text->begin()));
}

// Why ByteBpe needs no merge list: token 256 + n is what merge n makes.
TEST(Vocabulary, TokensAreNumberedInTheOrderOfTheMerges) {
  const std::string path = test::weights_path("tiny.en/tokenizer.json");
  MYNAH_SKIP_WITHOUT(path);
  const auto model = nlohmann::json::parse(test::read_file(path))["model"];
  size_t id = 256;
  for (const auto& merge : model["merges"]) {
    auto text = merge.is_string() ? merge.get<std::string>()
                                  : merge[0].get<std::string>() + " " + merge[1].get<std::string>();
    text.erase(text.find(' '), 1);
    ASSERT_EQ(model["vocab"][text], id++) << text;
  }
  EXPECT_EQ(id, 50256U);
}

}  // namespace
}  // namespace mynah
