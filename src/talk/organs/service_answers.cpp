#include "talk/organs/service_answers.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/control_characters.h"
#include "base/embedded_file.h"
#include "base/tsv_lines.h"
#include "formats/json.h"
#include "text/languages.h"
#include "text/utf8.h"

MYNAH_EMBEDDED_FILE(talk_served_models, MYNAH_SERVED_MODELS)

namespace mynah::talk {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostMessage = 500;
constexpr size_t kMostListed = 10'000;

// One line that does not steer a terminal.
std::string plain(std::string_view text) {
  std::string made;
  for (size_t at = 0; at < text.size() && made.size() < kMostMessage;) {
    const size_t control = control_length(text, at);
    made += control > 0 ? ' ' : text[at];
    at += std::max<size_t>(control, 1);
  }
  made.resize(made.size() - incomplete_utf8_tail(made));
  return std::string(trimmed(replace_invalid_utf8(made)));
}

// A member that is a text.
std::string text_in(const Json& object, std::string_view name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_string()
             ? found->get<std::string>()
             : std::string();
}

double number_in(const Json& object, std::string_view name, double otherwise) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_number() ? found->get<double>()
                                                                           : otherwise;
}

const Json* member(const Json& object, std::string_view name) {
  if (!object.is_object()) {
    return nullptr;
  }
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// FastAPI's list of what is wrong: [{"loc": ["body", "seed"], "msg": "..."}].
void take_details(const Json& details, ServiceRefusal& refusal) {
  for (const Json& detail : details) {
    const Json* const place = member(detail, "loc");
    if (place != nullptr && place->is_array() && !place->empty() && place->back().is_string()) {
      refusal.fields.push_back(place->back().get<std::string>());
    }
    const std::string message = text_in(detail, "msg");
    if (!message.empty() && refusal.message.size() < kMostMessage) {
      refusal.message += refusal.message.empty() ? "" : "; ";
      refusal.message +=
          refusal.fields.empty() ? message : fmt::format("{}: {}", refusal.fields.back(), message);
    }
  }
}

// Whether the table has a part of this name, in small letters, among those that do so.
bool does(std::string_view name, std::string_view wanted) {
  bool found = false;
  for_each_tsv_line<2>(talk_served_models(), [&](const auto& fields) {
    found = found || (fields[0] == wanted && name.contains(fields[1]));
  });
  return found;
}

bool is_of(std::string_view name, ServedKind kind) {
  const bool hears = does(name, "hears");
  const bool speaks = does(name, "speaks");
  switch (kind) {
    case ServedKind::Hears:
      return hears;
    case ServedKind::Speaks:
      return speaks;
    case ServedKind::Writes:
      break;
  }
  return !hears && !speaks && !does(name, "else");
}

std::string_view task_of(ServedKind kind) {
  constexpr std::array<std::string_view, 3> kTasks = {"automatic-speech-recognition",
                                                      "text-generation", "text-to-speech"};
  return kTasks[static_cast<size_t>(kind)];
}

// "[BLANK_AUDIO]", "(music)", "*coughs*": what models write of sound that is no words.
bool is_of_no_words(std::string_view text) {
  if (text.size() < 2) {
    return false;
  }
  constexpr auto kAround = std::to_array<std::string_view>({"[]", "()", "**"});
  return std::ranges::any_of(kAround, [&](std::string_view around) {
    return text.front() == around[0] && text.find(around[1], 1) == text.size() - 1;
  });
}

// Whether the server itself doubts that its text was said: as WhisperWindowDecoder::nobodys(), by
// the segment that is believed most.
bool is_doubted(const Json& answer) {
  constexpr double kLikelihoodWeight = 0.3;
  constexpr double kMostDoubt = 0.63;
  constexpr double kLeastLikelihood = -1.15;
  const Json* const segments = member(answer, "segments");
  if (segments == nullptr || !segments->is_array() || segments->empty()) {
    return false;
  }
  return std::ranges::all_of(*segments, [&](const Json& segment) {
    const double likelihood = number_in(segment, "avg_logprob", 0);
    return likelihood < kLeastLikelihood ||
           number_in(segment, "no_speech_prob", 0) - kLikelihoodWeight * likelihood > kMostDoubt;
  });
}

// The code of a language that is given by its name or its code; "": it is none.
std::string code_of(const std::string& language) {
  const auto found = find_language(language);
  return found ? std::string(languages()[*found].code) : std::string();
}

std::string language_in(const Json& answer) {
  const Json* const several = member(answer, "languages");
  const std::string first = several != nullptr && several->is_array() && !several->empty()
                                ? text_in(several->front(), "code")
                                : std::string();
  return code_of(first.empty() ? text_in(answer, "language") : first);
}

}  // namespace

ServiceRefusal read_refusal(std::string_view body) {
  ServiceRefusal refusal;
  const auto json = parse_ordered_json(body, "answer");
  if (!json || !json->is_object()) {
    const std::string_view text = trimmed(body);
    const bool is_markup = text.starts_with('<') || text.starts_with('{') || text.starts_with('[');
    refusal.message = is_markup ? std::string() : plain(text);
    return refusal;
  }
  const Json* const error = member(*json, "error");
  const Json& told = error != nullptr && error->is_object() ? *error : *json;
  refusal.message = text_in(told, "message");
  if (error != nullptr && error->is_string()) {
    refusal.message = error->get<std::string>();
  }
  if (const std::string field = text_in(told, "param"); !field.empty()) {
    refusal.fields.push_back(field);
  }
  refusal.code = text_in(told, "code");
  if (refusal.code.empty()) {
    refusal.code = text_in(told, "type");
  }
  if (const Json* const detail = member(*json, "detail"); detail != nullptr) {
    if (detail->is_string()) {
      refusal.message = detail->get<std::string>();
    } else if (detail->is_array()) {
      take_details(*detail, refusal);
    }
  }
  refusal.message = plain(refusal.message);
  return refusal;
}

std::optional<std::string_view> refused_field(const ServiceRefusal& refusal,
                                              std::span<const std::string_view> optional) {
  for (const std::string_view field : optional) {
    if (std::ranges::find(refusal.fields, field) != refusal.fields.end()) {
      return field;
    }
  }
  // The first that is quoted: what stands behind it may be what is wanted in its place.
  std::optional<std::string_view> found;
  size_t first = std::string::npos;
  for (const std::string_view field : optional) {
    for (const std::string_view quote : {"'", "\"", "`"}) {
      const size_t at = refusal.message.find(fmt::format("{}{}{}", quote, field, quote));
      if (at < first) {
        first = at;
        found = field;
      }
    }
  }
  if (!found) {
    // "Unrecognized request argument supplied: top_k", "response_format: wanted ...".
    for (const std::string_view field : optional) {
      if (field.contains('_') && refusal.message.contains(field)) {
        return field;
      }
    }
  }
  return found;
}

bool is_too_long(const ServiceRefusal& refusal) {
  if (refusal.code.contains("context_length") || refusal.code.contains("context_size")) {
    return true;
  }
  const std::string message = ascii_lower(refusal.message);
  return message.contains("context") &&
         (message.contains("length") || message.contains("size") || message.contains("window"));
}

Result<std::vector<ServedModel>> read_models(std::string_view body) {
  MYNAH_TRY(const Json json, parse_ordered_json(body, "the list of models"));
  const Json* list = &json;
  for (const std::string_view name : {"data", "models"}) {
    if (const Json* const found = member(json, name); list == &json && found != nullptr) {
      list = found;
    }
  }
  if (!list->is_array()) {
    return fail(ErrorCode::InvalidInput, "wanted a list of models, found another JSON value");
  }
  std::vector<ServedModel> models;
  for (const Json& entry : *list) {
    std::string id = text_in(entry, "id");
    if (id.empty()) {
      id = text_in(entry, "name");
    }
    if (!id.empty() && id == plain(id) && models.size() < kMostListed) {
      models.push_back({.id = std::move(id),
                        .task = text_in(entry, "task"),
                        .is_mynahs = text_in(entry, "owned_by") == "mynah"});
    }
  }
  return models;
}

std::string choose_model(const std::vector<ServedModel>& models, ServedKind kind) {
  const bool has_tasks =
      std::ranges::any_of(models, [](const ServedModel& model) { return !model.task.empty(); });
  const auto found = std::ranges::find_if(models, [&](const ServedModel& model) {
    return has_tasks ? model.task == task_of(kind) : is_of(ascii_lower(model.id), kind);
  });
  if (found != models.end()) {
    return found->id;
  }
  return !has_tasks && models.size() == 1 ? models.front().id : std::string();
}

Result<HeardText> read_transcript(std::string_view body, const HearWish& wish) {
  HeardText heard{.text = {}, .language = wish.language, .language_probability = 1};
  const std::string_view text = trimmed(body);
  if (text.starts_with('<')) {
    return fail(ErrorCode::InvalidInput, "wanted a transcript, found a page of HTML");
  }
  if (text.starts_with('{') || text.starts_with('[')) {
    MYNAH_TRY(const Json json, parse_ordered_json(text, "the transcript"));
    const Json* const said = member(json, "text");
    if (said == nullptr || !said->is_string()) {
      const ServiceRefusal refusal = read_refusal(text);
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted a transcript with a \"text\", found other JSON{}{}",
                              refusal.message.empty() ? "" : ": ", refusal.message));
    }
    heard.text = said->get<std::string>();
    if (heard.language.empty()) {
      heard.language = language_in(json);
      heard.language_probability =
          static_cast<float>(std::clamp(number_in(json, "language_probability", 1), 0.0, 1.0));
    }
    if (!wish.surely_speech && is_doubted(json)) {
      heard.text.clear();
    }
  } else {
    heard.text = replace_invalid_utf8(text);
  }
  heard.text = trimmed(heard.text, " \t\r\n");
  if (is_of_no_words(heard.text)) {
    heard.text.clear();
  }
  return heard;
}

}  // namespace mynah::talk
