#include "doctor/plans/machine_compare.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/machine/machine_rule_parts.h"

namespace mynah::doctor {

namespace {

std::string joined(std::vector<std::string> parts) {
  std::ranges::sort(parts);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string cards_of(const Machine& machine) {
  std::vector<std::string> names;
  names.reserve(machine.cards.size());
  for (const Card& card : machine.cards) {
    names.push_back(card.compute_capability.empty()
                        ? label_of(card)
                        : fmt::format("{} ({})", label_of(card), card.compute_capability));
  }
  return joined(std::move(names));
}

std::string module_of(const Machine& machine) {
  return machine.open_kernel_module ? "open" : machine.closed_kernel_module ? "closed" : "";
}

std::string container_of(const Container& container) {
  std::vector<std::string> parts;
  const auto add = [&](bool there, const char* words) {
    if (there) {
      parts.emplace_back(words);
    }
  };
  add(container.inside, "in one");
  add(container.docker, container.docker_snap ? "Docker (snap)" : "Docker");
  add(container.toolkit.value_or(false), "NVIDIA's toolkit");
  add(container.cdi.value_or(false), "CDI");
  for (const std::string& runtime : container.runtimes) {
    parts.push_back("runtime " + runtime);
  }
  return joined(std::move(parts));
}

std::string memory_of(const Machine& machine) {
  std::vector<std::string> parts;
  for (const Card& card : machine.cards) {
    if (card.memory_mib) {
      parts.push_back(fmt::format("{} MiB", *card.memory_mib));
    }
  }
  return joined(std::move(parts));
}

// Instruction sets that one processor has and the other lacks, where both are known.
void add_flags(const Machine& first, const Machine& second, std::vector<MachineChange>& changes) {
  if (first.processor_flags.empty() || second.processor_flags.empty()) {
    return;
  }
  const auto lacking = [](const Machine& has, const Machine& lacks) {
    std::vector<std::string> flags;
    for (const char* const flag : {"avx", "avx2", "fma", "f16c", "avx512f"}) {
      if (std::ranges::count(has.processor_flags, flag) > 0 &&
          std::ranges::count(lacks.processor_flags, flag) == 0) {
        flags.emplace_back(flag);
      }
    }
    return fmt::format("{}", fmt::join(flags, ", "));
  };
  MachineChange change{
      .what = "processor has alone", .from = lacking(first, second), .to = lacking(second, first)};
  if (change.from != change.to) {
    changes.push_back(std::move(change));
  }
}

}  // namespace

std::vector<MachineChange> machine_changes(const Machine& first, const Machine& second) {
  std::vector<MachineChange> changes;
  const auto add = [&](const char* what, std::string from, std::string to) {
    if (from != to) {
      changes.push_back({.what = what, .from = std::move(from), .to = std::move(to)});
    }
  };
  const auto system = [](const Machine& machine) {
    return machine.system == System::Windows ? "Windows" : machine.wsl ? "WSL2" : "Linux";
  };
  add("system", system(first), system(second));
  add("cards", cards_of(first), cards_of(second));
  add("memory of the cards", memory_of(first), memory_of(second));
  add("driver", first.driver, second.driver);
  add("kernel module", module_of(first), module_of(second));
  add("containers", container_of(first.container), container_of(second.container));
  add("release", first.release, second.release);
  add("kernel", first.kernel, second.kernel);
  add("glibc", first.glibc, second.glibc);
  add_flags(first, second, changes);
  std::set<std::string> names;
  for (const Machine* const machine : {&first, &second}) {
    for (const auto& [name, value] : machine->variables) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) {
    const auto value = [&](const Machine& machine) {
      const auto found = machine.variables.find(name);
      return found == machine.variables.end() ? std::string() : found->second;
    };
    add(name.c_str(), value(first), value(second));
  }
  return changes;
}

}  // namespace mynah::doctor
