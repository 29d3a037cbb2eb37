// A processor behind a fake driver, and a kernel that copies bytes, which the fake does.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cuda/driver/driver_processor.h"
#include "gpu/fake_driver/loaded_fake.h"

namespace mynah::cuda {

inline Result<std::unique_ptr<Processor>> open(const gpu::fake::LoadedFake& fake,
                                               const std::string& images = "") {
  const auto driver = fake.driver();
  MYNAH_TRY(const auto cards, gpu::list_devices(*driver));
  return open_driver_processor(driver, cards.front(), {.image_folder = images});
}

inline std::unique_ptr<Processor> opened(const gpu::fake::LoadedFake& fake,
                                         const std::string& images = "") {
  auto processor = open(fake, images);
  EXPECT_TRUE(processor.has_value()) << processor.error().message;
  return std::move(*processor);
}

inline std::vector<std::string> functions(const gpu::fake::LoadedFake& fake) {
  std::vector<std::string> names;
  for (const gpu::fake::FakeCall& call : fake->calls()) {
    names.push_back(call.function);
  }
  return names;
}

inline simt::CopyArgs copy_of(const std::byte* x, std::byte* out, int64_t bytes) {
  simt::CopyArgs args{};
  args.x = x;
  args.out = out;
  args.elements = bytes;
  std::ranges::fill(args.shape, 1);
  args.shape[simt::kCopyRank - 1] = bytes;
  args.x_strides[simt::kCopyRank - 1] = 1;
  args.out_strides[simt::kCopyRank - 1] = 1;
  return args;
}

// Of arguments that stay.
inline Launch launch_of(const simt::CopyArgs& args) {
  return {.kernel = KernelId::copy_1,
          .grid = {.x = (args.elements + 255) / 256},
          .threads = 256,
          .args = &args,
          .args_bytes = sizeof(args)};
}

// What the kernel does, for the fake to do.
inline void run_copy(const gpu::fake::FakeLaunch& launch) {
  const auto args = launch.parameter<simt::CopyArgs>(0);
  std::memcpy(args.out, args.x, static_cast<size_t>(args.elements));
}

class Memory {
 public:
  Memory(Processor& processor, size_t bytes)
      : processor_(processor), data_(processor.allocate(bytes)) {}

  ~Memory() { processor_.free(data_); }

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] std::byte* get() const { return data_; }

 private:
  Processor& processor_;
  std::byte* data_;
};

// Bytes to the card, copied there by a kernel, and back.
inline std::vector<std::byte> round_trip(Processor& processor,
                                         const std::vector<std::byte>& bytes) {
  const Memory x(processor, bytes.size());
  const Memory out(processor, bytes.size());
  std::vector<std::byte> back(bytes.size());
  processor.upload(bytes.data(), x.get(), bytes.size());
  const simt::CopyArgs args = copy_of(x.get(), out.get(), static_cast<int64_t>(bytes.size()));
  processor.launch(launch_of(args));
  processor.download(out.get(), back.data(), back.size());
  return back;
}

inline std::vector<std::byte> numbered(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 31 + i / 256);
  }
  return bytes;
}

}  // namespace mynah::cuda
