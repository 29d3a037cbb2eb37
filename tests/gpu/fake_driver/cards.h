// What a fake card answers about itself.
#pragma once

#include <string>

#include "fake_cuda.h"

namespace mynah::gpu::fake {

// What the test set, else what fits the card's compute capability; 0 for what the fake does not
// know.
[[nodiscard]] int device_attribute(const FakeCard& card, int attribute);

[[nodiscard]] CUuuid card_uuid(const FakeCard& card, int place);

// Of a slice its own, else the card's.
[[nodiscard]] CUuuid device_uuid(const FakeCard& card, int place);

[[nodiscard]] std::string card_pci_bus_id(const FakeCard& card, int place);

}  // namespace mynah::gpu::fake
