#include "chat/call_text.h"

#include <algorithm>
#include <vector>

#include "text/grammar/code_points.h"
#include "text/grammar/json_schema.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using grammar::CodePoints;
using grammar::ExprId;
using grammar::Grammar;
using grammar::RuleId;

// How much of the beginning of `pattern` a text ends with, that ends with so much of it already and
// goes on with `next` (Knuth, Morris, Pratt 1977).
size_t matched_behind(const std::u32string& pattern, size_t matched, char32_t next) {
  const std::u32string text = pattern.substr(0, matched) + next;
  size_t most = std::min(text.size(), pattern.size());
  while (most > 0 && !text.ends_with(std::u32string_view(pattern).substr(0, most))) {
    --most;
  }
  return most;
}

// Whether a text that ends with so much of a pattern may end there: with the pattern behind it the
// pattern stands there first.
bool may_end(const std::u32string& pattern, size_t matched) {
  for (size_t i = 0; i + 1 < pattern.size(); ++i) {
    matched = matched_behind(pattern, matched, pattern[i]);
    if (matched == pattern.size()) {
      return false;
    }
  }
  return true;
}

class Writer {
 public:
  Writer(const Spellings& controls, std::span<const std::string> ends)
      : controls_(controls), ends_(ends) {}

  Result<Grammar> write(const CallGrammar& calls) && {
    const RuleId root = grammar_.add_rule("calls");
    MYNAH_TRY(const ExprId all, part(calls, true));
    grammar_.define(root, all);
    return std::move(grammar_);
  }

 private:
  // `is_last`: nothing follows it.
  Result<ExprId> part(const CallGrammar& call, bool is_last) {
    using Kind = CallGrammar::Kind;
    switch (call.kind) {
      case Kind::Literal:
        return literal(call.text, is_last);
      case Kind::Json: {
        MYNAH_TRY(const Grammar schema, grammar::parse_json_schema(call.text));
        return grammar_.include(schema);
      }
      case Kind::Until:
        return until(mark_controls(call.text, controls_));
      case Kind::Sequence:
      case Kind::Choice: {
        std::vector<ExprId> parts;
        for (size_t i = 0; i < call.parts.size(); ++i) {
          const bool ends = is_last && (call.kind == Kind::Choice || i + 1 == call.parts.size());
          MYNAH_TRY(const ExprId one, part(call.parts[i], ends));
          parts.push_back(one);
        }
        return call.kind == Kind::Choice ? grammar_.choice(parts)
               : parts.empty()           ? grammar_.literal("")
                                         : grammar_.sequence(parts);
      }
      case Kind::Optional: {
        MYNAH_TRY(const ExprId one, part(call.parts.front(), is_last));
        return grammar_.optional(one);
      }
      case Kind::Repeat: {
        MYNAH_TRY(const ExprId one, part(call.parts.front(), false));
        return grammar_.repeat(one, 0, grammar::kUnbounded);
      }
    }
    return fail(ErrorCode::InvalidInput, "a part of a call that is not known");
  }

  ExprId literal(const std::string& text, bool is_last) {
    std::string stream = mark_controls(text, controls_);
    for (const std::string& end : ends_) {
      if (is_last && stream.ends_with(end)) {
        stream.erase(stream.size() - end.size());
      }
    }
    return grammar_.literal(stream);
  }

  // Any text in which the marker does not stand.
  ExprId until(const std::string& marker) {
    if (marker.empty() || marker.front() == kControlBegin) {
      return grammar_.repeat(grammar_.characters(CodePoints::all()), 0, grammar::kUnbounded);
    }
    // What stands before a control token of it is enough: text has none.
    const std::u32string pattern =
        to_code_points(std::string_view(marker).substr(0, marker.find(kControlBegin)));
    std::vector<RuleId> states;
    states.reserve(pattern.size());
    for (size_t matched = 0; matched < pattern.size(); ++matched) {
      states.push_back(grammar_.add_rule("until"));
    }
    CodePoints others = CodePoints::all();
    std::u32string known = pattern;
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    for (const char32_t c : known) {
      others = others.without(CodePoints::one(c));
    }
    for (size_t matched = 0; matched < pattern.size(); ++matched) {
      std::vector<ExprId> ways;
      if (may_end(pattern, matched)) {
        ways.push_back(grammar_.literal(""));
      }
      ways.push_back(then(others, states[0]));
      for (const char32_t c : known) {
        const size_t next = matched_behind(pattern, matched, c);
        if (next < pattern.size()) {
          ways.push_back(then(CodePoints::one(c), states[next]));
        }
      }
      grammar_.define(states[matched], grammar_.choice(ways));
    }
    return grammar_.rule(states[0]);
  }

  ExprId then(const CodePoints& set, RuleId state) {
    const std::vector<ExprId> parts = {grammar_.characters(set), grammar_.rule(state)};
    return grammar_.sequence(parts);
  }

  const Spellings& controls_;
  std::span<const std::string> ends_;
  Grammar grammar_;
};

}  // namespace

Result<Grammar> grammar_of_calls(const CallGrammar& calls, const Spellings& controls,
                                 std::span<const std::string> ends) {
  return Writer(controls, ends).write(calls);
}

}  // namespace mynah
