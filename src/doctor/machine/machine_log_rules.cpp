#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "doctor/machine/machine_rule_parts.h"
#include "doctor/machine/machine_text.h"

namespace mynah::doctor {
namespace {

// Whom an Xid is about.
enum class Blame : uint8_t { Program, Memory, Hardware };

struct KnownXid {
  int number;
  Blame blame;
  std::string_view meaning;
};

// NVIDIA's "Xid Errors" (docs.nvidia.com/deploy/xid-errors), in short; those that people meet.
constexpr KnownXid kXids[] = {
    {13, Blame::Program, "a program's kernel did something that is not allowed"},
    {31, Blame::Program, "a program reached for memory that is not its own"},
    {43, Blame::Program, "a program's work was stopped after an error"},
    {45, Blame::Program, "a program's work was taken off the card after another error"},
    {48, Blame::Memory, "an error in the card's memory that could not be corrected"},
    {61, Blame::Hardware, "the card's own controller stopped"},
    {62, Blame::Hardware, "the card's own controller halted"},
    {63, Blame::Memory, "a bad row of the card's memory is replaced at the next reset"},
    {64, Blame::Memory, "a bad row of the card's memory could not be replaced"},
    {74, Blame::Hardware, "NVLink failed"},
    {79, Blame::Hardware, "the card fell off the bus: power, heat, the slot or the card"},
    {92, Blame::Memory, "the card's memory needs to be corrected often"},
    {94, Blame::Memory, "an error in the card's memory, of which one program died"},
    {95, Blame::Memory, "an error in the card's memory, of which any program may have suffered"},
    {109, Blame::Program, "a program's work took too long to be put aside"},
    {119, Blame::Hardware, "the card's own processor (GSP) did not answer"},
    {120, Blame::Hardware, "the card's own processor (GSP) failed"},
};

const KnownXid* known(int number) {
  const auto* const found = std::ranges::find(kXids, number, &KnownXid::number);
  return found == std::end(kXids) ? nullptr : found;
}

Finding about(const Xid& xid, const std::string& line, size_t times) {
  const KnownXid* const meaning = known(xid.number);
  Finding finding;
  finding.rule = "xid";
  finding.subject = xid.pci.empty() ? "kernel log" : fmt::format("card at {}", xid.pci);
  finding.evidence.push_back({.text = line, .where = "the kernel's log"});
  const std::string often = times > 1 ? fmt::format(", {} times", times) : "";
  if (meaning == nullptr) {
    finding.text = fmt::format("The driver reported Xid {}{}.", xid.number, often);
    finding.certainty = Certainty::Likely;
    return finding;
  }
  finding.text =
      fmt::format("The driver reported Xid {}{}: {}.", xid.number, often, meaning->meaning);
  finding.evidence.push_back({.text = fmt::format("Xid {}", xid.number),
                              .where = "https://docs.nvidia.com/deploy/xid-errors"});
  switch (meaning->blame) {
    case Blame::Program:
      break;
    case Blame::Memory:
      finding.level = Level::Warning;
      finding.remedies.push_back(
          {.command = "sudo nvidia-smi --gpu-reset",
           .text = "Reset the card once nothing uses it; where it comes again, have it replaced",
           .cost = "ends what computes on it"});
      break;
    case Blame::Hardware:
      finding.level = Level::Warning;
      finding.remedies.push_back(
          {.command = "sudo reboot",
           .text = "Start the machine anew; where it comes again, look at power, heat and the slot",
           .cost = "ends every program"});
      break;
  }
  return finding;
}

}  // namespace

void judge_kernel_log(Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.facts.machine;

  struct Seen {
    std::string line;  // the newest
    size_t times = 0;
  };

  std::map<std::pair<std::string, int>, Seen> seen;
  for (const std::string& line : machine.kernel_log) {
    if (const auto xid = read_xid(line)) {
      Seen& entry = seen[{xid->pci, xid->number}];
      entry.line = line;
      ++entry.times;
    }
  }
  for (const auto& [key, entry] : seen) {
    diagnosis.report.findings.push_back(
        about({.number = key.second, .pci = key.first}, entry.line, entry.times));
  }
}

}  // namespace mynah::doctor
