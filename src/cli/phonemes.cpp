#include "cli/phonemes.h"

#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/open_device.h"
#include "cli/store_access.h"
#include "speech/kokoro_phonemizers.h"
#include "speech/text_reader.h"
#include "store/catalogue.h"
#include "store/store.h"
#include "text/spoken/sentences.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

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
  input_.fields(fields, "read");
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

Result<int> PhonemesCommand::run(Context& context) {
  MYNAH_TRY_STATUS(input_.check("read", context));
  const Store store(store_folders(context.environment));
  MYNAH_TRY(const OpenedDevice device, open_device("cpu", 1, context.environment));
  const auto lexicons = store.find(kEnglishPhonemes);
  const PhonemizerSource phonemizers =
      kokoro_phonemizers(lexicons ? lexicons->path() : std::string(), lexicon_, *device.backend);
  MYNAH_TRY(auto phonemizer, phonemizers(language_));
  const TextReader reader(std::move(phonemizer), language_, normalize_);
  const auto print = [&](std::span<const Sentence> sentences) -> Status {
    for (const Sentence& sentence : sentences) {
      if (context.stop.stop_requested()) {
        return fail(ErrorCode::Cancelled, "stopped");
      }
      MYNAH_TRY(const std::vector<PhonemeWord> words, reader.read(sentence.text));
      context.out.line(
          context.json
              ? to_json(sentence, words).dump(-1, ' ', false, Json::error_handler_t::replace)
              : joined(words));
    }
    return {};
  };
  SentenceSplitter splitter;
  Status read =
      input_.read(context, [&](std::string_view text) { return print(splitter.push(text)); });
  if (read) {
    read = print(splitter.finish());
  }
  if (!read) {
    return context.stop.stop_requested() ? Result<int>(context.stopped_exit_code())
                                         : std::unexpected(read.error());
  }
  return 0;
}

}  // namespace mynah::cli
