// Which tokens are more than text, where GGUF files do not tell (special_tokens.tsv).
#pragma once

#include <string_view>

#include "text/tokenizer/text_tokenizer.h"
#include "text/tokenizer/token_table.h"

namespace mynah {

// Whether a user-defined token is the template's or the model's to write: it stands in brackets
// and is no tag of HTML.
[[nodiscard]] bool looks_like_mark(std::string_view spelling);

// Fills reply_ends, and eot where the file names none; tokens that begin or end anything become
// Control, also where the file takes them for text.
void complete_special_tokens(TokenTable& tokens, SpecialTokens& special);

}  // namespace mynah
