#include "server/elsewhere/elsewhere.h"

#include <span>
#include <string>

#include "engine/discovery_search.h"
#include "engine/version.h"
#include "place/elsewhere/mynah_client.h"
#include "place/elsewhere/mynah_facts.h"
#include "server/elsewhere/answer_frames.h"
#include "server/elsewhere/clauses.h"
#include "server/elsewhere/windows.h"
#include "store/sha256.h"

namespace mynah::server {
namespace {

// It names the program's file, which is nobody's business.
std::string build_of(const Service& service) {
  constexpr size_t kShort = 16;
  const std::string build = engine::discovery_search(service.environment()).build;
  return sha256_hex(std::as_bytes(std::span(build))).substr(0, kShort);
}

Handler facts(Service& service) {
  return [&service](Exchange& exchange) {
    place::MynahFacts told{.version = std::string(engine::program_version().version),
                           .build = build_of(service),
                           .models = {}};
    for (const Service::SharedFile& file : service.shared_files()) {
      told.models.push_back({.name = file.name, .digest = file.digest});
    }
    Response response;
    response.body = place::facts_json(told) + "\n";
    name_protocol(response);
    exchange.answer(std::move(response));
  };
}

}  // namespace

std::vector<Route> elsewhere_routes(Service& service) {
  return {{.method = "GET",
           .path = std::string(place::kFactsRoute),
           .help = "What this mynah has for others that compute with it.",
           .handler = facts(service)},
          {.method = "POST",
           .path = std::string(place::kWindowsRoute),
           .help = "Windows of sound to text, for another mynah.",
           .handler = windows_for_others(service),
           .accepts = Accepts::Text,
           .rights = {Right::Hear},
           .answers = place::kFramesType,
           .takes = place::kFramesType},
          {.method = "POST",
           .path = std::string(place::kProbeRoute),
           .help = "What a model makes of its probe, for another mynah.",
           .handler = probe_for_others(service),
           .accepts = Accepts::Text,
           .rights = {Right::Hear},
           .answers = place::kFramesType,
           .takes = place::kFramesType},
          {.method = "POST",
           .path = std::string(place::kVoiceRoute),
           .help = "What a voice is, for another mynah.",
           .handler = voice_for_others(service),
           .accepts = Accepts::Text,
           .rights = {Right::Speak},
           .answers = place::kFramesType,
           .takes = place::kFramesType},
          {.method = "POST",
           .path = std::string(place::kClauseRoute),
           .help = "Phonemes of a clause to sound, for another mynah.",
           .handler = clause_for_others(service),
           .accepts = Accepts::Text,
           .rights = {Right::Speak},
           .answers = place::kFramesType,
           .takes = place::kFramesType}};
}

}  // namespace mynah::server
