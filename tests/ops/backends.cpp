#include "ops/backends.h"

#include "base/check.h"
#ifdef MYNAH_HAS_BACKEND_CPU
#include "backend/cpu/cpu_backend.h"
#endif
#ifdef MYNAH_HAS_BACKEND_CUDA
#include "backend/cuda/cuda_backend.h"
#endif

namespace mynah::cases {

std::vector<std::string> backends_under_test() {
  std::vector<std::string> names;
#ifdef MYNAH_HAS_BACKEND_CPU
  for (const std::string& isa : cpu_instruction_sets()) {
    names.push_back("cpu/" + isa);
  }
#endif
// Under a sanitizer the simulation takes ten times as long, and looks at every access itself.
#if defined(MYNAH_HAS_BACKEND_CUDA) && !defined(MYNAH_ADDRESS_SANITIZER)
  for (const int level : simt_levels()) {
    names.push_back("simt/sm_" + std::to_string(level));
  }
#endif
  return names;
}

std::unique_ptr<Backend> make_backend(const std::string& name, ThreadPool& pool) {
  const std::string kind = name.substr(name.find('/') + 1);
#ifdef MYNAH_HAS_BACKEND_CPU
  if (name.starts_with("cpu/")) {
    auto backend = make_cpu_backend(pool, kind);
    MYNAH_CHECK(backend.has_value(), backend.error().message);
    return std::move(*backend);
  }
#endif
#ifdef MYNAH_HAS_BACKEND_CUDA
  if (kind.starts_with("sm_")) {
    // Another order of warps and blocks with each number of threads.
    return make_simt_backend(
        pool, {.level = std::stoi(kind.substr(3)), .seed = static_cast<uint64_t>(pool.size())});
  }
#endif
  check_failed(__FILE__, __LINE__, "a backend of this build", name);
}

}  // namespace mynah::cases
