// What goes wrong on purpose, as far as that harms nobody: each must be told in words, and the
// device must work afterwards.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "check.h"
#include "gpu/devices.h"
#include "ops/ops.h"
#include "tensor/device_error.h"

namespace mynah::gpucheck {

namespace {

void say_fault(const char* name, bool right, const std::string& told) {
  say({{"row", "fault"}, {"name", name}, {"right", right}, {"told", told}});
}

// Whether the device still adds two and two.
bool works(Backend& backend) {
  const std::vector<float> two{2.0F, 2.0F};
  const Tensor x = ops::from_host(backend, std::span<const float>(two), {1, 2});
  return ops::to_host(backend, ops::add(backend, x, x)) == std::vector<float>{4.0F, 4.0F};
}

void too_much_memory(const Subject& subject) {
  // Four times what the card has; of a simulated one more than any machine.
  const uint64_t bytes = subject.card ? 4 * subject.card->memory_bytes : uint64_t{1} << 46;
  try {
    (void)subject.backend->allocate(bytes);
    say_fault("more memory than there is", false, "it was given");
  } catch (const DeviceError& error) {
    say_fault("more memory than there is",
              error.error().code == ErrorCode::OutOfMemory && works(*subject.backend),
              error.error().message);
  }
}

// Every kept program overwritten: they are compiled anew.
void damaged_images(const Options& options) {
  namespace fs = std::filesystem;
  int damaged = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(options.images, ignored)) {
    if (entry.is_regular_file()) {
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
      file << "damaged";
      ++damaged;
    }
  }
  const auto subject = open_subject(options);
  say_fault("damaged images of programs", subject && works(*subject->backend),
            fmt::format("{} files damaged", damaged));
}

void no_such_device(Options options) {
  options.device = "cuda:99";
  const auto subject = open_subject(options);
  say_fault("a device that is not there", !subject,
            subject ? "it was opened" : subject.error().message);
}

// The driver reads the variable once, when it is initialised: this process must not have done so.
void hidden_devices(const Options& options) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const auto subject = open_subject(options);
  say_fault("every device hidden", !subject, subject ? "it was opened" : subject.error().message);
}

}  // namespace

Status check_faults(const Options& options) {
  MYNAH_TRY(const Subject subject, open_subject(options));
  too_much_memory(subject);
  if (subject.card) {
    damaged_images(options);
    no_such_device(options);
  }
  return {};
}

Status check_hidden(const Options& options) {
  if (options.device.starts_with("cuda")) {
    hidden_devices(options);
  }
  return {};
}

}  // namespace mynah::gpucheck
