#include "cli/placement/mynah_views.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/models/surroundings.h"
#include "engine/model_files.h"
#include "engine/open_placer.h"
#include "engine/store_folders.h"
#include "place/proofs/prove.h"
#include "place/terms/another_mynah.h"
#include "place/terms/kind.h"

namespace mynah::cli {

namespace {

// Of each model that is here and that another mynah may compute: passed, or why not.
Status add_proofs(const Context& context, place::PlacementState& state, DeviceView& view) {
  const Store store(engine::store_folders(context.environment));
  MYNAH_TRY(const std::vector<engine::NamedModel> models, engine::named_models(store, {}));
  if (models.empty()) {
    return fail(
        ErrorCode::Environment,
        "there is no model to prove a device with: bring one, such as `mynah pull tiny.en`");
  }
  for (const engine::NamedModel& model : models) {
    const place::StageGroup group = place::group_of(model.file);
    if (!place::kind_of(group).elsewhere) {
      continue;
    }
    const place::ModelId id = state.context().expect(model.file);
    const place::StageDevice where = state.wishes().usual_place(id, view.facts.name);
    const place::Trust::Refusal refusal = state.trust().refusal(id, where);
    DeviceProof proof{.model = model.name, .measurements = {}};
    proof.measurements =
        refusal.why.empty()
            ? state.context()
                  .prover()
                  .of_device(model.file, where, state.context().identity(view.facts.name),
                             place::ProofWish::Anew)
                  .measurements
            : place::not_passed(group, place::all_on(group, where), "it " + refusal.why);
    if (const auto cpu = state.context().prover().kept_of_cpu(model.file)) {
      proof.cpu_ms = engine::fastest_ms(*cpu);
    }
    if (context.stop.stop_requested()) {  // a proof that was cut short is no failure
      return fail(ErrorCode::Cancelled, "stopped");
    }
    view.proofs.push_back(std::move(proof));
  }
  return {};
}

}  // namespace

Result<std::vector<DeviceView>> take_mynahs(const Context& context, std::vector<std::string>& names,
                                            bool prove) {
  std::vector<DeviceView> views;
  for (const std::string& name : names) {
    if (!place::is_another_mynah(name)) {
      continue;
    }
    MYNAH_TRY(const place::AnotherMynah mynah, place::parse_another_mynah(name));
    engine::PlacementWish wish;
    wish.device = name;
    MYNAH_TRY(const auto placer, engine::open_placer(wish, surroundings_of(context)));
    place::PlacementState& state = placer->state();
    DeviceView view;
    view.facts.name = mynah.name;
    const auto told = state.context().mynah(mynah.name);
    view.facts.model = told ? fmt::format("mynah {} at {}, {} models", told->version,
                                          mynah.address(), told->models.size())
                            : fmt::format("mynah at {}", mynah.address());
    if (!told) {
      view.findings.push_back({.outlook = place::Outlook::Cannot,
                               .rule = "another mynah",
                               .reason = "it " + told.error().message,
                               .remedy = {}});
    } else if (prove) {
      MYNAH_TRY_STATUS(add_proofs(context, state, view));
    }
    views.push_back(std::move(view));
  }
  std::erase_if(names, place::is_another_mynah);
  return views;
}

}  // namespace mynah::cli
