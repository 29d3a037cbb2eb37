// SimulatedCard: a fake driver whose kernels compute. What mynah tells the driver to launch, the
// simulation runs, when the driver comes to it: the whole way to a card and back, without one.
#pragma once

#include <memory>
#include <string>

#include "backend/cuda/simt/simulator.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "gpu/fake_driver/loaded_fake.h"
#include "tensor/backend.h"

namespace mynah::test {

class SimulatedCard {
 public:
  // `version` of the driver: 11000, 11020, 12000 or 13000. Kernels are run at the level of the
  // machine's first card.
  explicit SimulatedCard(int version = 13000, const gpu::fake::FakeMachine& machine = {});
  SimulatedCard(const SimulatedCard&) = delete;
  SimulatedCard& operator=(const SimulatedCard&) = delete;
  ~SimulatedCard();

  // cuda:INDEX, as mynah opens it.
  Result<std::unique_ptr<Backend>> open(int index = 0, const std::string& images = "",
                                        int level = 0);

  // Whether kernels can be run at this level: a sanitizer's build has a few.
  static bool has_level(int level);

  // From now on kernels are run at this level: that of another card of the machine,
  // or that which a card is opened at.
  void run_at(int level);

  gpu::fake::LoadedFake& fake() { return fake_; }

 private:
  ThreadPool pool_{2};
  simt::Simulator simulator_;
  gpu::fake::LoadedFake fake_;
};

}  // namespace mynah::test
