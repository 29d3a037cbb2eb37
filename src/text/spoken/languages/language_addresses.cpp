// Links and e-mail addresses in the words of a language: "spiegel Punkt de".
#include "text/spoken/addresses.h"
#include "text/spoken/languages/language_numbers.h"
#include "text/spoken/reading.h"

namespace mynah {
namespace {

// A host as people write it without "www.", of the language's countries or of none: three letters
// at least before its end, so that "m.in." is none.
bool is_bare_host(std::string_view text, const LanguageNumbers& language) {
  constexpr size_t kLeastName = 3;
  const size_t end = host_length(text);
  if (end == 0 || (end < text.size() && text[end] != '/') ||
      text.substr(0, text.find('.')).size() < kLeastName) {
    return false;
  }
  const std::string_view host = text.substr(0, end);
  const std::string_view domain = host.substr(host.rfind('.') + 1);
  return domain.size() > 2 || language.domains.contains(domain);
}

// The address with the names of its signs.
std::string say_signs(std::string_view address, const LanguageNumbers& language) {
  std::string words;
  for (const char c : address) {
    const auto name = language.address.find(std::string_view(&c, 1));
    if (name == language.address.end()) {
      words += c;
    } else {
      words += (words.empty() ? "" : " ") + name->second + " ";
    }
  }
  return words.substr(0, words.find_last_not_of(' ') + 1);
}

}  // namespace

std::optional<Reading> read_language_address(const Tokens& tokens, size_t at,
                                             const SpokenOptions& options) {
  if ((!tokens.is_word(at) && !tokens.is_digits(at)) || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  const size_t end = address_end(tokens, at);
  if (end < at + 2) {
    return std::nullopt;
  }
  std::string_view text = tokens.text(at, end);
  const LanguageNumbers* const language = language_numbers(options.language);
  const size_t slashes = text.find("://");
  const bool link = slashes != std::string_view::npos || text.starts_with("www.");
  if (!link && (language == nullptr || !(is_mail(text) || is_bare_host(text, *language)))) {
    return std::nullopt;
  }
  text.remove_prefix(slashes == std::string_view::npos ? 0 : slashes + 3);
  text.remove_prefix(text.starts_with("www.") ? 4 : 0);
  text = text.substr(0, text.find_first_of("?#"));
  text = text.size() > kLongLink ? text.substr(0, text.find('/')) : text;
  text = text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
  return Reading{end, language == nullptr ? std::string(text) : say_signs(text, *language)};
}

}  // namespace mynah
