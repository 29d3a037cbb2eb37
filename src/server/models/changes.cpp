#include "server/models/changes.h"

#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/nearest_name.h"
#include "engine/installed.h"
#include "engine/model_files.h"
#include "server/http/errors.h"
#include "server/http/events.h"
#include "server/http/json_text.h"
#include "store/catalogue.h"
#include "store/pull.h"
#include "store/store.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<Field, 1> kPullFields = {
    {{.name = "model", .help = "A name of the catalogue, such as tiny.en.", .wanted = true}}};

PullWords usual_words() {
  return {.refusal = [](const Error& error,
                        const std::string& code) { return openai_error(error, "model", code); },
          .error_line = [](const Error& error) { return openai_error_text(error, "model"); }};
}

// Lines of JSON, or server-sent events where the client asks for those.
class PullAnswer {
 public:
  PullAnswer(const PullWords& words, Exchange& exchange)
      : words_(words),
        exchange_(exchange),
        events_(exchange.head().headers.get("Accept").contains("text/event-stream")) {}

  void tell(const Json& status) {
    if (!words_.whole) {
      write(json_text(status));
    }
  }

  void end(const Json& status) {
    if (words_.whole) {
      exchange_.answer({.body = json_text(status) + "\n"});
      return;
    }
    write(json_text(status));
    exchange_.end();
  }

  void fail_with(const Error& error) {
    if (!begun_) {
      exchange_.answer(words_.refusal(error, {}));
      return;
    }
    write(words_.error_line(error));
    exchange_.end();
  }

 private:
  void write(const std::string& line) {
    if (!std::exchange(begun_, true)) {
      exchange_.begin(events_ ? event_stream()
                              : Response{.type = "application/x-ndjson", .body = {}});
    }
    // Who left is seen by the stop.
    static_cast<void>(exchange_.write(events_ ? event(line) : line + "\n"));
  }

  const PullWords& words_;
  Exchange& exchange_;
  bool events_;
  bool begun_ = false;
};

// Tells how far it is, in ollama's words for it, four times a second at most.
class PullProgress final : public StoreObserver {
 public:
  PullProgress(PullAnswer& answer, std::string model) : answer_(answer), model_(std::move(model)) {}

  void on_progress(std::string_view what, uint64_t done, uint64_t total) override {
    constexpr std::chrono::milliseconds kBetween{250};
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < kBetween && done != total) {
      return;
    }
    told_ = now;
    Json status = {{"status", fmt::format("pulling {}", what)}, {"model", model_}};
    status["completed"] = done;
    if (total > 0) {
      status["total"] = total;
    }
    answer_.tell(status);
  }

  void on_message(std::string_view line) override {
    if (line.starts_with("pip:")) {
      return;  // it names folders of this machine
    }
    answer_.tell({{"status", line}, {"model", model_}});
  }

 private:
  PullAnswer& answer_;
  std::string model_;
  std::chrono::steady_clock::time_point told_{};
};

Result<const CatalogueEntry*> entry_of(const std::string& name) {
  const CatalogueEntry* const entry = find_in_catalogue(name);
  if (entry != nullptr) {
    return entry;
  }
  std::vector<std::string> names;
  for (const CatalogueEntry& known : catalogue()) {
    names.push_back(known.name);
  }
  return fail(ErrorCode::NotFound, fmt::format("model: the catalogue has no '{}'{}: names alone "
                                               "are pulled, no paths and no addresses",
                                               name, suggestion(name, names)));
}

Status pull_one(const Service& service, const CatalogueEntry& entry, PullAnswer& answer,
                const std::stop_token& stop) {
  engine::Surroundings surroundings{.environment = service.environment(), .stop = stop};
  surroundings.watch_pull = [&answer, &entry] {
    return std::make_unique<PullProgress>(answer, entry.name);
  };
  MYNAH_TRY(const StoredModel model,
            engine::pull_from_catalogue(surroundings, entry, PullOptions{}));
  engine::prepare_reference(surroundings, model);
  return {};
}

void pull_asked(const Service& service, Exchange& exchange) {
  const auto values = FieldValues::of_json(kPullFields, exchange.json());
  if (!values) {
    exchange.answer(openai_error(values.error().error, values.error().field));
    return;
  }
  pull_named(service, values->text("model"), usual_words(), exchange);
}

void list_catalogue(const Service& service, Exchange& exchange) {
  const Store store = service.store();
  Json models = Json::array();
  for (const CatalogueEntry& entry : catalogue()) {
    models.push_back({{"id", entry.name},
                      {"object", "model"},
                      {"owned_by", entry.family},
                      {"task", kind_of_family(entry.family)},
                      {"description", entry.description},
                      {"licence", entry.licence},
                      {"size", entry.download_bytes},
                      {"here", store.find(entry.name).has_value()}});
  }
  exchange.answer({.body = json_text({{"object", "list"}, {"data", std::move(models)}}) + "\n"});
}

Error no_such_model(const std::string& name) {
  return {ErrorCode::NotFound,
          fmt::format("there is no model '{}' here; GET /v1/models lists what there is", name)};
}

void remove_model(Service& service, Exchange& exchange) {
  const std::string& name = exchange.head().part;
  const auto own = is_model_name(name) ? service.store().own_name(name)
                                       : Result<std::string>(std::unexpected(no_such_model(name)));
  if (!own) {
    exchange.answer(openai_error(no_such_model(name), "model", "model_not_found"));
    return;
  }
  if (const Status removed = service.remove(*own); !removed) {
    exchange.answer(openai_error(removed.error(), "model"));
    return;
  }
  exchange.answer(
      {.body = json_text({{"id", *own}, {"object", "model"}, {"deleted", true}}) + "\n"});
}

void load_model(Service& service, Exchange& exchange) {
  const std::string& name = exchange.head().part;
  if (const Status loaded = service.load(name); !loaded) {
    const bool missing = loaded.error().code == ErrorCode::NotFound;
    exchange.answer(openai_error(loaded.error(), "model", missing ? "model_not_found" : ""));
    return;
  }
  exchange.answer({.body = json_text({{"id", name}, {"status", "loaded"}}) + "\n"});
}

void unload_model(Service& service, Exchange& exchange) {
  const std::string& name = exchange.head().part;
  if (name != "builtin" && !(is_model_name(name) && service.store().find(name))) {
    exchange.answer(openai_error(no_such_model(name), "model", "model_not_found"));
    return;
  }
  const size_t count = service.unload(name);
  exchange.answer(
      {.body = json_text({{"id", name}, {"status", count > 0 ? "unloaded" : "was not loaded"}}) +
               "\n"});
}

}  // namespace

void pull_named(const Service& service, const std::string& name, const PullWords& words,
                Exchange& exchange) {
  const auto entry = entry_of(name);
  if (!entry) {
    exchange.answer(words.refusal(entry.error(), "model_not_found"));
    return;
  }
  if (service.is_offline()) {
    exchange.answer(words.refusal(
        {ErrorCode::Unsupported, "this server was started with --offline: nothing is pulled"}, {}));
    return;
  }
  PullAnswer answer(words, exchange);
  if (const Status pulled = pull_one(service, **entry, answer, exchange.stop()); !pulled) {
    answer.fail_with(pulled.error());
    return;
  }
  // What it is better with; it works without.
  for (const CatalogueEntry* companion : engine::missing_companions(service.store(), **entry)) {
    if (const Status came = pull_one(service, *companion, answer, exchange.stop()); !came) {
      answer.tell({{"status", fmt::format("{} did not come along: {}", companion->name,
                                          came.error().message)},
                   {"model", companion->name}});
    }
  }
  answer.end({{"status", "success"}, {"model", (*entry)->name}});
}

std::vector<Route> model_change_routes(Service& service) {
  return {{.method = "POST",
           .path = "/v1/models",
           .help = "Pulls a model of the catalogue; how far it is, a line each.",
           .handler = [&service](Exchange& exchange) { pull_asked(service, exchange); },
           .accepts = Accepts::Text,
           .rights = {Right::Models},
           .fields = kPullFields,
           .answers = "application/x-ndjson text/event-stream"},
          {.method = "POST",
           .path = "/v1/models/{name}/load",
           .help = "Opens a model, so that the next request need not.",
           .handler = [&service](Exchange& exchange) { load_model(service, exchange); },
           .rights = {Right::Models}},
          {.method = "POST",
           .path = "/v1/models/{name}/unload",
           .help = "Lets go of a model: soon after nobody uses it.",
           .handler = [&service](Exchange& exchange) { unload_model(service, exchange); },
           .rights = {Right::Models}},
          {.method = "POST",
           .path = "/v1/models/{name}",
           .help = "Pulls that model, as POST /v1/models does.",
           .handler =
               [&service](Exchange& exchange) {
                 pull_named(service, exchange.head().part, usual_words(), exchange);
               },
           .rights = {Right::Models},
           .answers = "application/x-ndjson text/event-stream"},
          {.method = "GET",
           .path = "/v1/registry",
           .help = "What can be pulled.",
           .handler = [&service](Exchange& exchange) { list_catalogue(service, exchange); }},
          {.method = "DELETE",
           .path = "/v1/models/{name}",
           .help = "Removes a model from this machine.",
           .handler = [&service](Exchange& exchange) { remove_model(service, exchange); },
           .rights = {Right::Models}}};
}

}  // namespace mynah::server
