#include "cli/files/passed_over.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mynah::cli {

namespace {

// Kinds that a line names; the rest are counted together.
constexpr size_t kMostNamed = 8;

// The most frequent first.
std::vector<std::pair<std::string, size_t>> by_count(const PassedOver& passed_over) {
  std::vector<std::pair<std::string, size_t>> kinds(passed_over.files.begin(),
                                                    passed_over.files.end());
  std::ranges::stable_sort(kinds, std::ranges::greater(), &std::pair<std::string, size_t>::second);
  return kinds;
}

}  // namespace

std::string told_passed_over(const PassedOver& passed_over) {
  std::vector<std::string> parts;
  size_t others = 0;
  for (const auto& [extension, count] : by_count(passed_over)) {
    if (parts.size() == kMostNamed) {
      others += count;
    } else {
      parts.push_back(
          fmt::format("{} {}", count, extension.empty() ? "without an extension" : extension));
    }
  }
  if (others > 0) {
    parts.push_back(fmt::format("{} others", others));
  }
  std::string text = passed_over.folder + ": passed over";
  if (!parts.empty()) {
    text += fmt::format(" as no recordings: {}", fmt::join(parts, ", "));
  }
  if (passed_over.linked_folders > 0) {
    text += fmt::format("{}{} link{} to folders", parts.empty() ? ": " : "; ",
                        passed_over.linked_folders, passed_over.linked_folders == 1 ? "" : "s");
  }
  return text;
}

void tell_passed_over(Context& context, std::span<const PassedOver> passed_over, bool quiet) {
  for (const PassedOver& folder : passed_over) {
    if (!quiet) {
      context.say(told_passed_over(folder));
    }
    if (!context.json) {
      continue;
    }
    size_t count = 0;
    nlohmann::ordered_json extensions = nlohmann::ordered_json::object();
    for (const auto& [extension, files] : by_count(folder)) {
      extensions[extension] = files;
      count += files;
    }
    const nlohmann::ordered_json object = {{"file", folder.folder},
                                           {"passed_over",
                                            {{"count", count},
                                             {"extensions", std::move(extensions)},
                                             {"linked_folders", folder.linked_folders}}}};
    context.out.line(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
}

}  // namespace mynah::cli
