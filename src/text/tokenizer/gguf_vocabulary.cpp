#include "text/tokenizer/gguf_vocabulary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "formats/byte_reader.h"
#include "text/tokenizer/special_names.h"
#include "text/vocabulary.h"

namespace mynah {
namespace {

constexpr std::string_view kSpaceMark = "\u2581";

// token_type's numbers (llama.cpp's llama.h, enum llama_token_type).
enum class GgufTokenType : int64_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6,
};

TokenKind kind_of(int64_t type, std::string_view spelling) {
  switch (static_cast<GgufTokenType>(type)) {
    case GgufTokenType::Normal:
      return TokenKind::Text;
    case GgufTokenType::Unknown:
    case GgufTokenType::Control:
      return TokenKind::Control;
    case GgufTokenType::UserDefined:
      return looks_like_mark(spelling) ? TokenKind::Mark : TokenKind::Added;
    case GgufTokenType::Byte:
      return TokenKind::Byte;
    default:
      return TokenKind::Unused;
  }
}

// The byte of "<0x41>".
std::optional<char> byte_of(std::string_view spelling) {
  if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling.back() != '>') {
    return std::nullopt;
  }
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const size_t high = kDigits.find(spelling[3]);
  const size_t low = kDigits.find(spelling[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) {
    return std::nullopt;
  }
  return static_cast<char>(high * 16 + low);
}

class VocabularyReader {
 public:
  explicit VocabularyReader(const TensorFile& file) : file_(file) {}

  Result<GgufVocabulary> read() {
    MYNAH_TRY_STATUS(read_names());
    MYNAH_TRY_STATUS(read_tokens());
    MYNAH_TRY_STATUS(read_special());
    MYNAH_TRY(vocabulary_.add_bos, flag("tokenizer.ggml.add_bos_token"));
    MYNAH_TRY(vocabulary_.add_eos, flag("tokenizer.ggml.add_eos_token"));
    MYNAH_TRY(vocabulary_.add_space_prefix, flag("tokenizer.ggml.add_space_prefix"));
    return std::move(vocabulary_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> complain(std::string_view message) const {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: {}", file_.path, message));
  }

  Status read_names() {
    MYNAH_TRY(const auto* model, metadata_value<std::string>(file_, "tokenizer.ggml.model"));
    if (model == nullptr) {
      return complain("wanted tokenizer.ggml.model, found none: the file has no tokenizer");
    }
    constexpr auto kModels = std::to_array<std::string_view>({"gpt2", "gemma4", "llama", "bert"});
    if (std::ranges::find(kModels, *model) == kModels.end()) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{}: the tokenizer {} is none that mynah knows, which are {}; use "
                              "another model",
                              file_.path, *model, fmt::join(kModels, ", ")));
    }
    vocabulary_.model = *model;
    vocabulary_.spelling = *model == "gpt2" ? TokenSpelling::Printable : TokenSpelling::Spaced;
    MYNAH_TRY(const auto* pre, metadata_value<std::string>(file_, "tokenizer.ggml.pre"));
    vocabulary_.pre = pre == nullptr || pre->empty() ? "default" : *pre;
    MYNAH_TRY(const auto* name, metadata_value<std::string>(file_, "general.name"));
    const std::string small = name == nullptr ? "" : ascii_lower(*name);
    vocabulary_.strips_after_marks =
        vocabulary_.model == "llama" &&
        (small.find("phi-3") != std::string::npos || small.find("phi3") != std::string::npos);
    return {};
  }

  Status read_tokens() {
    using Texts = std::vector<std::string>;
    MYNAH_TRY(const auto* texts, metadata_value<Texts>(file_, "tokenizer.ggml.tokens"));
    if (texts == nullptr || texts->empty()) {
      return complain("wanted tokenizer.ggml.tokens, found none: the file has no vocabulary");
    }
    MYNAH_TRY(const auto* types,
              metadata_value<std::vector<int64_t>>(file_, "tokenizer.ggml.token_type"));
    if (types != nullptr && types->size() != texts->size()) {
      return complain(
          fmt::format("wanted a tokenizer.ggml.token_type for each of {} tokens, "
                      "found {}",
                      texts->size(), types->size()));
    }
    size_t bytes = 0;
    for (const std::string& text : *texts) {
      bytes += text.size();
    }
    if (bytes > std::numeric_limits<uint32_t>::max() ||
        texts->size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
      return complain("wanted a vocabulary of less than 4 GB, found more");
    }
    vocabulary_.tokens.reserve(texts->size(), bytes);
    for (size_t i = 0; i < texts->size(); ++i) {
      const std::string& text = (*texts)[i];
      const TokenKind kind = types == nullptr ? TokenKind::Text : kind_of((*types)[i], text);
      MYNAH_TRY_STATUS(add_token(text, kind));
    }
    return {};
  }

  Status add_token(const std::string& text, TokenKind kind) {
    if (kind == TokenKind::Byte) {
      const auto byte = byte_of(text);
      if (!byte) {
        return complain(fmt::format("token {} is a byte's, wanted <0x00> to <0xFF>, found {}",
                                    vocabulary_.tokens.size(), in_quotes(text)));
      }
      vocabulary_.tokens.add({&*byte, 1}, kind);
    } else if (kind == TokenKind::Text) {
      const std::string bytes = token_bytes(text, vocabulary_.spelling);
      vocabulary_.tokens.add(bytes, is_spelt(text, bytes) ? kind : TokenKind::Unused);
    } else if (kind == TokenKind::Added && vocabulary_.spelling == TokenSpelling::Spaced &&
               text.find(kSpaceMark) != std::string::npos) {
      // Spaces with U+2581 for them: no text is cut there, but pieces join to it.
      vocabulary_.tokens.add(token_bytes(text, vocabulary_.spelling), TokenKind::Text);
    } else {
      vocabulary_.tokens.add(text, kind);
    }
    return {};
  }

  // Whether bytes are ever spelt so: a printable vocabulary may hold others, which no text becomes
  // (Command-R has a joiner of its own beside the one of three bytes).
  [[nodiscard]] bool is_spelt(std::string_view text, std::string_view bytes) const {
    return vocabulary_.spelling != TokenSpelling::Printable || bytes != text ||
           std::ranges::all_of(text, [](char c) { return c >= '!' && c <= '~'; });
  }

  // The id under a key, or `otherwise` where the file has none and the vocabulary that one.
  Result<std::optional<int32_t>> id(std::string_view key, std::optional<int32_t> otherwise) {
    MYNAH_TRY(const auto* value,
              metadata_value<int64_t>(file_, fmt::format("tokenizer.ggml.{}_token_id", key)));
    const int32_t size = vocabulary_.tokens.size();
    if (value == nullptr) {
      return otherwise && *otherwise < size ? otherwise : std::nullopt;
    }
    // -1, which files that have none may say, and the same as uint32.
    if (*value == -1 || *value == std::numeric_limits<uint32_t>::max()) {
      return std::nullopt;
    }
    if (*value < 0 || *value >= size) {
      return complain(fmt::format("wanted tokenizer.ggml.{}_token_id as one of {} tokens, found {}",
                                  key, size, *value));
    }
    return static_cast<int32_t>(*value);
  }

  Result<std::optional<bool>> flag(std::string_view key) {
    MYNAH_TRY(const auto* value, metadata_value<bool>(file_, key));
    return value == nullptr ? std::nullopt : std::optional(*value);
  }

  Status read_special() {
    // Ids of those files that name none (llama.cpp, src/llama-vocab.cpp).
    const bool bert = vocabulary_.model == "bert";
    const bool pieces = vocabulary_.model == "llama";
    const auto either = [&](int32_t of_pieces, int32_t of_bert) {
      return pieces ? std::optional(of_pieces) : bert ? std::optional(of_bert) : std::nullopt;
    };
    SpecialTokens& special = vocabulary_.special;
    MYNAH_TRY(special.bos, id("bos", either(1, 101)));
    if (bert) {
      MYNAH_TRY(special.bos, id("cls", special.bos));
    }
    // The format's own spelling of "separator".
    MYNAH_TRY(special.eos, id(bert ? "seperator" : "eos", either(2, 102)));
    MYNAH_TRY(special.eot, id("eot", std::nullopt));
    MYNAH_TRY(special.unknown, id("unknown", either(0, 100)));
    MYNAH_TRY(special.padding, id("padding", bert ? std::optional(0) : std::nullopt));
    complete_special_tokens(vocabulary_.tokens, special);
    return {};
  }

  const TensorFile& file_;
  GgufVocabulary vocabulary_;
};

}  // namespace

std::string token_bytes(std::string_view spelled, TokenSpelling spelling) {
  if (spelling == TokenSpelling::Printable) {
    return bytes_of_printable(spelled);
  }
  std::string bytes;
  bytes.reserve(spelled.size());
  for (size_t at = 0; at < spelled.size();) {
    const bool is_space = spelled.substr(at).starts_with(kSpaceMark);
    bytes += is_space ? ' ' : spelled[at];
    at += is_space ? kSpaceMark.size() : 1;
  }
  return bytes;
}

Result<GgufVocabulary> read_gguf_vocabulary(const TensorFile& file) {
  return VocabularyReader(file).read();
}

}  // namespace mynah
