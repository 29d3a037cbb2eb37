#include "formats/json.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah {
namespace {

using Json = nlohmann::json;

// Walks a document before it is built, and stops at the first thing that may not be.
class Inspector : public nlohmann::json_sax<Json> {
 public:
  explicit Inspector(size_t size) : size_(size) {}

  [[nodiscard]] const std::string& complaint() const { return complaint_; }

  bool null() override { return true; }

  bool boolean(bool /*value*/) override { return true; }

  bool number_integer(number_integer_t /*value*/) override { return true; }

  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }

  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }

  bool string(string_t& /*value*/) override { return true; }

  bool binary(binary_t& /*value*/) override { return true; }

  bool start_object(std::size_t /*elements*/) override {
    keys_.emplace_back();
    return go_deeper();
  }

  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }

  bool key(string_t& key) override {
    if (!keys_.back().insert(key).second) {
      complaint_ = "key " + in_quotes(key) + " comes twice in one object";
      return false;
    }
    return true;
  }

  bool start_array(std::size_t /*elements*/) override { return go_deeper(); }

  bool end_array() override {
    --depth_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& last_token,
                   const Json::exception& /*error*/) override {
    complaint_ = position > size_ ? fmt::format("wanted JSON, found its end after {} bytes", size_)
                                  : fmt::format("wanted JSON, found {} at byte {}",
                                                in_quotes(last_token), position);
    return false;
  }

 private:
  bool go_deeper() {
    if (++depth_ > kMaxJsonDepth) {
      complaint_ = fmt::format("wanted at most {} levels of nesting, found more", kMaxJsonDepth);
      return false;
    }
    return true;
  }

  const size_t size_;  // of the text
  std::string complaint_;
  std::vector<std::unordered_set<std::string>> keys_;
  int depth_ = 0;
};

bool fits_int64(const Json& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() ||
          value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
}

bool is_integer_array(const Json& value) {
  return value.is_array() && std::ranges::all_of(value, fits_int64);
}

std::optional<MetadataValue> array_metadata(const Json& array) {
  if (is_integer_array(array)) {
    return array.get<std::vector<int64_t>>();
  }
  if (std::ranges::all_of(array, [](const Json& v) { return v.is_number(); })) {
    return array.get<std::vector<double>>();
  }
  if (std::ranges::all_of(array, [](const Json& v) { return v.is_string(); })) {
    return array.get<std::vector<std::string>>();
  }
  if (std::ranges::all_of(array, is_integer_array)) {
    std::vector<int64_t> flat;
    for (const Json& row : array) {
      for (const Json& value : row) {
        flat.push_back(value.get<int64_t>());
      }
    }
    return flat;
  }
  return array.dump();
}

std::optional<MetadataValue> scalar_metadata(const Json& value) {
  if (value.is_boolean()) {
    return value.get<bool>();
  }
  if (fits_int64(value)) {
    return value.get<int64_t>();
  }
  if (value.is_number()) {
    return value.get<double>();
  }
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_array()) {
    return array_metadata(value);
  }
  return std::nullopt;
}

template <class Kind>
Result<Kind> parse_as(std::string_view text, std::string_view file) {
  Inspector inspector(text.size());
  if (!Json::sax_parse(text, &inspector)) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: {}", file, inspector.complaint()));
  }
  return Kind::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view file) {
  return parse_as<Json>(text, file);
}

Result<nlohmann::ordered_json> parse_ordered_json(std::string_view text, std::string_view file) {
  return parse_as<nlohmann::ordered_json>(text, file);
}

void add_json_metadata(const Json& value, const std::string& prefix,
                       std::map<std::string, MetadataValue, std::less<>>& metadata) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      add_json_metadata(child, prefix.empty() ? key : fmt::format("{}.{}", prefix, key), metadata);
    }
  } else if (auto scalar = scalar_metadata(value)) {
    metadata.emplace(prefix, std::move(*scalar));
  }
}

}  // namespace mynah
