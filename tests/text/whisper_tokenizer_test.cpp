// Against the reference tokenizers' results in data/whisper_tokens.json
// (tools/tokenizer_vectors.py).
#include "text/whisper_tokenizer.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test_paths.h"
#include "text/languages.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using nlohmann::json;
using test::weights_path;

const std::string kEnglishFolder = "tiny.en";
const std::string kMultilingualFile = "vocabulary/multilingual.tiktoken";

json vectors() {
  return json::parse(test::read_file(test::source_path("tests/text/data/whisper_tokens.json")));
}

WhisperTokenizer open_tokenizer(const std::string& file, int64_t n_vocab) {
  auto vocabulary = load_vocabulary(weights_path(file));
  EXPECT_TRUE(vocabulary) << vocabulary.error().message;
  auto tokenizer = WhisperTokenizer::create(std::move(*vocabulary), n_vocab);
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return std::move(*tokenizer);
}

// The two families in one loop: the vocabulary's file, the size and the key of the vectors.
struct Family {
  std::string file;
  int64_t n_vocab;
  std::string key;
};

class WhisperTokenizerTest : public testing::TestWithParam<Family> {
 protected:
  void SetUp() override { MYNAH_SKIP_WITHOUT(weights_path(GetParam().file)); }

  static bool multilingual() { return GetParam().key == "multilingual"; }

  static WhisperTokenizer tokenizer() {
    return open_tokenizer(GetParam().file, GetParam().n_vocab);
  }
};

INSTANTIATE_TEST_SUITE_P(Families, WhisperTokenizerTest,
                         testing::Values(Family{kEnglishFolder, 51864, "english"},
                                         Family{"tiny.en/tokenizer.json", 51864, "english"},
                                         Family{"vocabulary/gpt2.tiktoken", 51864, "english"},
                                         Family{kMultilingualFile, 51865, "multilingual"}),
                         [](const auto& family) {
                           std::string name = family.param.file;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '.' || c == '/'; }, '_');
                           return name;
                         });

TEST_P(WhisperTokenizerTest, EncodesAsTheReference) {
  const WhisperTokenizer tokenizer = this->tokenizer();
  const json encode_rows = vectors()["encode"];  // kept: a loop would not keep its temporary
  for (const json& row : encode_rows) {
    const auto text = row["text"].get<std::string>();
    EXPECT_EQ(tokenizer.encode(text), row[GetParam().key].get<std::vector<int32_t>>()) << text;
  }
}

TEST_P(WhisperTokenizerTest, DecodesAsTheReference) {
  const WhisperTokenizer tokenizer = this->tokenizer();
  const json decode_rows = vectors()["decode"];  // kept: a loop would not keep its temporary
  for (const json& row : decode_rows) {
    if (row["multilingual"].get<bool>() != multilingual()) {
      continue;
    }
    const auto ids = row["ids"].get<std::vector<int32_t>>();
    EXPECT_EQ(tokenizer.decode(ids), row["text"].get<std::string>());
    EXPECT_EQ(tokenizer.decode_with_timestamps(ids), row["with_timestamps"].get<std::string>());
  }
}

TEST_P(WhisperTokenizerTest, SplitsIntoWordsAsTheReference) {
  const WhisperTokenizer tokenizer = this->tokenizer();
  const json words_rows = vectors()["words"];  // kept: a loop would not keep its temporary
  for (const json& row : words_rows) {
    if (row["multilingual"].get<bool>() != multilingual()) {
      continue;
    }
    const auto ids = row["ids"].get<std::vector<int32_t>>();
    json words = json::array();
    json tokens = json::array();
    for (const TokenWord& word :
         tokenizer.split_to_words(ids, row["language"].get<std::string>())) {
      words.push_back(word.text);
      tokens.push_back(word.tokens);
    }
    EXPECT_EQ(words, row["words"]) << tokenizer.decode_with_timestamps(ids);
    EXPECT_EQ(tokens, row["tokens"]);
  }
}

TEST_P(WhisperTokenizerTest, AnyBytesComeBackWhenTheirTokensAreJoined) {
  const WhisperTokenizer tokenizer = this->tokenizer();
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 60, '\0');
    std::ranges::generate(bytes, [&] {
      return static_cast<char>(round % 2 == 0 ? random() % 256 : 32 + random() % 95);
    });
    std::string joined;
    for (const int32_t id : tokenizer.encode(bytes)) {
      joined += tokenizer.bytes(id);
    }
    EXPECT_EQ(joined, bytes);
  }
}

TEST_P(WhisperTokenizerTest, StreamedPiecesAreWholeCodePointsAndJoinToTheDecodedText) {
  const WhisperTokenizer tokenizer = this->tokenizer();
  const json encode_rows = vectors()["encode"];  // kept: a loop would not keep its temporary
  for (const json& row : encode_rows) {
    const auto ids = row[GetParam().key].get<std::vector<int32_t>>();
    StreamingDecoder decoder(tokenizer);
    std::string joined;
    for (const int32_t id : ids) {
      const std::string piece = decoder.push(id);
      EXPECT_EQ(replace_invalid_utf8(piece), piece);
      joined += piece;
    }
    joined += decoder.flush();
    EXPECT_EQ(joined, tokenizer.decode(ids));
  }
}

TEST_P(WhisperTokenizerTest, ALongRunOfOneLetterIsEncodedInModerateTime) {
  const WhisperTokenizer tokenizer = this->tokenizer();
  const std::string text(200'000, 'a');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

class WhisperSpecialTokensTest : public testing::TestWithParam<std::pair<std::string, int64_t>> {};

INSTANTIATE_TEST_SUITE_P(Sizes, WhisperSpecialTokensTest,
                         testing::Values(std::pair{kEnglishFolder, 51864},
                                         std::pair{kMultilingualFile, 51865},
                                         std::pair{kMultilingualFile, 51866}));

TEST_P(WhisperSpecialTokensTest, AreTheReferences) {
  const auto& [file, n_vocab] = GetParam();
  MYNAH_SKIP_WITHOUT(weights_path(file));
  const WhisperTokenizer tokenizer = open_tokenizer(file, n_vocab);
  const WhisperSpecialTokens& special = tokenizer.special();
  const json expected = vectors()["special"][std::to_string(n_vocab)];
  EXPECT_EQ(tokenizer.size(), n_vocab);
  EXPECT_EQ(special.eot, expected["eot"]);
  EXPECT_EQ(special.sot, expected["sot"]);
  EXPECT_EQ(special.translate, expected["translate"]);
  EXPECT_EQ(special.transcribe, expected["transcribe"]);
  EXPECT_EQ(special.sot_lm, expected["sot_lm"]);
  EXPECT_EQ(special.sot_prev, expected["sot_prev"]);
  EXPECT_EQ(special.no_speech, expected["no_speech"]);
  EXPECT_EQ(special.no_timestamps, expected["no_timestamps"]);
  EXPECT_EQ(special.timestamp_begin, expected["timestamp_begin"]);
  EXPECT_EQ(special.language_begin, expected["first_language"]);
  EXPECT_EQ(special.n_languages, expected["languages"].size());
  for (size_t i = 0; i < expected["languages"].size(); ++i) {
    EXPECT_EQ(tokenizer.language_code(special.language_begin + static_cast<int32_t>(i)),
              expected["languages"][i].get<std::string>());
  }
  EXPECT_EQ(tokenizer.non_speech_tokens(), expected["non_speech"].get<std::vector<int32_t>>());
}

TEST(WhisperTokenizer, LanguagesAreFoundByCodeNameAndAlias) {
  MYNAH_SKIP_WITHOUT(weights_path(kMultilingualFile));
  const WhisperTokenizer tokenizer = open_tokenizer(kMultilingualFile, 51865);
  EXPECT_EQ(tokenizer.language_token("en"), tokenizer.special().language_begin);
  EXPECT_EQ(tokenizer.language_token("German"), tokenizer.language_token("de"));
  EXPECT_EQ(tokenizer.language_token("castilian"), tokenizer.language_token("es"));
  EXPECT_EQ(tokenizer.language_token("tlh"), std::nullopt);
  EXPECT_EQ(tokenizer.language_token("yue"), std::nullopt) << "large-v3 alone knows Cantonese";
  EXPECT_EQ(tokenizer.sot_sequence(*tokenizer.language_token("de"), true),
            (std::vector<int32_t>{50258, 50261, 50358}));
  EXPECT_EQ(find_language("Haitian"), find_language("haitian creole"));
}

TEST(WhisperTokenizer, AnEnglishModelStartsFromOneToken) {
  MYNAH_SKIP_WITHOUT(weights_path(kEnglishFolder));
  const WhisperTokenizer tokenizer = open_tokenizer(kEnglishFolder, 51864);
  EXPECT_FALSE(tokenizer.multilingual());
  EXPECT_EQ(tokenizer.language_token("en"), std::nullopt);
  EXPECT_EQ(tokenizer.sot_sequence(-1, false), std::vector<int32_t>{50257});
  EXPECT_DOUBLE_EQ(tokenizer.timestamp_s(50363 + 54), 1.08);
  EXPECT_EQ(tokenizer.bytes(50363 + 54), "<|1.08|>");
  EXPECT_EQ(tokenizer.bytes(50362), "<|notimestamps|>");
  EXPECT_EQ(tokenizer.bytes(-1), "");
  EXPECT_EQ(tokenizer.bytes(51864), "");
}

TEST(WhisperTokenizer, SpecialTokensInATextAreSpeltNotObeyed) {
  MYNAH_SKIP_WITHOUT(weights_path(kEnglishFolder));
  const WhisperTokenizer tokenizer = open_tokenizer(kEnglishFolder, 51864);
  for (const int32_t id : tokenizer.encode("<|endoftext|><|0.00|>")) {
    EXPECT_LT(id, tokenizer.special().eot);
  }
}

TEST(WhisperTokenizer, RefusesVocabulariesThatAreNotWhispers) {
  auto other_size = WhisperTokenizer::create(Vocabulary(60000), 50257);
  ASSERT_FALSE(other_size);
  EXPECT_THAT(other_size.error().message, testing::HasSubstr("50257"));
  auto cut = WhisperTokenizer::create(Vocabulary(400), 51864);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, testing::HasSubstr("400 tokens"));
  auto no_bytes = WhisperTokenizer::create(Vocabulary(51864, "x"), 51864);
  ASSERT_FALSE(no_bytes);
  EXPECT_THAT(no_bytes.error().message, testing::HasSubstr("byte 0x00"));
}

// llama.cpp's vectors for GPT-2: the English vocabulary is the same. One line of ids a text.
TEST(WhisperTokenizer, EncodesLlamaCppsTextsForGpt2) {
  const std::string base = test::shared_path("tokenizers/ggml-vocab-gpt-2.gguf");
  MYNAH_SKIP_WITHOUT(base + ".inp");
  MYNAH_SKIP_WITHOUT(weights_path(kEnglishFolder));
  const WhisperTokenizer tokenizer = open_tokenizer(kEnglishFolder, 51864);
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::string input = test::read_file(base + ".inp");
  std::ifstream output(base + ".out");
  int n_texts = 0;
  for (std::string line; std::getline(output, line); ++n_texts) {
    const size_t end = input.find(separator);
    ASSERT_NE(end, std::string::npos);
    std::istringstream numbers(line);
    const std::vector<int32_t> ids{std::istream_iterator<int32_t>(numbers), {}};
    EXPECT_EQ(tokenizer.encode(input.substr(0, end)), ids) << input.substr(0, end);
    input.erase(0, end + separator.size());
  }
  EXPECT_GE(n_texts, 40);
}

}  // namespace
}  // namespace mynah
