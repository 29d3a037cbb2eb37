#include "store/catalogue_wake.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "store/catalogue_speech.h"

namespace mynah {
namespace {

struct PinnedWord {
  std::string file;    // "okay_nabu"
  std::string phrase;  // "Okay Nabu"
  std::string languages;
  std::string network;   // SHA-256 of the .tflite
  std::string manifest;  // of the .json
};

CatalogueEntry word_entry(const PinnedWord& word) {
  std::string name = word.file;
  std::ranges::replace(name, '_', '-');
  std::vector<std::string> aliases;
  if (name != word.file) {
    aliases.push_back(word.file);
  }
  const std::string path = "pymicro_wakeword/models/" + word.file;
  return {.name = name,
          .family = std::string(kWakeFamily),
          .description = "microWakeWord: \"" + word.phrase + "\", " + word.languages,
          .licence = "Apache-2.0",
          .licence_url = "https://github.com/esphome/micro-wake-word-models/blob/main/LICENSE",
          .download_bytes = 2 * kMegabyte,
          .aliases = std::move(aliases),
          .sources = {WheelSource{
              .package = "pymicro-wakeword",
              .version = "2.5.0",
              .sha256 = "3869f536402b1254e3be3549d3a462ecd6ed21ce2c3e77ec8eb501c3c700417c",
              .files = {{path + ".tflite", word.network}, {path + ".json", word.manifest}}}},
          .form = Form::Files};
}

}  // namespace

std::vector<CatalogueEntry> wake_entries() {
  return {
      word_entry({"okay_nabu", "Okay Nabu", "7 languages",
                  "d89128c4d16a72de429119fb2254ce46649553c2a24f5dd840175c80d7b9d094",
                  "f8026e2ce93a0855ca23483036fd2d74ee924a2588d9ea6a6c6c7478fbf4be57"}),
      word_entry({"hey_jarvis", "Hey Jarvis", "English",
                  "21a7976add39ee24ec96c63d96b7aaa18e24d1d9824b963e451da8feb4b78b77",
                  "b153867d818675d8abcc9dace474afe7f83551ae0d5a9b1d71a98681320185af"}),
      word_entry({"alexa", "Alexa", "English",
                  "9011a8155b04de858c48038529235cbc0e42e9fca05a55bf588cb80a653a723b",
                  "1d999798b35b1fe2606465b75ab840be51c1811d2909d5e620cefb6e96f8abd0"}),
      word_entry({"hey_mycroft", "Hey Mycroft", "English",
                  "c2a9b6ed51182db72e014781d5a4ece1929dc232a40b5b4be384f0295f0e1571",
                  "57b2b06fe5fdbbe834a242fabc7af31e4194a550fc382b2c88636a6d62d0d57e"}),
  };
}

}  // namespace mynah
