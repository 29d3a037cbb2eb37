#include "models/whisper/rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "ops/ops.h"

namespace mynah::whisper {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// RE2 matches in time that grows with the text alone, whatever the pattern: it comes from outside.
Status add_matching(const WhisperTokenizer& tokenizer, const std::string& pattern,
                    std::set<int32_t>& tokens) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 expression(pattern, quiet);
  if (!expression.ok()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("suppress-regex wants a regular expression as RE2 knows them (no "
                            "look-around, no back references), found \"{}\": {}",
                            pattern, expression.error()));
  }
  for (int32_t id = 0; id < tokenizer.special().eot; ++id) {
    if (RE2::FullMatch(tokenizer.bytes(id), expression)) {
      tokens.insert(id);
    }
  }
  return {};
}

Result<std::vector<int32_t>> suppressed_tokens(const WhisperTokenizer& tokenizer,
                                               const RuleOptions& options) {
  std::set<int32_t> tokens;
  for (const int32_t token : options.suppress_tokens) {
    if (token == -1) {
      const std::vector<int32_t> symbols = tokenizer.non_speech_tokens();
      tokens.insert(symbols.begin(), symbols.end());
    } else if (token < 0 || token >= tokenizer.size()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("suppress-tokens wants tokens from 0 to {}, or -1 for the symbols "
                              "that are no speech; found {}",
                              tokenizer.size() - 1, token));
    } else {
      tokens.insert(token);
    }
  }
  if (!options.suppress_regex.empty()) {
    MYNAH_TRY_STATUS(add_matching(tokenizer, options.suppress_regex, tokens));
  }
  return std::vector<int32_t>(tokens.begin(), tokens.end());
}

}  // namespace

Status TokenRules::check(const WhisperTokenizer& tokenizer, const RuleOptions& options) {
  MYNAH_TRY_STATUS(suppressed_tokens(tokenizer, options));
  return {};
}

Result<TokenRules> TokenRules::create(const WhisperTokenizer& tokenizer, const RuleOptions& options,
                                      Backend& backend) {
  TokenRules rules;
  rules.special_ = tokenizer.special();
  rules.options_ = options;
  MYNAH_TRY(rules.suppressed_, suppressed_tokens(tokenizer, options));

  const auto vocabulary = static_cast<size_t>(tokenizer.size());
  std::vector<float> masks(kMaskCount * vocabulary, 0.0F);
  const auto row = [&](Mask mask) {
    return std::span(masks).subspan(static_cast<size_t>(mask) * vocabulary, vocabulary);
  };
  for (const Mask mask : {kText, kFirstText, kOnlyEnd}) {
    for (const int32_t token : rules.suppressed_) {
      row(mask)[static_cast<size_t>(token)] = kNever;
    }
  }
  // A transcript does not begin with a lone space, nor end before it began.
  if (options.suppress_blank) {
    for (const int32_t token : tokenizer.encode(" ")) {
      row(kFirstText)[static_cast<size_t>(token)] = kNever;
    }
    row(kFirstText)[static_cast<size_t>(rules.special_.eot)] = kNever;
  }
  std::ranges::fill(row(kOnlyEnd).first(static_cast<size_t>(rules.special_.eot)), kNever);
  rules.masks_ = ops::from_host(backend, std::span<const float>(masks),
                                {kMaskCount, static_cast<int64_t>(vocabulary)});
  return rules;
}

SampleRow TokenRules::next(std::span<const int32_t> sampled) const {
  if (options_.timestamps) {
    return timestamp_rule(sampled);
  }
  SampleRow rule;
  rule.first = {0, special_.eot + 1};
  rule.mask = sampled.empty() ? kFirstText : kText;
  return rule;
}

SampleRow TokenRules::timestamp_rule(std::span<const int32_t> sampled) const {
  const int32_t begin = special_.timestamp_begin;
  const auto is_timestamp = [&](int32_t token) { return token >= begin; };
  SampleRow rule;
  // Text, at whose end the end of transcript stands, then timestamps. ApplyTimestampRules: where
  // all timestamps together are likelier than any token of text, a timestamp comes.
  rule.first = {0, special_.eot + 1};
  rule.second = {begin, begin + kTimestampCount};
  rule.prefer_second = true;
  rule.mask = kText;
  if (sampled.empty()) {
    // A transcript begins with a timestamp, and not a late one.
    rule.mask = kFirstText;
    rule.first = {};
    if (options_.max_initial_timestamp_s > 0) {
      const auto last =
          static_cast<int32_t>(std::lround(options_.max_initial_timestamp_s / kTimestampStep_s));
      rule.second.end = std::min(rule.second.end, begin + last + 1);
    }
    return rule;
  }
  // Timestamps come in pairs, except directly before the end.
  const bool last = is_timestamp(sampled.back());
  const bool penultimate = sampled.size() < 2 || is_timestamp(sampled[sampled.size() - 2]);
  // Timestamps do not fall, and a segment's end is later than its start.
  const auto latest = std::find_if(sampled.rbegin(), sampled.rend(), is_timestamp);
  if (latest != sampled.rend()) {
    rule.second.begin = last && !penultimate ? *latest : *latest + 1;
  }
  if (last && penultimate) {
    rule.second = {begin, begin};
  } else if (last) {
    rule.mask = kOnlyEnd;
  }
  rule.second.begin = std::min(rule.second.begin, rule.second.end);
  return rule;
}

}  // namespace mynah::whisper
