// A mask is exactly the tokens whose bytes are accepted, in random places of many constraints.
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "byte_vocabulary.h"
#include "constraint_cases.h"
#include "gguf_vocabulary.h"
#include "test_paths.h"

namespace mynah::grammar {
namespace {

using Json = nlohmann::ordered_json;

// Walks by tokens that the masks allow. At each of `places` it compares the mask with what another
// constraint of the same source takes, which never made a mask.
void compare_on_a_walk(const ConstraintSource& source,
                       const std::shared_ptr<const TokenVocabulary>& vocabulary, int places,
                       std::mt19937& random) {
  const auto constraint = compiled(source, vocabulary).value();
  ConstraintState state(constraint);
  ConstraintState plain(compiled(source, vocabulary).value());
  std::vector<uint32_t> bits(vocabulary->mask_words());
  std::string written;
  for (int place = 0; place < places && !state.ended(); ++place) {
    const Status masked = state.mask(bits);
    ASSERT_TRUE(masked.has_value()) << masked.error().message << " behind " << written;
    std::vector<int32_t> allowed;
    for (int32_t token = 0; token < vocabulary->size(); ++token) {
      const bool is_allowed = has_token_bit(bits, token);
      ConstraintState next = plain;
      ASSERT_EQ(next.accept(token).has_value(), is_allowed)
          << "token " << token << " \"" << vocabulary->bytes(token) << "\" behind " << written;
      if (is_allowed) {
        allowed.push_back(token);
      }
    }
    // A short one every other time, so that more than the inside of strings is seen.
    int32_t token = allowed[random() % allowed.size()];
    for (int tries = 0; tries < 8 && place % 2 == 0; ++tries) {
      const int32_t other = allowed[random() % allowed.size()];
      token = vocabulary->bytes(other).size() < vocabulary->bytes(token).size() ? other : token;
    }
    written += vocabulary->bytes(token);
    ASSERT_TRUE(state.accept(token).has_value());
    ASSERT_TRUE(plain.accept(token).has_value());
  }
}

std::vector<ConstraintSource> sources() {
  std::vector<ConstraintSource> sources;
  for (const Json& one :
       Json::parse(std::ifstream(test::source_path("tests/text/grammar/cases.json")))) {
    if (!one.contains("error")) {
      sources.push_back(source_of(one));
    }
  }
  return sources;
}

TEST(Mask, IsWhatIsAcceptedTokenByToken) {
  std::mt19937 random(1);
  for (const ConstraintSource& source : sources()) {
    SCOPED_TRACE(source.text.substr(0, 300));
    for (int walk = 0; walk < 3; ++walk) {
      compare_on_a_walk(source, byte_vocabulary(), 30, random);
    }
  }
}

// The vocabularies of real models, whose tokens cross every border of JSON's parts.
TEST(Mask, IsWhatIsAcceptedOfRealVocabularies) {
  std::mt19937 random(2);
  const std::vector<ConstraintSource> all = sources();
  for (const char* name : {"qwen2", "llama-spm"}) {
    const std::string path =
        test::shared_path(std::string("tokenizers/ggml-vocab-") + name + ".gguf");
    MYNAH_SKIP_WITHOUT(path);
    const auto vocabulary = gguf_vocabulary(path).value();
    const ConstraintSource object = {.kind = ConstraintSource::Kind::JsonObject};
    compare_on_a_walk(object, vocabulary, 6, random);
    for (int i = 0; i < 3; ++i) {
      compare_on_a_walk(all[random() % all.size()], vocabulary, 3, random);
    }
  }
}

}  // namespace
}  // namespace mynah::grammar
