// A fake NVML for one test: opened as mynah opens NVIDIA's, set up through FakeNvml, and shut down
// as often as it was started.
#pragma once

#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "gpu/fake_nvml/fake_nvml.h"
#include "gpu/nvml.h"

namespace mynah::gpu::fake {

class LoadedNvml {
 public:
  // `age`: "new", or "old" for one that lacks what is not needed.
  explicit LoadedNvml(const std::string& age = "new")
      : path_(std::string(MYNAH_FAKE_NVML_FOLDER) + "/libfakenvml_" + age + ".so") {
    void* const library = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw std::runtime_error(::dlerror());
    }
    fake_ = reinterpret_cast<decltype(&mynah_fake_nvml)>(::dlsym(library, "mynah_fake_nvml"))();
    fake_->reset();
  }

  LoadedNvml(const LoadedNvml&) = delete;
  LoadedNvml& operator=(const LoadedNvml&) = delete;

  ~LoadedNvml() {
    EXPECT_EQ(fake_->initialised, 0) << "NVML was not shut down";
    fake_->reset();
  }

  FakeNvml* operator->() const { return fake_; }

  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] NvmlSearch search() const { return {.file = path_, .places = {}}; }

 private:
  std::string path_;
  FakeNvml* fake_ = nullptr;
};

}  // namespace mynah::gpu::fake
