#include "models/llama/metadata.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace mynah::llama {
Metadata::Metadata(const TensorFile& file, std::string_view architecture)
    : file_(file), prefix_(fmt::format("{}.", architecture)) {}

const MetadataValue* Metadata::find(std::string_view name) const {
  const auto found = file_.metadata.find(key(name));
  return found == file_.metadata.end() ? nullptr : &found->second;
}

Result<int64_t> Metadata::integer(std::string_view name, int64_t low, int64_t high,
                                  std::optional<int64_t> otherwise) const {
  MYNAH_TRY(const std::vector<int64_t> all, integers(name, 0, low, high, otherwise));
  if (std::ranges::any_of(all, [&](int64_t other) { return other != all.front(); })) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{}: mynah does not run models whose layers differ in it", key(name)));
  }
  return all.front();
}

Result<std::vector<int64_t>> Metadata::integers(std::string_view name, int64_t layers, int64_t low,
                                                int64_t high,
                                                std::optional<int64_t> otherwise) const {
  const MetadataValue* const value = find(name);
  const auto count = static_cast<size_t>(std::max<int64_t>(1, layers));
  std::vector<int64_t> found;
  if (value == nullptr) {
    if (!otherwise) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted {} in the file's metadata, found none", key(name)));
    }
    found.assign(count, *otherwise);
  } else if (const auto* one = std::get_if<int64_t>(value)) {
    found.assign(count, *one);
  } else if (const auto* list = std::get_if<std::vector<int64_t>>(value);
             list != nullptr && !list->empty()) {
    if (layers > 0 && list->size() != count) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted a value for each of {} layers, found {}", key(name),
                              layers, list->size()));
    }
    found = *list;
  } else {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a whole number, found something else", key(name)));
  }
  for (const int64_t number : found) {
    if (number < low || number > high) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted {} to {}, found {}", key(name), low, high, number));
    }
  }
  return found;
}

Result<double> Metadata::number(std::string_view name, double low, double high,
                                double otherwise) const {
  const MetadataValue* const value = find(name);
  if (value == nullptr) {
    return otherwise;
  }
  const auto* const real = std::get_if<double>(value);
  const auto* const whole = std::get_if<int64_t>(value);
  const double found = real != nullptr    ? *real
                       : whole != nullptr ? static_cast<double>(*whole)
                                          : std::numeric_limits<double>::quiet_NaN();
  if (!(found >= low && found <= high)) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: wanted a number from {} to {}, found {}",
                                                     key(name), low, high, found));
  }
  return found;
}

Result<bool> Metadata::flag(std::string_view name, bool otherwise) const {
  const MetadataValue* const value = find(name);
  if (value == nullptr) {
    return otherwise;
  }
  const auto* const found = std::get_if<bool>(value);
  if (found == nullptr) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted true or false, found something else", key(name)));
  }
  return *found;
}

Result<std::string> Metadata::text(std::string_view name, std::string otherwise) const {
  const MetadataValue* const value = find(name);
  if (value == nullptr) {
    return otherwise;
  }
  const auto* const found = std::get_if<std::string>(value);
  if (found == nullptr) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a text, found something else", key(name)));
  }
  return *found;
}

}  // namespace mynah::llama
