#include "place/terms/device_request.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/nearest_name.h"
#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "store/store.h"

namespace mynah::place {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr std::string_view kProfile = "profile:";

constexpr std::string_view kSpace = " ";

std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items = split(text, ',');
  for (std::string_view& item : items) {
    item = trimmed(item, kSpace);
  }
  return items;
}

// Names of what can stand in front of '=': groups, and the stages that are not one by themselves.
std::vector<std::string> scope_names() {
  std::vector<std::string> names;
  names.reserve(all_groups().size() + all_stages().size());
  for (const StageGroup group : all_groups()) {
    names.emplace_back(group_name(group));
  }
  for (const Stage stage : all_stages()) {
    if (stage_name(stage) != group_name(group_of(stage))) {
      names.emplace_back(stage_name(stage));
    }
  }
  return names;
}

Status check_scope(std::string_view scope) {
  const std::vector<std::string> names = scope_names();
  if (std::ranges::find(names, scope) != names.end()) {
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("--device: wanted a stage or a group of them in front "
                          "of '=' ({}), found '{}'{}",
                          fmt::join(names, ", "), scope, suggestion(scope, names)));
}

std::unexpected<Error> refuse_beside(std::string_view text) {
  return fail(ErrorCode::Usage,
              fmt::format("--device: devices beside each other stand first in the list of what "
                          "hears, as in stt=cuda:0+cuda:1,cpu; found '{}'",
                          text));
}

// A word that names another mynah, here or before.
Result<std::string> mynah_of(std::string_view word, std::vector<AnotherMynah>& known) {
  const auto before = std::ranges::find(known, word, &AnotherMynah::name);
  if (before != known.end()) {
    return before->name;
  }
  MYNAH_TRY(AnotherMynah mynah, parse_another_mynah(word));
  const std::vector<std::string> scopes = scope_names();
  if (std::ranges::find(scopes, mynah.name) != scopes.end()) {
    return fail(ErrorCode::Usage,
                fmt::format("--device: another mynah cannot be called {}, as a stage or a group of "
                            "them is; its name is yours to choose: box=mynah://...",
                            mynah.name));
  }
  const auto same = std::ranges::find(known, mynah.name, &AnotherMynah::name);
  if (same != known.end() && *same != mynah) {
    return fail(ErrorCode::Usage,
                fmt::format("--device: {} is two mynahs: give each a name of its own", mynah.name));
  }
  std::string name = mynah.name;
  if (same == known.end()) {
    known.push_back(std::move(mynah));
  }
  return name;
}

// Adds one device's word to a list.
Status add_word(StageDevices& list, bool first, std::string_view word, std::string_view text,
                std::vector<AnotherMynah>& mynahs) {
  if (word.starts_with(kProfile)) {
    return fail(
        ErrorCode::Usage,
        fmt::format("--device: a profile stands alone, as in --device {}, found '{}'", word, text));
  }
  if (!first && (word == kAuto || list.automatic)) {
    return fail(ErrorCode::Usage,
                fmt::format("--device: auto stands alone in a list, as it may choose any device, "
                            "found '{}'; leave auto out, or the devices beside it",
                            text));
  }
  std::string name;
  if (is_another_mynah(word) ||
      std::ranges::find(mynahs, word, &AnotherMynah::name) != mynahs.end()) {
    MYNAH_TRY(name, mynah_of(word, mynahs));
  } else {
    MYNAH_TRY_STATUS(check_device(std::string(word)));
    name = full_device_name(std::string(word));
  }
  list.automatic = word == kAuto;
  if (!list.automatic && std::ranges::find(list.devices, name) == list.devices.end()) {
    list.devices.push_back(std::move(name));
  }
  return {};
}

// Adds an item to a list: a device, or in front of all others several, with '+' between them.
Status add_item(StageDevices& list, bool first, std::string_view item, std::string_view text,
                std::vector<AnotherMynah>& mynahs) {
  const std::vector<std::string_view> words = split(item, '+');
  if (words.size() > 1 && !first) {
    return refuse_beside(text);
  }
  for (size_t i = 0; i < words.size(); ++i) {
    MYNAH_TRY_STATUS(add_word(list, first && i == 0, trimmed(words[i], kSpace), text, mynahs));
  }
  if (words.size() > 1) {
    list.beside = list.devices.size();
  }
  return {};
}

// Several devices beside each other take windows, each all stages of one.
Status check_beside(const DeviceRequest& request, std::string_view text) {
  for (const Stage stage : all_stages()) {
    const StageDevices& list = request.of(stage);
    const StageDevices& first = request.of(stages_of(group_of(stage)).front());
    if (std::max(list.beside, first.beside) > 1 &&
        (!hears_windows(group_of(stage)) || list != first)) {
      return refuse_beside(text);
    }
  }
  return {};
}

bool has_mynah(const StageDevices& list) {
  return std::ranges::any_of(list.devices, is_mynah);
}

// Another mynah computes all stages of a model, of those kinds that it does; what it does not do is
// done here, where something else was named or it only goes along. `named`: the stage or its group
// has a list of its own.
Status settle_mynahs(DeviceRequest& request, Stage stage, bool named, std::string_view text) {
  StageDevices& list = request.of(stage);
  if (!has_mynah(list)) {
    return {};
  }
  const std::string_view group = group_name(group_of(stage));
  if (!kind_of(group_of(stage)).elsewhere) {
    if (named) {
      return fail(
          ErrorCode::Usage,
          fmt::format("--device: {} is not done by another mynah, found '{}'; name a device "
                      "of this machine for it",
                      group, text));
    }
    const bool others = !std::ranges::all_of(list.devices, is_mynah);
    if (!others && !kind_of(group_of(stage)).goes_along) {
      return {};  // named alone it is refused to who asks for this, and to nobody else
    }
    std::erase_if(list.devices, is_mynah);
    if (!others) {
      list.devices.emplace_back("cpu");
    }
    list.beside = std::min(list.beside, list.devices.size());
    return {};
  }
  for (const Stage other : stages_of(group_of(stage))) {
    if (request.of(other).devices != list.devices) {
      return fail(ErrorCode::Usage,
                  fmt::format("--device: another mynah does all of {0}, found it for a stage alone "
                              "in '{1}'; name it as {0}=",
                              group, text));
    }
  }
  return {};
}

Result<DeviceRequest> parse_profile(std::string_view text) {
  DeviceRequest request;
  request.profile = text.substr(kProfile.size());
  if (!is_model_name(request.profile)) {
    return fail(ErrorCode::Usage,
                fmt::format("--device: wanted profile:NAME, the name in letters, digits, '.', '_' "
                            "and '-', found '{}'; `mynah profile list` shows which there are",
                            text));
  }
  return request;
}

// What an automatic stage may choose among where others have devices of their own: the cards that
// are named, in the order of stages, and the processor. None: no device is named.
std::vector<std::string> named_devices(const DeviceRequest& request) {
  std::vector<std::string> names;
  bool any = false;
  for (const StageDevices& stage : request.stages) {
    for (const std::string& device : stage.devices) {
      any = true;
      if (is_for_auto(device) && std::ranges::find(names, device) == names.end()) {
        names.push_back(device);
      }
    }
  }
  if (any && std::ranges::find(names, "cpu") == names.end()) {
    names.emplace_back("cpu");
  }
  return names;
}

std::string list_text(const StageDevices& list) {
  if (list.automatic && !list.fastest) {
    return std::string(kAuto);
  }
  const std::span devices(list.devices);
  std::string text = fmt::format("{}", fmt::join(devices.first(list.beside), "+"));
  for (const std::string& device : devices.subspan(list.beside)) {
    text += "," + device;
  }
  return text;
}

// Automatic for no other reason than that nothing names it.
bool is_unnamed(const StageDevices& list) {
  return list.automatic && !list.fastest && !list.devices.empty();
}

}  // namespace

Result<DeviceRequest> parse_device_request(std::string_view text) {
  text = trimmed(text, kSpace);
  if (text.starts_with(kProfile)) {
    return parse_profile(text);
  }
  DeviceRequest request;
  std::map<std::string_view, StageDevices> lists;  // by scope; "" is the list in front
  std::string_view scope;
  for (std::string_view item : items_of(text)) {
    const size_t equals = item.find('=');
    const bool scoped = equals != std::string_view::npos && !is_another_mynah(item);
    if (scoped) {
      scope = trimmed(item.substr(0, equals), kSpace);
      item = trimmed(item.substr(equals + 1), kSpace);
      MYNAH_TRY_STATUS(check_scope(scope));
    }
    const auto [list, is_new] = lists.try_emplace(scope);
    if (scoped && !is_new) {
      return fail(ErrorCode::Usage,
                  fmt::format("--device: wanted one list for {0}, found two in '{1}'; name its "
                              "devices in order behind one '{0}='",
                              scope, text));
    }
    MYNAH_TRY_STATUS(add_item(list->second, is_new, item, text, request.mynahs));
  }
  std::array<bool, kMostStages> named{};  // by number_of()
  for (const Stage stage : all_stages()) {
    for (const std::string_view key :
         {stage_name(stage), group_name(group_of(stage)), std::string_view()}) {
      if (const auto list = lists.find(key); list != lists.end()) {
        request.of(stage) = list->second;
        named[number_of(stage)] = true;
        break;
      }
    }
  }
  const std::vector<std::string> among = named_devices(request);
  for (const Stage stage : all_stages()) {
    if (!named[number_of(stage)]) {
      request.of(stage).devices = among;
    }
  }
  for (const Stage stage : all_stages()) {
    const bool own =
        lists.contains(stage_name(stage)) || lists.contains(group_name(group_of(stage)));
    MYNAH_TRY_STATUS(settle_mynahs(request, stage, own, text));
  }
  for (StageDevices& list : request.stages) {
    const bool ordered = std::ranges::any_of(request.mynahs, [&](const AnotherMynah& mynah) {
      return mynah.prefer && std::ranges::find(list.devices, mynah.name) != list.devices.end();
    });
    list.fastest = list.beside == 1 && list.devices.size() > 1 && has_mynah(list) && !ordered;
    list.automatic = list.automatic || list.fastest;
  }
  MYNAH_TRY_STATUS(check_beside(request, text));
  return request;
}

std::string describe(const DeviceRequest& request) {
  if (!request.profile.empty()) {
    return fmt::format("{}{}", kProfile, request.profile);
  }
  const auto same = [&request](std::span<const Stage> stages) {
    return std::ranges::all_of(
        stages, [&](Stage stage) { return request.of(stage) == request.of(stages.front()); });
  };
  if (same(all_stages())) {
    return list_text(request.of(all_stages().front()));
  }
  std::vector<std::string> parts;
  const auto add = [&](std::string_view scope, const StageDevices& list) {
    if (!is_unnamed(list)) {
      parts.push_back(fmt::format("{}={}", scope, list_text(list)));
    }
  };
  for (const StageGroup group : all_groups()) {
    const std::span<const Stage> stages = stages_of(group);
    if (same(stages)) {
      add(group_name(group), request.of(stages.front()));
      continue;
    }
    for (const Stage stage : stages) {
      add(stage_name(stage), request.of(stage));
    }
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace mynah::place
