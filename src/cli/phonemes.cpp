#include "cli/phonemes.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "audio/input_file.h"
#include "cli/open_device.h"
#include "cli/store_access.h"
#include "speech/english_phonemizers.h"
#include "store/catalogue.h"
#include "store/store.h"
#include "text/spoken/sentences.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kTextBlock = 1 << 14;

Json to_json(const Sentence& sentence, std::span<const PhonemeWord> words) {
  Json list = Json::array();
  for (const PhonemeWord& word : words) {
    list.push_back({{"word", word.text},
                    {"phonemes", word.phonemes},
                    {"begin", sentence.begin + word.begin},
                    {"end", sentence.begin + word.end}});
  }
  return {{"text", sentence.text}, {"phonemes", joined(words)}, {"words", std::move(list)}};
}

}  // namespace

void PhonemesCommand::fields(Fields& fields) {
  fields.positional("TEXT", text_, "What to read; - reads it from standard input.");
  fields.option("file", "FILE", file_, "Read what stands in this file; - is standard input.")
      .shorter('f')
      .completes(Complete::Files)
      .once();
  fields.option("lang", "LANGUAGE", language_, "Language of the text, such as en-US or en-GB.")
      .also("language")
      .shorter('l');
  fields.flag(
      "normalize", normalize_,
      "Say numbers, signs and short forms in words; --no-normalize leaves them as they are.");
}

std::string PhonemesCommand::details() const {
  return "Prints a line a sentence, in the alphabet of Kokoro's voices, as `mynah speak "
         "--phonemes`\n"
         "takes it. With --json each sentence is an object with its words and where they stand in\n"
         "the text, in bytes.\n";
}

Result<std::string> PhonemesCommand::text(const Context& context) const {
  if (text_.empty() == file_.empty()) {
    return fail(ErrorCode::Usage,
                text_.empty()
                    ? "wanted something to read: a text, --file FILE, or - for standard input"
                    : "wanted a text or --file, found both");
  }
  if (file_.empty() && !(text_.size() == 1 && text_.front() == "-")) {
    return fmt::format("{}", fmt::join(text_, " "));
  }
  MYNAH_TRY(InputFile input, open_input_file(file_.empty() ? "-" : file_, context.stop));
  std::string all;
  std::array<std::byte, kTextBlock> block{};
  for (;;) {
    MYNAH_TRY(const size_t got, read_some(input, block));
    if (got == 0) {
      return all;
    }
    all.append(reinterpret_cast<const char*>(block.data()), got);
  }
}

Result<int> PhonemesCommand::run(Context& context) {
  MYNAH_TRY(const std::string all, text(context));
  const Store store(store_folders(context.environment));
  MYNAH_TRY(const OpenedDevice device, open_device("cpu", 1, context.environment));
  const auto lexicons = store.find(kEnglishPhonemes);
  const PhonemizerSource phonemizers =
      kokoro_phonemizers(lexicons ? lexicons->path() : std::string(), *device.backend);
  MYNAH_TRY(auto phonemizer, phonemizers(language_));
  const TextReader reader(std::move(phonemizer), language_, normalize_);
  for (const Sentence& sentence : split_sentences(all)) {
    if (context.stop.stop_requested()) {
      return context.stopped_exit_code();
    }
    MYNAH_TRY(const std::vector<PhonemeWord> words, reader.read(sentence.text));
    context.out.line(
        context.json ? to_json(sentence, words).dump(-1, ' ', false, Json::error_handler_t::replace)
                     : joined(words));
  }
  return 0;
}

}  // namespace mynah::cli
