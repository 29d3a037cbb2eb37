#include "text/vocabulary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using nlohmann::json;

constexpr char32_t kFirstSpelling = 0x100;

bool is_visible_latin1(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) ||
         (byte >= 0xAE && byte <= 0xFF);
}

struct ByteSpelling {
  std::array<char32_t, 256> of_byte{};
  // Byte of each code point below 0x100 + 68, or -1.
  std::array<int16_t, 0x144> of_character{};
};

ByteSpelling make_byte_spelling() {
  ByteSpelling spelling;
  spelling.of_character.fill(-1);
  char32_t next = kFirstSpelling;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t character = is_visible_latin1(byte) ? static_cast<char32_t>(byte) : next++;
    spelling.of_byte[static_cast<size_t>(byte)] = character;
    spelling.of_character[character] = static_cast<int16_t>(byte);
  }
  return spelling;
}

const ByteSpelling& byte_spelling() {
  static const ByteSpelling spelling = make_byte_spelling();
  return spelling;
}

std::unexpected<Error> bad(const std::string& name, std::string_view what) {
  return fail(ErrorCode::InvalidInput, fmt::format("{}: {}", name, what));
}

// A token and its id, put where they belong. Ids are bounded by the number of tokens, so that a
// file cannot ask for more memory than its own size.
Status put(Vocabulary& vocabulary, size_t limit, const json& id, std::string bytes,
           const std::string& name) {
  if (!id.is_number_unsigned() || id.get<uint64_t>() >= limit) {
    return bad(name, fmt::format("token '{}' has id {}, wanted a number below {}",
                                 replace_invalid_utf8(bytes), id.dump(), limit));
  }
  const auto index = id.get<size_t>();
  if (index >= vocabulary.size()) {
    vocabulary.resize(index + 1);
  }
  vocabulary[index] = std::move(bytes);
  return {};
}

Status put_object(Vocabulary& vocabulary, size_t limit, const json& object,
                  const std::string& name) {
  for (const auto& [token, id] : object.items()) {
    MYNAH_TRY_STATUS(put(vocabulary, limit, id, bytes_of_printable(token), name));
  }
  return {};
}

// tokenizer.json. Its added tokens are written plainly, not in the spelling of bytes.
Result<Vocabulary> parse_tokenizer_json(const json& root, const std::string& name) {
  const json& model = root["model"];
  if (!model.is_object() || !model.contains("vocab") || !model["vocab"].is_object()) {
    return bad(name, "wanted model.vocab, an object of token to id (a byte-level BPE tokenizer)");
  }
  const json added = root.value("added_tokens", json::array());
  if (!added.is_array()) {
    return bad(name, "added_tokens is not a list");
  }
  const size_t limit = model["vocab"].size() + added.size();
  Vocabulary vocabulary;
  MYNAH_TRY_STATUS(put_object(vocabulary, limit, model["vocab"], name));
  for (const json& token : added) {
    if (!token.is_object() || !token.contains("id") || !token.contains("content") ||
        !token["content"].is_string()) {
      return bad(name, "an entry of added_tokens has no id or no content");
    }
    MYNAH_TRY_STATUS(put(vocabulary, limit, token["id"], token["content"], name));
  }
  return vocabulary;
}

Result<Vocabulary> parse_json(std::string_view content, const std::string& name) {
  const json root = json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (root.is_object() && root.contains("model")) {
    return parse_tokenizer_json(root, name);
  }
  Vocabulary vocabulary;
  if (root.is_object()) {
    MYNAH_TRY_STATUS(put_object(vocabulary, root.size(), root, name));
    return vocabulary;
  }
  if (!root.is_array()) {
    return bad(name, "not a JSON object or list of tokens, or cut short");
  }
  for (const json& token : root) {
    if (!token.is_string()) {
      return bad(name, fmt::format("token {} is not a string", vocabulary.size()));
    }
    vocabulary.push_back(bytes_of_printable(token.get_ref<const std::string&>()));
  }
  return vocabulary;
}

std::optional<int> base64_value(char c) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t value = kDigits.find(c);
  return value == std::string_view::npos ? std::nullopt : std::optional(static_cast<int>(value));
}

// RFC 4648 with padding; the empty token is written as a lone "=".
std::optional<std::string> decode_base64(std::string_view text) {
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  std::string bytes;
  uint32_t bits = 0;
  int n_bits = 0;
  for (const char c : text) {
    const auto value = base64_value(c);
    if (!value) {
      return std::nullopt;
    }
    bits = (bits << 6) | static_cast<uint32_t>(*value);
    n_bits += 6;
    if (n_bits >= 8) {
      n_bits -= 8;
      bytes += static_cast<char>((bits >> n_bits) & 0xFF);
    }
  }
  return bytes;
}

struct RankedToken {
  std::string bytes;
  size_t rank = 0;
};

// "aGVsbG8= 123"
std::optional<RankedToken> parse_ranked_token(std::string_view line) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) {
    return std::nullopt;
  }
  auto bytes = decode_base64(line.substr(0, blank));
  const std::string_view number = line.substr(blank + 1);
  size_t rank = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
  if (!bytes || error != std::errc() || end != number.data() + number.size()) {
    return std::nullopt;
  }
  return RankedToken{.bytes = std::move(*bytes), .rank = rank};
}

std::vector<std::string_view> lines_of(std::string_view content) {
  std::vector<std::string_view> lines;
  while (!content.empty()) {
    const size_t end = content.find('\n');
    std::string_view line = content.substr(0, end);
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.push_back(line);
  }
  return lines;
}

Result<Vocabulary> parse_tiktoken(std::span<const std::string_view> lines,
                                  const std::string& name) {
  Vocabulary vocabulary(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    auto token = parse_ranked_token(lines[i]);
    if (!token || token->rank >= lines.size()) {
      return bad(name, fmt::format("line {} is not base64, a space and an id below {}", i + 1,
                                   lines.size()));
    }
    vocabulary[token->rank] = std::move(token->bytes);
  }
  return vocabulary;
}

Result<Vocabulary> parse_lines(std::string_view content, const std::string& name) {
  const std::vector<std::string_view> lines = lines_of(content);
  if (!lines.empty() && parse_ranked_token(lines[0])) {
    return parse_tiktoken(lines, name);
  }
  Vocabulary vocabulary;
  vocabulary.reserve(lines.size());
  for (const std::string_view line : lines) {
    vocabulary.push_back(bytes_of_printable(line));
  }
  return vocabulary;
}

}  // namespace

std::string bytes_of_printable(std::string_view text) {
  const ByteSpelling& spelling = byte_spelling();
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    // All characters of the spelling are of one byte or two.
    size_t character = static_cast<uint8_t>(text[at]);
    if (character >= 0x80) {
      const bool whole = character >= 0xC2 && character <= 0xDF && at + 1 < text.size() &&
                         (static_cast<uint8_t>(text[at + 1]) & 0xC0U) == 0x80;
      if (!whole) {
        return std::string(text);
      }
      character = (character & 0x1FU) << 6U | (static_cast<uint8_t>(text[++at]) & 0x3FU);
    }
    if (character >= spelling.of_character.size() || spelling.of_character[character] < 0) {
      return std::string(text);
    }
    bytes += static_cast<char>(spelling.of_character[character]);
  }
  return bytes;
}

std::string printable_of_bytes(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    append_utf8(text, byte_spelling().of_byte[static_cast<uint8_t>(byte)]);
  }
  return text;
}

Result<Vocabulary> parse_vocabulary(std::string_view content, const std::string& name) {
  const size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return bad(name, "an empty file, wanted a vocabulary");
  }
  const bool is_json = content[first] == '{' || content[first] == '[';
  return is_json ? parse_json(content, name) : parse_lines(content, name);
}

Result<Vocabulary> load_vocabulary(const std::string& path) {
  std::error_code error;
  std::string file = path;
  if (std::filesystem::is_directory(path, error)) {
    // In order of how quickly they are read.
    constexpr std::array<std::string_view, 6> kNames = {
        "vocabulary.txt", "vocabulary.json",       "vocab.json",
        "tokenizer.json", "multilingual.tiktoken", "gpt2.tiktoken"};
    const auto* const found = std::ranges::find_if(kNames, [&](std::string_view name) {
      return std::filesystem::exists(std::filesystem::path(path) / name, error);
    });
    if (found == kNames.end()) {
      return fail(ErrorCode::NotFound, fmt::format("{}: no vocabulary here; wanted one of {}", path,
                                                   fmt::join(kNames, ", ")));
    }
    file = (std::filesystem::path(path) / *found).string();
  }
  MYNAH_TRY(const auto mapped, MappedFile::open(file));
  const std::span<const std::byte> bytes = mapped->bytes();
  return parse_vocabulary({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
}

Vocabulary vocabulary_of_printable(std::span<const std::string> tokens) {
  Vocabulary vocabulary;
  vocabulary.reserve(tokens.size());
  std::ranges::transform(tokens, std::back_inserter(vocabulary),
                         [](const std::string& token) { return bytes_of_printable(token); });
  return vocabulary;
}

}  // namespace mynah
