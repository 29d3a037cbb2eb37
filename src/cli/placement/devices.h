// `mynah devices`: what there is to compute on, what can be used, and what helps where it cannot.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "engine/kept_proofs.h"
#include "place/discovery/discover.h"
#include "place/discovery/predict.h"
#include "place/terms/measurement.h"

namespace mynah::cli {

using DeviceProof = engine::ToldProof;

// A device with what the rules found of it.
struct DeviceView {
  place::DeviceFacts facts;
  std::vector<place::Finding> findings;  // the worst first
  std::vector<DeviceProof> proofs{};     // of models, where any were made
  std::string distrust{};                // "failed 3 s ago: ...", where it did since it was proven
};

// "usable, not proven yet", "cannot: its compute capability is 5.2 ...", "to check against".
[[nodiscard]] std::string state_words(const DeviceView& device);

// Rows as lines, whose cells stand below each other, two blanks apart.
[[nodiscard]] std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows);

// The table's lines, a heading first: device, name, memory, state.
[[nodiscard]] std::vector<std::string> device_table(std::span<const DeviceView> devices);

// Why a device that was named for --prove has nothing to prove; "": it has.
[[nodiscard]] std::string nothing_to_prove(const std::string& device);

// What proofs found, a line for each model and device: "cuda:0: tiny.en passed 3 s ago, 11
// times faster than the processor".
[[nodiscard]] std::vector<std::string> proof_lines(std::span<const DeviceView> devices);

// What helps, a line for each thing to do, with the devices that it is for.
[[nodiscard]] std::vector<std::string> device_remedies(std::span<const DeviceView> devices);

class DevicesCommand : public Command {
 public:
  // `root`: see gpu::read_machine().
  explicit DevicesCommand(std::string root = {}) : root_(std::move(root)) {}

  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // Usage where a name is no device's, with what it could be.
  [[nodiscard]] Status check_names(const std::vector<DeviceView>& devices) const;
  [[nodiscard]] std::vector<std::string> lines_of_nothing(
      const std::vector<DeviceView>& devices) const;
  // Fills in the proofs: those that were kept or, with --prove, new ones. Device where one failed.
  Status add_proofs(const Context& context, const place::Discovery& found,
                    std::vector<DeviceView>& devices) const;

  std::string root_;
  std::vector<std::string> names_;
  bool prove_ = false;
  bool sound_ = false;
};

}  // namespace mynah::cli
