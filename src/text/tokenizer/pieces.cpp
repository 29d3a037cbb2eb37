#include "text/tokenizer/pieces.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/check.h"
#include "text/tokenizer/word_cache.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr std::string_view kWrittenSpace = "\u2581";

// The order of a score, greater ones first: the bits of a float rise with it, those of a negative
// one fall.
uint32_t order_of(float score) {
  constexpr uint32_t kSign = 0x80000000U;
  const auto bits = std::bit_cast<uint32_t>(score + 0.0F);  // -0 is 0
  const uint32_t rising = (bits & kSign) != 0 ? ~bits : bits | kSign;
  return ~rising;
}

size_t pair_of(char first, char second) {
  return static_cast<size_t>(static_cast<unsigned char>(first)) * 256 +
         static_cast<unsigned char>(second);
}

std::string with_spaces_of(std::string_view text, bool one_before) {
  std::string spaced(one_before ? 1 : 0, ' ');
  spaced.reserve(text.size() + 1);
  for (;;) {
    const size_t next = text.find(kWrittenSpace);
    spaced += text.substr(0, next);
    if (next == std::string_view::npos) {
      return spaced;
    }
    spaced += ' ';
    text.remove_prefix(next + kWrittenSpace.size());
  }
}

}  // namespace

PieceTokenizer::PieceTokenizer(GgufVocabulary vocabulary)
    : TableTokenizer(std::move(vocabulary), {TokenKind::Text, TokenKind::Added}) {
  byte_ids_.fill(TokenTable::kNone);
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const auto character = static_cast<char>(byte);
    if (const int32_t id = tokens().find({&character, 1}); id >= 0) {
      byte_ids_[byte] = id;
    }
  }
  for (int32_t id = 0; id < size(); ++id) {
    const std::string_view text = bytes(id);
    if (tokens().kind(id) == TokenKind::Byte) {
      byte_ids_[static_cast<unsigned char>(text.front())] = id;
    }
    for (size_t i = 1; i < text.size(); ++i) {
      neighbours_.set(pair_of(text[i - 1], text[i]));
    }
  }
}

Result<std::unique_ptr<TextTokenizer>> PieceTokenizer::create(const TensorFile& file,
                                                              GgufVocabulary vocabulary) {
  const bool by_scores = vocabulary.model == "llama";
  // SentencePiece's defaults; Gemma 4 begins with bos whatever its files say (llama.cpp's pull
  // request 21500).
  const bool add_bos = !by_scores || vocabulary.add_bos.value_or(true);
  const bool add_eos = vocabulary.add_eos.value_or(false);
  const bool adds_space = vocabulary.add_space_prefix.value_or(by_scores);
  // Not by std::make_unique: the constructor is private.
  std::unique_ptr<PieceTokenizer> tokenizer(new PieceTokenizer(std::move(vocabulary)));
  if (by_scores) {
    MYNAH_TRY_STATUS(tokenizer->read_scores(file));
  } else {
    MYNAH_TRY(tokenizer->merges_,
              MergeTable::read(file, tokenizer->tokens(), TokenSpelling::Spaced));
  }
  tokenizer->adds_space_ = adds_space;
  tokenizer->cuts_newlines_ = !by_scores;
  tokenizer->special_.add_bos = add_bos && tokenizer->special_.bos;
  tokenizer->special_.add_eos = add_eos && tokenizer->special_.eos;
  return tokenizer;
}

Status PieceTokenizer::read_scores(const TensorFile& file) {
  const auto found = file.metadata.find("tokenizer.ggml.scores");
  const auto complain = [&](std::string_view what) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted tokenizer.ggml.scores, a number for each of {} tokens, "
                            "found {}; convert the model anew",
                            file.path, size(), what));
  };
  if (found == file.metadata.end()) {
    return complain("none");
  }
  const auto take = [&](const auto& scores) -> Status {
    if (scores.size() != static_cast<size_t>(size())) {
      return complain(fmt::format("{}", scores.size()));
    }
    for (const auto score : scores) {
      if (std::isnan(static_cast<float>(score))) {
        return complain("one that is no number");
      }
      orders_.push_back(order_of(static_cast<float>(score)));
    }
    return {};
  };
  if (const auto* scores = std::get_if<std::vector<double>>(&found->second)) {
    return take(*scores);
  }
  if (const auto* scores = std::get_if<std::vector<int64_t>>(&found->second)) {
    return take(*scores);
  }
  return complain("another type");
}

void PieceTokenizer::encode_text(std::string_view text, bool begins,
                                 std::vector<int32_t>& ids) const {
  std::string spaced;
  if ((begins && adds_space_) || text.find(kWrittenSpace) != std::string_view::npos) {
    spaced = with_spaces_of(text, begins && adds_space_);
    text = spaced;
  }
  PairJoins joins;
  WordCache cache(text.size());
  const auto encode = [&](std::string_view piece) { encode_piece(piece, joins, ids); };
  for (size_t at = 0; at < text.size();) {
    const size_t end = piece_end(text, at);
    cache.append(text.substr(at, end - at), ids, encode);
    at = end;
  }
}

size_t PieceTokenizer::piece_end(std::string_view text, size_t at) const {
  for (size_t end = at + 1; end < text.size(); ++end) {
    const bool is_apart = !neighbours_[pair_of(text[end - 1], text[end])] &&
                          (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    const bool at_newlines = cuts_newlines_ && (text[end] == '\n') != (text[end - 1] == '\n');
    if (is_apart || at_newlines) {
      return end;
    }
  }
  return text.size();
}

PairJoin PieceTokenizer::join(std::string_view piece, const JoinPart& left,
                              const JoinPart& right) const {
  if (merges_) {
    return merges_->find(left.id, right.id);
  }
  const int32_t id = tokens().find(piece.substr(left.begin, right.end - left.begin));
  return id < 0 ? PairJoin{} : PairJoin{.order = orders_[static_cast<size_t>(id)], .id = id};
}

void PieceTokenizer::encode_piece(std::string_view piece, PairJoins& joins,
                                  std::vector<int32_t>& ids) const {
  if (cuts_newlines_ && piece.front() == '\n') {
    if (const int32_t whole = tokens().find(piece); whole >= 0) {
      ids.push_back(whole);
      return;
    }
  }
  MYNAH_CHECK(piece.size() < UINT32_MAX, "a text to be encoded has less than 4 GB");
  joins.clear();
  for (size_t at = 0; at < piece.size();) {
    const size_t end = at + next_code_point(piece.substr(at)).bytes;
    joins.add({.begin = static_cast<uint32_t>(at),
               .end = static_cast<uint32_t>(end),
               .id = tokens().find(piece.substr(at, end - at))});
    at = end;
  }
  const std::span<const JoinPart> parts = joins.join(
      [&](const JoinPart& left, const JoinPart& right) { return join(piece, left, right); });
  for (const JoinPart& part : parts) {
    append(piece.substr(part.begin, part.end - part.begin), part.id, ids);
  }
}

void PieceTokenizer::append(std::string_view bytes, int32_t id, std::vector<int32_t>& ids) const {
  if (id >= 0) {
    ids.push_back(id);
    return;
  }
  const auto of_byte = [this](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (std::ranges::all_of(bytes, [&](char byte) { return of_byte(byte) >= 0; })) {
    std::ranges::transform(bytes, std::back_inserter(ids), of_byte);
  } else if (special_.unknown) {
    ids.push_back(*special_.unknown);
  }
}

}  // namespace mynah
