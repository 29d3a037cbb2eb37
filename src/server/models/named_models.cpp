#include "server/models/named_models.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "chat/embedding_model.h"
#include "chat/language_model.h"
#include "engine/chat.h"
#include "engine/detector.h"
#include "engine/embed.h"
#include "engine/installed.h"
#include "engine/recognizer.h"
#include "engine/store_folders.h"
#include "engine/synthesizer.h"
#include "server/models/openai_names.h"
#include "store/catalogue.h"
#include "store/families.h"
#include "store/store.h"

namespace mynah::server {
namespace {

// As an error of the command line: a file that is not there is missing, another's is a slip.
std::unexpected<Error> of_option(std::string_view option, Error error) {
  switch (error.code) {
    case ErrorCode::NotFound:
      error.code = ErrorCode::Environment;
      break;
    case ErrorCode::InvalidInput:
    case ErrorCode::Unsupported:
      error.code = ErrorCode::Usage;
      break;
    default:
      break;
  }
  return std::unexpected(std::move(error).while_doing(option));
}

engine::RecognizerWish hearing_wish(const std::string& model) {
  engine::RecognizerWish wish;
  wish.model = model;
  return wish;
}

engine::ChatWish writing_wish(const std::string& model) {
  engine::ChatWish wish;
  wish.model = model;
  return wish;
}

engine::EmbedWish embedding_wish(const std::string& model) {
  engine::EmbedWish wish;
  wish.model = model;
  return wish;
}

Status check_detector(const std::string& name, const Store& store) {
  MYNAH_TRY(const ResolvedModel found, engine::resolve_detector(store, name));
  return engine::check_finds_speech(store, found);
}

// A name that everybody knows what for stands for no model of another kind.
Status check_aliases(const ServiceOptions& options, const Store& store) {
  for (const Alias& alias : options.aliases) {
    const auto kind = kind_of_openai_model(alias.name);
    const auto model = store.find(alias.model);
    if (kind && model && !is_for(model->family, *kind)) {
      return fail(
          ErrorCode::Usage,
          fmt::format("--alias {}={}: wanted a model of the kind '{}', found one of the "
                      "kind '{}'",
                      alias.name, alias.model, mynah::name(*kind), kind_of_family(model->family)));
    }
  }
  return {};
}

// Whether it is a voice that is here, or a model that speaks.
bool speaks(const std::string& name, const Environment& environment) {
  engine::SynthesizerWish of_model;
  of_model.model = name;
  engine::SynthesizerWish of_voice;
  of_voice.voice = name;
  return engine::check_speaking_model(of_model, environment).has_value() ||
         engine::check_speaking_model(of_voice, environment).has_value();
}

// Where several models could be meant by a request that names none, which one is.
void note_newest(const engine::Surroundings& surroundings, const Store& store, FamilyKind kind,
                 std::string_view does, std::string_view option) {
  const auto all = std::ranges::count_if(
      store.list(), [&](const StoredModel& model) { return is_for(model.family, kind); });
  const auto newest = kind == FamilyKind::Language ? engine::newest_language_model(store)
                                                   : engine::newest_model_for(store, kind);
  if (all > 1 && newest) {
    surroundings.note(
        {.code = "default-model",
         .text = fmt::format("{} {} where a request names no model that is here, as the newest of "
                             "the {} that could",
                             newest->name, does, all),
         .remedy = fmt::format("{} says otherwise", option)});
  }
}

}  // namespace

Status check_named_models(const ServiceOptions& options, const Environment& environment) {
  if (options.model != "auto") {
    auto model = engine::check_hearing_model(hearing_wish(options.model), environment);
    if (!model) {
      return of_option("--model", std::move(model).error());
    }
  }
  if (options.vad_model != "auto" && options.vad_model != "builtin") {
    auto detects = check_detector(options.vad_model, Store(engine::store_folders(environment)));
    if (!detects) {
      return of_option("--vad-model",
                       engine::as_named(std::move(detects).error(), options.vad_model));
    }
  }
  if (options.chat_model != "auto") {
    auto model = engine::check_writing_model(writing_wish(options.chat_model), environment);
    if (!model) {
      return of_option("--chat-model", std::move(model).error());
    }
    if (auto file = open_writing(*model); !file) {
      return of_option("--chat-model", std::move(file).error());
    }
  }
  if (options.embedding_model != "auto") {
    auto model =
        engine::check_embedding_model(embedding_wish(options.embedding_model), environment);
    if (!model) {
      return of_option("--embedding-model", std::move(model).error());
    }
    if (Status file = check_embedding_file(*model); !file) {
      return of_option("--embedding-model", std::move(file).error());
    }
  }
  engine::SynthesizerWish spoken;
  spoken.model = options.voice_model;
  if (auto model = engine::check_speaking_model(spoken, environment); !model) {
    return of_option("--voice-model", std::move(model).error());
  }
  spoken.voice = options.voice;
  if (auto voice = engine::check_speaking_model(spoken, environment); !voice) {
    return of_option("--voice", std::move(voice).error());
  }
  return check_aliases(options, Store(engine::store_folders(environment)));
}

void note_missing_models(const ServiceOptions& options, const engine::Surroundings& surroundings) {
  const Environment& environment = surroundings.environment;
  if (options.model == "auto" &&
      !engine::newest_recogniser(Store(engine::store_folders(environment)))) {
    surroundings.note({.code = "builtin-recognizer",
                       .text = "there is no model that hears here: recordings are heard by the "
                               "built-in recogniser, which is for US English and much less exact",
                       .remedy = "'mynah pull tiny.en' brings a better one"});
  }
  const Store store(engine::store_folders(environment));
  if (options.chat_model == "auto") {
    note_newest(surroundings, store, FamilyKind::Language, "writes", "--chat-model");
  }
  if (options.embedding_model == "auto") {
    note_newest(surroundings, store, FamilyKind::Embeddings, "makes vectors", "--embedding-model");
  }
  for (const Alias& alias : options.aliases) {
    const auto model = engine::check_hearing_model(hearing_wish(alias.model), environment);
    const bool writes =
        engine::check_writing_model(writing_wish(alias.model), environment).has_value() ||
        engine::check_embedding_model(embedding_wish(alias.model), environment).has_value();
    const bool is_named = std::ranges::any_of(
        std::array{options.chat_model, options.embedding_model}, [&](const std::string& path) {
          return path.contains('/') && engine::name_of_path(path) == alias.model;
        });
    if (!model && !writes && !is_named && !speaks(alias.model, environment)) {
      surroundings.note(
          {.code = "alias",
           .text = fmt::format("--alias {}={}: {}", alias.name, alias.model, model.error().message),
           .remedy = {}});
    }
  }
}

bool is_unknown(const std::string& name, const std::string& meant) {
  return meant.empty() && !name.empty() && !is_openai_model(name);
}

std::unexpected<Error> no_model_called(const std::string& name, std::string_view does) {
  return fail(ErrorCode::NotFound,
              fmt::format("model: there is no '{}' here that {}; GET /v1/models lists what there "
                          "is, and what each is for",
                          name, does));
}

Error as_servers(Error error) {
  switch (error.code) {
    case ErrorCode::Usage:
    case ErrorCode::NotFound:
    case ErrorCode::InvalidInput:
    case ErrorCode::Unsupported:
      error.code = ErrorCode::Environment;
      break;
    default:
      break;
  }
  return error;
}

}  // namespace mynah::server
