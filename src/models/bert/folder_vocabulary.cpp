// A WordPiece vocabulary as Hugging Face keeps it, as the keys tokenizer.ggml.* of a GGUF file.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "formats/byte_reader.h"
#include "models/bert/folder_files.h"

namespace mynah::bert {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Texts = std::vector<std::string>;

// token_type's numbers (llama.cpp's llama.h, enum llama_token_type).
constexpr int64_t kNormal = 1;
constexpr int64_t kControl = 3;

struct WordPieces {
  Texts tokens;  // as BERT spells them: "##ing" goes on with a word
  bool lower_case = true;
  bool strip_accents = true;
};

bool flag_of(const Json& object, std::string_view key, bool otherwise) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

// lowercase, or do_lower_case, and strip_accents, which is as the first where it is null.
void take_normalizer(const Json& object, const char* lower_key, WordPieces& pieces) {
  pieces.lower_case = flag_of(object, lower_key, true);
  pieces.strip_accents = flag_of(object, "strip_accents", pieces.lower_case);
}

Status put(Texts& tokens, const Json& id, const std::string& text, int64_t size,
           const std::string& path) {
  if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= size) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: wanted token {} as one of {}, found {}",
                                                     path, in_quotes(text), size, id.dump()));
  }
  const auto at = id.get<size_t>();
  tokens.resize(std::max(tokens.size(), at + 1));
  tokens[at] = text;
  return {};
}

Result<WordPieces> of_tokenizer_json(const Json& tokenizer, const std::string& path, int64_t size) {
  WordPieces pieces;
  const auto model = tokenizer.is_object() ? tokenizer.find("model") : tokenizer.end();
  const auto vocabulary =
      model != tokenizer.end() && model->is_object() ? model->find("vocab") : tokenizer.end();
  if (model == tokenizer.end() || !model->is_object() || vocabulary == model->end() ||
      !vocabulary->is_object()) {
    return fail(ErrorCode::Unsupported,
                path + ": wanted a WordPiece vocabulary (model.vocab), found none");
  }
  for (const auto& [text, id] : vocabulary->items()) {
    MYNAH_TRY_STATUS(put(pieces.tokens, id, text, size, path));
  }
  const auto added = tokenizer.find("added_tokens");
  for (const Json& one : added == tokenizer.end() ? Json::array() : *added) {
    if (one.is_object() && one.contains("id") && one.contains("content") &&
        one["content"].is_string()) {
      MYNAH_TRY_STATUS(
          put(pieces.tokens, one["id"], one["content"].get<std::string>(), size, path));
    }
  }
  const auto normalizer = tokenizer.find("normalizer");
  const Json rules = normalizer == tokenizer.end() ? Json() : *normalizer;
  if (!rules.is_object() || rules.value("type", Json()) != Json("BertNormalizer")) {
    return fail(ErrorCode::Unsupported,
                path + ": wanted the normalizer BertNormalizer, found another or none");
  }
  take_normalizer(rules, "lowercase", pieces);
  return pieces;
}

Result<WordPieces> of_vocab_txt(const std::string& folder, int64_t size) {
  const std::string path = (fs::path(folder) / "vocab.txt").string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return fail(ErrorCode::InvalidInput,
                folder + ": wanted tokenizer.json or vocab.txt beside the weights, found neither");
  }
  MYNAH_TRY(const auto file, MappedFile::open(path));
  std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  WordPieces pieces;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    pieces.tokens.emplace_back(line);
    if (std::ssize(pieces.tokens) > size) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted a token a line, {} at most, found more", path, size));
    }
  }
  MYNAH_TRY(const Json config, read_json_file(folder, "tokenizer_config.json"));
  take_normalizer(config, "do_lower_case", pieces);
  return pieces;
}

bool is_mark(std::string_view token) {
  return token.starts_with('[') && token.ends_with(']') && token.size() > 2;
}

}  // namespace

Status add_vocabulary(const std::string& folder, int64_t size, Metadata& metadata) {
  MYNAH_TRY(const Json tokenizer, read_json_file(folder, "tokenizer.json"));
  MYNAH_TRY(WordPieces pieces,
            tokenizer.is_null() ? of_vocab_txt(folder, size)
                                : of_tokenizer_json(tokenizer, folder + "/tokenizer.json", size));
  std::vector<int64_t> types;
  for (size_t id = 0; id < pieces.tokens.size(); ++id) {
    std::string& token = pieces.tokens[id];
    types.push_back(is_mark(token) ? kControl : kNormal);
    for (const auto& [mark, key] : {std::pair{"[CLS]", "cls"}, std::pair{"[SEP]", "seperator"},
                                    std::pair{"[UNK]", "unknown"}, std::pair{"[PAD]", "padding"}}) {
      if (token == mark) {
        metadata.insert_or_assign(fmt::format("tokenizer.ggml.{}_token_id", key),
                                  static_cast<int64_t>(id));
      }
    }
    if (types.back() == kNormal && token.starts_with("##")) {
      token.erase(0, 2);
    } else if (types.back() == kNormal) {
      token.insert(0, "\u2581");
    }
  }
  metadata.insert_or_assign("tokenizer.ggml.model", std::string("bert"));
  metadata.insert_or_assign("tokenizer.ggml.tokens", std::move(pieces.tokens));
  metadata.insert_or_assign("tokenizer.ggml.token_type", std::move(types));
  metadata.insert_or_assign("tokenizer.ggml.normalizer.lowercase", pieces.lower_case);
  metadata.insert_or_assign("tokenizer.ggml.normalizer.strip_accents", pieces.strip_accents);
  return {};
}

}  // namespace mynah::bert
