#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "check.h"

namespace mynah::gpucheck {

void say(const Json& row) {
  fmt::print("{}\n", row.dump());
  std::fflush(stdout);
}

Result<Subject> open_subject(const Options& options, int level) {
  Subject subject;
  subject.pool = std::make_unique<ThreadPool>(
      static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  MYNAH_TRY(subject.cpu, make_cpu_backend(*subject.pool));
  if (options.device == "cpu") {
    MYNAH_TRY(subject.backend, make_cpu_backend(*subject.pool));
    return subject;
  }
  if (options.device == "simt:0") {
    subject.backend = make_simt_backend(*subject.pool, {.level = level, .check_shared = false});
    return subject;
  }
  const size_t colon = options.device.find(':');
  const int index = colon == std::string::npos ? 0 : std::atoi(options.device.c_str() + colon + 1);
  gpu::GpuSearch search;
  if (const char* file = std::getenv("MYNAH_CUDA_DRIVER")) {
    search.driver.file = file;
  }
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    search.visible_devices = visible;
  }
  MYNAH_TRY(subject.gpus, gpu::find_gpus(search));
  const auto card = std::ranges::find(subject.gpus->devices, index, &gpu::GpuDevice::index);
  if (card == subject.gpus->devices.end()) {
    return fail(ErrorCode::Device, fmt::format("there is no cuda:{}, only {} device{}", index,
                                               subject.gpus->devices.size(),
                                               subject.gpus->devices.size() == 1 ? "" : "s"));
  }
  subject.card = *card;
  MYNAH_TRY(subject.backend, make_cuda_backend(subject.gpus->driver, *card,
                                               {.image_folder = options.images, .level = level}));
  return subject;
}

double seconds_of(Backend& backend, bool quick, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto round = [&](int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) {
      work();
    }
    backend.synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count() / calls;
  };
  if (quick) {
    return round(1);
  }
  constexpr int kRounds = 9;
  constexpr double kRound = 0.02;  // seconds: a thousand times what the clock and a wait take
  constexpr int kMostCalls = 500;
  round(2);
  const int calls = std::clamp(static_cast<int>(kRound / std::max(round(1), 1e-6)), 1, kMostCalls);
  std::vector<double> seconds;
  seconds.reserve(kRounds);
  for (int i = 0; i < kRounds; ++i) {
    seconds.push_back(round(calls));
  }
  std::ranges::sort(seconds);
  return seconds[kRounds / 2];
}

std::span<const Section> sections() {
  static constexpr Section kSections[] = {
      {"facts", "the driver and the card", 60, check_facts},
      {"first use", "compiling for this card: opening, loading and hearing a clip", 90,
       check_first_use},
      {"later use", "the same with the compiled programs kept", 60, check_first_use},
      {"clips", "real clips, real weights (tiny.en)", 90, check_clips},
      {"ceiling", "memory's speed", 60, check_ceiling},
      {"peer", "what PyTorch reaches here, where it is installed", 90, check_peer},
      {"products", "matrix products at the sizes of models", 120, check_products},
      {"products without warpgroups", "the same at level 80, where the card is Hopper's", 90,
       check_without_warpgroups},
      {"models", "whole models with weights from a seed", 240, check_models},
      {"operations", "every operation at the sizes of models", 150, check_operations},
      {"table", "every case of the operation table against the reference", 240, check_table},
      {"faults", "what goes wrong, as far as that is safe", 60, check_faults},
      {"hidden", "every card hidden from the driver", 30, check_hidden},
  };
  return kSections;
}

}  // namespace mynah::gpucheck
