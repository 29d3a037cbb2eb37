// What a model may write behind a call's begin marker, so that what it writes is a call of one of
// the tools: a description that a grammar is made from.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "chat/reply/reply.h"
#include "chat/reply/reply_format.h"

namespace mynah {

struct CallGrammar {
  enum class Kind {
    Literal,   // `text`, in which markers of the format may stand
    Json,      // a value of the JSON schema `text`
    Until,     // any text in which `text` does not stand; `text` itself comes next
    Sequence,  // the parts behind each other
    Choice,    // one of the parts
    Optional,  // the part or nothing
    Repeat,    // the part any number of times, or nothing
  };
  Kind kind = Kind::Sequence;
  std::string text;
  std::vector<CallGrammar> parts;
};

struct CallConstraint {
  // Where the grammar begins: behind one of these markers. The empty one is the content's
  // beginning.
  std::vector<std::string> begins;
  // What follows, with the calls' end marker.
  CallGrammar behind;
};

// Calls of these tools: one, or with `several` one or more. Refused: no tools, a tool without a
// name or with parameters that are no JSON schema of an object (InvalidInput), and what the format
// has no way to write (Unsupported).
[[nodiscard]] Result<CallConstraint> call_constraint(const CallFormat& format,
                                                     const std::vector<ReplyTool>& tools,
                                                     bool several);

// The same from where the content begins, for calls that must come. `behind_thought`: a thought may
// stand before them.
[[nodiscard]] CallGrammar calls_with_begin(const CallFormat& format, CallConstraint calls,
                                           bool behind_thought);

}  // namespace mynah
