#include "base/nearest_name.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"

namespace mynah {

// Optimal string alignment distance: Wagner and Fischer's table with a row more for swaps.
size_t edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<size_t> before(width);
  std::vector<size_t> previous(width);
  std::vector<size_t> current(width);
  for (size_t j = 0; j < width; ++j) {
    previous[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j < width; ++j) {
      const size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

namespace {

// A slip of the shift key is none.
std::string folded(std::string_view name) {
  return ascii_lower(name);
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  const std::string wanted = folded(name);
  std::optional<std::string> best;
  size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const auto [shorter, longer] = std::minmax({name.size(), candidate.size()});
    const size_t allowed = std::max<size_t>(1, longer / 3);
    if (longer - shorter > allowed) {
      continue;  // so many edits it takes at least, and a table of the one by the other to see it
    }
    const size_t distance = edit_distance(wanted, folded(candidate));
    if (distance <= allowed && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (best || name.size() < 2) {
    return best;
  }
  auto found = std::ranges::find_if(candidates, [&](const std::string& candidate) {
    return folded(candidate).starts_with(wanted);
  });
  if (found == candidates.end() && name.size() > 2) {
    found = std::ranges::find_if(candidates, [&](const std::string& candidate) {
      return folded(candidate).contains(wanted);
    });
  }
  return found == candidates.end() ? std::nullopt : std::optional<std::string>(*found);
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  const std::optional<std::string> nearest = nearest_name(name, candidates);
  return nearest ? " (did you mean " + *nearest + "?)" : std::string();
}

}  // namespace mynah
