// A fake driver for one test: opened as mynah opens NVIDIA's, set up through FakeCuda, and at its
// end without problems or leaks that the test did not take.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "gpu/driver_library.h"
#include "gpu/fake_driver/fake_cuda.h"

namespace mynah::gpu::fake {

// The file of a fake driver: "11000", "11020", "12000", "13000", "stub", "partial".
inline std::string fake_library(const std::string& kind) {
  return std::string(MYNAH_FAKE_CUDA_FOLDER) + "/libfakecuda_" + kind + ".so";
}

class LoadedFake {
 public:
  // `version`: 11000, 11020, 12000 or 13000.
  explicit LoadedFake(int version = 13000, const FakeMachine& machine = {})
      : path_(fake_library(std::to_string(version))) {
    // Never closed: a thread may have a context of it.
    void* const library = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw std::runtime_error(::dlerror());
    }
    fake_ = reinterpret_cast<decltype(&mynah_fake_cuda)>(::dlsym(library, "mynah_fake_cuda"))();
    fake_->reset(machine);
  }

  LoadedFake(const LoadedFake&) = delete;
  LoadedFake& operator=(const LoadedFake&) = delete;

  ~LoadedFake() {
    for (const std::string& problem : fake_->take_problems()) {
      ADD_FAILURE() << "misuse of the driver: " << problem;
    }
    for (const std::string& leak : fake_->leaks()) {
      ADD_FAILURE() << "leak: " << leak;
    }
    // What a failing test leaves must not be the next one's.
    fake_->reset({});
  }

  FakeCuda* operator->() const { return fake_; }

  [[nodiscard]] const std::string& path() const { return path_; }

  // For the code under test that opens its driver itself.
  [[nodiscard]] DriverSearch search() const { return {.file = path_, .places = {}}; }

  [[nodiscard]] std::shared_ptr<const Driver> driver() const {
    auto opened = Driver::open(search());
    if (!opened) {
      throw std::runtime_error(opened.error().error.message);
    }
    return *opened;
  }

 private:
  std::string path_;
  FakeCuda* fake_ = nullptr;
};

}  // namespace mynah::gpu::fake
