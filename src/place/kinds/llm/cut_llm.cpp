// Where a language model is cut in two: its last layers, the last norm and the logits go to a card,
// since the table of tokens below them is read a row a token and is quicker for no card.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/kinds/llm/llm.h"
#include "place/plans/budget.h"
#include "place/state/placement_state.h"
#include "place/terms/device_name.h"

namespace mynah::place {
namespace {

bool is_for_layers(const std::string& device) {
  return !is_processor(device) && !is_mynah(device);
}

// Devices beside the processor that the request allows for a stage, as they stand in a budget.
std::vector<size_t> cards_for(const StageDevices& wanted, const Budget& budget) {
  std::vector<size_t> cards;
  for (size_t device = 0; device < budget.size(); ++device) {
    const std::string& name = budget.name(device);
    const bool is_named = std::ranges::find(wanted.devices, name) != wanted.devices.end();
    if (is_for_layers(name) && (is_named || (wanted.devices.empty() && is_for_auto(name)))) {
      cards.push_back(device);
    }
  }
  return cards;
}

// What a part takes on a card, with room for so many tokens of texts: packed for its kernels a
// matrix may be an eighth larger than in the file (docs/language_products.tsv).
uint64_t bytes_of(LanguageMemory part, int64_t tokens) {
  part.weight_bytes += part.weight_bytes / 8;
  const GrowingMemory growing = memory_of_texts(part, {tokens});
  return growing.unmeasured_bytes + growing.grown_bytes(tokens);
}

Status check_cut(const WritingFile& opened, int64_t card_layers, int64_t lower) {
  const std::vector<int64_t> cuts = opened.cuts();
  if (std::ranges::find(cuts, lower) != cuts.end()) {
    return {};
  }
  std::vector<int64_t> layers = {0, opened.layers()};
  std::ranges::transform(cuts, std::back_inserter(layers),
                         [&](int64_t cut) { return opened.layers() - cut; });
  std::ranges::sort(layers);
  return fail(ErrorCode::Usage,
              fmt::format("--gpu-layers {}: this model cannot be cut there, as layers read what "
                          "others of them keep; wanted one of {}",
                          card_layers, fmt::join(layers, ", ")));
}

}  // namespace

Result<std::string> put_layers(DeviceRequest& request, int64_t layers) {
  if (layers < 0) {
    return fail(ErrorCode::Usage,
                fmt::format("--gpu-layers: wanted a number from 0 on, found {}", layers));
  }
  if (!request.profile.empty()) {
    return fail(ErrorCode::Usage,
                fmt::format("--gpu-layers {}: --device profile:{} says where models are; leave one "
                            "of them out",
                            layers, request.profile));
  }
  const StageDevices processor{.automatic = false, .devices = {"cpu"}};
  if (layers == 0) {
    request.of(kLlmLower) = processor;
    request.of(kLlmStage) = processor;
    return std::string();
  }
  StageDevices wanted = request.of(kLlmStage);
  const auto named = std::ranges::find_if(wanted.devices, is_for_layers);
  if (named == wanted.devices.end() && !wanted.devices.empty()) {
    return fail(ErrorCode::Usage,
                fmt::format("--gpu-layers {}: --device names no card for a language model, but {}; "
                            "name one, as in --device cuda,cpu, or leave --device out",
                            layers, fmt::join(wanted.devices, ",")));
  }
  std::string card = named == wanted.devices.end() ? full_device_name("cuda") : *named;
  std::erase(wanted.devices, card);
  wanted.devices.insert(wanted.devices.begin(), card);
  if (wanted.automatic) {
    wanted.devices = {card, "cpu"};
  }
  wanted.automatic = false;
  request.of(kLlmLower) = processor;
  request.of(kLlmStage) = std::move(wanted);
  return card;
}

Result<LanguageFile> cut_language(PlacementState& state, const LanguageFile& file,
                                  const WritingFile& opened, std::optional<int64_t> card_layers) {
  LanguageFile cut = file;
  cut.lower_layers = 0;
  if (card_layers) {
    const int64_t lower = opened.layers() - *card_layers;
    if (*card_layers > 0 && lower > 0) {
      MYNAH_TRY_STATUS(check_cut(opened, *card_layers, lower));
      cut.lower_layers = lower;
    }
    return cut;
  }
  const DeviceRequest& request = state.context().options().request;
  const StageDevices& below = request.of(kLlmLower);
  const StageDevices& wanted = request.of(kLlmStage);
  const auto may_be_there = [](const StageDevices& devices) {
    return devices.devices.empty() || std::ranges::any_of(devices.devices, is_for_layers);
  };
  const std::vector<int64_t> cuts = opened.cuts();
  if (cuts.empty() || !request.profile.empty() || (!may_be_there(below) && !may_be_there(wanted))) {
    return cut;
  }
  const Budget budget(state.planner().memory(true), state.context().options().max_vram);
  const int64_t trained = opened.trained_context();
  const int64_t tokens = file.context > 0 ? std::min(file.context, trained) : trained;
  const auto room_for = [&](const LanguageMemory& part, const StageDevices& there) {
    return std::ranges::any_of(cards_for(there, budget), [&](size_t card) {
      return bytes_of(part, tokens) <= budget.usable(card);
    });
  };
  const bool apart_by_name =
      !below.automatic && !wanted.automatic && below.devices.front() != wanted.devices.front();
  if (apart_by_name && is_for_layers(below.devices.front())) {
    // The first layers are to be on a card: as many as fit.
    const auto fits = std::ranges::find_if(cuts.rbegin(), cuts.rend(), [&](int64_t lower) {
      return room_for(opened.memory(file.precision, lower).lower, below);
    });
    cut.lower_layers = fits == cuts.rend() ? cuts.front() : *fits;
    return cut;
  }
  if (!apart_by_name && (!wanted.automatic || room_for(opened.memory(file.precision), wanted))) {
    return cut;
  }
  const auto fits = std::ranges::find_if(cuts, [&](int64_t lower) {
    return room_for(opened.memory(file.precision, lower).upper, wanted);
  });
  if (fits != cuts.end()) {
    cut.lower_layers = *fits;
  } else if (apart_by_name) {
    cut.lower_layers = cuts.back();
  }
  return cut;
}

}  // namespace mynah::place
