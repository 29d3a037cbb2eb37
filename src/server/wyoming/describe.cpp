#include "server/wyoming/describe.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "engine/version.h"
#include "engine/wake.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// An artifact of wyoming/info.py, whose name, attribution and "installed" must be there.
Json artifact(const std::string& name, const std::string& by, const std::string& address) {
  return {{"name", name},
          {"attribution", {{"name", by}, {"url", address}}},
          {"installed", true},
          {"description", name},
          {"version", std::string(engine::program_version().version)}};
}

// "en_US" of "en-us", as Piper's voices have it and Home Assistant wants it.
std::string with_underscore(std::string tag) {
  constexpr size_t kRegion = 2;  // letters of it; scripts and variants are longer
  std::ranges::replace(tag, '-', '_');
  const size_t last = tag.rfind('_') + 1;
  if (last != 0 && tag.size() == last + kRegion) {
    tag.replace(last, kRegion, ascii_upper(std::string_view(tag).substr(last)));
  }
  return tag.empty() ? "en" : tag;
}

Json voice_json(const std::string& name, const std::string& language, const std::string& model) {
  Json voice = artifact(name, model, "");
  voice["languages"] = {with_underscore(language)};
  voice["speakers"] = nullptr;
  return voice;
}

}  // namespace

WyomingMessage describe_wyoming(const Service& service, bool endpointing) {
  Json hearing = Json::array();
  for (const HearingModel& model : service.hearing_models()) {
    Json one = artifact(model.name, model.family, model.source);
    one["languages"] = model.languages;
    hearing.push_back(std::move(one));
  }
  Json voices = Json::array();
  for (const SpeechModel& model : service.speech_models()) {
    for (const InstalledVoice& voice : model.voices) {
      voices.push_back(voice_json(voice.name, voice.language, model.name));
    }
  }
  Json words = Json::array();
  for (const auto& word : engine::installed_wake_words(service.environment())) {
    const WakeWordFacts& facts = word->facts();
    Json one = artifact(facts.name, facts.author, facts.website);
    one["description"] = facts.phrase;
    one["languages"] = facts.languages;
    one["phrase"] = facts.phrase;
    words.push_back(std::move(one));
  }
  Json wakes = Json::array();
  if (!words.empty()) {
    Json program = artifact("mynah", "mynah", "");
    program["models"] = std::move(words);
    wakes.push_back(std::move(program));
  }
  Json hears = artifact("mynah", "mynah", "");
  hears["models"] = std::move(hearing);
  hears["supports_transcript_streaming"] = true;
  hears["requires_external_vad"] = !endpointing;
  // What is quiet is made louder here, and noise is known to the voice detector.
  hears["prefers_auto_gain_enabled"] = false;
  hears["prefers_noise_reduction_enabled"] = false;
  Json speaks = artifact("mynah", "mynah", "");
  speaks["voices"] = std::move(voices);
  speaks["supports_synthesize_streaming"] = true;
  WyomingMessage info;
  info.type = "info";
  info.data = {{"asr", Json::array({std::move(hears)})},
               {"tts", Json::array({std::move(speaks)})},
               {"handle", Json::array()},
               {"intent", Json::array()},
               {"wake", std::move(wakes)},
               {"mic", Json::array()},
               {"snd", Json::array()}};
  return info;
}

}  // namespace mynah::server
