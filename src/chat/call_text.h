// The text of calls as a grammar of what a model's tokens write.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "chat/reply/call_grammar.h"
#include "chat/reply/reply_markers.h"
#include "text/grammar/grammar.h"

namespace mynah {

// Of streams: control tokens are what control_token() makes of their spelling. `ends`, streams too,
// end a reply: where the text ends with one it is left out. Errors as parse_json_schema().
[[nodiscard]] Result<grammar::Grammar> grammar_of_calls(const CallGrammar& calls,
                                                        const Spellings& controls,
                                                        std::span<const std::string> ends);

}  // namespace mynah
