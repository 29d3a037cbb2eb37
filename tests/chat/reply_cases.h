// Outputs of models and the messages they are, from reply_cases.jsonl.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "chat/reply/reply_parser.h"

namespace mynah::test {

struct ReplyCase {
  int line = 0;
  std::string calls;  // rows of formats.tsv
  std::string thoughts;
  std::string text;
  ReplyOptions options;
  // Ids that the case does not tell are of mynah's own making.
  ReplyMessage expected;
};

// All cases; the tools' schemas are those of reply_tools.jsonl.
std::vector<ReplyCase> reply_cases();

// The markers of the case's formats, as a vocabulary in which each is a token has them.
std::vector<std::string> markers_of(const ReplyFormat& format);

// Text and control tokens in their order, as a model writes them.
using Output = std::vector<std::pair<std::string, bool>>;

// The format's markers as control tokens.
std::shared_ptr<const Spellings> controls_of(const ReplyFormat& format);

// The text with each spelling of `options.control_markers` as a token.
Output as_tokens(const std::string& text, const ReplyOptions& options);

// The output with its text cut anywhere, in code points too.
Output cut_anywhere(const Output& output, std::mt19937_64& random);

// Parses, and checks that the deltas only grow and are the message.
ReplyMessage parse(const ReplyFormat& format, const ReplyOptions& options, const Output& output);

}  // namespace mynah::test
