// Any text is redacted: whoever it is about is in it no more, and a page shows it as text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "doctor/reports/redact.h"
#include "doctor/reports/report_html.h"
#include "doctor/reports/report_words.h"

namespace mynah::doctor {

namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Facts facts;
  facts.recipes.emplace_back().path = text.substr(0, text.find('\n'));
  facts.environments.emplace_back().path = "/home/joe/A Place/" + facts.recipes[0].path;
  facts.skipped = {text};
  Redactor redactor(facts, "joe", "joesbox");
  const std::string redacted = redactor.redacted(text);
  MYNAH_CHECK(!has_word(redacted, "joe") && !has_word(redacted, "joesbox"), "a name is left");
  MYNAH_CHECK(redactor.redacted(text) == redacted, "twice is not the same");
  redactor.redact(facts);
  MYNAH_CHECK(facts.skipped.front() == redacted, "facts are redacted otherwise");
  const std::string page = escaped_html(redacted);
  MYNAH_CHECK(page.find_first_of("<>\"'") == std::string::npos, "a page can be broken out of");
  const std::string shown = printable(text);
  for (const char c : shown) {
    MYNAH_CHECK(static_cast<unsigned char>(c) >= ' ' && c != '\x7f', "a terminal's cursor moves");
  }
  return 0;
}

}  // namespace mynah::doctor
