// CUDA_VISIBLE_DEVICES, read as the driver reads it: not to choose a card, which the driver does,
// but to say why one is not there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::gpu {

// What the variable shows.
struct VisibleDevices {
  bool all = true;                 // it is not set: every card
  std::vector<std::string> shown;  // else the entries that count, in order: "2", "GPU-8932f937"
  // What it hides and why, in a clause that names variable and value; empty where it hides nothing
  // that is known of.
  std::string explanation;

  [[nodiscard]] bool none() const { return !all && shown.empty(); }

  // What shows the others, as an imperative about the variable; empty where the explanation is.
  [[nodiscard]] std::string remedy() const;
};

// The cards that the variable chooses from, as far as they are known without the driver.
struct KnownCards {
  std::optional<size_t> count;
  std::vector<std::string> uuids;  // "GPU-..."; empty: not known
};

// NVIDIA's CUDA Programming Guide, "CUDA Environment Variables": indices or (beginnings of) UUIDs,
// separated by commas; from the first that is not valid on, all is hidden; the empty text hides
// every card. What the guide leaves open is as PyTorch found it (torch/cuda,
// _parse_visible_devices): a number is read as far as it goes, the first entry tells the kind of
// all, and a card named twice hides every card.
[[nodiscard]] VisibleDevices read_visible_devices(std::optional<std::string_view> value,
                                                  const KnownCards& cards);

}  // namespace mynah::gpu
