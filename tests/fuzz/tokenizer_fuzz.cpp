#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah {
namespace {

// The text up to the next mark, which is taken away.
std::string_view take(std::string_view& rest, std::string_view up_to) {
  const size_t end = std::min(rest.find(up_to), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + up_to.size(), rest.size()));
  return part;
}

std::vector<std::string> lines_of(std::string_view block) {
  std::vector<std::string> lines;
  while (!block.empty()) {
    lines.emplace_back(take(block, "\n"));
  }
  return lines;
}

// A number of two letters, for what is told of a token.
int64_t small_number(std::string_view letters, size_t at) {
  return at < letters.size() ? static_cast<signed char>(letters[at]) - '0' : 1;
}

// Blocks with a line "==" between: model, pre, the token types' and the scores' digits, ids of bos,
// eos and unknown, each on a line; a token a line; a merge a line; a text, whose first line is the
// template's and the rest given.
TensorFile read_file(std::string_view& rest) {
  const auto names = lines_of(take(rest, "==\n"));
  const auto line = [&](size_t i) { return i < names.size() ? names[i] : std::string(); };
  const auto tokens = lines_of(take(rest, "==\n"));
  std::vector<int64_t> types(line(2).size());
  std::vector<double> scores(line(3).size());
  for (size_t i = 0; i < types.size(); ++i) {
    types[i] = small_number(line(2), i);
  }
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] = static_cast<double>(small_number(line(3), i));
  }
  TensorFile file;
  file.path = "fuzz";
  const auto set = [&](const std::string& key, MetadataValue value) {
    file.metadata.emplace("tokenizer.ggml." + key, std::move(value));
  };
  set("model", line(0));
  set("pre", line(1));
  set("tokens", tokens);
  // An array that has no lines is left out, where a file would have none.
  if (!types.empty()) {
    set("token_type", types);
  }
  if (!scores.empty()) {
    set("scores", scores);
  }
  if (const std::string ids = line(4); !ids.empty()) {
    set("bos_token_id", small_number(ids, 0));
    set("eos_token_id", small_number(ids, 1));
    set("unknown_token_id", small_number(ids, 2));
  }
  set("merges", lines_of(take(rest, "==\n")));
  return file;
}

void check_ids(const TextTokenizer& tokenizer, const std::vector<int32_t>& ids, bool given) {
  for (const int32_t id : ids) {
    MYNAH_CHECK(id >= 0 && id < tokenizer.size(), "a token is one of the vocabulary");
    MYNAH_CHECK(!given || !tokenizer.is_mark(id) || id == tokenizer.special().unknown,
                "a given text has no mark");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = create_text_tokenizer(read_file(rest));
  if (!tokenizer) {
    return 0;
  }
  const TextTokenizer& made = **tokenizer;
  const std::string_view whole = rest;
  const std::string_view own = take(rest, "\n");
  check_ids(made, made.encode(whole), true);
  check_ids(made, made.encode_whole(whole), false);
  const std::array parts = {PromptPart{.text = own}, PromptPart{.text = rest, .given = true},
                            PromptPart{.text = own}};
  const auto ids = made.encode_template(parts);
  check_ids(made, ids, false);
  // A token has a byte of the text at least, but for the spaces of SentencePiece.
  MYNAH_CHECK(ids.size() <= 2 * (2 * own.size() + rest.size()) + 1, "more tokens than bytes");
  for (int32_t id = -1; id <= made.size(); ++id) {
    const auto mark = made.find_mark(made.bytes(id));
    MYNAH_CHECK(!mark || made.is_mark(*mark), "what is found as a mark is one");
  }
  return 0;
}

}  // namespace mynah
