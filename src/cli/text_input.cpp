#include "cli/text_input.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audio/input_file.h"

namespace mynah::cli {

namespace {

constexpr size_t kBlockBytes = 1 << 14;

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

Status TextInput::read(const Context& context,
                       const std::function<Status(std::string_view)>& take) const {
  if (file.empty() && !words.empty() && !(words.size() == 1 && words.front() == "-")) {
    return take(fmt::format("{}", fmt::join(words, " ")));
  }
  MYNAH_TRY(InputFile input, open_input_file(file.empty() ? "-" : file, context.stop, "a text"));
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
