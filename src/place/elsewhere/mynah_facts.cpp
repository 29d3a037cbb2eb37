#include "place/elsewhere/mynah_facts.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "place/terms/plain_text.h"
#include "store/sha256.h"

namespace mynah::place {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestName = 200;
constexpr size_t kMostModels = 10000;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string()
             ? made_plain(found->get<std::string>(), kLongestName)
             : std::string();
}

}  // namespace

const MynahModel* MynahFacts::find(std::string_view digest) const {
  const auto found = std::ranges::find(models, digest, &MynahModel::digest);
  return found == models.end() ? nullptr : &*found;
}

std::string facts_json(const MynahFacts& facts) {
  Json json = {{"name", "mynah"}, {"version", facts.version}, {"build", facts.build}};
  json["models"] = Json::array();
  for (const MynahModel& model : facts.models) {
    json["models"].push_back({{"name", model.name}, {"sha256", model.digest}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<MynahFacts> parse_facts(std::string_view json) {
  const Json told = Json::parse(json, nullptr, false);
  if (!told.is_object() || text_of(told, "name") != "mynah" || !told.contains("models") ||
      !told["models"].is_array() || told["models"].size() > kMostModels) {
    return fail(ErrorCode::InvalidInput, "what answers there is no mynah that computes for others");
  }
  MynahFacts facts{
      .version = text_of(told, "version"), .build = text_of(told, "build"), .models = {}};
  for (const Json& model : told["models"]) {
    if (!model.is_object() || !is_sha256(text_of(model, "sha256"))) {
      return fail(ErrorCode::InvalidInput, "it tells of a model without its SHA-256");
    }
    facts.models.push_back({.name = text_of(model, "name"), .digest = text_of(model, "sha256")});
  }
  return facts;
}

}  // namespace mynah::place
