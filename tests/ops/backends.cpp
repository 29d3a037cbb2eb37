#include "ops/backends.h"

#include "base/check.h"
#ifdef MYNAH_HAS_BACKEND_CPU
#include "backend/cpu/cpu_backend.h"
#endif

namespace mynah::cases {

#ifdef MYNAH_HAS_BACKEND_CPU

std::vector<std::string> backends_under_test() {
  std::vector<std::string> names;
  for (const std::string& isa : cpu_instruction_sets()) {
    names.push_back("cpu/" + isa);
  }
  return names;
}

std::unique_ptr<Backend> make_backend(const std::string& name, ThreadPool& pool) {
  auto backend = make_cpu_backend(pool, name.substr(name.find('/') + 1));
  MYNAH_CHECK(backend.has_value(), backend.error().message);
  return std::move(*backend);
}

#else

std::vector<std::string> backends_under_test() {
  return {};
}

std::unique_ptr<Backend> make_backend(const std::string& name, ThreadPool& /*pool*/) {
  check_failed(__FILE__, __LINE__, "a backend of this build", name);
}

#endif

}  // namespace mynah::cases
