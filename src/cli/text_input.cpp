#include "cli/text_input.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audio/input_file.h"
#include "text/documents/document.h"
#include "text/spoken/ssml.h"
#include "text/spoken/tokens.h"

namespace mynah::cli {

namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockBytes = 1 << 14;

// What may stand before <speak> at most: declarations and comments.
constexpr size_t kMostHead = 1 << 16;

// Whether a file's name ends so, in letters of either case.
bool has_extension(const std::string& path, std::initializer_list<std::string_view> extensions) {
  const std::string extension = ascii_lower(fs::path(path).extension().string());
  return std::ranges::find(extensions, extension) != extensions.end();
}

bool holds_ssml(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kMostHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return looks_like_ssml(head);
}

}  // namespace

void TextInput::fields(Fields& fields, const std::string& verb) {
  fields
      .positional("TEXT", words,
                  fmt::format("What to {}; - reads it from standard input as it comes.", verb))
      .completes(Complete::Files);
  fields
      .option("file", "FILE", file,
              fmt::format("What to {} stands in this file; - is standard input.", verb))
      .shorter('f')
      .completes(Complete::Files)
      .once();
}

Status TextInput::check(std::string_view verb, const Context& context) const {
  if (words.empty() != file.empty() || (words.empty() && !context.in.is_terminal())) {
    return {};
  }
  return fail(ErrorCode::Usage,
              words.empty() ? fmt::format("wanted something to {}: a text, --file FILE, or - for "
                                          "standard input",
                                          verb)
                            : "wanted a text or --file, found both");
}

std::string TextInput::path() const {
  if (!file.empty() || words.size() != 1) {
    return file;
  }
  const std::string& name = words.front();
  std::error_code error;
  const bool text = has_document_extension(name) || has_extension(name, {".ssml"});
  return name == "-" || (text && fs::is_regular_file(name, error)) ? name : std::string();
}

std::string TextInput::document_path() const {
  const std::string name = path();
  const bool plain = has_extension(name, {".txt", ".text"});
  return has_document_extension(name) && !(plain && holds_ssml(name)) ? name : std::string();
}

Status TextInput::read(const Context& context, TextKind kind,
                       const std::function<Status(TextKind)>& begin,
                       const std::function<Status(std::string_view)>& take) const {
  if (kind == TextKind::Plain && has_extension(path(), {".ssml"})) {
    kind = TextKind::Ssml;
  }
  bool begun = false;
  std::string held;  // until it shows what it is
  const auto look = [&](bool whole) -> Status {
    if (kind == TextKind::Plain) {
      const SsmlSign sign = look_for_ssml(held, whole || held.size() >= kMostHead);
      if (sign == SsmlSign::NeedsMore) {
        return {};
      }
      kind = sign == SsmlSign::Yes ? TextKind::Ssml : kind;
    }
    begun = true;
    MYNAH_TRY_STATUS(begin(kind));
    return take(std::exchange(held, {}));
  };
  MYNAH_TRY_STATUS(read(context, [&](std::string_view text) -> Status {
    if (begun) {
      return take(text);
    }
    held += text;
    return look(false);
  }));
  return begun || held.empty() ? Status{} : look(true);
}

Status TextInput::read(const Context& context,
                       const std::function<Status(std::string_view)>& take) const {
  const std::string name = file.empty() && words.empty() ? "-" : path();
  if (name.empty()) {
    return take(fmt::format("{}", fmt::join(words, " ")));
  }
  MYNAH_TRY(InputFile input, open_input_file(name, context.stop, "a text"));
  std::array<std::byte, kBlockBytes> block{};
  for (;;) {
    MYNAH_TRY(const size_t got, read_some(input, block));
    if (got == 0) {
      return {};
    }
    MYNAH_TRY_STATUS(take({reinterpret_cast<const char*>(block.data()), got}));
  }
}

}  // namespace mynah::cli
