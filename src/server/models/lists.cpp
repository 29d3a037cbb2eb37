#include "server/models/lists.h"

#include <algorithm>
#include <ctime>
#include <iomanip>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "server/models/openai_names.h"
#include "store/catalogue_embeddings.h"
#include "store/catalogue_language.h"
#include "store/families.h"
#include "store/store.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& json) {
  return json_text(json) + "\n";
}

// Seconds since 1970 of ISO 8601 in UTC; 0: nobody knows it.
int64_t unix_time(const std::string& text) {
  std::tm parts{};
  std::istringstream stream(text);
  stream >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%S");
  return stream ? ::timegm(&parts) : 0;
}

Json model_json(const std::string& name, const std::string& family, std::string_view task,
                const std::string& created) {
  return {{"id", name},
          {"object", "model"},
          {"created", unix_time(created)},
          {"owned_by", family},
          {"task", task}};
}

// Those that hear, speak, write or make vectors, and the built-in ones, which are always there.
Json all_models(const Service& service) {
  Json models = Json::array();
  for (const StoredModel& model : service.store().list()) {
    const bool hears = is_for(model.family, FamilyKind::SpeechToText);
    if (hears || is_for(model.family, FamilyKind::Speech)) {
      models.push_back(model_json(model.name, model.family,
                                  hears ? "automatic-speech-recognition" : "text-to-speech",
                                  model.created));
    }
  }
  for (const HereModel& model : service.chats().models()) {
    models.push_back(
        model_json(model.name, std::string(kLanguageFamily), "text-generation", model.changed));
  }
  for (const HereModel& model : service.embeddings().models()) {
    models.push_back(
        model_json(model.name, std::string(kEmbeddingFamily), "feature-extraction", model.changed));
  }
  models.push_back(model_json("builtin", "mynah", "automatic-speech-recognition", {}));
  return models;
}

}  // namespace

Handler model_list(const Service& service) {
  return [&service](Exchange& exchange) {
    exchange.answer({.body = line_of({{"object", "list"}, {"data", all_models(service)}})});
  };
}

Handler one_model(const Service& service) {
  return [&service](Exchange& exchange) {
    const std::string& name = exchange.head().part;
    for (const Json& model : all_models(service)) {
      if (model["id"] == name) {
        exchange.answer({.body = line_of(model)});
        return;
      }
    }
    exchange.answer(openai_error(
        {ErrorCode::NotFound,
         fmt::format("there is no model '{}' here; GET /v1/models lists what there is", name)},
        "model", "model_not_found"));
  };
}

Handler audio_models(const Service& service) {
  return [&service](Exchange& exchange) {
    Json models = Json::array();
    for (const Json& model : all_models(service)) {
      models.push_back({{"id", model["id"]}});
    }
    exchange.answer({.body = line_of({{"models", models}})});
  };
}

Handler audio_voices(const Service& service) {
  return [&service](Exchange& exchange) {
    Json voices = Json::array();
    const bool plain = exchange.head().asked("legacy") == "true";
    const auto add = [&](const std::string& name, const std::string& language) {
      Json voice = {{"id", name}, {"name", name}};
      if (!language.empty()) {
        voice["language"] = language;
      }
      voices.push_back(plain ? Json(name) : std::move(voice));
    };
    for (const SpeechModel& model : service.speech_models()) {
      for (const InstalledVoice& voice : model.voices) {
        add(voice.name, voice.language);
      }
    }
    for (const std::string& name : openai_voices()) {
      add(name, {});
    }
    exchange.answer({.body = line_of({{"voices", voices}})});
  };
}

}  // namespace mynah::server
