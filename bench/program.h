// What every program of the benchmarks does with its words: options of them, a run, an exit code.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"

namespace mynah::bench {

// `parse` makes options of the words, or none where they make no sense: then `usage` is printed and
// the exit code is 2. It is 1 where `run` fails, which is said on stderr.
template <class Options>
int run_program(int argc, char** argv, std::string_view usage,
                std::optional<Options> (*parse)(std::span<const std::string>),
                Status (*run)(const Options&)) {
  constexpr int kUsageCode = 2;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::optional<Options> options = parse(words);
  if (!options) {
    fmt::print(stderr, "{}", usage);
    return kUsageCode;
  }
  if (const Status status = run(*options); !status) {
    fmt::print(stderr, "{}\n", status.error().message);
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace mynah::bench
