#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/json.h"
#include "place/plans/profile.h"
#include "place/terms/device_name.h"
#include "place/terms/plain_text.h"
#include "store/sha256.h"

namespace mynah::place {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr int kFormat = 1;  // of the file; another is measured anew
constexpr size_t kLongestText = 500;
constexpr int kLargestBatch = 4096;
// Of devices, and of measurements: far above any machine's.
constexpr size_t kMostItems = 1000;

// Takes fields out of an object; the first that is not what it should be is kept in words.
class FieldReader {
 public:
  FieldReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  std::string text(const char* key, bool may_be_empty = false) {
    const Json* found = find(key);
    if (found != nullptr && found->is_string()) {
      const auto& value = found->get_ref<const std::string&>();
      if (is_plain(value, kLongestText) && (may_be_empty || !value.empty())) {
        return value;
      }
    }
    complain(key, fmt::format("a text of {}at most {} letters", may_be_empty ? "" : "one and ",
                              kLongestText));
    return {};
  }

  double number(const char* key) {
    const Json* found = find(key);
    if (found != nullptr && found->is_number()) {
      const auto value = found->get<double>();
      if (std::isfinite(value) && value >= 0) {
        return value;
      }
    }
    complain(key, "a number that is not negative");
    return 0;
  }

  uint64_t size(const char* key) {
    const Json* found = find(key);
    if (found != nullptr && found->is_number_unsigned()) {
      return found->get<uint64_t>();
    }
    complain(key, "a number of bytes");
    return 0;
  }

  // 1 to `most`.
  int count(const char* key, int most) {
    const Json* found = find(key);
    if (found != nullptr && found->is_number_unsigned()) {
      const auto value = found->get<uint64_t>();
      if (value >= 1 && value <= static_cast<uint64_t>(most)) {
        return static_cast<int>(value);
      }
    }
    complain(key, fmt::format("1 to {}", most));
    return 1;
  }

  // null is none.
  std::optional<DType> storage(const char* key) {
    const Json* found = find(key);
    if (found != nullptr && found->is_null()) {
      return std::nullopt;
    }
    const auto type = found != nullptr && found->is_string()
                          ? parse_dtype(found->get_ref<const std::string&>())
                          : std::nullopt;
    if (!type) {
      complain(key, "a storage type, or null");
    }
    return type;
  }

  // The array's items; none where it is no array.
  std::vector<Json> items(const char* key) {
    const Json* found = find(key);
    if (found == nullptr || !found->is_array() || found->size() > kMostItems) {
      complain(key, fmt::format("a list of at most {}", kMostItems));
      return {};
    }
    return found->get<std::vector<Json>>();
  }

  [[nodiscard]] const Json* find(const char* key) const {
    const auto found = object_.is_object() ? object_.find(key) : object_.end();
    return found == object_.end() ? nullptr : &*found;
  }

  void complain(const char* key, std::string_view wanted) {
    if (complaint_.empty()) {
      complaint_ = fmt::format("{}{}: wanted {}", where_, key, wanted);
    }
  }

  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  const Json& object_;
  std::string where_;
  std::string complaint_;
};

Status as_status(const std::string& complaint) {
  return complaint.empty() ? Status() : fail(ErrorCode::InvalidInput, complaint);
}

// One device by its full name.
bool is_device(const std::string& device) {
  return device != "auto" && full_device_name(device) == device && check_device(device);
}

Result<DeviceIdentity> read_identity(const Json& json, std::string where) {
  FieldReader fields(json, std::move(where));
  DeviceIdentity identity{.device = fields.text("device"),
                          .name = fields.text("name"),
                          .driver = fields.text("driver", true),
                          .uuid = fields.text("uuid", true)};
  if (!is_device(identity.device)) {
    fields.complain("device", "cpu, cuda:N or another device's name");
  }
  MYNAH_TRY_STATUS(as_status(fields.complaint()));
  return identity;
}

// Of what was chosen `chosen` is true: it passed, and the file says no more about that.
Result<Measurement> read_measurement(const Json& json, std::string where, bool chosen) {
  FieldReader fields(json, std::move(where));
  const auto stage = find_stage(fields.text("stage"));
  if (!stage) {
    fields.complain("stage", "a stage's name, such as stt.encoder");
  }
  Measurement measurement{.stage = stage.value_or(Stage()),
                          .device = fields.text("device"),
                          .storage = fields.storage("storage"),
                          .passed = chosen,
                          .failure = {},
                          .ms_per_unit = fields.number("ms_per_second"),
                          .longest_step_ms = fields.number("longest_step_ms"),
                          .bytes = fields.size("bytes"),
                          .window_bytes = fields.size("window_bytes"),
                          .worst_error = fields.number("worst_error"),
                          .error_bound = fields.number("error_bound")};
  if (!is_device(measurement.device)) {
    fields.complain("device", "cpu, cuda:N or another device's name");
  }
  if (!chosen) {
    measurement.failure = fields.text("failure", true);
    measurement.passed = measurement.failure.empty();
  }
  MYNAH_TRY_STATUS(as_status(fields.complaint()));
  return measurement;
}

Status check_stages(const Profile& profile) {
  if (profile.stages.empty()) {
    return fail(ErrorCode::InvalidInput, "stages: wanted one at least, found none");
  }
  for (size_t i = 0; i < profile.stages.size(); ++i) {
    const Measurement& stage = profile.stages[i];
    if (i > 0 && stage.stage <= profile.stages[i - 1].stage) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("stages: wanted each once and in order, found {} behind {}",
                              stage_name(stage.stage), stage_name(profile.stages[i - 1].stage)));
    }
    if (std::ranges::count(profile.devices, stage.device, &DeviceIdentity::device) != 1) {
      return fail(ErrorCode::InvalidInput, fmt::format("devices: wanted {}, on which {} is, once",
                                                       stage.device, stage_name(stage.stage)));
    }
  }
  return {};
}

Result<Profile> read_profile(const Json& json) {
  FieldReader fields(json, "");
  const Json* format = fields.find("format");
  if (format == nullptr || *format != kFormat) {
    return fail(ErrorCode::Unsupported,
                fmt::format("format: wanted {}; `mynah tune` measures anew", kFormat));
  }
  const Json* model = fields.find("model");
  const Json nothing;
  FieldReader of_model(model == nullptr ? nothing : *model, "model.");
  Profile profile;
  profile.model = of_model.text("name");
  profile.model_sha256 = of_model.text("sha256");
  if (!is_sha256(profile.model_sha256)) {
    of_model.complain("sha256", "64 hexadecimal digits");
  }
  MYNAH_TRY_STATUS(as_status(of_model.complaint()));
  profile.created = fields.text("created");
  profile.build = fields.text("build");
  profile.batch = fields.count("batch", kLargestBatch);
  if (fields.find("waited_share") != nullptr) {  // files of earlier versions have none
    profile.waited_share = fields.number("waited_share");
  }
  const std::vector<Json> devices = fields.items("devices");
  const std::vector<Json> stages = fields.items("stages");
  const std::vector<Json> others = fields.items("others");
  MYNAH_TRY_STATUS(as_status(fields.complaint()));
  for (size_t i = 0; i < devices.size(); ++i) {
    MYNAH_TRY(auto identity, read_identity(devices[i], fmt::format("devices[{}].", i)));
    profile.devices.push_back(std::move(identity));
  }
  for (size_t i = 0; i < stages.size(); ++i) {
    MYNAH_TRY(auto stage, read_measurement(stages[i], fmt::format("stages[{}].", i), true));
    profile.stages.push_back(std::move(stage));
  }
  for (size_t i = 0; i < others.size(); ++i) {
    MYNAH_TRY(auto other, read_measurement(others[i], fmt::format("others[{}].", i), false));
    profile.others.push_back(std::move(other));
  }
  MYNAH_TRY_STATUS(check_stages(profile));
  return profile;
}

OrderedJson measurement_json(const Measurement& measurement) {
  return {
      {"stage", stage_name(measurement.stage)},
      {"device", measurement.device},
      {"storage", measurement.storage ? OrderedJson(name(*measurement.storage)) : OrderedJson()},
      {"ms_per_second", measurement.ms_per_unit},
      {"longest_step_ms", measurement.longest_step_ms},
      {"bytes", measurement.bytes},
      {"window_bytes", measurement.window_bytes},
      {"worst_error", measurement.worst_error},
      {"error_bound", measurement.error_bound}};
}

}  // namespace

Result<Profile> parse_profile(std::string_view text, std::string_view name, std::string_view file) {
  MYNAH_TRY(const Json json, parse_json(text, file));
  auto profile = read_profile(json);
  if (!profile) {
    return std::unexpected(std::move(profile).error().while_doing(file));
  }
  profile->name = name;
  return profile;
}

OrderedJson to_json(const Profile& profile) {
  OrderedJson devices = OrderedJson::array();
  for (const DeviceIdentity& device : profile.devices) {
    devices.push_back({{"device", device.device},
                       {"name", device.name},
                       {"driver", device.driver},
                       {"uuid", device.uuid}});
  }
  OrderedJson stages = OrderedJson::array();
  for (const Measurement& stage : profile.stages) {
    stages.push_back(measurement_json(stage));
  }
  OrderedJson others = OrderedJson::array();
  for (const Measurement& other : profile.others) {
    others.push_back(measurement_json(other));
    // Whatever a driver said; without a word it would be read as passed.
    const std::string failure = other.failure.empty() ? "it failed" : other.failure;
    others.back()["failure"] = other.passed ? std::string() : made_plain(failure, kLongestText);
  }
  return {{"format", kFormat},
          {"model", {{"name", profile.model}, {"sha256", profile.model_sha256}}},
          {"created", profile.created},
          {"build", profile.build},
          {"batch", profile.batch},
          {"waited_share", profile.waited_share},
          {"devices", std::move(devices)},
          {"stages", std::move(stages)},
          {"others", std::move(others)}};
}

}  // namespace mynah::place
