// The check of a real card, cut into sections: each runs in a process of its own, so that one that
// crashes or hangs takes nothing with it, and says what it found a line at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "base/thread_pool.h"
#include "gpu/devices.h"
#include "tensor/backend.h"

namespace mynah::gpucheck {

using Json = nlohmann::ordered_json;

struct Options {
  std::string device = "cuda";  // cuda, cuda:N, or to try the check: simt:0, cpu
  std::string data;    // folder of the model and clips (tools/make_gpu_bundle.py); empty: none
  std::string images;  // folder for compiled programs
  bool quick = false;  // small sizes, once each: tries the check itself
};

// What a section finds: a JSON object a line on standard output, as soon as it is known. Each has
// a "row", its kind.
void say(const Json& row);

// The device under check and the processor that it is compared with.
struct Subject {
  std::unique_ptr<ThreadPool> pool;
  std::optional<gpu::Gpus> gpus;       // none: simulated
  std::optional<gpu::GpuDevice> card;  // none: simulated
  std::unique_ptr<Backend> backend;    // of the device
  std::unique_ptr<Backend> cpu;        // of this machine's processor
};

// Refuses a device that is not there, with the reason. `level`: of programs; 0: what mynah takes.
Result<Subject> open_subject(const Options& options, int level = 0);

// Median seconds of one call, of several rounds of as many calls as the clock can tell apart, each
// round waited for.
double seconds_of(Backend& backend, bool quick, const std::function<void()>& work);

struct Section {
  const char* name;
  const char* what;  // for people
  int limit_s;       // after which it is stopped
  Status (*run)(const Options& options);
};

// In the order that they run: what matters most first.
std::span<const Section> sections();

Status check_facts(const Options& options);
Status check_first_use(const Options& options);
Status check_ceiling(const Options& options);
Status check_peer(const Options& options);
Status check_clips(const Options& options);
Status check_operations(const Options& options);
Status check_products(const Options& options);
Status check_without_warpgroups(const Options& options);
Status check_models(const Options& options);
Status check_table(const Options& options);
Status check_faults(const Options& options);
Status check_hidden(const Options& options);

}  // namespace mynah::gpucheck
