#include "server/compat/model_details.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "formats/open.h"

namespace mynah::server {

ModelDetails details_of(const TensorFile& file) {
  ModelDetails details;
  // Of GGUF files, and of folders of transformers.
  for (const char* const key : {"model_type", "general.architecture"}) {
    const auto found = file.metadata.find(key);
    const auto* const text =
        found == file.metadata.end() ? nullptr : std::get_if<std::string>(&found->second);
    details.architecture = text == nullptr ? details.architecture : *text;
  }
  std::map<DType, size_t> bytes;
  for (const StoredTensor& tensor : file.tensors) {
    details.parameters += tensor.shape.elements();
    bytes[tensor.dtype] += tensor.bytes.size();
  }
  const auto most = std::ranges::max_element(bytes, {}, &std::pair<const DType, size_t>::second);
  details.storage = most == bytes.end() ? "" : name(most->first);
  return details;
}

std::string parameters_text(int64_t parameters) {
  constexpr double kMillion = 1e6;
  constexpr double kBillion = 1e9;
  const auto count = static_cast<double>(parameters);
  return parameters == 0     ? ""
         : count >= kBillion ? fmt::format("{:.1f}B", count / kBillion)
                             : fmt::format("{:.2f}M", count / kMillion);
}

ModelDetails KnownDetails::of(const std::string& path, const std::string& changed) {
  const auto key = std::make_pair(path, changed);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) {
      return known->second;
    }
  }
  const auto file = open_tensor_file(path);
  ModelDetails details = file ? details_of(*file) : ModelDetails();
  const std::lock_guard lock(mutex_);
  known_.emplace(key, details);
  return details;
}

}  // namespace mynah::server
