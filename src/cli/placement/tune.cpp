#include "cli/placement/tune.h"

#include <ranges>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/models/store_access.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/placement/profile_texts.h"
#include "engine/open_placer.h"
#include "engine/storage_choice.h"
#include "engine/store_folders.h"
#include "place/plans/profile_folder.h"
#include "place/terms/kind.h"
#include "place/tune.h"

namespace mynah::cli {

namespace {

using place::Measurement;

// Whether a stage has a part: the lower layers of a language model that is in one place are none.
bool has_part(const Measurement& measured) {
  return !measured.passed || measured.ms_per_unit > 0;
}

std::string measurement_line(const Measurement& measured) {
  const std::string where =
      fmt::format("  {:<13} {:<8} {:<6}", place::stage_name(measured.stage), measured.device,
                  measured.storage ? name(*measured.storage) : "file");
  if (!measured.passed) {
    return fmt::format("{} failed: {}", where, measured.failure);
  }
  return fmt::format("{} {:9.2f} ms for {}, error {:.2g} of {:.2g}, {:.0f} MB", where,
                     measured.ms_per_unit, place::kind_of(place::group_of(measured.stage)).unit,
                     measured.worst_error, measured.error_bound,
                     static_cast<double>(measured.bytes) / 1e6);
}

}  // namespace

void TuneCommand::fields(Fields& fields) {
  fields
      .positional("MODEL", models_,
                  "Models that were pulled or imported, or paths; none: those that verbs take by "
                  "themselves.")
      .as_optional()
      .completes(Complete::Models);
  device_field(fields, device_, "Where to measure: auto, or devices; see below.");
  fields.option("threads", "N", threads_, "Threads to compute with; 0: the physical cores.")
      .shorter('t');
  fields.option("storage", "TYPES", types_,
                "Types to try; default: those that are fast on a device.");
  fields.option("name", "NAME", name_, "What the profile is called; default: as the model.");
  fields.flag("use", use_, "Put the profile in use.").once();
}

std::string TuneCommand::details() const {
  return "Each device is proven with the model, in a process of its own, and timed; what is "
         "fastest\n"
         "together is kept as a profile, which `mynah profile` lists, shows, compares and puts in\n"
         "use. A device that fails is left out, and the reason is kept too.\n\n" +
         device_details();
}

Status TuneCommand::check_name(const engine::NamedModel& model) const {
  Status named = place::ProfileFolder::check_name(name_.empty() ? model.name : name_);
  if (!named) {
    named.error().code = ErrorCode::Usage;
    named.error().message = "--name: " + named.error().message;
  }
  return named;
}

Status TuneCommand::tune(Context& context, place::PlacementState& state,
                         const engine::NamedModel& model) const {
  place::TuneOptions options;
  std::istringstream types(types_);
  for (std::string type; std::getline(types, type, ',');) {
    MYNAH_TRY(const auto parsed, engine::parse_storage(type));
    options.types.push_back(*parsed);
  }
  if (!context.json) {
    context.out.line(model.name + ":");
    options.observer = [&context](const place::DeviceProof& proof) {
      for (const Measurement& one : proof.measurements | std::views::filter(has_part)) {
        context.out.line(measurement_line(one) + place::disturbed_text(proof.waited_share));
      }
      context.out.flush();
    };
  }
  MYNAH_TRY(place::Profile profile, place::tune(state, model.file, model.name, options));
  if (!name_.empty()) {
    profile.name = name_;
  }
  const place::ProfileFolder folder(engine::store_folders(context.environment).home);
  MYNAH_TRY_STATUS(folder.save(profile));
  if (use_) {
    MYNAH_TRY_STATUS(folder.pin(profile.name));
  }
  if (context.json) {
    nlohmann::ordered_json json = {
        {"name", profile.name}, {"pinned", use_}, {"file", folder.path(profile.name)}};
    json.update(place::to_json(profile));
    context.out.line(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    context.out.line(fmt::format(
        "  fastest: {}; kept as the profile {}{}", placement_text(profile), profile.name,
        use_ ? ", which is in use now"
             : fmt::format(", `mynah profile use {}` puts it in use", profile.name)));
  }
  if (const std::string disturbed = place::disturbed_text(profile.waited_share);
      !disturbed.empty()) {
    context.say_of(profile.name, "measure again when the machine is idle" + disturbed);
  }
  return {};
}

Result<int> TuneCommand::run(Context& context) {
  const Store store(engine::store_folders(context.environment));
  MYNAH_TRY(const std::vector<engine::NamedModel> models, engine::named_models(store, models_));
  if (models.empty()) {
    return fail(ErrorCode::Environment,
                "there is no model to measure: bring one, such as `mynah pull tiny.en`");
  }
  if (!name_.empty() && models.size() > 1) {
    return fail(ErrorCode::Usage,
                fmt::format("--name {}: wanted one model for it, found {}", name_, models.size()));
  }
  // Measuring takes minutes.
  for (const engine::NamedModel& model : models) {
    MYNAH_TRY_STATUS(check_name(model));
  }
  MYNAH_TRY(const auto placer, engine::open_placer({.device = device_,
                                                    .threads = threads_,
                                                    .storage = {},
                                                    .precision = Precision::Fast,
                                                    .pinned = false,
                                                    .quiet = true},
                                                   surroundings_of(context)));
  int code = 0;
  for (const engine::NamedModel& model : models) {
    if (const Status tuned = tune(context, placer->state(), model); !tuned) {
      context.say_of(model.name, tuned.error().message);
      code = exit_code(tuned.error().code);
    }
  }
  return code;
}

}  // namespace mynah::cli
