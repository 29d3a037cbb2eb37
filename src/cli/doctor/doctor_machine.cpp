#include "cli/doctor/doctor_machine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/doctor/doctor_facts.h"
#include "doctor/machine/card_names.h"
#include "formats/byte_reader.h"

namespace mynah::cli {

namespace {

using doctor::Facts;
using doctor::Knowledge;
using doctor::Machine;

// "580.95.05", "580".
Status check_driver(const std::string& driver) {
  constexpr size_t kLeastDigits = 3;  // of a branch: with fewer it is CUDA's version
  const bool numbers = driver.find_first_not_of("0123456789.") == std::string::npos &&
                       !driver.contains("..") && !driver.ends_with('.');
  const size_t branch = std::min(driver.find('.'), driver.size());
  constexpr size_t kMostDigits = 4;
  if (!numbers || branch < kLeastDigits || branch > kMostDigits || driver.starts_with('0')) {
    const bool cuda = numbers && branch > 0 && branch < kLeastDigits;
    return fail(
        ErrorCode::Usage,
        fmt::format("--driver: wanted a version such as 580.95.05, found {}{}", in_quotes(driver),
                    cuda ? "; what nvidia-smi calls CUDA Version is not the driver's" : ""));
  }
  return {};
}

}  // namespace

void replace_driver(Machine& machine, const std::string& driver) {
  // A container without a driver: what is told of is another machine.
  machine.container.inside &= !machine.driver.empty() || !machine.cards.empty();
  machine.driver = driver;
  machine.driver_libraries.clear();
  machine.no_driver_library = false;
  machine.kernel_log.clear();
}

Result<MeantMachine> meant_machine(Context& context, const DoctorOptions& options,
                                   const Knowledge& knowledge) {
  MeantMachine meant;
  meant.elsewhere = !options.gpus.empty() || !options.as.empty();
  if (!options.gpus.empty() && !options.as.empty()) {
    return fail(
        ErrorCode::Usage,
        fmt::format("--gpu and --as both say which card is meant: leave out one of --gpu {} "
                    "and --as {}",
                    fmt::join(options.gpus, ","), options.as));
  }
  if (!options.driver.empty()) {
    MYNAH_TRY_STATUS(check_driver(options.driver));
  }
  if (!options.as.empty()) {
    MYNAH_TRY(meant.facts, written_facts(context, options.as, knowledge));
    meant.about = fmt::format(
        "Another machine, as {} tells of it{}", options.as == "-" ? "standard input" : options.as,
        options.driver.empty() ? "" : fmt::format(", with driver {}", options.driver));
  }
  for (const std::string& name : options.gpus) {
    auto card = doctor::card_called(name, knowledge);
    if (!card) {
      return fail(ErrorCode::Usage, "--gpu: " + card.error().message);
    }
    meant.facts.machine.cards.push_back(*std::move(card));
    meant.about = options.driver.empty()
                      ? "Another machine, as --gpu tells of it: its driver is not known"
                      : "Another machine, as --gpu and --driver tell of it";
  }
  if (!options.driver.empty()) {
    replace_driver(meant.facts.machine, options.driver);
    if (!meant.elsewhere) {
      meant.about = "This machine, with the driver of --driver";
    }
  }
  return meant;
}

Result<Machine> machine_meant(Context& context, const DoctorOptions& options,
                              const Knowledge& knowledge) {
  MYNAH_TRY(MeantMachine meant, meant_machine(context, options, knowledge));
  if (meant.elsewhere) {
    return std::move(meant.facts.machine);
  }
  MYNAH_TRY(Facts here, gathered_facts(context, {}, knowledge));
  if (!options.driver.empty()) {
    replace_driver(here.machine, options.driver);
  }
  return std::move(here.machine);
}

}  // namespace mynah::cli
