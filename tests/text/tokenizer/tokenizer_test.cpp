// Tokenizers of tiny vocabularies: what each family does, and what is no vocabulary.
#include <array>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tokenizer/text_tokenizer.h"
#include "text/tokenizer/tiny_vocabulary.h"

namespace mynah {
namespace {

using test::TinyVocabulary;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<TextTokenizer> made(const TensorFile& file) {
  auto tokenizer = create_text_tokenizer(file);
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return tokenizer ? std::move(*tokenizer) : nullptr;
}

TEST(ByteLevel, MergesInTheOrderOfTheList) {
  const auto tokenizer = made(test::tiny_byte_level().file());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->encode("ab"), ElementsAre(256));
  EXPECT_THAT(tokenizer->encode("ab ab"), ElementsAre(256, 257));
  EXPECT_THAT(tokenizer->encode("ba"), ElementsAre('b', 'a'));
  EXPECT_THAT(tokenizer->encode("\xff"), ElementsAre(255));
  EXPECT_THAT(tokenizer->encode(""), ElementsAre());
  EXPECT_EQ(tokenizer->bytes(257), " ab");
}

TEST(ByteLevel, CutsOutWhatTheUserDefinedAndNoMark) {
  const auto tokenizer = made(test::tiny_byte_level().file());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->encode("ab    ab"), ElementsAre(256, 260, 256));
  EXPECT_THAT(tokenizer->encode("<think>"), ElementsAre('<', 't', 'h', 'i', 'n', 'k', '>'));
  EXPECT_THAT(tokenizer->encode_template(std::array{PromptPart{.text = "<think><|end|>"}}),
              ElementsAre(259, 258));
  EXPECT_TRUE(tokenizer->is_mark(259) && !tokenizer->is_control(259));
  EXPECT_TRUE(tokenizer->is_mark(258) && tokenizer->is_control(258));
  EXPECT_FALSE(tokenizer->is_mark(260));
  EXPECT_THAT(tokenizer->special().reply_ends, ElementsAre(258));
}

// A byte that the vocabulary lacks is left out.
TEST(ByteLevel, LeavesOutBytesWithoutAToken) {
  TinyVocabulary vocabulary = test::tiny_byte_level();
  vocabulary.tokens[0xFF] = "never";
  const auto tokenizer = made(vocabulary.file());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->encode("a\xff!"), ElementsAre('a', '!'));
}

TEST(ByteLevel, NeverMergesToAMark) {
  TinyVocabulary vocabulary = test::tiny_byte_level();
  vocabulary.add("<a", test::kControl);
  vocabulary.merges.emplace_back("< a");
  const auto tokenizer = made(vocabulary.file());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->encode("<a"), ElementsAre('<', 'a'));
}

TEST(Pieces, JoinByScores) {
  const auto tokenizer = made(test::tiny_pieces().file());
  ASSERT_NE(tokenizer, nullptr);
  // "_a" has a better score than "ab", and "_ab" is made of it.
  EXPECT_THAT(tokenizer->encode("ab"), ElementsAre(264));
  EXPECT_THAT(tokenizer->encode("bab"), ElementsAre(259, 261, 262));
  EXPECT_THAT(tokenizer->encode("a\u2581"
                                "a"),
              ElementsAre(263, 263));
  EXPECT_THAT(tokenizer->encode(" a"), ElementsAre(259, 263));
  EXPECT_THAT(tokenizer->encode("a\u00e9"), ElementsAre(263, 3 + 0xC3, 3 + 0xA9));
  EXPECT_EQ(tokenizer->bytes(264), " ab");
  EXPECT_EQ(tokenizer->bytes(3 + 0xC3), "\xC3");
  EXPECT_THAT(tokenizer->encode_whole("a"), ElementsAre(1, 263));
}

TEST(Pieces, NeverJoinToAMark) {
  const auto tokenizer = made(test::tiny_pieces().file());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->encode("<s>"), ElementsAre(259, 265, 266));
  const std::array parts = {PromptPart{.text = "<s>a"}, PromptPart{.text = "<s>", .given = true}};
  EXPECT_THAT(tokenizer->encode_template(parts), ElementsAre(1, 263, 265, 266));
}

TEST(Pieces, WithoutBytesAreUnknownOnceACodePoint) {
  TinyVocabulary vocabulary = test::tiny_pieces();
  for (size_t byte = 0; byte < 256; ++byte) {
    vocabulary.types[3 + byte] = test::kControl;
  }
  const auto tokenizer = made(vocabulary.file());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->encode("a\u00e9\u4e00"), ElementsAre(263, 0, 0));
}

TinyVocabulary tiny_word_piece() {
  TinyVocabulary vocabulary{.model = "bert"};
  vocabulary.tokens = {"[PAD]",    "[UNK]", "[CLS]",   "[SEP]",
                       "\u2581un", "able",  "\u2581e", "\u2581!"};
  vocabulary.types = {3, 3, 3, 3, 1, 1, 1, 1};
  return vocabulary;
}

TensorFile word_piece_file() {
  TensorFile file = tiny_word_piece().file();
  file.metadata.emplace("tokenizer.ggml.unknown_token_id", int64_t{1});
  file.metadata.emplace("tokenizer.ggml.cls_token_id", int64_t{2});
  file.metadata.emplace("tokenizer.ggml.seperator_token_id", int64_t{3});
  return file;
}

TEST(WordPiece, TakesTheLongestAndStripsAccents) {
  const auto tokenizer = made(word_piece_file());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->encode("UNable!"), ElementsAre(4, 5, 7));
  EXPECT_THAT(tokenizer->encode("\u00c9 e\u0301"), ElementsAre(6, 6));
  EXPECT_THAT(tokenizer->encode("unx un"), ElementsAre(1, 4));
  EXPECT_THAT(tokenizer->encode("u\x01n \xff"), ElementsAre(4));
  EXPECT_THAT(tokenizer->encode_whole("un"), ElementsAre(2, 4, 3));
  std::string word = "un";
  while (word.size() < 98) {
    word += "able";
  }
  EXPECT_EQ(tokenizer->encode(word).size(), 25U);
  EXPECT_THAT(tokenizer->encode(word + "able"), ElementsAre(1));  // 102 code points
}

TEST(WordPiece, KeepsCaseAndAccentsWhereTheFileSaysSo) {
  TensorFile file = word_piece_file();
  file.metadata.emplace("tokenizer.ggml.normalizer.lowercase", false);
  const auto tokenizer = made(file);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->encode("un UN \u00e9"), ElementsAre(4, 1, 1));
}

struct Fault {
  std::string name;
  TensorFile file;
  std::string message;
};

TensorFile changed(const TinyVocabulary& vocabulary, const std::string& key, MetadataValue value) {
  TensorFile file = vocabulary.file();
  file.metadata.insert_or_assign("tokenizer.ggml." + key, std::move(value));
  return file;
}

TensorFile without(const TinyVocabulary& vocabulary, const std::string& key) {
  TensorFile file = vocabulary.file();
  file.metadata.erase("tokenizer.ggml." + key);
  return file;
}

std::vector<Fault> faults() {
  using Texts = std::vector<std::string>;
  using Numbers = std::vector<double>;
  const TinyVocabulary bytes = test::tiny_byte_level();
  const TinyVocabulary pieces = test::tiny_pieces();
  const auto with_type = [&](int64_t type) {
    TinyVocabulary vocabulary = pieces;
    vocabulary.types[262] = type;
    return vocabulary.file();
  };
  return {
      {"no model", without(bytes, "model"), "wanted tokenizer.ggml.model"},
      {"another model", changed(bytes, "model", std::string("t5")), "t5"},
      {"a model of numbers", changed(bytes, "model", int64_t{1}), "another type"},
      {"another pre", changed(bytes, "pre", std::string("gpt-17")), "gpt-17"},
      {"no tokens", without(bytes, "tokens"), "tokenizer.ggml.tokens"},
      {"empty tokens", changed(bytes, "tokens", Texts{}), "tokenizer.ggml.tokens"},
      {"few types", changed(bytes, "token_type", std::vector<int64_t>{1}), "token_type"},
      {"no merges", without(bytes, "merges"), "merges"},
      {"a merge of one", changed(bytes, "merges", Texts{"ab"}), "merge 0"},
      {"a merge of nothing", changed(bytes, "merges", Texts{"a b", "a zz"}), "merge 1"},
      {"an empty merge", changed(bytes, "merges", Texts{""}), "merge 0"},
      {"no scores", without(pieces, "scores"), "scores"},
      {"few scores", changed(pieces, "scores", Numbers{1, 2}), "scores"},
      {"no number",
       changed(pieces, "scores",
               Numbers(pieces.tokens.size(), std::numeric_limits<double>::quiet_NaN())),
       "no number"},
      {"texts as scores", changed(pieces, "scores", Texts{"1"}), "another type"},
      {"a byte of two letters", with_type(test::kByte), "<0x00> to <0xFF>"},
      {"a distant eos", changed(pieces, "eos_token_id", int64_t{269}), "eos"},
      {"a negative bos", changed(pieces, "bos_token_id", int64_t{-2}), "bos"},
      {"no unknown word", changed(tiny_word_piece(), "unknown_token_id", int64_t{-1}),
       "unknown_token_id"},
  };
}

TEST(Metadata, IsRefusedWhereItIsNoVocabulary) {
  for (const Fault& fault : faults()) {
    const auto tokenizer = create_text_tokenizer(fault.file);
    ASSERT_FALSE(tokenizer) << fault.name;
    EXPECT_THAT(tokenizer.error().message, HasSubstr(fault.message)) << fault.name;
  }
}

// -1 as an unsigned number is how some files say "none".
TEST(Metadata, MayHaveIdsThatSayNone) {
  const auto tokenizer = made(changed(test::tiny_pieces(), "bos_token_id", int64_t{0xFFFFFFFF}));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->special().bos, std::nullopt);
  EXPECT_FALSE(tokenizer->special().add_bos);
}

// <|end|> ends a message of gpt-oss and not the reply.
TEST(Metadata, TellsAMessagesEndFromAReplys) {
  TinyVocabulary vocabulary = test::tiny_byte_level();
  vocabulary.add("<|return|>", test::kControl);  // 261
  vocabulary.add("<|call|>", test::kControl);
  const auto tokenizer = made(changed(vocabulary, "eos_token_id", int64_t{261}));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->special().reply_ends, ElementsAre(261, 262));
  EXPECT_TRUE(tokenizer->is_control(258));
}

}  // namespace
}  // namespace mynah
